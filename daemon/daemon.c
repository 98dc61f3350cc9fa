/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon.c - brings the parts up in order, runs the loop, takes them down in reverse */
#include "daemon/daemon.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/daemon_private.h"
#include "daemon/threads.h"

enum { SHUTDOWN_GRACE_MS = 500 };

static void run_command(void *ctx, const struct command *cmd, struct reply *reply)
{
	struct daemon *d = ctx;

	daemon_begin_cause(d, cmd);
	command_run(&d->env, cmd, reply);
	daemon_announce(d);
	daemon_end_cause(d);
	daemon_count_lease_request(d, cmd, reply);
	if (reply->wait.wait_for)
		daemon_leases_watch(d);
	/* Attaching takes a while: the answer goes out first. */
	sd_event_source_set_enabled(d->reconsider, SD_EVENT_ONESHOT);
}

static bool scheduler_serving(void *ctx)
{
	const struct daemon *d = ctx;

	return d->attach.state == ATTACH_ATTACHED || d->attach.state == ATTACH_DETACHED ||
	       d->attach.state == ATTACH_OBSERVING;
}

static gid_t admin_group(void *ctx)
{
	const struct daemon *d = ctx;
	struct group *g = d->config->group[0] ? getgrnam(d->config->group) : NULL;

	return g ? g->gr_gid : (gid_t)-1;
}

static const struct api_server_ops api_ops = {
	.run = run_command,
	.resume = daemon_resume,
	.scheduler_serving = scheduler_serving,
	.admin_group = admin_group,
	.next_event = daemon_next_event,
	.close_events = daemon_close_events,
};

static bool http_healthy(void *ctx, char *text, size_t size)
{
	return daemon_is_healthy(ctx, text, size);
}

static bool http_ready(void *ctx, char *text, size_t size)
{
	return daemon_is_ready(ctx, text, size);
}

int daemon_start_http(struct daemon *d, const char *listen, struct http **ret_http)
{
	static const struct http_ops ops = {
		.metrics = daemon_render_metrics,
		.healthy = http_healthy,
		.ready = http_ready,
	};
	int r;

	if (!listen[0]) {
		*ret_http = NULL;
		return 0;
	}
	r = http_new(d->event, listen, &ops, d, ret_http);
	if (r == -EADDRINUSE)
		return log_error_errno(r, "metrics.listen %s: another process has this port; name a free one, or \"\" for none",
				       listen);
	return r < 0 ? log_error_errno(r, "metrics.listen %s", listen) : 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct daemon *d = userdata;

	if (info->ssi_signo == SIGHUP) {
		daemon_reload_config(d, NULL);
		return 0;
	}
	log_info("stopping");
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int on_reconsider(sd_event_source *source, void *userdata)
{
	(void)source;
	daemon_reconsider(userdata);
	return 0;
}

static int start_loop(struct daemon *d)
{
	int r = threads_block_signals();

	if (r == 0)
		r = sd_event_new(&d->event);
	if (r >= 0)
		r = sd_event_add_signal(d->event, NULL, SIGTERM, on_signal, d);
	if (r >= 0)
		r = sd_event_add_signal(d->event, NULL, SIGINT, on_signal, d);
	if (r >= 0)
		r = sd_event_add_signal(d->event, NULL, SIGHUP, on_signal, d);
	if (r >= 0)
		r = sd_event_add_defer(d->event, &d->reconsider, on_reconsider, d);
	if (r >= 0)
		r = sd_event_source_set_priority(d->reconsider, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = sd_event_source_set_enabled(d->reconsider, SD_EVENT_OFF);
	if (r >= 0)
		r = daemon_start_leases(d);
	return r < 0 ? log_error_errno(r, "cannot make the event loop") : 0;
}

static int identify(struct daemon *d)
{
	struct utsname uts;
	uint64_t epoch;
	int r;

	if (uname(&uts) == 0)
		snprintf(d->kernel, sizeof(d->kernel), "%.64s", uts.release);
	if (getrandom(&epoch, sizeof(epoch), 0) != sizeof(epoch))
		epoch = clock_ns(CLOCK_REALTIME);
	snprintf(d->epoch, sizeof(d->epoch), "%016llx", (unsigned long long)epoch);
	r = store_read_boot_id(d->boot_id);
	if (r < 0)
		return log_error_errno(r, "cannot read /proc/sys/kernel/random/boot_id");
	r = topo_read("", &d->topo);
	return r < 0 ? log_error_errno(r, "cannot read the CPUs from /sys/devices/system/cpu") : 0;
}

static int start_model(struct daemon *d)
{
	int r = state_new(d->topo.nr_online, &d->state);

	if (r < 0)
		return log_error_errno(r, "cannot make the model");
	d->tree = d->state->tree;
	d->state->nr_numa_nodes = d->topo.nr_nodes;
	return daemon_load_config(d);
}

static int check_kernel(struct daemon *d, int *ret_exit_code)
{
	sched_probe(&d->probe);
	/* Who only observes takes nobody's place. */
	if (d->probe.other[0] && attach_mode(&d->attach) != MODE_OBSERVE) {
		*ret_exit_code = EXIT_OTHER_SCHEDULER;
		return log_error_errno(EBUSY, "the scheduler %s is loaded already; stop it, then start schedd", d->probe.other);
	}
	if (d->probe.supported)
		return 0;
	if (!d->config->unsupported_stay) {
		*ret_exit_code = EXIT_UNSUPPORTED;
		return log_error_errno(EOPNOTSUPP, "this kernel (%s) cannot run schedd: %s", d->kernel, d->probe.missing);
	}
	log_warning("this kernel (%s) cannot run schedd: %s; staying, as scheduler.unsupported says", d->kernel,
		    d->probe.missing);
	attach_set_supported(&d->attach, false, d->probe.missing);
	return 0;
}

static int restore(struct daemon *d)
{
	_cleanup_free_ char *aside = NULL, *hold_aside = NULL;
	struct store_hold hold = { 0 };
	uint32_t skipped = 0;
	int r;

	r = store_load_hold(d->options.runtime_dir, d->boot_id, &hold, &hold_aside);
	if (r == -EUCLEAN)
		log_error("the hold file was damaged and is now %s; no hold is assumed", hold_aside ?: "?");
	attach_init(&d->attach, d->config->mode, r == 0 ? &hold : NULL);
	r = store_load_state(d->options.state_dir, d->state, d->boot_id, clock_ns(CLOCK_BOOTTIME), &skipped, &aside);
	if (r == -EUCLEAN) {
		log_error("the state file was damaged and is now %s; assignments and leases made by calls are lost",
			  aside ?: "?");
		daemon_set_condition(d, CONDITION_STATE_STORED, 2, "Damaged", "the state file was damaged and is now %s",
				     aside ?: "?");
		return 0;
	}
	if (r < 0 && r != -ENOENT)
		return log_error_errno(r, "cannot read the state from %s", d->options.state_dir);
	if (skipped)
		log_warning("%u stored entries no longer fit the configuration and were left out", skipped);
	daemon_set_condition(d, CONDITION_STATE_STORED, 1, "Read", "%s", "");
	return 0;
}

/* The first scan put the tree together; what was stored is bound to it, then all is classified at once. */
static void finish_scan(struct daemon *d)
{
	struct cgroup_node *root = cgroup_tree_root(d->tree);
	size_t i = 0;

	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n))
		state_cgroup_added(d->state, n);
	while (i < d->state->nr_assignments) {
		const struct state_assignment *a = &d->state->assignments[i];

		if (a->cgroup_id && !cgroup_tree_find_id(d->tree, a->cgroup_id) &&
		    state_cgroup_removed(d->state, a->cgroup_id))
			i = 0;
		else
			i++;
	}
	state_scale_guarantees(d->state);
	daemon_classify(d, root);
	d->scanned = true;
}

