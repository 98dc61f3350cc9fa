/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_fixture.c - decoding in tests: one request at a time, and what must become of it */
#include "tests/unit/codec_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

struct codec_request request;
struct reply reply;

enum command_status decode_bytes(enum command_type type, const void *bytes, size_t size)
{
	static const struct command_caller caller = { .role = ROLE_ADMIN, .uid = 7, .pidfd = -1 };

	codec_request_free(&request);
	reply_free(&reply);
	memset(&request, 0, sizeof(request));
	return codec_request_decode(&request, type, bytes, size, &caller, &reply);
}

enum command_status decode(enum command_type type, const void *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	_cleanup_free_ uint8_t *bytes = malloc(size + 1);

	protobuf_c_message_pack(message, bytes);
	return decode_bytes(type, bytes, size);
}

void accepted(enum command_type type, const void *message)
{
	if (decode(type, message) != COMMAND_OK)
		fail_msg("%s: %s", command_name(type), reply.message);
	assert_int_equal(request.cmd.type, type);
	assert_int_equal(request.cmd.caller.uid, 7);
}

/* Refused, with that field named in message and violation. */
void refused_as(enum command_type type, const void *message, const char *field, const char *reason)
{
	enum command_status status = decode(type, message);

	if (status != COMMAND_INVALID_ARGUMENT)
		fail_msg("%s with a bad %s: status %d, expected INVALID_ARGUMENT", command_name(type), field,
			 (int)status);
	assert_int_equal(reply.nr_details, 1);
	assert_string_equal(reply.details[0].field, field);
	assert_int_equal(strncmp(reply.message, field, strlen(field)), 0);
	assert_string_equal(reply.error_reason, reason);
	assert_true(str_is_utf8(reply.message));
	assert_false(str_has_control(reply.message));
}

void refused(enum command_type type, const void *message, const char *field)
{
	refused_as(type, message, field, "INVALID_VALUE");
}

int codec_teardown(void **state)
{
	(void)state;
	codec_request_free(&request);
	reply_free(&reply);
	memset(&request, 0, sizeof(request));
	return 0;
}

void set_class_init(struct set_class *s)
{
	schedd__v1alpha1__set_class_request__init(&s->m);
	schedd__v1alpha1__change__init(&s->change);
	schedd__v1alpha1__target__init(&s->target);
	google__protobuf__duration__init(&s->ttl);
	s->target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_PATH;
	s->target.cgroup_path = "/system.slice/nginx.service";
	s->m.change = &s->change;
	s->m.target = &s->target;
	s->m.class_name = "lc";
}

void upsert_init(struct upsert *u)
{
	schedd__v1alpha1__upsert_class_request__init(&u->m);
	schedd__v1alpha1__sched_class__init(&u->c);
	google__protobuf__field_mask__init(&u->mask);
	u->c.name = "web";
	u->m.sched_class = &u->c;
}
