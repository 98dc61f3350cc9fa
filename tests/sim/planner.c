// SPDX-License-Identifier: GPL-2.0-or-later
/* planner.c - the daemon's own demand, allocation and policies as the engine's planner */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "planner.h"

/* Monotonic time is never 0 when a daemon reads it. */
#define BOOTED_NS UINT64_C(1000000000)

static const char *owner_broken_rule(const struct engine *e, const struct alloc_limits *limits, const uint8_t *owner,
				     uint32_t cpu)
{
	const struct engine_cpu *c = &e->cpus[cpu];
	const struct alloc_class *class;

	if (!e->costs.reflex && c->state == CPU_SERVES && c->class_idx + 1 != e->owner[cpu])
		return "a CPU serves a class that does not own it";
	if (!owner[cpu])
		return NULL;
	if (owner[cpu] > SCHEDD_MAX_CLASSES || !limits->classes[owner[cpu] - 1].used)
		return "the owner of a CPU is no class";
	class = &limits->classes[owner[cpu] - 1];
	if (alloc_cpus_has(&limits->excluded, cpu))
		return "an excluded CPU has an owner";
	if (!alloc_cpus_has(&class->reach, cpu))
		return "a CPU is owned by a class that may not use it";
	return NULL;
}

const char *plan_broken_rule(const struct engine *e, const struct alloc_limits *limits, const uint8_t *owner,
			     uint32_t *ret_where)
{
	uint32_t owned[SCHEDD_MAX_CLASSES + 1] = {};
	const char *rule;

	for (uint32_t cpu = 0; cpu < e->topo->nr_possible; cpu++) {
		rule = owner_broken_rule(e, limits, owner, cpu);
		*ret_where = cpu;
		if (rule)
			return rule;
		owned[owner[cpu]]++;
	}
	for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		*ret_where = i;
		if (owned[i + 1] > limits->classes[i].burst_cpus)
			return "a class owns more than its burst";
		/* Every scenario's guarantees fit its machine and cpusets. */
		if (owned[i + 1] < limits->classes[i].guarantee_cpus)
			return "a class owns less than its guarantee";
	}
	return NULL;
}

/* What alloc_plan() says of itself. */
static const char *result_broken_rule(const struct alloc_planner *p, const struct alloc_result *result,
				      uint32_t *ret_where)
{
	const struct schedd_plan *plan = &p->memory.plan;
	bool differs =
		p->previous.nr_cpus != plan->nr_cpus || memcmp(p->previous.owner, plan->owner, plan->nr_cpus) != 0;
	uint32_t owned[SCHEDD_MAX_CLASSES + 1] = {};

	*ret_where = 0;
	if (differs && !result->changed)
		return "a plan that changed says that it did not";
	if (result->changed && plan->generation != p->previous.generation + 1)
		return "the generation of a changed plan is not the next one";
	if (!result->changed && plan->generation != p->previous.generation)
		return "a plan without change has a new generation";
	for (uint32_t cpu = 0; cpu < plan->nr_cpus; cpu++)
		owned[plan->owner[cpu]]++;
	for (*ret_where = 0; *ret_where < SCHEDD_MAX_CLASSES; ++*ret_where) {
		if (result->owned[*ret_where] != owned[*ret_where + 1])
			return "the result counts other CPUs than the plan has";
		if (result->unmet[*ret_where])
			return "a guarantee that fits counts as unmet";
	}
	return NULL;
}

static int alloc_planner_plan(struct planner *base, const struct engine *e, const uint8_t **ret_owner)
{
	struct alloc_planner *p = (struct alloc_planner *)base;
	uint64_t now_ns = e->now_ns + BOOTED_NS;
	struct demand_input demand_in = { .now_ns = now_ns, .nr_llcs = p->topo->nr_llcs, .counters = p->counters };
	struct alloc_input in = { .topo = p->topo,
				  .limits = &p->limits,
				  .holder = e->holder,
				  .demand = p->classes,
				  .policy = p->policy,
				  .now_ns = now_ns };
	struct alloc_result result;
	const char *rule;
	uint32_t where;

	for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		demand_in.used |= (uint32_t)p->limits.classes[i].used << i;
		demand_in.congestion_ns[i] = p->congestion_ns;
	}
	engine_read_counters(e, p->counters);
	demand_update(&p->demand, &demand_in, p->classes);
	for (uint32_t i = 0; p->no_average && i < SCHEDD_MAX_CLASSES; i++)
		p->classes[i].utilisation_mcpu = p->classes[i].running_mcpu;
	alloc_plan(&in, &p->memory, &result);
	p->nr_plans++;
	p->nr_changed += result.changed;
	rule = result_broken_rule(p, &result, &where);
	if (!rule)
		rule = plan_broken_rule(e, &p->limits, p->memory.plan.owner, &where);
	if (rule) {
		fprintf(stderr, "plan %" PRIu64 " at %" PRIu64 " ns, policy %s: %s: %" PRIu32 "\n", p->nr_plans,
			e->now_ns, p->policy->name, rule, where);
		return -EPROTO;
	}
	if (result.changed)
		p->previous = p->memory.plan;
	*ret_owner = p->memory.plan.owner;
	return 0;
}

void alloc_planner_init(struct alloc_planner *p, const struct topo *topo, const struct alloc_policy *policy,
			const struct alloc_limits *limits, uint64_t interval_ns, uint64_t congestion_ns)
{
	memset(p, 0, sizeof(*p));
	p->base = (struct planner){ .interval_ns = interval_ns, .plan = alloc_planner_plan };
	p->topo = topo;
	p->policy = policy;
	p->limits = *limits;
	p->congestion_ns = congestion_ns;
}
