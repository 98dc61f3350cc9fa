/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * burst.c - a broadcast wake-up of sleepers that then need CPU time
 *
 * burst [-t THREADS] [-w WORK_US] [-n ROUNDS] [-g GAP_US]
 *
 * Each round wakes all THREADS with one futex call; each then computes for
 * WORK_US of its own CPU time.  A sample is the time from just before the
 * wake-up until the last one is done.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/sample.h"

#define MAX_THREADS 256

static _Atomic uint32_t go, done;
static uint64_t work_ns = 1000000, done_at[MAX_THREADS];
static uint32_t nr_threads = 4;

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void *sleeper(void *arg)
{
	uint32_t self = (uint32_t)(uintptr_t)arg, round = 0;

	for (;;) {
		uint64_t until;

		while (atomic_load(&go) == round)
			futex(&go, FUTEX_WAIT, round);
		round = atomic_load(&go);
		if (round == UINT32_MAX)
			return NULL;
		for (until = thread_cpu_ns() + work_ns; work_ns && thread_cpu_ns() < until;)
			;
		done_at[self] = sample_now_ns();
		if (atomic_fetch_add(&done, 1) + 1 == nr_threads)
			futex(&done, FUTEX_WAKE, 1);
	}
}

static uint64_t one_round(void)
{
	uint64_t start, last = 0;
	uint32_t seen;

	atomic_store(&done, 0);
	start = sample_now_ns();
	atomic_fetch_add(&go, 1);
	futex(&go, FUTEX_WAKE, nr_threads);
	while ((seen = atomic_load(&done)) < nr_threads)
		futex(&done, FUTEX_WAIT, seen);
	for (uint32_t i = 0; i < nr_threads; i++)
		if (done_at[i] > last)
			last = done_at[i];
	return last - start;
}

int main(int argc, char **argv)
{
	long rounds = 100, gap_us = 10000;
	pthread_t threads[MAX_THREADS];
	uint64_t *took;
	int c;

	while ((c = getopt(argc, argv, "t:w:n:g:")) != -1) {
		if (c == 't')
			nr_threads = atoi(optarg);
		else if (c == 'w')
			work_ns = atol(optarg) * 1000;
		else if (c == 'n')
			rounds = atol(optarg);
		else if (c == 'g')
			gap_us = atol(optarg);
		else
			return 2;
	}
	if (nr_threads < 1 || nr_threads > MAX_THREADS || rounds < 1 || rounds > 10000000)
		return 2;
	took = malloc(rounds * sizeof(*took));
	if (!took)
		return 1;
	for (uint32_t i = 0; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, sleeper, (void *)(uintptr_t)i))
			return 1;
	for (long i = -5; i < rounds; i++) {
		uint64_t ns;

		usleep(gap_us);
		ns = one_round();
		if (i >= 0)
			took[i] = ns;
	}
	atomic_store(&go, UINT32_MAX);
	futex(&go, FUTEX_WAKE, nr_threads);
	for (uint32_t i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	sample_print("burst", took, rounds);
	free(took);
	return 0;
}
