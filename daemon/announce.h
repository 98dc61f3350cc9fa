/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announce.h - the model -> events, by comparing it with what was announced
 *
 * Asked after a change is in force, so a change that was undone differs from
 * nothing and is never announced.  Pure; loop thread only.
 */
#ifndef SCHEDD_ANNOUNCE_H
#define SCHEDD_ANNOUNCE_H

#include "daemon/events.h"
#include "daemon/state.h"

struct announce {
	struct {
		bool used;
		char name[CLASS_NAME_MAX + 1];
		uint64_t revision;
	} classes[SCHEDD_MAX_CLASSES];
	bool decisions_differ;
	/* Leases as announced, in the order in which they were made. */
	struct announced_lease {
		char class_name[CLASS_NAME_MAX + 1], from_class_name[CLASS_NAME_MAX + 1];
		struct event_lease lease;
	} *leases;
	size_t nr_leases;
	uint64_t lease_revision;
};

void announce_free(struct announce *a);

/* Everything counts as announced: after the first scan, which is no change. */
void announce_reset(struct announce *a, struct state *s);

/* The class of a cgroup may differ from what was announced: cheap, for state_classify()'s callback. */
void announce_note(struct announce *a, const struct cgroup_node *node);

/*
 * Leases that came, went or got further; without memory they are announced the next time.  One that is gone was
 * released when a call is the cause, else its time was over.
 */
void announce_leases(struct announce *a, const struct state *s, struct events *ev, const struct event_cause *cause,
		     uint64_t realtime_ns, uint64_t boottime_ns);
void announce_fill_lease(const struct state_lease *l, uint64_t realtime_ns, uint64_t boottime_ns, struct event *ret_event);

/* Classes, and the decisions about all cgroups. */
void announce_changes(struct announce *a, struct state *s, struct events *ev, const struct event_cause *cause,
		      uint64_t realtime_ns);

/* Only the decisions about node and what is below it; one that has its parent's class when it comes is no news. */
void announce_cgroup(struct announce *a, struct state *s, struct cgroup_node *node, struct events *ev,
		     const struct event_cause *cause, uint64_t realtime_ns);

/* A class and an assignment as events that are in no ring: for a reader that begins with the state. */
void announce_fill_class(const struct state *s, const struct state_class *c, struct event *ret_event);
void announce_fill_assignment(const struct state *s, const struct state_assignment *a, struct event *ret_event);

#endif
