/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc_pick.c - which CPU a class gets, and which it gives back
 *
 * A search begins with the set of all that may change hands and narrows it by
 * one wish after the other; a wish that nothing fulfils is passed over.  So the
 * order of the wishes is the order of their importance.
 */
#include "daemon/alloc_private.h"

static const uint32_t normal = SCHEDD_CLASS_NORMAL + 1;

/* ---------- at home ---------- */

static uint32_t llc_of(const struct alloc_work *w, uint32_t cpu)
{
	return w->in->topo->cpus[cpu].llc % SCHEDD_MAX_LLCS;
}

static uint32_t nr_llcs(const struct alloc_work *w)
{
	return w->in->topo->nr_llcs < SCHEDD_MAX_LLCS ? w->in->topo->nr_llcs : SCHEDD_MAX_LLCS;
}

/* The tightest LLC that holds all it lacks, so that a large one stays whole for others; else the one with most room. */
static uint32_t roomy_llc(const struct alloc_work *w, uint32_t taker)
{
	uint32_t room[SCHEDD_MAX_LLCS] = {}, need = alloc_lacks(w, taker), home = 0;
	struct alloc_cpus open;

	need = need ? need : 1;
	alloc_cpus_and(&w->open[taker], &w->owned[ALLOC_POOL], &open);
	alloc_cpus_sub(&open, &w->first_core);
	for_each_alloc_cpu(cpu, &open)
		room[llc_of(w, cpu)]++;
	for (uint32_t llc = 1; llc < nr_llcs(w); llc++) {
		bool fits = room[llc] >= need, home_fits = room[home] >= need;

		if (fits != home_fits ? fits : fits ? room[llc] < room[home] : room[llc] > room[home])
			home = llc;
	}
	return home;
}

/* The LLC in which it owns most. */
static uint32_t home_llc(const struct alloc_work *w, uint32_t taker)
{
	uint32_t owned[SCHEDD_MAX_LLCS] = {}, home = 0;

	if (!w->nr_owned[taker] && taker == normal && alloc_cpus_meet(&w->first_core, &w->open[taker]))
		return llc_of(w, alloc_cpus_next(&w->first_core, 0));
	if (!w->nr_owned[taker])
		return roomy_llc(w, taker);
	for_each_alloc_cpu(cpu, &w->owned[taker])
		owned[llc_of(w, cpu)]++;
	for (uint32_t llc = 1; llc < nr_llcs(w); llc++)
		if (owned[llc] > owned[home])
			home = llc;
	return home;
}

static uint64_t near_llcs(struct alloc_work *w, uint32_t taker)
{
	uint64_t *llcs = &w->near_llcs[taker];

	if (!*llcs)
		*llcs = w->in->demand[taker - 1].congested_llcs;
	if (!*llcs)
		*llcs = 1ULL << home_llc(w, taker);
	return *llcs;
}

/* They, and the LLCs that share a NUMA node with one of them. */
static uint64_t llcs_of_nodes(const struct alloc_work *w, uint64_t llcs)
{
	uint64_t all = llcs;

	for (; llcs; llcs &= llcs - 1)
		for (uint32_t other = 0; other < nr_llcs(w); other++)
			if (w->node_of_llc[other] == w->node_of_llc[__builtin_ctzll(llcs)])
				all |= 1ULL << other;
	return all;
}

static void cpus_of_llcs(const struct alloc_work *w, uint64_t llcs, struct alloc_cpus *ret_cpus)
{
	*ret_cpus = (struct alloc_cpus){};
	for (; llcs; llcs &= llcs - 1)
		alloc_cpus_or(ret_cpus, &w->llc[__builtin_ctzll(llcs)]);
}

static void narrow_near(struct alloc_work *w, uint32_t taker, struct alloc_cpus *s)
{
	struct alloc_cpus near;

	if (nr_llcs(w) <= 1)
		return;
	cpus_of_llcs(w, near_llcs(w, taker), &near);
	if (alloc_cpus_narrow(s, &near))
		return;
	cpus_of_llcs(w, llcs_of_nodes(w, near_llcs(w, taker)), &near);
	alloc_cpus_narrow(s, &near);
}

/* ---------- what must not be taken ---------- */

static bool is_last_for(const struct alloc_work *w, uint32_t class, const struct alloc_cpus *kept, uint32_t cpu)
{
	struct alloc_cpus access, own;

	/* Its own CPUs are kept from others only. */
	alloc_cpus_and(&alloc_class_of(w, class)->reach, &w->usable, &access);
	alloc_cpus_and(&access, &w->owned[class], &own);
	alloc_cpus_sub(&access, kept);
	alloc_cpus_or(&access, &own);
	return alloc_cpus_has(&access, cpu) && alloc_cpus_count(&access) == 1;
}

