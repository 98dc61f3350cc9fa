/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * case_services.c - two_services: what two services and the batch work beside them get
 *
 * Each service is a process.  One thread lets requests come at times drawn before,
 * whatever the service does; worker threads take them and use CPU time for each.
 * Latency counts from the time drawn to the end: a late thread of arrivals is in it.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/arrivals.h"
#include "tests/bench/schedbench/cases.h"
#include "tests/bench/schedbench/hogs.h"
#include "tests/bench/schedbench/params.h"
#include "tests/bench/schedbench/place.h"

enum { MAX_WORKERS = 256, MAX_REQUESTS = 20000000 };

#define SERVICE(n, whose)                                                                           \
	{ "rate" n "_per_s", "requests a second " whose, 500, 0.1, 1000000, false },                \
	{ "service" n "_us", "CPU time of a request " whose, 500, 0, 1000000, true },               \
	{ "workers" n, "worker threads " whose, 4, 1, MAX_WORKERS, true }

const struct param two_services_params[] = {
	SERVICE("", "of the service in lc"),
	SERVICE("2", "of the service in lc2"),
	{ "seconds", "seconds for which requests come", 5, 0.05, 3600, false },
	{ "poisson", "1: as independent users send; 0: equal gaps", 1, 0, 1, true },
	{ "seed", "of the arrivals", 1, 1, 4294967295.0, true },
	PARAM_HOGS(-1, "; -1: two a CPU"),
	{ 0 },
};

/* Shared; the times and latencies follow it, and the semaphore is only among its process's threads. */
struct service {
	struct arrivals arrivals;
	uint64_t service_ns, begin_ns;
	uint32_t nr_workers;
	size_t nr, size;
	_Atomic size_t next, done;
	sem_t queue, all_done;
	uint64_t *times_ns, *latency_ns;
	uint64_t memory[];
};

static void *worker(void *arg)
{
	struct service *s = arg;

	for (;;) {
		size_t i;

		while (sem_wait(&s->queue) < 0)
			;
		i = atomic_fetch_add(&s->next, 1);
		spin_cpu(s->service_ns);
		s->latency_ns[i] = sample_now_ns() - s->begin_ns - s->times_ns[i];
		if (atomic_fetch_add(&s->done, 1) + 1 == s->nr)
			sem_post(&s->all_done);
	}
	return NULL;
}

static void let_arrive(struct service *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		uint64_t at_ns = s->begin_ns + s->times_ns[i];
		struct timespec at = { (time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000) };

		if (sample_now_ns() < at_ns)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		sem_post(&s->queue);
	}
}

static void service_member(struct member *self, void *arg)
{
	struct service *s = arg;

	sem_init(&s->queue, 0, 0);
	sem_init(&s->all_done, 0, 0);
	for (uint32_t i = 0; i < s->nr_workers; i++) {
		pthread_t thread;
		int r = place_thread(&thread, worker, s);

		if (r < 0)
			crew_give_up(self, r, "cannot start its worker threads");
	}
	for (;;) {
		crew_next(self);
		s->begin_ns = sample_now_ns();
		let_arrive(s);
		while (s->nr && sem_wait(&s->all_done) < 0)
			;
	}
}

static struct service *service_create(const struct bench *b, const char *suffix)
{
	char rate[32], time[32], workers[32];
	struct arrivals arrivals;
	struct service *s;
	size_t max, size;

	snprintf(rate, sizeof(rate), "rate%s_per_s", suffix);
	snprintf(time, sizeof(time), "service%s_us", suffix);
	snprintf(workers, sizeof(workers), "workers%s", suffix);
	arrivals = (struct arrivals){
		.rate_per_s = param(b, rate),
		.seconds = param(b, "seconds"),
		.poisson = param(b, "poisson") > 0,
		/* Not the same times as the other service: they are not correlated. */
		.seed = (uint64_t)param(b, "seed") * 0x9e3779b97f4a7c15ull + (*suffix ? 0x1234567 : 0),
	};
	max = arrivals_max(&arrivals);
	size = sizeof(*s) + 2 * max * sizeof(uint64_t);
	s = max <= MAX_REQUESTS ? place_shared(size) : NULL;
	if (!s) {
		result_error(b->result, -ENOMEM, "no memory for %zu requests: lower %s or seconds", max, rate);
		return NULL;
	}
	*s = (struct service){ .arrivals = arrivals, .size = size, .nr_workers = param_count(b, workers) };
	s->service_ns = param_ns(b, time);
	s->times_ns = s->memory;
	s->latency_ns = s->memory + max;
	s->nr = arrivals_draw(&arrivals, s->times_ns);
	return s;
}

static int run_crew(const struct bench *b, struct crew *c, struct hogs *hogs, struct service *const *services)
{
	static const char *const names[] = { "service lc", "service lc2" };
	uint32_t nr_hogs = param_count_or(b, "hogs", 2 * b->env->machine->nr_cpus);
	int r = crew_init(c, b, nr_hogs + 2);
	struct hogs_done done;

	for (int i = 0; i < 2 && r == 0; i++) {
		r = crew_add(c, i ? ROLE_LC2 : ROLE_LC, names[i], service_member, services[i]);
		r = r < 0 ? r : crew_wait_one(c, &c->members[i]);
	}
	r = r < 0 ? r : hogs_add(hogs, c, ROLE_BE, nr_hogs);
	r = r < 0 ? r : hogs_go(hogs, true);
	if (r < 0)
		return r;
	hogs_begin(hogs);
	for (int i = 0; i < 2; i++)
		crew_start_one(&c->members[i], 1);
	for (int i = 0; i < 2 && r == 0; i++)
		r = crew_wait_one(c, &c->members[i]);
	if (r < 0)
		return r;
	done = hogs_measure(hogs);
	result_series(b->result, "lc_", services[0]->latency_ns, services[0]->nr);
	result_series(b->result, "lc2_", services[1]->latency_ns, services[1]->nr);
	hogs_report(hogs, &done, "be_");
	return 0;
}

int two_services_run(const struct bench *b)
{
	struct service *services[2] = { service_create(b, ""), service_create(b, "2") };
	struct hogs hogs = { 0 };
	struct crew c = { 0 };
	int r = services[0] && services[1] ? run_crew(b, &c, &hogs, services) : -ENOMEM;

	crew_end(&c);
	hogs_free(&hogs);
	for (int i = 0; i < 2; i++)
		if (services[i])
			place_unshare(services[i], services[i]->size);
	return r;
}
