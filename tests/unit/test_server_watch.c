/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_server_watch.c - WatchEvents over a socket: slow readers, many readers, resuming, the end */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"
#include "tests/unit/server_fixture.h"

#define METHOD SCHEDULER "WatchEvents"
/* send_initial_state, and after_sequence 0: all that is kept */
#define INITIAL "\x28\x01"
#define KEPT "\x22\x00"

static void watch_begin_with(struct call *call, struct client *client, const void *request, size_t size)
{
	call_begin(call, client, METHOD, WAIT_MS);
	call_send(call, request, size, true);
}

static Schedd__V1alpha1__Event *receive(struct call *call)
{
	Schedd__V1alpha1__Event *m;
	struct result r = {};

	if (!call_receive(call, &r))
		fail_msg("the stream ended");
	m = schedd__v1alpha1__event__unpack(NULL, r.size, r.bytes);
	assert_non_null(m);
	result_free(&r);
	return m;
}

/* Receives one of that type; returns its sequence. */
static uint64_t expect(struct call *call, Schedd__V1alpha1__Event__Type type)
{
	Schedd__V1alpha1__Event *m = receive(call);
	uint64_t sequence = m->sequence;

	if (m->type != type)
		fail_msg("event of type %d, expected %d", (int)m->type, (int)type);
	schedd__v1alpha1__event__free_unpacked(m, NULL);
	return sequence;
}

static uint64_t expect_bookmark(struct call *call)
{
	return expect(call, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_BOOKMARK);
}

static uint64_t expect_event(struct call *call)
{
	return expect(call, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_STATE_CHANGED);
}

static void cancel(struct call *call)
{
	struct result r = {};

	grpc_call_cancel(call->call, NULL);
	call_end(call, &r);
	assert_status(&r, GRPC_STATUS_CANCELLED);
	result_free(&r);
}

static void refused(struct call *call, grpc_status_code code, const char *reason)
{
	struct result r = {};

	assert_false(call_receive(call, &r));
	call_end(call, &r);
	assert_status(&r, code);
	assert_reason(&r, reason);
	result_free(&r);
}

static void expect_alive(struct fixture *f)
{
	struct client client;
	struct result r;

	client_open(&client, f);
	unary(&client, SCHEDULER "GetStatus", "", 0, WAIT_MS, &r);
	assert_status(&r, GRPC_STATUS_OK);
	result_free(&r);
	client_close(&client);
}

/* ---------- reading ---------- */

static void events_come_as_they_happen(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct call call;

	client_open(&client, f);
	watch_begin_with(&call, &client, "", 0);
	assert_int_equal(expect_bookmark(&call), 0);
	for (uint64_t n = 1; n <= 20; n++) {
		append_events(f, 1);
		assert_int_equal(expect_event(&call), n);
	}
	cancel(&call);
	client_close(&client);
	wait_stat(f, get_connections, 0);
	assert_int_equal(f->server->nr_watches, 0);
}

static void the_state_comes_first(void **state)
{
	struct fixture *f = *state;
	struct client client;
	struct call call;

	client_open(&client, f);
	append_events(f, 3);
	watch_begin_with(&call, &client, INITIAL, 2);
	for (int i = 0; i < 3; i++)
		expect(&call, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_CLASS_CHANGED);
	assert_int_equal(expect(&call, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_INITIAL_STATE_END), 3);
	append_events(f, 1);
	assert_int_equal(expect_event(&call), 4);
	cancel(&call);
	client_close(&client);
}

static void bookmarks_come_by_themselves(void **state)
{
	/* bookmark_interval 1 s */
	static const char request[] = "\x32\x02\x08\x01";
	struct fixture *f = *state;
	struct client client;
	struct call call;

	client_open(&client, f);
	watch_begin_with(&call, &client, request, sizeof(request) - 1);
	assert_int_equal(expect_bookmark(&call), 0);
	assert_int_equal(expect_bookmark(&call), 0);
	cancel(&call);
	client_close(&client);
}

