/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latprobe.c - how late a periodic sleeper wakes up
 *
 * latprobe [-n SAMPLES] [-i INTERVAL_US] [-s SKIP] [-w]
 *
 * Sleeps until an absolute time, again and again, and prints by how much the
 * return was late: one line "latprobe n=... p50_us=... p99_us=... p999_us=...
 * max_us=...".  The first SKIP samples are thrown away.  With -w another line
 * "sleeps=..." says how often it did sleep: a time may have passed before it could.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/sample.h"

static void add_ns(struct timespec *t, uint64_t ns)
{
	ns += t->tv_nsec;
	t->tv_sec += ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
}

int main(int argc, char **argv)
{
	long n = 1000, interval_us = 1000, skip = 20;
	struct timespec next;
	bool count_sleeps = false;
	uint64_t *late;
	int c;

	while ((c = getopt(argc, argv, "n:i:s:w")) != -1) {
		if (c == 'n')
			n = atol(optarg);
		else if (c == 'i')
			interval_us = atol(optarg);
		else if (c == 's')
			skip = atol(optarg);
		else if (c == 'w')
			count_sleeps = true;
		else
			return 2;
	}
	if (n < 1 || n > 100000000 || interval_us < 1 || skip < 0)
		return 2;
	late = malloc(n * sizeof(*late));
	if (!late)
		return 1;
	/* Page faults and the 50 us timer slack are not what is measured. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	prctl(PR_SET_TIMERSLACK, 1);

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (long i = -skip; i < n; i++) {
		uint64_t due, now;

		add_ns(&next, interval_us * 1000);
		due = next.tv_sec * 1000000000ULL + next.tv_nsec;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		now = sample_now_ns();
		if (i >= 0)
			late[i] = now - due;
		/* A late one must not make the next ones late. */
		if (now > due + interval_us * 1000)
			clock_gettime(CLOCK_MONOTONIC, &next);
	}
	sample_print("latprobe", late, n);
	if (count_sleeps) {
		struct rusage usage;

		getrusage(RUSAGE_SELF, &usage);
		printf("sleeps=%ld\n", usage.ru_nvcsw);
	}
	free(late);
	return 0;
}
