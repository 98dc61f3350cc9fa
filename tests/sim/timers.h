/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timers.h - the event heap: at most one coming event per CPU
 *
 * A binary heap of CPU numbers, ordered by (time, CPU), which also knows where
 * each CPU is in it: an event is moved or cancelled in place, so none is ever
 * stale, and equal times have one order.
 */
#ifndef SIM_TIMERS_H
#define SIM_TIMERS_H

#include <stdint.h>

#include "bpf/intf.h"

struct timers {
	uint32_t nr;
	uint16_t heap[SCHEDD_MAX_CPUS];
	uint16_t place[SCHEDD_MAX_CPUS];  /* index in heap + 1; 0 = no event */
	uint64_t at_ns[SCHEDD_MAX_CPUS];
};

void timers_set(struct timers *t, uint32_t cpu, uint64_t at_ns); /* replaces the one it has */
void timers_clear(struct timers *t, uint32_t cpu);

/* UINT64_MAX: none. */
static inline uint64_t timers_next_ns(const struct timers *t)
{
	return t->nr ? t->at_ns[t->heap[0]] : UINT64_MAX;
}

#endif
