// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_contest.c - what the daemon's allocator must reach in virtual time
 *
 * The headline's targets over a shorter time than `make sim`, and every scenario
 * long enough for a burst, because each plan in it is checked: nobody owns above
 * its burst, below its guarantee, outside its reach, or what is excluded.
 */
#include "contest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define MS UINT64_C(1000000)

static void test_headline_targets(void **state)
{
	struct contest_options o = contest_defaults;
	struct outcome all[NR_CONTENDERS] = {};
	struct target targets[NR_TARGETS];

	(void)state;
	o.warmup_ns = CONTEST_QUICK_WARMUP_NS;
	o.measured_ns = CONTEST_QUICK_MEASURED_NS;
	for (int c = 0; c < NR_CONTENDERS; c++)
		assert_int_equal(contest_run(&scenarios[0], (enum contender)c, &o, &all[c]), 0);
	contest_judge(all, targets);
	for (int i = 0; i < NR_TARGETS; i++)
		if (!target_met(&targets[i]))
			fail_msg("%s: %g, at %s %g; seed %lu", targets[i].what, targets[i].value,
				 targets[i].at_most ? "most" : "least", targets[i].limit, (unsigned long)o.seed);
}

static void test_every_plan_keeps_the_rules(void **state)
{
	struct contest_options o = contest_defaults;
	struct outcome outcome;

	(void)state;
	o.warmup_ns = 1 * MS;
	o.measured_ns = 24 * MS;
	for (size_t i = 0; i < nr_scenarios; i++) {
		for (int c = 0; c < NR_CONTENDERS; c++) {
			/* Another seed each, the same ones at every run. */
			o.seed = 1000 + i;
			o.costs.reflex = c & 1;
			if (contest_run(&scenarios[i], (enum contender)c, &o, &outcome) != 0)
				fail_msg("scenario %s, policy %s, seed %lu", scenarios[i].name,
					 contender_name((enum contender)c), (unsigned long)o.seed);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headline_targets),
		cmocka_unit_test(test_every_plan_keeps_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
