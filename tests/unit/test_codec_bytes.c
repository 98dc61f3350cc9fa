/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_codec_bytes.c - the schema, and bytes that no honest client sends */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "grpc/health/v1/health.pb-c.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "schedd/internal/fileset.pb-c.h"
#include "tests/unit/codec_fixture.h"

/* ---------- the schema ---------- */

/* protobuf-c recurses without a limit: a type that contains itself lets a small request overflow the stack. */
static void walk(const ProtobufCMessageDescriptor *d, const ProtobufCMessageDescriptor **above, unsigned int depth)
{
	assert_true(depth < 16);
	for (unsigned int i = 0; i < depth; i++)
		if (above[i] == d)
			fail_msg("%s contains itself", d->name);
	above[depth] = d;
	for (unsigned int i = 0; i < d->n_fields; i++)
		if (d->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
			walk(d->fields[i].descriptor, above, depth + 1);
}

static void no_message_contains_itself(void **state)
{
	const ProtobufCMessageDescriptor *others[] = {
		&google__rpc__status__descriptor,
		&google__rpc__error_info__descriptor,
		&google__rpc__bad_request__descriptor,
		&google__rpc__retry_info__descriptor,
		&grpc__health__v1__health_check_request__descriptor,
		&grpc__health__v1__health_list_response__descriptor,
		&grpc__reflection__v1__server_reflection_request__descriptor,
		&grpc__reflection__v1__server_reflection_response__descriptor,
		&schedd__internal__file_set__descriptor,
		&schedd__internal__file__descriptor,
	};
	const ProtobufCServiceDescriptor *service = &schedd__v1alpha1__scheduler__descriptor;
	const ProtobufCMessageDescriptor *above[16];

	(void)state;
	for (unsigned int i = 0; i < service->n_methods; i++) {
		walk(service->methods[i].input, above, 0);
		walk(service->methods[i].output, above, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		walk(others[i], above, 0);
}

static void commands_are_the_methods_of_the_service(void **state)
{
	const ProtobufCServiceDescriptor *service = &schedd__v1alpha1__scheduler__descriptor;

	(void)state;
	assert_int_equal(service->n_methods, NR_COMMANDS);
	for (unsigned int i = 0; i < NR_COMMANDS; i++)
		assert_string_equal(service->methods[i].name, command_name((enum command_type)i));
}

static void numbers_are_those_of_the_schema(void **state)
{
	(void)state;
	assert_int_equal(SCHEDD_KIND_LATENCY_CRITICAL, SCHEDD__V1ALPHA1__SCHED_CLASS__KIND__KIND_LATENCY_CRITICAL);
	assert_int_equal(SCHEDD_KIND_NORMAL, SCHEDD__V1ALPHA1__SCHED_CLASS__KIND__KIND_NORMAL);
	assert_int_equal(SCHEDD_KIND_BEST_EFFORT, SCHEDD__V1ALPHA1__SCHED_CLASS__KIND__KIND_BEST_EFFORT);
	assert_int_equal(CLASS_LEND_NEVER, SCHEDD__V1ALPHA1__SCHED_CLASS__LEND__LEND_NEVER);
	assert_int_equal(CLASS_ORIGIN_API, SCHEDD__V1ALPHA1__SCHED_CLASS__ORIGIN__ORIGIN_API);
	assert_int_equal(LIFETIME_PERSISTENT, SCHEDD__V1ALPHA1__LIFETIME__LIFETIME_PERSISTENT);
	/* Every key of a class is a field that the mask can name. */
	for (size_t i = 0; i < class_nr_keys; i++)
		assert_non_null(protobuf_c_message_descriptor_get_field_by_name(
			&schedd__v1alpha1__sched_class__descriptor, class_keys[i].proto));
}

/* ---------- bytes ---------- */

static void text_must_be_whole_utf8(void **state)
{
	MSG(Condition) condition = SCHEDD__V1ALPHA1__CONDITION__INIT, *conditions[] = { &condition };
	/* GetClass.class_name = "a\0b" and SetClass.target.cgroup_path = "/a\0" */
	static const char nul[] = "\x0a\x03" "a\0b", deep[] = "\x12\x05\x0a\x03/a\0\x1a\x02" "lc";
	struct upsert u;

	(void)state;
	assert_int_equal(decode_bytes(COMMAND_GET_CLASS, nul, sizeof(nul) - 1), COMMAND_INVALID_ARGUMENT);
	assert_non_null(strstr(reply.message, "class_name: contains a NUL byte"));
	assert_int_equal(decode_bytes(COMMAND_SET_CLASS, deep, sizeof(deep) - 1), COMMAND_INVALID_ARGUMENT);
	assert_non_null(strstr(reply.message, "target.cgroup_path: contains a NUL byte"));
	/* Even in fields that are ignored. */
	upsert_init(&u);
	condition.message = "\xff";
	u.c.conditions = conditions;
	u.c.n_conditions = 1;
	refused_as(COMMAND_UPSERT_CLASS, &u.m, "sched_class.conditions.message", "MALFORMED_REQUEST");
	condition.message = "\xed\xa0\x80"; /* a surrogate */
	refused_as(COMMAND_UPSERT_CLASS, &u.m, "sched_class.conditions.message", "MALFORMED_REQUEST");
	condition.message = "\xc3\xa4";
	accepted(COMMAND_UPSERT_CLASS, &u.m);
}

static void memory_is_capped(void **state)
{
	static char bytes[250000];
	size_t size = 0;

	(void)state;
	/* UpsertClass.update_mask.paths = "" again and again: 2 bytes each here, tens in memory */
	bytes[size++] = 0x1a;
	bytes[size++] = (char)0x80; /* 240000 as a varint */
	bytes[size++] = (char)0xd3;
	bytes[size++] = 0x0e;
	for (size_t i = 0; i < 240000; i += 2) {
		bytes[size++] = 0x0a;
		bytes[size++] = 0x00;
	}
	assert_int_equal(decode_bytes(COMMAND_UPSERT_CLASS, bytes, size), COMMAND_RESOURCE_EXHAUSTED);
	assert_string_equal(reply.error_reason, "REQUEST_TOO_BIG");
	assert_true(request.memory.used_bytes <= CODEC_MEMORY_MAX);
	/* The same oneof again and again: what was freed still counts. */
	for (size = 0; size + 7 <= sizeof(bytes); size += 7)
		memcpy(bytes + size, "\x12\x05\x0a\x03/ab", 7);
	decode_bytes(COMMAND_SET_CLASS, bytes, size);
	assert_true(request.memory.used_bytes <= CODEC_MEMORY_MAX);
}

static void deep_nesting_is_harmless(void **state)
{
	static unsigned char bytes[60000];
	size_t at = sizeof(bytes), size = 0;

	(void)state;
	/* Field 2, length-delimited, inside field 2, and so on. */
	while (at > 16) {
		size_t n = size;
		unsigned char varint[4];
		size_t len = 0;

		do {
			varint[len++] = (unsigned char)((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
			n >>= 7;
		} while (n);
		at -= len;
		memcpy(bytes + at, varint, len);
		bytes[--at] = 0x12;
		size = sizeof(bytes) - at;
	}
	for (int type = 0; type < NR_COMMANDS; type++)
		decode_bytes((enum command_type)type, bytes + at, size);
}

/* What a command may rely on, however the request came about. */
static void assert_sane(const struct command *cmd)
{
	assert_true(cmd->page_size >= 1 && cmd->page_size <= 1000);
	assert_true(!*cmd->class_name || class_name_check(cmd->class_name) == 0);
	assert_true(strlen(cmd->change.reason) <= 256);
	assert_true(!*cmd->change.request_id || strlen(cmd->change.request_id) == 36);
	if (cmd->target.type == TARGET_PATH)
		assert_true(cmd->target.path[0] == '/' && !strstr(cmd->target.path, "//"));
	if (cmd->target.type == TARGET_PID)
		assert_true(cmd->target.pid > 0);
	assert_true(str_is_utf8(cmd->target.path) && str_is_utf8(cmd->etag) && str_is_utf8(cmd->assignment_id));
}

static void mutate(uint8_t *bytes, size_t *size, size_t room, unsigned int *seed)
{
	unsigned int n = 1 + (unsigned int)rand_r(seed) % 4;

	while (n--) {
		size_t at = *size ? (size_t)rand_r(seed) % *size : 0;

		switch (rand_r(seed) % 4) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << (rand_r(seed) % 8));
			break;
		case 1:
			bytes[at] = (uint8_t)rand_r(seed);
			break;
		case 2:
			*size = at;
			break;
		default:
			if (*size < room) {
				memmove(bytes + at + 1, bytes + at, *size - at);
				bytes[at] = (uint8_t)rand_r(seed);
				(*size)++;
			}
		}
	}
}

static void mutated_requests_are_refused_or_sane(void **state)
{
	Google__Protobuf__UInt32Value weight = GOOGLE__PROTOBUF__UINT32_VALUE__INIT;
	char *paths[] = { "weight", "kind" };
	unsigned int seed = 20240607;
	uint8_t first[512], second[512], bytes[600];
	size_t first_size, second_size, size;
	struct set_class s;
	struct upsert u;

	(void)state;
	print_message("seed %u\n", seed);
	set_class_init(&s);
	s.change.request_id = UUID;
	s.change.reason = "because";
	s.ttl.seconds = 60;
	s.m.ttl = &s.ttl;
	first_size = protobuf_c_message_pack(&s.m.base, first);
	upsert_init(&u);
	weight.value = 200;
	u.c.weight = &weight;
	u.mask.paths = paths;
	u.mask.n_paths = 2;
	u.m.update_mask = &u.mask;
	second_size = protobuf_c_message_pack(&u.m.base, second);
	for (int i = 0; i < 20000; i++) {
		bool odd = i % 2;

		size = odd ? first_size : second_size;
		memcpy(bytes, odd ? first : second, size);
		mutate(bytes, &size, sizeof(bytes), &seed);
		/* Also as every other request: the same bytes mean something else there. */
		if (decode_bytes(i % 3 ? odd ? COMMAND_SET_CLASS : COMMAND_UPSERT_CLASS :
					 (enum command_type)(i % NR_COMMANDS),
				 bytes, size) == COMMAND_OK) {
			assert_sane(&request.cmd);
		} else {
			assert_true(reply.status == COMMAND_INVALID_ARGUMENT ||
				    reply.status == COMMAND_RESOURCE_EXHAUSTED);
			assert_true(str_is_utf8(reply.message));
		}
	}
}

#define T(name) cmocka_unit_test_teardown(name, codec_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(no_message_contains_itself),
		T(commands_are_the_methods_of_the_service),
		T(numbers_are_those_of_the_schema),
		T(text_must_be_whole_utf8),
		T(memory_is_capped),
		T(deep_nesting_is_harmless),
		T(mutated_requests_are_refused_or_sane),
	};

	return cmocka_run_group_tests_name("codec_bytes", tests, NULL, NULL);
}
