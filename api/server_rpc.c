/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_rpc.c - the life of a call: from gRPC's announcement to the status, whatever it is about */
#include <errno.h>
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/codec.h"
#include "api/server_private.h"
#include "daemon/base/cleanup.h"

#define DETAILS_KEY "grpc-status-details-bin"

/* ---------- references ---------- */

static void unlink_rpc(struct rpc *rpc)
{
	struct conn *c = rpc->conn;

	if (rpc->prev)
		rpc->prev->next = rpc->next;
	else
		c->rpcs = rpc->next;
	if (rpc->next)
		rpc->next->prev = rpc->prev;
	c->server->nr_rpcs--;
	c->server->nr_streams -= rpc->counted_stream;
}

void rpc_unref(struct rpc *rpc)
{
	struct conn *c = rpc->conn;

	if (--rpc->refs)
		return;
	if (rpc->call)
		unlink_rpc(rpc);
	grpc_call_details_destroy(&rpc->details);
	grpc_metadata_array_destroy(&rpc->metadata);
	if (rpc->request)
		grpc_byte_buffer_destroy(rpc->request);
	if (rpc->call)
		grpc_call_unref(rpc->call);
	free(rpc);
	conn_unref(c);
}

/* A batch that cannot start ends like one that failed, so that each has one way out. */
static void start_batch(struct rpc *rpc, const grpc_op *ops, size_t nr_ops, struct tag *tag)
{
	rpc->refs++;
	if (grpc_call_start_batch(rpc->call, ops, nr_ops, tag, NULL) != GRPC_CALL_OK)
		server_push_tag(rpc->conn->server, tag, false);
}

/* ---------- request ---------- */

void rpc_receive(struct rpc *rpc, uint64_t timeout_us)
{
	grpc_op op = { .op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &rpc->request };

	rpc->receiving = true;
	rpc->receive_until_us = server_now_us() + timeout_us;
	conn_watch_receive(rpc->conn, rpc->receive_until_us);
	start_batch(rpc, &op, 1, &rpc->t_receive);
}

static void on_receive(struct tag *tag, bool ok)
{
	struct rpc *rpc = tag_owner(tag, struct rpc, t_receive);

	(void)ok; /* without a message there is no buffer either */
	rpc->receiving = false;
	rpc->receive_until_us = 0;
	if (rpc->answered)
		; /* refused meanwhile */
	else if (rpc_is_command(rpc))
		command_received(rpc);
	else
		stream_received(rpc);
	rpc_unref(rpc);
}

uint8_t *rpc_take_request(struct rpc *rpc, size_t *ret_size)
{
	grpc_byte_buffer *buffer = TAKE_PTR(rpc->request);
	grpc_byte_buffer_reader reader;
	uint8_t *bytes = NULL;
	grpc_slice slice;

	if (!buffer)
		return NULL;
	if (grpc_byte_buffer_reader_init(&reader, buffer)) {
		slice = grpc_byte_buffer_reader_readall(&reader);
		bytes = malloc(GRPC_SLICE_LENGTH(slice) + 1);
		if (bytes) {
			memcpy(bytes, GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice));
			*ret_size = GRPC_SLICE_LENGTH(slice);
		}
		grpc_slice_unref(slice);
		grpc_byte_buffer_reader_destroy(&reader);
	}
	grpc_byte_buffer_destroy(buffer);
	return bytes;
}

/* ---------- answer ---------- */

static void count_answer(struct rpc *rpc, unsigned int status)
{
	struct api_server_stats *stats = &rpc->conn->server->stats;

	if (!rpc_is_command(rpc))
		return;
	/* A watch ends when its caller has seen enough: that is no failure, and its length no time to an answer. */
	if (rpc->kind == RPC_WATCH && status == GRPC_STATUS_CANCELLED)
		return;
	if (status && status < ARRAY_SIZE(stats->methods[0].failures))
		stats->methods[rpc->type].failures[status]++;
	if (rpc->kind == RPC_WATCH)
		return;
	stats->request_seconds_sum += (double)(server_now_us() - rpc->begin_us) / 1e6;
	stats->request_seconds_count++;
}

static size_t add_greeting(struct rpc *rpc, grpc_op *ops)
{
	if (rpc->greeted)
		return 0;
	rpc->greeted = true;
	ops[0] = (grpc_op){ .op = GRPC_OP_SEND_INITIAL_METADATA };
	return 1;
}

static grpc_byte_buffer *take_bytes(uint8_t *bytes, size_t size)
{
	grpc_slice slice = grpc_slice_from_copied_buffer((const char *)bytes, size);
	grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);

	grpc_slice_unref(slice);
	free(bytes);
	return buffer;
}

