/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ahead.h - the arrivals of a load, read ahead as far as somebody may know them
 *
 * With each arrival goes how many requests would be in service just after it if
 * nobody ever waited: what a clairvoyant needs to have ready at that moment.
 */
#ifndef SIM_AHEAD_H
#define SIM_AHEAD_H

#include <stdint.h>

#include "load.h"

struct arrival {
	uint64_t at_ns;
	uint64_t service_ns;
	uint32_t in_service; /* including it, on a machine without end */
};

struct ahead {
	struct load load;
	struct arrival *ring;       /* size entries, a power of two */
	uint32_t size, head, nr;
	uint64_t *ends;             /* min-heap: when those in service end */
	uint32_t ends_size, nr_ends;
};

void ahead_init(struct ahead *a, const struct load_spec *spec, uint64_t seed, uint64_t stream);
void ahead_fini(struct ahead *a);

/* Reads until one arrival is later than until_ns; there is always a next one. */
void ahead_fill(struct ahead *a, uint64_t until_ns);

/* index 0 is the next one; below a->nr. */
static inline const struct arrival *ahead_at(const struct ahead *a, uint32_t index)
{
	return &a->ring[(a->head + index) & (a->size - 1)];
}

static inline void ahead_pop(struct ahead *a)
{
	a->head = (a->head + 1) & (a->size - 1);
	a->nr--;
}

/* The most that would be in service just after any arrival until until_ns; 0 when none comes. */
uint32_t ahead_most(const struct ahead *a, uint64_t until_ns);

#endif
