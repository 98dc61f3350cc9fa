/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poller_private.h - struct poller, and what its files call of each other */
#ifndef SCHEDD_POLLER_PRIVATE_H
#define SCHEDD_POLLER_PRIVATE_H

#include <pthread.h>

#include "daemon/base/seqlock.h"
#include "daemon/poller.h"

enum { POLLER_MAX_MOVES = 4096 }; /* a power of two */

/* One writer, one reader; full means lost, counted by the writer. */
struct poller_ring {
	uint32_t written, taken;
	struct poller_move moves[POLLER_MAX_MOVES];
};
bool poller_ring_put(struct poller_ring *ring, const struct poller_move *move);
size_t poller_ring_take(struct poller_ring *ring, struct poller_move *ret_moves, size_t max);

struct poller {
	struct poller_kernel kernel;
	struct topo topo;
	int poll_cpu;
	pthread_t thread;
	bool started;
	int wake_fd;                    /* of the loop, for the thread */
	int event_fd;                   /* of the thread, for the loop */

	/* Between the two. */
	uint32_t stop, woken, notify;
	uint32_t pings, pongs;
	struct seqlock limits_lock, status_lock;
	struct poller_limits shared_limits;
	struct poller_status shared_status;
	struct poller_ring ring;

	/* The thread's own. */
	struct poller_limits limits, incoming;
	uint32_t limits_sequence;       /* of the limits that it has */
	uint32_t growers;               /* classes that may own more than their guarantee, a bit each */
	uint32_t refused;               /* classes for which the last plan had nothing, a bit each */
	uint64_t refused_at_ns;
	bool surplus;                   /* some class owns more than its guarantee */
	struct poller_status status;
	struct poller_signals signals;
	struct demand demand;
	struct demand_class demands[SCHEDD_MAX_CLASSES];
	struct alloc_memory memory;
	bool failed;                    /* the last apply failed: the whole plan is told again */
	uint64_t stepped_at_ns, told_at_ns;
};

uint64_t poller_now_ns(void);           /* CLOCK_MONOTONIC */

/* When the next step is due. */
struct poller_next {
	uint64_t in_ns;                 /* from this one; UINT64_MAX = no time brings it */
	uint32_t wake_classes;          /* or when a task of these is queued, a bit each; 0 = at that time only */
};
struct poller_next poller_step(struct poller *p, uint64_t now_ns); /* one interval */
void *poller_thread(void *poller);      /* poller_thread.c */

#endif
