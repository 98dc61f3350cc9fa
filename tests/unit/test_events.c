/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_events.c - the ring: sequences, filters, what is dropped, where one may begin */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/events.h"

static const struct event_filter everything;

static int set_up(void **state)
{
	struct events *ev = NULL;

	if (events_new("0123456789abcdef", &ev) < 0)
		return -1;
	*state = ev;
	return 0;
}

static int tear_down(void **state)
{
	events_free(*state);
	return 0;
}

static void append(struct events *ev, enum event_type type, const char *class_name, const char *from)
{
	struct event e = { .type = type, .sequence = 4711 };

	strcpy(e.class_name, class_name);
	strcpy(e.from_class_name, from);
	events_append(ev, &e);
}

static void append_many(struct events *ev, unsigned int n)
{
	while (n--)
		append(ev, EVENT_STATE_CHANGED, "", "");
}

static void expect_sequence(struct events *ev, struct event_reader *reader, uint64_t sequence)
{
	struct event e;

	assert_true(events_next(ev, reader, &e));
	assert_int_equal(e.sequence, sequence);
	assert_int_not_equal(e.type, EVENT_DROPPED);
	assert_string_equal(e.epoch, "0123456789abcdef");
}

static void expect_nothing(struct events *ev, struct event_reader *reader)
{
	struct event e;

	if (events_next(ev, reader, &e))
		fail_msg("event %llu of type %d, none expected", (unsigned long long)e.sequence, e.type);
}

static void expect_dropped(struct events *ev, struct event_reader *reader, uint64_t first, uint64_t last)
{
	struct event e;

	assert_true(events_next(ev, reader, &e));
	assert_int_equal(e.type, EVENT_DROPPED);
	assert_int_equal(e.dropped.first_sequence, first);
	assert_int_equal(e.dropped.last_sequence, last);
	assert_int_equal(e.sequence, last);
}

static void open_at(struct events *ev, uint64_t after, struct event_reader *reader)
{
	assert_int_equal(events_open(ev, &everything, after, reader), 0);
}

/* ---------- sequences ---------- */

static void test_sequences_begin_at_1_and_have_no_gap(void **state)
{
	struct events *ev = *state;
	struct event_reader reader;

	assert_int_equal(events_last(ev), 0);
	open_at(ev, 0, &reader);
	expect_nothing(ev, &reader);
	append_many(ev, 3);
	assert_int_equal(events_last(ev), 3);
	for (uint64_t n = 1; n <= 3; n++)
		expect_sequence(ev, &reader, n);
	expect_nothing(ev, &reader);
	events_close(ev, &reader);
}

static void test_what_was_appended_comes_out(void **state)
{
	struct events *ev = *state;
	struct event_reallocation r = { .cpu = 7, .trigger = "congestion", .took_ns = 5000, .plan_generation = 9 };
	struct event_reader reader;
	struct event e;

	open_at(ev, 0, &reader);
	events_append_reallocation(ev, 1234, "best-effort", "web", &r);
	assert_true(events_next(ev, &reader, &e));
	assert_int_equal(e.type, EVENT_REALLOCATION);
	assert_int_equal(e.realtime_ns, 1234);
	assert_int_equal(e.cause.source, EVENT_FROM_ALLOCATOR);
	assert_string_equal(e.class_name, "web");
	assert_string_equal(e.from_class_name, "best-effort");
	assert_int_equal(e.reallocation.cpu, 7);
	assert_string_equal(e.reallocation.trigger, "congestion");
	assert_int_equal(e.reallocation.took_ns, 5000);
	assert_int_equal(e.reallocation.plan_generation, 9);
	events_close(ev, &reader);
}

static void test_texts_are_cut_at_a_character(void **state)
{
	char text[EVENT_TEXT_MAX + 1], longer[EVENT_TEXT_MAX + 10];

	(void)state;
	memset(longer, 'a', sizeof(longer));
	longer[EVENT_TEXT_MAX] = '\0';
	event_set_text(text, longer);
	assert_string_equal(text, longer);
	longer[EVENT_TEXT_MAX] = 'a';
	longer[EVENT_TEXT_MAX + 1] = '\0';
	event_set_text(text, longer);
	assert_int_equal(strlen(text), EVENT_TEXT_MAX);
	assert_string_equal(text + EVENT_TEXT_MAX - 4, "a...");
	/* Where the cut would be is the second byte of a character. */
	memcpy(longer + EVENT_TEXT_MAX - 4, "\xc3\xa4", 2);
	event_set_text(text, longer);
	assert_true(str_is_utf8(text));
	assert_string_equal(text + EVENT_TEXT_MAX - 5, "a...");
}