bool alloc_is_barred(const struct alloc_work *w, uint32_t taker, uint32_t cpu)
{
	struct alloc_cpus kept = {};

	if (!alloc_class_of(w, taker)->lend_never)
		return false;
	for (uint32_t i = 0; i < w->nr_classes; i++)
		if (alloc_class_of(w, w->order[i])->lend_never)
			alloc_cpus_or(&kept, &w->owned[w->order[i]]);
	for (uint32_t i = 0; i < w->nr_classes; i++)
		if (w->order[i] != taker && is_last_for(w, w->order[i], &kept, cpu))
			return true;
	return false;
}

/* May the taker have a CPU of this class, which is above its guarantee? */
static bool is_donor(const struct alloc_work *w, const struct alloc_pick *p, uint32_t donor)
{
	const struct alloc_class *theirs = alloc_class_of(w, donor), *ours = alloc_class_of(w, p->taker);

	if (donor == p->taker || !alloc_above_guarantee(w, donor))
		return false;
	if (p->forced || theirs->kind < ours->kind)
		return true;
	return theirs->kind == ours->kind && !w->in->demand[donor - 1].congested && !(w->growing >> donor & 1);
}

/*
 * A class with exclusive_smt gets no part of a core that others own.  What the
 * donor itself has of it goes to the pool, if it can spare that too.
 */
static bool clear_core(struct alloc_work *w, const struct alloc_pick *p, uint32_t cpu)
{
	uint32_t leaving = 0;

	for_each_alloc_thread(w, thread, cpu) {
		uint32_t owner = w->owner[thread];

		if (owner == p->taker || owner == ALLOC_POOL)
			continue;
		if (owner != p->donor || !alloc_cpus_has(&w->common, thread))
			return false;
		if (!p->forced && (!alloc_cpus_has(&w->settled, thread) || alloc_cpus_has(&w->moved, thread)))
			return false;
		leaving++;
	}
	if (p->donor != ALLOC_POOL && leaving > alloc_above_guarantee(w, p->donor))
		return false;
	for_each_alloc_thread(w, thread, cpu)
		if (thread != cpu && p->donor != ALLOC_POOL && w->owner[thread] == p->donor)
			alloc_move(w, thread, ALLOC_POOL, p->trigger);
	return true;
}

/* ---------- the best of many ---------- */

/* The other threads of cores that it has begun: walks whichever set is smaller. */
static void narrow_beside(const struct alloc_work *w, uint32_t taker, struct alloc_cpus *s)
{
	struct alloc_cpus beside = {};

	if (!w->nr_owned[taker])
		return;
	if (w->nr_owned[taker] < alloc_cpus_count(s)) {
		for_each_alloc_cpu(own, &w->owned[taker])
			for_each_alloc_thread(w, thread, own)
				alloc_cpus_add(&beside, thread);
	} else {
		for_each_alloc_cpu(cpu, s)
			for_each_alloc_thread(w, thread, cpu)
				if (w->owner[thread] == taker)
					alloc_cpus_add(&beside, cpu);
	}
	alloc_cpus_narrow(s, &beside);
}

static bool core_has_others(const struct alloc_work *w, uint32_t owner, uint32_t cpu)
{
	for_each_alloc_thread(w, thread, cpu)
		if (thread != cpu && w->owner[thread] != ALLOC_POOL && w->owner[thread] != owner)
			return true;
	return false;
}

/* Cores that nobody else is on before others, the first core last; for normal the first core before all. */
static uint32_t best_by_core(const struct alloc_work *w, uint32_t taker, const struct alloc_cpus *s)
{
	uint32_t best = SCHEDD_MAX_CPUS;
	int best_score = -1;

	for_each_alloc_cpu(cpu, s) {
		bool whole = !w->smt || !core_has_others(w, taker, cpu);
		bool first = alloc_cpus_has(&w->first_core, cpu);
		int score = taker == normal ? first * 2 + whole : whole * 2 + !first;

		if (score <= best_score)
			continue;
		best = cpu;
		best_score = score;
		if (score == 3)
			break;
	}
	return best;
}

