/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc.c - (topology, limits, previous plan) -> plan: a static split by guarantee
 *
 * First every class keeps what it had, as far as its guarantee reaches; then
 * each takes whole cores while they fit into what it lacks; then the odd
 * threads follow.  All classes pass one step before the next begins, so that
 * the odd thread of one never breaks the core that another could have whole.
 */
#include "daemon/alloc.h"

#include <stdbool.h>
#include <string.h>

enum { NOBODY = 0 };

/* How a core stands for a class that looks for CPUs, best first. */
enum core_fit {
	FIT_OWN_REST,  /* the free threads of a core that this class has begun */
	FIT_FREE,      /* nobody has any of it */
	FIT_SHARED,    /* another class has a thread of it */
	NR_FITS,
};

struct split {
	const struct alloc_input *in;
	uint8_t owner[SCHEDD_MAX_CPUS];      /* class index + 1; NOBODY while undecided */
	uint32_t lacks[SCHEDD_MAX_CLASSES];  /* CPUs that the class still needs */
	unsigned int order[SCHEDD_MAX_CLASSES];
	unsigned int nr_ordered;
	/* Threads of a core as a chain by rising number: heads by core, SCHEDD_MAX_CPUS ends it. */
	uint16_t core_head[SCHEDD_MAX_CPUS];
	uint16_t next_thread[SCHEDD_MAX_CPUS];
	uint32_t nr_cores;
};

#define for_each_thread(s, cpu, core) \
	for (uint32_t cpu = (s)->core_head[core]; cpu < SCHEDD_MAX_CPUS; cpu = (s)->next_thread[cpu])

static void split_link_cores(struct split *s)
{
	const struct topo *t = s->in->topo;

	for (uint32_t core = 0; core < SCHEDD_MAX_CPUS; core++)
		s->core_head[core] = SCHEDD_MAX_CPUS;
	for (uint32_t cpu = t->nr_possible; cpu-- > 0;) {
		uint32_t core = t->cpus[cpu].core;

		if (!t->cpus[cpu].online || core >= SCHEDD_MAX_CPUS)
			continue;
		s->next_thread[cpu] = s->core_head[core];
		s->core_head[core] = (uint16_t)cpu;
		if (core >= s->nr_cores)
			s->nr_cores = core + 1;
	}
}

/* normal is not ordered: it owns what is left, and that covers its guarantee. */
static bool class_precedes(const struct alloc_class *a, const struct alloc_class *b)
{
	if (a->kind != b->kind)
		return a->kind > b->kind;
	return a->guarantee_cpus > b->guarantee_cpus;
}

static void split_order_classes(struct split *s)
{
	const struct alloc_class *classes = s->in->classes;
	uint32_t left = s->in->topo->nr_online;

	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		unsigned int at = s->nr_ordered;

		if (!classes[i].used || i == SCHEDD_CLASS_NORMAL)
			continue;
		for (; at > 0 && class_precedes(&classes[i], &classes[s->order[at - 1]]); at--)
			s->order[at] = s->order[at - 1];
		s->order[at] = i;
		s->nr_ordered++;
	}
	/* The sum fits by contract; a plan must not become wrong if it ever does not. */
	for (unsigned int i = 0; i < s->nr_ordered; i++) {
		uint32_t wants = classes[s->order[i]].guarantee_cpus;

		s->lacks[s->order[i]] = wants < left ? wants : left;
		left -= s->lacks[s->order[i]];
	}
}

/* May the class take this CPU now?  In the keeping step only what it had before. */
static bool cpu_is_open(const struct split *s, unsigned int class_idx, uint32_t cpu, bool keeping)
{
	const struct schedd_plan *previous = s->in->previous;

	if (s->owner[cpu] != NOBODY)
		return false;
	return !keeping || (previous && cpu < previous->nr_cpus && previous->owner[cpu] == class_idx + 1);
}

struct core_view {
	uint32_t open;    /* threads that the class may take */
	uint32_t own;     /* threads that it has */
	uint32_t others;  /* threads of other classes */
	uint32_t llc;
};

static struct core_view core_look(const struct split *s, unsigned int class_idx, uint32_t core, bool keeping)
{
	struct core_view v = {};

	for_each_thread(s, cpu, core) {
		v.llc = s->in->topo->cpus[cpu].llc;
		v.open += cpu_is_open(s, class_idx, cpu, keeping);
		v.own += s->owner[cpu] == class_idx + 1;
		v.others += s->owner[cpu] != NOBODY && s->owner[cpu] != class_idx + 1;
	}
	return v;
}

static enum core_fit core_fit(const struct core_view *v)
{
	if (v->others)
		return FIT_SHARED;
	return v->own ? FIT_OWN_REST : FIT_FREE;
}

