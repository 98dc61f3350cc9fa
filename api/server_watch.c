/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_watch.c - WatchEvents on calls: one message in flight for each, all of them within a budget
 *
 * The next event is asked for when the one before is out, so a slow reader costs
 * what one message costs.  The budget bounds the loop's time where many readers
 * are fast and much happens; those it makes slow are told what they missed.
 */
#include <stdlib.h>
#include <string.h>

#include "api/codec.h"
#include "api/server_private.h"

enum { TIMER_ACCURACY_US = 1000 };

/* ---------- one reader ---------- */

/* The stream goes with the status: nothing may ask for its next event afterwards. */
static void forget(struct rpc *rpc)
{
	struct api_server *s = rpc->conn->server;

	for (uint32_t i = 0; i < s->nr_watches; i++)
		if (s->watches[i] == rpc) {
			s->watches[i] = s->watches[--s->nr_watches];
			break;
		}
	s->ops->close_events(s->ctx, rpc->stream);
	rpc->stream = NULL;
}

/* True when the watch had to end, which it does between two messages only. */
static bool end_if_over(struct rpc *rpc)
{
	bool stopping = rpc->conn->server->stopping;

	if (!rpc->closed && !stopping)
		return false;
	forget(rpc);
	if (rpc->closed)
		rpc_fail(rpc, (enum command_status)GRPC_STATUS_CANCELLED, API_REASON_TOO_SLOW, "the caller is gone");
	else
		rpc_fail(rpc, COMMAND_UNAVAILABLE, API_REASON_STOPPING,
			 "schedd is stopping; watch again when it is back");
	return true;
}

static void send_event(struct rpc *rpc, const struct event *event)
{
	uint8_t *bytes = NULL;
	size_t size = 0;

	if (codec_event_encode(event, &bytes, &size) == 0) {
		rpc_send(rpc, bytes, size);
		return;
	}
	/* Taken from the stream already: going on would be a gap that nobody tells of. */
	forget(rpc);
	rpc_fail(rpc, COMMAND_RESOURCE_EXHAUSTED, REASON(OUT_OF_MEMORY),
		 "no memory for an event; resume after the last one that arrived");
}

/* ---------- all of them ---------- */

static bool has_budget(struct api_server *s, uint64_t now_us)
{
	if (now_us - s->watch_window_us >= SERVER_WATCH_WINDOW_US) {
		s->watch_window_us = now_us;
		s->watch_sent = 0;
	}
	return s->watch_sent < SERVER_WATCH_PER_WINDOW;
}

/* Returns when to look again at the latest. */
static uint64_t serve(struct api_server *s, struct rpc *rpc, uint64_t now_us)
{
	uint64_t again_us = UINT64_MAX;
	struct event event;

	if (rpc->sending)
		return UINT64_MAX;
	if (!has_budget(s, now_us))
		return s->watch_window_us + SERVER_WATCH_WINDOW_US;
	if (!s->ops->next_event(s->ctx, rpc->stream, &event, &again_us))
		return again_us;
	s->watch_sent++;
	send_event(rpc, &event);
	return UINT64_MAX;
}

static void serve_all(struct api_server *s)
{
	struct rpc *watches[EVENT_READERS_MAX];
	uint64_t now_us = server_now_us(), next_us = UINT64_MAX, again_us;
	uint32_t n = s->nr_watches, first = n ? s->watch_turn++ % n : 0;

	/* A copy, because serving may end one; another one first each time, or the budget would favour the same. */
	memcpy(watches, s->watches, n * sizeof(watches[0]));
	for (uint32_t i = 0; i < n; i++) {
		again_us = serve(s, watches[(first + i) % n], now_us);
		if (again_us < next_us)
			next_us = again_us;
	}
	if (next_us == UINT64_MAX) {
		sd_event_source_set_enabled(s->watch_timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(s->watch_timer, next_us);
	sd_event_source_set_enabled(s->watch_timer, SD_EVENT_ONESHOT);
}

static int on_serve(sd_event_source *source, void *userdata)
{
	(void)source;
	serve_all(userdata);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	serve_all(userdata);
	return 0;
}

int watch_start(struct api_server *s)
{
	int err = sd_event_add_defer(s->event, &s->watch_serve, on_serve, s);

	if (err >= 0)
		err = sd_event_source_set_enabled(s->watch_serve, SD_EVENT_OFF);
	if (err >= 0)
		err = sd_event_add_time(s->event, &s->watch_timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_US, on_timer, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(s->watch_timer, SD_EVENT_OFF);
	return err;
}

void watch_free(struct api_server *s)
{
	s->watch_serve = sd_event_source_disable_unref(s->watch_serve);
	s->watch_timer = sd_event_source_disable_unref(s->watch_timer);
}

/* Asked for in the loop's next turn: whoever appends is in the middle of a change. */
void watch_wake(struct api_server *s)
{
	if (s->nr_watches && !s->stopping)
		sd_event_source_set_enabled(s->watch_serve, SD_EVENT_ONESHOT);
}

/* ---------- begin, go on, end ---------- */

void watch_begin(struct rpc *rpc, struct event_stream *stream)
{
	struct api_server *s = rpc->conn->server;

	rpc->stream = stream;
	s->watches[s->nr_watches++] = rpc;
	watch_wake(s);
}

void watch_sent(struct rpc *rpc)
{
	if (rpc->stream && !end_if_over(rpc))
		watch_wake(rpc->conn->server);
}

void watch_closed(struct rpc *rpc)
{
	if (rpc->stream && !rpc->sending)
		end_if_over(rpc);
}

void watch_stop(struct api_server *s)
{
	for (uint32_t i = s->nr_watches; i-- > 0;)
		watch_closed(s->watches[i]);
}
