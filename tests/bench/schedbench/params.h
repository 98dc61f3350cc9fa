/* SPDX-License-Identifier: GPL-2.0-or-later */
/* params.h - the settings of tests: defaults, --set, looked up by name */
#ifndef SCHEDBENCH_PARAMS_H
#define SCHEDBENCH_PARAMS_H

#include <stdio.h>

#include "tests/bench/schedbench/bench.h"

struct param_values {
	double of[BENCH_MAX_CASES][BENCH_MAX_PARAMS]; /* by the places in the tables */
};

void params_default(const struct bench_case *cases, struct param_values *ret_values);

/*
 * "TEST.KEY=VALUE".  -EINVAL: nothing changed, and what is wrong, with the keys or
 * the range there are, is in error.
 */
int params_set(const struct bench_case *cases, const char *text, struct param_values *values, char *error, size_t size);

/* Of the test that runs; a name that it does not have is a bug and ends the program. */
double param(const struct bench *b, const char *name);
uint32_t param_count(const struct bench *b, const char *name);
uint64_t param_ns(const struct bench *b, const char *name); /* of one in seconds, ms or us, as its name ends */

/* As param_count, where -1 stands for so many. */
uint32_t param_count_or(const struct bench *b, const char *name, uint32_t otherwise);

/* CPU to pin to: -1 is the first one.  -EINVAL with the result's text when we may not run there. */
int param_cpu(const struct bench *b, uint32_t *ret_cpu);

/* A line a key: name, default, range, meaning. */
void params_print(const struct bench_case *test, FILE *out);

#endif
