/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuset_attr.h - which CPUs a cgroup's tasks may use, and whether it has any tasks, from its files */
#ifndef SCHEDD_CGROUP_CPUSET_ATTR_H
#define SCHEDD_CGROUP_CPUSET_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cpuset.h"

enum cgroup_partition {
	CGROUP_PARTITION_MEMBER,
	CGROUP_PARTITION_ROOT,      /* nobody outside may use its CPUs */
	CGROUP_PARTITION_ISOLATED,  /* and the kernel balances no load on them */
	CGROUP_PARTITION_INVALID,   /* was meant to be one of these, is treated as a member */
};

struct cgroup_cpuset {
	struct cpuset effective;    /* that of the nearest cgroup above where the controller is not enabled */
	enum cgroup_partition partition;
	bool populated;             /* tasks here or below */
	bool has_tasks;             /* tasks here */
};

/*
 * path as in the tree; id must still be the cgroup there.  parent is what was
 * read there (NULL for the root, which without the controller may use every
 * CPU and always has tasks); a leaf has no cgroup below.  -ENOENT, -ENODEV,
 * -ESTALE: it is gone, or another has its place, which is no error to report;
 * -EINVAL, -ERANGE: a list that is none; -E2BIG: too long to be one.
 */
int cgroup_cpuset_read(int mount_fd, const char *path, uint64_t id, const struct cgroup_cpuset *parent, bool leaf,
		       struct cgroup_cpuset *ret_cpuset);

/* All but `populated`: what the CPUs of classes depend on. */
bool cgroup_cpuset_equal(const struct cgroup_cpuset *a, const struct cgroup_cpuset *b);

#endif
