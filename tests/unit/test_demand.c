/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_demand.c - counters that move, wrap their owners, come back: congestion and use per class */
#include "daemon/demand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LC = SCHEDD_CLASS_LATENCY_CRITICAL, BE = SCHEDD_CLASS_BEST_EFFORT };

static const uint64_t us = 1000, ms = 1000000;

struct bench {
	struct demand demand;
	struct demand_input in;
	struct demand_counters counters[SCHEDD_MAX_LLCS][SCHEDD_MAX_CLASSES];
	struct demand_class classes[SCHEDD_MAX_CLASSES];
};

static struct bench *bench_new(uint32_t nr_llcs)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	b->in = (struct demand_input){
		.now_ns = 1000 * ms,
		.nr_llcs = nr_llcs,
		.used = 1 << LC | 1 << BE,
		.counters = (const struct demand_counters (*)[SCHEDD_MAX_CLASSES])b->counters,
	};
	return b;
}

static const struct demand_class *tick(struct bench *b, uint64_t ns)
{
	b->in.now_ns += ns;
	demand_update(&b->demand, &b->in, b->classes);
	return &b->classes[LC];
}

static void test_the_first_update_knows_no_congestion(void **state)
{
	struct bench *b = bench_new(1);

	(void)state;
	b->in.congestion_ns[LC] = 10 * us;
	b->counters[0][LC] = (struct demand_counters){ 1000, 900, 900, 900 * ms, 5000 * ms };
	tick(b, 0);
	assert_false(b->classes[LC].congested);
	assert_int_equal(b->classes[LC].queued, 100);
	assert_int_equal(b->classes[LC].mean_delay_ns, 0);
	assert_int_equal(b->classes[LC].running_mcpu, 0);
	free(b);
}

static void test_what_was_queued_and_still_is(void **state)
{
	struct bench *b = bench_new(1);

	(void)state;
	tick(b, 0);
	b->counters[0][LC].enqueued = 3;
	assert_false(tick(b, 5 * us)->congested); /* they came only now */
	b->counters[0][LC].dequeued = 2;
	b->counters[0][LC].enqueued = 9;
	assert_true(tick(b, 5 * us)->congested);  /* the third is still there */
	assert_int_equal(b->classes[LC].congested_llcs, 1);
	assert_int_equal(b->classes[LC].queued, 7);
	b->counters[0][LC].dequeued = 9;
	b->counters[0][LC].enqueued = 20;
	assert_false(tick(b, 5 * us)->congested); /* all of those have left */
	assert_false(b->classes[BE].congested);
	free(b);
}

static void test_a_long_mean_delay_is_congestion(void **state)
{
	struct bench *b = bench_new(2);

	(void)state;
	b->in.congestion_ns[LC] = 10 * us;
	tick(b, 0);
	b->counters[0][LC].started = 4;
	b->counters[0][LC].queue_delay_ns = 40 * us;
	b->counters[1][LC].started = 1;
	b->counters[1][LC].queue_delay_ns = 5 * us;
	assert_false(tick(b, 5 * us)->congested); /* exactly the threshold */
	assert_int_equal(b->classes[LC].mean_delay_ns, 9 * us);
	b->counters[1][LC].started = 2;
	b->counters[1][LC].queue_delay_ns = 16 * us;
	assert_true(tick(b, 5 * us)->congested);
	assert_int_equal(b->classes[LC].congested_llcs, 1 << 1);
	assert_false(tick(b, 5 * us)->congested);
	b->in.congestion_ns[LC] = 0;
	b->counters[1][LC].started = 3;
	b->counters[1][LC].queue_delay_ns = 1000 * ms;
	assert_false(tick(b, 5 * us)->congested);
	free(b);
}

