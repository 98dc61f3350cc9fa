/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_alloc.c - guarantees, limits, reach and private CPUs: worked examples */
#include "tests/unit/alloc_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define owner_of(m, cpu) ((m)->memory.plan.owner[cpu])

static void test_without_guarantees_all_is_in_the_pool(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->limits.generation = 7;
	machine_plan(m);
	assert_int_equal(machine_pool(m), 4);
	assert_int_equal(m->memory.plan.nr_cpus, 4);
	assert_true(m->result.changed);
	assert_int_equal(m->memory.plan.generation, 1);
	assert_int_equal(m->result.limits_generation, 7);
	free(m);
}

static void test_the_first_core_is_given_last(void **state)
{
	struct machine *m = machine_new(2, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 1;
	machine_plan(m);
	assert_int_equal(owner_of(m, 0), POOL);
	assert_int_equal(owner_of(m, 1), LC + 1);
	m->limits.classes[LC].guarantee_cpus = 2;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 2);
	free(m);
}

static void test_normal_has_the_first_core(void **state)
{
	struct machine *m = machine_new(8, 2, 4);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 4;
	m->limits.classes[NORMAL].guarantee_cpus = 1;
	machine_plan(m);
	assert_true(owner_of(m, 0) == NORMAL + 1 || owner_of(m, 8) == NORMAL + 1);
	free(m);
}

static void test_one_cpu(void **state)
{
	struct machine *m = machine_new(1, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 1;
	machine_plan(m);
	assert_int_equal(owner_of(m, 0), LC + 1);
	free(m);
}

static void test_whole_cores_of_one_llc(void **state)
{
	struct machine *m = machine_new(16, 2, 4);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 6;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 6);
	assert_int_equal(machine_broken_cores(m, LC), 0);
	assert_int_equal(machine_llcs(m, LC), 1);
	free(m);
}

