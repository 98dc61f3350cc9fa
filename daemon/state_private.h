/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_private.h - what the files of the model call of each other */
#ifndef SCHEDD_STATE_PRIVATE_H
#define SCHEDD_STATE_PRIVATE_H

#include "daemon/state.h"

/* state_class.c */
void state_class_update(struct state_class *c, uint32_t nr_cpus); /* effective from default, config and override */
int state_class_check(const struct state_class *c, uint32_t nr_cpus, char *error, size_t error_size);
int state_class_find(const struct state_class *classes, const char *name);
int state_class_find_free(const struct state_class *classes);
bool state_class_is_used(const struct state *s, const char *name, const struct cgroup_rule *rules, size_t nr_rules,
			 char *error, size_t error_size);

/* Of n CPUs what may be given away: one is for the others, except where there is no other. */
static inline uint32_t state_leave_one(uint32_t nr_cpus)
{
	return nr_cpus > 1 ? nr_cpus - 1 : nr_cpus;
}

/* state_assign.c */
void state_make_id(struct state *s, uint64_t create_realtime_ns, char ret_id[STATE_ID_MAX + 1]);
int state_assignment_copy(const struct state_assignment *a, struct state_assignment *ret_copy);
void state_assignment_clear(struct state_assignment *a);

/* state_lease.c: leased_cpus and reassigned_cpus of every class */
void state_sum_leases(struct state *s);

/* state_classify.c */
void state_recount(struct state *s); /* decides and counts every node from nothing, tells nobody */

/* state.c */
void state_free_rules(struct cgroup_rule *rules, size_t nr_rules);

#endif