/*
 * The LLC in which the class is at home: where it owns most; without any, the
 * tightest one that holds all it lacks, so that a large one stays whole for
 * others; else the one with most room.
 */
static uint32_t split_home_llc(const struct split *s, unsigned int class_idx, bool keeping)
{
	uint32_t own[SCHEDD_MAX_LLCS] = {}, open[SCHEDD_MAX_LLCS] = {};
	const struct topo *t = s->in->topo;
	uint32_t need = s->lacks[class_idx], home = 0;

	for (uint32_t cpu = 0; cpu < t->nr_possible; cpu++) {
		if (!t->cpus[cpu].online)
			continue;
		own[t->cpus[cpu].llc % SCHEDD_MAX_LLCS] += s->owner[cpu] == class_idx + 1;
		open[t->cpus[cpu].llc % SCHEDD_MAX_LLCS] += cpu_is_open(s, class_idx, cpu, keeping);
	}
	for (uint32_t llc = 1; llc < SCHEDD_MAX_LLCS; llc++) {
		bool fits = open[llc] >= need, home_fits = open[home] >= need;

		if (own[llc] != own[home] ? own[llc] > own[home] :
		    fits != home_fits	  ? fits :
		    fits		  ? open[llc] < open[home] :
					    open[llc] > open[home])
			home = llc;
	}
	return home;
}

static void core_take(struct split *s, unsigned int class_idx, uint32_t core, bool keeping)
{
	for_each_thread(s, cpu, core) {
		if (!s->lacks[class_idx])
			return;
		if (!cpu_is_open(s, class_idx, cpu, keeping))
			continue;
		s->owner[cpu] = (uint8_t)(class_idx + 1);
		s->lacks[class_idx]--;
	}
}

struct step {
	bool keeping;      /* only CPUs that the class had in the previous plan */
	bool whole_cores;  /* only cores that the class will have alone */
};

static void split_take_fit(struct split *s, unsigned int class_idx, const struct step *step, uint32_t home,
			   bool at_home, enum core_fit fit)
{
	/* Core 0 last: interrupts and housekeeping gather there, and normal keeps it as long as it can. */
	for (uint32_t i = 1; i <= s->nr_cores && s->lacks[class_idx]; i++) {
		uint32_t core = i % s->nr_cores;
		struct core_view v = core_look(s, class_idx, core, step->keeping);
		uint32_t threads = 0;

		if (!v.open || (v.llc % SCHEDD_MAX_LLCS == home) != at_home || core_fit(&v) != fit)
			continue;
		for_each_thread(s, cpu, core)
			threads++;
		if (step->whole_cores && (v.open + v.own < threads || v.open > s->lacks[class_idx]))
			continue;
		core_take(s, class_idx, core, step->keeping);
	}
}

static void split_take(struct split *s, unsigned int class_idx, const struct step *step)
{
	uint32_t home;

	if (!s->lacks[class_idx])
		return;
	home = split_home_llc(s, class_idx, step->keeping);
	for (int away = 0; away < 2; away++)
		for (int fit = 0; fit < NR_FITS; fit++)
			split_take_fit(s, class_idx, step, home, !away, (enum core_fit)fit);
}

static void split_finish(const struct split *s, struct schedd_plan *ret_plan, bool *ret_changed)
{
	const struct schedd_plan *previous = s->in->previous;
	const struct topo *t = s->in->topo;
	struct schedd_plan plan = {
		.generation = previous ? previous->generation : 0,
		.nr_cpus = t->nr_possible,
	};

	for (uint32_t cpu = 0; cpu < t->nr_possible; cpu++)
		if (t->cpus[cpu].online)
			plan.owner[cpu] = s->owner[cpu] != NOBODY ? s->owner[cpu] : SCHEDD_CLASS_NORMAL + 1;
	*ret_changed = !previous || previous->nr_cpus != plan.nr_cpus ||
		       memcmp(previous->owner, plan.owner, sizeof(plan.owner)) != 0;
	*ret_plan = plan;
}

void alloc_plan(const struct alloc_input *in, struct schedd_plan *ret_plan, bool *ret_changed)
{
	static const struct step steps[] = {
		{ .keeping = true, .whole_cores = true },
		{ .keeping = true },
		{ .whole_cores = true },
		{},
	};
	struct split s = { .in = in };

	split_link_cores(&s);
	split_order_classes(&s);
	for (size_t step = 0; step < sizeof(steps) / sizeof(steps[0]); step++)
		for (unsigned int i = 0; i < s.nr_ordered; i++)
			split_take(&s, s.order[i], &steps[step]);
	split_finish(&s, ret_plan, ret_changed);
}
