/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_schedbench_converge.c - the growth of batches, against a clock of our own */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/bench/schedbench/converge.h"

enum { MAX_BATCHES = 16 };

/* What each batch will take and give, and how large it was. */
struct script {
	double took_s[MAX_BATCHES], metric[MAX_BATCHES];
	int error_at;       /* batch that fails; 0: none, they count from 1 */
	double s_per_iter;  /* instead of took_s, when not 0 */
	uint64_t iters[MAX_BATCHES], now_ns;
	int batches;
};

static uint64_t fake_now_ns(void *arg)
{
	return ((struct script *)arg)->now_ns;
}

static int fake_measure(void *arg, uint64_t iters, double *ret_metric)
{
	struct script *s = arg;
	int i = s->batches++;

	assert_true(i < MAX_BATCHES);
	s->iters[i] = iters;
	if (s->error_at == s->batches)
		return -ECHILD;
	s->now_ns += (uint64_t)((s->s_per_iter > 0 ? s->s_per_iter * (double)iters : s->took_s[i]) * 1e9);
	*ret_metric = s->metric[i];
	return 0;
}

static int run(struct script *s, struct converge_end *ret_end)
{
	struct converge c = { 5, 10, 0.5, fake_now_ns, fake_measure, s, NULL };

	return converge_run(&c, ret_end);
}

static void test_long_enough_and_at_the_threshold_ends_with_the_metric(void **state)
{
	struct script s = { .took_s = { 5 }, .metric = { 0.5 } };
	struct converge_end end;

	(void)state;
	assert_int_equal(run(&s, &end), 0);
	assert_true(end.value == 0.5 && end.metric == 0.5 && end.elapsed_s == 5);
	assert_int_equal(end.iters, 1);
	assert_int_equal(end.batches, 1);
}

/* A high metric of a short batch is not believed. */
static void test_short_batches_grow_to_the_least_time(void **state)
{
	struct script s = { .took_s = { 0.5, 5 }, .metric = { 3, 3 } };
	struct converge_end end;

	(void)state;
	assert_int_equal(run(&s, &end), 0);
	assert_int_equal(s.iters[1], 10);
	assert_true(end.value == 3);
}

static void test_growth_is_rounded_up_and_bounded(void **state)
{
	/* 1 -> at most 100; 100 * 5 / 3 = 166.7 -> 167; 5 s minus a little -> at least one more. */
	struct script s = { .took_s = { 0.001, 3, 4.999999999, 5 }, .metric = { 0, 0, 0, 1 } };
	struct converge_end end;

	(void)state;
	assert_int_equal(run(&s, &end), 0);
	assert_int_equal(s.iters[0], 1);
	assert_int_equal(s.iters[1], 100);
	assert_int_equal(s.iters[2], 167);
	assert_int_equal(s.iters[3], 168);
}

static void test_no_time_at_all_grows_hundredfold(void **state)
{
	struct script s = { .took_s = { 0, 0, 6 }, .metric = { 1, 1, 1 } };
	struct converge_end end;

	(void)state;
	assert_int_equal(run(&s, &end), 0);
	assert_int_equal(s.iters[1], 100);
	assert_int_equal(s.iters[2], 10000);
}

static void test_between_the_times_a_low_metric_doubles(void **state)
{
	struct script s = { .took_s = { 5, 9, 11 }, .metric = { 0.1, 0.2, 0.3 } };
	struct converge_end end;

	(void)state;
	assert_int_equal(run(&s, &end), 0);
	assert_int_equal(s.iters[1], 2);
	assert_int_equal(s.iters[2], 4);
	assert_true(end.value == 0 && end.metric == 0.3);
	assert_int_equal(end.batches, 3);
}

static void test_exactly_the_longest_time_is_measured_again_as_it_is(void **state)
{
	struct script s = { .took_s = { 10, 11 }, .metric = { 0.1, 0.1 } };
	struct converge_end end;

	(void)state;
	assert_int_equal(run(&s, &end), 0);
	assert_int_equal(s.iters[1], 1);
	assert_true(end.value == 0);
}

/* Reached in a batch that is too long: still the metric, as that is asked first. */
static void test_threshold_goes_before_the_longest_time(void **state)
{
	struct script s = { .took_s = { 60 }, .metric = { 0.7 } };
	struct converge_end end;

	(void)state;
	assert_int_equal(run(&s, &end), 0);
	assert_true(end.value == 0.7);
}

/* As a test whose metric should be low uses it: a batch of 5 s and one of 10 s must both stay below. */
static void test_low_metric_needs_two_long_batches(void **state)
{
	struct script s = { .s_per_iter = 0.0101 };
	struct converge_end end;

	(void)state;
	assert_int_equal(run(&s, &end), 0);
	assert_int_equal(end.batches, 4);
	assert_int_equal(s.iters[1], 100);
	assert_int_equal(s.iters[2], 496);
	assert_int_equal(s.iters[3], 992);
	assert_true(end.value == 0);
}

static void test_failures_end_it(void **state)
{
	struct script s = { .took_s = { 1, 1 }, .error_at = 2 }, instant = { 0 };
	struct converge_end end = { .batches = 77 };

	(void)state;
	assert_int_equal(run(&s, &end), -ECHILD);
	assert_int_equal(end.batches, 77);
	assert_int_equal(run(&instant, &end), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_enough_and_at_the_threshold_ends_with_the_metric),
		cmocka_unit_test(test_short_batches_grow_to_the_least_time),
		cmocka_unit_test(test_growth_is_rounded_up_and_bounded),
		cmocka_unit_test(test_no_time_at_all_grows_hundredfold),
		cmocka_unit_test(test_between_the_times_a_low_metric_doubles),
		cmocka_unit_test(test_exactly_the_longest_time_is_measured_again_as_it_is),
		cmocka_unit_test(test_threshold_goes_before_the_longest_time),
		cmocka_unit_test(test_low_metric_needs_two_long_batches),
		cmocka_unit_test(test_failures_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
