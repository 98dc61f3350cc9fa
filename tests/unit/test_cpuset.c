// SPDX-License-Identifier: GPL-2.0-or-later
/* test_cpuset.c - lists of CPUs read strictly and written back, and the arithmetic of sets */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/cpuset.h"

static uint64_t seed = 88172645463325252ULL;

static uint64_t next_random(void)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed;
}

static struct cpuset set_of(const char *list)
{
	struct cpuset s;

	if (cpuset_parse(list, &s) < 0)
		fail_msg("'%s' is no list", list);
	return s;
}

/* Dense, sparse and empty ones. */
static struct cpuset random_set(void)
{
	unsigned int ands = next_random() % 4;
	struct cpuset s;

	for (size_t i = 0; i < CPUSET_WORDS; i++) {
		s.bits[i] = next_random();
		for (unsigned int n = 0; n < ands; n++)
			s.bits[i] &= next_random();
		if (ands == 3 && i % 3)
			s.bits[i] = 0;
	}
	return s;
}

static void test_lists(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint32_t count;
	} cases[] = {
		{ "", 0, 0 },          { "\n", 0, 0 },          { "0\n", 0, 1 },         { "0-3,8,10-11\n", 0, 7 },
		{ "1023", 0, 1 },      { "1024", -ERANGE, 0 },  { "0-4294967297", -ERANGE, 0 },
		{ "0-1023", 0, 1024 }, { "0-1024", -ERANGE, 0 }, { "99999999999999999999", -ERANGE, 0 },
		{ "3-1", -EINVAL, 0 }, { "-1", -EINVAL, 0 },    { "0,", -EINVAL, 0 },    { ",0", -EINVAL, 0 },
		{ "0,,1", -EINVAL, 0 }, { ",", -EINVAL, 0 },    { "0-", -EINVAL, 0 },    { "0--1", -EINVAL, 0 },
		{ "0-1-2", -EINVAL, 0 }, { "0x1", -EINVAL, 0 }, { "+1", -EINVAL, 0 },    { " 0", -EINVAL, 0 },
		{ "0 ", -EINVAL, 0 },  { "0 1", -EINVAL, 0 },   { "0\n1", -EINVAL, 0 },  { "0\n\n", -EINVAL, 0 },
		{ "0-3:1/2", -EINVAL, 0 }, { "all", -EINVAL, 0 }, { "3,1,2-3", 0, 3 },   { "007", 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpuset s = {};
		int r = cpuset_parse(cases[i].text, &s);

		if (r != cases[i].result || cpuset_count(&s) != cases[i].count)
			fail_msg("'%s': %d, %u CPUs", cases[i].text, r, cpuset_count(&s));
	}
}

static void test_an_error_leaves_the_result_alone(void **state)
{
	struct cpuset s = set_of("1,5"), before = s;
	char text[4] = "abc";

	(void)state;
	assert_int_equal(cpuset_parse("0-3,x", &s), -EINVAL);
	assert_int_equal(cpuset_parse("0-3,2000", &s), -ERANGE);
	assert_true(cpuset_equal(&s, &before));
	assert_int_equal(cpuset_format(&s, text, 3), -ENAMETOOLONG);
	assert_string_equal(text, "abc");
	assert_int_equal(cpuset_format(&s, text, 4), 0);
	assert_string_equal(text, "1,5");
}

static void test_mutated_lists(void **state)
{
	static const char base[] = "0-3,8,10-11,64-127,1000-1023\n", bytes[] = "0123456789,-\n \xff:";

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 20000; i++) {
		char *text = strdup(base); /* on the heap: a sanitizer sees a read behind its end */
		struct cpuset s;
		int r;

		for (unsigned int n = 0; n <= i % 6; n++)
			text[next_random() % (sizeof(base) - 1)] = bytes[(seed >> 32) % (sizeof(bytes) - 1)];
		r = cpuset_parse(text, &s);
		assert_true(r == 0 || r == -EINVAL || r == -ERANGE);
		free(text);
	}
}

static void test_written_as_the_kernel_does(void **state)
{
	static const char *const lists[] = { "", "0", "0-1", "0,2", "0-3,8,10-11", "63-64", "1023", "0-1023", "62,64-1022" };
	char text[CPUSET_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct cpuset s = set_of(lists[i]);

		assert_int_equal(cpuset_format(&s, text, sizeof(text)), 0);
		assert_string_equal(text, lists[i]);
	}
}

static void test_what_is_written_is_read_back(void **state)
{
	struct cpuset longest = {};
	char text[CPUSET_TEXT_BYTES];

	(void)state;
	for (uint32_t cpu = 0; cpu < CPUSET_MAX_CPUS; cpu++)
		if (cpu % 3 != 2)
			cpuset_add(&longest, cpu);
	assert_int_equal(cpuset_format(&longest, text, sizeof(text)), 0);
	for (int i = 0; i < 2000; i++) {
		struct cpuset s = i ? random_set() : longest, again;

		assert_int_equal(cpuset_format(&s, text, sizeof(text)), 0);
		assert_int_equal(cpuset_parse(text, &again), 0);
		if (!cpuset_equal(&s, &again))
			fail_msg("another set: %s", text);
	}
}

static void test_arithmetic_is_that_of_each_cpu(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct cpuset a = random_set(), b = random_set(), both = a, either = a, only = a;
		bool subset = true, empty = true;
		uint32_t count = 0;

		cpuset_and(&both, &b);
		cpuset_or(&either, &b);
		cpuset_andnot(&only, &b);
		for (uint32_t cpu = 0; cpu < CPUSET_MAX_CPUS; cpu++) {
			bool in_a = cpuset_has(&a, cpu), in_b = cpuset_has(&b, cpu);

			assert_int_equal(cpuset_has(&both, cpu), in_a && in_b);
			assert_int_equal(cpuset_has(&either, cpu), in_a || in_b);
			assert_int_equal(cpuset_has(&only, cpu), in_a && !in_b);
			subset &= !in_a || in_b;
			empty &= !in_a;
			count += in_a;
		}
		assert_int_equal(cpuset_is_subset(&a, &b), subset);
		assert_true(cpuset_is_subset(&both, &a) && cpuset_is_subset(&a, &either));
		assert_int_equal(cpuset_is_empty(&a), empty);
		assert_int_equal(cpuset_count(&a), count);
		for_each_cpu_in(cpu, &a) {
			assert_true(cpuset_has(&a, cpu));
			count--;
		}
		assert_int_equal(count, 0);
	}
}

static void test_no_cpu_beyond_the_last(void **state)
{
	struct cpuset all;

	(void)state;
	cpuset_fill(&all);
	assert_int_equal(cpuset_count(&all), CPUSET_MAX_CPUS);
	assert_true(cpuset_has(&all, CPUSET_MAX_CPUS - 1));
	assert_false(cpuset_has(&all, CPUSET_MAX_CPUS));
	assert_false(cpuset_has(&all, UINT32_MAX));
	assert_int_equal(cpuset_next(&all, CPUSET_MAX_CPUS), CPUSET_MAX_CPUS);
	assert_int_equal(cpuset_next(&all, CPUSET_MAX_CPUS - 1), CPUSET_MAX_CPUS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_an_error_leaves_the_result_alone),
		cmocka_unit_test(test_mutated_lists),
		cmocka_unit_test(test_written_as_the_kernel_does),
		cmocka_unit_test(test_what_is_written_is_read_back),
		cmocka_unit_test(test_arithmetic_is_that_of_each_cpu),
		cmocka_unit_test(test_no_cpu_beyond_the_last),
	};

	return cmocka_run_group_tests_name("cpuset", tests, NULL, NULL);
}
