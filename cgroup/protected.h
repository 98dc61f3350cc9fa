/* SPDX-License-Identifier: GPL-2.0-or-later */
/* protected.h - cgroups that the node depends on: not best-effort without force.  Pure */
#ifndef SCHEDD_CGROUP_PROTECTED_H
#define SCHEDD_CGROUP_PROTECTED_H

/* What depends on the cgroup at this path ("remote logins"), NULL when it is not protected. */
const char *cgroup_protected(const char *path);

#endif
