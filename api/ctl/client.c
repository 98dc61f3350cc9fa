// SPDX-License-Identifier: GPL-2.0-or-later
/* client.c - one connection to schedd, unary calls and streams over gRPC's C core */
#include "api/ctl/client.h"

#include <errno.h>
#include <fcntl.h>
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

enum { MAX_REPLY_BYTES = 64 << 20 }; /* a page of 1,000 cgroups whose paths have 4 KiB each is far below */

struct client {
	grpc_channel *channel;
	grpc_completion_queue *queue;
};

/* ---------- connecting ---------- */

/* A listening socket whose backlog is full makes connect() wait for as long as SO_SNDTIMEO says. */
static int connect_unix(const char *path, uint64_t timeout_ns, int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval timeout = { .tv_sec = (time_t)(timeout_ns / 1000000000),
				   .tv_usec = (suseconds_t)(timeout_ns / 1000 % 1000000) };
	_cleanup_close_ int fd = -1;
	int r;

	r = str_copy(address.sun_path, sizeof(address.sun_path), path);
	if (r < 0)
		return r;
	if (!timeout.tv_sec && !timeout.tv_usec)
		timeout.tv_usec = 1; /* zero would mean for ever */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	/* gRPC reads without MSG_DONTWAIT: on a blocking descriptor its first call hangs. */
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static void drop_log(gpr_log_func_args *args)
{
	(void)args;
}

static grpc_arg integer_arg(char *key, int value)
{
	grpc_arg arg = { .type = GRPC_ARG_INTEGER, .key = key };

	arg.value.integer = value;
	return arg;
}

int client_connect(const char *socket_path, uint64_t timeout_ns, struct client **ret_client)
{
	static char retries[] = GRPC_ARG_ENABLE_RETRIES, receive[] = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
		    proxy[] = GRPC_ARG_ENABLE_HTTP_PROXY, probe[] = GRPC_ARG_HTTP2_BDP_PROBE;
	grpc_arg list[] = { integer_arg(retries, 0), integer_arg(receive, MAX_REPLY_BYTES), integer_arg(proxy, 0),
			    integer_arg(probe, 0) };
	grpc_channel_args args = { ARRAY_SIZE(list), list };
	grpc_channel_credentials *credentials;
	_cleanup_free_ struct client *c = NULL;
	int fd = -1, r;

	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	r = connect_unix(socket_path, timeout_ns, &fd);
	if (r < 0)
		return r;
	gpr_set_log_function(drop_log); /* our own errors say it better */
	grpc_init();
	c->queue = grpc_completion_queue_create_for_pluck(NULL);
	credentials = grpc_insecure_credentials_create();
	c->channel = grpc_channel_create_from_fd("localhost", fd, credentials, &args); /* owns fd from here on */
	grpc_channel_credentials_release(credentials);
	*ret_client = TAKE_PTR(c);
	return 0;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	grpc_channel_destroy(c->channel);
	grpc_completion_queue_shutdown(c->queue);
	while (grpc_completion_queue_pluck(c->queue, NULL, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type !=
	       GRPC_QUEUE_SHUTDOWN)
		;
	grpc_completion_queue_destroy(c->queue);
	grpc_shutdown_blocking(); /* else its threads may still run while the process exits */
	free(c);
}

/* ---------- any call ---------- */

static gpr_timespec after_ns(uint64_t ns)
{
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
			    gpr_time_from_nanos(ns > INT64_MAX ? INT64_MAX : (int64_t)ns, GPR_TIMESPAN));
}

struct call {
	grpc_call *call;
	grpc_metadata_array initial, trailing;
	grpc_byte_buffer *request, *reply;
	grpc_status_code status;
	grpc_slice message;
};

static void call_free(struct call *c)
{
	grpc_metadata_array_destroy(&c->initial);
	grpc_metadata_array_destroy(&c->trailing);
	if (c->request)
		grpc_byte_buffer_destroy(c->request);
	if (c->reply)
		grpc_byte_buffer_destroy(c->reply);
	grpc_slice_unref(c->message);
	if (c->call)
		grpc_call_unref(c->call);
}

static grpc_byte_buffer *pack(const ProtobufCMessage *request)
{
	grpc_slice slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(request));
	grpc_byte_buffer *buffer;

	protobuf_c_message_pack(request, GRPC_SLICE_START_PTR(slice));
	buffer = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	return buffer;
}

