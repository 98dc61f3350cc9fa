// SPDX-License-Identifier: GPL-2.0-or-later
/* test_class.c - names, keys, ranges, merging and defaults of classes */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "daemon/class.h"

static const struct class_key *key_named(const char *yaml)
{
	size_t i;

	for (i = 0; i < class_nr_keys; i++)
		if (!strcmp(class_keys[i].yaml, yaml))
			return &class_keys[i];
	fail_msg("no key `%s'", yaml);
	return NULL;
}

static void test_names_follow_the_rule(void **state)
{
	static const char *const good[] = { "a", "web", "web-2", "a1", "latency-critical", "abcdefghijklmnopqrstuvwxyz012345" };
	static const char *const bad[] = { "", "A", "1a", "-a", "a-", "a_b", "a b", "a\n", "a.b", "\xc3\xa4",
					   "abcdefghijklmnopqrstuvwxyz0123456" };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++)
		if (class_name_check(good[i]) < 0)
			fail_msg("`%s' was refused", good[i]);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (class_name_check(bad[i]) != -EINVAL)
			fail_msg("`%s' was accepted", bad[i]);
}

static void test_short_names_become_long(void **state)
{
	uint32_t kind = 99;

	(void)state;
	assert_string_equal(class_name_canonical("lc"), "latency-critical");
	assert_string_equal(class_name_canonical("be"), "best-effort");
	assert_string_equal(class_name_canonical("default"), "normal");
	assert_string_equal(class_name_canonical("web"), "web");
	assert_int_equal(class_kind_parse("be", &kind), 0);
	assert_int_equal(kind, SCHEDD_KIND_BEST_EFFORT);
	assert_int_equal(class_kind_parse("latency-critical", &kind), 0);
	assert_int_equal(kind, SCHEDD_KIND_LATENCY_CRITICAL);
	assert_int_equal(class_kind_parse("LC", &kind), -EINVAL);
	assert_int_equal(kind, SCHEDD_KIND_LATENCY_CRITICAL);
	assert_null(class_kind_name(SCHEDD_KIND_NONE));
	assert_null(class_lend_name(CLASS_LEND_UNSET));
}

struct key_case {
	const char *key, *value;
	int r;
	const char *text;  /* as printed, or part of the error */
};

static void test_every_key_reads_checks_and_prints(void **state)
{
	static const struct key_case cases[] = {
		{ "kind", "lc", 0, "latency-critical" },
		{ "kind", "realtime", -EINVAL, "latency-critical, normal or best-effort" },
		{ "guarantee", "0", 0, "0" },
		{ "guarantee", "1024", 0, "1024" },
		{ "guarantee", "1025", -ERANGE, "0 to 1024" },
		{ "guarantee", "4294967296", -ERANGE, "0 to 1024" },
		{ "guarantee", "-1", -EINVAL, "0 to 1024" },
		{ "guarantee", "2.5", -EINVAL, "whole number" },
		{ "burst", "1", 0, "1" },
		{ "burst", "0", -ERANGE, "1 to 1024" },
		{ "lend", "never", 0, "never" },
		{ "lend", "sometimes", -EINVAL, "idle or never" },
		{ "policy", "vtime", 0, "vtime" },
		{ "policy", "fifo", 0, "fifo" },
		{ "policy", "round-robin", 0, "round-robin" },
		{ "policy", "deadline", 0, "deadline" },
		{ "policy", "interactive", 0, "interactive" },
		{ "policy", "cfs", -EINVAL, "vtime" },
		{ "policy", "a-very-long-policy-name", -EINVAL, "vtime" },
		{ "slice", "2ms", 0, "2ms" },
		{ "slice", "2", -EINVAL, "a duration" },
		{ "slice", "99us", -ERANGE, "100us to 1s" },
		{ "slice", "2s", -ERANGE, "100us to 1s" },
		{ "slice", "0", -ERANGE, "100us to 1s" },
		{ "quantum", "0", 0, "0" },
		{ "quantum", "500us", 0, "500us" },
		{ "quantum", "99us", -ERANGE, "100us to 1s" },
		{ "quantum", "2s", -ERANGE, "100us to 1s" },
		{ "weight", "100", 0, "100" },
		{ "weight", "0", -ERANGE, "1 to 10000" },
		{ "weight", "10001", -ERANGE, "1 to 10000" },
		{ "exclusive_smt", "Yes", 0, "yes" },
		{ "exclusive_smt", "off", 0, "no" },
		{ "exclusive_smt", "2", -EINVAL, "yes or no" },
		{ "congestion", "10us", 0, "10us" },
		{ "congestion", "0", -ERANGE, "1us to 1s" },
		{ "wakeup_target", "0", 0, "0" },
		{ "wakeup_target", "100us", 0, "100us" },
		{ "wakeup_target", "11s", -ERANGE, "1us to 10s" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct class_key *key = key_named(cases[i].key);
		struct class_settings s = { 0 }, before = s;
		char text[256] = "";
		int r = class_settings_parse_key(&s, key, cases[i].value, text, sizeof(text));

		if (r != cases[i].r)
			fail_msg("%s: %s gave %d, not %d (%s)", cases[i].key, cases[i].value, r, cases[i].r, text);
		if (r < 0) {
			assert_memory_equal(&s, &before, sizeof(s));
			assert_non_null(strstr(text, cases[i].text));
			continue;
		}
		assert_int_equal(s.set, key->field);
		assert_string_equal(class_settings_format_key(&s, key, text, sizeof(text)), cases[i].text);
	}
}

static void test_keys_are_in_the_order_of_the_fields(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < class_nr_keys; i++)
		assert_int_equal(class_keys[i].field, 1u << i);
}

