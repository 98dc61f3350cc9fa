/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - keeps a cgroup_tree true: a scan at start, inotify afterwards
 *
 * After each new watch the directory is read again, because a child made
 * between mkdir and the watch gives no event; an overflow rescans everything.
 * Directories that the limit of inotify leaves without a watch are rescanned
 * every few seconds.  Owned by the loop, which calls cgroup_watch_process() when
 * the descriptor is readable.
 *
 * The same watches report writes to a few attribute files.  The kernel sends such
 * events for what user space writes, and by itself for cgroup.events and for a
 * partition that becomes invalid, but these only while the file's inode is in
 * memory, as it is after a first reading until memory is short.  It sends none
 * for cpuset.cpus.effective: a reader must know which writes move it.
 */
#ifndef SCHEDD_CGROUP_WATCH_H
#define SCHEDD_CGROUP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup/tree.h"

struct cgroup_watch;

/* Attribute files whose change is reported, by what it means. */
enum cgroup_file {
	CGROUP_FILE_ANY,          /* what was written is not known: new, unwatched, or events were lost */
	CGROUP_FILE_CPUS,         /* cpuset.cpus, cpuset.cpus.exclusive, cpuset.cpus.partition */
	CGROUP_FILE_CONTROLLERS,  /* cgroup.subtree_control */
	CGROUP_FILE_TASKS,        /* cgroup.procs, cgroup.threads, cgroup.events (populated or not) */
};

struct cgroup_watch_ops {
	void (*added)(void *ctx, struct cgroup_node *node);    /* in the tree already; parents first */
	void (*removing)(void *ctx, struct cgroup_node *node); /* still in the tree; children first */
	/* After the first scan; may be NULL.  Often: it should only take note. */
	void (*written)(void *ctx, struct cgroup_node *node, enum cgroup_file file);
};

struct cgroup_watch_stats {
	uint64_t created, removed; /* after the first scan */
	uint64_t lost_events;      /* overflows: how many events each lost, nobody knows */
	uint64_t rescans;          /* whole trees read after the first scan */
	uint64_t unwatched; /* directories without a watch: the limit of inotify is reached */
};

/*
 * mount is the directory of the cgroup2 mount (or a fake tree in tests, ids = inode
 * numbers).  The descriptor is readable while there is work: events, a rescan
 * that is due, or what a turn left over.
 */
int cgroup_watch_new(const char *mount, struct cgroup_tree *tree, const struct cgroup_watch_ops *ops, void *ctx,
		     struct cgroup_watch **ret_watch);
void cgroup_watch_free(struct cgroup_watch *w);
int cgroup_watch_fd(const struct cgroup_watch *w);
int cgroup_watch_mount_fd(const struct cgroup_watch *w);

/* First scan and every rescan, to its end: adds what is new, removes what is gone. -errno of reading the root. */
int cgroup_watch_scan(struct cgroup_watch *w);

/* At most max_events steps (an event, a new child, a directory to read); *ret_more says whether some are left. */
int cgroup_watch_process(struct cgroup_watch *w, unsigned int max_events, bool *ret_more);
const struct cgroup_watch_stats *cgroup_watch_get_stats(const struct cgroup_watch *w);

#endif
