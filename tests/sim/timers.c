// SPDX-License-Identifier: GPL-2.0-or-later
/* timers.c - the event heap: at most one coming event per CPU */
#include <stdbool.h>

#include "timers.h"

static bool timers_before(const struct timers *t, uint32_t a, uint32_t b)
{
	return t->at_ns[a] != t->at_ns[b] ? t->at_ns[a] < t->at_ns[b] : a < b;
}

static void timers_put(struct timers *t, uint32_t at, uint32_t cpu)
{
	t->heap[at] = (uint16_t)cpu;
	t->place[cpu] = (uint16_t)(at + 1);
}

static void timers_rise(struct timers *t, uint32_t at)
{
	uint32_t cpu = t->heap[at];

	for (; at > 0 && timers_before(t, cpu, t->heap[(at - 1) / 2]); at = (at - 1) / 2)
		timers_put(t, at, t->heap[(at - 1) / 2]);
	timers_put(t, at, cpu);
}

static void timers_sink(struct timers *t, uint32_t at)
{
	uint32_t cpu = t->heap[at], child;

	while ((child = 2 * at + 1) < t->nr) {
		if (child + 1 < t->nr && timers_before(t, t->heap[child + 1], t->heap[child]))
			child++;
		if (!timers_before(t, t->heap[child], cpu))
			break;
		timers_put(t, at, t->heap[child]);
		at = child;
	}
	timers_put(t, at, cpu);
}

void timers_set(struct timers *t, uint32_t cpu, uint64_t at_ns)
{
	t->at_ns[cpu] = at_ns;
	if (!t->place[cpu])
		timers_put(t, t->nr++, cpu);
	timers_rise(t, t->place[cpu] - 1u);
	timers_sink(t, t->place[cpu] - 1u);
}

void timers_clear(struct timers *t, uint32_t cpu)
{
	uint32_t at = t->place[cpu], last;

	if (!at)
		return;
	t->place[cpu] = 0;
	last = t->heap[--t->nr];
	if (last == cpu)
		return;
	timers_put(t, at - 1, last);
	timers_rise(t, at - 1);
	timers_sink(t, t->place[last] - 1u);
}
