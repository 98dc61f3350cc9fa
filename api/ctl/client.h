/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.h - one connection to schedd, unary calls and streams
 *
 * The only file of schedctl that knows gRPC is client.c.  The socket is
 * connected here and handed to gRPC afterwards, so that a failure is an exact
 * errno and not a sentence of a library.
 */
#ifndef SCHEDD_CTL_CLIENT_H
#define SCHEDD_CTL_CLIENT_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct client;

struct client_detail {         /* a field at fault, or a candidate of an ambiguous target */
	char *field, *description;
};

/* What the daemon said besides the status; all NULL and 0 when it said nothing. */
struct client_error {
	char *message;
	char *reason;          /* ErrorInfo.reason */
	struct client_detail *details;
	size_t nr_details;
	uint64_t retry_ns;     /* RetryInfo; 0 = none */
};

/* gRPC's numbers, for callers that must not include grpc.h. */
enum client_status {
	CLIENT_OK = 0,
	CLIENT_INVALID_ARGUMENT = 3,
	CLIENT_DEADLINE_EXCEEDED = 4,
	CLIENT_NOT_FOUND = 5,
	CLIENT_ALREADY_EXISTS = 6,
	CLIENT_PERMISSION_DENIED = 7,
	CLIENT_RESOURCE_EXHAUSTED = 8,
	CLIENT_FAILED_PRECONDITION = 9,
	CLIENT_ABORTED = 10,
	CLIENT_OUT_OF_RANGE = 11,
	CLIENT_UNIMPLEMENTED = 12,
	CLIENT_UNAVAILABLE = 14,
	CLIENT_UNAUTHENTICATED = 16,
};

/* -errno of socket() or connect(); -EAGAIN: the daemon did not accept within the timeout. */
int client_connect(const char *socket_path, uint64_t timeout_ns, struct client **ret_client);
void client_free(struct client *c);
static inline void client_freep(struct client **c)
{
	client_free(*c);
}

/*
 * Calls a method of a generated service.  0 with *ret_reply (free it with
 * protobuf_c_message_free_unpacked), -errno for trouble on this side, or a
 * status above 0 with *ret_error filled, which client_error_free() empties.
 */
int client_call(struct client *c, const ProtobufCServiceDescriptor *service, const char *method,
		const ProtobufCMessage *request, uint64_t timeout_ns, ProtobufCMessage **ret_reply,
		struct client_error *ret_error);
void client_error_free(struct client_error *e);

/*
 * A call that is answered with many messages.  timeout_ns is for the whole of
 * it; 0: it has no end.  -errno.
 */
struct client_stream;
int client_stream_open(struct client *c, const ProtobufCServiceDescriptor *service, const char *method,
		       const ProtobufCMessage *request, uint64_t timeout_ns, struct client_stream **ret_stream);
/*
 * The next message: 0 with *ret_message, -ETIMEDOUT when none came within
 * timeout_ns (0: wait for ever), -ENODATA when the daemon ended the stream, or a status
 * as client_call() gives it; after the last two there is nothing more.
 */
int client_stream_next(struct client_stream *s, uint64_t timeout_ns, ProtobufCMessage **ret_message,
		       struct client_error *ret_error);
void client_stream_free(struct client_stream *s); /* ends it, when it has not ended */
static inline void client_stream_freep(struct client_stream **s)
{
	client_stream_free(*s);
}

/* The details of an error (a packed google.rpc.Status) into ret_error; for client.c and tests. */
void client_read_details(const uint8_t *data, size_t length, struct client_error *ret_error);

#endif