static void resuming_has_neither_gap_nor_duplicate(void **state)
{
	Schedd__V1alpha1__WatchEventsRequest m = SCHEDD__V1ALPHA1__WATCH_EVENTS_REQUEST__INIT;
	Google__Protobuf__UInt64Value after = GOOGLE__PROTOBUF__UINT64_VALUE__INIT;
	struct fixture *f = *state;
	struct client client;
	struct call call;
	uint8_t bytes[64];

	m.epoch = "00000000000000aa";
	m.after_sequence = &after;
	append_events(f, 50);
	while (after.value < 50) {
		client_open(&client, f);
		watch_begin_with(&call, &client, bytes, schedd__v1alpha1__watch_events_request__pack(&m, bytes));
		for (int i = 0; i < 10; i++)
			assert_int_equal(expect_event(&call), ++after.value);
		cancel(&call);
		client_close(&client);
	}
	client_open(&client, f);
	watch_begin_with(&call, &client, bytes, schedd__v1alpha1__watch_events_request__pack(&m, bytes));
	assert_int_equal(expect_bookmark(&call), 50);
	cancel(&call);
	m.epoch = "00000000000000bb";
	watch_begin_with(&call, &client, bytes, schedd__v1alpha1__watch_events_request__pack(&m, bytes));
	refused(&call, GRPC_STATUS_OUT_OF_RANGE, "EVENTS_GONE");
	client_close(&client);
}

/* ---------- slow and many ---------- */

/* Until nothing more goes out to those who do not read: each event that does changes one of the two numbers. */
static void wait_stuck(struct fixture *f)
{
	uint64_t before = UINT64_MAX, now;

	for (int same = 0, i = 0; same < 20 && i < WAIT_MS; i++) {
		now = __atomic_load_n(&f->server->watch_window_us, __ATOMIC_RELAXED) * 1000 +
		      __atomic_load_n(&f->server->watch_sent, __ATOMIC_RELAXED);
		same = now == before ? same + 1 : 0;
		before = now;
		poll(NULL, 0, 5);
	}
}

/* As schedctl opens it: a window of 64 KiB, which does not grow with what is measured. */
static void open_plain(struct client *client, const struct fixture *f)
{
	static const grpc_arg no_probe = { .type = GRPC_ARG_INTEGER, .key = GRPC_ARG_HTTP2_BDP_PROBE, .value.integer = 0 };

	client_open_fd(client, connect_to(f->path), &no_probe);
}

static void a_reader_that_sleeps_is_told_what_it_missed(void **state)
{
	struct fixture *f = *state;
	uint64_t seen = 0, given = 0, dropped = 0;
	Schedd__V1alpha1__Event *m;
	struct client client;
	struct call call;

	open_plain(&client, f);
	watch_begin_with(&call, &client, "", 0);
	assert_int_equal(expect_bookmark(&call), 0);
	for (int i = 0; i < 20; i++) {
		append_events(f, 500);
		wait_stuck(f);
		expect_alive(f);
	}
	while (seen < 10000) {
		m = receive(&call);
		if (m->type == SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_DROPPED) {
			assert_int_equal(m->dropped->first_sequence, seen + 1);
			assert_int_equal(m->dropped->count, m->dropped->last_sequence - seen);
			dropped += m->dropped->count;
			seen = m->dropped->last_sequence;
		} else {
			assert_int_equal(m->sequence, ++seen);
			given++;
		}
		schedd__v1alpha1__event__free_unpacked(m, NULL);
	}
	assert_int_equal(given + dropped, 10000);
	print_message("%llu given, %llu dropped\n", (unsigned long long)given, (unsigned long long)dropped);
	/* What lay in the socket, and what was kept for it. */
	assert_in_range(dropped, 1, 10000 - EVENTS_RESTART);
	append_events(f, 1);
	assert_int_equal(expect_event(&call), 10001);
	cancel(&call);
	client_close(&client);
}

