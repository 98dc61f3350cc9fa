// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ctl_error.c - the details that come with an error */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/ctl/client_error.c"

/* A packed google.rpc.Status with one detail of the type named. */
static size_t pack_status(const char *type_url, const ProtobufCMessage *detail, uint8_t *dst)
{
	Google__Rpc__Status status = GOOGLE__RPC__STATUS__INIT;
	Google__Protobuf__Any any = GOOGLE__PROTOBUF__ANY__INIT, *list[] = { &any };
	uint8_t packed[512];

	any.type_url = (char *)type_url;
	any.value.data = packed;
	any.value.len = protobuf_c_message_pack(detail, packed);
	status.details = list;
	status.n_details = 1;
	return google__rpc__status__pack(&status, dst);
}

static void test_a_reason(void **state)
{
	Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
	struct client_error e = { 0 };
	uint8_t data[1024];
	size_t n;

	(void)state;
	info.reason = "CLASS_NOT_FOUND";
	info.domain = "schedd.io";
	n = pack_status("type.googleapis.com/google.rpc.ErrorInfo", &info.base, data);
	client_read_details(data, n, &e);
	assert_string_equal(e.reason, "CLASS_NOT_FOUND");
	client_error_free(&e);
	assert_null(e.reason);
}

static void test_candidates_and_delay(void **state)
{
	Google__Rpc__BadRequest__FieldViolation v = GOOGLE__RPC__BAD_REQUEST__FIELD_VIOLATION__INIT, *list[] = { &v, &v };
	Google__Rpc__BadRequest bad = GOOGLE__RPC__BAD_REQUEST__INIT;
	Google__Rpc__RetryInfo retry = GOOGLE__RPC__RETRY_INFO__INIT;
	Google__Protobuf__Duration delay = GOOGLE__PROTOBUF__DURATION__INIT;
	struct client_error e = { 0 };
	uint8_t data[1024];
	size_t n;

	(void)state;
	v.field = "target";
	v.description = "/a";
	bad.field_violations = list;
	bad.n_field_violations = 2;
	n = pack_status("type.googleapis.com/google.rpc.BadRequest", &bad.base, data);
	client_read_details(data, n, &e);
	assert_int_equal(e.nr_details, 2);
	assert_string_equal(e.details[1].field, "target");
	assert_string_equal(e.details[1].description, "/a");
	delay.seconds = 1;
	delay.nanos = 500000000;
	retry.retry_delay = &delay;
	n = pack_status("type.googleapis.com/google.rpc.RetryInfo", &retry.base, data);
	client_read_details(data, n, &e);
	assert_int_equal(e.retry_ns, 1500000000);
	client_error_free(&e);
}

static void test_unknown_details_are_left_alone(void **state)
{
	Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
	static const char *const urls[] = { "", "ErrorInfo", "type.googleapis.com/google.rpc.DebugInfo",
					    "type.googleapis.com/google.rpc.ErrorInfoX" };
	struct client_error e = { 0 };
	uint8_t data[1024];
	size_t n, i;

	(void)state;
	info.reason = "X";
	for (i = 0; i < ARRAY_SIZE(urls); i++) {
		n = pack_status(urls[i], &info.base, data);
		client_read_details(data, n, &e);
		assert_null(e.reason);
	}
}

static void test_mutated_details_never_crash(void **state)
{
	Google__Rpc__ErrorInfo info = GOOGLE__RPC__ERROR_INFO__INIT;
	uint8_t good[1024], data[1024];
	uint64_t seed = 3;
	size_t n;
	int round;

	(void)state;
	info.reason = "CLASS_NOT_FOUND";
	info.domain = "schedd.io";
	n = pack_status("type.googleapis.com/google.rpc.ErrorInfo", &info.base, good);
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 20000; round++) {
		struct client_error e = { 0 };

		memcpy(data, good, n);
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		data[(seed >> 40) % n] = (uint8_t)(seed >> 32);
		client_read_details(data, (seed >> 20) % (n + 1), &e);
		client_read_details(data, n, &e);
		client_error_free(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reason),
		cmocka_unit_test(test_candidates_and_delay),
		cmocka_unit_test(test_unknown_details_are_left_alone),
		cmocka_unit_test(test_mutated_details_never_crash),
	};

	return cmocka_run_group_tests_name("ctl_error", tests, NULL, NULL);
}
