/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc_private.h - a plan in the making, and what the files of the allocator call of each other */
#ifndef SCHEDD_ALLOC_PRIVATE_H
#define SCHEDD_ALLOC_PRIVATE_H

#include "daemon/alloc.h"

/* In here classes are called by what stands in a plan: index + 1; 0 is the pool. */
enum { ALLOC_POOL = 0, ALLOC_NR_OWNERS = SCHEDD_MAX_CLASSES + 1 };

struct alloc_work {
	const struct alloc_input *in;
	struct alloc_memory *memory;

	/* Who owns what so far; changed by alloc_move() alone. */
	uint8_t owner[SCHEDD_MAX_CPUS];
	struct alloc_cpus owned[ALLOC_NR_OWNERS];  /* the same; CPUs that nobody may own are not in the pool */
	uint32_t nr_owned[ALLOC_NR_OWNERS];
	struct alloc_cpus exclusive;               /* the cores of which an exclusive_smt class owns a thread */
	struct alloc_cpus moved;                   /* by this plan: not to be moved again by a wish */
	enum alloc_trigger trigger[ALLOC_NR_OWNERS];
	uint32_t growing;                          /* bit per owner: the policy wants more for it */

	/* Limits. */
	uint32_t order[SCHEDD_MAX_CLASSES];        /* the classes in use, in the order of their guarantees */
	uint32_t nr_classes;
	uint32_t kind[ALLOC_NR_OWNERS];            /* SCHEDD_KIND_NONE: not in use */
	uint32_t guarantee[ALLOC_NR_OWNERS];       /* never above the burst limit */
	struct alloc_cpus open[ALLOC_NR_OWNERS];   /* common CPUs in its reach */
	bool has_exclusive, has_lend_never;

	/* What CPUs are and do. */
	struct alloc_cpus usable;
	struct alloc_cpus common, private;         /* parts of it: only common ones change hands */
	struct alloc_cpus settled;                 /* the previous plan's owner has had it for dwell_ns */
	struct alloc_cpus unused;                  /* and the owner is not on it */
	struct alloc_cpus parked;                  /* for park_ns, and it is settled, and not private */
	struct alloc_cpus held[SCHEDD_NR_KINDS];   /* by the kind that runs there; SCHEDD_KIND_NONE: idle */
	struct alloc_cpus warm[ALLOC_NR_OWNERS];   /* was the last to own it before the present owner */

	/* The machine: threads of a core as a chain by rising number, SCHEDD_MAX_CPUS ends it. */
	struct alloc_cpus llc[SCHEDD_MAX_LLCS];
	uint32_t node_of_llc[SCHEDD_MAX_LLCS];
	struct alloc_cpus first_core;              /* interrupts and housekeeping gather there */
	uint16_t core_head[SCHEDD_MAX_CPUS];
	uint16_t next_thread[SCHEDD_MAX_CPUS];
	bool smt;

	/* Bit per LLC where a class is at home, 0 = not asked for yet; then the same for the whole plan. */
	uint64_t near_llcs[ALLOC_NR_OWNERS];
};

#define for_each_alloc_thread(w, thread, cpu) \
	for (uint32_t thread = (w)->core_head[alloc_core_of(w, cpu)]; thread < SCHEDD_MAX_CPUS; \
	     thread = (w)->next_thread[thread])

static inline uint32_t alloc_core_of(const struct alloc_work *w, uint32_t cpu)
{
	return w->in->topo->cpus[cpu].core % SCHEDD_MAX_CPUS;
}

static inline const struct alloc_class *alloc_class_of(const struct alloc_work *w, uint32_t owner)
{
	return &w->in->limits->classes[owner - 1];
}

static inline uint32_t alloc_above_guarantee(const struct alloc_work *w, uint32_t owner)
{
	return w->nr_owned[owner] > w->guarantee[owner] ? w->nr_owned[owner] - w->guarantee[owner] : 0;
}

static inline uint32_t alloc_lacks(const struct alloc_work *w, uint32_t owner)
{
	return w->guarantee[owner] > w->nr_owned[owner] ? w->guarantee[owner] - w->nr_owned[owner] : 0;
}

/* alloc_work.c */
void alloc_load(struct alloc_work *w);     /* w->in and w->memory are set, the rest is zero */
void alloc_move(struct alloc_work *w, uint32_t cpu, uint32_t to, enum alloc_trigger trigger);

/* alloc_pick.c: which CPU */
struct alloc_pick {
	uint32_t taker;
	uint32_t donor;            /* a class or the pool */
	enum alloc_trigger trigger;
	bool forced;               /* for a guarantee: dwell and the rank of the donor do not count */
	bool sharing;              /* a core with an exclusive_smt class too */
};
struct alloc_taken {
	uint32_t cpu;
	uint32_t from;
};
/* `from` is not empty. */
uint32_t alloc_best_cpu(struct alloc_work *w, uint32_t taker, struct alloc_cpus from);
/* lend_never: would the taker keep from another class the last CPU that it may use? */
bool alloc_is_barred(const struct alloc_work *w, uint32_t taker, uint32_t cpu);
/* These move one CPU and are false when there is none: from p->donor; from the pool, then whoever has to give; to the pool. */
bool alloc_take(struct alloc_work *w, const struct alloc_pick *p, struct alloc_taken *ret_taken);
bool alloc_take_any(struct alloc_work *w, struct alloc_pick p, struct alloc_taken *ret_taken);
bool alloc_give_back(struct alloc_work *w, uint32_t owner, bool forced, enum alloc_trigger trigger);

/* alloc_guarantee.c */
void alloc_meet_guarantees(struct alloc_work *w);
/* Others leave the cores of exclusive_smt classes, as far as there is room. */
void alloc_part_exclusive_cores(struct alloc_work *w);

#endif
