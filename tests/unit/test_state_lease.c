/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_state_lease.c - the model: what leases do to limits, how many there is room for, their ends */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/state_setup.h"

static struct state_lease order(const char *class_name, const char *from, uint32_t cpus, uint32_t min_cpus)
{
	struct state_lease l = {
		.requested_cpus = cpus, .min_cpus = min_cpus, .create_realtime_ns = 1000000, .expire_boottime_ns = 100
	};

	strcpy(l.class_name, class_name);
	strcpy(l.from_class_name, from);
	return l;
}

static int lease(struct state *s, const char *class_name, const char *from, uint32_t cpus, uint32_t min_cpus)
{
	const struct state_lease l = order(class_name, from, cpus, min_cpus);

	return state_add_lease(s, &l, NULL);
}

static void expect_limits(const struct state *s, const char *name, uint32_t guarantee, uint32_t burst)
{
	const struct state_class *c = &s->classes[state_find_class(s, name)];

	if (c->effective_guarantee_cpus != guarantee || c->effective_burst_cpus != burst)
		fail_msg("%s has %u and %u, expected %u and %u", name, c->effective_guarantee_cpus,
			 c->effective_burst_cpus, guarantee, burst);
}

static void test_a_lease_raises_the_guarantee(void **state)
{
	struct state *s = *state;
	struct class_settings c = settings(CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE | CLASS_FIELD_BURST,
					   SCHEDD_KIND_LATENCY_CRITICAL, 2, 3);

	assert_int_equal(state_upsert_class(s, "web", &c, 0, false, NULL, error, sizeof(error)), 0);
	expect_limits(s, "web", 2, 3);
	assert_int_equal(lease(s, "web", "", 1, 0), 0);
	expect_limits(s, "web", 3, 3);
	/* A burst never meets what was ordered. */
	assert_int_equal(lease(s, "web", "", 2, 0), 0);
	expect_limits(s, "web", 5, 5);
	assert_int_equal(s->classes[state_find_class(s, "web")].leased_cpus, 3);
	assert_int_equal(s->classes[state_find_class(s, "web")].asked_guarantee_cpus, 5);
	expect_limits(s, "normal", 1, CPUS);
	state_remove_lease(s, 0);
	expect_limits(s, "web", 4, 4);
	state_remove_lease(s, 0);
	expect_limits(s, "web", 2, 3);
}

static void test_a_default_gives_way_and_the_floor_does_not(void **state)
{
	struct state *s = NULL;

	(void)state;
	assert_int_equal(state_new(20, &s), 0);
	expect_limits(s, "normal", 2, 20);
	assert_int_equal(state_lease_room(s, ""), 19);
	assert_int_equal(lease(s, "latency-critical", "", 20, 0), -ERANGE);
	assert_int_equal(lease(s, "latency-critical", "", 19, 0), 0);
	expect_limits(s, "normal", 1, 20);
	expect_limits(s, "latency-critical", 19, 20);
	assert_false(s->guarantees_scaled);
	assert_int_equal(state_lease_room(s, ""), 0);
	state_free(s);
}

static void test_explicit_guarantees_count(void **state)
{
	struct state *s = *state;

	assert_int_equal(upsert(s, "latency-critical", CLASS_FIELD_GUARANTEE, 0, 3), 0);
	assert_int_equal(upsert(s, "best-effort", CLASS_FIELD_GUARANTEE, 0, 2), 0);
	assert_int_equal(state_lease_room(s, ""), 2);
	assert_int_equal(lease(s, "latency-critical", "", 3, 0), -ERANGE);
	assert_int_equal(lease(s, "latency-critical", "", 4, 3), -ERANGE);
	assert_int_equal(s->nr_leases, 0);
	assert_int_equal(lease(s, "latency-critical", "", 4, 2), 0);
	assert_int_equal(s->leases[0].requested_cpus, 4);
	assert_int_equal(s->leases[0].granted_cpus, 2);
	expect_limits(s, "latency-critical", 5, CPUS);
	/* Guarantees that take all leave nothing to lease. */
	assert_int_equal(upsert(s, "best-effort", CLASS_FIELD_GUARANTEE, 0, 8), 0);
	assert_true(s->guarantees_scaled);
	assert_int_equal(state_lease_room(s, ""), 0);
	assert_int_equal(lease(s, "latency-critical", "", 1, 1), -ERANGE);
	expect_limits(s, "latency-critical", 3, CPUS);
	expect_limits(s, "best-effort", 5, CPUS);
}

