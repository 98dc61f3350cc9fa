/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * poller.h - the allocator thread: reads signals, runs the plan, applies it
 *
 * The loop publishes limits, the thread publishes the plan back, each through
 * one seqlock-protected block; moves of CPUs go through a bounded ring.  Neither
 * waits for the other.  The thread owns the plan while it lives.  All functions
 * are the loop's, but for the struct poller_kernel, which the thread calls.
 */
#ifndef SCHEDD_POLLER_H
#define SCHEDD_POLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/alloc.h"

struct poller;

/* What the thread needs of the kernel; a test fakes it. */
struct poller_signals {
	struct demand_counters counters[SCHEDD_MAX_LLCS][SCHEDD_MAX_CLASSES];
	uint8_t holder[SCHEDD_MAX_CPUS];  /* class + 1 of what runs, 0 = idle or not ours */
};
struct poller_kernel {
	void (*read_signals)(void *ctx, uint32_t used, struct poller_signals *ret_signals); /* mapped memory, no system call */
	int (*apply)(void *ctx, const struct schedd_plan *plan);
	void (*alive)(void *ctx, uint64_t now_ns, bool need_alive);
	/* Who queues a task of these classes (a bit each) makes wake_fd readable; 0 = awake. */
	void (*set_asleep)(void *ctx, uint32_t wake_classes);
	void (*drain_wakeups)(void *ctx);
	int (*set_poller)(void *ctx, bool polls);    /* poll mode: the calling thread is the one to leave alone, or no more */
	int wake_fd;
	void *ctx;
};

enum { POLLER_NO_CPU = -1 };

/* Published by the loop.  A multiple of 8 bytes: see seqlock.h. */
struct poller_limits {
	struct alloc_limits alloc;
	uint64_t congestion_ns[SCHEDD_MAX_CLASSES];
	uint64_t interval_ns;       /* 5 us (poll mode), 100 us (timer mode) .. 1 s */
	const struct alloc_policy *policy;
	uint64_t model_generation;  /* of the model that they were made from, for the loop */
	uint64_t frozen;            /* mode paused */
	uint64_t dry;               /* mode observe: computed and counted, never applied */
};

/* Published by the thread: after every plan that changed and every limits it has followed. */
struct poller_status {
	struct schedd_plan plan;
	uint64_t limits_generation; /* the plan follows limits at least this new, and is in force */
	uint64_t model_generation;  /* that came with them */
	uint64_t apply_realtime_ns; /* 0 = never */
	uint64_t plans_applied, apply_failures;
	uint64_t plan_ns_sum, plan_count; /* from reading the signals to a plan in force */
	uint64_t congested_ns[SCHEDD_MAX_CLASSES];
	uint32_t unmet_cpus[SCHEDD_MAX_CLASSES];
	uint64_t mean_delay_ns[SCHEDD_MAX_CLASSES]; /* of the tasks that started in the last interval */
	uint64_t congested;         /* a bit per class */
	uint64_t moves_lost;        /* the ring was full */
};

/* A CPU that changed its owner. */
struct poller_move {
	uint64_t realtime_ns;
	uint64_t plan_generation;
	uint32_t took_ns;           /* from the signals read to the plan in force */
	uint16_t cpu;
	uint8_t from, to;           /* class + 1, 0 = the pool */
	uint8_t trigger;            /* enum alloc_trigger */
	uint8_t dry;                /* would have been */
	uint8_t pad[2];
};

struct poller_options {
	const struct topo *topo;    /* copied */
	const struct poller_limits *limits;
	uint64_t plan_generation;   /* the last one that was used, so that it never falls */
	int poll_cpu;               /* POLLER_NO_CPU = timer mode */
};

/* The first plan is made and applied before it returns; poller_start() starts the thread. */
int poller_new(const struct poller_options *o, const struct poller_kernel *kernel, struct poller **ret_poller);
int poller_start(struct poller *p);
void poller_free(struct poller *p); /* ends and joins the thread; kernel is not used afterwards */

void poller_set_limits(struct poller *p, const struct poller_limits *limits); /* wakes the thread */
void poller_get_status(struct poller *p, struct poller_status *ret_status);
/* Readable when there is news: limits followed, and, while asked for, each plan. */
int poller_event_fd(const struct poller *p);
void poller_set_notify(struct poller *p, bool every_plan);
void poller_drain_events(struct poller *p); /* makes poller_event_fd() unreadable; before reading the news */
/* Takes the oldest moves; 0 = none left. */
size_t poller_take_moves(struct poller *p, struct poller_move *ret_moves, size_t max);

/* The watchdog's question: asks for a sign of life, and says whether the last one asked for was given. */
bool poller_ping(struct poller *p);

#endif