/* ---------- filters ---------- */

static void test_the_default_leaves_out_preemptions(void **state)
{
	struct events *ev = *state;
	struct event_filter asked = { .types = 1u << EVENT_PREEMPTION };
	struct event_reader usual, special;

	open_at(ev, 0, &usual);
	assert_int_equal(events_open(ev, &asked, 0, &special), 0);
	append(ev, EVENT_PREEMPTION, "web", "");
	append(ev, EVENT_CONGESTION, "web", "");
	expect_sequence(ev, &usual, 2);
	expect_nothing(ev, &usual);
	expect_sequence(ev, &special, 1);
	expect_nothing(ev, &special);
	events_close(ev, &usual);
	events_close(ev, &special);
}

static void test_classes_before_and_after_count(void **state)
{
	struct events *ev = *state;
	struct event_filter filter = { .class_names = { "web", "api" }, .nr_class_names = 2 };
	struct event_reader reader;

	assert_int_equal(events_open(ev, &filter, 0, &reader), 0);
	append(ev, EVENT_DECISION_CHANGED, "web", "normal");
	append(ev, EVENT_DECISION_CHANGED, "normal", "best-effort");
	append(ev, EVENT_DECISION_CHANGED, "normal", "api");
	append(ev, EVENT_STATE_CHANGED, "", "");
	append(ev, EVENT_CLASS_DELETED, "api", "");
	expect_sequence(ev, &reader, 1);
	expect_sequence(ev, &reader, 3);
	expect_sequence(ev, &reader, 5);
	expect_nothing(ev, &reader);
	events_close(ev, &reader);
}

/* What it does not want moves it on at once, so a narrow filter never loses what it waits for. */
static void test_a_narrow_filter_does_not_fall_behind(void **state)
{
	struct events *ev = *state;
	struct event_filter filter = { .class_names = { "web" }, .nr_class_names = 1 };
	struct event_reader reader;

	assert_int_equal(events_open(ev, &filter, 0, &reader), 0);
	append_many(ev, 3 * EVENTS_RING);
	assert_int_equal(reader.position, 3 * EVENTS_RING);
	append(ev, EVENT_CLASS_CHANGED, "web", "");
	expect_sequence(ev, &reader, 3 * EVENTS_RING + 1);
	expect_nothing(ev, &reader);
	events_close(ev, &reader);
}

/* ---------- slow readers ---------- */

static void test_the_allowance_is_exact(void **state)
{
	struct events *ev = *state;
	struct events_stats stats;
	struct event_reader reader;

	open_at(ev, 0, &reader);
	append_many(ev, EVENTS_ALLOWANCE);
	expect_sequence(ev, &reader, 1);
	append_many(ev, 1);
	expect_sequence(ev, &reader, 2);
	append_many(ev, 2);
	expect_dropped(ev, &reader, 3, EVENTS_ALLOWANCE + 3 - EVENTS_RESTART);
	expect_sequence(ev, &reader, EVENTS_ALLOWANCE + 3 - EVENTS_RESTART + 1);
	events_get_stats(ev, &stats);
	assert_int_equal(stats.dropped, EVENTS_ALLOWANCE + 1 - EVENTS_RESTART);
	assert_int_equal(stats.readers, 1);
	events_close(ev, &reader);
}

/* However often and long it sleeps: what it is given and what it is told it missed add up. */
static void test_given_and_dropped_add_up(void **state)
{
	struct events *ev = *state;
	uint64_t seen = 0, dropped = 0;
	struct events_stats stats;
	struct event_reader reader;
	unsigned int seed = 4;
	struct event e;

	print_message("seed %u\n", seed);
	open_at(ev, 0, &reader);
	for (int i = 0; i < 200; i++) {
		append_many(ev, (unsigned int)rand_r(&seed) % (2 * EVENTS_RING));
		for (int n = rand_r(&seed) % EVENTS_RING; n && events_next(ev, &reader, &e); n--) {
			if (e.type == EVENT_DROPPED) {
				assert_int_equal(e.dropped.first_sequence, seen + 1);
				dropped += e.dropped.last_sequence - seen;
				seen = e.dropped.last_sequence;
				continue;
			}
			assert_int_equal(e.sequence, ++seen);
		}
	}
	while (events_next(ev, &reader, &e))
		seen = e.sequence;
	assert_int_equal(seen, events_last(ev));
	events_get_stats(ev, &stats);
	assert_true(dropped > 0 && stats.dropped >= dropped);
	events_close(ev, &reader);
}

