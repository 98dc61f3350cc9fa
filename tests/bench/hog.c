/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hog.c - processes that compute without pause, and how much they got done
 *
 * hog [-n PROCESSES] [-s SECONDS] [-p CPU]
 *
 * Prints one line "hog n=... loops=... min=... max=... longest_gap_ms=...":
 * the sum, the least and the most of one process, and the longest time for
 * which some process did not run.  -p pins all of them to one CPU.  With -s 0
 * they run until SIGTERM or SIGINT.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/spin.h"

#define MAX_HOGS 1024

/* Asleep: a parent that looks around would be a load of its own in its cgroup. */
static void wait_for_end(const sigset_t *signals, int seconds)
{
	struct timespec left = { .tv_sec = seconds };

	if (seconds)
		sigtimedwait(signals, NULL, &left);
	else
		sigwaitinfo(signals, NULL);
}

static void report(const struct hog *hogs, int n)
{
	uint64_t sum = 0, min = UINT64_MAX, max = 0, gap = 0, end_ns = sample_now_ns();

	for (int i = 0; i < n; i++) {
		uint64_t loops = hogs[i].loops, last_ns = hogs[i].last_ns;
		uint64_t still_ns = last_ns < end_ns ? end_ns - last_ns : 0;

		sum += loops;
		min = loops < min ? loops : min;
		max = loops > max ? loops : max;
		gap = hogs[i].gap_ns > gap ? hogs[i].gap_ns : gap;
		/* One that never ran, or not at the end, has noted no gap itself. */
		gap = still_ns > gap ? still_ns : gap;
	}
	printf("hog n=%d loops=%lu min=%lu max=%lu longest_gap_ms=%.1f\n", n, (unsigned long)sum,
	       (unsigned long)min, (unsigned long)max, gap / 1e6);
}

int main(int argc, char **argv)
{
	int n = 1, seconds = 10, cpu = -1, c;
	pid_t pids[MAX_HOGS];
	struct hog *hogs;
	sigset_t signals;

	while ((c = getopt(argc, argv, "n:s:p:")) != -1) {
		if (c == 'n')
			n = atoi(optarg);
		else if (c == 's')
			seconds = atoi(optarg);
		else if (c == 'p')
			cpu = atoi(optarg);
		else
			return 2;
	}
	if (n < 1 || n > MAX_HOGS || seconds < 0)
		return 2;
	hogs = mmap(NULL, n * sizeof(*hogs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (hogs == MAP_FAILED)
		return 1;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (cpu >= 0)
		place_pin(0, cpu);
	for (int i = 0; i < n; i++) {
		hogs[i].last_ns = sample_now_ns();
		pids[i] = fork();
		if (pids[i] < 0)
			return 1;
		if (!pids[i]) {
			sigprocmask(SIG_UNBLOCK, &signals, NULL);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			spin_hog(&hogs[i]);
		}
	}
	wait_for_end(&signals, seconds);
	report(hogs, n);
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
	return 0;
}
