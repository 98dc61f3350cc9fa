/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arrivals.h - when the requests of an open loop come, whatever the service does */
#ifndef SCHEDBENCH_ARRIVALS_H
#define SCHEDBENCH_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrivals {
	double rate_per_s, seconds;
	bool poisson; /* else equal gaps */
	uint64_t seed; /* not 0; equal seeds, equal times */
};

/* As many as arrivals_draw() gives at most. */
size_t arrivals_max(const struct arrivals *a);

/* Times since the start, ascending, all before the end; returns how many. */
size_t arrivals_draw(const struct arrivals *a, uint64_t *times_ns);

#endif
