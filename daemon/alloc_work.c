/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc_work.c - a plan in the making: made from the previous one and from what is now, changed CPU by CPU */
#include <string.h>

#include "daemon/alloc_private.h"

/* A class without a kind is not in use: it has no rank. */
static uint32_t kind_of(const struct alloc_class *c)
{
	return c->used && c->kind < SCHEDD_NR_KINDS ? c->kind : SCHEDD_KIND_NONE;
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

		if (!w->kind[owner])
			continue;
		order_class(w, owner);
		w->guarantee[owner] = c->guarantee_cpus < c->burst_cpus ? c->guarantee_cpus : c->burst_cpus;
		w->has_exclusive |= c->exclusive_smt;
		w->has_lend_never |= c->lend_never;
		alloc_cpus_and(&c->reach, &w->common, &w->open[owner]);
	}
}

/*
 * The walks over all CPUs are most of what a plan costs on a large machine.  To change
 * one word in memory 64 times in a row is to wait each time for the store before, so
 * bits are collected in a local word, or neighbours in the walk are in different words.
 */

static void load_llcs(struct alloc_work *w)
{
	const struct topo *t = w->in->topo;

	for (uint32_t first = 0; first < t->nr_possible; first += 64) {
		uint64_t usable = w->usable.bits[first / 64], here = 0;
		uint32_t last_llc = 0;

		for (; usable; usable &= usable - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(usable), llc = t->cpus[first + bit].llc % SCHEDD_MAX_LLCS;

			if (llc != last_llc) {
				w->llc[last_llc].bits[first / 64] |= here;
				here = 0;
				last_llc = llc;
			}
			here |= 1ULL << bit;
			w->node_of_llc[llc] = t->cpus[first + bit].node;
		}
		w->llc[last_llc].bits[first / 64] |= here;
	}
}

/* In falling order of numbers, so that the chain of a core's threads rises. */
static void load_cores(struct alloc_work *w)
{
	const struct topo *t = w->in->topo;

	for (uint32_t core = 0; core < SCHEDD_MAX_CPUS; core++)
		w->core_head[core] = SCHEDD_MAX_CPUS;
	for (uint32_t word = (t->nr_possible + 63) / 64; word-- > 0;) {
		uint64_t excluded = w->in->limits->excluded.bits[word], usable = 0;

		for (uint32_t bit = 64; bit-- > 0;) {
			uint32_t cpu = word * 64 + bit, core;

			if (cpu >= t->nr_possible || !t->cpus[cpu].online || excluded >> bit & 1)
				continue;
			core = alloc_core_of(w, cpu);
			usable |= 1ULL << bit;
			w->next_thread[cpu] = w->core_head[core];
			w->smt |= w->core_head[core] != SCHEDD_MAX_CPUS;
			w->core_head[core] = (uint16_t)cpu;
		}
		w->usable.bits[word] = usable;
	}
	for_each_alloc_thread(w, thread, 0)
		alloc_cpus_add(&w->first_core, thread);
}

static bool has_passed(uint64_t now_ns, uint64_t since_ns, uint64_t span_ns)
{
	return (now_ns > since_ns ? now_ns - since_ns : 0) >= span_ns;
}

/*
 * Of the plan in force, not of the one to come: only its owner can leave a CPU unused.
 * Nothing here can be predicted, so there are no branches.
 */
static void load_times(struct alloc_work *w, uint32_t first, uint32_t end)
{
	const struct alloc_input *in = w->in;
	struct alloc_memory *m = w->memory;
	uint64_t now_ns = in->now_ns ? in->now_ns : 1, park_ns = in->limits->park_ns, dwell_ns = in->limits->dwell_ns;
	uint64_t unused = 0, parked = 0, settled = 0;

	for (uint32_t cpu = first; cpu < end; cpu++) {
		uint32_t owner = m->plan.owner[cpu];
		uint64_t bit = 1ULL << (cpu - first), since_ns = m->unused_since_ns[cpu];
		bool away = (owner != ALLOC_POOL) & (in->holder[cpu] != owner);

		since_ns = since_ns ? since_ns : now_ns;
		m->unused_since_ns[cpu] = away ? since_ns : 0;
		unused |= away ? bit : 0;
		parked |= has_passed(now_ns, since_ns, park_ns) ? bit : 0;
		settled |= has_passed(now_ns, m->owned_since_ns[cpu], dwell_ns) ? bit : 0;
	}
	w->unused.bits[first / 64] = unused;
	w->parked.bits[first / 64] = parked & unused & settled;
	w->settled.bits[first / 64] = settled;
}

