// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hostnoise.c - share of a window in which the machine below us did not run our CPUs
 *
 * An emulator shows no steal time. One thread per CPU of the highest real-time
 * priority wakes at fixed times; a wake-up that is late by many milliseconds
 * fell into time the host took away, and the share of late wake-ups is the
 * share of time taken. Below that limit a scheduler under test may be the cause:
 * emulated, what it does at a switch takes up to some milliseconds.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "clock.h"

enum {
	MAX_CPUS = 1024,
	PERIOD_NS = 20000000,
	LATE_NS = 10000000,
};

struct probe {
	pthread_t thread;
	int cpu;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t wakeups;
	uint64_t late;
	uint64_t max_ns;
};

static atomic_bool ended;

static void end(int sig)
{
	(void)sig;
	ended = true;
}

static int probe_become_first(int cpu)
{
	struct sched_param param = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
		return -errno;
	return 0;
}

static void *probe_run(void *arg)
{
	struct probe *p = arg;
	uint64_t at, late;

	if (probe_become_first(p->cpu) < 0)
		return NULL;
	/* Each CPU has its own phase: two late at once would be one gap counted twice. */
	for (at = p->start_ns + p->cpu % 16 * (PERIOD_NS / 16); at < p->end_ns && !ended; at += PERIOD_NS) {
		struct timespec ts = clock_timespec(at);

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
			;
		late = clock_now_ns() - at;
		p->wakeups++;
		p->late += late > LATE_NS;
		if (late > p->max_ns)
			p->max_ns = late;
	}
	return NULL;
}

static int usage(void)
{
	fputs("usage: hostnoise --start-at EPOCH_SECONDS --seconds S\n"
	      "Prints the share of the window in which the host did not run this machine.\n"
	      "SIGTERM ends the window early.\n", stderr);
	return 2;
}

static int parse(int argc, char **argv, struct probe *ret_window)
{
	static const struct option options[] = {
		{ "start-at", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ 0 },
	};
	uint64_t start_ns = clock_now_ns();
	double seconds = 8;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			start_ns = clock_mono_from_epoch(optarg);
		else if (c == 't')
			seconds = strtod(optarg, NULL);
		else
			return -EINVAL;
	}
	if (optind != argc || seconds <= 0)
		return -EINVAL;
	ret_window->start_ns = start_ns;
	ret_window->end_ns = start_ns + (uint64_t)(seconds * NSEC_PER_SEC);
	return 0;
}

int main(int argc, char **argv)
{
	static struct probe probes[MAX_CPUS];
	struct probe window = { 0 }, sum = { 0 };
	cpu_set_t allowed;
	int nr = 0;

	if (parse(argc, argv, &window) < 0)
		return usage();
	prctl(PR_SET_TIMERSLACK, 1);
	signal(SIGTERM, end);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return 1;
	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		probes[nr] = window;
		probes[nr].cpu = cpu;
		if (pthread_create(&probes[nr].thread, NULL, probe_run, &probes[nr]))
			return 1;
		nr++;
	}
	for (int i = 0; i < nr; i++) {
		pthread_join(probes[i].thread, NULL);
		sum.wakeups += probes[i].wakeups;
		sum.late += probes[i].late;
		if (probes[i].max_ns > sum.max_ns)
			sum.max_ns = probes[i].max_ns;
	}
	if (!sum.wakeups) {
		fputs("hostnoise: needs the right to use SCHED_FIFO\n", stderr);
		return 1;
	}
	printf("lost_permille=%llu latest_us=%llu\n",
	       (unsigned long long)(sum.late * 1000 / sum.wakeups), (unsigned long long)(sum.max_ns / 1000));
	return 0;
}
