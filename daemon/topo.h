/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo.h - sysfs below a given root -> online CPUs, cores, SMT, LLC, NUMA.  Pure but for reading. */
#ifndef SCHEDD_TOPO_H
#define SCHEDD_TOPO_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/intf.h"

struct topo_cpu {
	bool possible, online;
	uint32_t core, llc, node;  /* dense indexes, 0-based */
	uint32_t sibling;          /* an SMT sibling, or the CPU itself */
};

struct topo {
	uint32_t nr_possible;      /* highest possible CPU number + 1 */
	uint32_t nr_online, nr_cores, nr_llcs, nr_nodes;
	struct topo_cpu cpus[SCHEDD_MAX_CPUS];
};

/*
 * root is "" for the real /sys.  Files that an offline CPU does not have are
 * not an error: it is its own core and shares LLC 0.  More than SCHEDD_MAX_LLCS
 * LLCs are folded.  -ERANGE: more than SCHEDD_MAX_CPUS; -errno of reading `possible` or `online`.
 */
int topo_read(const char *root, struct topo *ret_topo);

#endif
