/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample.h - time, percentiles and the result line of the benchmark programs
 */
#ifndef SCHEDD_TESTS_BENCH_SAMPLE_H
#define SCHEDD_TESTS_BENCH_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t sample_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static inline uint64_t sample_now_ns(void)
{
	return sample_clock_ns(CLOCK_MONOTONIC);
}

static inline int sample_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline void sample_sort(uint64_t *ns, long n)
{
	qsort(ns, n, sizeof(*ns), sample_compare);
}

/* A percentile of sorted samples, at least one: index (n - 1) * p. */
static inline uint64_t sample_at(const uint64_t *sorted_ns, long n, double p)
{
	return sorted_ns[(long)((n - 1) * p)];
}

/* Sorts the samples and prints their percentiles. */
static inline void sample_print(const char *name, uint64_t *ns, long n)
{
	sample_sort(ns, n);
	printf("%s n=%ld p50_us=%.1f p90_us=%.1f p99_us=%.1f p999_us=%.1f max_us=%.1f\n", name, n,
	       sample_at(ns, n, 0.5) / 1e3, sample_at(ns, n, 0.9) / 1e3, sample_at(ns, n, 0.99) / 1e3,
	       sample_at(ns, n, 0.999) / 1e3, ns[n - 1] / 1e3);
	fflush(stdout);
}

#endif
