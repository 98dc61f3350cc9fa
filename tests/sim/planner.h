/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planner.h - the daemon's own demand, allocation and policies as the engine's planner
 *
 * Every plan is checked against what must hold before the engine obeys it; the
 * first that breaks a rule ends the run with -EPROTO, and says which one.
 */
#ifndef SIM_PLANNER_H
#define SIM_PLANNER_H

#include "daemon/alloc.h"
#include "daemon/demand.h"
#include "engine.h"

struct alloc_planner {
	struct planner base;             /* first: the engine sees only this */
	const struct topo *topo;
	const struct alloc_policy *policy;
	struct alloc_limits limits;
	uint64_t congestion_ns;
	bool no_average;                 /* utilisation is that of the last interval alone */
	uint64_t nr_plans, nr_changed;
	/* Memory of the code under test. */
	struct demand demand;
	struct demand_class classes[SCHEDD_MAX_CLASSES];
	struct alloc_memory memory;
	struct schedd_plan previous;
	struct demand_counters counters[SCHEDD_MAX_LLCS][SCHEDD_MAX_CLASSES];
};

/* limits are copied; topo and policy outlive the planner. */
void alloc_planner_init(struct alloc_planner *p, const struct topo *topo, const struct alloc_policy *policy,
			const struct alloc_limits *limits, uint64_t interval_ns, uint64_t congestion_ns);

/* What must hold of a plan and of what CPUs do now: NULL, or what does not, and for which CPU or class. */
const char *plan_broken_rule(const struct engine *e, const struct alloc_limits *limits, const uint8_t *owner,
			     uint32_t *ret_where);

#endif
