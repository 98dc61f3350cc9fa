/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_command.c - the outside world of command_run(): cgroups, disk, BPF, mode */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>

#include "cgroup/mount.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/daemon_private.h"

static int resolve_path(void *ctx, const char *path, uint64_t *ret_id)
{
	struct daemon *d = ctx;
	_cleanup_close_ int fd = -1;
	uint64_t id;
	bool more = true;
	int r;

	r = cgroup_open(cgroup_watch_mount_fd(d->watch), path, &fd, &id);
	if (r < 0)
		return r;
	/* Made a moment ago: its event waits in our queue, and the caller wants it in the tree. */
	while (!cgroup_tree_find_id(d->tree, id) && more && r == 0)
		r = cgroup_watch_process(d->watch, 4096, &more);
	if (!cgroup_tree_find_id(d->tree, id))
		cgroup_watch_scan(d->watch);
	if (!cgroup_tree_find_id(d->tree, id))
		return -ENOENT;
	*ret_id = id;
	return 0;
}

static int read_start_time(pid_t pid, uint64_t *ret_ticks)
{
	char path[64], text[1024], *after;
	_cleanup_fclose_ FILE *f = NULL;
	unsigned long long ticks;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f))
		return -ESRCH;
	/* The name is in parentheses and may hold any character: count fields behind the last one. */
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
			     &ticks) != 1)
		return -ESRCH;
	*ret_ticks = ticks;
	return 0;
}

static bool process_gone(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	/* EPERM means alive: the unit has no CAP_KILL. */
	return poll(&p, 1, 0) > 0 || (pidfd_send_signal(pidfd, 0, NULL, 0) < 0 && errno == ESRCH);
}

static int resolve_pid(void *ctx, pid_t pid, int pidfd, uint64_t start_time_ticks, char *ret_path, size_t size)
{
	_cleanup_close_ int own = -1;
	uint64_t ticks;
	int r;

	(void)ctx;
	/* pidfd first, then the path, then a check that the process still is: so no reused number is ever believed. */
	if (pidfd < 0) {
		own = pidfd_open(pid, 0);
		if (own < 0)
			return -errno;
		pidfd = own;
	}
	if (start_time_ticks) {
		r = read_start_time(pid, &ticks);
		if (r < 0)
			return r;
		if (ticks != start_time_ticks)
			return -ESRCH;
	}
	r = cgroup_of_pid(pid, ret_path, size);
	if (r < 0)
		return r;
	return process_gone(pidfd) ? -ESRCH : 0;
}

static int count_processes(void *ctx, const char *path)
{
	struct daemon *d = ctx;
	_cleanup_close_ int dir = -1;
	_cleanup_fclose_ FILE *f = NULL;
	char line[32];
	uint64_t id;
	int r, fd, n = 0;

	r = cgroup_open(cgroup_watch_mount_fd(d->watch), path, &dir, &id);
	if (r < 0)
		return r;
	fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (n < 2 && fgets(line, sizeof(line), f))
		n++;
	return n;
}

int daemon_save_state(struct daemon *d)
{
	int r = store_save_state(d->options.state_dir, d->state, d->boot_id);

	d->state_writes++;
	if (r < 0) {
		d->state_write_failures++;
		daemon_set_condition(d, CONDITION_STATE_STORED, 2, "WriteFailed", "cannot write %s: %s",
				     d->options.state_dir, strerror(-r));
		return log_error_errno(r, "cannot write the state to %s", d->options.state_dir);
	}
	daemon_set_condition(d, CONDITION_STATE_STORED, 1, "Written", "%s", "");
	return 0;
}

static int commit(void *ctx, char *error, size_t error_size)
{
	struct daemon *d = ctx;
	char other[64] = "";
	int r;

	/* Asked before anything is stored: a call that cannot take effect is refused, not kept. */
	if (!d->sched && attach_mode(&d->attach) == MODE_AUTO && state_wants_scheduler(d->state))
		sched_read_other(other, sizeof(other));
	if (other[0]) {
		snprintf(error, error_size, "the scheduler %s is loaded; stop it first", other);
		return -EBUSY;
	}
	r = daemon_save_state(d);
	if (r < 0)
		return r;
	daemon_classify(d, cgroup_tree_root(d->tree));
	state_scale_guarantees(d->state);
	r = daemon_apply_classes(d);
	if (r == 0)
		daemon_apply_plan(d);
	return r;
}

static int set_mode(void *ctx, enum schedd_mode mode, bool has_hold_for, uint64_t hold_for_ns,
		    const struct command_caller *caller, char *error, size_t error_size)
{
	bool attaches = mode == MODE_ACTIVE || mode == MODE_PAUSED;
	struct daemon *d = ctx;
	char other[64] = "";

	if ((attaches || mode == MODE_OBSERVE) && !d->attach.supported) {
		snprintf(error, error_size, "%s", d->attach.reason);
		return -EOPNOTSUPP;
	}
	if (attaches && !(d->sched && sched_is_attached(d->sched)))
		sched_read_other(other, sizeof(other));
	if (other[0]) {
		snprintf(error, error_size, "the scheduler %s is loaded; stop it first", other);
		return -EBUSY;
	}
	attach_set_mode(&d->attach, mode, has_hold_for ? hold_for_ns : 0, clock_ns(CLOCK_BOOTTIME),
			clock_ns(CLOCK_REALTIME));
	daemon_save_hold(d);
	log_event(LOG_NOTICE, LOG_ID_MODE, NULL, "mode %s, ordered by uid %u (%s)", mode_name(mode), caller->uid,
		  caller->comm);
	/* Detaching is done when the answer goes out; attaching, which takes a while, follows it. */
	if (mode == MODE_DETACHED)
		daemon_reconsider(d);
	return 0;
}

static int reload(void *ctx, struct reply *reply)
{
	return daemon_reload_config(ctx, reply);
}

static void fill_config(void *ctx, struct reply *reply)
{
	daemon_fill_config(ctx, reply);
}

static uint64_t realtime_ns(void *ctx)
{
	(void)ctx;
	return clock_ns(CLOCK_REALTIME);
}

static uint64_t boottime_ns(void *ctx)
{
	(void)ctx;
	return clock_ns(CLOCK_BOOTTIME);
}

static const struct command_ops command_ops = {
	.resolve_path = resolve_path,
	.resolve_pid = resolve_pid,
	.count_processes = count_processes,
	.commit = commit,
	.set_mode = set_mode,
	.reload_config = reload,
	.fill_config = fill_config,
	.fill_status = daemon_fill_status,
	.fill_plan = daemon_fill_plan,
	.fill_class = daemon_fill_class,
	.can_lease = daemon_can_lease,
	.update_leases = daemon_update_leases,
	.fill_lease = daemon_fill_lease,
};

void daemon_start_commands(struct daemon *d)
{
	d->env = (struct command_env){
		.state = d->state,
		.ops = &command_ops,
		.ctx = d,
		.realtime_ns = realtime_ns,
		.boottime_ns = boottime_ns,
		.events = d->events,
	};
}
