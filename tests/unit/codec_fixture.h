/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_fixture.h - decoding in tests: one request at a time, and what must become of it */
#ifndef SCHEDD_TEST_CODEC_FIXTURE_H
#define SCHEDD_TEST_CODEC_FIXTURE_H

#include "api/codec_private.h"

#define MSG(name) Schedd__V1alpha1__##name
#define UUID "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"

/* Of the last decode; freed by the next one and by codec_teardown(). */
extern struct codec_request request;
extern struct reply reply;

enum command_status decode_bytes(enum command_type type, const void *bytes, size_t size);
enum command_status decode(enum command_type type, const void *message);

/* Fail the test otherwise.  refused: INVALID_ARGUMENT, with that field named in message and violation. */
void accepted(enum command_type type, const void *message);
void refused_as(enum command_type type, const void *message, const char *field, const char *reason);
void refused(enum command_type type, const void *message, const char *field); /* as INVALID_VALUE */
int codec_teardown(void **state);

/* A valid SetClass to spoil. */
struct set_class {
	MSG(SetClassRequest) m;
	MSG(Change) change;
	MSG(Target) target;
	Google__Protobuf__Duration ttl;
};
void set_class_init(struct set_class *s);

/* A valid UpsertClass to spoil. */
struct upsert {
	MSG(UpsertClassRequest) m;
	MSG(SchedClass) c;
	Google__Protobuf__FieldMask mask;
};
void upsert_init(struct upsert *u);

#endif