static int start_services(struct daemon *d)
{
	int fd, r;

	daemon_start_commands(d);
	r = daemon_open_socket(d, &fd);
	if (r < 0)
		return r;
	r = api_server_new(d->event, fd, &api_ops, d, &d->api);
	if (r < 0)
		return log_error_errno(r, "cannot serve on %s", d->options.socket_path);
	r = daemon_start_http(d, d->config->metrics_listen, &d->http);
	if (r < 0)
		return r;
	r = daemon_start_watchdog(d);
	return r < 0 ? log_error_errno(r, "cannot start the watchdog timer") : 0;
}

static int start(struct daemon *d, int *ret_exit_code)
{
	int r;

	*ret_exit_code = 1;
	r = daemon_lock(d, ret_exit_code);
	if (r == 0)
		r = identify(d);
	if (r == 0)
		r = start_loop(d);
	if (r == 0)
		r = start_model(d);
	if (r == 0)
		r = restore(d);
	if (r == 0)
		r = check_kernel(d, ret_exit_code);
	if (r == 0)
		r = daemon_start_cgroups(d);
	if (r < 0)
		return r;
	finish_scan(d);
	r = daemon_start_events(d);
	if (r < 0)
		return log_error_errno(r, "cannot make room for events");
	r = daemon_start_reach(d);
	if (r == 0)
		r = start_services(d);
	if (r < 0)
		return r;
	threads_privilege_self();
	daemon_reconsider(d);
	return 0;
}

int daemon_new(const struct options *o, struct daemon **ret_daemon, int *ret_exit_code)
{
	struct daemon *d = calloc(1, sizeof(*d));
	int r;

	if (!d) {
		*ret_exit_code = 1;
		return log_error_errno(ENOMEM, "cannot start");
	}
	d->options = *o;
	d->lock_fd = -1;
	d->start_ns = clock_ns(CLOCK_MONOTONIC);
	r = start(d, ret_exit_code);
	if (r < 0) {
		daemon_free(d);
		return r;
	}
	*ret_daemon = d;
	return 0;
}

int daemon_run(struct daemon *d)
{
	int r = sd_event_loop(d->event);

	if (r < 0) {
		log_error_errno(r, "the event loop failed");
		return 1;
	}
	sd_notify(0, "STOPPING=1\nSTATUS=stopping");
	return 0;
}

void daemon_free(struct daemon *d)
{
	if (!d)
		return;
	if (d->tree && d->event)
		daemon_stop_sched(d);
	api_server_free(d->api, SHUTDOWN_GRACE_MS);
	http_free(d->http);
	daemon_stop_reach(d);
	cgroup_watch_free(d->watch);
	sd_event_source_unref(d->reconsider);
	sd_event_source_unref(d->deadline);
	sd_event_source_unref(d->exit_poll);
	sd_event_source_unref(d->watchdog);
	sd_event_source_unref(d->lease_tell);
	sd_event_source_unref(d->lease_look);
	sd_event_unref(d->event);
	announce_free(&d->announce);
	events_free(d->events);
	state_free(d->state);
	config_free(d->config);
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	free(d);
}
