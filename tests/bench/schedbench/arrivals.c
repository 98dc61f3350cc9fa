/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arrivals.c - a schedule drawn before the run */
#include "tests/bench/schedbench/arrivals.h"

#include <math.h>

/* Ten deviations above the mean, so that a Poisson process is not cut off. */
size_t arrivals_max(const struct arrivals *a)
{
	double mean = a->rate_per_s * a->seconds;

	return (size_t)ceil(mean + (a->poisson ? 10 * sqrt(mean) + 10 : 0)) + 1;
}

/* In (0, 1]. */
static double random_unit(uint64_t *seed)
{
	*seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
	return (double)((*seed >> 11) + 1) / 9007199254740992.0;
}

size_t arrivals_draw(const struct arrivals *a, uint64_t *times_ns)
{
	double gap_ns = 1e9 / a->rate_per_s, at_ns = 0, end_ns = a->seconds * 1e9;
	size_t n = 0, max = arrivals_max(a);
	uint64_t seed = a->seed;

	/* Equal gaps are counted, not added up: errors would be, too. */
	while (n < max) {
		at_ns = a->poisson ? at_ns - log(random_unit(&seed)) * gap_ns : (double)(n + 1) * gap_ns;
		if (at_ns >= end_ns)
			break;
		times_ns[n++] = (uint64_t)at_ns;
	}
	return n;
}
