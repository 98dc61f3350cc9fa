/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_encode.c - the encoder: messages and their parts, made in one arena */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/codec_private.h"
#include "daemon/base/str.h"

_Static_assert(sizeof(Schedd__V1alpha1__NodeStatus) <= ENCODER_SCRATCH, "the largest message fits the scratch");
_Static_assert(sizeof(Schedd__V1alpha1__SchedClass) <= ENCODER_SCRATCH, "the largest message fits the scratch");

#define NS_PER_S UINT64_C(1000000000)

void *encode_message(struct encoder *e, const ProtobufCMessageDescriptor *descriptor)
{
	void *message = arena_alloc(&e->arena, descriptor->sizeof_message);

	if (!message) {
		e->failed = true;
		message = e->scratch;
	}
	protobuf_c_message_init(descriptor, message);
	return message;
}

void *encode_messages(struct encoder *e, const ProtobufCMessageDescriptor *descriptor, size_t n, size_t *ret_n)
{
	void **list = n ? arena_array(&e->arena, void *, n) : NULL;

	*ret_n = list ? n : 0;
	e->failed |= n && !list;
	for (size_t i = 0; i < *ret_n; i++)
		list[i] = encode_message(e, descriptor);
	return list;
}

static char *keep(struct encoder *e, char *s)
{
	if (s)
		return s;
	e->failed = true;
	e->scratch[0] = '\0';
	return e->scratch;
}

static char *escaped(struct encoder *e, const char *s)
{
	size_t size = 4 * strlen(s) + 1;
	char *copy = arena_alloc(&e->arena, size);

	return keep(e, copy ? str_escape(copy, size, s) : NULL);
}

/*
 * Plain text stays as it is, so that what is shown can be used again: a
 * systemd unit's cgroup often has a backslash in its name.
 */
char *encode_text(struct encoder *e, const char *s)
{
	if (!s)
		s = "";
	if (!str_is_utf8(s) || check_has_control(s))
		return escaped(e, s);
	return keep(e, arena_strdup(&e->arena, s));
}

char *encode_utf8(struct encoder *e, const char *s)
{
	if (!s)
		s = "";
	return str_is_utf8(s) ? keep(e, arena_strdup(&e->arena, s)) : escaped(e, s);
}

char **encode_texts(struct encoder *e, const char *const *texts, size_t n, size_t *ret_n)
{
	char **list = n ? arena_array(&e->arena, char *, n) : NULL;

	*ret_n = list ? n : 0;
	e->failed |= n && !list;
	for (size_t i = 0; i < *ret_n; i++)
		list[i] = encode_text(e, texts[i]);
	return list;
}

Google__Protobuf__Timestamp *encode_time(struct encoder *e, uint64_t realtime_ns)
{
	Google__Protobuf__Timestamp *m;

	if (!realtime_ns)
		return NULL;
	m = encode_message(e, &google__protobuf__timestamp__descriptor);
	m->seconds = (int64_t)(realtime_ns / NS_PER_S);
	m->nanos = (int32_t)(realtime_ns % NS_PER_S);
	return m;
}

Google__Protobuf__Duration *encode_duration(struct encoder *e, uint64_t ns)
{
	Google__Protobuf__Duration *m = encode_message(e, &google__protobuf__duration__descriptor);

	m->seconds = (int64_t)(ns / NS_PER_S);
	m->nanos = (int32_t)(ns % NS_PER_S);
	return m;
}

Google__Protobuf__UInt32Value *encode_u32(struct encoder *e, uint32_t value)
{
	Google__Protobuf__UInt32Value *m = encode_message(e, &google__protobuf__uint32_value__descriptor);

	m->value = value;
	return m;
}

Schedd__V1alpha1__Condition **encode_conditions(struct encoder *e, const struct condition_view *views, size_t n,
						size_t *ret_n)
{
	Schedd__V1alpha1__Condition **list = encode_messages(e, &schedd__v1alpha1__condition__descriptor, n, ret_n);

	for (size_t i = 0; i < *ret_n; i++) {
		list[i]->type = encode_text(e, views[i].type);
		list[i]->status = (Schedd__V1alpha1__Condition__State)views[i].status;
		list[i]->reason = encode_text(e, views[i].reason);
		list[i]->message = encode_text(e, views[i].message);
		list[i]->last_transition_time = encode_time(e, views[i].last_transition_realtime_ns);
	}
	return list;
}

int encode_finish(struct encoder *e, const ProtobufCMessage *message, uint8_t **ret_bytes, size_t *ret_size)
{
	uint8_t *bytes = NULL;
	size_t size = 0;

	if (!e->failed) {
		size = protobuf_c_message_get_packed_size(message);
		bytes = malloc(size + 1);
	}
	if (bytes)
		protobuf_c_message_pack(message, bytes);
	arena_free(&e->arena);
	if (!bytes)
		return -ENOMEM;
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}
