/* SPDX-License-Identifier: GPL-2.0-or-later */
/* converge.h - grow a batch until one took long enough to be believed */
#ifndef SCHEDBENCH_CONVERGE_H
#define SCHEDBENCH_CONVERGE_H

#include <stdint.h>
#include <stdio.h>

/*
 * Batches of 1, 2, ... iterations.  The first one of min_s or more whose metric
 * reaches threshold ends it with that metric; one longer than max_s ends it with
 * 0.  The times are those of single batches.  So with a metric that should be
 * low, 0 is the good end: two long batches, of min_s and of max_s, stayed below.
 */
struct converge {
	double min_s, max_s, threshold;
	uint64_t (*now_ns)(void *arg);
	int (*measure)(void *arg, uint64_t iters, double *ret_metric);
	void *arg;
	FILE *trace; /* a line a batch; NULL: none */
};

struct converge_end {
	double value; /* what the rule above returns */
	double metric, elapsed_s;
	uint64_t iters; /* of the last batch, as the two before */
	uint32_t batches;
};

/* -errno of measure; -ERANGE when batches that take no time have grown without bound. */
int converge_run(const struct converge *c, struct converge_end *ret_end);

#endif
