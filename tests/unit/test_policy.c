/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_policy.c - who grows, who gives back, and which CPU it is: shenango, static, utilisation */
#include "tests/unit/alloc_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define owner_of(m, cpu) ((m)->memory.plan.owner[cpu])

enum { US = 1000 };

static struct machine *shenango_machine(uint32_t nr_cores, uint32_t threads, uint32_t nr_llcs)
{
	struct machine *m = machine_new(nr_cores, threads, nr_llcs);

	m->in.policy = &policy_shenango;
	m->limits.park_ns = 1000000 * US;
	machine_plan(m);
	return m;
}

/* The class runs on all it gets, and wants more. */
static void grow(struct machine *m, unsigned int class_idx, uint32_t intervals)
{
	m->demand[class_idx].congested = true;
	for (uint32_t i = 0; i < intervals; i++) {
		machine_tick(m, 5 * US);
		machine_hold(m, class_idx);
	}
	m->demand[class_idx].congested = false;
}

static void test_policies_have_names(void **state)
{
	(void)state;
	assert_ptr_equal(alloc_policy_find("shenango"), &policy_shenango);
	assert_ptr_equal(alloc_policy_find("static"), &policy_static);
	assert_ptr_equal(alloc_policy_find("utilisation"), &policy_utilisation);
	assert_null(alloc_policy_find("Static"));
	assert_null(alloc_policy_find(""));
}

static void test_a_congested_class_grows_by_the_step_up_to_its_burst_limit(void **state)
{
	struct machine *m = shenango_machine(16, 1, 1);

	(void)state;
	m->limits.classes[LC].burst_cpus = 5;
	m->limits.step = 2;
	grow(m, LC, 1);
	assert_int_equal(machine_owned(m, LC), 2);
	assert_int_equal(m->result.gained[LC], 2);
	assert_int_equal(m->result.trigger[LC], ALLOC_TRIGGER_CONGESTION);
	grow(m, LC, 2);
	assert_int_equal(machine_owned(m, LC), 5);
	m->limits.step = 0;
	m->limits.classes[LC].burst_cpus = 16;
	grow(m, LC, 1);
	assert_int_equal(machine_owned(m, LC), 6);
	free(m);
}

static void test_growth_stays_in_reach(void **state)
{
	struct machine *m = shenango_machine(8, 1, 1);

	(void)state;
	machine_reach(m, LC, 2, 3);
	grow(m, LC, 5);
	assert_int_equal(machine_owned(m, LC), 2);
	assert_int_equal(owner_of(m, 2), LC + 1);
	assert_int_equal(owner_of(m, 3), LC + 1);
	free(m);
}

static void test_a_cpu_left_alone_for_park_ns_goes_back(void **state)
{
	struct machine *m = shenango_machine(8, 1, 1);

	(void)state;
	m->limits.classes[LC].guarantee_cpus = 1;
	m->limits.park_ns = 20 * US;
	machine_plan(m);
	grow(m, LC, 3);
	assert_int_equal(machine_owned(m, LC), 4);
	machine_tick(m, 5 * US);
	/* BE runs as a guest on all of them. */
	for (uint32_t cpu = 0; cpu < 8; cpu++)
		m->holder[cpu] = BE + 1;
	machine_tick(m, 5 * US);
	machine_tick(m, 15 * US);
	assert_int_equal(machine_owned(m, LC), 4);
	machine_hold(m, LC);
	machine_tick(m, 1 * US); /* the owner was there: counts anew */
	for (uint32_t cpu = 0; cpu < 8; cpu++)
		m->holder[cpu] = BE + 1;
	machine_tick(m, 5 * US);
	machine_tick(m, 19 * US);
	assert_int_equal(machine_owned(m, LC), 4);
	machine_tick(m, 1 * US);
	assert_int_equal(machine_owned(m, LC), 1);
	assert_int_equal(m->result.lost[LC], 3);
	assert_int_equal(m->result.trigger[LC], ALLOC_TRIGGER_PARK);
	free(m);
}

