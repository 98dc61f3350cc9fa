/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_schedbench_samples.c - percentiles, reservoirs, arrivals: what figures are made of */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/bench/sample.h"
#include "tests/bench/schedbench/arrivals.h"
#include "tests/bench/schedbench/reservoir.h"
#include "tests/bench/schedbench/result.h"

static void test_percentile_is_at_index_of_sorted(void **state)
{
	uint64_t ns[1001];

	(void)state;
	for (long n = 1; n <= 1001; n++) {
		/* Downwards: sorting must matter. */
		for (long i = 0; i < n; i++)
			ns[i] = (uint64_t)(n - 1 - i) * 7;
		sample_sort(ns, n);
		for (int percent = 0; percent <= 100; percent++)
			assert_int_equal(sample_at(ns, n, percent / 100.0), 7 * (uint64_t)((n - 1) * (percent / 100.0)));
		assert_int_equal(sample_at(ns, n, 1), ns[n - 1]);
	}
}

static double metric_of(const struct result *r, const char *name)
{
	for (size_t i = 0; i < r->nr_metrics; i++)
		if (strcmp(r->metrics[i].name, name) == 0)
			return r->metrics[i].value;
	return NAN;
}

static void test_series_has_its_percentiles_and_keeps_the_order_of_samples(void **state)
{
	uint64_t ns[1000];
	struct result r;

	(void)state;
	for (int i = 0; i < 1000; i++)
		ns[i] = (uint64_t)(999 - i) * 1000;
	result_init(&r, true);
	result_series(&r, "x_", ns, 1000);
	assert_true(metric_of(&r, "x_n") == 1000);
	assert_true(metric_of(&r, "x_p50_us") == 499);
	assert_true(metric_of(&r, "x_p90_us") == 899);
	assert_true(metric_of(&r, "x_p99_us") == 989);
	assert_true(metric_of(&r, "x_p999_us") == 998);
	assert_true(metric_of(&r, "x_max_us") == 999);
	assert_int_equal(r.nr_samples, 1000);
	assert_true(r.samples_us[0] == 999 && r.samples_us[999] == 0);
	result_series(&r, "y_", ns, 0);
	assert_true(metric_of(&r, "y_n") == 0);
	assert_true(isnan(metric_of(&r, "y_p50_us")));
	assert_int_equal(r.nr_samples, 1000);
	result_destroy(&r);
}

static void test_reservoir_is_exact_until_full_then_forgets(void **state)
{
	uint64_t memory[8];
	struct reservoir r;
	int low = 0;

	(void)state;
	reservoir_init(&r, memory, 8, 1);
	assert_int_equal(reservoir_quantile(&r, 0.5), 0);
	for (uint64_t i = 0; i < 8; i++)
		reservoir_add(&r, i);
	for (int i = 0; i < 8; i++)
		assert_int_equal(memory[i], i);
	assert_int_equal(reservoir_quantile(&r, 0.5), 3);
	for (uint64_t i = 0; i < 200; i++)
		reservoir_add(&r, 1000 + i);
	assert_int_equal(r.n, 8);
	assert_int_equal(r.nr_seen, 208);
	for (int i = 0; i < 8; i++)
		low += memory[i] < 1000;
	/* Each of the old ones stayed with a chance of (7/8)^200. */
	assert_int_equal(low, 0);
	reservoir_reset(&r);
	assert_int_equal(r.n + r.nr_seen, 0);
}

static void test_arrivals_at_equal_gaps_do_not_drift(void **state)
{
	struct arrivals a = { .rate_per_s = 3000, .seconds = 100, .seed = 1 };
	_cleanup_free_ uint64_t *times = calloc(arrivals_max(&a), sizeof(*times));
	size_t n = arrivals_draw(&a, times);

	(void)state;
	assert_int_equal(n, 299999);
	assert_int_equal(times[0], 333333);
	for (size_t i = 0; i < n; i++)
		assert_true(fabs((double)times[i] - (double)(i + 1) * 1e9 / 3000) <= 1);
}

static void test_arrivals_of_a_poisson_process(void **state)
{
	struct arrivals a = { .rate_per_s = 1000, .seconds = 200, .poisson = true, .seed = 42 };
	size_t max = arrivals_max(&a), n, longer = 0;
	_cleanup_free_ uint64_t *times = calloc(max, sizeof(*times)), *again = calloc(max, sizeof(*again));

	(void)state;
	n = arrivals_draw(&a, times);
	assert_in_range(n, 198000, 202000);
	for (size_t i = 1; i < n; i++) {
		assert_true(times[i] >= times[i - 1]);
		longer += times[i] - times[i - 1] > 1000000;
	}
	assert_true(times[n - 1] < 200000000000ull);
	/* A gap is longer than the mean with probability 1/e. */
	assert_in_range(longer, (size_t)((double)n * 0.36), (size_t)((double)n * 0.376));
	assert_int_equal(arrivals_draw(&a, again), n);
	assert_memory_equal(times, again, n * sizeof(*times));
	a.seed = 43;
	arrivals_draw(&a, again);
	assert_memory_not_equal(times, again, 100 * sizeof(*times));
}

static void test_arrivals_that_never_come(void **state)
{
	struct arrivals a = { .rate_per_s = 1, .seconds = 0.5, .seed = 1 };
	uint64_t times[4];

	(void)state;
	assert_in_range(arrivals_max(&a), 1, 4);
	assert_int_equal(arrivals_draw(&a, times), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentile_is_at_index_of_sorted),
		cmocka_unit_test(test_series_has_its_percentiles_and_keeps_the_order_of_samples),
		cmocka_unit_test(test_reservoir_is_exact_until_full_then_forgets),
		cmocka_unit_test(test_arrivals_at_equal_gaps_do_not_drift),
		cmocka_unit_test(test_arrivals_of_a_poisson_process),
		cmocka_unit_test(test_arrivals_that_never_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
