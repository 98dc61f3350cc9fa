/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reservoir.c - samples in random places once there are too many */
#include "tests/bench/schedbench/reservoir.h"

#include "tests/bench/sample.h"

void reservoir_init(struct reservoir *r, uint64_t *ns, uint32_t cap, uint64_t seed)
{
	*r = (struct reservoir){ .ns = ns, .cap = cap, .seed = seed };
}

void reservoir_reset(struct reservoir *r)
{
	r->n = 0;
	r->nr_seen = 0;
}

void reservoir_add(struct reservoir *r, uint64_t ns)
{
	r->nr_seen++;
	if (r->n < r->cap) {
		r->ns[r->n++] = ns;
	} else if (r->cap) {
		r->seed ^= r->seed << 13, r->seed ^= r->seed >> 7, r->seed ^= r->seed << 17;
		r->ns[(r->seed >> 11) % r->cap] = ns;
	}
}

uint64_t reservoir_quantile(struct reservoir *r, double p)
{
	if (!r->n)
		return 0;
	sample_sort(r->ns, r->n);
	return sample_at(r->ns, r->n, p);
}
