/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.h - which CPUs we may use, how they are related, who schedules them */
#ifndef SCHEDBENCH_MACHINE_H
#define SCHEDBENCH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/topo.h"

struct machine {
	struct topo topo;
	uint32_t nr_cpus;                 /* online ones that this process may run on */
	uint32_t cpus[SCHEDD_MAX_CPUS];   /* their numbers, ascending */
};

/* How near two CPUs are. */
enum nearness { NEAR_SAME_CPU, NEAR_CORE, NEAR_LLC, NEAR_NODE, NR_NEAR };

/* root is "" for the real /sys.  -errno of reading it or the affinity. */
int machine_read(const char *root, struct machine *ret_machine);

/*
 * The first pair of usable CPUs that share just this: one CPU, one core, one LLC but
 * no core, one node but no LLC.  -ENOENT when there is none.
 */
int machine_pair(const struct machine *m, enum nearness nearness, uint32_t *ret_first, uint32_t *ret_second);

/* Is cpu one that we may run on? */
bool machine_has_cpu(const struct machine *m, uint32_t cpu);

/* Dense numbers of a CPU's core and last-level cache. */
uint32_t machine_core_of(const struct machine *m, uint32_t cpu);
uint32_t machine_llc_of(const struct machine *m, uint32_t cpu);

/* Cores (LLCs) with a usable CPU: for each the first such CPU; returns how many.  firsts: SCHEDD_MAX_CPUS long. */
uint32_t machine_core_firsts(const struct machine *m, uint32_t *firsts);
uint32_t machine_llc_firsts(const struct machine *m, uint32_t *firsts);

/* The sched_ext scheduler's name below root, or "default". */
void machine_scheduler(const char *root, char *dst, size_t size);

#endif
