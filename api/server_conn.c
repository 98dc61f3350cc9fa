/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_conn.c - accepting connections, naming their callers, ending them */
#include <errno.h>
#include <fcntl.h>
#include <grpc/grpc_posix.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/peer.h"
#include "api/server_private.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"

enum { LOG_INTERVAL_US = 60000000, PAUSE_US = 1000000, TIMER_ACCURACY_US = 100000 };

/* ---------- end ---------- */

void conn_unref(struct conn *c)
{
	if (--c->refs)
		return;
	if (c->prev)
		c->prev->next = c->next;
	else
		c->server->conns = c->next;
	if (c->next)
		c->next->prev = c->prev;
	c->server->nr_conns--;
	sd_event_source_disable_unref(c->hangup);
	sd_event_source_disable_unref(c->timer);
	cleanup_close(&c->fd);
	cleanup_close(&c->caller.pidfd);
	free(c);
}

static void on_shutdown(struct tag *tag, bool ok)
{
	struct conn *c = tag_owner(tag, struct conn, t_shutdown);

	(void)ok;
	grpc_server_destroy(c->grpc);
	c->grpc = NULL;
	conn_unref(c);
}

void conn_cut(struct conn *c)
{
	/* The peer sees the end at once, even one that never spoke HTTP/2. */
	if (c->fd >= 0)
		shutdown(c->fd, SHUT_RDWR);
	if (c->grpc)
		grpc_server_cancel_all_calls(c->grpc);
}

void conn_close(struct conn *c, bool cut)
{
	if (c->closing)
		return;
	c->closing = true;
	c->hangup = sd_event_source_disable_unref(c->hangup);
	c->timer = sd_event_source_disable_unref(c->timer);
	grpc_server_shutdown_and_notify(c->grpc, c->server->cq, &c->t_shutdown);
	if (cut)
		conn_cut(c);
}

static int on_hangup(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	(void)source;
	(void)fd;
	(void)revents;
	conn_close(userdata, true);
	return 0;
}

/* ---------- slow ones ---------- */

/* Ends calls whose request does not come; returns when to look again, 0 = never. */
static uint64_t fail_slow_calls(struct conn *c, uint64_t now_us)
{
	uint64_t next_us = 0;
	struct rpc *rpc, *next;

	for (rpc = c->rpcs; rpc; rpc = next) {
		next = rpc->next;
		if (!rpc->receive_until_us || rpc->answered)
			continue;
		if (rpc->receive_until_us <= now_us)
			rpc_fail(rpc, COMMAND_DEADLINE_EXCEEDED, API_REASON_TOO_SLOW,
				 "the request did not arrive in time; send it right after the call begins");
		else if (!next_us || rpc->receive_until_us < next_us)
			next_us = rpc->receive_until_us;
	}
	return next_us;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct conn *c = userdata;
	uint64_t next_us;

	(void)source;
	(void)usec;
	/*
	 * Late may have been the loop itself (attaching takes a while): what arrived
	 * meanwhile is handled in the turns before a second look.
	 */
	if (!c->begun && !c->looked_again) {
		c->looked_again = true;
		conn_watch_receive(c, server_now_us() + SERVER_SECOND_LOOK_US);
		return 0;
	}
	if (!c->begun) {
		c->server->stats.closed_idle++;
		conn_close(c, true);
		return 0;
	}
	next_us = fail_slow_calls(c, server_now_us());
	if (next_us)
		conn_watch_receive(c, next_us);
	return 0;
}

/* The timer may fire too early but never too late: one that runs is left alone, which costs no system call. */
void conn_watch_receive(struct conn *c, uint64_t until_us)
{
	int enabled = SD_EVENT_OFF;

	if (!c->timer)
		return;
	sd_event_source_get_enabled(c->timer, &enabled);
	if (enabled != SD_EVENT_OFF)
		return;
	sd_event_source_set_time(c->timer, until_us);
	sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
}

/* ---------- begin ---------- */

static grpc_server *new_grpc_server(struct api_server *s)
{
	grpc_arg args[] = {
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
		  .value.integer = SERVER_MESSAGE_MAX },
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_METADATA_SIZE,
		  .value.integer = SERVER_METADATA_MAX },
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_CONCURRENT_STREAMS,
		  .value.integer = SERVER_STREAMS_PER_CONN },
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_MAX_CONNECTION_IDLE_MS,
		  .value.integer = SERVER_IDLE_MS },
		/* On a local socket there is no bandwidth to find out: each message would cost two pings. */
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_HTTP2_BDP_PROBE, .value.integer = 0 },
		/*
		 * Core unpacks a compressed message whole before it looks at the limit: 256 KiB
		 * would become 256 MB.  Compression is refused instead, it gains nothing here.
		 */
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
		  .value.integer = 1 << GRPC_COMPRESS_NONE },
		{ .type = GRPC_ARG_INTEGER, .key = (char *)GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION,
		  .value.integer = 0 },
	};
	grpc_channel_args all = { .num_args = ARRAY_SIZE(args), .args = args };
	grpc_server *grpc = grpc_server_create(&all, NULL);

	grpc_server_register_completion_queue(grpc, s->cq, NULL);
	grpc_server_start(grpc);
	return grpc;
}

