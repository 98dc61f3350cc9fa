/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attr.h - attribute files of cgroups ("cpu.max"), through libcgroup where it reaches them */
#ifndef SCHEDD_CGROUP_ATTR_H
#define SCHEDD_CGROUP_ATTR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * First line of an attribute, without the newline.  path as in the tree.
 * -ENOENT: no such cgroup, or the controller is not enabled there;
 * -EINVAL: a bad name; -ENAMETOOLONG: does not fit.
 */
int cgroup_attr_read(int mount_fd, const char *path, const char *name, char *dst, size_t size);

/* Whether cpu.max limits this cgroup itself; no such file is no limit. -errno of reading. */
int cgroup_attr_cpu_limited(int mount_fd, const char *path, bool *ret_limited);

#endif
