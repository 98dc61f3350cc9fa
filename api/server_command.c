/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_command.c - the bounded queue of commands, and how one is run */
#include <stdlib.h>

#include "api/codec.h"
#include "api/server_private.h"
#include "daemon/base/cleanup.h"

static void enqueue(struct rpc *rpc)
{
	struct api_server *s = rpc->conn->server;

	rpc->queue_next = NULL;
	*s->queue_tail = rpc;
	s->queue_tail = &rpc->queue_next;
	s->stats.queue_length++;
	sd_event_source_set_enabled(s->run, SD_EVENT_ON);
}

static struct rpc *dequeue(struct api_server *s)
{
	struct rpc *rpc = s->queue;

	if (!rpc)
		return NULL;
	s->queue = rpc->queue_next;
	if (!s->queue)
		s->queue_tail = &s->queue;
	s->stats.queue_length--;
	return rpc;
}

/* Those who may only look cannot keep out those who must act. */
static uint32_t queue_limit(const struct rpc *rpc)
{
	const struct api_server *s = rpc->conn->server;

	return rpc->conn->caller.role > ROLE_VIEW ? s->queue_max : s->queue_max / 2;
}

void command_received(struct rpc *rpc)
{
	struct api_server *s = rpc->conn->server;

	/* Half-closed without a message, or the client is gone: never a default request. */
	if (!rpc->request)
		rpc_fail(rpc, COMMAND_INVALID_ARGUMENT, API_REASON_REQUEST_MISSING, "%s: the call carried no request",
			 command_name(rpc->type));
	else if (s->stats.queue_length >= queue_limit(rpc))
		rpc_fail(rpc, COMMAND_UNAVAILABLE, API_REASON_QUEUE_FULL, "%s: %u calls are waiting; try again",
			 command_name(rpc->type), s->stats.queue_length);
	else
		enqueue(rpc);
}

/* Before anything is ordered: what could not be told would be asked for again. */
static bool has_place_to_wait(const struct api_server *s, const struct command *cmd, struct reply *reply)
{
	if (cmd->wait_for <= LEASE_WAIT_ACCEPTED || s->nr_waiting < s->waiting_max)
		return true;
	reply_fail(reply, COMMAND_UNAVAILABLE, API_REASON_TOO_MANY_WAITERS,
		   "%s: %u calls wait for CPUs already; try again, or do not wait (wait_for ACCEPTED)",
		   command_name(cmd->type), s->nr_waiting);
	return false;
}

static void run_request(struct rpc *rpc, const uint8_t *bytes, size_t size, struct reply *reply)
{
	struct api_server *s = rpc->conn->server;
	struct codec_request request = {};

	if (codec_request_decode(&request, rpc->type, bytes, size, &rpc->conn->caller, reply) == COMMAND_OK &&
	    has_place_to_wait(s, &request.cmd, reply)) {
		request.cmd.age_ns = (server_now_us() - rpc->begin_us) * 1000;
		s->ops->run(s->ctx, &request.cmd, reply);
	}
	codec_request_free(&request);
}

void command_answer(struct rpc *rpc, struct reply *reply)
{
	uint8_t *answer = NULL;
	size_t size = 0;

	if (reply->status == COMMAND_OK && codec_reply_encode(rpc->type, reply, &answer, &size) < 0)
		reply_fail(reply, COMMAND_RESOURCE_EXHAUSTED, REASON(OUT_OF_MEMORY),
			   "%s was done, but there is no memory for the answer", command_name(rpc->type));
	if (answer)
		rpc_finish(rpc, answer, size);
	else
		rpc_finish_status(rpc, reply);
}

static void run_command(struct rpc *rpc)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct reply reply = {};
	size_t size = 0;

	bytes = rpc_take_request(rpc, &size);
	if (bytes)
		run_request(rpc, bytes, size, &reply);
	else
		reply_fail(&reply, COMMAND_RESOURCE_EXHAUSTED, REASON(OUT_OF_MEMORY), "no memory for the request");
	if (reply.status == COMMAND_OK && reply.stream) {
		watch_begin(rpc, reply.stream);
		reply_free(&reply);
		return;
	}
	if (reply.status == COMMAND_OK && reply.wait.wait_for > LEASE_WAIT_ACCEPTED)
		wait_begin(rpc, &reply.wait);
	else
		command_answer(rpc, &reply);
	reply_free(&reply);
}

/* Nobody waits for the answer of these, and a change that its caller gave up must not happen. */
static bool drop_dead(struct rpc *rpc)
{
	if (server_now_us() >= rpc->deadline_us)
		rpc_fail(rpc, COMMAND_DEADLINE_EXCEEDED, API_REASON_TOO_SLOW,
			 "%s: the deadline passed while the call waited; it was not run", command_name(rpc->type));
	else if (rpc->closed)
		rpc_fail(rpc, (enum command_status)GRPC_STATUS_CANCELLED, API_REASON_TOO_SLOW,
			 "%s: the caller is gone; it was not run", command_name(rpc->type));
	else if (rpc->conn->server->stopping)
		rpc_fail(rpc, COMMAND_UNAVAILABLE, API_REASON_STOPPING, "schedd is stopping; try again");
	return rpc->answered;
}

void command_run_queue(struct api_server *s, unsigned int max)
{
	struct rpc *rpc;

	while (max-- && (rpc = dequeue(s))) {
		if (!drop_dead(rpc))
			run_command(rpc);
	}
	if (!s->queue)
		sd_event_source_set_enabled(s->run, SD_EVENT_OFF);
}
