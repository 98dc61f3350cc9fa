/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc_work.c - a plan in the making: made from the previous one and from what is now, changed CPU by CPU */
#include <string.h>

#include "daemon/alloc_private.h"

static uint64_t elapsed(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

bool alloc_cpu_is_parked(const struct alloc_input *in, const struct alloc_memory *m, uint32_t cpu)
{
	uint64_t since_ns = m->unused_since_ns[cpu];

	return since_ns && elapsed(in->now_ns, since_ns) >= in->limits->park_ns &&
	       elapsed(in->now_ns, m->owned_since_ns[cpu]) >= in->limits->dwell_ns;
}

static bool is_used(const struct alloc_work *w, uint32_t owner)
{
	return owner >= 1 && owner <= SCHEDD_MAX_CLASSES && alloc_class_of(w, owner)->used;
}

static bool is_exclusive(const struct alloc_work *w, uint32_t owner)
{
	return owner != ALLOC_POOL && alloc_class_of(w, owner)->exclusive_smt;
}

/* Ties keep the order of the indexes, so that equal input gives equal output. */
static bool class_precedes(const struct alloc_class *a, const struct alloc_class *b)
{
	if (a->kind != b->kind)
		return a->kind > b->kind;
	return a->guarantee_cpus > b->guarantee_cpus;
}

static void order_class(struct alloc_work *w, uint32_t owner)
{
	uint32_t at = w->nr_classes++;

	for (; at > 0 && class_precedes(alloc_class_of(w, owner), alloc_class_of(w, w->order[at - 1])); at--)
		w->order[at] = w->order[at - 1];
	w->order[at] = owner;
}

static void load_classes(struct alloc_work *w)
{
	for (uint32_t owner = 1; owner < ALLOC_NR_OWNERS; owner++) {
		const struct alloc_class *c = alloc_class_of(w, owner);

		if (!c->used)
			continue;
		order_class(w, owner);
		w->guarantee[owner] = c->guarantee_cpus < c->burst_cpus ? c->guarantee_cpus : c->burst_cpus;
		w->has_exclusive |= c->exclusive_smt;
		w->has_lend_never |= c->lend_never;
		alloc_cpus_and(&c->reach, &w->common, &w->open[owner]);
	}
}

/* The plan in force, not the one to come: only its owner can leave a CPU unused. */
static void observe_cpu(struct alloc_work *w, uint32_t cpu)
{
	struct alloc_memory *m = w->memory;
	uint32_t owner = m->plan.owner[cpu];

	if (owner == ALLOC_POOL || w->in->holder[cpu] == owner)
		m->unused_since_ns[cpu] = 0;
	else if (!m->unused_since_ns[cpu])
		m->unused_since_ns[cpu] = w->in->now_ns ? w->in->now_ns : 1;
}

/* Its core and LLC; in falling order of numbers, so that a chain rises. */
static void load_place(struct alloc_work *w, uint32_t cpu)
{
	uint32_t core = alloc_core_of(w, cpu), llc = w->in->topo->cpus[cpu].llc % SCHEDD_MAX_LLCS;

	w->next_thread[cpu] = w->core_head[core];
	w->smt |= w->core_head[core] != SCHEDD_MAX_CPUS;
	w->core_head[core] = (uint16_t)cpu;
	if (core == alloc_core_of(w, 0))
		alloc_cpus_add(&w->first_core, cpu);
	alloc_cpus_add(&w->llc[llc], cpu);
	w->node_of_llc[llc] = w->in->topo->cpus[cpu].node;
}

static void load_use(struct alloc_work *w, uint32_t cpu)
{
	const struct alloc_memory *m = w->memory;
	uint32_t holder = w->in->holder[cpu];
	uint32_t kind = is_used(w, holder) ? alloc_class_of(w, holder)->kind % SCHEDD_NR_KINDS : SCHEDD_KIND_NONE;

	alloc_cpus_add(&w->held[kind], cpu);
	if (m->unused_since_ns[cpu])
		alloc_cpus_add(&w->unused, cpu);
	if (alloc_cpu_is_parked(w->in, m, cpu))
		alloc_cpus_add(&w->parked, cpu);
	if (elapsed(w->in->now_ns, m->owned_since_ns[cpu]) >= w->in->limits->dwell_ns)
		alloc_cpus_add(&w->settled, cpu);
	if (m->last_owner[cpu] < ALLOC_NR_OWNERS)
		alloc_cpus_add(&w->warm[m->last_owner[cpu]], cpu);
}

static void load_owner(struct alloc_work *w, uint32_t cpu)
{
	uint32_t private_to = w->in->limits->private_owner[cpu], owner = w->memory->plan.owner[cpu];

	if (private_to)
		owner = is_used(w, private_to) ? private_to : ALLOC_POOL;
	else if (!is_used(w, owner) || !alloc_cpus_has(&alloc_class_of(w, owner)->reach, cpu))
		owner = ALLOC_POOL;
	if (!private_to)
		alloc_cpus_add(&w->common, cpu);
	/* Private to a class that is not in use: nobody's, and not in the pool. */
	if (private_to && owner == ALLOC_POOL)
		return;
	w->owner[cpu] = (uint8_t)owner;
	alloc_cpus_add(&w->owned[owner], cpu);
	w->nr_owned[owner]++;
	w->nr_owned_in_llc[owner][w->in->topo->cpus[cpu].llc % SCHEDD_MAX_LLCS]++;
	if (owner != w->memory->plan.owner[cpu])
		w->trigger[owner] = w->trigger[w->memory->plan.owner[cpu]] = ALLOC_TRIGGER_LIMITS;
}

static void mark_exclusive(struct alloc_work *w, uint32_t cpu)
{
	bool exclusive = false;

	for_each_alloc_thread(w, thread, cpu)
		exclusive |= is_exclusive(w, w->owner[thread]);
	for_each_alloc_thread(w, thread, cpu) {
		if (exclusive)
			alloc_cpus_add(&w->exclusive, thread);
		else
			alloc_cpus_del(&w->exclusive, thread);
	}
}

void alloc_load(struct alloc_work *w)
{
	const struct topo *t = w->in->topo;

	for (uint32_t core = 0; core < SCHEDD_MAX_CPUS; core++)
		w->core_head[core] = SCHEDD_MAX_CPUS;
	for (uint32_t cpu = t->nr_possible; cpu-- > 0;) {
		observe_cpu(w, cpu);
		if (!t->cpus[cpu].online || alloc_cpus_has(&w->in->limits->excluded, cpu)) {
			w->trigger[w->memory->plan.owner[cpu]] = ALLOC_TRIGGER_LIMITS;
			continue;
		}
		alloc_cpus_add(&w->usable, cpu);
		load_place(w, cpu);
		load_use(w, cpu);
		load_owner(w, cpu);
	}
	load_classes(w);
	for (uint32_t i = 0; w->has_exclusive && i < w->nr_classes; i++)
		if (is_exclusive(w, w->order[i]))
			for_each_alloc_cpu(cpu, &w->owned[w->order[i]])
				mark_exclusive(w, cpu);
}

void alloc_move(struct alloc_work *w, uint32_t cpu, uint32_t to, enum alloc_trigger trigger)
{
	uint32_t from = w->owner[cpu], llc = w->in->topo->cpus[cpu].llc % SCHEDD_MAX_LLCS;

	w->owner[cpu] = (uint8_t)to;
	alloc_cpus_del(&w->owned[from], cpu);
	alloc_cpus_add(&w->owned[to], cpu);
	alloc_cpus_add(&w->moved, cpu);
	w->nr_owned[from]--;
	w->nr_owned[to]++;
	w->nr_owned_in_llc[from][llc]--;
	w->nr_owned_in_llc[to][llc]++;
	/* The first reason counts: what limits force comes before what a policy wants. */
	if (!w->trigger[from])
		w->trigger[from] = trigger;
	if (!w->trigger[to])
		w->trigger[to] = trigger;
	if (w->has_exclusive)
		mark_exclusive(w, cpu);
}
