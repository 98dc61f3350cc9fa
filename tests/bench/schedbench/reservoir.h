/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reservoir.h - a bounded number of samples of a stream.  One writer at a time. */
#ifndef SCHEDBENCH_RESERVOIR_H
#define SCHEDBENCH_RESERVOIR_H

#include <stdint.h>

struct reservoir {
	uint64_t *ns; /* the caller's, and shared when the reservoir is */
	uint32_t cap, n;
	uint64_t nr_seen, seed;
};

/* seed is not 0. */
void reservoir_init(struct reservoir *r, uint64_t *ns, uint32_t cap, uint64_t seed);

void reservoir_reset(struct reservoir *r);

/* When it is full each sample takes a random place, whose sample is forgotten. */
void reservoir_add(struct reservoir *r, uint64_t ns);

/* Sorts what is kept; 0 when nothing is. */
uint64_t reservoir_quantile(struct reservoir *r, double p);

#endif
