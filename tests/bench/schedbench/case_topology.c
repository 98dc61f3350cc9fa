/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * case_topology.c - spread_out and come_together: where do threads go by themselves?
 *
 * Every 10 ms of a batch the parent looks where the spinners are.  A move within
 * the batch of spread_out makes its metric 0: work has to be well placed from the
 * moment it wakes up.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/cases.h"
#include "tests/bench/schedbench/converge.h"
#include "tests/bench/schedbench/params.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/proc.h"
#include "tests/bench/schedbench/spin.h"

enum { LOOK_MS = 10, MAX_LLC_SPINNERS = 65536 };

static const double threshold = 0.95, gather_limit_s = 0.1;

const struct param spread_out_params[] = { PARAM_MIN_S(2), PARAM_MAX_S(30), { 0 } };
const struct param come_together_params[] = { PARAM_MIN_S(1), PARAM_MAX_S(30), { 0 } };

struct spread {
	struct crew crew;
	const struct machine *machine;
	struct spinner *spinners;
	uint32_t nr, first_cpu; /* a spinner for each core; the CPU on which all begin */
	uint64_t begin_ns;
	double max_migrate_ns, avg_migrate_ns; /* -1: not all cores were reached */
	double reached; /* share of cores, whatever moved */
	uint64_t moves;
};

static void spinner_member(struct member *self, void *arg)
{
	for (;;)
		spin_wall(arg, crew_next(self) * 1000000);
}

static bool gathered(void *arg)
{
	const struct spread *s = arg;

	for (uint32_t i = 0; i < s->nr; i++)
		if (atomic_load(&s->spinners[i].last_cpu) != s->first_cpu)
			return false;
	return true;
}

/* All on the first core, or 100 ms are over: sleepers are moved when they wake up; then free again. */
static int gather(struct spread *s)
{
	cpu_set_t core, all;
	int r;

	CPU_ZERO(&core);
	CPU_ZERO(&all);
	for (uint32_t i = 0; i < s->machine->nr_cpus; i++) {
		uint32_t cpu = s->machine->cpus[i];

		CPU_SET(cpu, &all);
		if (machine_core_of(s->machine, cpu) == machine_core_of(s->machine, s->first_cpu))
			CPU_SET(cpu, &core);
	}
	for (uint32_t i = 0; i < s->nr; i++)
		if (sched_setaffinity(s->crew.members[i].pid, sizeof(core), &core) < 0)
			return -errno;
	r = crew_wait_until(&s->crew, gathered, s, gather_limit_s);
	s->begin_ns = sample_now_ns();
	for (uint32_t i = 0; i < s->nr; i++)
		if (sched_setaffinity(s->crew.members[i].pid, sizeof(all), &all) < 0)
			return -errno;
	return r == -ETIMEDOUT ? 0 : r;
}

static int count_moves(const struct spread *s, uint64_t *ret_moves)
{
	uint64_t sum = 0, n;

	for (uint32_t i = 0; i < s->nr; i++) {
		int r = proc_migrations(s->crew.members[i].pid, &n);

		if (r < 0)
			return r;
		sum += n;
	}
	*ret_moves = sum;
	return 0;
}

static void note_migration_times(struct spread *s)
{
	uint64_t last = 0, sum = 0, n = 0;

	for (uint32_t i = 0; i < s->nr; i++) {
		uint64_t changed_ns = atomic_load(&s->spinners[i].changed_ns);

		if (changed_ns < s->begin_ns)
			continue;
		sum += changed_ns - s->begin_ns;
		last = changed_ns - s->begin_ns > last ? changed_ns - s->begin_ns : last;
		n++;
	}
	if (n) {
		s->max_migrate_ns = (double)last;
		s->avg_migrate_ns = (double)(sum / n);
	}
}

