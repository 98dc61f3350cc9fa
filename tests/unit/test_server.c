/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_server.c - calls on a real connection: what runs, what is refused, who may */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "google/rpc/error_details.pb-c.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"
#include "tests/unit/server_fixture.h"

/* ---------- calls ---------- */

static void every_call_reaches_its_command(void **state)
{
	/* class_name is field 1 of GetClass, 2 of Revert and Delete, 3 of SetClass; cpus, then ttl end an order of CPUs */
	static const char *const bodies[NR_COMMANDS] = {
		[COMMAND_SET_MODE] = "\x12\x04" "auto",
		[COMMAND_GET_CLASS] = "\x0a\x02" "lc",
		[COMMAND_UPSERT_CLASS] = "\x12\x07\x0a\x03" "web\x10\x02",
		[COMMAND_REVERT_CLASS] = "\x12\x02" "lc",
		[COMMAND_DELETE_CLASS] = "\x12\x03" "web",
		[COMMAND_SET_CLASS] = "\x12\x04\x0a\x02/a\x1a\x02" "lc",
		[COMMAND_UNSET_CLASS] = "\x1a\x02" "a1",
		[COMMAND_EXPLAIN_TARGET] = "\x0a\x02\x3a",
		[COMMAND_GRANT_CORES] = "\x12\x02" "lc\x18\x01\x22\x02\x08\x1e",
		[COMMAND_REASSIGN_CORES] = "\x12\x02" "be\x1a\x02" "lc\x20\x01\x2a\x02\x08\x1e",
		[COMMAND_RENEW_LEASE] = "\x12\x02L1\x1a\x02\x08\x1e",
		[COMMAND_RELEASE_LEASE] = "\x12\x02L1",
		[COMMAND_WATCH_EVENTS] = "\x32\x04\x08\x80\xa3\x05", /* bookmark_interval 1 day: the fixture has no stream */
	};
	struct fixture *f = *state;
	struct client client;
	struct result r;
	char method[128];

	client_open(&client, f);
	for (unsigned int i = 0; i < NR_COMMANDS; i++) {
		const char *body = bodies[i] ? bodies[i] : "";
		size_t size = i == COMMAND_EXPLAIN_TARGET ? 4 : strlen(body);

		snprintf(method, sizeof(method), SCHEDULER "%s", command_name((enum command_type)i));
		unary(&client, method, body, size, WAIT_MS, &r);
		assert_status(&r, i == COMMAND_GET_CLASS ? GRPC_STATUS_NOT_FOUND : GRPC_STATUS_OK);
		assert_int_equal(f->type, i);
		assert_int_equal(f->runs, i + 1);
		result_free(&r);
	}
	client_close(&client);
}

static void a_reply_comes_back(void **state)
{
	struct fixture *f = *state;
	Schedd__V1alpha1__NodeStatus *node;
	struct client client;
	struct result r;

	client_open(&client, f);
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	node = schedd__v1alpha1__node_status__unpack(NULL, r.size, r.bytes);
	assert_non_null(node);
	assert_string_equal(node->mode, "auto");
	assert_int_equal(node->online_cpus, 42);
	schedd__v1alpha1__node_status__free_unpacked(node, NULL);
	result_free(&r);
	client_close(&client);
}

static void the_caller_is_known(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct result r;

	client_open(&client, f);
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_int_equal(f->caller.uid, geteuid());
	assert_int_equal(f->caller.pid, getpid());
	assert_string_not_equal(f->caller.comm, "");
	assert_true(f->pidfd_works || f->caller.pidfd == -1); /* kernels before 6.5 */
	assert_int_equal(f->caller.role, geteuid() == 0 ? ROLE_ADMIN : ROLE_VIEW);
	result_free(&r);
	client_close(&client);
}

static void an_error_carries_details(void **state)
{
	struct fixture *f = *state;
	Google__Rpc__BadRequest *bad;
	Google__Protobuf__Any *any;
	struct client client;
	struct result r;

	client_open(&client, f);
	unary(&client, SCHEDULER "GetClass", "\x0a\x03" "web", 5, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_NOT_FOUND);
	assert_string_equal(r.message, "no class \"web\"");
	assert_reason(&r, "CLASS_NOT_FOUND");
	assert_string_equal(r.details->message, r.message);
	any = find_detail(&r, "google.rpc.BadRequest");
	assert_non_null(any);
	bad = google__rpc__bad_request__unpack(NULL, any->value.len, any->value.data);
	assert_int_equal(bad->n_field_violations, 1);
	assert_string_equal(bad->field_violations[0]->field, "class_name");
	assert_string_equal(bad->field_violations[0]->description, "web-1");
	google__rpc__bad_request__free_unpacked(bad, NULL);
	result_free(&r);
	client_close(&client);
}

