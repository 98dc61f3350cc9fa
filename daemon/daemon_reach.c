/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daemon_reach.c - cpusets followed: which CPUs each class reaches, and a new plan when that changes
 *
 * What was written is only noted; all that came within 50 ms is read in one
 * pass, and one plan follows.  A write moves the effective cpuset of its own
 * cgroup and, with partitions, of those above; from each that did move the
 * reading goes on to its children, and stops where nothing moved.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "cgroup/cpuset_attr.h"
#include "daemon/base/log.h"
#include "daemon/daemon_private.h"

enum {
	READS_PER_TURN = 64,   /* 1 to 4 ms; then others have their turn */
	AUDIT_CGROUPS = 32,    /* read again every AUDIT_US whatever was heard of them */
};

static const uint64_t pass_delay_us = 50000, pass_max_us = 100000, audit_us = 5000000;

static uint64_t now_us(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000;
}

/* ---------- taking note ---------- */

static void arm_pass(struct daemon *d, uint64_t delay_us)
{
	int enabled = SD_EVENT_OFF;

	/* NULL until start; the first pass reads everything. */
	if (!d->reread_timer)
		return;
	sd_event_source_get_enabled(d->reread_timer, &enabled);
	/* A later change does not put off the pass that an earlier one waits for. */
	if (enabled != SD_EVENT_OFF)
		return;
	sd_event_source_set_time(d->reread_timer, now_us() + delay_us);
	sd_event_source_set_enabled(d->reread_timer, SD_EVENT_ONESHOT);
}

void daemon_reread_cpuset(struct daemon *d, struct cgroup_node *node)
{
	if (!d->reread_timer || !node || node->reread.tqe_prev)
		return;
	if (TAILQ_EMPTY(&d->reread))
		d->reread_since_us = now_us();
	TAILQ_INSERT_TAIL(&d->reread, node, reread);
	arm_pass(d, pass_delay_us);
}

static void forget(struct daemon *d, struct cgroup_node *node)
{
	if (!node->reread.tqe_prev)
		return;
	TAILQ_REMOVE(&d->reread, node, reread);
	node->reread.tqe_prev = NULL;
}

static void reread_children(struct daemon *d, struct cgroup_node *node)
{
	for (struct cgroup_node *child = node->first_child; child; child = child->next_sibling)
		daemon_reread_cpuset(d, child);
}

void daemon_cgroup_written(struct daemon *d, struct cgroup_node *node, enum cgroup_file file)
{
	switch (file) {
	case CGROUP_FILE_CPUS:
		for (; node; node = node->parent)
			daemon_reread_cpuset(d, node);
		break;
	case CGROUP_FILE_CONTROLLERS:
		reread_children(d, node);
		break;
	case CGROUP_FILE_ANY:
	case CGROUP_FILE_TASKS:
		/* The parent too: whether it has tasks of its own cannot be told from its own events. */
		daemon_reread_cpuset(d, node);
		daemon_reread_cpuset(d, node->parent);
		break;
	}
}

void daemon_class_moved(struct daemon *d, const struct cgroup_node *node)
{
	if (!node->cpuset.has_tasks)
		return;
	d->reach_stale = true;
	arm_pass(d, pass_delay_us);
}

void daemon_forget_cpuset(struct daemon *d, struct cgroup_node *node)
{
	forget(d, node);
	daemon_class_moved(d, node);
}

/* ---------- reading ---------- */

static int read_node(struct daemon *d, const struct cgroup_node *node, struct cgroup_cpuset *ret_cpuset)
{
	char path[PATH_MAX];
	int r = cgroup_node_path(node, path, sizeof(path));

	if (r < 0)
		return r;
	return cgroup_cpuset_read(cgroup_watch_mount_fd(d->watch), path, node->id,
				  node->parent ? &node->parent->cpuset : NULL, !node->first_child, ret_cpuset);
}

