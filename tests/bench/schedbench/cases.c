/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cases.c - the list of tests, and what those share that converge */
#include "tests/bench/schedbench/cases.h"

#include <errno.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/converge.h"
#include "tests/bench/schedbench/params.h"

#define ROW(name, help) { #name, help, name##_params, name##_run }

const struct bench_case bench_cases[] = {
	ROW(adaptive_priority,
	    "a short sleeper against a long computer on one CPU: wake-up latency p90 to p90, below 0.5"),
	ROW(fairness, "pinned and free spinners: the poorest tenth's CPU time to the mean, 0.6 or more"),
	ROW(spread_out, "spinners that begin on one core: the share of cores that they came to, 0.95 or more"),
	ROW(come_together, "threads of a process in one LLC: 0.95 of them or more"),
	ROW(ping_pong, "two processes that wake each other, at each distance that the machine has"),
	ROW(latprobe, "how late a periodic sleeper of lc wakes up, beside hogs of be"),
	ROW(burst, "sleepers of lc woken at once: until the last has used its CPU time"),
	ROW(class_isolation, "the probe of lc beside hogs of be, what the hogs got, and what they get alone"),
	ROW(realloc, "a burst of lc against hogs of be: until it has its CPUs, and until be has them back"),
	ROW(be_floor, "the share that be gets while lc computes on every CPU"),
	ROW(handoff, "one thread wakes another on an idle machine, both free to run anywhere"),
	ROW(two_services, "open-loop services in lc and lc2 beside hogs of be: latency of requests, work of be"),
	{ 0 },
};

static uint64_t now_ns(void *arg)
{
	(void)arg;
	return sample_now_ns();
}

int case_converge(const struct bench *b, double threshold, const char *metric_name,
		  int (*measure)(void *arg, uint64_t iters, double *ret_metric), void *arg,
		  struct converge_end *ret_end)
{
	struct converge c = {
		.min_s = param(b, "min_s"),
		.max_s = param(b, "max_s"),
		.threshold = threshold,
		.now_ns = now_ns,
		.measure = measure,
		.arg = arg,
		.trace = b->env->verbose ? stderr : NULL,
	};
	int r;

	if (c.max_s < c.min_s)
		return result_error(b->result, -EINVAL, "max_s=%g is less than min_s=%g", c.max_s, c.min_s);
	r = converge_run(&c, ret_end);
	if (r < 0)
		return result_error(b->result, r, "batches did not grow to %g s", c.min_s);
	result_metric(b->result, ret_end->metric, "%s", metric_name);
	result_metric(b->result, threshold, "threshold");
	result_metric(b->result, ret_end->batches, "batches");
	result_metric(b->result, (double)ret_end->iters, "iters");
	result_metric(b->result, ret_end->elapsed_s, "elapsed_s");
	return 0;
}

int case_batch(struct crew *c, uint64_t iters)
{
	crew_start(c, iters);
	return crew_wait(c);
}
