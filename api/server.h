/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the gRPC server: accepts, names the caller, hands commands to the loop
 *
 * One grpc_server per accepted connection, all on one completion queue; one
 * thread waits on it and hands {tag, ok} to the loop.  Everything else runs on
 * the loop's thread.
 */
#ifndef SCHEDD_API_SERVER_H
#define SCHEDD_API_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "daemon/command.h"

struct api_server;

struct api_server_ops {
	/* Runs in the loop.  reply is zeroed, freed by the server. */
	void (*run)(void *ctx, const struct command *cmd, struct reply *reply);
	/*
	 * A reply that run() left with something to wait for: true when *reply is to be sent
	 * now, which it must be when deadline_passed.  Asked by api_server_resume().
	 */
	bool (*resume)(void *ctx, const struct command_wait *wait, bool deadline_passed, struct reply *reply);
	/* For grpc.health.v1: of the service schedd.v1alpha1.Scheduler; overall is SERVING while we answer. */
	bool (*scheduler_serving)(void *ctx);
	/* Members are admin beside root; (gid_t)-1 = none.  Asked at each accept. */
	gid_t (*admin_group)(void *ctx);
	/*
	 * The next event of a stream that run() put into its reply; false: none before CLOCK_MONOTONIC is
	 * at *ret_again_us, or api_server_events_changed() was called.
	 */
	bool (*next_event)(void *ctx, struct event_stream *stream, struct event *ret_event, uint64_t *ret_again_us);
	void (*close_events)(void *ctx, struct event_stream *stream);
};

struct api_server_stats {
	struct {
		uint64_t requests;
		uint64_t failures[17];    /* by gRPC status code */
	} methods[NR_COMMANDS];
	double request_seconds_sum;
	uint64_t request_seconds_count;
	uint32_t queue_length, connections;
	uint64_t refused_total, refused_per_uid, closed_idle;
	uint64_t queue_thread_turns;      /* advances at least every 5 s: part of the watchdog test */
};

/* listen_fd: a listening AF_UNIX stream socket, taken. Call after signals are blocked. */
int api_server_new(sd_event *event, int listen_fd, const struct api_server_ops *ops, void *ctx,
		   struct api_server **ret_server);
/* Tells health watchers NOT_SERVING, lets running calls end for at most grace_ms, then cancels, and joins. */
void api_server_free(struct api_server *s, unsigned int grace_ms);
void api_server_get_stats(const struct api_server *s, struct api_server_stats *ret_stats);
/* What replies wait for may have happened: each is asked.  Not to be called from run() or resume(). */
void api_server_resume(struct api_server *s);
uint32_t api_server_nr_waiting(const struct api_server *s);
void api_server_health_changed(struct api_server *s); /* scheduler_serving() may answer differently now */
void api_server_events_changed(struct api_server *s); /* next_event() may give one now; cheap */

#endif
