/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - schedbench's command line */
#ifndef SCHEDBENCH_OPTIONS_H
#define SCHEDBENCH_OPTIONS_H

#include "tests/bench/schedbench/params.h"

struct options {
	const char *json; /* a path, "-" for standard output, NULL for none */
	bool samples, verbose;
	const char *cgroups[NR_ROLES];
	bool ext_policy;
	struct param_values values;
	int tests[BENCH_MAX_CASES]; /* places in the list, in the order of the call */
	int nr_tests;
	enum { DO_RUN, DO_HELP, DO_LIST, DO_VERSION } what;
};

/*
 * Reads the command line against the list of tests; -EINVAL: what is wrong, and what
 * there is instead, is in error.  Looks whether the cgroups are some.
 */
int bench_options_parse(int argc, char **argv, const struct bench_case *cases, struct options *ret_options, char *error,
			size_t size);

void bench_options_help(const struct bench_case *cases, FILE *out);
void bench_options_list(const struct bench_case *cases, FILE *out);

#endif
