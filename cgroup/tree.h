/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - the cgroup2 tree as we know it: id <-> path <-> parent
 *
 * In memory only; watch.c keeps it true.  Ids are the kernel's 64-bit cgroup
 * ids (the inode number on cgroup2); a path is relative to the cgroup2 mount and
 * starts with "/", the root is "/".  Not thread-safe: owned by the loop.
 */
#ifndef SCHEDD_CGROUP_TREE_H
#define SCHEDD_CGROUP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cgroup/cpuset_attr.h"

struct cgroup_tree;

struct cgroup_node {
	uint64_t id;
	struct cgroup_node *parent;       /* NULL for the root */
	struct cgroup_node *first_child;
	struct cgroup_node *next_sibling;
	char *name;                       /* last component; "" for the root */

	/* Owned by daemon/state.c; the tree only zeroes it. */
	uint8_t class_idx;                /* as decided, after inheritance */
	uint8_t applied_class_idx;        /* as BPF was told */
	bool applied;                     /* BPF was told at all since it was loaded */
	bool counted;                     /* in member_cgroups of class_idx */
	bool cpu_limited;                 /* cpu.max is not "max" */
	uint8_t source;                   /* who decided: state_source_name() */

	/* Owned by daemon/announce.c. */
	bool announced;
	uint8_t announced_class_idx;      /* as readers of events were told */

	/* Owned by watch.c. */
	int watch_descriptor;
	uint32_t scan_mark;

	/* Owned by daemon/daemon_reach.c; the tree only zeroes it. */
	struct cgroup_cpuset cpuset;           /* as last read */
	TAILQ_ENTRY(cgroup_node) reread;       /* tqe_prev NULL = not to be read again */
};

struct cgroup_tree *cgroup_tree_new(void);
void cgroup_tree_free(struct cgroup_tree *t);

/* -EEXIST (id known), -ENOMEM; parent NULL makes the root. */
int cgroup_tree_add(struct cgroup_tree *t, struct cgroup_node *parent, const char *name, uint64_t id,
		    struct cgroup_node **ret_node);
/* Removes and frees the node and all below it. */
void cgroup_tree_remove(struct cgroup_tree *t, struct cgroup_node *node);

struct cgroup_node *cgroup_tree_root(const struct cgroup_tree *t);
struct cgroup_node *cgroup_tree_find_id(const struct cgroup_tree *t, uint64_t id);
struct cgroup_node *cgroup_tree_find_path(const struct cgroup_tree *t, const char *path);
struct cgroup_node *cgroup_tree_find_child(const struct cgroup_tree *t, const struct cgroup_node *parent,
					   const char *name);
size_t cgroup_tree_size(const struct cgroup_tree *t);

/* Path from the root into dst; -ENAMETOOLONG (dst untouched). */
int cgroup_node_path(const struct cgroup_node *node, char *dst, size_t size);

/* Depth first, parents before children: start with NULL (gives top), NULL at the end. */
struct cgroup_node *cgroup_node_next(struct cgroup_node *top, struct cgroup_node *at);

#endif