void rpc_send(struct rpc *rpc, uint8_t *bytes, size_t size)
{
	grpc_byte_buffer *buffer = take_bytes(bytes, size);
	grpc_op ops[2];
	size_t n = add_greeting(rpc, ops);

	ops[n++] = (grpc_op){ .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = buffer };
	rpc->sending = true;
	start_batch(rpc, ops, n, &rpc->t_send);
	grpc_byte_buffer_destroy(buffer);
}

static void on_send(struct tag *tag, bool ok)
{
	struct rpc *rpc = tag_owner(tag, struct rpc, t_send);

	rpc->sending = false;
	rpc->closed |= !ok;
	if (rpc->kind == RPC_WATCH)
		watch_sent(rpc);
	else if (!rpc->answered)
		stream_sent(rpc);
	rpc_unref(rpc);
}

void rpc_finish(struct rpc *rpc, uint8_t *bytes, size_t size)
{
	grpc_byte_buffer *buffer = bytes ? take_bytes(bytes, size) : NULL;
	grpc_op ops[3];
	size_t n = add_greeting(rpc, ops);

	if (buffer)
		ops[n++] = (grpc_op){ .op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = buffer };
	ops[n++] = (grpc_op){ .op = GRPC_OP_SEND_STATUS_FROM_SERVER,
			      .data.send_status_from_server.status = GRPC_STATUS_OK };
	rpc->answered = true;
	count_answer(rpc, GRPC_STATUS_OK);
	start_batch(rpc, ops, n, &rpc->t_status);
	if (buffer)
		grpc_byte_buffer_destroy(buffer);
	rpc_unref(rpc);
}

void rpc_finish_status(struct rpc *rpc, const struct reply *reply)
{
	char text[CODEC_MESSAGE_MAX];
	_cleanup_free_ uint8_t *bytes = NULL;
	grpc_metadata details = { .key = grpc_slice_from_static_string(DETAILS_KEY) };
	grpc_slice message;
	size_t size = 0;
	grpc_op ops[2];
	size_t n = add_greeting(rpc, ops);

	codec_message_cut(text, sizeof(text), reply->message ? reply->message : "");
	message = grpc_slice_from_copied_string(text);
	ops[n] = (grpc_op){ .op = GRPC_OP_SEND_STATUS_FROM_SERVER };
	ops[n].data.send_status_from_server.status = (grpc_status_code)reply->status;
	ops[n].data.send_status_from_server.status_details = &message;
	/* The code and the text say it too: without memory for the details they go alone. */
	if (codec_status_encode(reply, &bytes, &size) == 0) {
		details.value = grpc_slice_from_copied_buffer((const char *)bytes, size);
		ops[n].data.send_status_from_server.trailing_metadata_count = 1;
		ops[n].data.send_status_from_server.trailing_metadata = &details;
	}
	rpc->answered = true;
	count_answer(rpc, reply->status);
	start_batch(rpc, ops, n + 1, &rpc->t_status);
	grpc_slice_unref(message);
	if (bytes)
		grpc_slice_unref(details.value);
	rpc_unref(rpc);
}

void rpc_fail(struct rpc *rpc, enum command_status status, const char *reason, const char *format, ...)
{
	struct reply reply = {};
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	reply_fail(&reply, status, reason, "%s", text);
	rpc_finish_status(rpc, &reply);
	reply_free(&reply);
}

static void on_status(struct tag *tag, bool ok)
{
	(void)ok;
	rpc_unref(tag_owner(tag, struct rpc, t_status));
}

/* ---------- begin and end ---------- */

/* Comes exactly once for each call: after our status, or when the client is gone. */
static void on_close(struct tag *tag, bool ok)
{
	struct rpc *rpc = tag_owner(tag, struct rpc, t_close);

	(void)ok;
	rpc->closed = true;
	/* An idle watch has nothing in flight that would tell it. */
	if (rpc->kind == RPC_HEALTH_WATCH && !rpc->answered && !rpc->sending && !rpc->receiving)
		stream_sent(rpc);
	else if (rpc->kind == RPC_WATCH)
		watch_closed(rpc);
	if (rpc->waiting)
		wait_closed(rpc);
	rpc_unref(rpc);
}

static uint64_t deadline_us(gpr_timespec deadline)
{
	gpr_timespec at = gpr_convert_clock_type(deadline, GPR_CLOCK_MONOTONIC);

	if (gpr_time_cmp(at, gpr_inf_future(GPR_CLOCK_MONOTONIC)) == 0)
		return UINT64_MAX;
	return at.tv_sec < 0 ? 0 : (uint64_t)at.tv_sec * 1000000 + (uint64_t)at.tv_nsec / 1000;
}

static void link_rpc(struct rpc *rpc)
{
	struct conn *c = rpc->conn;

	rpc->next = c->rpcs;
	if (rpc->next)
		rpc->next->prev = rpc;
	c->rpcs = rpc;
	c->server->nr_rpcs++;
}