static void load_previous(struct alloc_work *w)
{
	const struct alloc_memory *m = w->memory;
	uint32_t nr_cpus = w->in->topo->nr_possible;

	for (uint32_t bit = 0; bit < 64; bit++) {
		for (uint32_t cpu = bit; cpu < nr_cpus; cpu += 64) {
			uint32_t holder = w->in->holder[cpu];

			alloc_cpus_add(&w->owned[m->plan.owner[cpu]], cpu);
			alloc_cpus_add(&w->warm[m->last_owner[cpu]], cpu);
			alloc_cpus_add(&w->held[w->kind[holder < ALLOC_NR_OWNERS ? holder : ALLOC_POOL]], cpu);
		}
	}
	memcpy(w->owner, m->plan.owner, nr_cpus);
}

static void change_owner(struct alloc_work *w, uint32_t cpu, uint32_t to)
{
	uint32_t from = w->owner[cpu];

	if (from == to)
		return;
	alloc_cpus_del(&w->owned[from], cpu);
	alloc_cpus_add(&w->owned[to], cpu);
	w->owner[cpu] = (uint8_t)to;
	w->trigger[from] = w->trigger[to] = ALLOC_TRIGGER_LIMITS;
}

/* Private to a class that is not in use: nobody's, and not in the pool. */
static void load_private_cpu(struct alloc_work *w, uint32_t cpu)
{
	uint32_t private_to = w->in->limits->private_owner[cpu];

	if (!private_to || !alloc_cpus_has(&w->usable, cpu))
		return;
	alloc_cpus_del(&w->common, cpu);
	alloc_cpus_add(&w->private, cpu);
	change_owner(w, cpu, private_to < ALLOC_NR_OWNERS && w->kind[private_to] ? private_to : ALLOC_POOL);
}

static void load_private(struct alloc_work *w)
{
	static const uint8_t none[64];

	w->common = w->usable;
	for (uint32_t first = 0; first < w->in->topo->nr_possible; first += 64)
		if (memcmp(&w->in->limits->private_owner[first], none, sizeof(none)) != 0)
			for (uint32_t cpu = first; cpu < first + 64; cpu++)
				load_private_cpu(w, cpu);
}

/* What the class no longer may own goes to the pool; into the pool goes only what all may take. */
static void load_owners(struct alloc_work *w)
{
	for (uint32_t owner = 1; owner < ALLOC_NR_OWNERS; owner++) {
		struct alloc_cpus gone = w->owned[owner];

		if (w->kind[owner]) {
			alloc_cpus_sub(&gone, &w->open[owner]);
			alloc_cpus_sub(&gone, &w->private);
		}
		for_each_alloc_cpu(cpu, &gone)
			change_owner(w, cpu, ALLOC_POOL);
	}
	alloc_cpus_and(&w->owned[ALLOC_POOL], &w->common, &w->owned[ALLOC_POOL]);
	for (uint32_t owner = 0; owner < ALLOC_NR_OWNERS; owner++)
		w->nr_owned[owner] = alloc_cpus_count(&w->owned[owner]);
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
	uint32_t nr_cpus = w->in->topo->nr_possible;

	for (uint32_t owner = 1; owner < ALLOC_NR_OWNERS; owner++)
		w->kind[owner] = kind_of(alloc_class_of(w, owner));
	load_cores(w);
	load_llcs(w);
	for (uint32_t first = 0; first < nr_cpus; first += 64)
		load_times(w, first, first + 64 < nr_cpus ? first + 64 : nr_cpus);
	load_previous(w);
	load_private(w);
	load_classes(w);
	load_owners(w);
	alloc_cpus_and(&w->parked, &w->common, &w->parked);
	for (uint32_t i = 0; w->has_exclusive && i < w->nr_classes; i++)
		if (is_exclusive(w, w->order[i]))
			for_each_alloc_cpu(cpu, &w->owned[w->order[i]])
				mark_exclusive(w, cpu);
}

void alloc_move(struct alloc_work *w, uint32_t cpu, uint32_t to, enum alloc_trigger trigger)
{
	uint32_t from = w->owner[cpu];

	w->owner[cpu] = (uint8_t)to;
	alloc_cpus_del(&w->owned[from], cpu);
	alloc_cpus_add(&w->owned[to], cpu);
	alloc_cpus_add(&w->moved, cpu);
	w->nr_owned[from]--;
	w->nr_owned[to]++;
	/* The first reason counts: what limits force comes before what a policy wants. */
	if (!w->trigger[from])
		w->trigger[from] = trigger;
	if (!w->trigger[to])
		w->trigger[to] = trigger;
	if (w->has_exclusive)
		mark_exclusive(w, cpu);
}
