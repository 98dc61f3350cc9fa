/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_schedbench_options.c - the command line and --set, against a small list of tests and the real one */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/bench/schedbench/options.h"

static const struct param one_params[] = {
	{ "count", "how many", 7, -1, 100, true },
	{ "time_s", "how long", 0.5, 0.1, 60, false },
	{ "time_us", "how short", 2, 1, 1000, true },
	{ "cpu", "where", -1, -1, 1023, true },
	{ 0 },
};
static const struct param other_params[] = { { 0 } };
static const struct bench_case cases[] = {
	{ "one", "the first", one_params, NULL },
	{ "one_more", "the second", other_params, NULL },
	{ 0 },
};

static char error[512];

static int set(const char *text, struct param_values *values)
{
	error[0] = '\0';
	return params_set(cases, text, values, error, sizeof(error));
}

static void test_set_changes_just_that_key(void **state)
{
	struct param_values v;

	(void)state;
	params_default(cases, &v);
	assert_true(v.of[0][0] == 7 && v.of[0][1] == 0.5);
	assert_int_equal(set("one.count=100", &v), 0);
	assert_true(v.of[0][0] == 100 && v.of[0][1] == 0.5);
	assert_int_equal(set("one.time_s=1e1", &v), 0);
	assert_true(v.of[0][1] == 10);
	assert_int_equal(set("one.count=-1", &v), 0);
	assert_true(v.of[0][0] == -1);
}

static void test_bad_sets_change_nothing_and_say_what_there_is(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "one", "TEST.KEY=VALUE" },       { "one.count", "TEST.KEY=VALUE" },
		{ "", "TEST.KEY=VALUE" },          { "two.count=1", "one, one_more" },
		{ "on.count=1", "one, one_more" }, { "one.coun=1", "count, time_s" },
		{ "one.counts=1", "count" },       { ".=", "one, one_more" },
		{ "one.count=101", "-1 to 100" },  { "one.count=-2", "-1 to 100" },
		{ "one.count=1.5", "whole" },      { "one.count=", "whole" },
		{ "one.count=1x", "whole" },       { "one.count=nan", "whole" },
		{ "one.time_s=inf", "0.1 to 60" }, { "one.time_s=0.05", "0.1 to 60" },
		{ "one.time_s=-nan", "how long" }, { "one_more.count=1", "has no such key" },
	};
	struct param_values v, before;

	(void)state;
	params_default(cases, &v);
	before = v;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(set(bad[i].text, &v), -EINVAL);
		if (!strstr(error, bad[i].says))
			fail_msg("%s: '%s' does not say '%s'", bad[i].text, error, bad[i].says);
		assert_memory_equal(v.of[0], before.of[0], ARRAY_SIZE(one_params) * sizeof(double) - sizeof(double));
	}
}

static void test_values_by_name_and_unit(void **state)
{
	static struct machine machine = { .nr_cpus = 2, .cpus = { 3, 5 } };
	struct bench_env env = { .machine = &machine };
	struct result result;
	struct param_values v;
	struct bench b = { .env = &env, .test = &cases[0], .values = v.of[0], .result = &result };
	uint32_t cpu = 99;

	(void)state;
	params_default(cases, &v);
	result_init(&result, false);
	assert_true(param(&b, "time_s") == 0.5);
	assert_int_equal(param_ns(&b, "time_s"), 500000000);
	assert_int_equal(param_ns(&b, "time_us"), 2000);
	assert_int_equal(param_count_or(&b, "count", 3), 7);
	assert_int_equal(set("one.count=-1", &v), 0);
	assert_int_equal(param_count_or(&b, "count", 3), 3);
	assert_int_equal(param_cpu(&b, &cpu), 0);
	assert_int_equal(cpu, 3);
	assert_int_equal(set("one.cpu=5", &v), 0);
	assert_int_equal(param_cpu(&b, &cpu), 0);
	assert_int_equal(cpu, 5);
	assert_int_equal(set("one.cpu=4", &v), 0);
	assert_int_equal(param_cpu(&b, &cpu), -EINVAL);
	assert_non_null(strstr(result.reason, "CPU 4"));
	result_destroy(&result);
}

static int parse(struct options *ret_options, const char *const *words)
{
	char *argv[16] = { (char *)"schedbench" };
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	error[0] = '\0';
	return bench_options_parse(argc, argv, cases, ret_options, error, sizeof(error));
}

#define PARSE(o, ...) parse(o, (const char *const[]){ __VA_ARGS__, NULL })

static void test_command_line(void **state)
{
	struct options o;

	(void)state;
	assert_int_equal(PARSE(&o, "one_more", "--json", "-", "--samples", "one", "--set", "one.count=9", "--policy", "ext"), 0);
	assert_int_equal(o.nr_tests, 2);
	assert_int_equal(o.tests[0], 1);
	assert_int_equal(o.tests[1], 0);
	assert_string_equal(o.json, "-");
	assert_true(o.samples && o.ext_policy && o.what == DO_RUN);
	assert_true(o.values.of[0][0] == 9);
	assert_int_equal(PARSE(&o, "--list"), 0);
	assert_true(o.what == DO_LIST);
	assert_int_equal(PARSE(&o, "--policy", "leave", "one"), 0);
	assert_false(o.ext_policy);
}

static void test_bad_command_lines(void **state)
{
	struct options o = { .nr_tests = 77 };

	(void)state;
	assert_int_equal(PARSE(&o, "two"), -EINVAL);
	assert_non_null(strstr(error, "one one_more"));
	assert_int_equal(PARSE(&o, "--sample"), -EINVAL);
	assert_int_equal(PARSE(&o, "--policy", "fifo", "one"), -EINVAL);
	assert_int_equal(PARSE(&o, "--nothing", "one"), -EINVAL);
	assert_non_null(strstr(error, "--nothing"));
	assert_int_equal(PARSE(&o, "one", "--json"), -EINVAL);
	assert_int_equal(PARSE(&o, "--lc", "/nowhere", "one"), -EINVAL);
	assert_non_null(strstr(error, "/nowhere"));
	assert_int_equal(PARSE(&o, "--set", "one.count=x", "one"), -EINVAL);
	assert_int_equal(o.nr_tests, 77);
}

/* Sizes that the tables must keep to, defaults within their ranges, names that a unit can be read from. */
static void test_real_tables_are_sound(void **state)
{
	int nr = 0;

	(void)state;
	for (const struct bench_case *c = bench_cases; c->name; c++, nr++) {
		int keys = 0;

		assert_non_null(c->run);
		for (const struct param *p = c->params; p->name; p++, keys++) {
			if (p->fallback < p->min || p->fallback > p->max || !p->help[0])
				fail_msg("%s.%s: default or help", c->name, p->name);
			assert_null(strpbrk(p->name, ".="));
		}
		assert_true(keys <= BENCH_MAX_PARAMS);
	}
	assert_int_equal(nr, 12);
	assert_true(nr <= BENCH_MAX_CASES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_changes_just_that_key),
		cmocka_unit_test(test_bad_sets_change_nothing_and_say_what_there_is),
		cmocka_unit_test(test_values_by_name_and_unit),
		cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_bad_command_lines),
		cmocka_unit_test(test_real_tables_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
