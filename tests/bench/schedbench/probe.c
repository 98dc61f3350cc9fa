/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe.c - absolute sleeps, and what they were late by */
#include "tests/bench/schedbench/probe.h"

#include <time.h>

#include "tests/bench/sample.h"

static void add_ns(struct timespec *t, uint64_t ns)
{
	ns += t->tv_nsec;
	t->tv_sec += ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
}

void probe_run(const struct probe *p, uint64_t *late_ns)
{
	uint64_t interval_ns = (uint64_t)p->interval_us * 1000;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (long i = -p->skip; i < p->samples; i++) {
		uint64_t due, now;

		add_ns(&next, interval_ns);
		due = next.tv_sec * 1000000000ULL + next.tv_nsec;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		now = sample_now_ns();
		if (i >= 0)
			late_ns[i] = now - due;
		if (now > due + interval_ns)
			clock_gettime(CLOCK_MONOTONIC, &next);
	}
}
