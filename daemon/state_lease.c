/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_lease.c - leases of CPUs: what there is room for, made, ended, counted */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/state_private.h"

void state_sum_leases(struct state *s)
{
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		s->classes[i].leased_cpus = s->classes[i].reassigned_cpus = 0;
	for (size_t i = 0; i < s->nr_leases; i++) {
		int to = state_find_class(s, s->leases[i].class_name);
		int from = state_find_class(s, s->leases[i].from_class_name);

		if (to >= 0)
			s->classes[to].leased_cpus += s->leases[i].granted_cpus;
		if (from >= 0)
			s->classes[from].reassigned_cpus += s->leases[i].granted_cpus;
	}
}

uint32_t state_lease_room(const struct state *s, const char *from_class_name)
{
	uint32_t may_give = state_leave_one(s->nr_cpus), left;
	int from = state_find_class(s, from_class_name);
	const struct state_class *c;
	uint64_t ordered = 0, room;

	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		ordered += state_ordered_cpus(&s->classes[i]);
	room = may_give > ordered ? may_give - ordered : 0;
	if (from < 0)
		return (uint32_t)room;
	/* What moves from one class to another leaves as much for the rest as before; what others leased stays. */
	c = &s->classes[from];
	room += state_ordered_cpus(c) - c->leased_cpus;
	left = state_leave_one(c->effective.burst_cpus);
	left = left > c->reassigned_cpus ? left - c->reassigned_cpus : 0;
	return room < left ? (uint32_t)room : left;
}

struct state_lease *state_find_lease(struct state *s, const char *id)
{
	for (size_t i = 0; i < s->nr_leases; i++)
		if (strcmp(s->leases[i].id, id) == 0)
			return &s->leases[i];
	return NULL;
}

static int decide_cpus(const struct state *s, const struct state_lease *l, uint32_t *ret_cpus)
{
	uint32_t room = state_lease_room(s, l->from_class_name), wanted = l->granted_cpus ?: l->requested_cpus;
	uint32_t least = l->granted_cpus || !l->min_cpus ? wanted : l->min_cpus;

	if (!wanted || room < least)
		return -ERANGE;
	*ret_cpus = room < wanted ? room : wanted;
	return 0;
}

int state_add_lease(struct state *s, const struct state_lease *l, struct state_lease **ret_lease)
{
	struct state_lease *bigger, *lease;
	uint32_t cpus;
	int r;

	if (state_find_class(s, l->class_name) < 0 ||
	    (l->from_class_name[0] && state_find_class(s, l->from_class_name) < 0))
		return -ENOENT;
	if (s->nr_leases >= s->lease_max || s->nr_leases >= STATE_MAX_LEASES)
		return -ENOSPC;
	r = decide_cpus(s, l, &cpus);
	if (r < 0)
		return r;
	bigger = reallocarray(s->leases, s->nr_leases + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	s->leases = bigger;
	lease = &bigger[s->nr_leases];
	*lease = *l;
	lease->granted_cpus = cpus;
	if (!lease->id[0])
		state_make_id(s, lease->create_realtime_ns, lease->id);
	s->nr_leases++;
	s->lease_revision++;
	state_scale_guarantees(s);
	lease->limits_generation = s->limits_generation;
	if (ret_lease)
		*ret_lease = lease;
	return 0;
}

static void drop_lease(struct state *s, size_t index)
{
	memmove(&s->leases[index], &s->leases[index + 1], (s->nr_leases - index - 1) * sizeof(*s->leases));
	s->nr_leases--;
	s->lease_revision++;
}

void state_remove_lease(struct state *s, size_t index)
{
	drop_lease(s, index);
	state_scale_guarantees(s);
}

bool state_expire_leases(struct state *s, uint64_t boottime_ns, uint64_t *ret_next_boottime_ns)
{
	size_t before = s->nr_leases;
	uint64_t next = 0;

	for (size_t i = 0; i < s->nr_leases;) {
		uint64_t end = s->leases[i].expire_boottime_ns;

		if (end <= boottime_ns) {
			drop_lease(s, i);
			continue;
		}
		if (!next || end < next)
			next = end;
		i++;
	}
	if (ret_next_boottime_ns)
		*ret_next_boottime_ns = next;
	if (s->nr_leases == before)
		return false;
	state_scale_guarantees(s);
	return true;
}
