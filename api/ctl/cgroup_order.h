/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroup_order.h - paths in the order of a tree, and their place in it; pure */
#ifndef SCHEDD_CTL_CGROUP_ORDER_H
#define SCHEDD_CTL_CGROUP_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* For sorting: a parent directly before its children ("/a", "/a/b", "/a.b"), where strcmp() has "/a.b" between. */
int cgroup_order_compare(const char *a, const char *b);

bool cgroup_order_is_below(const char *path, const char *ancestor);

/*
 * Of sorted paths: depth of paths[i] among those that are shown, and its name
 * relative to the nearest of them (a filter may have left out its parent).
 */
void cgroup_order_place(const char *const *paths, size_t nr_paths, unsigned int *ret_depths, const char **ret_names);

#endif
