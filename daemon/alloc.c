/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc.c - (topology, limits, reach, demand, what CPUs do, previous plan) -> plan
 *
 * Limits first: what a class may no longer own goes, what it is guaranteed
 * comes, from wherever it must.  Then the policy's wishes: those who want fewer
 * give back to the pool, those who want more take one after the other, from the
 * pool and from whom they outrank.  A class that is content keeps what it has.
 *
 *   alloc_work.c       the plan in the making
 *   alloc_guarantee.c  guarantees, and no class locked out
 *   alloc_pick.c       which CPU
 */
#include "daemon/alloc.h"

#include <string.h>

#include "daemon/alloc_private.h"

const struct alloc_policy *alloc_policy_find(const char *name)
{
	static const struct alloc_policy *const policies[] = { &policy_shenango, &policy_static, &policy_utilisation };

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (strcmp(policies[i]->name, name) == 0)
			return policies[i];
	return NULL;
}

const char *alloc_trigger_name(enum alloc_trigger trigger)
{
	static const char *const names[NR_ALLOC_TRIGGERS] = {
		[ALLOC_TRIGGER_NONE] = "none",	     [ALLOC_TRIGGER_LIMITS] = "limits",
		[ALLOC_TRIGGER_CONGESTION] = "congestion", [ALLOC_TRIGGER_PARK] = "park",
		[ALLOC_TRIGGER_UTILISATION] = "utilisation",
	};

	return trigger < NR_ALLOC_TRIGGERS ? names[trigger] : "none";
}

/* A guarantee that falls, as when a lease ends, is given back at once: nobody may have to wait until it is parked. */
static void drop_excess(struct alloc_work *w)
{
	uint32_t *previous = w->memory->guarantee_cpus;

	for (uint32_t i = 0; i < w->nr_classes; i++) {
		uint32_t owner = w->order[i], burst = alloc_class_of(w, owner)->burst_cpus;

		while (w->nr_owned[owner] > burst && alloc_give_back(w, owner, true, ALLOC_TRIGGER_LIMITS))
			;
		while (previous[owner - 1] > w->guarantee[owner] && alloc_above_guarantee(w, owner) &&
		       alloc_give_back(w, owner, true, ALLOC_TRIGGER_LIMITS))
			previous[owner - 1]--;
	}
	for (uint32_t owner = 1; owner < ALLOC_NR_OWNERS; owner++)
		previous[owner - 1] = w->guarantee[owner];
}

struct wishes {
	uint32_t want[SCHEDD_MAX_CLASSES];
	enum alloc_trigger trigger[SCHEDD_MAX_CLASSES];
	uint32_t stuck;  /* bit per owner: wants more, there is none for it */
};

static void ask_policy(struct alloc_work *w, struct wishes *ret)
{
	uint32_t owned[SCHEDD_MAX_CLASSES];

	memset(w->memory->parked_cpus, 0, sizeof(w->memory->parked_cpus));
	for_each_alloc_cpu(cpu, &w->parked)
		if (w->owner[cpu] == w->memory->plan.owner[cpu])
			w->memory->parked_cpus[w->owner[cpu] - 1]++;
	memcpy(owned, &w->nr_owned[1], sizeof(owned));
	memcpy(ret->want, owned, sizeof(owned));
	w->in->policy->want(w->in, w->memory, owned, ret->want, ret->trigger);
	for (uint32_t i = 0; i < w->nr_classes; i++) {
		uint32_t owner = w->order[i], burst = alloc_class_of(w, owner)->burst_cpus;
		uint32_t *want = &ret->want[owner - 1];

		if (*want < w->guarantee[owner])
			*want = w->guarantee[owner];
		if (*want > burst)
			*want = burst;
		if (*want > owned[owner - 1])
			w->growing |= 1U << owner;
	}
}

