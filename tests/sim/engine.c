// SPDX-License-Identifier: GPL-2.0-or-later
/* engine.c - virtual time: the order of events, and what each of them does */
#include <string.h>

#include "engine_cpu.h"

void engine_init(struct engine *e, const struct topo *topo, struct planner *planner, const struct engine_costs *costs)
{
	memset(e, 0, sizeof(*e));
	e->topo = topo;
	e->planner = planner;
	e->costs = *costs;
	/* Twice as many endless tasks as CPUs: some always wait. */
	for (uint32_t i = 0; i < 2 * topo->nr_possible; i++)
		batch_wait(e, i % topo->nr_llcs);
	for (uint32_t cpu = 0; cpu < topo->nr_possible; cpu++)
		cpu_enter(e, cpu, CPU_BATCH, SCHEDD_CLASS_BEST_EFFORT);
}

void engine_fini(struct engine *e)
{
	for (uint32_t i = 0; i < e->nr_services; i++) {
		ahead_fini(&e->services[i].ahead);
		free(e->services[i].waiting.ring);
	}
	free(e->batch_waiting.ring);
}

void engine_add_service(struct engine *e, uint32_t class_idx, const struct alloc_class *limits,
			const struct load_spec *spec, uint64_t seed)
{
	struct engine_service *s = &e->services[e->nr_services++];

	s->class_idx = class_idx;
	s->burst_cpus = limits->burst_cpus;
	s->reach = limits->reach;
	ahead_init(&s->ahead, spec, seed, class_idx);
	e->service_of[class_idx] = (uint8_t)e->nr_services;
}

void engine_take_cpu_away(struct engine *e, uint32_t cpu)
{
	cpu_leave(e, cpu);
	cpu_enter(e, cpu, CPU_AWAY, 0);
}

void engine_read_counters(const struct engine *e, struct demand_counters (*ret)[SCHEDD_MAX_CLASSES])
{
	for (uint32_t llc = 0; llc < e->topo->nr_llcs; llc++) {
		for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
			const struct engine_usage *u = &e->usage[llc][i];

			ret[llc][i] = e->counters[llc][i];
			ret[llc][i].cpu_ns += u->running * e->now_ns - u->since_sum_ns;
		}
	}
}

static struct engine_totals engine_total(const struct engine *e)
{
	struct engine_totals t = { .moves = e->nr_moves };

	for (uint32_t llc = 0; llc < e->topo->nr_llcs; llc++) {
		for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
			const struct engine_usage *u = &e->usage[llc][i];
			uint64_t ns = e->counters[llc][i].cpu_ns + u->running * e->now_ns - u->since_sum_ns;

			*(i == SCHEDD_CLASS_BEST_EFFORT ? &t.batch_ns : &t.service_ns) += ns;
		}
	}
	return t;
}

/* Requests fall to the LLCs of the service in turn, as a balancer would spread them. */
static uint16_t service_next_llc(struct engine_service *s)
{
	uint64_t above = s->llcs & ~((UINT64_C(2) << s->last_llc) - 1);

	if (s->llcs)
		s->last_llc = (uint32_t)__builtin_ctzll(above ? above : s->llcs);
	return (uint16_t)s->last_llc;
}

static void service_arrive(struct engine *e, struct engine_service *s)
{
	const struct arrival *a = ahead_at(&s->ahead, 0);
	struct request r = { .arrived_ns = a->at_ns, .queued_ns = a->at_ns, .left_ns = a->service_ns };
	uint32_t cpu = alloc_cpus_next(&s->ready, 0);

	ahead_pop(&s->ahead);
	if (s->nr_announced)
		s->nr_announced--;
	ahead_fill(&s->ahead, e->now_ns + e->planner->sees_ns);
	r.llc = service_next_llc(s);
	if (cpu < SCHEDD_MAX_CPUS) {
		cpu_leave(e, cpu);
		service_record_start(e, s, &r);
		cpu_serve(e, cpu, s, &r);
		return;
	}
	service_wait(e, s, &r);
	service_call(e, s);
}

/* Who sees ahead calls a CPU so that it comes together with the request. */
static void service_announce(struct engine *e, struct engine_service *s)
{
	if (service_on(s) < ahead_at(&s->ahead, s->nr_announced)->in_service)
		service_call_one(e, s);
	s->nr_announced++;
}

