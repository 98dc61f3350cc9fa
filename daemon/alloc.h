/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc.h - (topology, limits, previous plan) -> plan.  Pure; a static split by guarantee. */
#ifndef SCHEDD_ALLOC_H
#define SCHEDD_ALLOC_H

#include <stdint.h>

#include "bpf/intf.h"
#include "daemon/topo.h"

struct alloc_class {
	bool used;
	uint32_t kind;             /* enum schedd_kind */
	uint32_t guarantee_cpus;   /* already scaled: the sum is at most the online CPUs */
	uint32_t weight;
};

struct alloc_input {
	const struct topo *topo;
	struct alloc_class classes[SCHEDD_MAX_CLASSES];
	const struct schedd_plan *previous;  /* NULL = none; CPUs stay with their owner where they can */
};

/*
 * Each class owns its guarantee, whole cores and one LLC first; CPUs that nobody
 * is guaranteed belong to normal, whose idle time is lent by rank.  The
 * generation is the caller's; *ret_changed says whether owners differ from previous.
 */
void alloc_plan(const struct alloc_input *in, struct schedd_plan *ret_plan, bool *ret_changed);

#endif
