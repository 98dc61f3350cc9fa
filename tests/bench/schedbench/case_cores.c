/* SPDX-License-Identifier: GPL-2.0-or-later */
/* case_cores.c - realloc and be_floor: how CPUs change hands, and what is left for best-effort */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "tests/bench/schedbench/cases.h"
#include "tests/bench/schedbench/hogs.h"
#include "tests/bench/schedbench/params.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/seize.h"

enum { MAX_ROUNDS = 10000 };

const struct param realloc_params[] = {
	{ "threads", "spinning processes of the burst; -1: one a CPU", -1, -1, SEIZE_MAX_CPUS, true },
	{ "rounds", "bursts", 20, 1, MAX_ROUNDS, true },
	{ "burst_ms", "length of each", 100, 1, 10000, true },
	{ "gap_ms", "sleep before each", 200, 0, 999, true },
	PARAM_HOGS(-1, "; -1: two a CPU"),
	{ 0 },
};

const struct param be_floor_params[] = {
	{ "spinners", "lc processes that compute without pause; -1: one a CPU", -1, -1, 1024, true },
	PARAM_HOGS(-1, "; -1: one a CPU"),
	{ "settle_s", "seconds before those that count", 1, 0, 3600, false },
	{ "seconds", "seconds that count", 5, 0.05, 3600, false },
	{ 0 },
};

/* All of it shared. */
struct arena {
	struct seize *seize;
	uint64_t burst_ns;
	uint32_t gap_us, rounds;
	_Atomic uint32_t nr_workers; /* handed out so far */
	struct seize_round results[MAX_ROUNDS];
};

static void worker_member(struct member *self, void *arg)
{
	struct arena *a = arg;
	uint32_t i = atomic_fetch_add(&a->nr_workers, 1);

	crew_next(self);
	seize_worker(a->seize, i);
}

static void best_effort_member(struct member *self, void *arg)
{
	struct arena *a = arg;

	crew_next(self);
	seize_best_effort(a->seize);
}

/* Of lc as well: the order to begin must not wait behind the load that it is about. */
static void conductor_member(struct member *self, void *arg)
{
	struct arena *a = arg;

	for (;;) {
		crew_next(self);
		for (uint32_t i = 0; i < a->rounds; i++) {
			usleep(a->gap_us);
			seize_one_round(a->seize, a->burst_ns, &a->results[i]);
		}
	}
}

/* A round in which it never came counts with all the time there was. */
static uint32_t series(const struct bench *b, const char *prefix, const uint64_t *ns, uint32_t n, uint64_t censored_ns)
{
	_cleanup_free_ uint64_t *copy = calloc(n, sizeof(*copy));
	uint32_t missed = 0;

	for (uint32_t i = 0; i < n && copy; i++) {
		copy[i] = ns[i] ? ns[i] : censored_ns;
		missed += !ns[i];
	}
	result_series(b->result, prefix, copy, copy ? n : 0);
	result_metric(b->result, missed, "%smissed", prefix);
	return missed;
}

static void report_realloc(const struct bench *b, const struct arena *a, uint32_t threads)
{
	static uint64_t ns[MAX_ROUNDS];
	char prefix[32];

	for (uint32_t k = threads; k-- > 0;) {
		for (uint32_t i = 0; i < a->rounds; i++)
			ns[i] = a->results[i].reached_ns[k];
		snprintf(prefix, sizeof(prefix), "cpus_%u_", k + 1);
		series(b, prefix, ns, a->rounds, a->burst_ns);
	}
	for (uint32_t i = 0; i < a->rounds; i++)
		ns[i] = a->results[i].back_ns;
	series(b, "back_", ns, a->rounds, seize_give_up_ns);
}

static int add_many(struct crew *c, enum role role, const char *name, uint32_t nr, member_fn run, void *arg)
{
	int r = 0;

	for (uint32_t i = 0; i < nr && r == 0; i++) {
		char full[48];

		snprintf(full, sizeof(full), "%s %u", name, i);
		r = crew_add(c, role, full, run, arg);
	}
	return r;
}