static void test_only_the_cpus_that_are_left_alone_go_back(void **state)
{
	struct machine *m = shenango_machine(8, 1, 1);
	uint32_t idle = 0;

	(void)state;
	m->limits.park_ns = 20 * US;
	grow(m, LC, 4);
	while (owner_of(m, idle) != LC + 1)
		idle++;
	m->holder[idle] = 0;
	machine_tick(m, 5 * US);
	machine_tick(m, 20 * US);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(owner_of(m, idle), POOL);
	free(m);
}

static void test_dwell_keeps_a_cpu_with_its_owner(void **state)
{
	struct machine *m = shenango_machine(4, 1, 1);

	(void)state;
	m->limits.dwell_ns = 100 * US;
	m->limits.park_ns = 5 * US;
	grow(m, BE, 4);
	m->demand[LC].congested = true;
	machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, LC), 0);
	machine_tick(m, 100 * US);
	assert_int_equal(machine_owned(m, LC), 1);
	/* Not even a parked one goes back before. */
	m->demand[LC].congested = false;
	machine_tick(m, 50 * US);
	assert_int_equal(machine_owned(m, LC), 1);
	machine_tick(m, 50 * US);
	assert_int_equal(machine_owned(m, LC), 0);
	/* A guarantee does not wait. */
	m->limits.dwell_ns = 1000 * US;
	grow(m, BE, 4);
	m->limits.classes[LC].guarantee_cpus = 3;
	machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, LC), 3);
	free(m);
}

static void test_the_end_of_a_lease_gives_back_at_once(void **state)
{
	struct machine *m = shenango_machine(8, 1, 1);

	(void)state;
	m->limits.park_ns = m->limits.dwell_ns = 1000000 * US;
	m->limits.classes[LC].guarantee_cpus = 5;
	machine_tick(m, US);
	machine_hold(m, LC);
	m->limits.classes[LC].guarantee_cpus = 2;
	machine_tick(m, US);
	assert_int_equal(machine_owned(m, LC), 2);
	assert_int_equal(m->result.trigger[LC], ALLOC_TRIGGER_LIMITS);
	free(m);
}

/* ---------- who ---------- */

static void test_higher_kinds_grow_first_and_from_lower_ones(void **state)
{
	struct machine *m = shenango_machine(4, 1, 1);

	(void)state;
	m->limits.classes[BE].guarantee_cpus = 1;
	machine_plan(m);
	grow(m, BE, 3);
	assert_int_equal(machine_owned(m, BE), 4);
	m->demand[LC].congested = m->demand[NORMAL].congested = m->demand[BE].congested = true;
	machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, LC), 1);
	assert_int_equal(machine_owned(m, NORMAL), 1);
	machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, LC), 2);
	machine_tick(m, 5 * US);
	machine_tick(m, 5 * US);
	/* The guarantee stays, and nobody takes from whom is above. */
	assert_int_equal(machine_owned(m, BE), 1);
	assert_int_equal(machine_owned(m, LC), 3);
	assert_int_equal(machine_owned(m, NORMAL), 0);
	free(m);
}

static void test_two_of_a_kind_share_evenly(void **state)
{
	struct machine *m = shenango_machine(9, 1, 1);

	(void)state;
	machine_class(m, WEB, SCHEDD_KIND_LATENCY_CRITICAL, 1);
	machine_plan(m);
	m->demand[LC].congested = m->demand[WEB].congested = true;
	for (int i = 0; i < 8; i++)
		machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, LC), 4);
	assert_int_equal(machine_owned(m, WEB), 5);
	free(m);
}

