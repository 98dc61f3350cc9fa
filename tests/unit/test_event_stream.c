/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_event_stream.c - WatchEvents as a command: the state, what happens, bookmarks, and what is refused */
#include "tests/unit/command_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/event_stream.h"

#define EPOCH "00000000000000aa"

enum { SECOND = 1000000000, REALTIME = 55 };

static int stream_set_up(void **state)
{
	struct fake *f;

	if (set_up(state) < 0)
		return -1;
	f = *state;
	return events_new(EPOCH, &f->env.events);
}

static int stream_tear_down(void **state)
{
	struct fake *f = *state;

	events_free(f->env.events);
	return tear_down(state);
}

static struct command_watch *watch(struct fake *f)
{
	struct command *c = command(f, COMMAND_WATCH_EVENTS);

	c->watch.epoch = "";
	c->watch.bookmark_ns = 10 * (uint64_t)SECOND;
	return &c->watch;
}

static struct event_stream *begin(struct fake *f)
{
	run_ok(f);
	assert_non_null(f->reply.stream);
	return f->reply.stream;
}

static void append(struct fake *f, enum event_type type)
{
	const struct event e = { .type = type };

	events_append(f->env.events, &e);
}

static struct event next(struct event_stream *st, uint64_t now_ns, enum event_type type)
{
	uint64_t again_ns;
	struct event e;

	if (!event_stream_next(st, &(struct event_times){ now_ns, REALTIME, now_ns }, &e, &again_ns))
		fail_msg("no event, expected type %d", type);
	if (e.type != type)
		fail_msg("event of type %d, expected %d", e.type, type);
	assert_string_equal(e.epoch, EPOCH);
	return e;
}

static void expect_silence(struct event_stream *st, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t again_ns = 0;
	struct event e;

	if (event_stream_next(st, &(struct event_times){ now_ns, REALTIME, now_ns }, &e, &again_ns))
		fail_msg("event of type %d, none expected", e.type);
	assert_int_equal(again_ns, until_ns);
}

/* ---------- from now, from the past ---------- */

static void test_from_now_on(void **state)
{
	struct fake *f = *state;
	struct event_stream *st;
	struct event e;

	append(f, EVENT_STATE_CHANGED);
	watch(f);
	st = begin(f);
	e = next(st, SECOND, EVENT_BOOKMARK);
	assert_int_equal(e.sequence, 1);
	assert_int_equal(e.realtime_ns, REALTIME);
	append(f, EVENT_CONFIG_CHANGED);
	e = next(st, SECOND, EVENT_CONFIG_CHANGED);
	assert_int_equal(e.sequence, 2);
	assert_int_equal(e.realtime_ns, 0); /* that of the event */
	event_stream_free(st);
}

static void test_all_that_is_kept_and_then_a_bookmark(void **state)
{
	struct fake *f = *state;
	struct event_stream *st;

	for (int i = 0; i < 3; i++)
		append(f, EVENT_STATE_CHANGED);
	watch(f)->has_after = true;
	st = begin(f);
	append(f, EVENT_CONFIG_CHANGED);
	for (uint64_t n = 1; n <= 3; n++)
		assert_int_equal(next(st, 0, EVENT_STATE_CHANGED).sequence, n);
	/* It says that the past is over even while more happens. */
	assert_int_equal(next(st, 0, EVENT_BOOKMARK).sequence, 3);
	assert_int_equal(next(st, 0, EVENT_CONFIG_CHANGED).sequence, 4);
	event_stream_free(st);
}

static void test_bookmarks_come_in_the_silence(void **state)
{
	const uint64_t s = SECOND;
	struct fake *f = *state;
	struct event_stream *st;

	watch(f)->filter.types = 1u << EVENT_CLASS_CHANGED;
	st = begin(f);
	next(st, 1 * s, EVENT_BOOKMARK);
	expect_silence(st, 2 * s, 11 * s);
	append(f, EVENT_CLASS_CHANGED);
	next(st, 5 * s, EVENT_CLASS_CHANGED);
	append(f, EVENT_STATE_CHANGED); /* left out by the filter, and counted by the bookmark */
	expect_silence(st, 14 * s, 15 * s);
	assert_int_equal(next(st, 15 * s, EVENT_BOOKMARK).sequence, 2);
	expect_silence(st, 15 * s, 25 * s);
	event_stream_free(st);
}

