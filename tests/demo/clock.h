/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - one measuring window for several processes, given as wall-clock time */
#ifndef DEMO_CLOCK_H
#define DEMO_CLOCK_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NSEC_PER_SEC UINT64_C(1000000000)

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
}

/*
 * A shell knows only wall-clock time ($EPOCHREALTIME, in seconds with a fraction).
 * Converted once at start: later steps of the wall clock do not move the window.
 */
static inline uint64_t clock_mono_from_epoch(const char *epoch_s)
{
	double ahead_ns = strtod(epoch_s, NULL) * NSEC_PER_SEC - (double)clock_read_ns(CLOCK_REALTIME);

	return clock_now_ns() + (int64_t)ahead_ns;
}

#endif
