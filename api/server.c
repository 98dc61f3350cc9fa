/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.c - the gRPC server: start, stop and numbers */
#include "api/server.h"

#include <errno.h>
#include <grpc/support/log.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/server_private.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"

enum {
	SETTLE_MS = 20, /* for calls that are on their way */
	CUT_MS = 5000,  /* for calls that were cut: core needs milliseconds */
};

uint64_t server_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* What gRPC calls an error is often a client's; it is the daemon's only when a call of ours fails. */
static void on_grpc_log(gpr_log_func_args *args)
{
	int level = args->severity == GPR_LOG_SEVERITY_ERROR ? LOG_NOTICE : LOG_DEBUG;

	log_full(level, 0, "gRPC: %s", args->message);
}

static int on_run(sd_event_source *source, void *userdata)
{
	(void)source;
	command_run_queue(userdata, SERVER_COMMANDS_PER_TURN);
	return 0;
}

static int start(struct api_server *s)
{
	int err;

	err = reflection_new_embedded(&s->reflection);
	if (err < 0)
		return log_error_errno(err, "cannot read the interface description of this program");
	s->credentials = grpc_insecure_server_credentials_create();
	err = server_queue_start(s);
	if (err < 0)
		return log_error_errno(err, "cannot start the queue thread of the API");
	err = sd_event_add_defer(s->event, &s->run, on_run, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(s->run, SD_EVENT_OFF);
	if (err >= 0)
		err = wait_start(s);
	if (err >= 0)
		err = watch_start(s);
	if (err >= 0)
		err = server_accept_start(s);
	return err < 0 ? log_error_errno(err, "cannot watch the API's socket") : 0;
}

/* Writing to a connection that broke must be an error, not the end of the daemon. */
static void ignore_sigpipe(void)
{
	signal(SIGPIPE, SIG_IGN);
}

int api_server_new(sd_event *event, int listen_fd, const struct api_server_ops *ops, void *ctx,
		   struct api_server **ret_server)
{
	struct api_server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->event = sd_event_ref(event);
	s->ops = ops;
	s->ctx = ctx;
	s->listen_fd = s->wake_fd = -1;
	s->queue_tail = &s->queue;
	s->queue_max = SERVER_QUEUE_MAX;
	s->waiting_max = SERVER_WAITING_MAX;
	s->half_open_us = SERVER_HALF_OPEN_US;
	s->receive_us = SERVER_RECEIVE_US;
	s->reflect_us = SERVER_REFLECT_US;
	s->ready_tail = &s->ready;
	pthread_mutex_init(&s->lock, NULL);
	ignore_sigpipe();
	gpr_set_log_function(on_grpc_log);
	grpc_init();
	s->listen_fd = listen_fd;
	err = start(s);
	if (err < 0) {
		s->listen_fd = -1; /* stays the caller's */
		api_server_free(s, 0);
		return err;
	}
	*ret_server = s;
	return 0;
}

/* ---------- stop ---------- */

static void pump(struct api_server *s, unsigned int timeout_ms, const uint32_t *until_zero)
{
	uint64_t now_us = server_now_us(), end_us = now_us + (uint64_t)timeout_ms * 1000;
	struct pollfd wake = { .fd = s->wake_fd, .events = POLLIN };

	for (; *until_zero && now_us < end_us; now_us = server_now_us())
		if (poll(&wake, 1, (int)((end_us - now_us + 999) / 1000)) > 0)
			server_handle_tags(s, UINT_MAX);
}

static void cut_all(struct api_server *s)
{
	for (struct conn *c = s->conns; c; c = c->next)
		conn_cut(c);
}

static void end_connections(struct api_server *s, unsigned int grace_ms)
{
	struct conn *c, *next;

	s->stopping = true;
	server_accept_stop(s);
	stream_health_changed(s);
	watch_stop(s);
	if (s->run)
		command_run_queue(s, UINT_MAX);
	wait_stop(s);
	/* A call that core has but we have not seen would be cancelled without a word; now it is told to try again. */
	pump(s, grace_ms < SETTLE_MS ? grace_ms : SETTLE_MS, &s->nr_conns);
	for (c = s->conns; c; c = next) {
		next = c->next;
		conn_close(c, false);
	}
	pump(s, grace_ms, &s->nr_rpcs);
	cut_all(s);
	/* Both must be over before the queue ends: the notification of a server may come before its last call's. */
	pump(s, CUT_MS, &s->nr_conns);
}

void api_server_free(struct api_server *s, unsigned int grace_ms)
{
	if (!s)
		return;
	end_connections(s, grace_ms);
	s->run = sd_event_source_disable_unref(s->run);
	watch_free(s);
	cleanup_close(&s->listen_fd);
	if (s->nr_conns) {
		/* Freeing what gRPC may still touch would be worse than leaving it to the end of the process. */
		log_error("%u connections did not end, the API is left as it is", s->nr_conns);
		s->wake = sd_event_source_disable_unref(s->wake);
		s->event = sd_event_unref(s->event);
		return;
	}
	server_queue_stop(s);
	if (s->credentials)
		grpc_server_credentials_release(s->credentials);
	grpc_shutdown_blocking();
	reflection_free(s->reflection);
	sd_event_unref(s->event);
	free(s);
}

/* ---------- numbers ---------- */

void api_server_get_stats(const struct api_server *s, struct api_server_stats *ret_stats)
{
	*ret_stats = s->stats;
	ret_stats->connections = s->nr_conns;
	ret_stats->queue_thread_turns = atomic_load(&s->turns);
}

void api_server_health_changed(struct api_server *s)
{
	stream_health_changed(s);
}

void api_server_events_changed(struct api_server *s)
{
	watch_wake(s);
}