static void test_check_looks_at_present_fields_only(void **state)
{
	struct class_settings s = { .set = CLASS_FIELD_GUARANTEE, .guarantee_cpus = 2 };
	char error[256];

	(void)state;
	assert_int_equal(class_settings_check(&s, error, sizeof(error)), 0);
	s.set |= CLASS_FIELD_WEIGHT;
	assert_int_equal(class_settings_check(&s, error, sizeof(error)), -ERANGE);
	assert_string_equal(error, "weight: must be a whole number, 1 to 10000");
	s.weight = 1;
	s.set |= CLASS_FIELD_BURST;
	s.burst_cpus = 1;
	assert_int_equal(class_settings_check(&s, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "below the guarantee of 2"));
	s.burst_cpus = 2;
	assert_int_equal(class_settings_check(&s, error, sizeof(error)), 0);
	s.set |= CLASS_FIELD_KIND;
	assert_int_equal(class_settings_check(&s, error, sizeof(error)), -EINVAL);
	s.kind = SCHEDD_NR_KINDS;
	assert_int_equal(class_settings_check(&s, error, sizeof(error)), -EINVAL);
}

static void test_merge_takes_what_is_present(void **state)
{
	struct class_settings base, over = { .set = CLASS_FIELD_WEIGHT | CLASS_FIELD_SLICE, .weight = 7, .slice_ns = 5,
					     .burst_cpus = 99 };

	(void)state;
	class_settings_default(&base, SCHEDD_KIND_NORMAL, 8);
	class_settings_merge(&base, &over);
	assert_int_equal(base.weight, 7);
	assert_int_equal(base.slice_ns, 5);
	assert_int_equal(base.burst_cpus, 8);
	assert_int_equal(base.set, CLASS_FIELD_ALL);
}

static void test_equal_looks_at_what_is_present(void **state)
{
	struct class_settings a, b;

	(void)state;
	/* Padding, absent fields and what is left behind the end of a text do not count. */
	memset(&a, 0x11, sizeof(a));
	memset(&b, 0xee, sizeof(b));
	a.set = b.set = CLASS_FIELD_WEIGHT | CLASS_FIELD_POLICY;
	a.weight = b.weight = 7;
	strcpy(a.policy, "vtime");
	strcpy(b.policy, "vtime");
	assert_true(class_settings_equal(&a, &b));
	b.weight = 8;
	assert_false(class_settings_equal(&a, &b));
	b.weight = 7;
	b.set |= CLASS_FIELD_SLICE;
	assert_false(class_settings_equal(&a, &b));
}

static void test_defaults_are_those_of_the_manual(void **state)
{
	static const struct { uint32_t kind, nr_cpus, guarantee; } cases[] = {
		{ SCHEDD_KIND_LATENCY_CRITICAL, 64, 0 }, { SCHEDD_KIND_BEST_EFFORT, 64, 0 }, { SCHEDD_KIND_NORMAL, 1, 0 },
		{ SCHEDD_KIND_NORMAL, 2, 1 },            { SCHEDD_KIND_NORMAL, 19, 1 },      { SCHEDD_KIND_NORMAL, 64, 6 },
	};
	struct class_settings s;
	char error[256];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		class_settings_default(&s, cases[i].kind, cases[i].nr_cpus);
		assert_int_equal(s.guarantee_cpus, cases[i].guarantee);
		assert_int_equal(s.burst_cpus, cases[i].nr_cpus);
		assert_int_equal(s.lend, CLASS_LEND_IDLE);
		assert_int_equal(s.weight, 100);
		assert_string_equal(s.policy, cases[i].kind == SCHEDD_KIND_NORMAL ? "interactive" : "vtime");
		assert_int_equal(s.slice_ns, cases[i].kind == SCHEDD_KIND_BEST_EFFORT ? 20000000 : 4000000);
		assert_int_equal(s.set, CLASS_FIELD_ALL);
		assert_int_equal(class_settings_check(&s, error, sizeof(error)), 0);
	}
}

static void test_mutated_values_never_break_a_field(void **state)
{
	static const char *const start[] = { "latency-critical", "1024", "1min 30s", "0.5ms", "never", "yes", "vtime" };
	uint64_t seed = 99;
	char text[32], error[64], printed[32];
	int round;

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 30000; round++) {
		const struct class_key *key = &class_keys[(size_t)round % class_nr_keys];
		struct class_settings s = { 0 }, back = { 0 };

		strcpy(text, start[(size_t)round / class_nr_keys % ARRAY_SIZE(start)]);
		seed = seed * UINT64_C(6364136223846793005) + 1;
		if (seed >> 63)
			text[(seed >> 40) % strlen(text)] = (char)(seed >> 32);
		if (class_settings_parse_key(&s, key, text, error, sizeof(error)) < 0)
			continue;
		assert_int_equal(class_settings_check(&s, error, sizeof(error)), 0);
		class_settings_format_key(&s, key, printed, sizeof(printed));
		assert_int_equal(class_settings_parse_key(&back, key, printed, error, sizeof(error)), 0);
		assert_memory_equal(&s, &back, sizeof(s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_follow_the_rule),
		cmocka_unit_test(test_short_names_become_long),
		cmocka_unit_test(test_every_key_reads_checks_and_prints),
		cmocka_unit_test(test_keys_are_in_the_order_of_the_fields),
		cmocka_unit_test(test_check_looks_at_present_fields_only),
		cmocka_unit_test(test_merge_takes_what_is_present),
		cmocka_unit_test(test_equal_looks_at_what_is_present),
		cmocka_unit_test(test_defaults_are_those_of_the_manual),
		cmocka_unit_test(test_mutated_values_never_break_a_field),
	};

	return cmocka_run_group_tests_name("class", tests, NULL, NULL);
}