static uint64_t service_announce_ns(const struct engine *e, const struct engine_service *s)
{
	uint64_t at_ns;

	if (!e->planner->sees_ns || s->nr_announced >= s->ahead.nr)
		return UINT64_MAX;
	at_ns = ahead_at(&s->ahead, s->nr_announced)->at_ns;
	/* Never in the past, not even for who arrives in the first microseconds. */
	return at_ns < e->now_ns + e->costs.reclaim_ns ? e->now_ns : at_ns - e->costs.reclaim_ns;
}

static int engine_plan(struct engine *e)
{
	const uint8_t *owner;
	int r;

	for (uint32_t i = 0; i < e->nr_services; i++)
		ahead_fill(&e->services[i].ahead, e->now_ns + e->planner->sees_ns);
	r = e->planner->plan(e->planner, e, &owner);
	if (r < 0)
		return r;
	e->next_plan_ns += e->planner->interval_ns;
	if (!memcmp(owner, e->owner, e->topo->nr_possible))
		return 0;
	for (uint32_t cpu = 0; cpu < e->topo->nr_possible; cpu++)
		if (owner[cpu] != e->owner[cpu])
			cpu_move(e, cpu, owner[cpu]);
	for (uint32_t i = 0; i < e->nr_services; i++)
		service_call(e, &e->services[i]);
	return 0;
}

enum event { EVENT_CPU, EVENT_PLAN, EVENT_ANNOUNCE, EVENT_ARRIVAL };

/* Equal times: CPUs first, then the plan, then who comes; of these by service. */
static enum event engine_next(const struct engine *e, uint64_t *ret_at_ns, uint32_t *ret_service)
{
	enum event event = EVENT_CPU;
	uint64_t at_ns = timers_next_ns(&e->timers);

	if (e->next_plan_ns < at_ns) {
		event = EVENT_PLAN;
		at_ns = e->next_plan_ns;
	}
	*ret_service = 0;
	for (uint32_t i = 0; i < e->nr_services; i++) {
		const struct engine_service *s = &e->services[i];
		uint64_t announce_ns = service_announce_ns(e, s), arrival_ns = ahead_at(&s->ahead, 0)->at_ns;

		if (announce_ns < at_ns) {
			event = EVENT_ANNOUNCE;
			at_ns = announce_ns;
			*ret_service = i;
		}
		if (arrival_ns < at_ns) {
			event = EVENT_ARRIVAL;
			at_ns = arrival_ns;
			*ret_service = i;
		}
	}
	*ret_at_ns = at_ns;
	return event;
}

static int engine_step(struct engine *e, enum event event, uint32_t service)
{
	switch (event) {
	case EVENT_PLAN:
		return engine_plan(e);
	case EVENT_ANNOUNCE:
		service_announce(e, &e->services[service]);
		return 0;
	case EVENT_ARRIVAL:
		service_arrive(e, &e->services[service]);
		return 0;
	case EVENT_CPU:
		break;
	}
	cpu_finish(e, e->timers.heap[0]);
	return 0;
}

static void engine_begin_measuring(struct engine *e)
{
	e->measuring = true;
	e->before = engine_total(e);
	for (uint32_t i = 0; i < e->nr_services; i++) {
		e->services[i].owned_ns = 0;
		e->services[i].owned_since_ns = e->now_ns;
	}
}

/* Who still waits has waited at least so long: leaving them out would flatter the overloaded. */
static void engine_end_measuring(struct engine *e)
{
	struct engine_totals t = engine_total(e);

	e->measured = (struct engine_totals){
		.batch_ns = t.batch_ns - e->before.batch_ns,
		.service_ns = t.service_ns - e->before.service_ns,
		.moves = t.moves - e->before.moves,
	};
	for (uint32_t i = 0; i < e->nr_services; i++) {
		struct engine_service *s = &e->services[i];

		service_count_owned(e, s);
		while (s->waiting.nr) {
			struct request r = queue_pop(&s->waiting);

			service_record_start(e, s, &r);
		}
	}
}

int engine_run(struct engine *e, uint64_t warmup_ns, uint64_t end_ns)
{
	e->warmup_ns = warmup_ns;
	e->end_ns = end_ns;
	for (;;) {
		uint64_t at_ns;
		uint32_t service;
		enum event event = engine_next(e, &at_ns, &service);
		int r;

		if (!e->measuring && at_ns >= warmup_ns) {
			e->now_ns = warmup_ns;
			engine_begin_measuring(e);
		}
		if (at_ns >= end_ns)
			break;
		e->now_ns = at_ns;
		r = engine_step(e, event, service);
		if (r < 0)
			return r;
	}
	e->now_ns = end_ns;
	engine_end_measuring(e);
	return 0;
}
