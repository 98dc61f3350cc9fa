/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_wait.c - calls that were run and are answered later, when what they ordered is there
 *
 * The server knows nothing of what is waited for: it asks whenever it is told
 * that something happened, and a last time shortly before the call's deadline.
 * What was ordered is in force however the wait ends.
 */
#include "api/server_private.h"

enum { TIMER_ACCURACY_US = 1000 };

static void unlink_waiting(struct rpc *rpc)
{
	struct api_server *s = rpc->conn->server;

	if (rpc->wait_prev)
		rpc->wait_prev->wait_next = rpc->wait_next;
	else
		s->waiting = rpc->wait_next;
	if (rpc->wait_next)
		rpc->wait_next->wait_prev = rpc->wait_prev;
	rpc->wait_prev = rpc->wait_next = NULL;
	rpc->waiting = false;
	s->nr_waiting--;
}

static void resume_one(struct rpc *rpc, bool deadline_passed)
{
	struct api_server *s = rpc->conn->server;
	struct reply reply = {};

	if (s->ops->resume(s->ctx, &rpc->wait, deadline_passed, &reply)) {
		unlink_waiting(rpc);
		command_answer(rpc, &reply);
	}
	reply_free(&reply);
}

/* Fires for the one whose deadline is next; too early does no harm. */
static void set_timer(struct api_server *s)
{
	uint64_t next_us = UINT64_MAX;

	for (struct rpc *rpc = s->waiting; rpc; rpc = rpc->wait_next)
		if (rpc->wait_until_us < next_us)
			next_us = rpc->wait_until_us;
	if (next_us != UINT64_MAX)
		sd_event_source_set_time(s->wait_timer, next_us);
	sd_event_source_set_enabled(s->wait_timer, next_us != UINT64_MAX ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct api_server *s = userdata;
	uint64_t now_us = server_now_us();
	struct rpc *rpc, *next;

	(void)source;
	(void)usec;
	for (rpc = s->waiting; rpc; rpc = next) {
		next = rpc->wait_next;
		if (rpc->wait_until_us <= now_us)
			resume_one(rpc, true);
	}
	set_timer(s);
	return 0;
}

int wait_start(struct api_server *s)
{
	int err = sd_event_add_time(s->event, &s->wait_timer, CLOCK_MONOTONIC, UINT64_MAX, TIMER_ACCURACY_US, on_timer,
				    s);

	return err < 0 ? err : sd_event_source_set_enabled(s->wait_timer, SD_EVENT_OFF);
}

/* A client ends a call at its deadline by itself, and what we say then is lost. */
static uint64_t answer_by_us(const struct rpc *rpc)
{
	uint64_t early_us = SERVER_ANSWER_EARLY_US;

	if (rpc->deadline_us == UINT64_MAX)
		return UINT64_MAX;
	if (early_us > (rpc->deadline_us - rpc->begin_us) / 4)
		early_us = (rpc->deadline_us - rpc->begin_us) / 4;
	return rpc->deadline_us - early_us;
}

void wait_begin(struct rpc *rpc, const struct command_wait *wait)
{
	struct api_server *s = rpc->conn->server;

	rpc->wait = *wait;
	rpc->wait_until_us = answer_by_us(rpc);
	rpc->waiting = true;
	rpc->wait_next = s->waiting;
	if (rpc->wait_next)
		rpc->wait_next->wait_prev = rpc;
	s->waiting = rpc;
	s->nr_waiting++;
	if (rpc->closed)
		wait_closed(rpc);
	else
		set_timer(s);
}

void wait_closed(struct rpc *rpc)
{
	unlink_waiting(rpc);
	rpc_fail(rpc, (enum command_status)GRPC_STATUS_CANCELLED, API_REASON_TOO_SLOW,
		 "%s: the caller is gone; what it ordered is in force", command_name(rpc->type));
}

void wait_stop(struct api_server *s)
{
	struct rpc *rpc, *next;

	for (rpc = s->waiting; rpc; rpc = next) {
		next = rpc->wait_next;
		unlink_waiting(rpc);
		rpc_fail(rpc, COMMAND_UNAVAILABLE, API_REASON_STOPPING,
			 "schedd is stopping; the lease %s is kept: ask again with the same request_id",
			 rpc->wait.lease_id);
	}
	s->wait_timer = sd_event_source_disable_unref(s->wait_timer);
}

void api_server_resume(struct api_server *s)
{
	struct rpc *rpc, *next;

	for (rpc = s->waiting; rpc; rpc = next) {
		next = rpc->wait_next;
		resume_one(rpc, false);
	}
}

uint32_t api_server_nr_waiting(const struct api_server *s)
{
	return s->nr_waiting;
}
