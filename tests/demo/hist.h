/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hist.h - log-linear histogram of nanoseconds, relative error below 0.4 % */
#ifndef DEMO_HIST_H
#define DEMO_HIST_H

#include <stdint.h>

/* 128 equal steps in each power of two; up to 2^40 ns, about 18 minutes. */
enum {
	HIST_SUB_BITS = 7,
	HIST_SUB = 1 << HIST_SUB_BITS,
	HIST_MAX_BITS = 40,
	HIST_NR_BUCKETS = (HIST_MAX_BITS - HIST_SUB_BITS + 1) * HIST_SUB,
};

struct hist {
	uint64_t count;
	uint64_t max_ns;
	uint64_t bucket[HIST_NR_BUCKETS];
};

static inline unsigned int hist_index(uint64_t ns)
{
	unsigned int shift;

	if (ns >= UINT64_C(1) << HIST_MAX_BITS)
		return HIST_NR_BUCKETS - 1;
	if (ns < 2 * HIST_SUB)
		return ns;
	shift = 63 - __builtin_clzll(ns) - HIST_SUB_BITS;
	return shift * HIST_SUB + (ns >> shift);
}

/* The middle of a bucket: what every value in it is reported as. */
static inline uint64_t hist_value(unsigned int index)
{
	unsigned int shift;
	uint64_t low;

	if (index < 2 * HIST_SUB)
		return index;
	shift = index / HIST_SUB - 1;
	low = (uint64_t)(index - shift * HIST_SUB) << shift;
	return low + ((UINT64_C(1) << shift) >> 1);
}

static inline void hist_add(struct hist *h, uint64_t ns)
{
	h->bucket[hist_index(ns)]++;
	h->count++;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

/* The smallest recorded value that at least `ppm` millionths do not exceed; 0 when empty. */
static inline uint64_t hist_quantile(const struct hist *h, uint32_t ppm)
{
	uint64_t want = (h->count * ppm + 999999) / 1000000, seen = 0, value;
	unsigned int i;

	if (!h->count)
		return 0;
	if (!want)
		want = 1;
	for (i = 0; i < HIST_NR_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= want)
			break;
	}
	value = hist_value(i);
	return value < h->max_ns ? value : h->max_ns;
}

#endif
