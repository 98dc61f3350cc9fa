/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_stream.c - grpc.health.v1 and server reflection on calls */
#include <errno.h>
#include <stdlib.h>

#include "api/server_private.h"
#include "daemon/base/cleanup.h"

static enum health_state state_of(struct api_server *s, enum health_service service)
{
	if (service == HEALTH_OTHER)
		return HEALTH_SERVICE_UNKNOWN;
	if (s->stopping)
		return HEALTH_NOT_SERVING;
	/* As long as we can answer at all, the server as a whole serves. */
	return service == HEALTH_OVERALL || s->ops->scheduler_serving(s->ctx) ? HEALTH_SERVING : HEALTH_NOT_SERVING;
}

static void fail_errno(struct rpc *rpc, int err)
{
	if (err == -EINVAL)
		rpc_fail(rpc, COMMAND_INVALID_ARGUMENT, API_REASON_MALFORMED_REQUEST,
			 "the request is not a message of the expected type");
	else if (err == -E2BIG)
		rpc_fail(rpc, COMMAND_RESOURCE_EXHAUSTED, API_REASON_REQUEST_TOO_BIG,
			 "the request needs too much memory when unpacked");
	else
		rpc_fail(rpc, COMMAND_RESOURCE_EXHAUSTED, REASON(OUT_OF_MEMORY), "no memory for the answer");
}

static void check_health(struct rpc *rpc)
{
	uint8_t *answer = NULL;
	size_t size = 0;
	int err;

	if (rpc->service == HEALTH_OTHER) {
		rpc_fail(rpc, COMMAND_NOT_FOUND, API_REASON_UNKNOWN_SERVICE,
			 "no such service here; Health/List names those there are");
		return;
	}
	err = health_response_encode(state_of(rpc->conn->server, rpc->service), &answer, &size);
	if (err < 0)
		fail_errno(rpc, err);
	else
		rpc_finish(rpc, answer, size);
}

static void list_health(struct rpc *rpc)
{
	struct api_server *s = rpc->conn->server;
	uint8_t *answer = NULL;
	size_t size = 0;
	int err;

	err = health_list_encode(state_of(s, HEALTH_OVERALL), state_of(s, HEALTH_SCHEDULER), &answer, &size);
	if (err < 0)
		fail_errno(rpc, err);
	else
		rpc_finish(rpc, answer, size);
}

/* Sends what changed; the next one waits until this is out, so a slow reader skips states and holds no memory. */
static void watch_health(struct rpc *rpc)
{
	enum health_state state = state_of(rpc->conn->server, rpc->service);
	uint8_t *answer = NULL;
	size_t size = 0;
	int err;

	if (state == rpc->sent_state)
		return;
	err = health_response_encode(state, &answer, &size);
	if (err < 0) {
		fail_errno(rpc, err);
		return;
	}
	rpc->sent_state = state;
	rpc_send(rpc, answer, size);
}

static void reflect(struct rpc *rpc, const uint8_t *bytes, size_t request_size)
{
	uint8_t *answer = NULL;
	size_t size = 0;
	int err;

	err = reflection_answer(rpc->conn->server->reflection, bytes, request_size, &answer, &size);
	if (err < 0)
		fail_errno(rpc, err);
	else
		rpc_send(rpc, answer, size);
}

void stream_received(struct rpc *rpc)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size = 0;
	int err = 0;

	bytes = rpc_take_request(rpc, &size);
	if (!bytes && rpc->kind == RPC_REFLECTION) {
		rpc_finish(rpc, NULL, 0); /* the client asks no more */
		return;
	}
	if (!bytes) {
		rpc_fail(rpc, COMMAND_INVALID_ARGUMENT, API_REASON_REQUEST_MISSING, "the call carried no request");
		return;
	}
	if (rpc->kind == RPC_HEALTH_CHECK || rpc->kind == RPC_HEALTH_WATCH)
		err = health_request_decode(bytes, size, &rpc->service);
	if (err < 0)
		fail_errno(rpc, err);
	else if (rpc->kind == RPC_HEALTH_CHECK)
		check_health(rpc);
	else if (rpc->kind == RPC_HEALTH_LIST)
		list_health(rpc);
	else if (rpc->kind == RPC_HEALTH_WATCH)
		watch_health(rpc);
	else
		reflect(rpc, bytes, size);
}

void stream_sent(struct rpc *rpc)
{
	struct api_server *s = rpc->conn->server;

	if (rpc->closed)
		rpc_fail(rpc, (enum command_status)GRPC_STATUS_CANCELLED, API_REASON_TOO_SLOW, "the caller is gone");
	else if (s->stopping && rpc->sent_state != HEALTH_SERVING)
		rpc_fail(rpc, COMMAND_UNAVAILABLE, API_REASON_STOPPING, "schedd is stopping; try again");
	else if (rpc->kind == RPC_HEALTH_WATCH)
		watch_health(rpc);
	else
		rpc_receive(rpc, s->reflect_us);
}

static void health_changed(struct rpc *rpc)
{
	bool stopping = rpc->conn->server->stopping;

	if (rpc->answered || rpc->sending)
		return;
	/* Whose request is still to come may ask again elsewhere or later: the end does not wait for it. */
	if (stopping && rpc->receiving)
		rpc_fail(rpc, COMMAND_UNAVAILABLE, API_REASON_STOPPING, "schedd is stopping; try again");
	if (rpc->kind != RPC_HEALTH_WATCH || rpc->receiving)
		return;
	if (stopping && rpc->sent_state != HEALTH_SERVING)
		stream_sent(rpc); /* knows already; only the end is missing */
	else
		watch_health(rpc);
}

void stream_health_changed(struct api_server *s)
{
	struct rpc *rpc, *next;

	for (struct conn *c = s->conns; c; c = c->next)
		for (rpc = c->rpcs; rpc; rpc = next) {
			next = rpc->next;
			health_changed(rpc);
		}
}
