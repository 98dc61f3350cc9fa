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
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/sample.h"

enum { MAX_CPUS = 64, MAX_ROUNDS = 10000 };

static const uint64_t at_once_ns = 1000000, give_up_ns = 10000000000ull;

struct seen {
	_Atomic uint64_t at_ns;
	_Atomic uint32_t cpu;
	char pad[52];
};

static struct shared {
	_Atomic uint32_t round;
	_Atomic uint64_t end_ns;           /* of the burst */
	_Atomic uint64_t held_ns;          /* all workers at once; 0 = not yet */
	_Atomic uint64_t back_ns[MAX_CPUS]; /* first best-effort loop after an end */
	struct seen workers[MAX_CPUS];
} *shared;

static const char *lc_cgroup, *be_cgroup;
static uint32_t nr_cpus = 2;

static void join_cgroup(const char *cgroup)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%d", (int)getpid()) < 0 || fclose(f) != 0) {
		perror(path);
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

static void best_effort(void)
{
	for (;;) {
		uint64_t end_ns = atomic_load(&shared->end_ns), now_ns;
		unsigned int cpu = 0;

		for (volatile int i = 0; i < 1000; i++)
			;
		getcpu(&cpu, NULL);
		now_ns = sample_now_ns();
		/* Only the first after an end, which one from before the burst is not. */
		if (end_ns && now_ns > end_ns && cpu < MAX_CPUS && atomic_load(&shared->back_ns[cpu]) <= end_ns)
			atomic_store(&shared->back_ns[cpu], now_ns);
	}
}

static int all_run_at_once(uint64_t now_ns)
{
	uint64_t cpus = 0;

	for (uint32_t i = 0; i < nr_cpus; i++) {
		uint64_t at_ns = atomic_load(&shared->workers[i].at_ns);

		if (at_ns + at_once_ns < now_ns)
			return 0;
		cpus |= 1ull << (atomic_load(&shared->workers[i].cpu) % 64);
	}
	return __builtin_popcountll(cpus) == (int)nr_cpus;
}

static void burst(struct seen *self)
{
	uint64_t end_ns = atomic_load(&shared->end_ns), now_ns = sample_now_ns(), none = 0;
	unsigned int cpu = 0;

	for (; now_ns < end_ns; now_ns = sample_now_ns()) {
		getcpu(&cpu, NULL);
		atomic_store(&self->cpu, cpu);
		atomic_store(&self->at_ns, now_ns);
		if (!atomic_load(&shared->held_ns) && all_run_at_once(now_ns))
			atomic_compare_exchange_strong(&shared->held_ns, &none, now_ns);
	}
}

static void worker(uint32_t self)
{
	for (uint32_t seen = 0;; seen = atomic_load(&shared->round)) {
		while (atomic_load(&shared->round) == seen)
			syscall(SYS_futex, &shared->round, FUTEX_WAIT, seen, NULL, NULL, 0);
		burst(&shared->workers[self]);
	}
}

static uint64_t last_back(uint64_t end_ns)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < nr_cpus; i++) {
		uint64_t at_ns = atomic_load(&shared->back_ns[i]);

		if (at_ns <= end_ns)
			return 0;
		last = at_ns > last ? at_ns : last;
	}
	return last;
}

static void one_round(uint64_t burst_ns, uint64_t *ret_held_ns, uint64_t *ret_back_ns)
{
	uint64_t start_ns = sample_now_ns(), end_ns = start_ns + burst_ns, back_ns;

	atomic_store(&shared->held_ns, 0);
	for (uint32_t i = 0; i < nr_cpus; i++)
		atomic_store(&shared->workers[i].at_ns, 0);
	atomic_store(&shared->end_ns, end_ns);
	atomic_fetch_add(&shared->round, 1);
	syscall(SYS_futex, &shared->round, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	while (!(back_ns = last_back(end_ns)) && sample_now_ns() < end_ns + give_up_ns)
		usleep(2000);
	*ret_held_ns = atomic_load(&shared->held_ns);
	*ret_held_ns = *ret_held_ns ? *ret_held_ns - start_ns : 0;
	*ret_back_ns = back_ns ? back_ns - end_ns : 0;
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
	if (!lc_cgroup || !be_cgroup || nr_cpus < 1 || nr_cpus > MAX_CPUS || rounds < 1 || rounds > MAX_ROUNDS)
		return 2;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (uint32_t i = 0; i < nr_cpus; i++)
		if (start(lc_cgroup) == 0)
			worker(i);
	join_cgroup(lc_cgroup);
	for (uint32_t i = 0; i < 2 * nr_cpus; i++)
		if (start(be_cgroup) == 0)
			best_effort();
	for (long i = 0; i < rounds; i++) {
		usleep((useconds_t)gap_ms * 1000);
		one_round((uint64_t)burst_ms * 1000000, &held[i], &back[i]);
		if (getenv("TAKEOVER_ROUNDS"))
			printf("%ld: %.1f %.1f\n", i, held[i] / 1e3, back[i] / 1e3);
	}
	print("takeover_held", held, rounds, (uint64_t)burst_ms * 1000000);
	print("takeover_back", back, rounds, give_up_ns);
	/* The children end with us: PR_SET_PDEATHSIG. */
	return 0;
}
