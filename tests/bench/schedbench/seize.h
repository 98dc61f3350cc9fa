/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seize.h - how fast a burst gets its CPUs, and best-effort work gets them back
 *
 * Processes in two classes share one struct seize: endless loops of best-effort
 * work, and workers that compute for the time of a burst when a round wakes them.
 */
#ifndef SCHEDBENCH_SEIZE_H
#define SCHEDBENCH_SEIZE_H

#include <stddef.h>
#include <stdint.h>

enum { SEIZE_MAX_CPUS = 64 };

struct seize;

/* Shared memory; CPUs 0..nr_cpus-1, workers at most as many.  NULL: there is none. */
struct seize *seize_create(uint32_t nr_cpus, uint32_t nr_workers);
size_t seize_size(void);

_Noreturn void seize_best_effort(struct seize *s);
_Noreturn void seize_worker(struct seize *s, uint32_t self);

struct seize_round {
	/* [k - 1]: from the wake-up until k workers ran on CPUs of their own, all within the last millisecond; 0: never */
	uint64_t reached_ns[SEIZE_MAX_CPUS];
	/* from the end of the burst until a best-effort loop had run on every CPU; 0: not within 10 s */
	uint64_t back_ns;
};

extern const uint64_t seize_give_up_ns;

void seize_one_round(struct seize *s, uint64_t burst_ns, struct seize_round *ret_round);

#endif