static void reread(struct daemon *d, struct cgroup_node *node)
{
	struct cgroup_cpuset c;
	bool moved;
	int r = read_node(d, node, &c);

	if (r < 0) {
		/* One that vanished is taken out of the tree by an event of its own. */
		if (r != -ENOENT && r != -ENODEV && r != -ESTALE)
			log_full(LOG_DEBUG, r, "cannot read the cpuset of cgroup %llu; what was read before stands",
				 (unsigned long long)node->id);
		return;
	}
	moved = c.partition != node->cpuset.partition || !cpuset_equal(&c.effective, &node->cpuset.effective);
	d->reach_stale |= !cgroup_cpuset_equal(&c, &node->cpuset);
	node->cpuset = c;
	if (moved)
		reread_children(d, node);
}

static void read_some(struct daemon *d)
{
	struct cgroup_node *node;

	for (int i = 0; i < READS_PER_TURN && (node = TAILQ_FIRST(&d->reread)); i++) {
		forget(d, node);
		reread(d, node);
	}
}

void daemon_refresh_reach(struct daemon *d)
{
	struct cpuset online = {};
	struct reach now;

	if (!d->reach_stale)
		return;
	for (uint32_t cpu = 0; cpu < d->topo.nr_possible; cpu++)
		if (d->topo.cpus[cpu].online)
			cpuset_add(&online, cpu);
	reach_compute(cgroup_tree_root(d->tree), &online, &now);
	d->reach_stale = false;
	if (memcmp(&now, &d->reach, sizeof(now)) == 0)
		return;
	d->reach = now;
	d->reach_unplanned = true;
}

static int on_pass(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;

	(void)source;
	(void)usec;
	read_some(d);
	/* Steady changes must not put off the plan for ever. */
	if (!TAILQ_EMPTY(&d->reread) && now_us() < d->reread_since_us + pass_max_us) {
		arm_pass(d, 0);
		return 0;
	}
	d->reread_since_us = now_us();
	daemon_refresh_reach(d);
	if (d->reach_unplanned)
		daemon_reach_changed(d);
	if (!TAILQ_EMPTY(&d->reread))
		arm_pass(d, 0);
	return 0;
}

/*
 * A few at a time and in turn: for what no event told, because the kernel had
 * dropped the inode of a cgroup.events, because a CPU came or went while we were
 * not attached, or because memory was short.
 */
static int on_audit(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;
	struct cgroup_node *root = cgroup_tree_root(d->tree), *at = cgroup_tree_find_id(d->tree, d->audit_id);

	daemon_reread_cpuset(d, root);
	for (int i = 0; i < AUDIT_CGROUPS; i++) {
		at = cgroup_node_next(root, at);
		if (!at)
			break;
		daemon_reread_cpuset(d, at);
	}
	d->audit_id = at ? at->id : 0;
	sd_event_source_set_time(source, usec + audit_us);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

/* ---------- start and end ---------- */

/* A second of accuracy lets the audit wake up together with others. */
static int start_timers(struct daemon *d)
{
	int r = sd_event_add_time(d->event, &d->audit_timer, CLOCK_MONOTONIC, now_us() + audit_us, 1000000, on_audit,
				  d);

	if (r >= 0)
		r = sd_event_add_time(d->event, &d->reread_timer, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_pass, d);
	if (r >= 0)
		r = sd_event_source_set_enabled(d->reread_timer, SD_EVENT_OFF);
	return r < 0 ? r : 0;
}

int daemon_start_reach(struct daemon *d)
{
	struct cgroup_node *root = cgroup_tree_root(d->tree);
	int r;

	TAILQ_INIT(&d->reread);
	/* Parents first, so that nothing has to be read twice; all at once, as the scan was. */
	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n))
		reread(d, n);
	d->reach_stale = true;
	daemon_refresh_reach(d);
	r = start_timers(d);
	return r < 0 ? log_error_errno(r, "cannot start the timers that follow cpusets") : 0;
}

void daemon_stop_reach(struct daemon *d)
{
	d->reread_timer = sd_event_source_unref(d->reread_timer);
	d->audit_timer = sd_event_source_unref(d->audit_timer);
}
