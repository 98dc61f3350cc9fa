/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_policy_order.c - the arithmetic of the in-class policies, as BPF uses it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/policy.h"

#define MS UINT64_C(1000000)

static const struct schedd_policy_traits *vtime = &schedd_policies[SCHEDD_POLICY_VTIME];
static const struct schedd_policy_traits *deadline = &schedd_policies[SCHEDD_POLICY_DEADLINE];
static const struct schedd_policy_traits *interactive = &schedd_policies[SCHEDD_POLICY_INTERACTIVE];

static void test_every_policy_has_a_row(void **state)
{
	(void)state;
	_Static_assert(SCHEDD_NR_POLICIES <= SCHEDD_POLICY_ROWS, "a row each");
	_Static_assert((SCHEDD_POLICY_ROWS & (SCHEDD_POLICY_ROWS - 1)) == 0, "BPF masks the index");
	for (int i = 0; i < SCHEDD_NR_POLICIES; i++)
		/* Whoever keeps the order of arrival preempts nobody, and the others do. */
		assert_int_equal(schedd_policies[i].arrival, !schedd_policies[i].preempts);
}

/* 100 us of each 10 ms, as the fast half of adaptive_priority; and one that only computes. */
static void test_known_after_three_wakeups(void **state)
{
	uint32_t run_us = 0, sleep_us = 0;

	(void)state;
	/* A past as a hog: 50 ms at a time, no sleep to speak of. */
	run_us = 50000;
	for (int i = 0; i < 8; i++) {
		run_us = schedd_habit_update(run_us, MS / 10);
		sleep_us = schedd_habit_update(sleep_us, 10 * MS);
	}
	assert_true(schedd_habit_share(run_us, sleep_us, 0) <= SCHEDD_SHARE_SLEEPY);
	/* Without a past it takes no more than three. */
	run_us = sleep_us = 0;
	assert_int_equal(schedd_habit_share(run_us, sleep_us, 0), SCHEDD_SHARE_UNKNOWN);
	for (int i = 0; i < 3; i++) {
		run_us = schedd_habit_update(run_us, MS / 10);
		sleep_us = schedd_habit_update(sleep_us, 10 * MS);
	}
	assert_true(schedd_habit_share(run_us, sleep_us, 0) <= SCHEDD_SHARE_SLEEPY);
	/* It begins to compute: seen in the same run, not at its end. */
	assert_true(schedd_habit_share(run_us, sleep_us, 10 * MS) > SCHEDD_SHARE_SLEEPY);
}

static void test_habits_are_bounded(void **state)
{
	uint32_t us = 0;

	(void)state;
	for (int i = 0; i < 64; i++)
		us = schedd_habit_update(us, UINT64_MAX);
	assert_in_range(us, SCHEDD_HABIT_MAX_US - 1, SCHEDD_HABIT_MAX_US);
	assert_int_equal(schedd_habit_share(us, 0, UINT64_MAX), SCHEDD_SHARE_ONE);
	for (int i = 0; i < 64; i++)
		us = schedd_habit_update(us, 0);
	assert_in_range(us, 0, 1);
}

static void test_credit_is_one_to_two_slices(void **state)
{
	(void)state;
	assert_int_equal(schedd_policy_credit(vtime, 0, 4 * MS), 4 * MS);
	assert_int_equal(schedd_policy_credit(deadline, 0, 4 * MS), 4 * MS);
	assert_int_equal(schedd_policy_credit(interactive, 0, 4 * MS), 8 * MS);
	assert_int_equal(schedd_policy_credit(interactive, 512, 4 * MS), 6 * MS);
	assert_int_equal(schedd_policy_credit(interactive, SCHEDD_SHARE_ONE, 4 * MS), 4 * MS);
}

static void test_only_who_sleeps_preempts_sooner(void **state)
{
	(void)state;
	assert_int_equal(schedd_policy_gran(vtime, 0, MS), MS);
	assert_int_equal(schedd_policy_gran(interactive, SCHEDD_SHARE_SLEEPY, MS), MS / 4);
	assert_int_equal(schedd_policy_gran(interactive, SCHEDD_SHARE_SLEEPY + 1, MS), MS);
}

static void test_request(void **state)
{
	(void)state;
	assert_int_equal(schedd_policy_request(vtime, 5000, 0, 4 * MS, 100), 0);
	assert_int_equal(schedd_policy_request(deadline, 100, 0, 4 * MS, 100), MS / 10);
	/* The longer of the usual run and the present one, at most a slice, by weight. */
	assert_int_equal(schedd_policy_request(deadline, 100, 2 * MS, 4 * MS, 100), 2 * MS);
	assert_int_equal(schedd_policy_request(deadline, 100000, 0, 4 * MS, 100), 4 * MS);
	assert_int_equal(schedd_policy_request(deadline, 100000, 0, 4 * MS, 200), 2 * MS);
	/* Of two with the same account the one with the shorter request is first. */
	assert_true(schedd_policy_request(interactive, 200, 0, 4 * MS, 100) <
		    schedd_policy_request(interactive, 3000, 0, 4 * MS, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_policy_has_a_row),
		cmocka_unit_test(test_known_after_three_wakeups),
		cmocka_unit_test(test_habits_are_bounded),
		cmocka_unit_test(test_credit_is_one_to_two_slices),
		cmocka_unit_test(test_only_who_sleeps_preempts_sooner),
		cmocka_unit_test(test_request),
	};

	return cmocka_run_group_tests_name("policy_order", tests, NULL, NULL);
}
