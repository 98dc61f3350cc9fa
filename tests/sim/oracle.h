/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oracle.h - a planner that knows every arrival and how long it will run
 *
 * What no allocator can be, so the end of the scale that they are measured on.
 * It pays the same costs as they do, but begins early enough that no request
 * sees them: at each microsecond a service owns as many CPUs as its requests
 * that are there need, and as many as will be in service at any moment until a
 * reallocation begun now is over.  It gives one back when none of the next
 * ORACLE_KEEP_MOVES reallocation latencies needs it: a CPU that is given back
 * and fetched again costs best-effort more than one that is lent.  The engine
 * does the same with lent CPUs: called reclaim_ns before the request comes, kept
 * idle where one comes within reclaim_ns.  Guarantee, burst and reach bind it
 * too.  Where the machine is full requests wait, and it is no longer the best there
 * could be: services get CPUs in the order of their classes, and tails may be
 * longer than under an allocator that happens to share in another way.
 */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include "daemon/alloc.h"
#include "engine.h"

enum {
	ORACLE_INTERVAL_NS = 1000,
	ORACLE_KEEP_MOVES = 10,
};

struct oracle {
	struct planner base;         /* first: the engine sees only this */
	const struct alloc_limits *limits;
	uint64_t move_ns, keep_ns;
	uint8_t owner[SCHEDD_MAX_CPUS];
};

/* limits outlive the oracle. */
void oracle_init(struct oracle *o, const struct alloc_limits *limits, const struct engine_costs *costs);

#endif
