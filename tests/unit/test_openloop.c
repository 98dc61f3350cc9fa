// SPDX-License-Identifier: GPL-2.0-or-later
/* test_openloop.c - the demo client's histogram, arrivals and reply framing */
int openloop_main(int argc, char **argv);
#define main openloop_main
#include "../demo/openloop.c"
#undef main

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_hist_every_value_is_near_its_bucket(void **state)
{
	(void)state;
	for (uint64_t v = 0; v < UINT64_C(1) << 39; v += 1 + v / 97) {
		unsigned int i = hist_index(v);
		double seen = hist_value(i);

		assert_true(i < HIST_NR_BUCKETS);
		assert_true(seen >= v * 0.996 && seen <= v * 1.004);
		assert_true(hist_index(v + 1) == i || hist_index(v + 1) == i + 1);
	}
	assert_int_equal(hist_index(UINT64_MAX), HIST_NR_BUCKETS - 1);
	assert_int_equal(hist_index((UINT64_C(1) << HIST_MAX_BITS) - 1), HIST_NR_BUCKETS - 1);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void test_hist_quantiles_equal_those_of_the_sorted_values(void **state)
{
	static const uint32_t ppm[] = { 1, 250000, 500000, 990000, 999000, 1000000 };
	static uint64_t v[9973];
	static struct hist h;
	const unsigned int n = sizeof(v) / sizeof(*v);
	uint64_t seed = 42;

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		v[i] = 1000 * random_exponential(&seed) * 1000 + redis_random(&seed) % 100;
		hist_add(&h, v[i]);
	}
	qsort(v, n, sizeof(*v), compare_u64);
	for (unsigned int q = 0; q < sizeof(ppm) / sizeof(*ppm); q++) {
		uint64_t rank = ((uint64_t)n * ppm[q] + 999999) / 1000000;
		double want = v[rank ? rank - 1 : 0], got = hist_quantile(&h, ppm[q]);

		assert_true(got >= want * 0.996 - 1 && got <= want * 1.004 + 1);
	}
	assert_int_equal(h.max_ns, v[n - 1]);
}

static void test_hist_empty_and_single(void **state)
{
	static struct hist h;

	(void)state;
	assert_int_equal(hist_quantile(&h, 990000), 0);
	hist_add(&h, 1000003);
	assert_in_range(hist_quantile(&h, 1), 1000003 * 0.996, 1000003);
	assert_in_range(hist_quantile(&h, 1000000), 1000003 * 0.996, 1000003);
}

static void test_arrivals_are_exponential(void **state)
{
	const int n = 200000;
	double sum = 0, square = 0;
	int above = 0;
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < n; i++) {
		double x = random_exponential(&seed);

		sum += x;
		square += x * x;
		above += x > 3;
	}
	assert_true(sum / n > 0.99 && sum / n < 1.01);
	assert_true(square / n > 1.95 && square / n < 2.05);
	/* exp(-3) */
	assert_true(above > n * 0.0479 && above < n * 0.0517);
}

static void test_schedule_keeps_rate_window_and_seed(void **state)
{
	struct options opt = { .rate = 1000, .warmup_s = 1, .seconds = 8, .seed = 3,
			       .start_ns = 5 * NSEC_PER_SEC };
	static struct client a, b;

	(void)state;
	a.opt = b.opt = &opt;
	assert_int_equal(schedule_draw(&a), 0);
	assert_int_equal(schedule_draw(&b), 0);
	assert_in_range(a.nr_send, 8600, 9400);
	assert_int_equal(a.nr_send, b.nr_send);
	assert_memory_equal(a.send_ns, b.send_ns, a.nr_send * sizeof(*a.send_ns));
	assert_true(a.send_ns[0] >= 4 * NSEC_PER_SEC);
	assert_true(a.send_ns[a.nr_send - 1] < 13 * NSEC_PER_SEC);
	assert_true(a.send_ns[a.first_measured - 1] < opt.start_ns);
	assert_true(a.send_ns[a.first_measured] >= opt.start_ns);
	free(a.send_ns);
	free(b.send_ns);
}

struct taken {
	int ok, failed;
	uint64_t last;
};

static void count_reply(void *arg, uint64_t intended_ns, int ok)
{
	struct taken *t = arg;

	*(ok ? &t->ok : &t->failed) += 1;
	t->last = intended_ns;
}

static void test_replies_are_found_in_any_split(void **state)
{
	static const char replies[] = ":1600\r\n:7\r\n";
	static struct redis_conn c;
	const unsigned int len = sizeof(replies) - 1;

	(void)state;
	for (unsigned int cut = 0; cut <= len; cut++) {
		struct taken t = { 0 };

		c.head = 0;
		c.tail = 2;
		c.intended_ns[0] = 11;
		c.intended_ns[1] = 22;
		assert_int_equal(redis_take(&c, replies, cut, count_reply, &t), 0);
		assert_int_equal(redis_take(&c, replies + cut, len - cut, count_reply, &t), 0);
		assert_int_equal(t.ok, 2);
		assert_int_equal(t.last, 22);
		assert_int_equal(c.line_seen, 0);
	}
}

static void test_wrong_replies_end_the_connection(void **state)
{
	static struct redis_conn c;
	struct taken t = { 0 };

	(void)state;
	assert_int_equal(redis_take(&c, ":1\r\n", 4, count_reply, &t), -EPROTO);
	c.tail = 1;
	assert_int_equal(redis_take(&c, "-ERR unknown command\r\n", 22, count_reply, &t), -EPROTO);
	assert_int_equal(t.ok, 0);
	redis_fail_pending(&c, count_reply, &t);
	assert_int_equal(t.failed, 1);
	redis_fail_pending(&c, count_reply, &t);
	assert_int_equal(t.failed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hist_every_value_is_near_its_bucket),
		cmocka_unit_test(test_hist_quantiles_equal_those_of_the_sorted_values),
		cmocka_unit_test(test_hist_empty_and_single),
		cmocka_unit_test(test_arrivals_are_exponential),
		cmocka_unit_test(test_schedule_keeps_rate_window_and_seed),
		cmocka_unit_test(test_replies_are_found_in_any_split),
		cmocka_unit_test(test_wrong_replies_end_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