static void test_one_of_the_same_kind_gives_only_when_it_is_not_congested(void **state)
{
	struct machine *m = shenango_machine(4, 1, 1);

	(void)state;
	machine_class(m, WEB, SCHEDD_KIND_LATENCY_CRITICAL, 0);
	grow(m, LC, 4);
	m->demand[LC].congested = m->demand[WEB].congested = true;
	machine_tick(m, 5 * US);
	assert_false(m->result.changed);
	m->demand[LC].congested = false;
	machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, WEB), 1);
	assert_int_equal(m->result.lost[LC], 1);
	assert_int_equal(m->result.trigger[LC], ALLOC_TRIGGER_CONGESTION);
	free(m);
}

/* ---------- which ---------- */

static void test_an_idle_cpu_is_taken_before_one_that_best_effort_is_on(void **state)
{
	struct machine *m = shenango_machine(8, 1, 1);

	(void)state;
	for (uint32_t cpu = 0; cpu < 8; cpu++)
		m->holder[cpu] = cpu % 2 ? BE + 1 : NORMAL + 1;
	m->holder[6] = 0;
	grow(m, LC, 1);
	assert_int_equal(owner_of(m, 6), LC + 1);
	m->demand[LC].congested = true;
	for (int i = 0; i < 4; i++)
		machine_tick(m, 5 * US);
	for (uint32_t cpu = 1; cpu < 8; cpu += 2)
		assert_int_equal(owner_of(m, cpu), LC + 1);
	assert_int_equal(machine_owned(m, LC), 5);
	free(m);
}

static void test_the_pool_is_taken_before_what_another_class_owns(void **state)
{
	struct machine *m = shenango_machine(4, 1, 1);

	(void)state;
	grow(m, BE, 3);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		m->holder[cpu] = owner_of(m, cpu) == POOL ? NORMAL + 1 : 0;
	m->demand[LC].congested = true;
	machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, LC), 1);
	assert_int_equal(machine_owned(m, BE), 3);
	free(m);
}

static void test_the_cpu_it_had_last_is_taken_again(void **state)
{
	struct machine *m = shenango_machine(8, 1, 2);
	uint32_t cpu = 0;

	(void)state;
	m->demand[LC].congested_llcs = 1 << 1;
	grow(m, LC, 1);
	while (owner_of(m, cpu) != LC + 1)
		cpu++;
	assert_int_equal(m->topo.cpus[cpu].llc, 1);
	m->holder[cpu] = 0;
	m->limits.park_ns = 5 * US;
	machine_tick(m, 5 * US);
	machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, LC), 0);
	m->demand[LC].congested_llcs = 1 << 0;
	grow(m, LC, 1);
	assert_int_equal(owner_of(m, cpu), LC + 1);
	free(m);
}

static void test_it_grows_where_it_is_congested_then_at_home_then_in_its_node(void **state)
{
	struct machine *m = shenango_machine(16, 1, 4);

	(void)state;
	m->demand[LC].congested_llcs = 1 << 2;
	grow(m, LC, 2);
	assert_int_equal(owner_of(m, 8), LC + 1);
	assert_int_equal(owner_of(m, 9), LC + 1);
	m->demand[LC].congested_llcs = 0;
	grow(m, LC, 2);
	assert_int_equal(owner_of(m, 10), LC + 1);
	assert_int_equal(owner_of(m, 11), LC + 1);
	grow(m, LC, 1);
	assert_int_equal(owner_of(m, 12), LC + 1);
	free(m);
}

static void test_it_completes_its_own_core_before_it_begins_another(void **state)
{
	struct machine *m = shenango_machine(4, 2, 1);

	(void)state;
	for (int i = 0; i < 3; i++) {
		grow(m, LC, 2);
		assert_int_equal(machine_broken_cores(m, LC), 0);
	}
	free(m);
}

/* ---------- utilisation ---------- */

