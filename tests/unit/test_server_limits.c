/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_server_limits.c - connections and calls that ask too much, and the deadline */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/server_fixture.h"

static uint64_t get_closed_idle(const struct api_server_stats *s)
{
	return s->closed_idle;
}


static uint64_t get_refused_per_uid(const struct api_server_stats *s)
{
	return s->refused_per_uid;
}


static void the_65th_connection_of_a_user_is_refused(void **state)
{
	int fds[SERVER_CONNS_PER_UID], more;
	struct fixture *f = *state;
	struct client client;
	struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = connect_to(f->path);
	wait_stat(f, get_connections, SERVER_CONNS_PER_UID);
	more = connect_to(f->path);
	assert_true(ends(more));
	close(more);
	wait_stat(f, get_refused_per_uid, 1);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	wait_stat(f, get_connections, 0);
	client_open(&client, f);
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	result_free(&r);
	client_close(&client);
}

static void silent_connections_are_closed(void **state)
{
	struct fixture *f = *state;
	int fd;

	f->server->half_open_us = 20000;
	fd = connect_to(f->path);
	assert_true(ends(fd));
	close(fd);
	wait_stat(f, get_closed_idle, 1);
	wait_stat(f, get_connections, 0);
}

static void garbage_ends_only_its_connection(void **state)
{
	struct fixture *f = *state;
	unsigned int seed = 12345;
	char bytes[512];
	struct client client;
	struct result r;

	f->server->half_open_us = 20000;
	print_message("seed %u\n", seed);
	for (int i = 0; i < 100; i++) {
		int fd = connect_to(f->path);

		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (char)rand_r(&seed);
		if (i % 2)
			memcpy(bytes, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
		if (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
			assert_true(ends(fd));
		close(fd);
	}
	wait_stat(f, get_connections, 0);
	client_open(&client, f);
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	result_free(&r);
	client_close(&client);
}

static void a_request_that_does_not_come_is_ended(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct result r = {};
	struct call call;

	f->server->receive_us = f->server->half_open_us = 20000;
	client_open(&client, f);
	call_begin(&call, &client, SCHEDULER "GetStatus", WAIT_MS);
	call_end(&call, &r);
	assert_status(&r, GRPC_STATUS_DEADLINE_EXCEEDED);
	assert_reason(&r, "TOO_SLOW");
	assert_int_equal(runs_of(f), 0);
	result_free(&r);
	client_close(&client);
}

static void a_full_queue_says_try_again(void **state)
{
	struct fixture *f = *state;
	struct call calls[12];
	struct result r;
	struct client client;
	int ok = 0, unavailable = 0;

	f->server->queue_max = 4;
	client_open(&client, f);
	set_hold(f, true);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		call_begin(&calls[i], &client, SCHEDULER "GetStatus", WAIT_MS);
		call_send(&calls[i], "", 0, true);
		if (i == 0)
			wait_holding(f);
	}
	set_hold(f, false);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		memset(&r, 0, sizeof(r));
		call_receive(&calls[i], &r);
		call_end(&calls[i], &r);
		ok += r.code == GRPC_STATUS_OK;
		unavailable += r.code == GRPC_STATUS_UNAVAILABLE;
		if (r.code == GRPC_STATUS_UNAVAILABLE) {
			assert_reason(&r, "QUEUE_FULL");
			assert_non_null(find_detail(&r, "google.rpc.RetryInfo"));
		}
		result_free(&r);
	}
	assert_int_equal(ok + unavailable, ARRAY_SIZE(calls));
	assert_true(ok >= 1);
	assert_int_equal(runs_of(f), ok);
	if (geteuid() == 0)
		assert_true(ok >= 4);
	client_close(&client);
}

static void a_call_whose_deadline_passed_is_not_run(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct call first, second;
	struct result r = {};

	client_open(&client, f);
	set_hold(f, true);
	call_begin(&first, &client, SCHEDULER "GetStatus", WAIT_MS);
	call_send(&first, "", 0, true);
	wait_holding(f);
	call_begin(&second, &client, SCHEDULER "DeleteClass", 30);
	call_send(&second, "\x12\x03" "web", 5, true);
	call_end(&second, &r);
	assert_status(&r, GRPC_STATUS_DEADLINE_EXCEEDED);
	result_free(&r);
	set_hold(f, false);
	call_receive(&first, &r);
	call_end(&first, &r);
	assert_status(&r, GRPC_STATUS_OK);
	result_free(&r);
	/* A later call of the same connection is behind it in the queue. */
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	assert_int_equal(runs_of(f), 2);
	result_free(&r);
	client_close(&client);
}

#define T(name) cmocka_unit_test_setup_teardown(name, server_setup, server_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_65th_connection_of_a_user_is_refused),
		T(silent_connections_are_closed),
		T(garbage_ends_only_its_connection),
		T(a_request_that_does_not_come_is_ended),
		T(a_full_queue_says_try_again),
		T(a_call_whose_deadline_passed_is_not_run),
	};

	return cmocka_run_group_tests_name("server_limits", tests, server_group_setup, server_group_teardown);
}