/* Cores on which somebody was seen, in any look of the batch. */
static int watch_spread(struct spread *s, uint64_t iters)
{
	static bool seen[SCHEDD_MAX_CPUS];
	uint32_t cores = 0;

	for (uint32_t i = 0; i < SCHEDD_MAX_CPUS; i++)
		seen[i] = false;
	for (uint64_t look = 0; look < iters / LOOK_MS; look++) {
		uint32_t before = cores;
		int r = crew_sleep(&s->crew, LOOK_MS * 1000000);

		if (r < 0)
			return r;
		for (uint32_t i = 0; i < s->nr; i++) {
			uint32_t core = machine_core_of(s->machine, atomic_load(&s->spinners[i].last_cpu));

			cores += !seen[core];
			seen[core] = true;
		}
		if (before < s->nr && cores >= s->nr)
			note_migration_times(s);
	}
	s->reached = (double)cores / s->nr;
	return 0;
}

static int measure_spread(void *arg, uint64_t iters, double *ret_metric)
{
	struct spread *s = arg;
	uint64_t before, after;
	int r = gather(s);

	if (r < 0)
		return r;
	s->max_migrate_ns = s->avg_migrate_ns = -1;
	crew_start(&s->crew, iters);
	r = count_moves(s, &before);
	r = r < 0 ? r : watch_spread(s, iters);
	r = r < 0 ? r : crew_wait(&s->crew);
	r = r < 0 ? r : count_moves(s, &after);
	if (r < 0)
		return r;
	s->moves = after - before;
	*ret_metric = s->moves ? 0 : s->reached;
	return 0;
}

static int run_spread(const struct bench *b, struct spread *s)
{
	struct converge_end end;
	int r = crew_init(&s->crew, b, s->nr);

	for (uint32_t i = 0; i < s->nr && r == 0; i++) {
		char name[32];

		snprintf(name, sizeof(name), "spinner %u", i);
		r = crew_add(&s->crew, ROLE_NORMAL, name, spinner_member, &s->spinners[i]);
	}
	r = r < 0 ? r : crew_wait(&s->crew);
	if (r == 0 && count_moves(s, &s->moves) < 0) {
		result_skip(b->result, "/proc/PID/sched cannot be read: this kernel has no scheduler debugging");
		return 0;
	}
	r = r < 0 ? r : case_converge(b, threshold, "spread", measure_spread, s, &end);
	if (r < 0)
		return r;
	result_metric(b->result, s->nr, "cores");
	result_metric(b->result, s->reached, "cores_reached_share");
	result_metric(b->result, (double)s->moves, "moves");
	result_metric(b->result, s->max_migrate_ns, "max_time_to_migrate_ns");
	result_metric(b->result, s->avg_migrate_ns, "avg_time_to_migrate_ns");
	b->result->status = end.value >= threshold ? STATUS_PASS : STATUS_FAIL;
	if (b->result->status == STATUS_FAIL)
		result_note(b->result, "%.2f of the cores, %llu moves; wanted %.2f without a move", s->reached,
			    (unsigned long long)s->moves, threshold);
	return 0;
}

int spread_out_run(const struct bench *b)
{
	static uint32_t firsts[SCHEDD_MAX_CPUS];
	struct spread s = { .machine = b->env->machine };
	int r;

	s.nr = machine_core_firsts(s.machine, firsts);
	s.first_cpu = firsts[0];
	s.spinners = place_shared(s.nr * sizeof(*s.spinners));
	if (!s.spinners)
		return result_error(b->result, -ENOMEM, "no shared memory");
	r = run_spread(b, &s);
	crew_end(&s.crew);
	place_unshare(s.spinners, s.nr * sizeof(*s.spinners));
	return r;
}

struct together {
	struct crew crew;
	const struct machine *machine;
	struct spinner *spinners; /* nr_cores of each process */
	uint32_t nr_llcs, nr_cores;
};

static void *spin_for_ever(void *arg)
{
	for (;;)
		spin_wall(arg, 1000000);
	return NULL;
}

