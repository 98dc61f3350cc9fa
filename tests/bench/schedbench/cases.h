/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cases.h - the tests, each with the table of its settings; cases.c lists them */
#ifndef SCHEDBENCH_CASES_H
#define SCHEDBENCH_CASES_H

#include "tests/bench/schedbench/bench.h"
#include "tests/bench/schedbench/crew.h"

#define CASE(name)                                \
	extern const struct param name##_params[]; \
	int name##_run(const struct bench *b)

CASE(adaptive_priority);
CASE(fairness);
CASE(spread_out);
CASE(come_together);
CASE(ping_pong);
CASE(latprobe);
CASE(burst);
CASE(class_isolation);
CASE(realloc);
CASE(be_floor);
CASE(handoff);
CASE(two_services);

#undef CASE

/* Keys that several tests have. */
#define PARAM_CPU { "cpu", "the CPU to pin to; -1 is the first one", -1, -1, SCHEDD_MAX_CPUS - 1, true }
#define PARAM_MIN_S(seconds) { "min_s", "seconds of a batch that counts", seconds, 0.05, 3600, false }
#define PARAM_MAX_S(seconds) { "max_s", "a batch that took longer is the last one", seconds, 0.05, 3600, false }
#define PARAM_HOGS(nr, what) { "hogs", "best-effort processes that compute without pause" what, nr, -1, 1024, true }

struct converge_end;

/*
 * Grows batches by min_s and max_s of the test up to the threshold, then notes
 * batches, iters, elapsed_s and the metric by that name in the result.
 */
int case_converge(const struct bench *b, double threshold, const char *metric_name,
		  int (*measure)(void *arg, uint64_t iters, double *ret_metric), void *arg,
		  struct converge_end *ret_end);

/* One batch of all members: started, waited for. */
int case_batch(struct crew *c, uint64_t iters);

#endif