static void test_a_bookmark_resumes_without_gap_or_duplicate(void **state)
{
	struct fake *f = *state;
	struct command_watch *w;
	struct event_stream *st;
	struct event e;

	watch(f);
	st = begin(f);
	append(f, EVENT_STATE_CHANGED);
	next(st, 0, EVENT_BOOKMARK);
	e = next(st, 0, EVENT_STATE_CHANGED);
	event_stream_free(st);
	append(f, EVENT_CLASS_CHANGED);
	append(f, EVENT_CLASS_DELETED);
	w = watch(f);
	w->epoch = EPOCH;
	w->has_after = true;
	w->after_sequence = e.sequence;
	st = begin(f);
	assert_int_equal(next(st, 0, EVENT_CLASS_CHANGED).sequence, 2);
	assert_int_equal(next(st, 0, EVENT_CLASS_DELETED).sequence, 3);
	next(st, 0, EVENT_BOOKMARK);
	expect_silence(st, 0, 10 * (uint64_t)SECOND);
	event_stream_free(st);
}

static void test_a_slow_reader_is_told(void **state)
{
	struct fake *f = *state;
	struct event_stream *st;
	struct event e;

	watch(f);
	st = begin(f);
	next(st, 0, EVENT_BOOKMARK);
	for (int i = 0; i < 5000; i++)
		append(f, EVENT_STATE_CHANGED);
	e = next(st, 0, EVENT_DROPPED);
	assert_int_equal(e.realtime_ns, REALTIME);
	assert_int_equal(e.dropped.first_sequence, 1);
	assert_int_equal(e.dropped.last_sequence, 5000 - EVENTS_RESTART);
	for (uint64_t n = e.dropped.last_sequence + 1; n <= 5000; n++)
		assert_int_equal(next(st, 0, EVENT_STATE_CHANGED).sequence, n);
	expect_silence(st, 0, 10 * (uint64_t)SECOND);
	event_stream_free(st);
}

/* ---------- the initial state ---------- */

static void order(struct fake *f, const char *path, const char *class_name)
{
	on_path(f, COMMAND_SET_CLASS, path, class_name)->lifetime = LIFETIME_RUNTIME;
	run_ok(f);
}

static void test_the_state_then_its_end(void **state)
{
	struct fake *f = *state;
	struct event_stream *st;
	struct event e;
	char id[STATE_ID_MAX + 1];

	order(f, "/a", "be");
	order(f, "/web.service", "lc");
	cut(f->state, cgroup_tree_find_path(f->state->tree, "/web.service"));
	append(f, EVENT_STATE_CHANGED);
	watch(f)->initial_state = true;
	st = begin(f);
	append(f, EVENT_CONFIG_CHANGED);
	assert_string_equal(next(st, 0, EVENT_CLASS_CHANGED).class_name, "normal");
	next(st, 0, EVENT_CLASS_CHANGED);
	e = next(st, 0, EVENT_CLASS_CHANGED);
	assert_int_equal(e.sequence, 1);
	assert_int_equal(e.class.settings.set, CLASS_FIELD_ALL);
	e = next(st, 0, EVENT_DECISION_CHANGED);
	assert_string_equal(e.decision.path, "/a");
	assert_string_equal(e.class_name, "best-effort");
	assert_string_equal(e.decision.source, "call");
	assert_int_equal(e.cause.source, EVENT_FROM_API);
	assert_int_equal(e.cause.pid, 42);
	assert_int_equal(e.realtime_ns, f->now_ns);
	memcpy(id, e.decision.assignment_id, sizeof(id));
	e = next(st, 0, EVENT_DECISION_CHANGED);
	assert_true(strcmp(e.decision.assignment_id, id) > 0);
	assert_int_equal(e.decision.cgroup_id, 0); /* it waits for its target */
	assert_string_equal(e.decision.path, "/web.service");
	e = next(st, 0, EVENT_INITIAL_STATE_END);
	assert_int_equal(e.sequence, 1);
	/* No bookmark behind it: it says the same. */
	assert_int_equal(next(st, 0, EVENT_CONFIG_CHANGED).sequence, 2);
	expect_silence(st, 0, 10 * (uint64_t)SECOND);
	event_stream_free(st);
}