static int unpack(grpc_byte_buffer *buffer, const ProtobufCMessageDescriptor *type, ProtobufCMessage **ret_reply)
{
	grpc_byte_buffer_reader reader;
	ProtobufCMessage *m;
	grpc_slice slice;

	if (!grpc_byte_buffer_reader_init(&reader, buffer))
		return -EBADMSG;
	slice = grpc_byte_buffer_reader_readall(&reader);
	m = protobuf_c_message_unpack(type, NULL, GRPC_SLICE_LENGTH(slice), GRPC_SLICE_START_PTR(slice));
	grpc_slice_unref(slice);
	grpc_byte_buffer_reader_destroy(&reader);
	if (!m)
		return -EBADMSG;
	*ret_reply = m;
	return 0;
}

/* timeout_ns 0: none.  Its pieces are ready to be used and freed, whatever comes next. */
static void call_begin(struct client *client, const ProtobufCServiceDescriptor *service, const char *method,
		       const ProtobufCMessage *request, uint64_t timeout_ns, struct call *c)
{
	gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);
	grpc_slice name;
	char path[128];

	snprintf(path, sizeof(path), "/%s/%s", service->name, method);
	if (timeout_ns)
		deadline = after_ns(timeout_ns);
	c->request = pack(request);
	name = grpc_slice_from_copied_string(path);
	c->call = grpc_channel_create_call(client->channel, NULL, GRPC_PROPAGATE_DEFAULTS, client->queue, name, NULL,
					   deadline, NULL);
	grpc_slice_unref(name);
	grpc_metadata_array_init(&c->initial);
	grpc_metadata_array_init(&c->trailing);
}

static void read_error(const struct call *c, struct client_error *ret_error)
{
	size_t i;

	ret_error->message = strndup((const char *)GRPC_SLICE_START_PTR(c->message), GRPC_SLICE_LENGTH(c->message));
	for (i = 0; i < c->trailing.count; i++)
		if (!grpc_slice_str_cmp(c->trailing.metadata[i].key, "grpc-status-details-bin"))
			client_read_details(GRPC_SLICE_START_PTR(c->trailing.metadata[i].value),
					    GRPC_SLICE_LENGTH(c->trailing.metadata[i].value), ret_error);
}

static const ProtobufCMethodDescriptor *find_method(const ProtobufCServiceDescriptor *service, const char *method,
						    const ProtobufCMessage *request)
{
	const ProtobufCMethodDescriptor *m = protobuf_c_service_descriptor_get_method_by_name(service, method);

	return m && m->input == request->descriptor ? m : NULL;
}

/* ---------- one answer ---------- */

