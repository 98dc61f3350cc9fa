/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_server_stream.c - health, reflection and the end of the server */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "grpc/health/v1/health.pb-c.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "tests/unit/server_fixture.h"

/* ---------- health ---------- */

#define SERVICE_FIELD "\x0a\x19schedd.v1alpha1.Scheduler"

static int health_of(const struct result *r)
{
	Grpc__Health__V1__HealthCheckResponse *m =
		grpc__health__v1__health_check_response__unpack(NULL, r->size, r->bytes);
	int status;

	assert_non_null(m);
	status = (int)m->status;
	grpc__health__v1__health_check_response__free_unpacked(m, NULL);
	return status;
}

static void health_check_knows_both_services(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct result r;

	client_open(&client, f);
	set_serving(f, false);
	unary(&client, "/grpc.health.v1.Health/Check", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	assert_int_equal(health_of(&r), HEALTH_SERVING);
	result_free(&r);
	unary(&client, "/grpc.health.v1.Health/Check", SERVICE_FIELD, 27, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	assert_int_equal(health_of(&r), HEALTH_NOT_SERVING);
	result_free(&r);
	unary(&client, "/grpc.health.v1.Health/Check", "\x0a\x01x", 3, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_NOT_FOUND);
	assert_reason(&r, "UNKNOWN_SERVICE");
	result_free(&r);
	unary(&client, "/grpc.health.v1.Health/Check", "\xff", 1, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_INVALID_ARGUMENT);
	result_free(&r);
	client_close(&client);
}

static void health_list_names_both_services(void **state)
{
	struct fixture *f = *state;
	Grpc__Health__V1__HealthListResponse *m;
	struct client client;
	struct result r;

	client_open(&client, f);
	unary(&client, "/grpc.health.v1.Health/List", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	m = grpc__health__v1__health_list_response__unpack(NULL, r.size, r.bytes);
	assert_non_null(m);
	assert_int_equal(m->n_statuses, 2);
	assert_string_equal(m->statuses[1]->key, "schedd.v1alpha1.Scheduler");
	assert_int_equal(m->statuses[1]->value->status, HEALTH_SERVING);
	grpc__health__v1__health_list_response__free_unpacked(m, NULL);
	result_free(&r);
	client_close(&client);
}

static void health_watch_begin(struct call *call, struct client *client, const char *request, size_t size)
{
	call_begin(call, client, "/grpc.health.v1.Health/Watch", WAIT_MS);
	call_send(call, request, size, true);
}

static void health_watch_follows_and_ends_with_the_server(void **state)
{
	struct fixture *f = *state;
	struct result r = {};
	struct client client;
	struct call call;

	client_open(&client, f);
	health_watch_begin(&call, &client, SERVICE_FIELD, 27);
	assert_true(call_receive(&call, &r));
	assert_int_equal(health_of(&r), HEALTH_SERVING);
	set_serving(f, false);
	assert_true(call_receive(&call, &r));
	assert_int_equal(health_of(&r), HEALTH_NOT_SERVING);
	set_serving(f, true);
	assert_true(call_receive(&call, &r));
	assert_int_equal(health_of(&r), HEALTH_SERVING);
	stop_server(f);
	assert_true(call_receive(&call, &r));
	assert_int_equal(health_of(&r), HEALTH_NOT_SERVING);
	assert_false(call_receive(&call, &r));
	call_end(&call, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	assert_reason(&r, "STOPPING");
	result_free(&r);
	client_close(&client);
}

static void health_watch_of_an_unknown_service_stays_open(void **state)
{
	struct fixture *f = *state;
	struct result r = {};
	struct client client;
	struct call call;

	client_open(&client, f);
	health_watch_begin(&call, &client, "\x0a\x01x", 3);
	assert_true(call_receive(&call, &r));
	assert_int_equal(health_of(&r), HEALTH_SERVICE_UNKNOWN);
	grpc_call_cancel(call.call, NULL);
	call_end(&call, &r);
	assert_status(&r, GRPC_STATUS_CANCELLED);
	result_free(&r);
	client_close(&client);
	wait_stat(f, get_connections, 0);
}

static void watches_are_limited(void **state)
{
	struct fixture *f = *state;
	struct call calls[SERVER_STREAMS_MAX], more;
	struct client client, second;
	struct result r = {};

	client_open(&client, f);
	client_open(&second, f);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		health_watch_begin(&calls[i], &client, "", 0);
		assert_true(call_receive(&calls[i], &r));
	}
	health_watch_begin(&more, &second, "", 0);
	assert_false(call_receive(&more, &r));
	call_end(&more, &r);
	assert_status(&r, GRPC_STATUS_RESOURCE_EXHAUSTED);
	assert_reason(&r, "TOO_MANY_STREAMS");
	result_free(&r);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		grpc_call_cancel(calls[i].call, NULL);
		call_end(&calls[i], &r);
		result_free(&r);
	}
	client_close(&client);
	client_close(&second);
	wait_stat(f, get_connections, 0);
	assert_int_equal(f->server->nr_streams, 0);
}

/* ---------- reflection ---------- */

static void reflection_answers_in_turn(void **state)
{
	static const char *const methods[] = { "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
					       "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" };
	struct fixture *f = *state;
	Grpc__Reflection__V1__ServerReflectionResponse *m;
	struct client client;
	struct call call;
	struct result r;

	client_open(&client, f);
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		memset(&r, 0, sizeof(r));
		call_begin(&call, &client, methods[i], WAIT_MS);
		for (int turn = 0; turn < 3; turn++) {
			call_send(&call, "\x3a\x01*", 3, false);
			assert_true(call_receive(&call, &r));
			m = grpc__reflection__v1__server_reflection_response__unpack(NULL, r.size, r.bytes);
			assert_non_null(m);
			assert_int_equal(m->message_response_case, 6);
			assert_int_equal(m->list_services_response->n_service, 4);
			grpc__reflection__v1__server_reflection_response__free_unpacked(m, NULL);
		}
		call_send(&call, NULL, 0, true);
		assert_false(call_receive(&call, &r));
		call_end(&call, &r);
		assert_status(&r, GRPC_STATUS_OK);
		result_free(&r);
	}
	client_close(&client);
}

/* ---------- the end ---------- */

static uint64_t get_requests(const struct api_server_stats *s)
{
	return s->methods[COMMAND_GET_STATUS].requests;
}

static void stopping_ends_everything(void **state)
{
	struct fixture *f = *state;
	struct client client, silent;
	struct call watch, reflection, held;
	struct result r = {};
	int raw;

	client_open(&client, f);
	client_open(&silent, f);
	raw = connect_to(f->path);
	health_watch_begin(&watch, &client, "", 0);
	assert_true(call_receive(&watch, &r));
	call_begin(&reflection, &client, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", WAIT_MS);
	call_send(&reflection, "\x3a\x00", 2, false);
	assert_true(call_receive(&reflection, &r));
	call_begin(&held, &client, SCHEDULER "GetStatus", WAIT_MS); /* its request never comes */
	wait_stat(f, get_connections, 3);
	wait_stat(f, get_requests, 1);
	stop_server(f);
	call_end(&reflection, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	result_free(&r);
	assert_true(call_receive(&watch, &r));
	assert_int_equal(health_of(&r), HEALTH_NOT_SERVING);
	call_end(&watch, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	result_free(&r);
	call_end(&held, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	result_free(&r);
	assert_true(ends(raw));
	close(raw);
	client_close(&client);
	client_close(&silent);
}

#define T(name) cmocka_unit_test_setup_teardown(name, server_setup, server_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(health_check_knows_both_services),
		T(health_list_names_both_services),
		T(health_watch_follows_and_ends_with_the_server),
		T(health_watch_of_an_unknown_service_stays_open),
		T(watches_are_limited),
		T(reflection_answers_in_turn),
		T(stopping_ends_everything),
	};

	return cmocka_run_group_tests_name("server_stream", tests, server_group_setup, server_group_teardown);
}
