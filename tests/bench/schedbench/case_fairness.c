/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * case_fairness.c - fairness: does everybody get the same?
 *
 * For each CPU one process pinned to it and one free to move, all spinning.  The
 * metric is the p10 of their CPU times since they began to the mean.  Times that
 * cannot be read count as 0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/cleanup.h"
#include "tests/bench/sample.h"
#include "tests/bench/schedbench/cases.h"
#include "tests/bench/schedbench/converge.h"
#include "tests/bench/schedbench/params.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/proc.h"
#include "tests/bench/schedbench/spin.h"

static const double threshold = 0.6;

const struct param fairness_params[] = { PARAM_MIN_S(5), PARAM_MAX_S(10), { 0 } };

struct runner {
	struct spinner spinner;
	int32_t cpu; /* -1: free */
};

struct fairness {
	struct crew crew;
	struct runner *runners;
	uint64_t *times_ns;
	double ticks_metric; /* by the clock's ticks, of the last batch */
};

static void runner_member(struct member *self, void *arg)
{
	struct runner *runner = arg;
	int r = runner->cpu < 0 ? 0 : place_pin(0, (uint32_t)runner->cpu);

	if (r < 0)
		crew_give_up(self, r, "cannot pin to its CPU");
	for (;;)
		spin_wall(&runner->spinner, crew_next(self) * 1000000);
}

static double poorest_to_mean(struct fairness *f, int (*read_ns)(pid_t pid, uint64_t *ret_ns))
{
	double sum = 0;

	for (uint32_t i = 0; i < f->crew.nr; i++) {
		if (read_ns(f->crew.members[i].pid, &f->times_ns[i]) < 0)
			f->times_ns[i] = 0;
		sum += (double)f->times_ns[i];
	}
	sample_sort(f->times_ns, f->crew.nr);
	return sum > 0 ? (double)sample_at(f->times_ns, f->crew.nr, 0.1) / (sum / f->crew.nr) : 0;
}

static int measure(void *arg, uint64_t iters, double *ret_metric)
{
	struct fairness *f = arg;
	int r = case_batch(&f->crew, iters);

	if (r < 0)
		return r;
	f->ticks_metric = poorest_to_mean(f, proc_cpu_tick_ns);
	*ret_metric = poorest_to_mean(f, proc_cpu_ns);
	return 0;
}

static void report(const struct fairness *f, const struct converge_end *end, struct result *r)
{
	uint32_t n = f->crew.nr;

	result_metric(r, f->ticks_metric, "fairness_ticks");
	result_metric(r, n, "processes");
	result_metric(r, (double)f->times_ns[0] / 1e9, "least_cpu_s");
	result_metric(r, (double)sample_at(f->times_ns, n, 0.5) / 1e9, "median_cpu_s");
	result_metric(r, (double)f->times_ns[n - 1] / 1e9, "most_cpu_s");
	r->status = end->value >= threshold ? STATUS_PASS : STATUS_FAIL;
	if (r->status == STATUS_FAIL)
		result_note(r, "%.3f, wanted %.2f or more", end->metric, threshold);
}

static int run_crew(const struct bench *b, struct fairness *f, uint32_t nr_cpus)
{
	struct converge_end end;
	int r = crew_init(&f->crew, b, 2 * nr_cpus);

	for (uint32_t i = 0; i < 2 * nr_cpus && r == 0; i++) {
		struct runner *runner = &f->runners[i];
		char name[32];

		runner->cpu = i < nr_cpus ? (int32_t)b->env->machine->cpus[i] : -1;
		snprintf(name, sizeof(name), "%s %u", i < nr_cpus ? "pinned" : "free", i % nr_cpus);
		r = crew_add(&f->crew, ROLE_NORMAL, name, runner_member, runner);
	}
	r = r < 0 ? r : crew_wait(&f->crew);
	r = r < 0 ? r : case_converge(b, threshold, "fairness", measure, f, &end);
	if (r == 0)
		report(f, &end, b->result);
	return r;
}

int fairness_run(const struct bench *b)
{
	uint32_t nr_cpus = b->env->machine->nr_cpus;
	_cleanup_free_ uint64_t *times_ns = calloc(2 * nr_cpus, sizeof(*times_ns));
	struct fairness f = { .times_ns = times_ns };
	int r;

	f.runners = place_shared(2 * nr_cpus * sizeof(*f.runners));
	if (!f.runners || !times_ns)
		return result_error(b->result, -ENOMEM, "no memory for %u processes", 2 * nr_cpus);
	r = run_crew(b, &f, nr_cpus);
	crew_end(&f.crew);
	place_unshare(f.runners, 2 * nr_cpus * sizeof(*f.runners));
	return r;
}
