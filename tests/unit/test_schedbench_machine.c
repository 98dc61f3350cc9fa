/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_schedbench_machine.c - pairs of CPUs at each distance, one CPU of each group */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "tests/bench/schedbench/machine.h"

/* Two nodes, each with two last-level caches of two cores with two threads: CPU = core + 8 * thread. */
static void build(struct machine *m, uint32_t nr_cpus)
{
	memset(m, 0, sizeof(*m));
	m->nr_cpus = nr_cpus;
	for (uint32_t cpu = 0; cpu < 16; cpu++) {
		uint32_t core = cpu % 8;

		m->topo.cpus[cpu] = (struct topo_cpu){ true, true, core, core / 2, core / 4, (cpu + 8) % 16 };
		m->cpus[cpu] = cpu;
	}
}

static void test_pairs_of_cpus(void **state)
{
	static struct machine m;
	uint32_t a = 99, b = 99, firsts[SCHEDD_MAX_CPUS];

	(void)state;
	build(&m, 16);
	assert_int_equal(machine_pair(&m, NEAR_SAME_CPU, &a, &b), 0);
	assert_true(a == 0 && b == 0);
	assert_int_equal(machine_pair(&m, NEAR_CORE, &a, &b), 0);
	assert_true(a == 0 && b == 8);
	assert_int_equal(machine_pair(&m, NEAR_LLC, &a, &b), 0);
	assert_true(a == 0 && b == 1);
	assert_int_equal(machine_pair(&m, NEAR_NODE, &a, &b), 0);
	assert_true(a == 0 && b == 2);
	assert_int_equal(machine_core_firsts(&m, firsts), 8);
	assert_int_equal(firsts[7], 7);
	assert_int_equal(machine_llc_firsts(&m, firsts), 4);
	assert_int_equal(firsts[3], 6);
	/* Of the same machine only what we may use. */
	build(&m, 2);
	assert_int_equal(machine_pair(&m, NEAR_CORE, &a, &b), -ENOENT);
	assert_int_equal(machine_pair(&m, NEAR_NODE, &a, &b), -ENOENT);
	assert_int_equal(machine_llc_firsts(&m, firsts), 1);
	assert_true(machine_has_cpu(&m, 1) && !machine_has_cpu(&m, 2));
}

static void test_the_scheduler_of_a_kernel_without_sched_ext(void **state)
{
	char name[32];

	(void)state;
	machine_scheduler("/nowhere", name, sizeof(name));
	assert_string_equal(name, "default");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_of_cpus),
		cmocka_unit_test(test_the_scheduler_of_a_kernel_without_sched_ext),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
