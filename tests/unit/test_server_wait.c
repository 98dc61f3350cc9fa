/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_server_wait.c - calls that were run and are answered later: told, late, cancelled, too many, at the end */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/base/cleanup.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"
#include "tests/unit/server_fixture.h"

/* class_name "lc", cpus 1, ttl 30 s, wait_for as named. */
#define GRANT      \
	"\x12\x02" \
	"lc\x18\x01\x22\x02\x08\x1e"
#define GRANT_RUNNING GRANT "\x38\x03"
#define GRANT_ACCEPTED GRANT "\x38\x01"

static void grant(struct call *call, struct client *client, const char *body, int timeout_ms)
{
	call_begin(call, client, SCHEDULER "GrantCores", timeout_ms);
	call_send(call, body, strlen(body), true);
}

static void finish(struct call *call, struct result *ret)
{
	memset(ret, 0, sizeof(*ret));
	call_receive(call, ret);
	call_end(call, ret);
}

static unsigned int resumes_of(struct fixture *f)
{
	unsigned int n;

	pthread_mutex_lock(&f->lock);
	n = f->resumes;
	pthread_mutex_unlock(&f->lock);
	return n;
}

static void an_answer_comes_when_it_is_there(void **state)
{
	struct fixture *f = *state;
	Schedd__V1alpha1__Lease *lease;
	struct client client;
	struct result r;
	struct call call;

	set_defer(f, true);
	client_open(&client, f);
	grant(&call, &client, GRANT, WAIT_MS);
	wait_waiting(f, 1);
	tell_waiting(f, false);
	/* Others are served meanwhile, on the same connection too. */
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	result_free(&r);
	for (int i = 0; i < WAIT_MS && !resumes_of(f); i++)
		poll(NULL, 0, 1);
	assert_int_equal(resumes_of(f), 1);
	assert_int_equal(waiting_of(f), 1);
	tell_waiting(f, true);
	finish(&call, &r);
	assert_status(&r, GRPC_STATUS_OK);
	lease = schedd__v1alpha1__lease__unpack(NULL, r.size, r.bytes);
	assert_non_null(lease);
	assert_string_equal(lease->lease_id, "L1");
	schedd__v1alpha1__lease__free_unpacked(lease, NULL);
	assert_int_equal(runs_of(f), 2);
	assert_int_equal(waiting_of(f), 0);
	result_free(&r);
	client_close(&client);
}

static void many_wait_and_all_are_told(void **state)
{
	struct fixture *f = *state;
	struct call calls[20];
	struct client client;
	struct result r;

	set_defer(f, true);
	client_open(&client, f);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		grant(&calls[i], &client, i % 2 ? GRANT : GRANT_RUNNING, WAIT_MS);
	wait_waiting(f, ARRAY_SIZE(calls));
	tell_waiting(f, true);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		finish(&calls[i], &r);
		assert_status(&r, GRPC_STATUS_OK);
		result_free(&r);
	}
	assert_int_equal(waiting_of(f), 0);
	client_close(&client);
}

static void the_deadline_says_that_the_lease_exists(void **state)
{
	struct fixture *f = *state;
	struct call first, second;
	struct client client;
	struct result r;

	set_defer(f, true);
	client_open(&client, f);
	grant(&second, &client, GRANT, WAIT_MS);
	grant(&first, &client, GRANT, 400);
	finish(&first, &r);
	assert_status(&r, GRPC_STATUS_DEADLINE_EXCEEDED);
	assert_reason(&r, "WAIT_DEADLINE");
	assert_string_equal(r.message, "the lease L1 exists");
	result_free(&r);
	/* Only of that call. */
	assert_int_equal(f->deadlines, 1);
	assert_int_equal(waiting_of(f), 1);
	tell_waiting(f, true);
	finish(&second, &r);
	assert_status(&r, GRPC_STATUS_OK);
	result_free(&r);
	client_close(&client);
}

static void who_cancels_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct client client, other;
	struct call call, gone;
	struct result r;

	set_defer(f, true);
	client_open(&client, f);
	grant(&call, &client, GRANT, WAIT_MS);
	wait_waiting(f, 1);
	grpc_call_cancel(call.call, NULL);
	finish(&call, &r);
	assert_status(&r, GRPC_STATUS_CANCELLED);
	result_free(&r);
	wait_waiting(f, 0);
	/* And who hangs up. */
	client_open(&other, f);
	grant(&gone, &other, GRANT, WAIT_MS);
	wait_waiting(f, 1);
	grpc_call_cancel(gone.call, NULL);
	finish(&gone, &r);
	result_free(&r);
	client_close(&other);
	wait_waiting(f, 0);
	tell_waiting(f, true);
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	result_free(&r);
	client_close(&client);
}

static void a_connection_that_is_cut_waits_no_more(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct call call;
	struct result r;

	set_defer(f, true);
	client_open(&client, f);
	grant(&call, &client, GRANT, WAIT_MS);
	wait_waiting(f, 1);
	/* Both ends are in this process: the server's is the one that the loop may cut. */
	shutdown(f->server->conns->fd, SHUT_RDWR);
	finish(&call, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	result_free(&r);
	wait_waiting(f, 0);
	wait_stat(f, get_connections, 0);
	client_close(&client);
}

static void too_many_are_refused_before_anything_is_ordered(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct call calls[2];
	struct result r;

	set_defer(f, true);
	f->server->waiting_max = 2;
	client_open(&client, f);
	for (int i = 0; i < 2; i++)
		grant(&calls[i], &client, GRANT, WAIT_MS);
	wait_waiting(f, 2);
	unary(&client, SCHEDULER "GrantCores", GRANT, strlen(GRANT), WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	assert_reason(&r, "TOO_MANY_WAITERS");
	assert_non_null(find_detail(&r, "google.rpc.RetryInfo"));
	result_free(&r);
	assert_int_equal(runs_of(f), 2);
	/* Who does not wait is served. */
	unary(&client, SCHEDULER "GrantCores", GRANT_ACCEPTED, strlen(GRANT_ACCEPTED), WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	result_free(&r);
	tell_waiting(f, true);
	for (int i = 0; i < 2; i++) {
		finish(&calls[i], &r);
		assert_status(&r, GRPC_STATUS_OK);
		result_free(&r);
	}
	client_close(&client);
}

static void the_end_of_the_server_is_told(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct call call;
	struct result r;

	set_defer(f, true);
	client_open(&client, f);
	grant(&call, &client, GRANT, WAIT_MS);
	wait_waiting(f, 1);
	stop_server(f);
	finish(&call, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	assert_reason(&r, "STOPPING");
	assert_non_null(strstr(r.message, "L1 is kept"));
	result_free(&r);
	client_close(&client);
}

#define T(name) cmocka_unit_test_setup_teardown(name, server_setup, server_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_answer_comes_when_it_is_there),        T(many_wait_and_all_are_told),
		T(the_deadline_says_that_the_lease_exists), T(who_cancels_is_forgotten),
		T(a_connection_that_is_cut_waits_no_more),  T(too_many_are_refused_before_anything_is_ordered),
		T(the_end_of_the_server_is_told),
	};

	return cmocka_run_group_tests_name("server_wait", tests, server_group_setup, server_group_teardown);
}