static void test_the_state_may_change_meanwhile(void **state)
{
	struct fake *f = *state;
	struct event_stream *st;

	order(f, "/a", "be");
	order(f, "/a/b", "lc");
	order(f, "/web.service", "lc");
	watch(f)->initial_state = true;
	f->cmd.watch.filter.types = 1u << EVENT_DECISION_CHANGED;
	st = begin(f);
	assert_string_equal(next(st, 0, EVENT_DECISION_CHANGED).decision.path, "/a");
	/* The one that was sent goes, so those behind it change their places. */
	state_remove_assignment(f->state, 0);
	assert_string_equal(next(st, 0, EVENT_DECISION_CHANGED).decision.path, "/a/b");
	assert_string_equal(next(st, 0, EVENT_DECISION_CHANGED).decision.path, "/web.service");
	next(st, 0, EVENT_INITIAL_STATE_END);
	event_stream_free(st);
}

static void test_the_filter_holds_for_the_state(void **state)
{
	struct fake *f = *state;
	struct command_watch *w;
	struct event_stream *st;

	order(f, "/a", "be");
	order(f, "/a/b", "lc");
	w = watch(f);
	w->initial_state = true;
	strcpy(w->filter.class_names[w->filter.nr_class_names++], "latency-critical");
	st = begin(f);
	assert_string_equal(next(st, 0, EVENT_CLASS_CHANGED).class_name, "latency-critical");
	assert_string_equal(next(st, 0, EVENT_DECISION_CHANGED).decision.path, "/a/b");
	next(st, 0, EVENT_INITIAL_STATE_END);
	event_stream_free(st);
	w = watch(f);
	w->initial_state = true;
	w->filter.types = 1u << EVENT_CONGESTION;
	st = begin(f);
	next(st, 0, EVENT_INITIAL_STATE_END);
	event_stream_free(st);
}

/* ---------- refused ---------- */

static void test_where_nothing_can_be_resumed(void **state)
{
	struct fake *f = *state;
	struct command_watch *w = watch(f);
	struct events_stats stats;

	for (int i = 0; i < EVENTS_KEPT + 10; i++)
		append(f, EVENT_STATE_CHANGED);
	w->has_after = true;
	w->epoch = "00000000000000bb";
	w->after_sequence = EVENTS_KEPT;
	run_refused(f, COMMAND_OUT_OF_RANGE, "EVENTS_GONE", "begin anew");
	w->epoch = EPOCH;
	w->after_sequence = 9;
	run_refused(f, COMMAND_OUT_OF_RANGE, "EVENTS_GONE", "only those after 10");
	w->after_sequence = EVENTS_KEPT + 11;
	run_refused(f, COMMAND_OUT_OF_RANGE, "EVENTS_GONE", "still to come");
	assert_null(f->reply.stream);
	events_get_stats(f->env.events, &stats);
	assert_int_equal(stats.readers, 0);
	w->after_sequence = 10;
	event_stream_free(begin(f));
}

static void test_the_65th_is_refused(void **state)
{
	struct event_stream *streams[EVENT_READERS_MAX];
	struct fake *f = *state;

	watch(f);
	for (int i = 0; i < EVENT_READERS_MAX; i++)
		streams[i] = begin(f);
	run_refused(f, COMMAND_RESOURCE_EXHAUSTED, "TOO_MANY_WATCHERS", "64 watches");
	event_stream_free(streams[0]);
	streams[0] = begin(f);
	for (int i = 0; i < EVENT_READERS_MAX; i++)
		event_stream_free(streams[i]);
}

static void test_to_look_is_enough(void **state)
{
	struct fake *f = *state;

	watch(f);
	f->cmd.caller.role = ROLE_VIEW;
	event_stream_free(begin(f));
}

#define T(name) cmocka_unit_test_setup_teardown(name, stream_set_up, stream_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_from_now_on),
		T(test_all_that_is_kept_and_then_a_bookmark),
		T(test_bookmarks_come_in_the_silence),
		T(test_a_bookmark_resumes_without_gap_or_duplicate),
		T(test_a_slow_reader_is_told),
		T(test_the_state_then_its_end),
		T(test_the_state_may_change_meanwhile),
		T(test_the_filter_holds_for_the_state),
		T(test_where_nothing_can_be_resumed),
		T(test_the_65th_is_refused),
		T(test_to_look_is_enough),
	};

	return cmocka_run_group_tests_name("event_stream", tests, NULL, NULL);
}
