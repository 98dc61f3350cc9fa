// SPDX-License-Identifier: GPL-2.0-or-later
/* oracle.c - a planner that knows every arrival and how long it will run */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle.h"
#include "planner.h"

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Takes CPUs of the pool, lowest first. */
static void oracle_grant(struct oracle *o, const struct engine *e, const struct engine_service *s, uint32_t owned,
			 uint32_t want)
{
	for (uint32_t cpu = 0; cpu < e->topo->nr_possible && owned < want; cpu++) {
		if (o->owner[cpu] || !alloc_cpus_has(&s->reach, cpu) || alloc_cpus_has(&o->limits->excluded, cpu))
			continue;
		o->owner[cpu] = (uint8_t)(s->class_idx + 1);
		owned++;
	}
}

/* Gives back CPUs that are lent anyway, highest first; how many are left. */
static uint32_t oracle_return(struct oracle *o, const struct engine *e, const struct engine_service *s, uint32_t want)
{
	uint32_t owned = s->nr_owned;

	for (uint32_t cpu = e->topo->nr_possible; cpu-- > 0 && owned > want;) {
		if (!alloc_cpus_has(&s->lent, cpu))
			continue;
		o->owner[cpu] = 0;
		owned--;
	}
	return owned;
}

/* CPUs for what is there, what will be until until_ns, and the guarantee. */
static uint32_t oracle_need(const struct oracle *o, const struct engine_service *s, uint64_t until_ns)
{
	uint32_t need = most(s->nr_serving + s->waiting.nr, ahead_most(&s->ahead, until_ns));

	return most(need, o->limits->classes[s->class_idx].guarantee_cpus);
}

static int oracle_plan(struct planner *base, const struct engine *e, const uint8_t **ret_owner)
{
	struct oracle *o = (struct oracle *)base;
	uint32_t owned[ENGINE_MAX_SERVICES], where;
	const char *rule;

	/* First what comes back: another service may need it. */
	for (uint32_t i = 0; i < e->nr_services; i++)
		owned[i] =
			oracle_return(o, e, &e->services[i], oracle_need(o, &e->services[i], e->now_ns + o->keep_ns));
	for (uint32_t i = 0; i < e->nr_services; i++) {
		const struct engine_service *s = &e->services[i];
		/* One interval more: the plan after this one would be too late. */
		uint32_t need = oracle_need(o, s, e->now_ns + o->move_ns + ORACLE_INTERVAL_NS);

		oracle_grant(o, e, s, owned[i], need < s->burst_cpus ? need : s->burst_cpus);
	}
	*ret_owner = o->owner;
	if (!memcmp(o->owner, e->owner, e->topo->nr_possible))
		return 0;
	rule = plan_broken_rule(e, o->limits, o->owner, &where);
	if (!rule)
		return 0;
	fprintf(stderr, "oracle at %" PRIu64 " ns: %s: %" PRIu32 "\n", e->now_ns, rule, where);
	return -EPROTO;
}

void oracle_init(struct oracle *o, const struct alloc_limits *limits, const struct engine_costs *costs)
{
	memset(o, 0, sizeof(*o));
	o->base.interval_ns = ORACLE_INTERVAL_NS;
	o->base.plan = oracle_plan;
	o->limits = limits;
	o->move_ns = costs->move_ns;
	o->keep_ns = ORACLE_KEEP_MOVES * costs->move_ns;
	o->base.sees_ns = o->keep_ns + costs->reclaim_ns + ORACLE_INTERVAL_NS;
}