static int run_realloc(const struct bench *b, struct arena *a, struct crew *c, uint32_t threads)
{
	uint32_t nr_hogs = param_count_or(b, "hogs", 2 * b->env->machine->nr_cpus);
	struct member *conductor;
	int r = crew_init(c, b, threads + nr_hogs + 1);

	r = r < 0 ? r : add_many(c, ROLE_LC, "lc worker", threads, worker_member, a);
	r = r < 0 ? r : crew_add(c, ROLE_LC, "conductor", conductor_member, a);
	r = r < 0 ? r : add_many(c, ROLE_BE, "be hog", nr_hogs, best_effort_member, a);
	r = r < 0 ? r : crew_wait(c);
	if (r < 0)
		return r;
	crew_start(c, 1);
	conductor = &c->members[threads];
	r = crew_wait_one(c, conductor);
	if (r == 0)
		report_realloc(b, a, threads);
	return r;
}

int realloc_run(const struct bench *b)
{
	const struct machine *m = b->env->machine;
	uint32_t threads = param_count_or(b, "threads", m->nr_cpus);
	struct crew c = { 0 };
	struct arena *a;
	int r;

	if (m->nr_cpus > SEIZE_MAX_CPUS || m->nr_cpus != m->cpus[m->nr_cpus - 1] + 1) {
		result_skip(b->result, "needs all of the machine's CPUs from 0 on, at most %d", SEIZE_MAX_CPUS);
		return 0;
	}
	if (threads < 1 || threads > m->nr_cpus || param(b, "hogs") == 0)
		return result_error(b->result, -EINVAL, "threads must be 1 to the number of CPUs, %u, and hogs not 0",
				    m->nr_cpus);
	a = place_shared(sizeof(*a));
	if (a)
		a->seize = seize_create(m->nr_cpus, threads);
	if (!a || !a->seize)
		return result_error(b->result, -ENOMEM, "no shared memory");
	a->burst_ns = param_ns(b, "burst_ms");
	a->gap_us = param_count(b, "gap_ms") * 1000;
	a->rounds = param_count(b, "rounds");
	r = run_realloc(b, a, &c, threads);
	crew_end(&c);
	place_unshare(a->seize, seize_size());
	place_unshare(a, sizeof(*a));
	return r;
}

static int run_floor(const struct bench *b, struct crew *c, struct hogs *lc, struct hogs *be)
{
	uint32_t nr_cpus = b->env->machine->nr_cpus;
	uint32_t nr_lc = param_count_or(b, "spinners", nr_cpus), nr_be = param_count_or(b, "hogs", nr_cpus);
	struct hogs_done lc_done, be_done;
	int r = crew_init(c, b, nr_lc + nr_be);

	/* Whether best-effort runs at all is the question: nothing waits for it. */
	r = r < 0 ? r : hogs_add(be, c, ROLE_BE, nr_be);
	r = r < 0 ? r : hogs_add(lc, c, ROLE_LC, nr_lc);
	r = r < 0 ? r : hogs_go(be, false);
	r = r < 0 ? r : hogs_go(lc, true);
	r = r < 0 ? r : crew_sleep(c, param_ns(b, "settle_s"));
	if (r < 0)
		return r;
	hogs_begin(lc);
	hogs_begin(be);
	r = crew_sleep(c, param_ns(b, "seconds"));
	if (r < 0)
		return r;
	lc_done = hogs_measure(lc);
	be_done = hogs_measure(be);
	if (lc_done.cpu_s + be_done.cpu_s <= 0)
		return result_error(b->result, -ENODATA, "neither lc nor be has run");
	result_metric(b->result, be_done.cpu_s / (lc_done.cpu_s + be_done.cpu_s), "be_share");
	hogs_report(be, &be_done, "be_");
	hogs_report(lc, &lc_done, "lc_");
	return 0;
}

int be_floor_run(const struct bench *b)
{
	struct hogs lc = { 0 }, be = { 0 };
	struct crew c = { 0 };
	int r = run_floor(b, &c, &lc, &be);

	crew_end(&c);
	hogs_free(&lc);
	hogs_free(&be);
	return r;
}
