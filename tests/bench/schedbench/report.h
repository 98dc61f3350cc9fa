/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - results as a table for people and as JSON */
#ifndef SCHEDBENCH_REPORT_H
#define SCHEDBENCH_REPORT_H

#include <stdio.h>

#include "tests/bench/schedbench/bench.h"

/* What a report says of its surroundings. */
struct report_head {
	const char *version, *scheduler, *kernel;
	uint32_t nr_cpus;
};

void report_table_head(FILE *out);

/* A row for each figure of one test, the verdict in the first; then the reason, if there is one. */
void report_table_rows(FILE *out, const struct bench_case *test, const struct result *result);

/* One object on one line; the numbers that JSON does not have become null. */
void report_json_begin(FILE *out, const struct report_head *head);
void report_json_result(FILE *out, const struct bench_case *test, const double *values, const struct result *result,
			bool first);
void report_json_end(FILE *out);

#endif
