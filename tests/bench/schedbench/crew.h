/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crew.h - the processes of one test
 *
 * Each member joins the cgroup of its role, dies with its parent, and does rounds:
 * crew_next() says "ready" and waits for the parent's crew_start(), which tells
 * how many iterations.  One crew at a time: crew_catch_signals() ends it on Ctrl-C.
 * The parent's functions give 0 or -errno, and the text is in the test's result.
 */
#ifndef SCHEDBENCH_CREW_H
#define SCHEDBENCH_CREW_H

#include <sys/types.h>

#include "tests/bench/schedbench/bench.h"
#include "tests/bench/schedbench/fsem.h"

struct member {
	char name[48];
	enum role role;
	pid_t pid; /* 0: not started, or reaped */
	struct fsem ready, start;
	_Atomic uint64_t iters;
	char error[256]; /* why it ended, when it knows */
};

struct crew {
	const struct bench *bench;
	struct member *members; /* shared */
	uint32_t nr, cap;
};

/* A member returns only to end with an error. */
typedef void (*member_fn)(struct member *self, void *arg);

int crew_init(struct crew *c, const struct bench *b, uint32_t cap);

/* arg is shared memory, or not written by the member. */
int crew_add(struct crew *c, enum role role, const char *name, member_fn run, void *arg);

/* All members are ready: first before any start, then once for each. */
int crew_wait(struct crew *c);
void crew_start(struct crew *c, uint64_t iters);

/* As the two, for one member. */
int crew_wait_one(struct crew *c, struct member *m);
void crew_start_one(struct member *m, uint64_t iters);

/* Lets time pass while the members work; looks after them meanwhile. */
int crew_sleep(struct crew *c, uint64_t ns);

/* Until condition(arg), for at most limit_s: -ETIMEDOUT, without a text. */
int crew_wait_until(struct crew *c, bool (*condition)(void *arg), void *arg, double limit_s);

/* CPU time of a member so far. */
uint64_t crew_cpu_ns(const struct member *m);

void crew_end(struct crew *c);

/* In a member: what to do next. */
uint64_t crew_next(struct member *self);

/* In a member: end it with this text. */
_Noreturn void crew_give_up(struct member *self, int error, const char *what);

void crew_catch_signals(void);

#endif