static void bad_requests_are_never_run(void **state)
{
	static char big[300 * 1024], many[200 * 1024];
	struct fixture *f = *state;
	const struct {
		const char *what, *method, *bytes;
		size_t size;
		grpc_status_code code;
		const char *reason;
	} cases[] = {
		{ "unknown method", SCHEDULER "Nothing", "", 0, GRPC_STATUS_UNIMPLEMENTED, "UNKNOWN_METHOD" },
		{ "prefix of a method", SCHEDULER "GetStatu", "", 0, GRPC_STATUS_UNIMPLEMENTED, "UNKNOWN_METHOD" },
		{ "unknown service", "/a.B/C", "", 0, GRPC_STATUS_UNIMPLEMENTED, "UNKNOWN_METHOD" },
		{ "garbage", SCHEDULER "SetClass", "\xff\xff\xff", 3, GRPC_STATUS_INVALID_ARGUMENT,
		  "MALFORMED_REQUEST" },
		{ "no message", SCHEDULER "GetStatus", NULL, 0, GRPC_STATUS_INVALID_ARGUMENT, "REQUEST_MISSING" },
		{ "bad class name", SCHEDULER "GetClass", "\x0a\x01" "A", 3, GRPC_STATUS_INVALID_ARGUMENT,
		  "INVALID_NAME" },
		{ "300 KiB", SCHEDULER "GetStatus", big, sizeof(big), GRPC_STATUS_RESOURCE_EXHAUSTED, NULL },
		{ "100000 unknown fields", SCHEDULER "GetStatus", many, sizeof(many), GRPC_STATUS_RESOURCE_EXHAUSTED,
		  "REQUEST_TOO_BIG" },
	};
	struct client client;
	struct result r;

	memset(big, 0x78, sizeof(big));
	for (size_t i = 0; i < sizeof(many); i += 2)
		memcpy(&many[i], "\x78\x01", 2); /* field 15, varint 1 */
	client_open(&client, f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unary(&client, cases[i].method, cases[i].bytes, cases[i].size, WAIT_MS, &r);
		if (r.code != cases[i].code)
			fail_msg("%s: status %d (%s), expected %d", cases[i].what, (int)r.code, r.message,
				 (int)cases[i].code);
		if (cases[i].reason)
			assert_reason(&r, cases[i].reason);
		result_free(&r);
	}
	assert_int_equal(runs_of(f), 0);
	client_close(&client);
}

static void compressed_requests_are_refused(void **state)
{
	const grpc_arg gzip = { .type = GRPC_ARG_INTEGER,
				.key = (char *)GRPC_COMPRESSION_CHANNEL_DEFAULT_ALGORITHM,
				.value.integer = GRPC_COMPRESS_GZIP };
	static char body[4096] = "\x0a\x80\x1f"; /* SetMode.change, 3968 bytes */
	struct fixture *f = *state;
	struct client client;
	struct result r;

	client_open_fd(&client, connect_to(f->path), &gzip);
	unary(&client, SCHEDULER "SetMode", body, sizeof(body), WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_UNIMPLEMENTED);
	assert_int_equal(runs_of(f), 0);
	result_free(&r);
	client_close(&client);
}

static void calls_are_counted(void **state)
{
	struct fixture *f = *state;
	struct api_server_stats stats;
	struct client client;
	struct result r;

	client_open(&client, f);
	for (int i = 0; i < 3; i++) {
		unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
		result_free(&r);
	}
	unary(&client, SCHEDULER "GetClass", "\x0a\x02" "lc", 4, WAIT_MS, &r);
	result_free(&r);
	assert_string_equal(f->class_name, "latency-critical");
	api_server_get_stats(f->server, &stats);
	assert_int_equal(stats.methods[COMMAND_GET_STATUS].requests, 3);
	assert_int_equal(stats.methods[COMMAND_GET_CLASS].requests, 1);
	assert_int_equal(stats.methods[COMMAND_GET_CLASS].failures[GRPC_STATUS_NOT_FOUND], 1);
	assert_int_equal(stats.request_seconds_count, 4);
	assert_true(stats.request_seconds_sum > 0);
	assert_int_equal(stats.connections, 1);
	assert_true(stats.queue_thread_turns > 4);
	client_close(&client);
	wait_stat(f, get_connections, 0);
}

/* ---------- rights ---------- */

static void viewers_may_only_look(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct result r;
	int fd;

	if (geteuid() == 0) {
		fd = connect_as(f->path, OTHER_UID, OTHER_UID);
		if (fd < 0) {
			print_message("cannot take another uid here: %s\n", strerror(-fd));
			skip();
		}
	} else {
		fd = connect_to(f->path);
	}
	client_open_fd(&client, fd, NULL);
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	assert_int_equal(f->caller.role, ROLE_VIEW);
	result_free(&r);
	/* Garbage: refused for the role, so nothing of it was looked at. */
	unary(&client, SCHEDULER "SetMode", "\xff\xff", 2, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_PERMISSION_DENIED);
	assert_reason(&r, "ROLE_MISSING");
	assert_int_equal(runs_of(f), 1);
	result_free(&r);
	client_close(&client);
}

static void members_of_the_group_are_admin(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct result r;
	int fd;

	if (geteuid() != 0)
		skip();
	pthread_mutex_lock(&f->lock);
	f->admin = 4321;
	pthread_mutex_unlock(&f->lock);
	fd = connect_as(f->path, OTHER_UID, 4321);
	if (fd < 0)
		skip();
	client_open_fd(&client, fd, NULL);
	unary(&client, SCHEDULER "SetMode", "\x12\x04" "auto", 6, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	assert_int_equal(f->caller.uid, OTHER_UID);
	assert_int_equal(f->caller.role, ROLE_ADMIN);
	result_free(&r);
	client_close(&client);
}

#define T(name) cmocka_unit_test_setup_teardown(name, server_setup, server_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_call_reaches_its_command),
		T(a_reply_comes_back),
		T(the_caller_is_known),
		T(an_error_carries_details),
		T(bad_requests_are_never_run),
		T(compressed_requests_are_refused),
		T(calls_are_counted),
		T(viewers_may_only_look),
		T(members_of_the_group_are_admin),
	};

	return cmocka_run_group_tests_name("server", tests, server_group_setup, server_group_teardown);
}
