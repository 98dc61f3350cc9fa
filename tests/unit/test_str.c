// SPDX-License-Identifier: GPL-2.0-or-later
/* test_str.c - bounded copies, UTF-8, escaping, durations, numbers */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

static void test_copy_fits_or_touches_nothing(void **state)
{
	char dst[4] = "xyz";

	(void)state;
	assert_int_equal(str_copy(dst, sizeof(dst), "abc"), 0);
	assert_string_equal(dst, "abc");
	assert_int_equal(str_copy(dst, sizeof(dst), "abcd"), -ENAMETOOLONG);
	assert_string_equal(dst, "abc");
	assert_int_equal(str_copy(dst, 0, ""), -ENAMETOOLONG);
}

static void test_utf8_accepts_and_refuses_what_unicode_does(void **state)
{
	static const char *const good[] = { "", "plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf" };
	static const char *const bad[] = {
		"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\xaf",
		"\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xc3", "a\xe2\x82", "\xff",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(str_is_utf8(good[i]));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (str_is_utf8(bad[i]))
			fail_msg("bad UTF-8 number %zu was accepted", i);
}

static void test_control_characters_are_seen(void **state)
{
	(void)state;
	assert_false(str_has_control("a b\xc3\xa4"));
	assert_true(str_has_control("a\nb"));
	assert_true(str_has_control("\x7f"));
	assert_true(str_has_control("\x01"));
}

static void test_escape_leaves_no_byte_that_acts_on_a_terminal(void **state)
{
	static const struct { const char *src, *expected; } cases[] = {
		{ "", "" },
		{ "plain \xc3\xa4", "plain \xc3\xa4" },
		{ "a\nb", "a\\x0ab" },
		{ "a\\b", "a\\x5cb" },
		{ "\x1b[31m", "\\x1b[31m" },
		{ "\xff", "\\xff" },
		{ "\xc3", "\\xc3" },
		{ "\xc2\x9b" "1m", "\\xc2\\x9b" "1m" },
		{ "\xe2\x80\xae" "x", "\\xe2\\x80\\xaex" },
	};
	char dst[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(str_escape(dst, sizeof(dst), cases[i].src), cases[i].expected);
}

static void test_escape_cuts_between_characters(void **state)
{
	char dst[16];

	(void)state;
	assert_string_equal(str_escape(dst, 12, "abcdefghijk"), "abcdefghijk");
	assert_string_equal(str_escape(dst, 12, "abcdefghijkl"), "abcdefgh...");
	assert_string_equal(str_escape(dst, 12, "abcdef\nghijk"), "abcdef...");
	assert_string_equal(str_escape(dst, 8, "abc\xe2\x82\xac" "defgh"), "abc...");
	assert_string_equal(str_escape(dst, 3, "abcd"), "..");
	assert_string_equal(str_escape(dst, 1, "abcd"), "");
	dst[0] = 'x';
	assert_ptr_equal(str_escape(dst, 0, "abcd"), dst);
	assert_int_equal(dst[0], 'x');
}

static void test_durations_of_systemd_and_go_are_read(void **state)
{
	static const struct { const char *text; uint64_t ns; } cases[] = {
		{ "0", 0 },
		{ "5ns", 5 },
		{ "500us", 500000 },
		{ "500\xc2\xb5s", 500000 },
		{ "500\xce\xbcs", 500000 },
		{ "2ms", 2000000 },
		{ "1.5s", 1500000000 },
		{ ".5s", 500000000 },
		{ "30s", 30000000000 },
		{ "1min 30s", 90000000000 },
		{ "1m30s", 90000000000 },
		{ "1 min 30 sec", 90000000000 },
		{ "2h", 7200000000000 },
		{ "1d 1h", 90000000000000 },
		{ "1w", 604800000000000 },
		{ "0.000000001s", 1 },
		{ "9223372036854775808ns", UINT64_C(1) << 63 },
	};
	uint64_t ns;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (str_parse_duration_ns(cases[i].text, &ns) < 0)
			fail_msg("`%s' was refused", cases[i].text);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void test_bad_durations_are_refused_and_touch_nothing(void **state)
{
	static const struct { const char *text; int r; } cases[] = {
		{ "", -EINVAL },       { "5", -EINVAL },    { "s", -EINVAL },         { "-5s", -EINVAL },
		{ "+5s", -EINVAL },    { "5 ", -EINVAL },   { " 5s", -EINVAL },       { "5s ", -EINVAL },
		{ "5x", -EINVAL },     { "1s2", -EINVAL },  { "1..5s", -EINVAL },     { ".s", -EINVAL },
		{ "5S", -EINVAL },     { "0 5s", -EINVAL }, { "infinity", -EINVAL },  { "1s,2s", -EINVAL },
		{ "5s\n", -EINVAL },   { "300y", -ERANGE }, { "9223372036854775809ns", -ERANGE },
		{ "99999999999999999999s", -ERANGE },
	};
	uint64_t ns = 77;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (str_parse_duration_ns(cases[i].text, &ns) != cases[i].r)
			fail_msg("`%s' was not refused with %d", cases[i].text, cases[i].r);
		assert_int_equal(ns, 77);
	}
}

static void test_durations_are_printed_short_and_exact(void **state)
{
	static const struct { uint64_t ns; const char *text; } cases[] = {
		{ 0, "0" },
		{ 1, "1ns" },
		{ 5000, "5us" },
		{ 1234, "1.234us" },
		{ 1000000, "1ms" },
		{ 1500000, "1.5ms" },
		{ 1500000000, "1.5s" },
		{ 1000000001, "1.000000001s" },
		{ 30000000000, "30s" },
		{ 60000000000, "1min" },
		{ 90000000000, "90s" },
		{ 1800000000000, "30min" },
		{ 7200000000000, "2h" },
		{ UINT64_MAX, "18446744073.709551615s" },
	};
	char dst[32];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(str_format_duration_ns(dst, sizeof(dst), cases[i].ns), cases[i].text);
}

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 20;
}

static void test_a_printed_duration_reads_back_the_same(void **state)
{
	uint64_t seed = 20261130, ns, back;
	char dst[32];
	int i;

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (i = 0; i < 20000; i++) {
		ns = random_next(&seed) >> random_next(&seed) % 44;
		str_format_duration_ns(dst, sizeof(dst), ns);
		assert_int_equal(str_parse_duration_ns(dst, &back), 0);
		assert_int_equal(back, ns);
	}
}

static void test_mutated_text_never_breaks_a_parser(void **state)
{
	static const char *const start[] = { "1min 30s", "1.5s", "500us", "18446744073709551615", "a\\x\xc3\xa4\xe2\x82\xac" };
	uint64_t seed = 4242, value;
	char text[32], out[24];
	size_t n, i;
	int round;

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 20000; round++) {
		strcpy(text, start[round % ARRAY_SIZE(start)]);
		n = strlen(text);
		for (i = random_next(&seed) % 4; i; i--)
			text[random_next(&seed) % n] = (char)random_next(&seed);
		value = 1;
		if (str_parse_duration_ns(text, &value) == 0)
			assert_true(value <= UINT64_C(1) << 63);
		str_parse_u64(text, UINT64_MAX, &value);
		str_escape(out, sizeof(out), text);
		assert_true(strlen(out) < sizeof(out));
		assert_true(str_is_utf8(out));
		assert_false(str_has_control(out));
	}
}

