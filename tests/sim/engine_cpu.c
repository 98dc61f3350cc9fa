// SPDX-License-Identifier: GPL-2.0-or-later
/* engine_cpu.c - what a CPU of the engine does, and what its services and best-effort see of it */
#include "engine_cpu.h"

static struct engine_service *service_of(struct engine *e, uint32_t class_idx)
{
	return &e->services[e->service_of[class_idx] - 1];
}

static void usage_start(struct engine *e, uint32_t cpu, uint32_t class_idx)
{
	struct engine_usage *u = &e->usage[e->topo->cpus[cpu].llc][class_idx];

	u->running++;
	u->since_sum_ns += e->now_ns;
	e->holder[cpu] = (uint8_t)(class_idx + 1);
}

static void usage_stop(struct engine *e, uint32_t cpu, uint32_t class_idx)
{
	uint32_t llc = e->topo->cpus[cpu].llc;

	e->usage[llc][class_idx].running--;
	e->usage[llc][class_idx].since_sum_ns -= e->cpus[cpu].since_ns;
	e->counters[llc][class_idx].cpu_ns += e->now_ns - e->cpus[cpu].since_ns;
	e->holder[cpu] = 0;
}

static void count_start(struct engine *e, uint32_t class_idx, const struct request *r)
{
	struct demand_counters *c = &e->counters[r->llc][class_idx];

	c->dequeued++;
	c->started++;
	c->queue_delay_ns += e->now_ns - r->queued_ns;
}

void batch_wait(struct engine *e, uint32_t llc)
{
	struct request r = { .queued_ns = e->now_ns, .llc = (uint16_t)llc };

	queue_push(&e->batch_waiting, &r);
	e->counters[llc][SCHEDD_CLASS_BEST_EFFORT].enqueued++;
}

static void batch_run(struct engine *e)
{
	struct request r = queue_pop(&e->batch_waiting);

	count_start(e, SCHEDD_CLASS_BEST_EFFORT, &r);
}

void service_wait(struct engine *e, struct engine_service *s, const struct request *r)
{
	queue_push(&s->waiting, r);
	e->counters[r->llc][s->class_idx].enqueued++;
}

void service_record_start(struct engine *e, struct engine_service *s, struct request *r)
{
	if (r->started)
		return;
	r->started = true;
	if (r->arrived_ns < e->warmup_ns)
		return;
	hist_add(&s->delay, e->now_ns - r->arrived_ns);
	s->delay_sum_ns += e->now_ns - r->arrived_ns;
}

void service_count_owned(struct engine *e, struct engine_service *s)
{
	s->owned_ns += s->nr_owned * (e->now_ns - s->owned_since_ns);
	s->owned_since_ns = e->now_ns;
}

void cpu_leave(struct engine *e, uint32_t cpu)
{
	struct engine_cpu *c = &e->cpus[cpu];
	struct engine_service *own = engine_owner(e, cpu);

	switch (c->state) {
	case CPU_BATCH:
		usage_stop(e, cpu, SCHEDD_CLASS_BEST_EFFORT);
		batch_wait(e, e->topo->cpus[cpu].llc);
		alloc_cpus_del(&e->batch, cpu);
		if (own)
			alloc_cpus_del(&own->lent, cpu);
		break;
	case CPU_SERVES:
		usage_stop(e, cpu, c->class_idx);
		service_of(e, c->class_idx)->nr_serving--;
		break;
	case CPU_CALLED:
		service_of(e, c->class_idx)->nr_called--;
		break;
	case CPU_READY:
		alloc_cpus_del(&own->ready, cpu);
		own->nr_ready--;
		break;
	case CPU_MOVES:
	case CPU_AWAY:
		break;
	}
	timers_clear(&e->timers, cpu);
}

void cpu_enter(struct engine *e, uint32_t cpu, enum cpu_state state, uint32_t class_idx)
{
	struct engine_cpu *c = &e->cpus[cpu];
	struct engine_service *own = engine_owner(e, cpu);

	c->state = state;
	c->class_idx = class_idx;
	c->since_ns = e->now_ns;
	switch (state) {
	case CPU_BATCH:
		batch_run(e);
		usage_start(e, cpu, SCHEDD_CLASS_BEST_EFFORT);
		alloc_cpus_add(&e->batch, cpu);
		if (own)
			alloc_cpus_add(&own->lent, cpu);
		break;
	case CPU_SERVES:
		usage_start(e, cpu, class_idx);
		service_of(e, class_idx)->nr_serving++;
		timers_set(&e->timers, cpu, e->now_ns + c->request.left_ns);
		break;
	case CPU_CALLED:
		service_of(e, class_idx)->nr_called++;
		timers_set(&e->timers, cpu, e->now_ns + e->costs.reclaim_ns);
		break;
	case CPU_READY:
		alloc_cpus_add(&own->ready, cpu);
		own->nr_ready++;
		break;
	case CPU_MOVES:
		timers_set(&e->timers, cpu, e->now_ns + e->costs.move_ns);
		break;
	case CPU_AWAY:
		break;
	}
}

void cpu_serve(struct engine *e, uint32_t cpu, struct engine_service *s, const struct request *r)
{
	e->cpus[cpu].request = *r;
	cpu_enter(e, cpu, CPU_SERVES, s->class_idx);
}

