/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench.h - what a test of schedbench is, and what it is given */
#ifndef SCHEDBENCH_BENCH_H
#define SCHEDBENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/bench/schedbench/machine.h"
#include "tests/bench/schedbench/result.h"

/* Where a process of a test belongs; each may have a cgroup of its own. */
enum role { ROLE_LC, ROLE_LC2, ROLE_NORMAL, ROLE_BE, NR_ROLES };

enum { BENCH_MAX_PARAMS = 16, BENCH_MAX_CASES = 16 };

/* A setting of a test; the table of a test ends with one without a name. */
struct param {
	const char *name, *help;
	double fallback, min, max;
	bool whole; /* a number without a fraction */
};

/* The same for all tests of one call. */
struct bench_env {
	const char *cgroups[NR_ROLES]; /* NULL: stay */
	bool ext_policy;               /* children ask for SCHED_EXT */
	bool verbose;
	const struct machine *machine;
};

struct bench {
	const struct bench_env *env;
	const struct bench_case *test;
	const double *values; /* of the test's params, in their order */
	struct result *result;
};

struct bench_case {
	const char *name, *help;
	const struct param *params;
	/*
	 * Measures and fills b->result.  0, also for a test that failed its threshold or
	 * was skipped; -errno when it could not measure, the reason in b->result.
	 */
	int (*run)(const struct bench *b);
};

/* All tests, in the order of --list; ends with one without a name. */
extern const struct bench_case bench_cases[];

#endif
