/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sched_math.c - the arithmetic that BPF and user space share */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "bpf/sched_math.h"

static void test_dsq_id_round_trip(void **state)
{
	(void)state;
	for (uint32_t type = 1; type <= 3; type++)
		for (uint32_t high = 0; high < SCHEDD_MAX_CLASSES; high++)
			for (uint32_t low = 0; low < SCHEDD_MAX_CPUS; low += 31) {
				uint64_t id = schedd_dsq_id(type, high, low);

				assert_int_equal(id >> 63, 0);
				assert_int_equal(schedd_dsq_type_of(id), type);
				assert_int_equal(schedd_dsq_high(id), high);
				assert_int_equal(schedd_dsq_low(id), low);
			}
	assert_true(schedd_dsq_id(1, 2, 3) != schedd_dsq_id(1, 3, 2));
}

static void test_log2(void **state)
{
	(void)state;
	assert_int_equal(schedd_log2(0), 0);
	for (uint32_t i = 0; i < 64; i++) {
		assert_int_equal(schedd_log2(1ULL << i), i);
		if (i)
			assert_int_equal(schedd_log2((1ULL << i) - 1), i - 1);
	}
	assert_int_equal(schedd_log2(UINT64_MAX), 63);
}

static void test_lat_bucket_edges(void **state)
{
	(void)state;
	assert_int_equal(schedd_lat_bucket(0), 0);
	assert_int_equal(schedd_lat_bucket(1024), 0);
	assert_int_equal(schedd_lat_bucket(1025), 1);
	/* Bucket i counts up to and including 2^(10 + i) ns. */
	for (uint32_t i = 0; i < SCHEDD_LAT_BUCKETS - 1; i++) {
		uint64_t edge = 1ULL << (SCHEDD_LAT_FIRST_SHIFT + i);

		assert_int_equal(schedd_lat_bucket(edge), i);
		assert_int_equal(schedd_lat_bucket(edge + 1), i + 1);
	}
	assert_int_equal(schedd_lat_bucket(UINT64_MAX), SCHEDD_LAT_BUCKETS - 1);
}

static void test_weight(void **state)
{
	(void)state;
	assert_int_equal(schedd_weight(100, 100), 100);
	assert_int_equal(schedd_weight(200, 100), 200);
	assert_int_equal(schedd_weight(100, 50), 50);
	assert_int_equal(schedd_weight(1, 1), SCHEDD_WEIGHT_MIN);
	assert_int_equal(schedd_weight(10000, 10000), SCHEDD_WEIGHT_MAX);
}

static void test_vtime_step(void **state)
{
	(void)state;
	assert_int_equal(schedd_vtime_step(1000000, 100), 1000000);
	assert_int_equal(schedd_vtime_step(1000000, 200), 500000);
	assert_int_equal(schedd_vtime_step(1000000, 50), 2000000);
	assert_int_equal(schedd_vtime_step(1000000, 0), 100000000);
	/* The longest believable run at the least weight does not wrap. */
	assert_int_equal(schedd_vtime_step(1000000000, SCHEDD_WEIGHT_MIN), 50000000000);
}

static void test_vtime_order_wraps(void **state)
{
	(void)state;
	assert_true(schedd_vtime_before(1, 2));
	assert_false(schedd_vtime_before(2, 2));
	assert_true(schedd_vtime_before(UINT64_MAX, 5));
	assert_false(schedd_vtime_before(5, UINT64_MAX));
}

static void test_vtime_clamp(void **state)
{
	const uint64_t clock = 1000000;

	(void)state;
	assert_int_equal(schedd_vtime_clamp(clock, clock, 100, 1000), clock);
	assert_int_equal(schedd_vtime_clamp(clock - 50, clock, 100, 1000), clock - 50);
	assert_int_equal(schedd_vtime_clamp(clock - 500, clock, 100, 1000), clock - 100);
	assert_int_equal(schedd_vtime_clamp(clock + 5000, clock, 100, 1000), clock + 1000);
	/* A clock that has just wrapped. */
	assert_int_equal(schedd_vtime_clamp(UINT64_MAX - 500, 10, 100, 1000), (uint64_t)10 - 100);
}

static void test_delta(void **state)
{
	(void)state;
	assert_int_equal(schedd_delta(150, 100, 1000), 50);
	assert_int_equal(schedd_delta(100, 150, 1000), 0);       /* a remote clock */
	assert_int_equal(schedd_delta(3600000, 0, 1000), 1000);  /* a suspend */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dsq_id_round_trip),
		cmocka_unit_test(test_log2),
		cmocka_unit_test(test_lat_bucket_edges),
		cmocka_unit_test(test_weight),
		cmocka_unit_test(test_vtime_step),
		cmocka_unit_test(test_vtime_order_wraps),
		cmocka_unit_test(test_vtime_clamp),
		cmocka_unit_test(test_delta),
	};

	return cmocka_run_group_tests_name("sched_math", tests, NULL, NULL);
}
