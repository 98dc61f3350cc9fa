/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - aligned columns, and JSON written as it comes */
#include "tests/bench/schedbench/report.h"

#include <math.h>

#include "api/ctl/json.h"

static void row(FILE *out, const char *test, const char *metric, const char *value, const char *unit,
		const char *verdict)
{
	fprintf(out, "%-18s %-34s %14s %-8s %s\n", test, metric, value, unit, verdict);
}

void report_table_head(FILE *out)
{
	row(out, "TEST", "METRIC", "VALUE", "UNIT", "VERDICT");
}

static void format_value(char *dst, size_t size, double value)
{
	if (value == floor(value) && fabs(value) < 1e15)
		snprintf(dst, size, "%.0f", value);
	else
		snprintf(dst, size, "%.3f", value);
}

void report_table_rows(FILE *out, const struct bench_case *test, const struct result *result)
{
	const char *verdict = result_status_name(result->status);
	char value[48];

	for (size_t i = 0; i < result->nr_metrics; i++) {
		format_value(value, sizeof(value), result->metrics[i].value);
		row(out, test->name, result->metrics[i].name, value, result_unit(result->metrics[i].name),
		    i ? "" : verdict);
	}
	if (!result->nr_metrics)
		row(out, test->name, "-", "-", "", verdict);
	if (result->reason[0])
		fprintf(out, "%-18s %s\n", test->name, result->reason);
	fflush(out);
}

static void number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.12g", value);
	else
		fputs("null", out);
}

static void string_field(FILE *out, const char *name, const char *value)
{
	fprintf(out, "\"%s\":", name);
	json_print_string(value, out);
}

void report_json_begin(FILE *out, const struct report_head *head)
{
	fputs("{\"schedbench\":1,", out);
	string_field(out, "version", head->version);
	fputc(',', out);
	string_field(out, "scheduler", head->scheduler);
	fputc(',', out);
	string_field(out, "kernel", head->kernel);
	fprintf(out, ",\"cpus\":%u,\"results\":[", head->nr_cpus);
}

void report_json_result(FILE *out, const struct bench_case *test, const double *values, const struct result *result,
			bool first)
{
	fputs(first ? "{" : ",{", out);
	string_field(out, "test", test->name);
	fputc(',', out);
	string_field(out, "status", result_status_name(result->status));
	fputc(',', out);
	string_field(out, "reason", result->reason);
	fputs(",\"params\":{", out);
	for (int i = 0; test->params[i].name; i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "", test->params[i].name);
		number(out, values[i]);
	}
	fputs("},\"metrics\":{", out);
	for (size_t i = 0; i < result->nr_metrics; i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "", result->metrics[i].name);
		number(out, result->metrics[i].value);
	}
	fputc('}', out);
	if (result->keep_samples) {
		fputs(",\"samples_us\":[", out);
		for (size_t i = 0; i < result->nr_samples; i++) {
			if (i)
				fputc(',', out);
			number(out, result->samples_us[i]);
		}
		fputc(']', out);
	}
	fputc('}', out);
}

void report_json_end(FILE *out)
{
	fputs("]}\n", out);
}