static void test_the_past_is_no_falling_behind(void **state)
{
	struct events *ev = *state;
	struct event_reader reader;
	uint64_t oldest;

	append_many(ev, 2 * EVENTS_RING);
	oldest = events_oldest(ev);
	assert_int_equal(oldest, 2 * EVENTS_RING - EVENTS_KEPT);
	open_at(ev, oldest, &reader);
	expect_sequence(ev, &reader, oldest + 1);
	/* All that may come before it is given the next: the ring holds what it has a right to. */
	append_many(ev, EVENTS_ALLOWANCE);
	for (uint64_t n = oldest + 2; n <= events_last(ev); n++)
		expect_sequence(ev, &reader, n);
	expect_nothing(ev, &reader);
	events_close(ev, &reader);
	oldest = events_oldest(ev);
	open_at(ev, oldest, &reader);
	append_many(ev, EVENTS_ALLOWANCE + 1);
	expect_dropped(ev, &reader, oldest + 1, events_last(ev) - EVENTS_RESTART);
	events_close(ev, &reader);
}

/* ---------- where to begin ---------- */

static void test_resume_has_neither_gap_nor_duplicate(void **state)
{
	struct events *ev = *state;
	struct event_reader reader;
	uint64_t seen = 0;

	append_many(ev, 100);
	for (int i = 0; i < 10; i++) {
		open_at(ev, seen, &reader);
		for (int n = 0; n < 7; n++)
			expect_sequence(ev, &reader, ++seen);
		events_close(ev, &reader);
		append_many(ev, 3);
	}
}

static void test_what_is_not_kept_is_refused(void **state)
{
	struct events *ev = *state;
	struct event_reader reader = { .position = 99 };

	append_many(ev, EVENTS_KEPT + 5);
	assert_int_equal(events_oldest(ev), 5);
	assert_int_equal(events_open(ev, &everything, 4, &reader), -ERANGE);
	assert_int_equal(events_open(ev, &everything, EVENTS_KEPT + 6, &reader), -ERANGE);
	assert_int_equal(reader.position, 99);
	open_at(ev, EVENTS_KEPT + 5, &reader);
	events_close(ev, &reader);
	open_at(ev, 5, &reader);
	events_close(ev, &reader);
}

static void test_the_65th_reader_is_refused(void **state)
{
	struct events *ev = *state;
	struct event_reader readers[EVENT_READERS_MAX + 1];
	struct events_stats stats;

	for (int i = 0; i < EVENT_READERS_MAX; i++)
		open_at(ev, 0, &readers[i]);
	assert_int_equal(events_open(ev, &everything, 0, &readers[EVENT_READERS_MAX]), -ENOSPC);
	events_close(ev, &readers[3]);
	open_at(ev, 0, &readers[EVENT_READERS_MAX]);
	append_many(ev, 1);
	for (int i = 0; i <= EVENT_READERS_MAX; i++)
		if (i != 3) {
			expect_sequence(ev, &readers[i], 1);
			events_close(ev, &readers[i]);
		}
	events_get_stats(ev, &stats);
	assert_int_equal(stats.readers, 0);
}

static void count_wake(void *ctx)
{
	++*(int *)ctx;
}

static void test_only_wanted_events_wake(void **state)
{
	struct events *ev = *state;
	struct event_filter filter = { .types = 1u << EVENT_CLASS_CHANGED };
	struct event_reader reader;
	int wakes = 0;

	events_set_wake(ev, count_wake, &wakes);
	append_many(ev, 5);
	assert_int_equal(events_open(ev, &filter, 5, &reader), 0);
	append_many(ev, 5);
	assert_int_equal(wakes, 0);
	append(ev, EVENT_CLASS_CHANGED, "web", "");
	assert_int_equal(wakes, 1);
	events_close(ev, &reader);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_sequences_begin_at_1_and_have_no_gap),
		T(test_what_was_appended_comes_out),
		T(test_texts_are_cut_at_a_character),
		T(test_the_default_leaves_out_preemptions),
		T(test_classes_before_and_after_count),
		T(test_a_narrow_filter_does_not_fall_behind),
		T(test_the_allowance_is_exact),
		T(test_given_and_dropped_add_up),
		T(test_the_past_is_no_falling_behind),
		T(test_resume_has_neither_gap_nor_duplicate),
		T(test_what_is_not_kept_is_refused),
		T(test_the_65th_reader_is_refused),
		T(test_only_wanted_events_wake),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
