/* SPDX-License-Identifier: GPL-2.0-or-later */
/* announce_lease.c - what became of leases since they were announced, as events */
#include <stdlib.h>
#include <string.h>

#include "daemon/announce.h"
#include "daemon/lease.h"

void announce_fill_lease(const struct state_lease *l, uint64_t realtime_ns, uint64_t boottime_ns, struct event *ret_event)
{
	ret_event->type = EVENT_LEASE_CHANGED;
	memcpy(ret_event->class_name, l->class_name, sizeof(ret_event->class_name));
	memcpy(ret_event->from_class_name, l->from_class_name, sizeof(ret_event->from_class_name));
	ret_event->lease = (struct event_lease){
		.state = lease_state_of(l),
		.requested_cpus = l->requested_cpus,
		.granted_cpus = l->granted_cpus,
		.plan_generation = l->plan_generation,
		.config_generation = l->config_generation,
		.create_realtime_ns = l->create_realtime_ns,
		/* In whole milliseconds: the two clocks are not read at once, and that is no change of the lease. */
		.expire_realtime_ns = (realtime_ns + (l->expire_boottime_ns - boottime_ns)) / 1000000 * 1000000,
	};
	memcpy(ret_event->lease.id, l->id, sizeof(ret_event->lease.id));
}

/* What it is about and how far it is: not the dates, which shift with the clock. */
static bool is_same(const struct announced_lease *was, const struct state_lease *l)
{
	return was->lease.state == lease_state_of(l) && was->lease.granted_cpus == l->granted_cpus &&
	       was->lease.config_generation == l->config_generation;
}

static void remember(const struct event *e, struct announced_lease *ret)
{
	memcpy(ret->class_name, e->class_name, sizeof(ret->class_name));
	memcpy(ret->from_class_name, e->from_class_name, sizeof(ret->from_class_name));
	ret->lease = e->lease;
}

static void announce_end(const struct announced_lease *was, struct events *ev, struct event *e)
{
	e->type = EVENT_LEASE_CHANGED;
	memcpy(e->class_name, was->class_name, sizeof(e->class_name));
	memcpy(e->from_class_name, was->from_class_name, sizeof(e->from_class_name));
	e->lease = was->lease;
	e->lease.state = e->cause.source == EVENT_FROM_API ? LEASE_RELEASED : LEASE_EXPIRED;
	events_append(ev, e);
}

/* Leases are added at the end and never change places, so both lists are walked once. */
void announce_leases(struct announce *a, const struct state *s, struct events *ev, const struct event_cause *cause,
		     uint64_t realtime_ns, uint64_t boottime_ns)
{
	struct event e = { .cause = *cause, .realtime_ns = realtime_ns };
	struct announced_lease *now;
	size_t old = 0;

	if (a->lease_revision == s->lease_revision)
		return;
	now = calloc(s->nr_leases + 1, sizeof(*now));
	if (!now)
		return;
	for (size_t i = 0; i < s->nr_leases; i++) {
		const struct state_lease *l = &s->leases[i];
		bool known;

		while (old < a->nr_leases && a->leases[old].lease.create_realtime_ns <= l->create_realtime_ns &&
		       strcmp(a->leases[old].lease.id, l->id) != 0)
			announce_end(&a->leases[old++], ev, &e);
		known = old < a->nr_leases && strcmp(a->leases[old].lease.id, l->id) == 0;
		announce_fill_lease(l, realtime_ns, boottime_ns, &e);
		remember(&e, &now[i]);
		if (!known || !is_same(&a->leases[old], l))
			events_append(ev, &e);
		old += known;
	}
	while (old < a->nr_leases)
		announce_end(&a->leases[old++], ev, &e);
	announce_free(a);
	a->leases = now;
	a->nr_leases = s->nr_leases;
	a->lease_revision = s->lease_revision;
}

void announce_free(struct announce *a)
{
	free(a->leases);
	a->leases = NULL;
	a->nr_leases = 0;
}
