/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * case_adaptive.c - adaptive_priority: does who needs little get it at once?
 *
 * Two processes of two threads on one CPU.  In each the main thread wakes its
 * worker and waits for it; the slow worker computes for 10 ms, the fast one for
 * 0.1 ms and then sleeps for 9.9 ms.  The score is the p90 of the fast worker's
 * wake-ups to that of the slow one's.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/cases.h"
#include "tests/bench/schedbench/converge.h"
#include "tests/bench/schedbench/params.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/spin.h"

enum { SLOTS = 2, WAITS = 1024 };

static const double threshold = 0.5;

const struct param adaptive_priority_params[] = { PARAM_MIN_S(5), PARAM_MAX_S(10), PARAM_CPU, { 0 } };

struct lane {
	struct fsem there, back;
	uint64_t waits_ns[WAITS];
	struct spinner spinner;
	uint64_t compute_ns, sleep_ns;
	uint32_t cpu;
};

struct adaptive {
	struct crew crew;
	struct lane *fast, *slow;
};

static void *lane_worker(void *arg)
{
	struct lane *l = arg;
	struct timespec pause = { 0, (long)l->sleep_ns };

	for (;;) {
		fsem_consume(&l->there, 1);
		spin_wall(&l->spinner, l->compute_ns);
		if (l->sleep_ns)
			nanosleep(&pause, NULL);
		fsem_produce(&l->back, 1);
	}
	return NULL;
}

static void lane_member(struct member *self, void *arg)
{
	struct lane *l = arg;
	pthread_t worker;
	int r = place_pin(0, l->cpu);

	if (r < 0)
		crew_give_up(self, r, "cannot pin to its CPU");
	r = place_thread(&worker, lane_worker, l);
	if (r < 0)
		crew_give_up(self, r, "cannot start its worker thread");
	for (;;)
		for (uint64_t n = crew_next(self); n; n--) {
			fsem_produce(&l->there, 1);
			fsem_consume(&l->back, 1);
		}
}

static int measure(void *arg, uint64_t iters, double *ret_metric)
{
	struct adaptive *a = arg;
	uint64_t slow_ns;
	int r;

	reservoir_reset(&a->fast->there.waits);
	reservoir_reset(&a->slow->there.waits);
	r = case_batch(&a->crew, iters);
	if (r < 0)
		return r;
	slow_ns = reservoir_quantile(&a->slow->there.waits, 0.9);
	*ret_metric = slow_ns ? (double)reservoir_quantile(&a->fast->there.waits, 0.9) / (double)slow_ns : 0;
	return 0;
}

static void report(const struct adaptive *a, const struct converge_end *end, struct result *r)
{
	struct reservoir *fast = &a->fast->there.waits, *slow = &a->slow->there.waits;

	result_metric(r, (double)fast->nr_seen, "fast_n");
	result_metric(r, (double)reservoir_quantile(fast, 0.9) / 1e3, "fast_p90_us");
	result_metric(r, (double)slow->nr_seen, "slow_n");
	result_metric(r, (double)reservoir_quantile(slow, 0.9) / 1e3, "slow_p90_us");
	r->status = end->value >= threshold ? STATUS_FAIL : STATUS_PASS;
	if (r->status == STATUS_FAIL)
		result_note(r, "the score of a long batch is %.3f, wanted below %.2f", end->value, threshold);
}

static int run_crew(const struct bench *b, struct adaptive *a)
{
	struct converge_end end;
	int r = crew_init(&a->crew, b, 2);

	r = r < 0 ? r : crew_add(&a->crew, ROLE_NORMAL, "slow", lane_member, a->slow);
	r = r < 0 ? r : crew_add(&a->crew, ROLE_NORMAL, "fast", lane_member, a->fast);
	r = r < 0 ? r : crew_wait(&a->crew);
	r = r < 0 ? r : case_converge(b, threshold, "score", measure, a, &end);
	if (r < 0)
		return r;
	if (!a->fast->there.waits.n || !a->slow->there.waits.n)
		return result_error(b->result, -ENODATA,
				    "no wake-up of the %s worker was seen: batches of %llu are too short",
				    a->fast->there.waits.n ? "slow" : "fast", (unsigned long long)end.iters);
	report(a, &end, b->result);
	return 0;
}

int adaptive_priority_run(const struct bench *b)
{
	struct adaptive a = { 0 };
	struct lane *lanes;
	uint32_t cpu;
	int r = param_cpu(b, &cpu);

	if (r < 0)
		return r;
	lanes = place_shared(2 * sizeof(*lanes));
	if (!lanes)
		return result_error(b->result, -ENOMEM, "no shared memory");
	for (int i = 0; i < 2; i++) {
		fsem_init(&lanes[i].there, 1, SLOTS, lanes[i].waits_ns, WAITS);
		fsem_init(&lanes[i].back, 1, 0, NULL, 0);
		lanes[i].cpu = cpu;
	}
	a.slow = &lanes[0];
	a.slow->compute_ns = 10000000;
	a.fast = &lanes[1];
	a.fast->compute_ns = 100000;
	a.fast->sleep_ns = 9900000;
	r = run_crew(b, &a);
	crew_end(&a.crew);
	place_unshare(lanes, 2 * sizeof(*lanes));
	return r;
}
