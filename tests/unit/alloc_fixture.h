/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc_fixture.h - a machine in memory for the tests of the allocator */
#ifndef SCHEDD_TESTS_UNIT_ALLOC_FIXTURE_H
#define SCHEDD_TESTS_UNIT_ALLOC_FIXTURE_H

#include "daemon/alloc.h"

enum { LC = SCHEDD_CLASS_LATENCY_CRITICAL, BE = SCHEDD_CLASS_BEST_EFFORT, NORMAL = SCHEDD_CLASS_NORMAL, WEB = 3, DB = 4 };
enum { POOL = 0 };

struct machine {
	struct topo topo;
	struct alloc_limits limits;
	uint8_t holder[SCHEDD_MAX_CPUS];
	struct demand_class demand[SCHEDD_MAX_CLASSES];
	struct alloc_memory memory;
	struct alloc_input in;
	struct alloc_result result;
};

/*
 * Threads of a core are nr_cores apart, as Intel numbers them; LLCs hold equal runs
 * of cores, nodes two LLCs each.  The built-in classes without guarantees, policy
 * static, no dwell and no park time, step 1.  To be freed.
 */
struct machine *machine_new(uint32_t nr_cores, uint32_t threads, uint32_t nr_llcs);
void machine_build(struct machine *m, uint32_t nr_cores, uint32_t threads, uint32_t nr_llcs);

/* In use, in reach of everything, burst everything. */
struct alloc_class *machine_class(struct machine *m, unsigned int class_idx, uint32_t kind, uint32_t guarantee_cpus);
void machine_reach(struct machine *m, unsigned int class_idx, uint32_t first_cpu, uint32_t last_cpu); /* only these */

void machine_plan(struct machine *m);
void machine_tick(struct machine *m, uint64_t ns); /* time passes, then a plan */
void machine_hold(struct machine *m, unsigned int class_idx); /* the class runs on all that it owns */

uint32_t machine_owned(const struct machine *m, unsigned int class_idx);
uint32_t machine_pool(const struct machine *m);          /* online, not excluded, and nobody's */
uint32_t machine_broken_cores(const struct machine *m, unsigned int class_idx); /* some threads of them, but not all */
uint32_t machine_llcs(const struct machine *m, unsigned int class_idx);         /* in which it owns something */

/* Below limit; the state is the seed and never 0. */
uint32_t random_below(uint64_t *seed, uint32_t limit);
uint64_t random_seed(uint64_t seed_by_default); /* SEED of the environment; prints it */

#endif
