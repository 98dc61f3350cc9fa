/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc_guarantee.c - every class gets its guarantee as far as that is possible at all
 *
 * First each class takes whole cores while they fit into what it lacks; then
 * the odd threads follow.  All classes pass one step before the next begins, so
 * that the odd thread of one never breaks the core that another could have whole.
 *
 * Where cpusets overlap, a class may find every CPU in its reach taken by
 * others at their guarantee, while one of those could live elsewhere.  So a
 * chain is looked for: A gives a CPU to the class and takes one from B, ...,
 * the last takes one that is to spare.  No chain means that it is impossible.
 */
#include "daemon/alloc_private.h"

/* Nobody may be locked out: by lend_never and a reach that changed, all that a class may use can be kept from it. */
static void open_one_cpu(struct alloc_work *w, uint32_t class, const struct alloc_cpus *kept)
{
	uint32_t best = SCHEDD_MAX_CPUS;
	struct alloc_cpus access, own;

	alloc_cpus_and(&alloc_class_of(w, class)->reach, &w->usable, &access);
	alloc_cpus_and(&access, &w->owned[class], &own);
	alloc_cpus_sub(&access, kept);
	if (!alloc_cpus_empty(&access) || !alloc_cpus_empty(&own))
		return;
	for_each_alloc_cpu(cpu, &w->open[class])
		if (best == SCHEDD_MAX_CPUS ||
		    alloc_above_guarantee(w, w->owner[cpu]) > alloc_above_guarantee(w, w->owner[best]))
			best = cpu;
	if (best < SCHEDD_MAX_CPUS)
		alloc_move(w, best, ALLOC_POOL, ALLOC_TRIGGER_LIMITS);
}

static void keep_access(struct alloc_work *w)
{
	for (uint32_t i = 0; w->has_lend_never && i < w->nr_classes; i++) {
		struct alloc_cpus kept = {};

		for (uint32_t k = 0; k < w->nr_classes; k++)
			if (alloc_class_of(w, w->order[k])->lend_never)
				alloc_cpus_or(&kept, &w->owned[w->order[k]]);
		open_one_cpu(w, w->order[i], &kept);
	}
}

/* CPUs of cores that the class can have to itself without taking anything from anybody. */
static void find_whole_cores(const struct alloc_work *w, uint32_t taker, struct alloc_cpus *ret_cpus)
{
	struct alloc_cpus open, whole = {};

	alloc_cpus_and(&w->open[taker], &w->owned[ALLOC_POOL], &open);
	for_each_alloc_cpu(cpu, &open) {
		bool free = true;

		for_each_alloc_thread(w, thread, cpu)
			free &= w->owner[thread] == taker || alloc_cpus_has(&open, thread);
		if (free)
			alloc_cpus_add(&whole, cpu);
	}
	*ret_cpus = whole;
}

static void take_whole_cores(struct alloc_work *w, uint32_t taker)
{
	struct alloc_cpus whole;

	if (!w->smt || !alloc_lacks(w, taker))
		return;
	find_whole_cores(w, taker, &whole);
	while (alloc_lacks(w, taker) && !alloc_cpus_empty(&whole)) {
		uint32_t cpu = alloc_best_cpu(w, taker, whole), threads = 0;
		bool fits;

		for_each_alloc_thread(w, thread, cpu)
			threads += alloc_cpus_has(&whole, thread);
		fits = threads <= alloc_lacks(w, taker);
		for_each_alloc_thread(w, thread, cpu) {
			if (fits && alloc_cpus_has(&whole, thread) && !alloc_is_barred(w, taker, thread))
				alloc_move(w, thread, taker, ALLOC_TRIGGER_LIMITS);
			alloc_cpus_del(&whole, thread);
		}
	}
}

/* ---------- chains ---------- */

struct chain {
	uint32_t parent[ALLOC_NR_OWNERS];  /* who would take a CPU of it */
	uint32_t queue[ALLOC_NR_OWNERS];
	uint32_t nr_queued;
	uint32_t seen;
};

static void chain_extend(const struct alloc_work *w, struct chain *c, uint32_t taker)
{
	for (uint32_t i = 0; i < w->nr_classes; i++) {
		uint32_t other = w->order[i];

		if (c->seen >> other & 1 || !alloc_cpus_meet(&w->owned[other], &w->open[taker]))
			continue;
		c->seen |= 1U << other;
		c->parent[other] = taker;
		c->queue[c->nr_queued++] = other;
	}
}