static void one_who_never_reads_disturbs_nobody(void **state)
{
	struct fixture *f = *state;
	struct client sleeper, reader;
	struct call asleep, call;
	struct events_stats stats;

	client_open(&sleeper, f);
	client_open(&reader, f);
	watch_begin_with(&asleep, &sleeper, "", 0);
	watch_begin_with(&call, &reader, "", 0);
	assert_int_equal(expect_bookmark(&call), 0);
	for (uint64_t n = 0; n < 5000; n += 100) {
		append_events(f, 100);
		for (uint64_t i = 1; i <= 100; i++)
			assert_int_equal(expect_event(&call), n + i);
	}
	events_get_stats(f->events, &stats);
	assert_int_equal(stats.readers, 2);
	cancel(&call);
	client_close(&reader);
	/* It goes without ever having read. */
	cancel(&asleep);
	client_close(&sleeper);
	wait_stat(f, get_connections, 0);
	assert_int_equal(f->server->nr_watches, 0);
}

static void the_65th_watch_is_refused(void **state)
{
	struct fixture *f = *state;
	struct call calls[EVENT_READERS_MAX], more;
	struct client client, second;

	client_open(&client, f);
	client_open(&second, f);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		watch_begin_with(&calls[i], &client, "", 0);
		expect_bookmark(&calls[i]);
	}
	watch_begin_with(&more, &second, "", 0);
	refused(&more, GRPC_STATUS_RESOURCE_EXHAUSTED, "TOO_MANY_WATCHERS");
	append_events(f, 100);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		for (uint64_t n = 1; n <= 100; n++)
			assert_int_equal(expect_event(&calls[i]), n);
		cancel(&calls[i]);
	}
	client_close(&client);
	client_close(&second);
	wait_stat(f, get_connections, 0);
	assert_int_equal(f->server->nr_watches, 0);
}

/* ---------- the end ---------- */

static void the_end_of_a_watch_is_no_failure(void **state)
{
	struct fixture *f = *state;
	struct api_server_stats stats;
	struct client client;
	struct call call;

	client_open(&client, f);
	watch_begin_with(&call, &client, KEPT, 2);
	expect_bookmark(&call);
	cancel(&call);
	client_close(&client);
	wait_stat(f, get_connections, 0);
	api_server_get_stats(f->server, &stats);
	assert_int_equal(stats.methods[COMMAND_WATCH_EVENTS].requests, 1);
	for (size_t i = 0; i < ARRAY_SIZE(stats.methods[0].failures); i++)
		assert_int_equal(stats.methods[COMMAND_WATCH_EVENTS].failures[i], 0);
	assert_int_equal(stats.request_seconds_count, 0);
}

static void stopping_ends_the_watches(void **state)
{
	struct fixture *f = *state;
	struct client idle, stuck, silent;
	struct call waits, sleeps, begun;
	struct result r = {};

	client_open(&idle, f);
	client_open(&stuck, f);
	client_open(&silent, f);
	watch_begin_with(&waits, &idle, "", 0);
	watch_begin_with(&sleeps, &stuck, "", 0);
	expect_bookmark(&waits);
	expect_bookmark(&sleeps);
	append_events(f, 1);
	expect_event(&waits);
	append_events(f, 1000);
	for (int i = 0; i < 1000; i++)
		expect_event(&waits);
	call_begin(&begun, &silent, METHOD, WAIT_MS); /* its request never comes */
	stop_server(f);
	refused(&waits, GRPC_STATUS_UNAVAILABLE, "STOPPING");
	/* A message was on its way to this one; what it gets is an end, not a hang. */
	while (call_receive(&sleeps, &r))
		;
	call_end(&sleeps, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	result_free(&r);
	call_end(&begun, &r);
	assert_status(&r, GRPC_STATUS_UNAVAILABLE);
	result_free(&r);
	client_close(&idle);
	client_close(&stuck);
	client_close(&silent);
}

#define T(name) cmocka_unit_test_setup_teardown(name, server_setup, server_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(events_come_as_they_happen),
		T(the_state_comes_first),
		T(bookmarks_come_by_themselves),
		T(resuming_has_neither_gap_nor_duplicate),
		T(a_reader_that_sleeps_is_told_what_it_missed),
		T(one_who_never_reads_disturbs_nobody),
		T(the_65th_watch_is_refused),
		T(the_end_of_a_watch_is_no_failure),
		T(stopping_ends_the_watches),
	};

	return cmocka_run_group_tests_name("server_watch", tests, server_group_setup, server_group_teardown);
}
