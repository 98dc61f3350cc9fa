/* SPDX-License-Identifier: GPL-2.0-or-later */
/* idmap.c - 64-bit number -> pointer: open addressing, grows, no tombstones */
#include "cgroup/idmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IDMAP_FIRST_SLOTS = 16 };

/* Finalizer with full avalanche: ids and watch descriptors are small consecutive numbers. */
uint64_t idmap_mix(uint64_t key)
{
	key ^= key >> 32;
	key *= UINT64_C(0xd6e8feb86659fd93);
	key ^= key >> 32;
	key *= UINT64_C(0xd6e8feb86659fd93);
	return key ^ key >> 32;
}

/* The slot of key, or the free one where it would go; the table is never full. */
static size_t find_slot(const struct idmap *m, uint64_t key)
{
	size_t i = idmap_mix(key) & (m->nr_slots - 1);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->nr_slots - 1);
	return i;
}

static int grow(struct idmap *m)
{
	struct idmap bigger = { .nr_slots = m->nr_slots ? m->nr_slots * 2 : IDMAP_FIRST_SLOTS, .nr_used = m->nr_used };

	bigger.slots = calloc(bigger.nr_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_slots; i++)
		if (m->slots[i].value)
			bigger.slots[find_slot(&bigger, m->slots[i].key)] = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int idmap_put(struct idmap *m, uint64_t key, void *value)
{
	size_t i;

	if ((m->nr_used + 1) * 3 > m->nr_slots * 2) {
		int r = grow(m);

		if (r < 0)
			return r;
	}
	i = find_slot(m, key);
	m->nr_used += !m->slots[i].value;
	m->slots[i] = (struct idmap_slot){ key, value };
	return 0;
}

void *idmap_get(const struct idmap *m, uint64_t key)
{
	return m->nr_slots ? m->slots[find_slot(m, key)].value : NULL;
}

void *idmap_take(struct idmap *m, uint64_t key)
{
	size_t mask = m->nr_slots - 1, hole, i;
	void *value;

	if (!m->nr_slots)
		return NULL;
	hole = find_slot(m, key);
	value = m->slots[hole].value;
	if (!value)
		return NULL;
	/* What probed past the hole moves into it, else it would not be found again. */
	for (i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
		size_t home = idmap_mix(m->slots[i].key) & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].value = NULL;
	m->nr_used--;
	return value;
}

void idmap_clear(struct idmap *m)
{
	free(m->slots);
	memset(m, 0, sizeof(*m));
}
