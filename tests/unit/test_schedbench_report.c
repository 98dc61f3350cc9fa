/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_schedbench_report.c - the JSON is JSON, whatever is in it; the table is aligned */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <systemd/sd-json.h>

#include "daemon/base/cleanup.h"
#include "tests/bench/schedbench/report.h"

static const struct param params[] = { { "samples", "", 1, 0, 10, true }, { "time_s", "", 1, 0, 10, false }, { 0 } };
static const struct bench_case test_case = { "probe", "", params, NULL };
static const double values[] = { 2000, 0.25 };
static const struct report_head head = { "0.1", "sched\"d\\ \n\x01", "6.0\xff", 4 };

static char *json_of(const struct result *results, int n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	report_json_begin(f, &head);
	for (int i = 0; i < n; i++)
		report_json_result(f, &test_case, values, &results[i], i == 0);
	report_json_end(f);
	fclose(f);
	return text;
}

static sd_json_variant *parse(const char *text)
{
	sd_json_variant *v = NULL;
	unsigned int line = 0, column = 0;

	if (sd_json_parse(text, 0, &v, &line, &column) < 0)
		fail_msg("not JSON at %u:%u: %s", line, column, text);
	return v;
}

static sd_json_variant *result_at(sd_json_variant *v, size_t i)
{
	return sd_json_variant_by_index(sd_json_variant_by_key(v, "results"), i);
}

static void test_json_of_all_that_may_be_in_it(void **state)
{
	struct result results[2];
	_cleanup_free_ char *text = NULL;
	uint64_t ns[] = { 3000, 1500, 2000 };
	sd_json_variant *v, *first, *metrics;

	(void)state;
	result_init(&results[0], true);
	result_series(&results[0], "", ns, 3);
	result_metric(&results[0], NAN, "not_a_number");
	result_metric(&results[0], INFINITY, "endless_us");
	result_metric(&results[0], -INFINITY, "least");
	result_metric(&results[0], 1e300, "huge");
	result_metric(&results[0], 0.1 + 0.2, "exact");
	result_init(&results[1], false);
	result_skip(&results[1], "tab\t quote\" backslash\\ slash/ nul-less \x1f \xc3\xa4 bad \xc3");
	text = json_of(results, 2);
	v = parse(text);
	assert_int_equal(sd_json_variant_integer(sd_json_variant_by_key(v, "schedbench")), 1);
	assert_int_equal(sd_json_variant_integer(sd_json_variant_by_key(v, "cpus")), 4);
	assert_string_equal(sd_json_variant_string(sd_json_variant_by_key(v, "scheduler")), "sched\"d\\ \n\x01");
	first = result_at(v, 0);
	metrics = sd_json_variant_by_key(first, "metrics");
	assert_string_equal(sd_json_variant_string(sd_json_variant_by_key(first, "status")), "done");
	assert_true(sd_json_variant_real(sd_json_variant_by_key(metrics, "p50_us")) == 2);
	assert_true(sd_json_variant_is_null(sd_json_variant_by_key(metrics, "not_a_number")));
	assert_true(sd_json_variant_is_null(sd_json_variant_by_key(metrics, "endless_us")));
	assert_true(sd_json_variant_is_null(sd_json_variant_by_key(metrics, "least")));
	assert_int_equal(sd_json_variant_elements(sd_json_variant_by_key(first, "samples_us")), 3);
	assert_true(sd_json_variant_real(sd_json_variant_by_key(sd_json_variant_by_key(first, "params"), "time_s")) == 0.25);
	assert_string_equal(sd_json_variant_string(sd_json_variant_by_key(result_at(v, 1), "status")), "skip");
	assert_null(sd_json_variant_by_key(result_at(v, 1), "samples_us"));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf,"));
	sd_json_variant_unref(v);
	result_destroy(&results[0]);
	result_destroy(&results[1]);
}

static void test_json_without_results(void **state)
{
	_cleanup_free_ char *text = json_of(NULL, 0);
	sd_json_variant *v = parse(text);

	(void)state;
	assert_int_equal(sd_json_variant_elements(sd_json_variant_by_key(v, "results")), 0);
	sd_json_variant_unref(v);
}

static void test_reasons(void **state)
{
	struct result r;

	(void)state;
	result_init(&r, false);
	result_note(&r, "one");
	result_note(&r, "two %d", 2);
	assert_string_equal(r.reason, "one; two 2");
	/* The first error says it all, and stays. */
	assert_int_equal(result_error(&r, -5, "broken"), -5);
	assert_int_equal(result_error(&r, -6, "so this as well"), -6);
	assert_string_equal(r.reason, "broken");
	assert_int_equal(r.status, STATUS_ERROR);
	/* Never longer than its place. */
	for (int i = 0; i < 100; i++)
		result_note(&r, "and more and more");
	assert_true(strlen(r.reason) < sizeof(r.reason));
	result_destroy(&r);
}

static void test_units_are_read_from_names(void **state)
{
	(void)state;
	assert_string_equal(result_unit("p99_us"), "us");
	assert_string_equal(result_unit("lc_p99_us"), "us");
	assert_string_equal(result_unit("be_loops_per_s"), "loops/s");
	assert_string_equal(result_unit("rate_per_s"), "1/s");
	assert_string_equal(result_unit("be_cpu_s"), "CPU s");
	assert_string_equal(result_unit("elapsed_s"), "s");
	assert_string_equal(result_unit("cpus"), "");
	assert_string_equal(result_unit("n"), "");
	assert_string_equal(result_unit("_us"), "");
}

static void test_table_columns_are_aligned(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct result r;
	size_t size, at = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	result_init(&r, false);
	result_metric(&r, 123456.789, "long_name_of_a_figure_us");
	result_metric(&r, 3, "n");
	r.status = STATUS_FAIL;
	report_table_head(f);
	report_table_rows(f, &test_case, &r);
	fclose(f);
	assert_non_null(strstr(text, "123456.789 us       fail"));
	/* Values end in the same column. */
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		const char *value = strstr(line, "VALUE");
		const char *end = value ? value + 5 : strstr(line, "123456.789");

		if (!value && end)
			end += 10;
		if (!end)
			end = strchr(line, '3') + 1;
		assert_true(at == 0 || at == (size_t)(end - line));
		at = (size_t)(end - line);
	}
	result_destroy(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_of_all_that_may_be_in_it),
		cmocka_unit_test(test_json_without_results),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_units_are_read_from_names),
		cmocka_unit_test(test_table_columns_are_aligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
