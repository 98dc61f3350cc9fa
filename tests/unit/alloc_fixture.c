/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc_fixture.c - a machine in memory for the tests of the allocator */
#include "tests/unit/alloc_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void machine_build(struct machine *m, uint32_t nr_cores, uint32_t threads, uint32_t nr_llcs)
{
	memset(m, 0, sizeof(*m));
	m->topo.nr_possible = m->topo.nr_online = nr_cores * threads;
	m->topo.nr_cores = nr_cores;
	m->topo.nr_llcs = nr_llcs;
	m->topo.nr_nodes = (nr_llcs + 1) / 2;
	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++)
		m->topo.cpus[cpu] = (struct topo_cpu){
			.possible = true,
			.online = true,
			.core = cpu % nr_cores,
			.llc = cpu % nr_cores * nr_llcs / nr_cores,
			.node = cpu % nr_cores * nr_llcs / nr_cores / 2,
			.sibling = (cpu + nr_cores) % m->topo.nr_possible,
		};
	m->limits.step = 1;
	m->in = (struct alloc_input){
		.topo = &m->topo,
		.limits = &m->limits,
		.holder = m->holder,
		.demand = m->demand,
		.policy = &policy_static,
		.now_ns = 1000000000,
	};
	machine_class(m, NORMAL, SCHEDD_KIND_NORMAL, 0);
	machine_class(m, LC, SCHEDD_KIND_LATENCY_CRITICAL, 0);
	machine_class(m, BE, SCHEDD_KIND_BEST_EFFORT, 0);
}

struct machine *machine_new(uint32_t nr_cores, uint32_t threads, uint32_t nr_llcs)
{
	struct machine *m = malloc(sizeof(*m));

	if (!m)
		abort();
	machine_build(m, nr_cores, threads, nr_llcs);
	return m;
}

struct alloc_class *machine_class(struct machine *m, unsigned int class_idx, uint32_t kind, uint32_t guarantee_cpus)
{
	struct alloc_class *c = &m->limits.classes[class_idx];

	*c = (struct alloc_class){
		.used = true,
		.kind = kind,
		.guarantee_cpus = guarantee_cpus,
		.burst_cpus = m->topo.nr_possible,
		.weight = 100,
	};
	memset(&c->reach, 0xff, sizeof(c->reach));
	return c;
}

void machine_reach(struct machine *m, unsigned int class_idx, uint32_t first_cpu, uint32_t last_cpu)
{
	struct alloc_cpus reach = {};

	for (uint32_t cpu = first_cpu; cpu <= last_cpu; cpu++)
		alloc_cpus_add(&reach, cpu);
	m->limits.classes[class_idx].reach = reach;
}

void machine_plan(struct machine *m)
{
	alloc_plan(&m->in, &m->memory, &m->result);
}

void machine_tick(struct machine *m, uint64_t ns)
{
	m->in.now_ns += ns;
	machine_plan(m);
}

void machine_hold(struct machine *m, unsigned int class_idx)
{
	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++)
		if (m->memory.plan.owner[cpu] == class_idx + 1)
			m->holder[cpu] = (uint8_t)(class_idx + 1);
}

uint32_t machine_owned(const struct machine *m, unsigned int class_idx)
{
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++)
		count += m->memory.plan.owner[cpu] == class_idx + 1;
	return count;
}

uint32_t machine_pool(const struct machine *m)
{
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++)
		count += m->topo.cpus[cpu].online && !alloc_cpus_has(&m->limits.excluded, cpu) &&
			 m->memory.plan.owner[cpu] == POOL;
	return count;
}

uint32_t machine_broken_cores(const struct machine *m, unsigned int class_idx)
{
	uint32_t own[SCHEDD_MAX_CPUS] = {}, all[SCHEDD_MAX_CPUS] = {}, broken = 0;

	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++) {
		all[m->topo.cpus[cpu].core] += m->topo.cpus[cpu].online;
		own[m->topo.cpus[cpu].core] += m->memory.plan.owner[cpu] == class_idx + 1;
	}
	for (uint32_t core = 0; core < SCHEDD_MAX_CPUS; core++)
		broken += own[core] && own[core] != all[core];
	return broken;
}

uint32_t machine_llcs(const struct machine *m, unsigned int class_idx)
{
	bool used[SCHEDD_MAX_LLCS] = {};
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++)
		if (m->memory.plan.owner[cpu] == class_idx + 1)
			used[m->topo.cpus[cpu].llc] = true;
	for (uint32_t llc = 0; llc < SCHEDD_MAX_LLCS; llc++)
		count += used[llc];
	return count;
}

uint32_t random_below(uint64_t *seed, uint32_t limit)
{
	*seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
	return (uint32_t)((*seed >> 11) % limit);
}

uint64_t random_seed(uint64_t seed_by_default)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : seed_by_default;

	printf("# SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	return seed ? seed : 1;
}