static void test_an_odd_thread_does_not_break_the_core_of_another_class(void **state)
{
	struct machine *m = machine_new(4, 2, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 3;
	machine_class(m, WEB, SCHEDD_KIND_LATENCY_CRITICAL, 4);
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(machine_broken_cores(m, LC), 1);
	assert_int_equal(machine_owned(m, WEB), 4);
	assert_int_equal(machine_broken_cores(m, WEB), 0);
	free(m);
}

static void test_two_services_are_at_home_in_two_llcs(void **state)
{
	struct machine *m = machine_new(16, 1, 2);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 6;
	machine_class(m, WEB, SCHEDD_KIND_LATENCY_CRITICAL, 5);
	machine_plan(m);
	assert_int_equal(machine_llcs(m, LC), 1);
	assert_int_equal(machine_llcs(m, WEB), 1);
	free(m);
}

static void test_growing_keeps_and_completes(void **state)
{
	struct machine *m = machine_new(8, 2, 2);
	struct schedd_plan before;

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 3;
	machine_plan(m);
	before = m->memory.plan;
	m->limits.classes[LC].guarantee_cpus = 4;
	machine_plan(m);
	assert_true(m->result.changed);
	assert_int_equal(m->result.gained[LC], 1);
	assert_int_equal(m->result.lost[LC], 0);
	assert_int_equal(m->result.trigger[LC], ALLOC_TRIGGER_LIMITS);
	assert_int_equal(machine_owned(m, LC), 4);
	assert_int_equal(machine_broken_cores(m, LC), 0);
	for (uint32_t cpu = 0; cpu < 16; cpu++)
		if (before.owner[cpu] == LC + 1)
			assert_int_equal(owner_of(m, cpu), LC + 1);
	free(m);
}

static void test_shrinking_gives_up_the_broken_core_first(void **state)
{
	struct machine *m = machine_new(8, 2, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 5;
	machine_plan(m);
	m->limits.classes[LC].guarantee_cpus = 4;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 4);
	assert_int_equal(machine_broken_cores(m, LC), 0);
	assert_int_equal(m->result.lost[LC], 1);
	free(m);
}

static void test_the_cpus_of_a_deleted_class_go_to_the_pool(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	machine_class(m, WEB, SCHEDD_KIND_LATENCY_CRITICAL, 2);
	machine_plan(m);
	assert_int_equal(machine_owned(m, WEB), 2);
	m->limits.classes[WEB].used = false;
	machine_plan(m);
	assert_int_equal(machine_pool(m), 4);
	assert_int_equal(m->result.lost[WEB], 2);
	assert_int_equal(m->result.trigger[WEB], ALLOC_TRIGGER_LIMITS);
	free(m);
}

static void test_an_unchanged_plan_is_not_touched(void **state)
{
	struct machine *m = machine_new(4, 2, 1);
	struct schedd_plan before;

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 3;
	m->memory.plan.generation = 41;
	machine_plan(m);
	assert_int_equal(m->memory.plan.generation, 42);
	before = m->memory.plan;
	machine_tick(m, 1000000);
	assert_false(m->result.changed);
	assert_memory_equal(&m->memory.plan, &before, sizeof(before));
	assert_int_equal(m->result.gained[LC], 0);
	assert_int_equal(m->result.owned[LC], 3);
	free(m);
}

static void test_too_large_a_sum_is_cut_not_trusted(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 3;
	m->limits.classes[BE].guarantee_cpus = m->limits.classes[BE].burst_cpus = UINT32_MAX;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(machine_owned(m, BE), 1);
	assert_int_equal(m->result.unmet[BE], UINT32_MAX - 1);
	free(m);
}

static void test_a_guarantee_above_the_burst_limit_is_unmet(void **state)
{
	struct machine *m = machine_new(8, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 5;
	m->limits.classes[LC].burst_cpus = 3;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(m->result.unmet[LC], 2);
	free(m);
}

static void test_only_cpus_in_reach_count(void **state)
{
	struct machine *m = machine_new(8, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 4;
	machine_reach(m, LC, 2, 4);
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(m->result.unmet[LC], 1);
	machine_reach(m, LC, 4, 7);
	machine_plan(m);
	assert_int_equal(m->result.unmet[LC], 0);
	for (uint32_t cpu = 0; cpu < 8; cpu++)
		assert_int_equal(owner_of(m, cpu), cpu >= 4 ? LC + 1 : POOL);
	free(m);
}

/* LC could be anywhere and sits where WEB must be; BE is in between. */
static void test_a_class_moves_out_of_the_way_of_one_that_has_no_choice(void **state)
{
	struct machine *m = machine_new(3, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 1;
	machine_reach(m, LC, 0, 1);
	m->limits.classes[BE].guarantee_cpus = 1;
	machine_reach(m, BE, 1, 2);
	machine_plan(m);
	assert_int_equal(owner_of(m, 1), LC + 1);
	assert_int_equal(owner_of(m, 2), BE + 1);
	machine_class(m, WEB, SCHEDD_KIND_NORMAL, 1);
	machine_reach(m, WEB, 2, 2);
	machine_plan(m);
	assert_int_equal(owner_of(m, 0), LC + 1);
	assert_int_equal(owner_of(m, 1), BE + 1);
	assert_int_equal(owner_of(m, 2), WEB + 1);
	free(m);
}

static void test_where_not_all_is_possible_the_higher_kind_has_it(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->limits.classes[BE].guarantee_cpus = 1;
	machine_reach(m, BE, 3, 3);
	machine_plan(m);
	assert_int_equal(owner_of(m, 3), BE + 1);
	m->limits.classes[NORMAL].guarantee_cpus = 1;
	machine_reach(m, NORMAL, 3, 3);
	machine_plan(m);
	assert_int_equal(m->result.unmet[NORMAL] + m->result.unmet[BE], 1);
	memset(&m->memory, 0, sizeof(m->memory));
	machine_plan(m);
	assert_int_equal(owner_of(m, 3), NORMAL + 1);
	free(m);
}

static void test_excluded_and_offline_cpus_are_nobodys(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 4;
	machine_plan(m);
	alloc_cpus_add(&m->limits.excluded, 1);
	m->topo.cpus[2].online = false;
	machine_plan(m);
	assert_int_equal(owner_of(m, 1), POOL);
	assert_int_equal(owner_of(m, 2), POOL);
	assert_int_equal(m->result.unmet[LC], 2);
	assert_int_equal(m->result.lost[LC], 2);
	assert_int_equal(m->result.trigger[LC], ALLOC_TRIGGER_LIMITS);
	free(m);
}

static void test_a_private_cpu_is_its_class_s_and_counts(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 3;
	machine_plan(m);
	assert_int_equal(owner_of(m, 2), LC + 1);
	m->limits.private_owner[2] = NORMAL + 1;
	m->limits.private_owner[0] = LC + 1;
	machine_plan(m);
	assert_int_equal(owner_of(m, 2), NORMAL + 1);
	assert_int_equal(owner_of(m, 0), LC + 1);
	assert_int_equal(machine_owned(m, LC), 3);
	/* Neither the burst limit nor the end of the guarantee takes it away. */
	m->limits.classes[LC].guarantee_cpus = m->limits.classes[LC].burst_cpus = 0;
	machine_plan(m);
	assert_int_equal(owner_of(m, 0), LC + 1);
	assert_int_equal(machine_owned(m, LC), 1);
	free(m);
}

static void test_private_to_a_class_that_is_gone_is_nobodys(void **state)
{
	struct machine *m = machine_new(2, 1, 1);

	(void)state;
	m->limits.private_owner[1] = WEB + 1;
	m->limits.classes[LC].guarantee_cpus = 2;
	machine_plan(m);
	assert_int_equal(owner_of(m, 1), POOL);
	assert_int_equal(m->result.unmet[LC], 1);
	free(m);
}

static void test_a_lowered_burst_limit_holds_at_once(void **state)
{
	struct machine *m = machine_new(8, 1, 1);

	(void)state;
	m->limits.dwell_ns = UINT64_MAX;
	m->limits.classes[LC].guarantee_cpus = 6;
	machine_plan(m);
	m->limits.classes[LC].burst_cpus = 2;
	m->in.frozen = true;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 2);
	free(m);
}

static void test_frozen_moves_only_what_guarantees_force(void **state)
{
	struct machine *m = machine_new(8, 1, 1);
	struct schedd_plan before;

	(void)state;
	m->in.policy = &policy_shenango;
	m->limits.classes[LC].guarantee_cpus = 2;
	machine_plan(m);
	m->demand[BE].congested = true;
	for (int i = 0; i < 6; i++)
		machine_tick(m, 1000);
	assert_int_equal(machine_owned(m, BE), 6);
	m->in.frozen = true;
	m->demand[LC].congested = true;
	before = m->memory.plan;
	machine_tick(m, 1000);
	assert_false(m->result.changed);
	assert_memory_equal(&before, &m->memory.plan, sizeof(before));
	m->limits.classes[LC].guarantee_cpus = 3;
	machine_tick(m, 1000);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(machine_owned(m, BE), 5);
	m->limits.classes[LC].guarantee_cpus = 1;
	machine_tick(m, 1000);
	assert_int_equal(machine_owned(m, LC), 1);
	assert_int_equal(machine_owned(m, BE), 5);
	free(m);
}

/* ---------- exclusive_smt, lend_never ---------- */

static void test_exclusive_cores_are_shared_with_nobody(void **state)
{
	struct machine *m = machine_new(4, 2, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 3;
	m->limits.classes[LC].exclusive_smt = true;
	m->limits.classes[NORMAL].guarantee_cpus = 4;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(machine_owned(m, NORMAL), 4);
	for (uint32_t core = 0; core < 4; core++)
		assert_false(owner_of(m, core) == LC + 1 && owner_of(m, core + 4) == NORMAL + 1);
	for (uint32_t core = 0; core < 4; core++)
		assert_false(owner_of(m, core) == NORMAL + 1 && owner_of(m, core + 4) == LC + 1);
	/* A guarantee is stronger than the wish to be alone. */
	m->limits.classes[NORMAL].guarantee_cpus = 5;
	machine_plan(m);
	assert_int_equal(machine_owned(m, NORMAL), 5);
	machine_plan(m);
	assert_false(m->result.changed);
	free(m);
}

static void test_a_class_that_becomes_exclusive_is_parted_from_others(void **state)
{
	struct machine *m = machine_new(4, 2, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 1;
	machine_reach(m, LC, 2, 2);
	machine_class(m, WEB, SCHEDD_KIND_NORMAL, 1);
	machine_reach(m, WEB, 6, 6);
	machine_plan(m);
	assert_int_equal(owner_of(m, 2), LC + 1);
	assert_int_equal(owner_of(m, 6), WEB + 1);
	machine_reach(m, WEB, 0, 7);
	m->limits.classes[LC].exclusive_smt = true;
	machine_plan(m);
	assert_int_equal(owner_of(m, 2), LC + 1);
	assert_int_equal(owner_of(m, 6), POOL);
	assert_int_equal(machine_owned(m, WEB), 1);
	machine_plan(m);
	assert_false(m->result.changed);
	free(m);
}

static void test_an_exclusive_class_grows_by_clearing_a_core(void **state)
{
	struct machine *m = machine_new(2, 2, 1);

	(void)state;
	m->in.policy = &policy_shenango;
	m->demand[BE].congested = true;
	for (int i = 0; i < 4; i++)
		machine_tick(m, 1000);
	assert_int_equal(machine_owned(m, BE), 4);
	m->demand[LC].congested = true;
	m->limits.classes[LC].exclusive_smt = true;
	machine_tick(m, 1000);
	assert_int_equal(machine_owned(m, LC), 1);
	assert_int_equal(machine_owned(m, BE), 2);
	assert_int_equal(m->result.trigger[BE], ALLOC_TRIGGER_CONGESTION);
	machine_tick(m, 1000);
	assert_int_equal(machine_owned(m, LC), 2);
	assert_int_equal(machine_broken_cores(m, LC), 0);
	free(m);
}

static void test_lend_never_leaves_every_class_one_cpu(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 4;
	m->limits.classes[LC].lend_never = true;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(m->result.unmet[LC], 1);
	/* Also when a cpuset shrinks to what it already has. */
	machine_reach(m, BE, 3, 3);
	machine_plan(m);
	assert_int_equal(owner_of(m, 3), POOL);
	machine_plan(m);
	assert_false(m->result.changed);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_guarantees_all_is_in_the_pool),
		cmocka_unit_test(test_the_first_core_is_given_last),
		cmocka_unit_test(test_normal_has_the_first_core),
		cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_whole_cores_of_one_llc),
		cmocka_unit_test(test_an_odd_thread_does_not_break_the_core_of_another_class),
		cmocka_unit_test(test_two_services_are_at_home_in_two_llcs),
		cmocka_unit_test(test_growing_keeps_and_completes),
		cmocka_unit_test(test_shrinking_gives_up_the_broken_core_first),
		cmocka_unit_test(test_the_cpus_of_a_deleted_class_go_to_the_pool),
		cmocka_unit_test(test_an_unchanged_plan_is_not_touched),
		cmocka_unit_test(test_too_large_a_sum_is_cut_not_trusted),
		cmocka_unit_test(test_a_guarantee_above_the_burst_limit_is_unmet),
		cmocka_unit_test(test_only_cpus_in_reach_count),
		cmocka_unit_test(test_a_class_moves_out_of_the_way_of_one_that_has_no_choice),
		cmocka_unit_test(test_where_not_all_is_possible_the_higher_kind_has_it),
		cmocka_unit_test(test_excluded_and_offline_cpus_are_nobodys),
		cmocka_unit_test(test_a_private_cpu_is_its_class_s_and_counts),
		cmocka_unit_test(test_private_to_a_class_that_is_gone_is_nobodys),
		cmocka_unit_test(test_a_lowered_burst_limit_holds_at_once),
		cmocka_unit_test(test_frozen_moves_only_what_guarantees_force),
		cmocka_unit_test(test_exclusive_cores_are_shared_with_nobody),
		cmocka_unit_test(test_a_class_that_becomes_exclusive_is_parted_from_others),
		cmocka_unit_test(test_an_exclusive_class_grows_by_clearing_a_core),
		cmocka_unit_test(test_lend_never_leaves_every_class_one_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
