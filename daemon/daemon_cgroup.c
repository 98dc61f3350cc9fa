/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_cgroup.c - the cgroup tree followed, classified and told to BPF */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cgroup/attr.h"
#include "cgroup/mount.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/str.h"
#include "daemon/daemon_private.h"

enum { EVENTS_PER_TURN = 256 };

int daemon_apply_cgroup(struct daemon *d, struct cgroup_node *node)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	uint64_t id;
	int r;

	if (!d->sched)
		return 0;
	r = cgroup_node_path(node, path, sizeof(path));
	if (r < 0)
		return r;
	r = cgroup_open(cgroup_watch_mount_fd(d->watch), path, &fd, &id);
	if (r < 0)
		return r;
	/* Removed and made again since: the event that says so is on its way. */
	if (id != node->id)
		return -ESTALE;
	r = sched_set_cgroup_class(d->sched, fd, node->class_idx);
	if (r < 0)
		return r;
	node->applied_class_idx = node->class_idx;
	node->applied = true;
	return 0;
}

static void apply_and_log(struct daemon *d, struct cgroup_node *node)
{
	char path[PATH_MAX], text[128];
	int r = daemon_apply_cgroup(d, node);

	/* A cgroup that is gone or being replaced is no fault: its tasks ended. */
	if (r == 0 || r == -ENOENT || r == -ESTALE || r == -ENODEV)
		return;
	if (cgroup_node_path(node, path, sizeof(path)) < 0)
		path[0] = '\0';
	log_warning_errno(r, "cannot set the class of %s in BPF", str_escape(text, sizeof(text), path));
}

static void class_changed(void *ctx, struct cgroup_node *node)
{
	struct daemon *d = ctx;

	daemon_class_moved(d, node);
	apply_and_log(d, node);
	announce_note(&d->announce, node);
}

void daemon_classify(struct daemon *d, struct cgroup_node *node)
{
	if (node)
		state_classify(d->state, node, class_changed, d);
}

void daemon_apply_all_cgroups(struct daemon *d)
{
	struct cgroup_node *root = cgroup_tree_root(d->tree);

	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n))
		apply_and_log(d, n);
}

static void read_limit(struct daemon *d, struct cgroup_node *node)
{
	char path[PATH_MAX];
	bool limited;

	if (cgroup_node_path(node, path, sizeof(path)) == 0 &&
	    cgroup_attr_cpu_limited(cgroup_watch_mount_fd(d->watch), path, &limited) == 0)
		node->cpu_limited = limited;
}

void daemon_count_limits(struct daemon *d)
{
	struct cgroup_node *root = cgroup_tree_root(d->tree);
	uint32_t n = 0;

	/* Read when it matters only: 10,000 small reads take a moment. */
	for (struct cgroup_node *node = root; node; node = cgroup_node_next(root, node)) {
		read_limit(d, node);
		n += node->cpu_limited;
	}
	d->cpu_limits_unenforced = n;
}

static void on_added(void *ctx, struct cgroup_node *node)
{
	struct daemon *d = ctx;
	bool bound;

	if (!d->scanned)
		return; /* the first scan classifies all at once */
	bound = state_cgroup_added(d->state, node);
	daemon_classify(d, node);
	daemon_announce_cgroup(d, node);
	if (bound)
		daemon_save_state(d);
}

static void on_removing(void *ctx, struct cgroup_node *node)
{
	struct daemon *d = ctx;

	daemon_forget_cpuset(d, node);
	if (state_cgroup_removed(d->state, node->id))
		daemon_save_state(d);
}

static void on_written(void *ctx, struct cgroup_node *node, enum cgroup_file file)
{
	daemon_cgroup_written(ctx, node, file);
}

static const struct cgroup_watch_ops watch_ops = {
	.added = on_added,
	.removing = on_removing,
	.written = on_written,
};

static int on_watch(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct daemon *d = userdata;
	const struct cgroup_watch_stats *stats = cgroup_watch_get_stats(d->watch);
	uint64_t before = stats->created + stats->removed;
	bool more;
	int r;

	(void)source;
	(void)fd;
	(void)events;
	/* What is left over keeps the descriptor readable: the loop comes back after others had their turn. */
	r = cgroup_watch_process(d->watch, EVENTS_PER_TURN, &more);
	if (r < 0)
		log_error_errno(r, "cannot follow the cgroup tree below %s", d->cgroup_mount);
	/* Most events are writes to attribute files, which change nothing that is decided there. */
	if (stats->created + stats->removed != before)
		daemon_reconsider(d);
	return 0;
}

/* A daemon in best-effort would wait for what it should move out of the way. */
static void protect_self(struct daemon *d)
{
	struct cgroup_node *node;
	char path[PATH_MAX];

	if (cgroup_of_pid(getpid(), path, sizeof(path)) < 0)
		return;
	node = cgroup_tree_find_path(d->tree, path);
	if (node && node->parent)
		d->state->own_cgroup_id = node->id;
}

int daemon_start_cgroups(struct daemon *d)
{
	int r;

	r = cgroup_mount_find(NULL, d->cgroup_mount, sizeof(d->cgroup_mount));
	if (r == -ENXIO)
		return log_error_errno(r, "this host mounts cgroup v1 only; schedd needs the cgroup2 tree: mount it, or boot "
					  "with systemd.unified_cgroup_hierarchy=1");
	if (r < 0)
		return log_error_errno(r, "no cgroup2 mount in /proc/self/mountinfo; mount one: mount -t cgroup2 none "
					  "/sys/fs/cgroup");
	r = cgroup_watch_new(d->cgroup_mount, d->tree, &watch_ops, d, &d->watch);
	if (r < 0)
		return log_error_errno(r, "cannot watch the cgroup tree at %s", d->cgroup_mount);
	r = cgroup_watch_scan(d->watch);
	if (r < 0)
		return log_error_errno(r, "cannot read the cgroup tree at %s", d->cgroup_mount);
	protect_self(d);
	r = sd_event_add_io(d->event, NULL, cgroup_watch_fd(d->watch), EPOLLIN, on_watch, d);
	return r < 0 ? log_error_errno(r, "cannot watch %s in the loop", d->cgroup_mount) : 0;
}