static void test_utilisation_grows_by_several_and_keeps_a_margin(void **state)
{
	struct machine *m = machine_new(16, 1, 1);

	(void)state;
	m->in.policy = &policy_utilisation;
	m->demand[LC].utilisation_mcpu = 4001;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 6); /* 5 would be used by more than 80 % */
	assert_int_equal(m->result.trigger[LC], ALLOC_TRIGGER_UTILISATION);
	m->demand[LC].utilisation_mcpu = 2400;
	machine_tick(m, 100000 * US);
	assert_int_equal(machine_owned(m, LC), 6); /* 40 % of 6 */
	m->demand[LC].utilisation_mcpu = 2399;
	machine_tick(m, 100000 * US);
	assert_int_equal(machine_owned(m, LC), 5);
	free(m);
}

static void test_utilisation_stays_between_guarantee_and_burst(void **state)
{
	struct machine *m = machine_new(16, 1, 1);

	(void)state;
	m->in.policy = &policy_utilisation;
	m->limits.classes[LC].guarantee_cpus = 2;
	m->limits.classes[LC].burst_cpus = 4;
	m->demand[LC].utilisation_mcpu = 12000;
	machine_plan(m);
	assert_int_equal(machine_owned(m, LC), 4);
	m->demand[LC].utilisation_mcpu = 0;
	machine_tick(m, 100000 * US);
	assert_int_equal(machine_owned(m, LC), 2);
	m->demand[NORMAL].queued = 1;
	machine_tick(m, 100000 * US);
	assert_int_equal(machine_owned(m, NORMAL), 1);
	free(m);
}

static void test_utilisation_lets_unused_cpus_go_first(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->in.policy = &policy_utilisation;
	m->limits.park_ns = UINT64_MAX;
	m->demand[BE].utilisation_mcpu = 3200;
	machine_plan(m);
	assert_int_equal(machine_owned(m, BE), 4);
	machine_hold(m, BE);
	m->holder[1] = 0;
	m->demand[BE].utilisation_mcpu = 1500;
	machine_tick(m, 100000 * US);
	assert_int_equal(machine_owned(m, BE), 3);
	assert_int_equal(owner_of(m, 1), POOL);
	free(m);
}

static void test_static_ignores_demand(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->in.policy = &policy_shenango;
	grow(m, LC, 3);
	m->in.policy = &policy_static;
	m->demand[LC].congested = true;
	machine_tick(m, 5 * US);
	assert_int_equal(machine_owned(m, LC), 0);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policies_have_names),
		cmocka_unit_test(test_a_congested_class_grows_by_the_step_up_to_its_burst_limit),
		cmocka_unit_test(test_growth_stays_in_reach),
		cmocka_unit_test(test_a_cpu_left_alone_for_park_ns_goes_back),
		cmocka_unit_test(test_only_the_cpus_that_are_left_alone_go_back),
		cmocka_unit_test(test_dwell_keeps_a_cpu_with_its_owner),
		cmocka_unit_test(test_the_end_of_a_lease_gives_back_at_once),
		cmocka_unit_test(test_higher_kinds_grow_first_and_from_lower_ones),
		cmocka_unit_test(test_two_of_a_kind_share_evenly),
		cmocka_unit_test(test_one_of_the_same_kind_gives_only_when_it_is_not_congested),
		cmocka_unit_test(test_an_idle_cpu_is_taken_before_one_that_best_effort_is_on),
		cmocka_unit_test(test_the_pool_is_taken_before_what_another_class_owns),
		cmocka_unit_test(test_the_cpu_it_had_last_is_taken_again),
		cmocka_unit_test(test_it_grows_where_it_is_congested_then_at_home_then_in_its_node),
		cmocka_unit_test(test_it_completes_its_own_core_before_it_begins_another),
		cmocka_unit_test(test_utilisation_grows_by_several_and_keeps_a_margin),
		cmocka_unit_test(test_utilisation_stays_between_guarantee_and_burst),
		cmocka_unit_test(test_utilisation_lets_unused_cpus_go_first),
		cmocka_unit_test(test_static_ignores_demand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
