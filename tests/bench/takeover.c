/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * takeover.c - how fast a burst gets every CPU, and best-effort work gets them back
 *
 * takeover -l CGROUP -b CGROUP [-c CPUS] [-n ROUNDS] [-d BURST_MS] [-g GAP_MS]
 *
 * Two endless loops per CPU run in the cgroup of -b.  Each round wakes one
 * worker per CPU in the cgroup of -l, which compute for BURST_MS.  Samples:
 * "takeover_held", from the wake-up until all workers run at once on different
 * CPUs (seen by one of them, within the last millisecond), and "takeover_back",
 * from the end of the burst until a best-effort loop has run on every CPU.  A
 * round in which it never came counts with the whole burst, and in missed=.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/seize.h"

enum { MAX_ROUNDS = 10000 };

static struct seize *shared;
static const char *lc_cgroup, *be_cgroup;
static uint32_t nr_cpus = 2;

static void join_cgroup(const char *cgroup)
{
	int r = place_join_cgroup(cgroup);

	if (r < 0) {
		fprintf(stderr, "%s/cgroup.procs: %s\n", cgroup, strerror(-r));
		exit(1);
	}
}

static pid_t start(const char *cgroup)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		join_cgroup(cgroup);
	}
	return pid;
}

static void print(const char *name, uint64_t *ns, long n, uint64_t censored_ns)
{
	long missed = 0;

	for (long i = 0; i < n; i++)
		if (!ns[i]) {
			ns[i] = censored_ns;
			missed++;
		}
	printf("missed=%ld ", missed);
	sample_print(name, ns, n);
}

int main(int argc, char **argv)
{
	static uint64_t held[MAX_ROUNDS], back[MAX_ROUNDS];
	struct seize_round round;
	long rounds = 20, burst_ms = 100, gap_ms = 200;
	int c;

	while ((c = getopt(argc, argv, "l:b:c:n:d:g:")) != -1) {
		if (c == 'l')
			lc_cgroup = optarg;
		else if (c == 'b')
			be_cgroup = optarg;
		else if (c == 'c')
			nr_cpus = (uint32_t)atoi(optarg);
		else if (c == 'n')
			rounds = atol(optarg);
		else if (c == 'd')
			burst_ms = atol(optarg);
		else if (c == 'g')
			gap_ms = atol(optarg);
		else
			return 2;
	}
	if (!lc_cgroup || !be_cgroup || nr_cpus < 1 || nr_cpus > SEIZE_MAX_CPUS || rounds < 1 || rounds > MAX_ROUNDS)
		return 2;
	shared = seize_create(nr_cpus, nr_cpus);
	if (!shared)
		return 1;
	for (uint32_t i = 0; i < nr_cpus; i++)
		if (start(lc_cgroup) == 0)
			seize_worker(shared, i);
	join_cgroup(lc_cgroup);
	for (uint32_t i = 0; i < 2 * nr_cpus; i++)
		if (start(be_cgroup) == 0)
			seize_best_effort(shared);
	for (long i = 0; i < rounds; i++) {
		usleep((useconds_t)gap_ms * 1000);
		seize_one_round(shared, (uint64_t)burst_ms * 1000000, &round);
		held[i] = round.reached_ns[nr_cpus - 1];
		back[i] = round.back_ns;
		if (getenv("TAKEOVER_ROUNDS"))
			printf("%ld: %.1f %.1f\n", i, held[i] / 1e3, back[i] / 1e3);
	}
	print("takeover_held", held, rounds, (uint64_t)burst_ms * 1000000);
	print("takeover_back", back, rounds, seize_give_up_ns);
	/* The children end with us: PR_SET_PDEATHSIG. */
	return 0;
}
