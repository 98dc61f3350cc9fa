/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fsem.c - count and waiter bit in one futex word */
#include "tests/bench/schedbench/fsem.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bench/sample.h"

#define WAITER 0x80000000u

void fsem_init(struct fsem *s, uint32_t max, uint32_t nr_slots, uint64_t *waits_ns, uint32_t nr_waits)
{
	*s = (struct fsem){ .max = max, .nr_slots = nr_slots };
	reservoir_init(&s->waits, waits_ns, nr_waits, 88172645463325252ull);
}

/* All of them, as the bit that stood for all is gone; who finds too little sets it again. */
static void wake(struct fsem *s)
{
	long n;

	if (s->nr_slots)
		atomic_store(&s->stamp_ns[atomic_fetch_add(&s->nr_stamps, 1) % s->nr_slots], sample_now_ns());
	n = syscall(SYS_futex, &s->count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	if (n > 0)
		atomic_fetch_add(&s->nr_wakes, (uint64_t)n);
}

static void take_sample(struct fsem *s, uint32_t cookie, uint64_t now_ns)
{
	uint32_t since = atomic_load(&s->nr_stamps) - cookie;

	atomic_fetch_add(&s->nr_woken, 1);
	if (!s->nr_slots)
		return;
	/* Since none: the wake-up was meant for what had this address before. */
	if (since == 0 || since >= s->nr_slots)
		atomic_fetch_add(&s->nr_dropped, 1);
	else
		reservoir_add(&s->waits, now_ns - atomic_load(&s->stamp_ns[cookie % s->nr_slots]));
}

static int sleep_on(struct fsem *s, uint32_t seen, uint64_t timeout_ns)
{
	struct timespec timeout = { (time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000) };
	uint32_t cookie = atomic_load(&s->nr_stamps);
	long r = syscall(SYS_futex, &s->count, FUTEX_WAIT, seen, timeout_ns ? &timeout : NULL, NULL, 0);

	if (r == 0)
		take_sample(s, cookie, sample_now_ns());
	return r < 0 ? -errno : 0;
}

static int change(struct fsem *s, int64_t delta, uint64_t timeout_ns)
{
	uint32_t old = atomic_load(&s->count);

	for (;;) {
		int64_t next = (int64_t)(old & ~WAITER) + delta;

		if (next >= 0 && next <= s->max) {
			if (!atomic_compare_exchange_weak(&s->count, &old, (uint32_t)next))
				continue;
			if (old & WAITER)
				wake(s);
			return 0;
		}
		if (!(old & WAITER) && !atomic_compare_exchange_weak(&s->count, &old, old | WAITER))
			continue;
		if (sleep_on(s, old | WAITER, timeout_ns) == -ETIMEDOUT)
			return -ETIMEDOUT;
		old = atomic_load(&s->count);
	}
}

void fsem_produce(struct fsem *s, uint32_t value)
{
	change(s, value, 0);
}

void fsem_consume(struct fsem *s, uint32_t value)
{
	change(s, -(int64_t)value, 0);
}

int fsem_consume_timed(struct fsem *s, uint32_t value, uint64_t timeout_ns)
{
	return change(s, -(int64_t)value, timeout_ns);
}
