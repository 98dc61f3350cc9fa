/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lease.h - which CPUs of a plan are whose by lease, and how far each lease is.  Pure. */
#ifndef SCHEDD_LEASE_H
#define SCHEDD_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/state.h"
#include "daemon/topo.h"

/* The owners of a plan. */
struct lease_owners {
	const uint8_t *owner;      /* [nr_cpus] class index + 1, 0 = nobody */
	uint32_t nr_cpus;
	const struct topo *topo;   /* for numa_node; NULL: not looked at */
};

/*
 * For each CPU the index of its lease in s->leases + 1, 0 = none.  A lease has
 * CPUs that its class owns beyond its own guarantee: those of its NUMA node
 * first, then by rising number, older leases before younger ones.
 */
void lease_split(const struct state *s, const struct lease_owners *plan, uint16_t ret_lease[SCHEDD_MAX_CPUS]);

/* The CPUs of one lease, rising; returns how many.  ret_cpus has room for SCHEDD_MAX_CPUS. */
uint32_t lease_cpus(const struct state *s, const struct lease_owners *plan, const struct state_lease *lease,
		    uint32_t *ret_cpus);

enum { LEASE_HOLDER_OTHER = UINT8_MAX }; /* neither idle nor a task of a class */

/* What is in force, and what CPUs do. */
struct lease_input {
	struct lease_owners plan;  /* in force; nr_cpus 0 = none: not attached */
	uint64_t plan_generation;
	/* Of the limits that the last plan was made from, whether it changed an owner or not. */
	uint64_t limits_generation;
	const uint8_t *holder;     /* [plan.nr_cpus] class index + 1, 0 = idle, or LEASE_HOLDER_OTHER */
	const uint32_t *waiting;   /* [SCHEDD_MAX_CLASSES] tasks of the class that wait */
	uint64_t boottime_ns;
};

/* Writes how far each lease is into the model; true when something changed. */
bool lease_progress(struct state *s, const struct lease_input *in);

/* Whether lease_progress() would look at holder and waiting: they cost something to read. */
bool lease_wants_holders(const struct state *s);

/* How far it is; never RELEASED or EXPIRED: those are gone. */
enum lease_state lease_state_of(const struct state_lease *lease);

/* Whether the lease is where a call that waits wants it. */
bool lease_is_there(const struct state_lease *lease, enum lease_wait wait_for);

#endif
