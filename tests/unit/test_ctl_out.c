// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ctl_out.c - tables, cells, lists of CPUs, order of cgroups */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/ctl/cgroup_order.c"
#include "api/ctl/out.c"

static const struct out_column columns[] = {
	{ "NAME", false, false }, { "CPUS", true, false }, { "ID", true, true }, { "NOTE", false, false },
	{ NULL, false, false },
};

static char *printed(bool wide, bool colour, bool headers, const char *indent)
{
	struct out_table *t = out_table_new(columns, wide, colour);
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	out_cell(t, OUT_PLAIN, "%s", "latency-critical");
	out_cell(t, OUT_YELLOW, "%d", 2);
	out_cell(t, OUT_PLAIN, "%d", 1234567);
	out_cell(t, OUT_PLAIN, "%s", "");
	out_cell(t, OUT_PLAIN, "%s", "b\xc3\xa4r\x1b[31m\n");
	out_cell(t, OUT_PLAIN, "%d", 1000000);
	out_cell(t, OUT_PLAIN, "%d", 1);
	out_cell(t, OUT_PLAIN, "%s", "x");
	assert_int_equal(out_table_rows(t), 2);
	f = open_memstream(&text, &size);
	out_table_print(t, headers, indent, f);
	fclose(f);
	out_table_free(t);
	return text;
}

static void test_a_table(void **state)
{
	char *text = printed(false, false, true, "");

	(void)state;
	assert_string_equal(text, "NAME                 CPUS  NOTE\n"
				  "latency-critical        2  -\n"
				  "b\xc3\xa4r\\x1b[31m\\x0a   1000000  x\n");
	free(text);
}

static void test_wide_and_without_headers(void **state)
{
	char *text = printed(true, false, false, "  ");

	(void)state;
	assert_string_equal(text, "  latency-critical        2  1234567  -\n"
				  "  b\xc3\xa4r\\x1b[31m\\x0a   1000000        1  x\n");
	free(text);
}

static void test_colours_do_not_count_as_width(void **state)
{
	char *text = printed(false, true, false, "");

	(void)state;
	assert_string_equal(text, "latency-critical        \x1b[33m2\x1b[0m  -\n"
				  "b\xc3\xa4r\\x1b[31m\\x0a   1000000  x\n");
	free(text);
}

static void expect_text(char *got, const char *wanted)
{
	assert_string_equal(got, wanted);
	free(got);
}

static void test_text_is_escaped_but_backslashes_stay(void **state)
{
	(void)state;
	expect_text(out_text("plain \xc3\xa4"), "plain \xc3\xa4");
	expect_text(out_text("a\nb\x7f\x1b"), "a\\x0ab\\x7f\\x1b");
	expect_text(out_text("dev-disk\\x2d1.swap"), "dev-disk\\x2d1.swap");
	expect_text(out_text("\xff\xc3"), "\\xff\\xc3");
	expect_text(out_text("\xc2\x9b" "31m"), "\\xc2\\x9b31m");
	expect_text(out_text(""), "");
	expect_text(out_path("/a\\x5cx2db\\x0a"), "/a\\x2db\\x0a");
	expect_text(out_path("/\\x5"), "/\\x5");
}

static void test_cpu_lists(void **state)
{
	static const uint32_t cpus[] = { 0, 1, 2, 3, 8, 10, 11, 1023 };

	(void)state;
	expect_text(out_cpu_list(cpus, ARRAY_SIZE(cpus)), "0-3,8,10-11,1023");
	expect_text(out_cpu_list(cpus, 1), "0");
	expect_text(out_cpu_list(NULL, 0), "");
}

static void test_spans(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} spans[] = {
		{ 0, "0ms" },
		{ 850000000, "850ms" },
		{ 12000000000ull, "12s" },
		{ 60000000000ull, "1min" },
		{ 185000000000ull, "3min 5s" },
		{ 7800000000000ull, "2h 10min" },
		{ 442800000000000ull, "5d 3h" },
		{ 86401000000000ull, "1d" },
	};
	char text[32];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(spans); i++)
		assert_string_equal(out_span(text, sizeof(text), spans[i].ns), spans[i].text);
}

static void test_no_colour_without_a_terminal(void **state)
{
	(void)state;
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	FILE *f = tmpfile();

	assert_false(out_want_colour(fileno(f)));
	fclose(f);
}

static int compare(const void *a, const void *b)
{
	return cgroup_order_compare(*(const char *const *)a, *(const char *const *)b);
}

static void test_cgroups_in_the_order_of_the_tree(void **state)
{
	const char *paths[] = { "/b", "/a.b", "/a/c/d", "/a", "/", "/a-b/c", "/a/b", "/ab" };
	static const char *const wanted[] = { "/", "/a", "/a/b", "/a/c/d", "/a-b/c", "/a.b", "/ab", "/b" };
	static const char *const names[] = { "/", "a", "b", "c/d", "a-b/c", "a.b", "ab", "b" };
	static const unsigned int depths[] = { 0, 1, 2, 2, 1, 1, 1, 1 };
	unsigned int got_depths[ARRAY_SIZE(paths)];
	const char *got_names[ARRAY_SIZE(paths)];
	size_t i;

	(void)state;
	qsort(paths, ARRAY_SIZE(paths), sizeof(*paths), compare);
	cgroup_order_place(paths, ARRAY_SIZE(paths), got_depths, got_names);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_string_equal(paths[i], wanted[i]);
		assert_string_equal(got_names[i], names[i]);
		assert_int_equal(got_depths[i], depths[i]);
	}
}

static void test_a_filter_may_leave_out_parents(void **state)
{
	static const char *const paths[] = { "/a/b", "/a/b/c/d", "/a/b/e", "/z/y" };
	unsigned int depths[4];
	const char *names[4];

	(void)state;
	cgroup_order_place(paths, 4, depths, names);
	assert_string_equal(names[0], "/a/b");
	assert_int_equal(depths[0], 0);
	assert_string_equal(names[1], "c/d");
	assert_int_equal(depths[1], 1);
	assert_string_equal(names[2], "e");
	assert_int_equal(depths[2], 1);
	assert_string_equal(names[3], "/z/y");
	assert_int_equal(depths[3], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_table),
		cmocka_unit_test(test_wide_and_without_headers),
		cmocka_unit_test(test_colours_do_not_count_as_width),
		cmocka_unit_test(test_text_is_escaped_but_backslashes_stay),
		cmocka_unit_test(test_cpu_lists),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_no_colour_without_a_terminal),
		cmocka_unit_test(test_cgroups_in_the_order_of_the_tree),
		cmocka_unit_test(test_a_filter_may_leave_out_parents),
	};

	return cmocka_run_group_tests_name("ctl_out", tests, NULL, NULL);
}