uint32_t alloc_best_cpu(struct alloc_work *w, uint32_t taker, struct alloc_cpus from)
{
	for (uint32_t kind = SCHEDD_KIND_NONE; kind < w->kind[taker]; kind++)
		if (alloc_cpus_narrow(&from, &w->held[kind]))
			break;
	alloc_cpus_narrow(&from, &w->warm[taker]);
	narrow_near(w, taker, &from);
	if (w->smt)
		narrow_beside(w, taker, &from);
	return best_by_core(w, taker, &from);
}

/* ---------- taking and giving back ---------- */

static void keep_free_to_go(const struct alloc_work *w, struct alloc_cpus *s)
{
	alloc_cpus_and(s, &w->settled, s);
	alloc_cpus_sub(s, &w->moved);
}

bool alloc_take(struct alloc_work *w, const struct alloc_pick *p, struct alloc_taken *ret_taken)
{
	bool exclusive = alloc_class_of(w, p->taker)->exclusive_smt;
	struct alloc_cpus from;

	alloc_cpus_and(&w->open[p->taker], &w->owned[p->donor], &from);
	if (p->donor != ALLOC_POOL && !p->forced)
		keep_free_to_go(w, &from);
	if (!p->sharing && !exclusive)
		alloc_cpus_sub(&from, &w->exclusive);
	while (!alloc_cpus_empty(&from)) {
		uint32_t cpu = alloc_best_cpu(w, p->taker, from);

		if (!alloc_is_barred(w, p->taker, cpu) && (p->sharing || !exclusive || clear_core(w, p, cpu))) {
			alloc_move(w, cpu, p->taker, p->trigger);
			*ret_taken = (struct alloc_taken){ .cpu = cpu, .from = p->donor };
			return true;
		}
		alloc_cpus_del(&from, cpu);
	}
	return false;
}

/* Lower kinds first, then who has most above its guarantee; ALLOC_POOL when all were asked. */
static uint32_t next_donor(const struct alloc_work *w, const struct alloc_pick *p, uint32_t asked)
{
	uint32_t best = ALLOC_POOL;

	for (uint32_t i = 0; i < w->nr_classes; i++) {
		uint32_t donor = w->order[i], kind = alloc_class_of(w, donor)->kind, best_kind;

		if (asked >> donor & 1 || !is_donor(w, p, donor))
			continue;
		best_kind = best ? alloc_class_of(w, best)->kind : SCHEDD_NR_KINDS;
		if (kind < best_kind ||
		    (kind == best_kind && alloc_above_guarantee(w, donor) > alloc_above_guarantee(w, best)))
			best = donor;
	}
	return best;
}

bool alloc_take_any(struct alloc_work *w, struct alloc_pick p, struct alloc_taken *ret_taken)
{
	uint32_t asked = 0;

	p.donor = ALLOC_POOL;
	do {
		if (alloc_take(w, &p, ret_taken))
			return true;
		asked |= 1U << p.donor;
		p.donor = next_donor(w, &p, asked);
	} while (p.donor != ALLOC_POOL);
	return false;
}

/* A broken core before a whole one, the first core before others unless it is normal's; then the highest number. */
static uint32_t worst_by_core(const struct alloc_work *w, uint32_t owner, const struct alloc_cpus *s)
{
	uint32_t worst = SCHEDD_MAX_CPUS;
	int worst_score = -1;

	for_each_alloc_cpu(cpu, s) {
		bool first = alloc_cpus_has(&w->first_core, cpu) != (owner == normal), broken = false;
		int score;

		for_each_alloc_thread(w, thread, cpu)
			broken |= w->owner[thread] != owner;
		score = broken * 2 + first;
		if (score < worst_score)
			continue;
		worst = cpu;
		worst_score = score;
	}
	return worst;
}

bool alloc_give_back(struct alloc_work *w, uint32_t owner, bool forced, enum alloc_trigger trigger)
{
	struct alloc_cpus from, far, near;

	alloc_cpus_and(&w->owned[owner], &w->common, &from);
	if (!forced)
		keep_free_to_go(w, &from);
	if (trigger == ALLOC_TRIGGER_PARK)
		alloc_cpus_and(&from, &w->parked, &from);
	if (alloc_cpus_empty(&from))
		return false;
	if (!alloc_cpus_narrow(&from, &w->parked))
		alloc_cpus_narrow(&from, &w->unused);
	cpus_of_llcs(w, near_llcs(w, owner), &near);
	far = from;
	alloc_cpus_sub(&far, &near);
	alloc_cpus_narrow(&from, &far);
	alloc_move(w, worst_by_core(w, owner, &from), ALLOC_POOL, trigger);
	return true;
}
