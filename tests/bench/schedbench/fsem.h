/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fsem.h - a semaphore on a futex that measures its wake-ups
 *
 * A sample is the time from just before FUTEX_WAKE to just after FUTEX_WAIT came
 * back; who did not have to sleep gives none.  Lives in memory that its users share.
 */
#ifndef SCHEDBENCH_FSEM_H
#define SCHEDBENCH_FSEM_H

#include <stdatomic.h>
#include <stdint.h>

#include "tests/bench/schedbench/reservoir.h"

enum { FSEM_MAX_SLOTS = 256 };

struct fsem {
	_Atomic uint32_t count; /* the top bit: somebody waits */
	uint32_t max;
	_Atomic uint32_t nr_stamps;
	uint32_t nr_slots;
	_Atomic uint64_t stamp_ns[FSEM_MAX_SLOTS];
	struct reservoir waits;
	_Atomic uint64_t nr_wakes; /* sleepers that FUTEX_WAKE found */
	_Atomic uint64_t nr_woken; /* times that FUTEX_WAIT said it was woken */
	_Atomic uint64_t nr_dropped; /* of those, without a sample: its stamp had been overwritten */
};

/* nr_slots stamps are remembered; 0: nothing is measured, and waits may be NULL. */
void fsem_init(struct fsem *s, uint32_t max, uint32_t nr_slots, uint64_t *waits_ns, uint32_t nr_waits);

/* Waits while the count would exceed max. */
void fsem_produce(struct fsem *s, uint32_t value);

void fsem_consume(struct fsem *s, uint32_t value);

/* -ETIMEDOUT: nothing was taken. */
int fsem_consume_timed(struct fsem *s, uint32_t value, uint64_t timeout_ns);

#endif
