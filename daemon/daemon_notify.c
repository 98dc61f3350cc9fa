/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_notify.c - what the service manager and probes are told: ready, status, alive */
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "daemon/base/log.h"
#include "daemon/daemon_private.h"

/* The queue thread waits at most 5 s at a time; more than twice that without a turn is a dead one. */
static const uint64_t queue_thread_max_ns = 12000000000ull;

/* An interval is at most a second. */
static const uint64_t allocator_answer_ns = 2000000000ull;

static bool queue_thread_turns(struct daemon *d)
{
	struct api_server_stats api;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	api_server_get_stats(d->api, &api);
	if (api.queue_thread_turns != d->queue_turns_seen || !d->queue_turns_at_ns) {
		d->queue_turns_seen = api.queue_thread_turns;
		d->queue_turns_at_ns = now_ns;
	}
	return now_ns - d->queue_turns_at_ns < queue_thread_max_ns;
}

/* Asked here, answered until the next time; a scrape a moment after the last question proves nothing. */
static bool allocator_steps(struct daemon *d)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!d->poller) {
		d->pinged_at_ns = 0;
		return true;
	}
	if (d->pinged_at_ns && now_ns - d->pinged_at_ns < allocator_answer_ns)
		return d->allocator_answered;
	d->allocator_answered = poller_ping(d->poller);
	d->pinged_at_ns = now_ns;
	return d->allocator_answered;
}

bool daemon_is_healthy(struct daemon *d, char *text, size_t size)
{
	if (!queue_thread_turns(d)) {
		snprintf(text, size, "the gRPC queue thread stands still");
		return false;
	}
	/* Only while attached: a detached daemon would be restarted for ever, and SysRq-S undone. */
	if (d->sched && sched_is_attached(d->sched) && sched_ping(d->sched) < 0) {
		snprintf(text, size, "the BPF scheduler does not answer");
		return false;
	}
	if (!allocator_steps(d)) {
		snprintf(text, size, "the allocator thread stands still");
		return false;
	}
	snprintf(text, size, "ok: %s", attach_state_name(d->attach.state));
	return true;
}

bool daemon_is_ready(const struct daemon *d, char *text, size_t size)
{
	bool ready = d->scanned && d->attach.state != ATTACH_STARTING && d->attach.state != ATTACH_BACKOFF &&
		     d->attach.state != ATTACH_DEGRADED && d->attach.state != ATTACH_STOPPING;

	snprintf(text, size, "%s: %s%s%s", ready ? "ready" : "not ready", attach_state_name(d->attach.state),
		 d->attach.reason[0] ? ": " : "", d->attach.reason);
	return ready;
}

void daemon_notify_status(struct daemon *d)
{
	char text[512];

	if (!d->api || d->attach.state == ATTACH_STARTING)
		return;
	snprintf(text, sizeof(text), "%s: %.200s", attach_state_name(d->attach.state), d->attach.reason);
	if (d->ready_sent && strncmp(text, d->status_sent, sizeof(d->status_sent) - 1) == 0)
		return;
	snprintf(d->status_sent, sizeof(d->status_sent), "%.250s", text);
	/* READY=1 also when the wanted mode was refused for a stated reason: waiting would not help. */
	sd_notifyf(0, "%sSTATUS=%s", d->ready_sent ? "" : "READY=1\n", d->status_sent);
	if (!d->ready_sent)
		log_info("ready: %s", text);
	d->ready_sent = true;
}

/* Runs in the loop: a loop that hangs sends nothing. */
static int on_watchdog(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;
	uint64_t period_us = 0;
	char text[256];

	sd_watchdog_enabled(0, &period_us);
	if (daemon_is_healthy(d, text, sizeof(text)))
		sd_notify(0, "WATCHDOG=1");
	else
		log_error("watchdog: %s; systemd will restart the daemon", text);
	sd_event_source_set_time(source, usec + period_us / 2);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int daemon_start_watchdog(struct daemon *d)
{
	uint64_t period_us = 0;
	int r = sd_watchdog_enabled(0, &period_us);

	if (r <= 0)
		return r;
	return sd_event_add_time_relative(d->event, &d->watchdog, CLOCK_MONOTONIC, period_us / 2, 1000, on_watchdog, d);
}
