/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec.h - bytes of a request -> struct command, struct reply -> bytes
 *
 * Every limit on what outsiders send is checked here, so that the rest of the
 * daemon sees only plausible values.  No gRPC, no I/O.  Loop thread only.
 */
#ifndef SCHEDD_API_CODEC_H
#define SCHEDD_API_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/arena.h"
#include "daemon/command.h"

/* Unpacking multiplies: 256 KiB of empty strings become 8 MB.  What one request may take in all. */
enum { CODEC_MEMORY_MAX = 1 << 20 };

struct codec_memory {
	size_t used_bytes;
	size_t cap_bytes;
	bool capped;              /* an allocation was refused because of the cap */
};

struct codec_request {
	struct command cmd;       /* its strings live as long as the request */
	void *message;            /* the unpacked protobuf message */
	struct codec_memory memory;
	struct arena arena;
};

/*
 * Fills *request (zeroed by the caller, to be freed whatever the result).  What
 * is wrong goes to reply: RESOURCE_EXHAUSTED or INVALID_ARGUMENT with the field.
 */
enum command_status codec_request_decode(struct codec_request *request, enum command_type type, const void *bytes,
					 size_t size, const struct command_caller *caller, struct reply *reply);
void codec_request_free(struct codec_request *request);

/* The response message of a reply whose status is OK; -ENOMEM.  Free with free(). */
int codec_reply_encode(enum command_type type, const struct reply *reply, uint8_t **ret_bytes, size_t *ret_size);

/* One message of a stream of events; -ENOMEM.  Free with free(). */
int codec_event_encode(const struct event *event, uint8_t **ret_bytes, size_t *ret_size);

/* google.rpc.Status of a reply that is not OK, at most CODEC_STATUS_MAX bytes; -ENOMEM.  Free with free(). */
enum { CODEC_STATUS_MAX = 3072, CODEC_MESSAGE_MAX = 1000 };
int codec_status_encode(const struct reply *reply, uint8_t **ret_bytes, size_t *ret_size);

/* Copies text, cut at a character's end so that it fits; returns dst. */
char *codec_message_cut(char *dst, size_t size, const char *text);

#endif
