// SPDX-License-Identifier: GPL-2.0-or-later
/* cgroup_order.c - paths in the order of a tree, and their place in it */
#include "api/ctl/cgroup_order.h"

#include <stdint.h>
#include <string.h>

int cgroup_order_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	/* "/" ranks below every other character: what is below /a comes before /a.b */
	if (*a == '/' && *b && *b != '/')
		return -1;
	if (*b == '/' && *a && *a != '/')
		return 1;
	return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

bool cgroup_order_is_below(const char *path, const char *ancestor)
{
	size_t n = strlen(ancestor);

	if (n == 1)
		return path[0] == '/' && path[1];
	return !strncmp(path, ancestor, n) && path[n] == '/';
}

void cgroup_order_place(const char *const *paths, size_t nr_paths, unsigned int *ret_depths, const char **ret_names)
{
	size_t i, parent;

	for (i = 0; i < nr_paths; i++) {
		/* The nearest shown ancestor is the path before, or one of that one's ancestors. */
		ret_depths[i] = 0;
		ret_names[i] = paths[i];
		for (parent = i; parent-- > 0;) {
			if (cgroup_order_is_below(paths[i], paths[parent])) {
				ret_depths[i] = ret_depths[parent] + 1;
				ret_names[i] = paths[i] + (paths[parent][1] ? strlen(paths[parent]) + 1 : 1);
				break;
			}
			if (!ret_depths[parent])
				break;
		}
	}
}
