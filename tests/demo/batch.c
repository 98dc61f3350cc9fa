// SPDX-License-Identifier: GPL-2.0-or-later
/* batch.c - CPU-hungry batch: hashes blocks in N processes and counts those done in a window */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

enum {
	MAX_WORKERS = 1024,
	BLOCK_BYTES = 16384,	/* stays in the first-level cache: the work is CPU, not memory */
};

/* One cache line each, so that counting costs nothing to the neighbours. */
struct slot {
	uint64_t blocks;
	uint64_t hash;		/* stored, or the compiler would drop the work */
} __attribute__((aligned(64)));

struct window {
	uint64_t start_ns;
	uint64_t end_ns;
};

static uint64_t hash_block(const unsigned char *block, uint64_t hash)
{
	for (int i = 0; i < BLOCK_BYTES; i++)
		hash = (hash ^ block[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * Each worker judges the window itself, after every block: a process that
 * samples the counters from outside would have to be scheduled on time.
 */
static void worker_run(struct slot *slot, const struct window *w)
{
	unsigned char block[BLOCK_BYTES];
	uint64_t hash = UINT64_C(0xcbf29ce484222325), now;

	for (int i = 0; i < BLOCK_BYTES; i++)
		block[i] = (unsigned char)(i * 31);
	for (;;) {
		hash = hash_block(block, hash);
		now = clock_now_ns();
		if (now >= w->start_ns && now < w->end_ns)
			slot->blocks++;
		slot->hash = hash;
	}
}

static int workers_start(struct slot *slots, pid_t *pids, int nr, const struct window *w)
{
	pid_t parent = getpid();

	for (int i = 0; i < nr; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			return -errno;
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		worker_run(&slots[i], w);
	}
	return 0;
}

static void workers_stop(const pid_t *pids, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (pids[i] <= 0)
			continue;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

static int usage(void)
{
	fputs("usage: batch --workers N --start-at EPOCH_SECONDS --seconds S\n"
	      "Hashes blocks of 16 KiB in N processes until SIGTERM or SIGINT, then prints how many\n"
	      "were finished between the start and S seconds later.\n", stderr);
	return 2;
}

static int parse(int argc, char **argv, int *ret_workers, struct window *ret_window)
{
	static const struct option options[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "start-at", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ 0 },
	};
	double seconds = 8;
	int c, workers = 1;
	uint64_t start_ns = clock_now_ns();

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'w')
			workers = atoi(optarg);
		else if (c == 's')
			start_ns = clock_mono_from_epoch(optarg);
		else if (c == 't')
			seconds = strtod(optarg, NULL);
		else
			return -EINVAL;
	}
	if (optind != argc || workers < 1 || workers > MAX_WORKERS || seconds <= 0)
		return -EINVAL;
	*ret_workers = workers;
	*ret_window = (struct window){ start_ns, start_ns + (uint64_t)(seconds * NSEC_PER_SEC) };
	return 0;
}

int main(int argc, char **argv)
{
	pid_t pids[MAX_WORKERS] = { 0 };
	struct window window;
	struct slot *slots;
	uint64_t blocks = 0;
	sigset_t stop;
	int workers, r, sig;

	if (parse(argc, argv, &workers, &window) < 0)
		return usage();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	slots = mmap(NULL, workers * sizeof(*slots), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED) {
		fprintf(stderr, "batch: no memory for the counters: %s\n", strerror(errno));
		return 1;
	}
	r = workers_start(slots, pids, workers, &window);
	if (r < 0)
		fprintf(stderr, "batch: cannot fork a worker: %s\n", strerror(-r));
	else
		sigwait(&stop, &sig);
	workers_stop(pids, workers);
	for (int i = 0; i < workers; i++)
		blocks += slots[i].blocks;
	if (r == 0)
		printf("blocks=%llu\n", (unsigned long long)blocks);
	return r < 0;
}