static int call_run(struct client *client, struct call *c)
{
	grpc_op ops[6] = { 0 };
	grpc_call_error error;

	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = c->request;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &c->initial;
	ops[4].op = GRPC_OP_RECV_MESSAGE;
	ops[4].data.recv_message.recv_message = &c->reply;
	ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
	ops[5].data.recv_status_on_client.trailing_metadata = &c->trailing;
	ops[5].data.recv_status_on_client.status = &c->status;
	ops[5].data.recv_status_on_client.status_details = &c->message;
	error = grpc_call_start_batch(c->call, ops, ARRAY_SIZE(ops), c, NULL);
	if (error != GRPC_CALL_OK)
		return -EIO;
	/* The deadline of the call ends this wait: the batch always completes. */
	grpc_completion_queue_pluck(client->queue, c, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
	return 0;
}

int client_call(struct client *client, const ProtobufCServiceDescriptor *service, const char *method,
		const ProtobufCMessage *request, uint64_t timeout_ns, ProtobufCMessage **ret_reply,
		struct client_error *ret_error)
{
	const ProtobufCMethodDescriptor *m = find_method(service, method, request);
	_cleanup_(call_free) struct call c = { .message = grpc_empty_slice() };
	int r;

	*ret_error = (struct client_error){ 0 };
	if (!m)
		return -EINVAL;
	call_begin(client, service, method, request, timeout_ns, &c);
	r = call_run(client, &c);
	if (r < 0)
		return r;
	if (c.status != GRPC_STATUS_OK) {
		read_error(&c, ret_error);
		return (int)c.status;
	}
	return c.reply ? unpack(c.reply, m->output, ret_reply) : -EBADMSG;
}

/* ---------- many answers ---------- */

/* The tag of each batch is the address of what it fills; those under way must be waited for before the end. */
struct client_stream {
	struct client *client;
	const ProtobufCMethodDescriptor *method;
	struct call call;
	bool sending, receiving, waiting; /* under way: request, message, status */
};

static bool wait_for(struct client_stream *s, void *tag, gpr_timespec until, bool *under_way)
{
	if (*under_way && grpc_completion_queue_pluck(s->client->queue, tag, until, NULL).type == GRPC_OP_COMPLETE)
		*under_way = false;
	return !*under_way;
}

static int stream_start(struct client_stream *s)
{
	struct call *c = &s->call;
	grpc_op status = { .op = GRPC_OP_RECV_STATUS_ON_CLIENT }, ops[4] = { 0 };

	status.data.recv_status_on_client.trailing_metadata = &c->trailing;
	status.data.recv_status_on_client.status = &c->status;
	status.data.recv_status_on_client.status_details = &c->message;
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[1].op = GRPC_OP_SEND_MESSAGE;
	ops[1].data.send_message.send_message = c->request;
	ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[3].data.recv_initial_metadata.recv_initial_metadata = &c->initial;
	s->waiting = grpc_call_start_batch(c->call, &status, 1, &c->status, NULL) == GRPC_CALL_OK;
	s->sending = grpc_call_start_batch(c->call, ops, ARRAY_SIZE(ops), &c->initial, NULL) == GRPC_CALL_OK;
	return s->waiting && s->sending ? 0 : -EIO;
}

int client_stream_open(struct client *client, const ProtobufCServiceDescriptor *service, const char *method,
		       const ProtobufCMessage *request, uint64_t timeout_ns, struct client_stream **ret_stream)
{
	_cleanup_(client_stream_freep) struct client_stream *s = NULL;
	int r;

	if (!find_method(service, method, request))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->client = client;
	s->method = find_method(service, method, request);
	s->call.message = grpc_empty_slice();
	call_begin(client, service, method, request, timeout_ns, &s->call);
	r = stream_start(s);
	if (r < 0)
		return r;
	*ret_stream = TAKE_PTR(s);
	return 0;
}

int client_stream_next(struct client_stream *s, uint64_t timeout_ns, ProtobufCMessage **ret_message,
		       struct client_error *ret_error)
{
	gpr_timespec forever = gpr_inf_future(GPR_CLOCK_MONOTONIC);
	struct call *c = &s->call;
	grpc_op op = { .op = GRPC_OP_RECV_MESSAGE };
	int r;

	*ret_error = (struct client_error){ 0 };
	op.data.recv_message.recv_message = &c->reply;
	if (!s->receiving)
		s->receiving = grpc_call_start_batch(c->call, &op, 1, &c->reply, NULL) == GRPC_CALL_OK;
	if (!s->receiving)
		return -EIO;
	if (!wait_for(s, &c->reply, timeout_ns ? after_ns(timeout_ns) : forever, &s->receiving))
		return -ETIMEDOUT;
	if (c->reply) {
		r = unpack(c->reply, s->method->output, ret_message);
		grpc_byte_buffer_destroy(TAKE_PTR(c->reply));
		return r;
	}
	wait_for(s, &c->status, forever, &s->waiting);
	if (c->status == GRPC_STATUS_OK)
		return -ENODATA;
	read_error(c, ret_error);
	return (int)c->status;
}

void client_stream_free(struct client_stream *s)
{
	gpr_timespec forever = gpr_inf_future(GPR_CLOCK_MONOTONIC);

	if (!s)
		return;
	/* Completes what is under way; has no effect on a call that is over. */
	grpc_call_cancel(s->call.call, NULL);
	wait_for(s, &s->call.initial, forever, &s->sending);
	wait_for(s, &s->call.reply, forever, &s->receiving);
	wait_for(s, &s->call.status, forever, &s->waiting);
	call_free(&s->call);
	free(s);
}
