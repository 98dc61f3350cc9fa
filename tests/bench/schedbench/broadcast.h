/* SPDX-License-Identifier: GPL-2.0-or-later */
/* broadcast.h - one wake-up of many sleepers that then need CPU time */
#ifndef SCHEDBENCH_BROADCAST_H
#define SCHEDBENCH_BROADCAST_H

#include <stdint.h>

enum { BROADCAST_MAX_THREADS = 256 };

struct broadcast {
	uint32_t nr_threads;
	uint64_t work_ns; /* of its own CPU time, each; may be 0 */
	long rounds;
	long gap_us;      /* before each round */
};

/*
 * Each round wakes all threads with one futex call.  took_ns gets the times from
 * just before it until the last one is done; five more rounds come first.  -errno
 * of making a thread.
 */
int broadcast_run(const struct broadcast *b, uint64_t *took_ns);

#endif
