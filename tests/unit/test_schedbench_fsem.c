/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_schedbench_fsem.c - the semaphore that measures wake-ups: every wake-up once, none invented */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdio.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/fsem.h"

enum { ROUNDS = 3000 };

static const uint64_t deadline_ns = 60000000000ull;

static struct fsem there, back;
static uint64_t waits_ns[ROUNDS];

static void *answer(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		fsem_consume(&there, 1);
		fsem_produce(&back, 1);
	}
	return NULL;
}

/* Blocked in the futex, says the bit that it sets before it goes there. */
static void wait_for_waiter(struct fsem *s)
{
	uint64_t end_ns = sample_now_ns() + deadline_ns;

	while (!(atomic_load(&s->count) & 0x80000000u)) {
		assert_true(sample_now_ns() < end_ns);
		sched_yield();
	}
}

static void test_samples_are_the_wake_ups(void **state)
{
	pthread_t thread;

	(void)state;
	fsem_init(&there, 1, 2, waits_ns, ROUNDS);
	fsem_init(&back, 1, 0, NULL, 0);
	assert_int_equal(pthread_create(&thread, NULL, answer, NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		wait_for_waiter(&there);
		fsem_produce(&there, 1);
		fsem_consume(&back, 1);
	}
	pthread_join(thread, NULL);
	assert_int_equal(there.nr_wakes, there.nr_woken);
	assert_int_equal(there.nr_woken, there.waits.nr_seen + there.nr_dropped);
	assert_int_equal(there.nr_dropped, 0);
	assert_int_equal(there.waits.n, there.waits.nr_seen);
	/* One that was on its way into the futex gave none, and is the exception. */
	assert_in_range(there.nr_woken, 1, ROUNDS);
	assert_int_equal(atomic_load(&there.count) & 0x7fffffff, 0);
	/* What is not to be measured is not. */
	assert_int_equal(back.nr_woken, back.nr_wakes);
	assert_int_equal(back.waits.nr_seen, 0);
}

static void test_without_a_sleeper_there_is_no_sample(void **state)
{
	(void)state;
	fsem_init(&there, 5, 2, waits_ns, ROUNDS);
	fsem_produce(&there, 5);
	fsem_consume(&there, 2);
	fsem_consume(&there, 3);
	assert_int_equal(there.nr_wakes + there.nr_woken + there.waits.nr_seen, 0);
	assert_int_equal(there.count, 0);
}

static void test_time_runs_out_and_takes_nothing(void **state)
{
	(void)state;
	fsem_init(&there, 5, 2, waits_ns, ROUNDS);
	fsem_produce(&there, 1);
	assert_int_equal(fsem_consume_timed(&there, 2, 1000000), -ETIMEDOUT);
	assert_int_equal(there.waits.nr_seen, 0);
	assert_int_equal(fsem_consume_timed(&there, 1, 1000000), 0);
}

enum { TAKERS = 8, EACH = 500 };

static void *take_many(void *arg)
{
	(void)arg;
	for (int i = 0; i < EACH; i++)
		fsem_consume(&there, 1);
	return NULL;
}

/* None sleeps for ever beside a count that it could have; max holds up the producer. */
static void test_many_takers_get_all(void **state)
{
	pthread_t threads[TAKERS];

	(void)state;
	fsem_init(&there, 3, 256, waits_ns, 16);
	for (int i = 0; i < TAKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_many, NULL), 0);
	for (int i = 0; i < TAKERS * EACH; i++)
		fsem_produce(&there, 1);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&there.count) & 0x7fffffff, 0);
	assert_int_equal(there.nr_wakes, there.nr_woken);
}

static void *one_taker(void *arg)
{
	(void)arg;
	fsem_consume(&there, 1);
	return NULL;
}

/* One slot: the next stamp may be in it already. */
static void test_a_stamp_that_may_be_overwritten_gives_no_sample(void **state)
{
	pthread_t thread;

	(void)state;
	fsem_init(&there, 5, 1, waits_ns, ROUNDS);
	assert_int_equal(pthread_create(&thread, NULL, one_taker, NULL), 0);
	wait_for_waiter(&there);
	fsem_produce(&there, 1);
	pthread_join(thread, NULL);
	assert_int_equal(there.waits.nr_seen, 0);
	assert_int_equal(there.nr_dropped, there.nr_woken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_are_the_wake_ups),
		cmocka_unit_test(test_without_a_sleeper_there_is_no_sample),
		cmocka_unit_test(test_time_runs_out_and_takes_nothing),
		cmocka_unit_test(test_many_takers_get_all),
		cmocka_unit_test(test_a_stamp_that_may_be_overwritten_gives_no_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