static void cpu_serve_first(struct engine *e, uint32_t cpu, struct engine_service *s)
{
	struct request r = queue_pop(&s->waiting);

	count_start(e, s->class_idx, &r);
	service_record_start(e, s, &r);
	cpu_serve(e, cpu, s, &r);
}

/* Giving a CPU back and calling it again costs reclaim_ns: who sees that far keeps it for that long. */
static bool service_keeps_idle(const struct engine *e, const struct engine_service *s)
{
	return e->planner->sees_ns && service_on(s) < ahead_most(&s->ahead, e->now_ns + e->costs.reclaim_ns);
}

/* What a CPU does that has nothing to do; guest had it until now and is not the owner, or NULL. */
static void cpu_go_on(struct engine *e, uint32_t cpu, struct engine_service *guest)
{
	struct engine_service *own = engine_owner(e, cpu);

	if (own && own->waiting.nr)
		cpu_serve_first(e, cpu, own);
	else if (guest && guest != own && guest->waiting.nr && service_on(guest) < guest->burst_cpus)
		cpu_serve_first(e, cpu, guest);
	else if (own && service_keeps_idle(e, own))
		cpu_enter(e, cpu, CPU_READY, own->class_idx);
	else
		cpu_enter(e, cpu, CPU_BATCH, SCHEDD_CLASS_BEST_EFFORT);
}

void cpu_finish(struct engine *e, uint32_t cpu)
{
	const struct engine_cpu *c = &e->cpus[cpu];
	struct engine_service *guest = NULL;

	if (c->state != CPU_MOVES)
		guest = service_of(e, c->class_idx);
	cpu_leave(e, cpu);
	cpu_go_on(e, cpu, guest);
	/* The owner may have been quicker than the guest who had called the CPU. */
	if (guest && guest != engine_owner(e, cpu))
		service_call(e, guest);
}

static void cpu_set_owner(struct engine *e, uint32_t cpu, uint8_t owner)
{
	uint32_t llc = e->topo->cpus[cpu].llc;
	struct engine_service *s = engine_owner(e, cpu);

	if (s) {
		service_count_owned(e, s);
		s->nr_owned--;
		if (!--s->owned_in[llc])
			s->llcs &= ~(UINT64_C(1) << llc);
	}
	e->owner[cpu] = owner;
	s = engine_owner(e, cpu);
	if (s) {
		service_count_owned(e, s);
		s->nr_owned++;
		s->owned_in[llc]++;
		s->llcs |= UINT64_C(1) << llc;
	}
}

static void cpu_put_back(struct engine *e, uint32_t cpu)
{
	struct engine_cpu *c = &e->cpus[cpu];
	struct engine_service *s = service_of(e, c->class_idx);
	struct request r = c->request;

	r.left_ns = e->timers.at_ns[cpu] - e->now_ns;
	r.queued_ns = e->now_ns;
	queue_push_front(&s->waiting, &r);
	e->counters[r.llc][s->class_idx].enqueued++;
}

void cpu_move(struct engine *e, uint32_t cpu, uint8_t owner)
{
	struct engine_cpu *c = &e->cpus[cpu];
	struct engine_service *old = engine_owner(e, cpu);
	bool for_service = owner && e->service_of[owner - 1];
	bool in_use = c->state == CPU_SERVES || c->state == CPU_CALLED;
	bool has_guest = in_use && c->class_idx + 1 != e->owner[cpu];

	e->nr_moves++;
	if (c->state == CPU_BATCH && !for_service) {
		/* Best-effort goes on. */
		if (old)
			alloc_cpus_del(&old->lent, cpu);
		cpu_set_owner(e, cpu, owner);
		return;
	}
	if (has_guest && (!for_service || c->class_idx + 1 == owner)) {
		/* A guest becomes the owner, or stays the guest of another. */
		cpu_set_owner(e, cpu, owner);
		return;
	}
	if (c->state == CPU_SERVES)
		cpu_put_back(e, cpu);
	cpu_leave(e, cpu);
	cpu_set_owner(e, cpu, owner);
	cpu_enter(e, cpu, CPU_MOVES, 0);
}

/* A CPU that it does not own: only with the reflex. */
static uint32_t service_find_foreign(const struct engine *e, const struct engine_service *s)
{
	struct alloc_cpus open;

	if (!e->costs.reflex || service_on(s) >= s->burst_cpus)
		return SCHEDD_MAX_CPUS;
	alloc_cpus_and(&e->batch, &s->reach, &open);
	return alloc_cpus_next(&open, 0);
}

bool service_call_one(struct engine *e, struct engine_service *s)
{
	uint32_t cpu = alloc_cpus_next(&s->lent, 0);

	if (cpu >= SCHEDD_MAX_CPUS)
		cpu = service_find_foreign(e, s);
	if (cpu >= SCHEDD_MAX_CPUS)
		return false;
	cpu_leave(e, cpu);
	cpu_enter(e, cpu, CPU_CALLED, s->class_idx);
	return true;
}

void service_call(struct engine *e, struct engine_service *s)
{
	while (s->waiting.nr > s->nr_called && service_call_one(e, s))
		;
}
