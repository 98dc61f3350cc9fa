/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched_math.h - arithmetic that the BPF scheduler and user space share
 *
 * Compiles for both; tests/unit/test_sched_math.c checks it in user space.
 */
#ifndef SCHEDD_BPF_SCHED_MATH_H
#define SCHEDD_BPF_SCHED_MATH_H

#ifdef __bpf__
#include "bpf/kernel.h"
#endif
#include "bpf/intf.h"

/*
 * Identifiers of dispatch queues:
 *
 *   63     56 55      32 31     16 15      0
 *   [ type  ] [   0    ] [  high ] [  low  ]
 *
 * The kernel keeps bit 63 for itself, so a type stays below 128.
 */
enum schedd_dsq_type {
	SCHEDD_DSQ_CLASS = 1,  /* high = class, low = LLC */
	SCHEDD_DSQ_CPU = 2,    /* high = kind, low = CPU */
	SCHEDD_DSQ_KTHREAD = 3, /* high = 0, low = LLC */
};

static inline u64 schedd_dsq_id(u32 type, u32 high, u32 low)
{
	return (u64)(type & 0x7f) << 56 | (u64)(high & 0xffff) << 16 | (low & 0xffff);
}

static inline u32 schedd_dsq_type_of(u64 id)
{
	return (u32)(id >> 56) & 0x7f;
}

static inline u32 schedd_dsq_high(u64 id)
{
	return (u32)(id >> 16) & 0xffff;
}

static inline u32 schedd_dsq_low(u64 id)
{
	return (u32)id & 0xffff;
}

/* Index of the highest set bit, 0 for 0.  The BPF target has no instruction for it. */
static inline u32 schedd_log2(u64 v)
{
	u32 r = 0, s;

	s = (v > 0xffffffffULL) << 5;
	v >>= s;
	r |= s;
	s = (v > 0xffff) << 4;
	v >>= s;
	r |= s;
	s = (v > 0xff) << 3;
	v >>= s;
	r |= s;
	s = (v > 0xf) << 2;
	v >>= s;
	r |= s;
	s = (v > 0x3) << 1;
	v >>= s;
	r |= s;
	return r | (u32)(v >> 1);
}

/* The bucket of a latency: the smallest i with ns <= 2^(FIRST_SHIFT + i), or the last one. */
static inline u32 schedd_lat_bucket(u64 ns)
{
	u32 i;

	if (ns <= 1ULL << SCHEDD_LAT_FIRST_SHIFT)
		return 0;
	i = schedd_log2(ns - 1) + 1 - SCHEDD_LAT_FIRST_SHIFT;
	return i < SCHEDD_LAT_BUCKETS - 1 ? i : SCHEDD_LAT_BUCKETS - 1;
}

/*
 * A wider span than this would let one task wait longer than the kernel's
 * watchdog: the lightest waits span * lag behind each of the heaviest.
 */
#define SCHEDD_WEIGHT_MIN 2
#define SCHEDD_WEIGHT_MAX 1000

/* The weight of a task in its class, 100 being the default of both factors. */
static inline u32 schedd_weight(u32 task_weight, u32 class_weight)
{
	u64 w = (u64)task_weight * class_weight / 100;

	if (w < SCHEDD_WEIGHT_MIN)
		return SCHEDD_WEIGHT_MIN;
	return w < SCHEDD_WEIGHT_MAX ? (u32)w : SCHEDD_WEIGHT_MAX;
}

/* How far the virtual time of a task of this weight moves while it runs ran_ns. */
static inline u64 schedd_vtime_step(u64 ran_ns, u32 weight)
{
	if (weight == 100)
		return ran_ns;
	return ran_ns * 100 / (weight ? weight : 1);
}

/* Wrapping order of two virtual times, as the kernel compares them. */
static inline int schedd_vtime_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/*
 * The virtual time with which a task enters a queue: a sleeper keeps at most
 * credit_ns, and nobody falls more than lag_ns behind the clock of the domain.
 */
static inline u64 schedd_vtime_clamp(u64 vtime, u64 clock, u64 credit_ns, u64 lag_ns)
{
	if (schedd_vtime_before(vtime, clock - credit_ns))
		return clock - credit_ns;
	if (schedd_vtime_before(clock + lag_ns, vtime))
		return clock + lag_ns;
	return vtime;
}

/* A time difference that survives a remote clock and a suspend. */
static inline u64 schedd_delta(u64 now, u64 then, u64 max_ns)
{
	s64 d = (s64)(now - then);

	if (d < 0)
		return 0;
	return (u64)d < max_ns ? (u64)d : max_ns;
}

#endif