struct gang {
	struct spinner *spinners;
	uint32_t nr;
};

static void gang_member(struct member *self, void *arg)
{
	struct gang *g = arg;

	for (uint32_t i = 0; i < g->nr; i++) {
		pthread_t thread;
		int r = place_thread(&thread, spin_for_ever, &g->spinners[i]);

		if (r < 0)
			crew_give_up(self, r, "cannot start its threads");
	}
	for (;;)
		crew_next(self);
}

static int measure_together(void *arg, uint64_t iters, double *ret_metric)
{
	struct together *t = arg;
	uint64_t mismatches = 0, total = 0;
	int r;

	crew_start(&t->crew, iters);
	for (uint64_t look = 0; look < iters / LOOK_MS; look++) {
		r = crew_sleep(&t->crew, LOOK_MS * 1000000);
		if (r < 0)
			return r;
		for (uint32_t p = 0; p < t->nr_llcs; p++) {
			const struct spinner *gang = &t->spinners[p * t->nr_cores];
			uint32_t llc = machine_llc_of(t->machine, atomic_load(&gang->last_cpu));

			for (uint32_t i = 0; i < t->nr_cores; i++, total++)
				mismatches += machine_llc_of(t->machine, atomic_load(&gang[i].last_cpu)) != llc;
		}
	}
	r = crew_wait(&t->crew);
	*ret_metric = total ? 1 - (double)mismatches / (double)total : 0;
	return r;
}

static int run_together(const struct bench *b, struct together *t, struct gang *gangs)
{
	struct converge_end end;
	int r = crew_init(&t->crew, b, t->nr_llcs);

	for (uint32_t p = 0; p < t->nr_llcs && r == 0; p++) {
		char name[32];

		gangs[p] = (struct gang){ &t->spinners[p * t->nr_cores], t->nr_cores };
		snprintf(name, sizeof(name), "gang %u", p);
		r = crew_add(&t->crew, ROLE_NORMAL, name, gang_member, &gangs[p]);
	}
	r = r < 0 ? r : crew_wait(&t->crew);
	r = r < 0 ? r : case_converge(b, threshold, "together", measure_together, t, &end);
	if (r < 0)
		return r;
	result_metric(b->result, t->nr_llcs, "llcs");
	result_metric(b->result, t->nr_llcs * t->nr_cores, "threads");
	b->result->status = end.value >= threshold ? STATUS_PASS : STATUS_FAIL;
	if (b->result->status == STATUS_FAIL)
		result_note(b->result, "%.3f, wanted %.2f or more", end.metric, threshold);
	return 0;
}

int come_together_run(const struct bench *b)
{
	static uint32_t firsts[SCHEDD_MAX_CPUS];
	static struct gang gangs[SCHEDD_MAX_LLCS];
	struct together t = { .machine = b->env->machine };
	size_t size;
	int r;

	t.nr_cores = machine_core_firsts(t.machine, firsts);
	t.nr_llcs = machine_llc_firsts(t.machine, firsts);
	if (t.nr_llcs < 2) {
		result_skip(b->result,
			    "needs more than one last-level cache or NUMA node; the CPUs that we may use share one");
		return 0;
	}
	if (t.nr_llcs > SCHEDD_MAX_LLCS || t.nr_llcs * t.nr_cores > MAX_LLC_SPINNERS) {
		result_skip(b->result, "%u last-level caches of %u cores are more threads than this test starts",
			    t.nr_llcs, t.nr_cores);
		return 0;
	}
	size = (size_t)t.nr_llcs * t.nr_cores * sizeof(*t.spinners);
	t.spinners = place_shared(size);
	if (!t.spinners)
		return result_error(b->result, -ENOMEM, "no shared memory");
	r = run_together(b, &t, gangs);
	crew_end(&t.crew);
	place_unshare(t.spinners, size);
	return r;
}