static void test_reassigned_cpus_come_out_of_one_class(void **state)
{
	struct state *s = *state;

	assert_int_equal(upsert(s, "best-effort", CLASS_FIELD_GUARANTEE, 0, 4), 0);
	assert_int_equal(upsert(s, "best-effort", CLASS_FIELD_BURST, 0, 0), -ERANGE);
	/* Its own guarantee, and what is free; never its last CPU. */
	assert_int_equal(state_lease_room(s, ""), 3);
	assert_int_equal(state_lease_room(s, "best-effort"), 7);
	assert_int_equal(lease(s, "latency-critical", "best-effort", 3, 0), 0);
	expect_limits(s, "best-effort", 1, 5);
	expect_limits(s, "latency-critical", 3, CPUS);
	assert_int_equal(state_lease_room(s, ""), 3);
	assert_int_equal(state_lease_room(s, "best-effort"), 4);
	assert_int_equal(lease(s, "latency-critical", "best-effort", 5, 0), -ERANGE);
	assert_int_equal(lease(s, "latency-critical", "best-effort", 4, 0), 0);
	expect_limits(s, "best-effort", 0, 1);
	expect_limits(s, "latency-critical", 7, CPUS);
	assert_int_equal(state_lease_room(s, "best-effort"), 0);
	/* What is leased for a class is not taken from it. */
	assert_int_equal(state_lease_room(s, "latency-critical"), 0);
	state_remove_lease(s, 1);
	state_remove_lease(s, 0);
	expect_limits(s, "best-effort", 4, CPUS);
}

static void test_a_full_machine_can_still_move_cpus(void **state)
{
	struct state *s = *state;

	assert_int_equal(upsert(s, "best-effort", CLASS_FIELD_GUARANTEE, 0, CPUS), 0);
	assert_int_equal(state_lease_room(s, ""), 0);
	assert_int_equal(state_lease_room(s, "best-effort"), CPUS - 1);
	assert_int_equal(lease(s, "latency-critical", "best-effort", CPUS, 2), 0);
	expect_limits(s, "latency-critical", CPUS - 1, CPUS);
	expect_limits(s, "best-effort", 1, 1);
	assert_false(s->guarantees_scaled);
}

static void test_one_cpu_may_be_leased(void **state)
{
	struct state *s = NULL;

	(void)state;
	assert_int_equal(state_new(1, &s), 0);
	assert_int_equal(state_lease_room(s, ""), 1);
	assert_int_equal(lease(s, "latency-critical", "", 1, 0), 0);
	expect_limits(s, "latency-critical", 1, 1);
	expect_limits(s, "normal", 0, 1);
	assert_int_equal(lease(s, "best-effort", "", 1, 0), -ERANGE);
	state_free(s);
}

static void test_refused_leases(void **state)
{
	struct state *s = *state;
	_cleanup_free_ char *before = NULL, *after = NULL;

	assert_int_equal(lease(s, "latency-critical", "", 1, 0), 0);
	s->lease_max = 1;
	before = state_fingerprint(s);
	assert_int_equal(lease(s, "latency-critical", "", 1, 0), -ENOSPC);
	s->lease_max = 2;
	assert_int_equal(lease(s, "none", "", 1, 0), -ENOENT);
	assert_int_equal(lease(s, "latency-critical", "none", 1, 0), -ENOENT);
	assert_int_equal(lease(s, "latency-critical", "", 0, 0), -ERANGE);
	assert_int_equal(lease(s, "latency-critical", "", UINT32_MAX, 0), -ERANGE);
	after = state_fingerprint(s);
	assert_string_equal(before, after);
}

static void test_the_1025th_lease(void **state)
{
	struct state *s = NULL;

	(void)state;
	assert_int_equal(state_new(2000, &s), 0);
	s->lease_max = 5000;
	for (int i = 0; i < STATE_MAX_LEASES; i++)
		assert_int_equal(lease(s, "latency-critical", "", 1, 0), 0);
	assert_int_equal(lease(s, "latency-critical", "", 1, 0), -ENOSPC);
	for (size_t i = 1; i < s->nr_leases; i++)
		assert_true(strcmp(s->leases[i - 1].id, s->leases[i].id) < 0);
	state_free(s);
}

static void test_leases_end_by_themselves(void **state)
{
	struct state *s = *state;
	struct state_lease l = order("latency-critical", "", 1, 0);
	uint64_t next = 7, revision;

	assert_false(state_wants_scheduler(s));
	assert_false(state_expire(s, 1, &next));
	assert_int_equal(next, 0);
	assert_int_equal(state_add_lease(s, &l, NULL), 0);
	l.expire_boottime_ns = 50;
	assert_int_equal(state_add_lease(s, &l, NULL), 0);
	assert_true(state_wants_scheduler(s));
	assert_false(state_expire(s, 49, &next));
	assert_int_equal(next, 50);
	revision = s->lease_revision;
	assert_true(state_expire(s, 50, &next));
	assert_int_equal(next, 100);
	assert_true(s->lease_revision > revision);
	expect_limits(s, "latency-critical", 1, CPUS);
	assert_true(state_expire(s, 1000, &next));
	assert_int_equal(next, 0);
	expect_limits(s, "latency-critical", 0, CPUS);
	assert_false(state_wants_scheduler(s));
}