static void test_each_llc_is_judged_alone(void **state)
{
	struct bench *b = bench_new(64);

	(void)state;
	b->counters[63][LC].enqueued = 1;
	tick(b, 0);
	b->counters[0][LC].enqueued = b->counters[0][LC].dequeued = 500; /* busy elsewhere */
	assert_true(tick(b, 5 * us)->congested);
	assert_int_equal(b->classes[LC].congested_llcs, 1ULL << 63);
	free(b);
}

/* A task that another LLC took must not look as if it waited for ever. */
static void test_stolen_tasks_are_not_waiting(void **state)
{
	struct bench *b = bench_new(2);

	(void)state;
	tick(b, 0);
	for (int i = 0; i < 100; i++) {
		b->counters[0][LC].enqueued += 3;
		b->counters[0][LC].dequeued += 1;
		b->counters[1][LC].dequeued += 2;
		assert_false(tick(b, 5 * us)->congested);
		assert_int_equal(b->classes[LC].queued, 0);
	}
	b->counters[1][LC].enqueued += 1;
	tick(b, 5 * us);
	assert_true(tick(b, 5 * us)->congested);
	assert_int_equal(b->classes[LC].congested_llcs, 1 << 1);
	free(b);
}

/* CPUs are read one after the other: a task can be seen to leave before it is seen to come. */
static void test_reading_in_mid_change_leaves_no_trace(void **state)
{
	struct bench *b = bench_new(1);

	(void)state;
	tick(b, 0);
	b->counters[0][LC].dequeued = 1;
	assert_false(tick(b, 5 * us)->congested);
	assert_int_equal(b->classes[LC].queued, 0);
	b->counters[0][LC].enqueued = 1;
	assert_false(tick(b, 5 * us)->congested);
	assert_false(tick(b, 5 * us)->congested);
	assert_int_equal(b->classes[LC].queued, 0);
	free(b);
}

static void test_counters_that_begin_again(void **state)
{
	struct bench *b = bench_new(2);

	(void)state;
	b->in.congestion_ns[LC] = 10 * us;
	b->counters[0][LC] = b->counters[1][LC] = (struct demand_counters){ 1000, 990, 990, 900 * ms, 5000 * ms };
	tick(b, 0);
	b->counters[0][LC] = (struct demand_counters){ 5, 3, 3, 30 * us, 20 * us };
	b->counters[1][LC] = (struct demand_counters){};
	assert_false(tick(b, 5 * us)->congested);
	assert_int_equal(b->classes[LC].queued, 2);
	assert_int_equal(b->classes[LC].running_mcpu, 0);
	assert_int_equal(b->classes[LC].mean_delay_ns, 0);
	assert_true(tick(b, 5 * us)->congested); /* those two are still there */
	free(b);
}

static void test_one_counter_alone_that_begins_again(void **state)
{
	static const size_t offsets[] = { offsetof(struct demand_counters, enqueued), offsetof(struct demand_counters, dequeued),
					  offsetof(struct demand_counters, started),
					  offsetof(struct demand_counters, queue_delay_ns),
					  offsetof(struct demand_counters, cpu_ns) };

	(void)state;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		struct bench *b = bench_new(1);

		b->in.congestion_ns[LC] = 10 * us;
		b->counters[0][LC] = (struct demand_counters){ 1000, 1000, 1000, 900 * ms, 5000 * ms };
		tick(b, 0);
		*(uint64_t *)((char *)&b->counters[0][LC] + offsets[i]) = 7;
		for (int k = 0; k < 3; k++) {
			assert_false(tick(b, 5 * us)->congested);
			assert_int_equal(b->classes[LC].queued, 0);
			assert_int_equal(b->classes[LC].running_mcpu, 0);
		}
		free(b);
	}
}