/* Prefers a CPU that does not share a core with an exclusive_smt class. */
static bool take_forced(struct alloc_work *w, uint32_t taker, uint32_t donor, struct alloc_taken *ret_taken)
{
	struct alloc_pick p = { .taker = taker, .donor = donor, .forced = true, .trigger = ALLOC_TRIGGER_LIMITS };

	if (w->has_exclusive && alloc_take(w, &p, ret_taken))
		return true;
	p.sharing = true;
	return alloc_take(w, &p, ret_taken);
}

static bool take_forced_any(struct alloc_work *w, uint32_t taker, struct alloc_taken *ret_taken)
{
	struct alloc_pick p = { .taker = taker, .forced = true, .trigger = ALLOC_TRIGGER_LIMITS };

	if (alloc_take_any(w, p, ret_taken))
		return true;
	p.sharing = true;
	return w->has_exclusive && alloc_take_any(w, p, ret_taken);
}

/* `last` has one to spare now: it goes up the chain.  Where lend_never forbids a step nothing has happened. */
static bool chain_pass(struct alloc_work *w, const struct chain *c, uint32_t last, const struct alloc_taken *first)
{
	struct alloc_taken taken[ALLOC_NR_OWNERS] = { *first };
	uint32_t nr_taken = 1;

	for (; c->parent[last]; last = c->parent[last]) {
		if (take_forced(w, c->parent[last], last, &taken[nr_taken])) {
			nr_taken++;
			continue;
		}
		while (nr_taken-- > 0)
			alloc_move(w, taken[nr_taken].cpu, taken[nr_taken].from, ALLOC_TRIGGER_LIMITS);
		return false;
	}
	return true;
}

static bool take_by_chain(struct alloc_work *w, uint32_t taker)
{
	struct chain c = { .queue = { taker }, .nr_queued = 1, .seen = 1U << taker };

	for (uint32_t i = 0; i < c.nr_queued; i++) {
		struct alloc_taken first;

		if (i > 0 && take_forced_any(w, c.queue[i], &first))
			return chain_pass(w, &c, c.queue[i], &first);
		chain_extend(w, &c, c.queue[i]);
	}
	return false;
}

static void meet_all(struct alloc_work *w)
{
	struct alloc_taken taken;

	for (uint32_t i = 0; i < w->nr_classes; i++)
		take_whole_cores(w, w->order[i]);
	for (uint32_t i = 0; i < w->nr_classes; i++)
		while (alloc_lacks(w, w->order[i]))
			if (!take_forced_any(w, w->order[i], &taken) && !take_by_chain(w, w->order[i]))
				break;
}

/* ---------- exclusive_smt ---------- */

/*
 * What the owner needs for its guarantee it leaves only for something as good.
 * Dwell time counts, but not for what this plan itself has put there.
 */
static bool leave_cpu(struct alloc_work *w, uint32_t cpu)
{
	struct alloc_pick p = { .taker = w->owner[cpu], .trigger = ALLOC_TRIGGER_LIMITS };
	struct alloc_taken taken;

	if (w->memory->plan.owner[cpu] == p.taker && !alloc_cpus_has(&w->settled, cpu))
		return false;
	if (!alloc_above_guarantee(w, p.taker) && !alloc_take_any(w, p, &taken))
		return false;
	alloc_move(w, cpu, ALLOC_POOL, ALLOC_TRIGGER_LIMITS);
	return true;
}

static bool part_cores_of(struct alloc_work *w, uint32_t class, uint32_t passed)
{
	struct alloc_cpus own = w->owned[class];
	bool moved = false;

	for_each_alloc_cpu(cpu, &own) {
		for_each_alloc_thread(w, thread, cpu) {
			uint32_t other = w->owner[thread];

			if (w->owner[cpu] != class || other == class || other == ALLOC_POOL ||
			    !alloc_cpus_has(&w->common, thread))
				continue;
			/* Of two that both want it alone, the first stays. */
			if (!alloc_class_of(w, other)->exclusive_smt || !(passed >> other & 1))
				moved |= leave_cpu(w, thread);
		}
	}
	return moved;
}

/*
 * exclusive_smt may be new, or the machine so full that a guarantee had to share a
 * core.  Each move ends a sharing and begins none, so that moving comes to an end.
 */
static bool part_all(struct alloc_work *w)
{
	uint32_t passed = 0;
	bool moved = false;

	for (uint32_t i = 0; i < w->nr_classes; i++) {
		passed |= 1U << w->order[i];
		if (alloc_class_of(w, w->order[i])->exclusive_smt)
			moved |= part_cores_of(w, w->order[i], passed);
	}
	return moved;
}

void alloc_part_exclusive_cores(struct alloc_work *w)
{
	if (!w->has_exclusive || !w->smt)
		return;
	while (part_all(w))
		meet_all(w);
}

void alloc_meet_guarantees(struct alloc_work *w)
{
	keep_access(w);
	meet_all(w);
}