static int watch_conn(struct conn *c)
{
	sd_event *event = c->server->event;
	int err;

	err = sd_event_add_io(event, &c->hangup, c->fd, EPOLLRDHUP, on_hangup, c);
	if (err < 0)
		return err;
	return sd_event_add_time_relative(event, &c->timer, CLOCK_MONOTONIC, c->server->half_open_us, TIMER_ACCURACY_US,
					  on_timer, c);
}

static void link_conn(struct conn *c)
{
	struct api_server *s = c->server;

	c->next = s->conns;
	if (c->next)
		c->next->prev = c;
	s->conns = c;
	s->nr_conns++;
}

/* Takes fd and caller->pidfd, whatever happens. */
static int conn_new(struct api_server *s, int fd, const struct command_caller *caller)
{
	struct conn *c = calloc(1, sizeof(*c));
	int err;

	if (!c) {
		close(fd);
		if (caller->pidfd >= 0)
			close(caller->pidfd);
		return -ENOMEM;
	}
	c->server = s;
	c->caller = *caller;
	c->refs = 1;
	c->t_shutdown.fn = on_shutdown;
	c->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	err = c->fd < 0 ? -errno : 0;
	link_conn(c);
	if (err == 0)
		err = watch_conn(c);
	if (err < 0) {
		close(fd);
		conn_unref(c);
		return err;
	}
	c->grpc = new_grpc_server(s);
	err = rpc_arm(c);
	grpc_server_add_channel_from_fd(c->grpc, fd, s->credentials);
	if (err < 0)
		conn_close(c, true);
	return err;
}

static uint32_t count_uid(const struct api_server *s, uid_t uid)
{
	uint32_t n = 0;

	for (const struct conn *c = s->conns; c; c = c->next)
		n += c->caller.uid == uid;
	return n;
}

static void log_refusal(struct api_server *s, const struct command_caller *caller, const char *why)
{
	uint64_t now_us = server_now_us();

	/* Whoever is refused may come a thousand times a second. */
	if (s->refusal_logged_us && now_us - s->refusal_logged_us < LOG_INTERVAL_US)
		return;
	s->refusal_logged_us = now_us;
	log_warning("refused a connection of uid %u (%s, pid %d): %s; %llu refused so far", caller->uid, caller->comm,
		    (int)caller->pid, why,
		    (unsigned long long)(s->stats.refused_total + s->stats.refused_per_uid));
}

static bool admit(struct api_server *s, const struct command_caller *caller)
{
	if (s->nr_conns >= SERVER_CONNS_MAX) {
		s->stats.refused_total++;
		log_refusal(s, caller, "256 connections are open");
		return false;
	}
	if (count_uid(s, caller->uid) >= SERVER_CONNS_PER_UID) {
		s->stats.refused_per_uid++;
		log_refusal(s, caller, "that user has 64 connections");
		return false;
	}
	return true;
}

static void accepted(struct api_server *s, int fd)
{
	struct command_caller caller;
	int err;

	err = peer_read(fd, s->ops->admin_group(s->ctx), &caller);
	if (err < 0) {
		close(fd);
		log_full(LOG_DEBUG, err, "cannot read who connected");
		return;
	}
	if (!admit(s, &caller)) {
		close(fd);
		cleanup_close(&caller.pidfd);
		return;
	}
	err = conn_new(s, fd, &caller);
	if (err < 0)
		log_warning_errno(err, "cannot serve a connection of uid %u", caller.uid);
}

static int on_resume(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct api_server *s = userdata;

	(void)source;
	(void)usec;
	return sd_event_source_set_enabled(s->listen, SD_EVENT_ON);
}

/* Out of descriptors or memory: the listening socket stays readable, so looking again at once would spin. */
static void pause_accept(struct api_server *s, int err)
{
	log_warning_errno(err, "cannot accept connections, trying again in a second");
	sd_event_source_set_enabled(s->listen, SD_EVENT_OFF);
	sd_event_source_set_time_relative(s->resume, PAUSE_US);
	sd_event_source_set_enabled(s->resume, SD_EVENT_ONESHOT);
}

static int on_listen(sd_event_source *source, int listen_fd, uint32_t revents, void *userdata)
{
	struct api_server *s = userdata;
	int fd;

	(void)source;
	(void)revents;
	for (int i = 0; i < SERVER_ACCEPTS_PER_TURN; i++) {
		fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			accepted(s, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EAGAIN)
			pause_accept(s, errno);
		break;
	}
	return 0;
}

int server_accept_start(struct api_server *s)
{
	int flags = fcntl(s->listen_fd, F_GETFL), err;

	if (flags < 0 || fcntl(s->listen_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	err = sd_event_add_time_relative(s->event, &s->resume, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_US, on_resume, s);
	if (err < 0)
		return err;
	sd_event_source_set_enabled(s->resume, SD_EVENT_OFF);
	return sd_event_add_io(s->event, &s->listen, s->listen_fd, EPOLLIN, on_listen, s);
}

void server_accept_stop(struct api_server *s)
{
	s->listen = sd_event_source_disable_unref(s->listen);
	s->resume = sd_event_source_disable_unref(s->resume);
}