static void test_a_class_that_is_new_has_no_past(void **state)
{
	struct bench *b = bench_new(1);

	(void)state;
	b->in.used = 1 << BE;
	tick(b, 0);
	b->in.used |= 1 << LC;
	b->in.congestion_ns[LC] = 10 * us;
	b->counters[0][LC] = (struct demand_counters){ 1000, 999, 999, 900 * ms, 5000 * ms };
	assert_false(tick(b, 5 * us)->congested);
	assert_int_equal(b->classes[LC].running_mcpu, 0);
	b->in.used = 1 << BE;
	tick(b, 5 * us);
	assert_int_equal(b->classes[LC].queued, 0);
	free(b);
}

static void test_no_time_has_passed(void **state)
{
	struct bench *b = bench_new(1);

	(void)state;
	b->counters[0][LC].enqueued = 1;
	tick(b, 0);
	b->counters[0][LC].cpu_ns = 5 * us;
	assert_false(tick(b, 0)->congested);
	assert_int_equal(b->classes[LC].running_mcpu, 0);
	assert_true(tick(b, 5 * us)->congested);
	assert_int_equal(b->classes[LC].running_mcpu, 1000); /* nothing was lost */
	free(b);
}

/* ---------- use ---------- */

/* Runs two CPUs for 100 ms in steps of interval_ns, charged in lumps of lump_ns. */
static uint32_t average_after(uint64_t interval_ns, uint64_t lump_ns)
{
	struct bench *b = bench_new(2);
	uint64_t ran = 0;
	uint32_t average;

	tick(b, 0);
	for (uint64_t t = interval_ns; t <= 100 * ms; t += interval_ns) {
		ran = 2 * t / lump_ns * lump_ns;
		b->counters[0][LC].cpu_ns = ran / 2;
		b->counters[1][LC].cpu_ns = ran - ran / 2;
		tick(b, interval_ns);
	}
	average = b->classes[LC].utilisation_mcpu;
	free(b);
	return average;
}

static void test_the_average_does_not_depend_on_the_interval(void **state)
{
	(void)state;
	/* After one half-life, half of two CPUs. */
	assert_int_equal(average_after(100 * ms, 1), 1000);
	assert_int_equal(average_after(10 * ms, 1), 1000);
	assert_int_equal(average_after(ms, 1), 1000);
	assert_int_equal(average_after(5 * us, 1), 1000);
}

static void test_lumps_weigh_what_they_are(void **state)
{
	(void)state;
	assert_in_range(average_after(ms, 8 * ms), 970, 1030);
	assert_in_range(average_after(5 * us, 8 * ms), 970, 1030);
}

static void test_the_average_falls_to_nothing(void **state)
{
	struct bench *b = bench_new(1);

	(void)state;
	tick(b, 0);
	b->counters[0][LC].cpu_ns = 8000 * ms;
	tick(b, 1000 * ms);
	assert_int_equal(b->classes[LC].running_mcpu, 8000);
	assert_int_equal(b->classes[LC].utilisation_mcpu, 7992);
	tick(b, 100 * ms);
	assert_int_equal(b->classes[LC].utilisation_mcpu, 3996);
	for (int i = 0; i < 2000; i++)
		tick(b, ms);
	assert_int_equal(b->classes[LC].utilisation_mcpu, 0);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_update_knows_no_congestion),
		cmocka_unit_test(test_what_was_queued_and_still_is),
		cmocka_unit_test(test_a_long_mean_delay_is_congestion),
		cmocka_unit_test(test_each_llc_is_judged_alone),
		cmocka_unit_test(test_stolen_tasks_are_not_waiting),
		cmocka_unit_test(test_reading_in_mid_change_leaves_no_trace),
		cmocka_unit_test(test_counters_that_begin_again),
		cmocka_unit_test(test_one_counter_alone_that_begins_again),
		cmocka_unit_test(test_a_class_that_is_new_has_no_past),
		cmocka_unit_test(test_no_time_has_passed),
		cmocka_unit_test(test_the_average_does_not_depend_on_the_interval),
		cmocka_unit_test(test_lumps_weigh_what_they_are),
		cmocka_unit_test(test_the_average_falls_to_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
