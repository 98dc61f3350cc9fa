// SPDX-License-Identifier: GPL-2.0-or-later
/* ahead.c - the arrivals of a load, read ahead as far as somebody may know them */
#include <stdlib.h>
#include <string.h>

#include "ahead.h"

/* A simulation that cannot go on has no result to save. */
static void *grown(void *old, uint32_t *size, size_t entry_bytes)
{
	void *p;

	*size = *size ? 2 * *size : 256;
	p = realloc(old, *size * entry_bytes);
	if (!p)
		abort();
	return p;
}

static void ends_push(struct ahead *a, uint64_t end_ns)
{
	uint32_t at = a->nr_ends++;

	if (at == a->ends_size)
		a->ends = grown(a->ends, &a->ends_size, sizeof(*a->ends));
	for (; at > 0 && end_ns < a->ends[(at - 1) / 2]; at = (at - 1) / 2)
		a->ends[at] = a->ends[(at - 1) / 2];
	a->ends[at] = end_ns;
}

static void ends_pop(struct ahead *a)
{
	uint64_t last = a->ends[--a->nr_ends];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < a->nr_ends) {
		if (child + 1 < a->nr_ends && a->ends[child + 1] < a->ends[child])
			child++;
		if (last <= a->ends[child])
			break;
		a->ends[at] = a->ends[child];
		at = child;
	}
	a->ends[at] = last;
}

static void ahead_read(struct ahead *a)
{
	struct arrival next = {};

	if (a->nr == a->size) {
		uint32_t old = a->size;

		a->ring = grown(a->ring, &a->size, sizeof(*a->ring));
		/* What had wrapped to the front goes on behind the old end. */
		memcpy(a->ring + old, a->ring, a->head * sizeof(*a->ring));
	}
	load_next(&a->load, &next.at_ns, &next.service_ns);
	while (a->nr_ends && a->ends[0] <= next.at_ns)
		ends_pop(a);
	ends_push(a, next.at_ns + next.service_ns);
	next.in_service = a->nr_ends;
	a->ring[(a->head + a->nr++) & (a->size - 1)] = next;
}

void ahead_init(struct ahead *a, const struct load_spec *spec, uint64_t seed, uint64_t stream)
{
	*a = (struct ahead){};
	load_init(&a->load, spec, seed, stream);
	ahead_fill(a, 0);
}

void ahead_fini(struct ahead *a)
{
	free(a->ring);
	free(a->ends);
}

void ahead_fill(struct ahead *a, uint64_t until_ns)
{
	while (!a->nr || ahead_at(a, a->nr - 1)->at_ns <= until_ns)
		ahead_read(a);
}

uint32_t ahead_most(const struct ahead *a, uint64_t until_ns)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < a->nr && ahead_at(a, i)->at_ns <= until_ns; i++)
		if (ahead_at(a, i)->in_service > most)
			most = ahead_at(a, i)->in_service;
	return most;
}
