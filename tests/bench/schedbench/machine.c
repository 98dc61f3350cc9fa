/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - topology through the daemon's own reader, affinity, sched_ext's state */
#include "tests/bench/schedbench/machine.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/file.h"

int machine_read(const char *root, struct machine *ret_machine)
{
	cpu_set_t set;
	int r = topo_read(root, &ret_machine->topo);

	if (r < 0)
		return r;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	ret_machine->nr_cpus = 0;
	for (uint32_t cpu = 0; cpu < ret_machine->topo.nr_possible && cpu < CPU_SETSIZE; cpu++)
		if (ret_machine->topo.cpus[cpu].online && CPU_ISSET(cpu, &set))
			ret_machine->cpus[ret_machine->nr_cpus++] = cpu;
	return ret_machine->nr_cpus ? 0 : -ENODEV;
}

static enum nearness nearness_of(const struct machine *m, uint32_t a, uint32_t b)
{
	const struct topo_cpu *x = &m->topo.cpus[a], *y = &m->topo.cpus[b];

	if (a == b)
		return NEAR_SAME_CPU;
	if (x->core == y->core)
		return NEAR_CORE;
	if (x->llc == y->llc)
		return NEAR_LLC;
	return x->node == y->node ? NEAR_NODE : NR_NEAR;
}

int machine_pair(const struct machine *m, enum nearness nearness, uint32_t *ret_first, uint32_t *ret_second)
{
	for (uint32_t i = 0; i < m->nr_cpus; i++)
		for (uint32_t j = i; j < m->nr_cpus; j++)
			if (nearness_of(m, m->cpus[i], m->cpus[j]) == nearness) {
				*ret_first = m->cpus[i];
				*ret_second = m->cpus[j];
				return 0;
			}
	return -ENOENT;
}

bool machine_has_cpu(const struct machine *m, uint32_t cpu)
{
	for (uint32_t i = 0; i < m->nr_cpus; i++)
		if (m->cpus[i] == cpu)
			return true;
	return false;
}

uint32_t machine_core_of(const struct machine *m, uint32_t cpu)
{
	return m->topo.cpus[cpu].core;
}

uint32_t machine_llc_of(const struct machine *m, uint32_t cpu)
{
	return m->topo.cpus[cpu].llc;
}

/* One CPU of each group: the first that is farther from all before it than `within`. */
static uint32_t groups(const struct machine *m, enum nearness within, uint32_t *firsts)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < m->nr_cpus; i++) {
		uint32_t k = 0;

		while (k < nr && nearness_of(m, firsts[k], m->cpus[i]) > within)
			k++;
		if (k == nr)
			firsts[nr++] = m->cpus[i];
	}
	return nr;
}

uint32_t machine_core_firsts(const struct machine *m, uint32_t *firsts)
{
	return groups(m, NEAR_CORE, firsts);
}

uint32_t machine_llc_firsts(const struct machine *m, uint32_t *firsts)
{
	return groups(m, NEAR_LLC, firsts);
}

void machine_scheduler(const char *root, char *dst, size_t size)
{
	char path[PATH_MAX], state[32];

	snprintf(path, sizeof(path), "%s/sys/kernel/sched_ext/state", root);
	if (file_read_line(path, state, sizeof(state)) == 0 && strcmp(state, "enabled") == 0) {
		snprintf(path, sizeof(path), "%s/sys/kernel/sched_ext/root/ops", root);
		if (file_read_line(path, dst, size) == 0)
			return;
	}
	snprintf(dst, size, "default");
}
