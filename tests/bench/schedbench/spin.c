/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin.c - loops that compute nothing */
#include "tests/bench/schedbench/spin.h"

#include <sched.h>

#include "tests/bench/sample.h"

void spin_wall(struct spinner *s, uint64_t ns)
{
	uint64_t begin_ns = sample_now_ns(), now_ns = begin_ns;

	do {
		uint32_t cpu = (uint32_t)sched_getcpu();

		now_ns = sample_now_ns();
		if (cpu != atomic_load(&s->last_cpu)) {
			atomic_store(&s->changed_ns, now_ns);
			atomic_store(&s->last_cpu, cpu);
		}
	} while (now_ns - begin_ns < ns);
}

void spin_cpu(uint64_t ns)
{
	uint64_t until_ns;

	if (!ns)
		return;
	until_ns = sample_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (sample_clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		;
}

void spin_loop(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}

void spin_hog(struct hog *self)
{
	for (;;) {
		uint64_t now, last = self->last_ns;

		spin_loop();
		self->loops++;
		now = sample_now_ns();
		if (now - last > self->gap_ns)
			self->gap_ns = now - last;
		self->last_ns = now;
	}
}
