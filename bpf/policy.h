/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy.h - the in-class policies: one row of traits each, and their arithmetic
 *
 * A policy decides three things about tasks of one class: which key a task has
 * in a queue (the least is served first), whether one that wakes up ends the run
 * of another, and how much of the time that it slept counts as credit.  Keys of
 * all policies are virtual times of the same domain, so that classes of one
 * kind compete by them whatever their policies are.
 *
 * Compiles for BPF and user space; tests/unit/test_policy_order.c checks it.
 */
#ifndef SCHEDD_BPF_POLICY_H
#define SCHEDD_BPF_POLICY_H

#include "bpf/sched_math.h"

struct schedd_policy_traits {
	u8 arrival;        /* in the order in which they became runnable; weights of tasks do not count */
	u8 request;        /* the key is where the expected run would end, not where it would begin */
	u8 habits;         /* how long the task runs and sleeps decides about credit and preemption */
	u8 preempts;       /* who wakes up with enough credit ends the run of another */
};

/* Indexed by enum schedd_policy; BPF masks the index, hence eight rows. */
#define SCHEDD_POLICY_ROWS 8
static const struct schedd_policy_traits schedd_policies[SCHEDD_POLICY_ROWS] = {
	[SCHEDD_POLICY_VTIME] = { .preempts = 1 },
	[SCHEDD_POLICY_FIFO] = { .arrival = 1 },
	[SCHEDD_POLICY_ROUND_ROBIN] = { .arrival = 1 },
	[SCHEDD_POLICY_DEADLINE] = { .preempts = 1, .request = 1 },
	[SCHEDD_POLICY_INTERACTIVE] = { .preempts = 1, .request = 1, .habits = 1 },
};

#define SCHEDD_HABIT_MAX_US 1000000 /* longer runs and sleeps say nothing more */
#define SCHEDD_SHARE_ONE 1024       /* shares are in units of 1 / 1024 */
#define SCHEDD_SHARE_UNKNOWN 512    /* of a task that has neither run nor slept */
#define SCHEDD_SHARE_SLEEPY 256     /* up to here a task is interactive: it wants at most a quarter of a CPU */

/* Half of the past counts at each wake-up: after three the past before them is an eighth. */
static inline u32 schedd_habit_update(u32 average_us, u64 sample_ns)
{
	u64 us = sample_ns / 1000;

	if (us > SCHEDD_HABIT_MAX_US)
		us = SCHEDD_HABIT_MAX_US;
	return (u32)((average_us + us + 1) / 2);
}

/*
 * The share of a CPU that a task wants: its run against its run and sleep.  A run
 * that is under way and longer than usual counts as it is, so that a task that
 * begins to compute is known as such within that run.
 */
static inline u32 schedd_habit_share(u32 run_us, u32 sleep_us, u64 running_ns)
{
	u64 running_us = running_ns / 1000;
	u64 run = running_us > run_us ? running_us : run_us;

	if (run > SCHEDD_HABIT_MAX_US)
		run = SCHEDD_HABIT_MAX_US;
	if (run + sleep_us == 0)
		return SCHEDD_SHARE_UNKNOWN;
	return (u32)(run * SCHEDD_SHARE_ONE / (run + sleep_us));
}

/* How far behind the clock a sleeper may wake up: one slice, up to two for one that mostly sleeps. */
static inline u64 schedd_policy_credit(const struct schedd_policy_traits *traits, u32 share, u64 slice_ns)
{
	if (!traits->habits || share >= SCHEDD_SHARE_ONE)
		return slice_ns;
	return slice_ns + slice_ns * (SCHEDD_SHARE_ONE - share) / SCHEDD_SHARE_ONE;
}

/* By how much a key must be earlier to end another run; an interactive task needs a quarter. */
static inline u64 schedd_policy_gran(const struct schedd_policy_traits *traits, u32 share, u64 gran_ns)
{
	return traits->habits && share <= SCHEDD_SHARE_SLEEPY ? gran_ns / 4 : gran_ns;
}

/* The virtual time of the run that is expected: the usual one, or what it is already, at most a slice. */
static inline u64 schedd_policy_request(const struct schedd_policy_traits *traits, u32 run_us,
					u64 running_ns, u64 slice_ns, u32 weight)
{
	u64 run_ns = (u64)run_us * 1000;

	if (!traits->request)
		return 0;
	if (run_ns < running_ns)
		run_ns = running_ns;
	return schedd_vtime_step(run_ns < slice_ns ? run_ns : slice_ns, weight);
}

#endif
