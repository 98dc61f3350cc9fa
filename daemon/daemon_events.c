/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_events.c - what the daemon tells the readers of events, and how they get it */
#include <string.h>
#include <time.h>

#include "daemon/base/str.h"
#include "daemon/daemon_private.h"
#include "daemon/event_stream.h"

static void on_wake(void *ctx)
{
	struct daemon *d = ctx;

	if (d->api)
		api_server_events_changed(d->api);
}

int daemon_start_events(struct daemon *d)
{
	int r = events_new(d->epoch, &d->events);

	if (r < 0)
		return r;
	events_set_wake(d->events, on_wake, d);
	announce_reset(&d->announce, d->state);
	return 0;
}

/* ---------- who makes it happen ---------- */

void daemon_begin_cause(struct daemon *d, const struct command *cmd)
{
	struct event_cause *cause = &d->cause;

	*cause = (struct event_cause){ .source = EVENT_FROM_API, .uid = cmd->caller.uid, .pid = cmd->caller.pid };
	memcpy(cause->comm, cmd->caller.comm, sizeof(cause->comm));
	if (str_copy(cause->request_id, sizeof(cause->request_id), cmd->change.request_id ?: "") < 0)
		cause->request_id[0] = '\0';
}

void daemon_end_cause(struct daemon *d)
{
	d->cause = (struct event_cause){ .source = EVENT_FROM_SCHEDD };
}

/* ---------- what happened ---------- */

void daemon_announce_leases(struct daemon *d)
{
	announce_leases(&d->announce, d->state, d->events, &d->cause, clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_BOOTTIME));
}

void daemon_announce(struct daemon *d)
{
	daemon_announce_leases(d);
	announce_changes(&d->announce, d->state, d->events, &d->cause, clock_ns(CLOCK_REALTIME));
}

void daemon_announce_cgroup(struct daemon *d, struct cgroup_node *node)
{
	/* It may be seen while a call is looked at, and is not of the call's making. */
	const struct event_cause itself = { .source = EVENT_FROM_SCHEDD };

	announce_cgroup(&d->announce, d->state, node, d->events, &itself, clock_ns(CLOCK_REALTIME));
}

static const char *exit_kind_name(const struct sched_exit *e)
{
	static const char *const names[] = {
		[SCHED_EXIT_NONE] = "",       [SCHED_EXIT_DETACHED] = "",   [SCHED_EXIT_RESTART] = "restart",
		[SCHED_EXIT_SYSRQ] = "sysrq", [SCHED_EXIT_STALL] = "stall", [SCHED_EXIT_ERROR] = "error",
	};

	return e ? names[e->kind] : "";
}

void daemon_announce_state(struct daemon *d, const struct sched_exit *e)
{
	struct event event = {
		.realtime_ns = clock_ns(CLOCK_REALTIME),
		.type = EVENT_STATE_CHANGED,
		.cause = d->cause,
		.state = { .from = attach_state_name(d->state_announced), .to = attach_state_name(d->attach.state),
			   .exit_kind = exit_kind_name(e) },
	};

	if (d->state_announced == d->attach.state)
		return;
	if (e)
		event.cause = (struct event_cause){ .source = EVENT_FROM_KERNEL };
	event_set_text(event.state.message, d->attach.reason);
	d->state_announced = d->attach.state;
	events_append(d->events, &event);
}

void daemon_announce_config(struct daemon *d, const char *error)
{
	struct event event = {
		.realtime_ns = clock_ns(CLOCK_REALTIME),
		.type = EVENT_CONFIG_CHANGED,
		.cause = d->cause,
		.config = { .accepted = !error, .config_generation = d->state->config_generation },
	};

	/* By a signal or at the start nobody is known who asked. */
	if (event.cause.source == EVENT_FROM_SCHEDD)
		event.cause.source = EVENT_FROM_CONFIG;
	event_set_text(event.config.error, error ?: "");
	events_append(d->events, &event);
}

/* ---------- readers ---------- */

bool daemon_next_event(void *ctx, struct event_stream *stream, struct event *ret_event, uint64_t *ret_again_us)
{
	const struct event_times now = { clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_BOOTTIME) };
	uint64_t again_ns = 0;

	(void)ctx;
	if (event_stream_next(stream, &now, ret_event, &again_ns))
		return true;
	*ret_again_us = again_ns / 1000 + 1;
	return false;
}

void daemon_close_events(void *ctx, struct event_stream *stream)
{
	(void)ctx;
	event_stream_free(stream);
}
