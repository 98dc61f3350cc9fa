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
#include <unistd.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/broadcast.h"

int main(int argc, char **argv)
{
	struct broadcast b = { .nr_threads = 4, .work_ns = 1000000, .rounds = 100, .gap_us = 10000 };
	uint64_t *took;
	int c;

	while ((c = getopt(argc, argv, "t:w:n:g:")) != -1) {
		if (c == 't')
			b.nr_threads = atoi(optarg);
		else if (c == 'w')
			b.work_ns = atol(optarg) * 1000;
		else if (c == 'n')
			b.rounds = atol(optarg);
		else if (c == 'g')
			b.gap_us = atol(optarg);
		else
			return 2;
	}
	if (b.nr_threads < 1 || b.nr_threads > BROADCAST_MAX_THREADS || b.rounds < 1 || b.rounds > 10000000)
		return 2;
	took = malloc(b.rounds * sizeof(*took));
	if (!took || broadcast_run(&b, took) < 0)
		return 1;
	sample_print("burst", took, b.rounds);
	free(took);
	return 0;
}
