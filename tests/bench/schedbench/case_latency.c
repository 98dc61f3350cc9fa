/* SPDX-License-Identifier: GPL-2.0-or-later */
/* case_latency.c - latprobe, burst, class_isolation: lc's wake-ups beside hogs of be */
#include <errno.h>

#include "tests/bench/schedbench/broadcast.h"
#include "tests/bench/schedbench/cases.h"
#include "tests/bench/schedbench/hogs.h"
#include "tests/bench/schedbench/params.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/probe.h"

enum { MAX_SAMPLES = 10000000 };

#define PROBE_PARAMS                                                                        \
	{ "samples", "sleeps that count", 2000, 1, MAX_SAMPLES, true },                     \
	{ "interval_us", "from one wake-up to the next", 1000, 1, 10000000, true },         \
	{ "skip", "sleeps before the first that counts", 20, 0, MAX_SAMPLES, true }

const struct param latprobe_params[] = { PROBE_PARAMS, PARAM_HOGS(0, "; -1: two a CPU"), { 0 } };

const struct param class_isolation_params[] = {
	PROBE_PARAMS,
	PARAM_HOGS(-1, "; -1: two a CPU"),
	{ "alone_s", "seconds for which the hogs run alone", 2, 0.05, 3600, false },
	{ 0 },
};

const struct param burst_params[] = {
	{ "sleepers", "threads that are woken at once", 4, 1, BROADCAST_MAX_THREADS, true },
	{ "work_us", "CPU time that each then uses", 1000, 0, 10000000, true },
	{ "rounds", "wake-ups that count", 100, 1, MAX_SAMPLES, true },
	{ "gap_us", "sleep before each", 10000, 0, 999999, true },
	PARAM_HOGS(0, "; -1: two a CPU"),
	{ 0 },
};

/* What the one lc process of these tests does, and where it puts what it saw. */
struct sleeper {
	struct probe probe;
	struct broadcast broadcast;
	uint64_t *samples_ns;
};

struct stage {
	struct crew crew;
	struct hogs hogs;
	struct sleeper sleeper;
};

static void probe_member(struct member *self, void *arg)
{
	const struct sleeper *s = arg;

	for (;;) {
		crew_next(self);
		probe_run(&s->probe, s->samples_ns);
	}
}

static void broadcast_member(struct member *self, void *arg)
{
	const struct sleeper *s = arg;

	for (;;) {
		int r;

		crew_next(self);
		r = broadcast_run(&s->broadcast, s->samples_ns);
		if (r < 0)
			crew_give_up(self, r, "cannot start its threads");
	}
}

static int stage_hogs(struct stage *s, const struct bench *b)
{
	int r = hogs_add(&s->hogs, &s->crew, ROLE_BE, param_count_or(b, "hogs", 2 * b->env->machine->nr_cpus));

	return r < 0 ? r : hogs_go(&s->hogs, true);
}

/* The hogs run already; their work is what they did while the sleeper measured. */
static int stage_measure(struct stage *s, const struct bench *b, const char *name, member_fn run, uint64_t n)
{
	struct hogs_done done;
	int r = crew_add(&s->crew, ROLE_LC, name, run, &s->sleeper);
	struct member *m = &s->crew.members[s->crew.nr - 1];

	r = r < 0 ? r : crew_wait_one(&s->crew, m);
	if (r < 0)
		return r;
	hogs_begin(&s->hogs);
	crew_start_one(m, 1);
	r = crew_wait_one(&s->crew, m);
	if (r < 0)
		return r;
	done = hogs_measure(&s->hogs);
	result_series(b->result, "", s->sleeper.samples_ns, n);
	hogs_report(&s->hogs, &done, "be_");
	return 0;
}

/* The hogs for a while without anybody else, for comparison. */
static int stage_alone(struct stage *s, uint64_t ns)
{
	struct hogs_done done;
	int r;

	hogs_begin(&s->hogs);
	r = crew_sleep(&s->crew, ns);
	if (r < 0)
		return r;
	done = hogs_measure(&s->hogs);
	hogs_report(&s->hogs, &done, "be_alone_");
	return 0;
}

/* From nothing to nothing: hogs, alone_ns of them alone, the sleeper. */
static int stage_run(struct stage *s, const struct bench *b, uint64_t alone_ns, const char *name, member_fn run,
		     uint64_t n)
{
	uint32_t nr_hogs = param_count_or(b, "hogs", 2 * b->env->machine->nr_cpus);
	size_t size = n * sizeof(*s->sleeper.samples_ns);
	int r;

	s->sleeper.samples_ns = place_shared(size);
	if (!s->sleeper.samples_ns)
		return result_error(b->result, -ENOMEM, "no memory for %llu samples", (unsigned long long)n);
	r = crew_init(&s->crew, b, nr_hogs + 1);
	r = r < 0 ? r : stage_hogs(s, b);
	r = r < 0 || !alone_ns ? r : stage_alone(s, alone_ns);
	r = r < 0 ? r : stage_measure(s, b, name, run, n);
	crew_end(&s->crew);
	hogs_free(&s->hogs);
	place_unshare(s->sleeper.samples_ns, size);
	return r;
}

static struct probe probe_of(const struct bench *b)
{
	return (struct probe){
		.samples = (long)param(b, "samples"),
		.interval_us = (long)param(b, "interval_us"),
		.skip = (long)param(b, "skip"),
	};
}

int latprobe_run(const struct bench *b)
{
	struct stage s = { .sleeper.probe = probe_of(b) };

	return stage_run(&s, b, 0, "latprobe", probe_member, param_count(b, "samples"));
}

int class_isolation_run(const struct bench *b)
{
	struct stage s = { .sleeper.probe = probe_of(b) };

	return stage_run(&s, b, param_ns(b, "alone_s"), "lc probe", probe_member, param_count(b, "samples"));
}

int burst_run(const struct bench *b)
{
	struct stage s = {
		.sleeper.broadcast = {
			.nr_threads = param_count(b, "sleepers"),
			.work_ns = param_ns(b, "work_us"),
			.rounds = (long)param(b, "rounds"),
			.gap_us = (long)param(b, "gap_us"),
		},
	};

	return stage_run(&s, b, 0, "burst", broadcast_member, param_count(b, "rounds"));
}