/* Higher kinds first; within a kind who has fewer above its guarantee.  ALLOC_POOL: nobody wants more. */
static uint32_t next_to_grow(const struct alloc_work *w, const struct wishes *wishes)
{
	uint32_t best = ALLOC_POOL;

	for (uint32_t i = 0; i < w->nr_classes; i++) {
		uint32_t owner = w->order[i];

		if (wishes->stuck >> owner & 1 || wishes->want[owner - 1] <= w->nr_owned[owner])
			continue;
		if (best && alloc_class_of(w, best)->kind > alloc_class_of(w, owner)->kind)
			break;
		if (!best || alloc_above_guarantee(w, owner) < alloc_above_guarantee(w, best))
			best = owner;
	}
	return best;
}

static void give_back(struct alloc_work *w, const struct wishes *wishes)
{
	for (uint32_t i = 0; i < w->nr_classes; i++) {
		uint32_t owner = w->order[i];

		while (w->nr_owned[owner] > wishes->want[owner - 1] &&
		       alloc_give_back(w, owner, false, wishes->trigger[owner - 1]))
			;
	}
}

static void grow(struct alloc_work *w, struct wishes *wishes)
{
	struct alloc_taken taken;
	uint32_t owner;

	while ((owner = next_to_grow(w, wishes)) != ALLOC_POOL) {
		struct alloc_pick p = { .taker = owner, .trigger = wishes->trigger[owner - 1] };

		if (!alloc_take_any(w, p, &taken))
			wishes->stuck |= 1U << owner;
	}
}

static void follow_policy(struct alloc_work *w)
{
	struct wishes wishes = {};

	ask_policy(w, &wishes);
	give_back(w, &wishes);
	/* Before others grow into the room that cores need to be parted. */
	alloc_part_exclusive_cores(w);
	grow(w, &wishes);
}

static void put_in_memory(const struct alloc_work *w, struct alloc_result *ret)
{
	struct alloc_memory *m = w->memory;
	uint64_t now_ns = w->in->now_ns;

	uint32_t nr_cpus = m->plan.nr_cpus > w->in->topo->nr_possible ? m->plan.nr_cpus : w->in->topo->nr_possible;

	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		uint32_t from = m->plan.owner[cpu], to = w->owner[cpu];

		if (from == to)
			continue;
		if (from != ALLOC_POOL) {
			ret->lost[from - 1]++;
			m->last_owner[cpu] = (uint8_t)from;
		}
		if (to != ALLOC_POOL)
			ret->gained[to - 1]++;
		m->owned_since_ns[cpu] = now_ns;
		m->unused_since_ns[cpu] = 0;
		if (to != ALLOC_POOL && w->in->holder[cpu] != to)
			m->unused_since_ns[cpu] = now_ns ? now_ns : 1;
	}
	memcpy(m->plan.owner, w->owner, sizeof(m->plan.owner));
	m->plan.nr_cpus = w->in->topo->nr_possible;
	m->plan.generation++;
}

static void finish(const struct alloc_work *w, struct alloc_result *ret)
{
	const struct schedd_plan *previous = &w->memory->plan;

	*ret = (struct alloc_result){
		.changed = previous->nr_cpus != w->in->topo->nr_possible ||
			   memcmp(previous->owner, w->owner, sizeof(w->owner)) != 0,
		.limits_generation = w->in->limits->generation,
	};
	if (ret->changed)
		put_in_memory(w, ret);
	for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint32_t guarantee = w->in->limits->classes[i].used ? w->in->limits->classes[i].guarantee_cpus : 0;

		ret->owned[i] = w->nr_owned[i + 1];
		ret->unmet[i] = guarantee > ret->owned[i] ? guarantee - ret->owned[i] : 0;
		if (ret->gained[i] || ret->lost[i])
			ret->trigger[i] = w->trigger[i + 1] ? w->trigger[i + 1] : ALLOC_TRIGGER_LIMITS;
	}
}

void alloc_plan(const struct alloc_input *in, struct alloc_memory *m, struct alloc_result *ret)
{
	struct alloc_work w = { .in = in, .memory = m };

	alloc_load(&w);
	drop_excess(&w);
	alloc_meet_guarantees(&w);
	if (!in->frozen)
		follow_policy(&w);
	finish(&w, ret);
}