static void test_the_next_end_is_that_of_both_kinds(void **state)
{
	struct state *s = *state;
	struct cgroup_node *x = grow(s, "/x", 2);
	uint64_t next;

	assign(s, x, "best-effort", false, LIFETIME_CGROUP)->expire_boottime_ns = 60;
	assert_int_equal(lease(s, "latency-critical", "", 1, 0), 0);
	assert_false(state_expire(s, 10, &next));
	assert_int_equal(next, 60);
	assert_true(state_expire(s, 60, &next));
	assert_int_equal(next, 100);
}

static void test_a_leased_class_is_in_use(void **state)
{
	struct state *s = *state;

	assert_int_equal(new_class(s, "web", SCHEDD_KIND_LATENCY_CRITICAL), 0);
	assert_int_equal(lease(s, "web", "", 1, 0), 0);
	assert_int_equal(state_delete_class(s, "web", error, sizeof(error)), -EBUSY);
	assert_non_null(strstr(error, s->leases[0].id));
	state_remove_lease(s, 0);
	assert_int_equal(lease(s, "latency-critical", "web", 1, 0), 0);
	assert_int_equal(state_delete_class(s, "web", error, sizeof(error)), -EBUSY);
	state_remove_lease(s, 0);
	assert_int_equal(state_delete_class(s, "web", error, sizeof(error)), 0);
}

static void test_undone_leases_leave_no_trace_but_rising_counters(void **state)
{
	struct state *s = *state, *snapshot;
	_cleanup_free_ char *before = NULL, *after = NULL;
	uint64_t generation, revision;

	assert_int_equal(lease(s, "latency-critical", "", 1, 0), 0);
	before = state_fingerprint(s);
	snapshot = state_snapshot(s);
	assert_int_equal(lease(s, "best-effort", "", 2, 0), 0);
	state_remove_lease(s, 0);
	generation = s->limits_generation;
	revision = s->lease_revision;
	state_restore(s, snapshot);
	after = state_fingerprint(s);
	assert_string_equal(before, after);
	assert_true(s->limits_generation > generation);
	assert_true(s->lease_revision > revision);
}

/* Whatever is ordered and ended: guarantees fit, each class may use a CPU, nobody's burst is below its guarantee. */
static void test_random_leases(void **state)
{
	unsigned int seed = 11, x = seed;
	static const char *const names[] = { "normal", "latency-critical", "best-effort", "" };

	(void)state;
	print_message("# seed %u\n", seed);
	for (int i = 0; i < 200; i++) {
		uint32_t cpus = 1 + (uint32_t)rand_r(&x) % 32, sum;
		struct state *s = NULL;

		assert_int_equal(state_new(cpus, &s), 0);
		for (int k = 0; k < 40; k++) {
			const char *to = names[rand_r(&x) % 3], *from = names[rand_r(&x) % 4];

			if (rand_r(&x) % 3 == 0 && s->nr_leases)
				state_remove_lease(s, (size_t)rand_r(&x) % s->nr_leases);
			else if (rand_r(&x) % 5 == 0)
				upsert(s, to, CLASS_FIELD_GUARANTEE, 0, (uint32_t)rand_r(&x) % (cpus / 2 + 1));
			else if (strcmp(to, from) != 0)
				lease(s, to, from, 1 + (uint32_t)rand_r(&x) % cpus, (uint32_t)rand_r(&x) % 2);
			sum = 0;
			for (int j = 0; j < SCHEDD_NR_BUILTIN; j++) {
				const struct state_class *c = &s->classes[j];

				sum += c->effective_guarantee_cpus;
				assert_true(c->effective_guarantee_cpus <= c->asked_guarantee_cpus);
				assert_true(c->effective_burst_cpus >= c->effective_guarantee_cpus);
				assert_true(c->effective_burst_cpus >= 1);
			}
			assert_true(sum <= cpus);
		}
		state_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(test_a_lease_raises_the_guarantee),
		cmocka_unit_test(test_a_default_gives_way_and_the_floor_does_not),
		STATE_TEST(test_explicit_guarantees_count),
		STATE_TEST(test_reassigned_cpus_come_out_of_one_class),
		STATE_TEST(test_a_full_machine_can_still_move_cpus),
		cmocka_unit_test(test_one_cpu_may_be_leased),
		STATE_TEST(test_refused_leases),
		cmocka_unit_test(test_the_1025th_lease),
		STATE_TEST(test_leases_end_by_themselves),
		STATE_TEST(test_the_next_end_is_that_of_both_kinds),
		STATE_TEST(test_a_leased_class_is_in_use),
		STATE_TEST(test_undone_leases_leave_no_trace_but_rising_counters),
		cmocka_unit_test(test_random_leases),
	};

	return cmocka_run_group_tests_name("state_lease", tests, NULL, NULL);
}