static void find_method(struct rpc *rpc)
{
	static const struct {
		const char *path;
		enum rpc_kind kind;
	} others[] = {
		{ "/grpc.health.v1.Health/Check", RPC_HEALTH_CHECK },
		{ "/grpc.health.v1.Health/List", RPC_HEALTH_LIST },
		{ "/grpc.health.v1.Health/Watch", RPC_HEALTH_WATCH },
		{ "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", RPC_REFLECTION },
		{ "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", RPC_REFLECTION },
	};
	static const char prefix[] = "/schedd.v1alpha1.Scheduler/";
	size_t n = sizeof(prefix) - 1, size = GRPC_SLICE_LENGTH(rpc->details.method);
	const char *method = (const char *)GRPC_SLICE_START_PTR(rpc->details.method);

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (grpc_slice_str_cmp(rpc->details.method, others[i].path) == 0)
			rpc->kind = others[i].kind;
	if (size < n || memcmp(method, prefix, n))
		return;
	for (unsigned int i = 0; i < NR_COMMANDS; i++) {
		const char *name = command_name((enum command_type)i);

		if (strlen(name) == size - n && !memcmp(method + n, name, size - n)) {
			rpc->kind = i == COMMAND_WATCH_EVENTS ? RPC_WATCH : RPC_COMMAND;
			rpc->type = (enum command_type)i;
		}
	}
}

/* What can be refused without looking at the request is refused without receiving it. */
static bool refuse_early(struct rpc *rpc)
{
	struct api_server *s = rpc->conn->server;

	if (s->stopping)
		rpc_fail(rpc, COMMAND_UNAVAILABLE, API_REASON_STOPPING, "schedd is stopping; try again");
	else if (rpc->kind == RPC_UNKNOWN)
		rpc_fail(rpc, COMMAND_UNIMPLEMENTED, API_REASON_UNKNOWN_METHOD,
			 "no such method; server reflection lists what there is");
	else if (rpc_is_command(rpc) && command_needs_role(rpc->type) > rpc->conn->caller.role)
		rpc_fail(rpc, COMMAND_PERMISSION_DENIED, REASON(ROLE_MISSING),
			 "%s: uid %u may only look; ask as root or as a member of the group of the socket",
			 command_name(rpc->type), rpc->conn->caller.uid);
	else if ((rpc->kind == RPC_HEALTH_WATCH || rpc->kind == RPC_REFLECTION) && s->nr_streams >= SERVER_STREAMS_MAX)
		rpc_fail(rpc, COMMAND_RESOURCE_EXHAUSTED, API_REASON_TOO_MANY_STREAMS,
			 "%d health watches and reflection streams are open; end one of them", SERVER_STREAMS_MAX);
	return rpc->answered;
}

static void begin(struct rpc *rpc)
{
	struct api_server *s = rpc->conn->server;
	grpc_op op = { .op = GRPC_OP_RECV_CLOSE_ON_SERVER, .data.recv_close_on_server.cancelled = &rpc->cancelled };

	link_rpc(rpc);
	rpc->begin_us = server_now_us();
	rpc->deadline_us = deadline_us(rpc->details.deadline);
	find_method(rpc);
	if (rpc_is_command(rpc))
		s->stats.methods[rpc->type].requests++;
	start_batch(rpc, &op, 1, &rpc->t_close);
	if (refuse_early(rpc))
		return;
	if (rpc->kind == RPC_HEALTH_WATCH || rpc->kind == RPC_REFLECTION) {
		rpc->counted_stream = true;
		s->nr_streams++;
	}
	rpc_receive(rpc, rpc->kind == RPC_REFLECTION ? s->reflect_us : s->receive_us);
}

static void on_new(struct tag *tag, bool ok)
{
	struct rpc *rpc = tag_owner(tag, struct rpc, t_new);
	struct conn *c = rpc->conn;

	if (!ok) {
		rpc_unref(rpc); /* the server is going away, there is no call */
		return;
	}
	c->begun = true;
	/* Without one that waits, the next call of this connection would never be seen. */
	if (!c->closing && rpc_arm(c) < 0)
		conn_close(c, true);
	begin(rpc);
}

int rpc_arm(struct conn *c)
{
	struct rpc *rpc = calloc(1, sizeof(*rpc));

	if (!rpc)
		return -ENOMEM;
	rpc->conn = c;
	c->refs++;
	rpc->refs = 1;
	rpc->t_new.fn = on_new;
	rpc->t_close.fn = on_close;
	rpc->t_receive.fn = on_receive;
	rpc->t_send.fn = on_send;
	rpc->t_status.fn = on_status;
	grpc_call_details_init(&rpc->details);
	grpc_metadata_array_init(&rpc->metadata);
	if (grpc_server_request_call(c->grpc, &rpc->call, &rpc->details, &rpc->metadata, c->server->cq, c->server->cq,
				     &rpc->t_new) == GRPC_CALL_OK)
		return 0;
	rpc_unref(rpc);
	return -EIO;
}
