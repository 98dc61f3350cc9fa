/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_private.h - what the codec's files share: capped memory, checks, the encoder */
#ifndef SCHEDD_API_CODEC_PRIVATE_H
#define SCHEDD_API_CODEC_PRIVATE_H

#include <protobuf-c/protobuf-c.h>

#include "api/codec.h"
#include "api/reason.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

/* ---------- codec_memory.c ---------- */

/* An allocator that counts against memory; use the same one to free. */
void codec_memory_allocator(struct codec_memory *memory, ProtobufCAllocator *ret_allocator);

/* Unpacks within cap_bytes; NULL when malformed, or when memory->capped. */
void *codec_unpack(struct codec_memory *memory, const ProtobufCMessageDescriptor *descriptor, const void *bytes,
		   size_t size);
void codec_unpack_free(struct codec_memory *memory, void *message);

/* Bytes that were asked for at p, which codec_unpack() allocated. */
size_t codec_memory_size(const void *p);

/* ---------- codec_check.c: each returns false after filling reply ---------- */

enum {
	CHECK_PATH_MAX = 4095,
	CHECK_REASON_MAX = 256,
	CHECK_UNIT_MAX = 255,
	CHECK_TOKEN_MAX = 256,
	CHECK_NAME_MAX = 253,    /* names of pods and namespaces */
	CHECK_PAGE_DEFAULT = 100,
	CHECK_PAGE_MAX = 1000,
};

/* Always false: INVALID_ARGUMENT with one field violation. */
bool check_refuse(struct reply *reply, const char *reason, const char *field, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Every string of an unpacked message, at any depth, is UTF-8 without NUL. */
bool check_strings(struct reply *reply, const ProtobufCMessage *message);

/* At most max bytes and no control characters; empty is fine. */
bool check_text(struct reply *reply, const char *field, const char *text, size_t max);
bool check_name(struct reply *reply, const char *field, const char *text, size_t max); /* and not empty */
bool check_uuid(struct reply *reply, const char *field, char *text);                   /* made lower case */
bool check_path(struct reply *reply, const char *field, const char *path);
bool check_unit(struct reply *reply, const char *field, const char *unit);
bool check_hex(struct reply *reply, const char *field, const char *text, size_t min, size_t max);
bool check_class_name(struct reply *reply, const char *field, const char *name, const char **ret_name);
bool check_enum(struct reply *reply, const char *field, const ProtobufCEnumDescriptor *descriptor, int value);
bool check_duration(struct reply *reply, const char *field, const Google__Protobuf__Duration *d, uint64_t min_ns,
		    uint64_t *ret_ns);
bool check_page(struct reply *reply, int32_t page_size, const char *page_token, struct command *cmd);

/* ASCII and C1 control characters. */
bool check_has_control(const char *text);

/* ---------- requests by noun ---------- */

bool codec_target_decode(struct codec_request *r, const Schedd__V1alpha1__Target *target, struct reply *reply);
bool codec_class_decode(struct codec_request *r, const Schedd__V1alpha1__UpsertClassRequest *m, struct reply *reply);
bool codec_watch_decode(const Schedd__V1alpha1__WatchEventsRequest *m, struct reply *reply,
			struct command_watch *ret_watch);

/* ---------- encoder: a failed allocation is remembered and nothing else is needed ---------- */

enum { ENCODER_SCRATCH = 512 };

struct encoder {
	struct arena arena;
	bool failed;
	_Alignas(16) char scratch[ENCODER_SCRATCH]; /* written instead of a message that could not be had */
};

void *encode_message(struct encoder *e, const ProtobufCMessageDescriptor *descriptor);
/* n messages and the array of pointers to them; *ret_n is n, or 0 after a failure. */
void *encode_messages(struct encoder *e, const ProtobufCMessageDescriptor *descriptor, size_t n, size_t *ret_n);
char *encode_text(struct encoder *e, const char *s);  /* NULL is ""; \xNN when it is not plain text */
char *encode_utf8(struct encoder *e, const char *s);  /* keeps line breaks: documents */
char **encode_texts(struct encoder *e, const char *const *texts, size_t n, size_t *ret_n);
Google__Protobuf__Timestamp *encode_time(struct encoder *e, uint64_t realtime_ns);     /* 0 = absent */
Google__Protobuf__Duration *encode_duration(struct encoder *e, uint64_t ns);
Google__Protobuf__UInt32Value *encode_u32(struct encoder *e, uint32_t value);
Schedd__V1alpha1__Condition **encode_conditions(struct encoder *e, const struct condition_view *views, size_t n,
						size_t *ret_n);
Schedd__V1alpha1__Target *encode_target(struct encoder *e, const struct assignment_view *view);
void encode_class(struct encoder *e, const struct class_view *view, uint64_t config_generation,
		  Schedd__V1alpha1__SchedClass *m);
Schedd__V1alpha1__SchedClass **encode_classes(struct encoder *e, const struct class_view *views, size_t n,
					      uint64_t config_generation, size_t *ret_n);
Schedd__V1alpha1__Decision **encode_decisions(struct encoder *e, const struct decision_view *views, size_t n,
					      size_t *ret_n);

/* Packs into malloc'ed bytes and frees the encoder; -ENOMEM. */
int encode_finish(struct encoder *e, const ProtobufCMessage *message, uint8_t **ret_bytes, size_t *ret_size);

#endif
