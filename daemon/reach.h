/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reach.h - cpusets of the tree -> CPUs of each class, private and isolated CPUs.  Pure: no file, clock or allocation
 *
 * A cgroup that has tasks of its own uses the CPUs of its effective cpuset.  A
 * class reaches what its cgroups use, and every online CPU while none has tasks.
 *
 * A cgroup is confined when its effective cpuset differs from its parent's, or
 * when it is a partition.  A CPU is private to a class when
 *   - all cgroups that use it, the root not counted (kernel threads live there),
 *     are inside one confined subtree, and
 *   - all of these are in that class.
 * Of several classes in one subtree each reaches the CPU and none has it alone.
 *
 * The kubelet's static policy keeps every other container off an exclusive CPU, but
 * neither the pause containers nor the services of the host.  So for the
 * subtree that it manages (kubepods) the same holds a second time with these
 * differences: only confined subtrees below it count, at least two of them have
 * tasks, and a cgroup does not count that nobody confined to less than all of
 * kubepods.  A shared pool that a single container uses is private to it meanwhile.
 *
 * The affinity of single tasks is not looked at: what taskset pins counts as
 * using the whole cpuset of its cgroup.
 */
#ifndef SCHEDD_REACH_H
#define SCHEDD_REACH_H

#include <stdint.h>

#include "bpf/intf.h"
#include "cgroup/tree.h"
#include "daemon/base/cpuset.h"

struct reach { /* online CPUs only */
	struct cpuset classes[SCHEDD_MAX_CLASSES];
	struct cpuset isolated;                  /* of isolated partitions: the kernel spreads no load there */
	uint8_t private_class[SCHEDD_MAX_CPUS];  /* class index + 1, 0 = not private */
};

/* From class_idx and cpuset of each node; root NULL: nothing is known, all reach all. */
void reach_compute(struct cgroup_node *root, const struct cpuset *online, struct reach *ret_reach);

#endif