static void test_numbers_are_whole_strings(void **state)
{
	static const struct { const char *text; uint64_t max; int r; } cases[] = {
		{ "", 9, -EINVAL },   { "-1", 9, -EINVAL }, { "+1", 9, -EINVAL }, { " 1", 9, -EINVAL }, { "1 ", 9, -EINVAL },
		{ "0x1", 9, -EINVAL }, { "1.0", 9, -EINVAL }, { "10", 9, -ERANGE }, { "18446744073709551616", UINT64_MAX, -ERANGE },
		{ "99999999999999999999999x", 9, -EINVAL },
	};
	uint64_t value = 7;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (str_parse_u64(cases[i].text, cases[i].max, &value) != cases[i].r)
			fail_msg("`%s' was not refused with %d", cases[i].text, cases[i].r);
		assert_int_equal(value, 7);
	}
	assert_int_equal(str_parse_u64("18446744073709551615", UINT64_MAX, &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(str_parse_u64("009", 9, &value), 0);
	assert_int_equal(value, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_fits_or_touches_nothing),
		cmocka_unit_test(test_utf8_accepts_and_refuses_what_unicode_does),
		cmocka_unit_test(test_control_characters_are_seen),
		cmocka_unit_test(test_escape_leaves_no_byte_that_acts_on_a_terminal),
		cmocka_unit_test(test_escape_cuts_between_characters),
		cmocka_unit_test(test_durations_of_systemd_and_go_are_read),
		cmocka_unit_test(test_bad_durations_are_refused_and_touch_nothing),
		cmocka_unit_test(test_durations_are_printed_short_and_exact),
		cmocka_unit_test(test_a_printed_duration_reads_back_the_same),
		cmocka_unit_test(test_mutated_text_never_breaks_a_parser),
		cmocka_unit_test(test_numbers_are_whole_strings),
	};

	return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
