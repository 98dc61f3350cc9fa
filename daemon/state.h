/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - the model: classes, rules, assignments, leases and the class of every cgroup
 *
 * No I/O and no clock.  Every function that fails leaves the model as it was.
 * Owned by the loop.
 */
#ifndef SCHEDD_STATE_H
#define SCHEDD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup/rules.h"
#include "cgroup/tree.h"
#include "daemon/command.h"

enum {
	STATE_MAX_ASSIGNMENTS = 4096,
	STATE_MAX_REQUESTS = 1024,        /* remembered request ids */
	STATE_REQUEST_KEEP_S = 600,
	STATE_ID_MAX = 36,
	STATE_MAX_LEASES = 1024,
	STATE_REASON_MAX = 256,
	STATE_LEASE_TTL_MAX_S = 24 * 3600,
};

struct state_class {
	bool used;
	char name[CLASS_NAME_MAX + 1];
	enum class_origin origin;
	bool persistent;                  /* API classes and overrides: kept over a reboot */
	struct class_settings config;     /* from builtin defaults and files */
	struct class_settings override;   /* from calls */
	struct class_settings effective;  /* default + config + override; every field present */
	/* By state_scale_guarantees(), leases counted in: */
	uint32_t asked_guarantee_cpus;    /* before scaling */
	uint32_t effective_guarantee_cpus; /* after scaling */
	uint32_t effective_burst_cpus;
	uint32_t leased_cpus;             /* what leases give the class */
	uint32_t reassigned_cpus;         /* what leases take from it */
	uint64_t revision;                /* etag */
	uint32_t member_cgroups;
};

struct state_assignment {
	char id[STATE_ID_MAX + 1];
	enum command_target_type target_type;
	char *target_text;                /* the path for path, id, pid and self */
	uint64_t cgroup_id;               /* 0 = waiting for its target */
	char class_name[CLASS_NAME_MAX + 1];
	enum command_lifetime lifetime;
	bool whole_subtree;
	bool force_protected;             /* with whole_subtree: protected cgroups below may become best-effort too */
	uid_t actor_uid;
	pid_t actor_pid;
	char actor_comm[64];
	char *reason;
	uint64_t create_realtime_ns;
	uint64_t expire_boottime_ns;      /* 0 = none; CLOCK_BOOTTIME, so that suspend counts */
	uint64_t config_generation;
};

/* CPUs ordered for a class on top of its guarantee, until an end that a dead caller cannot put off. */
struct state_lease {
	char id[STATE_ID_MAX + 1];
	char class_name[CLASS_NAME_MAX + 1];
	char from_class_name[CLASS_NAME_MAX + 1]; /* out of which class; "" = out of what is free */
	uint32_t requested_cpus, min_cpus; /* min_cpus 0 = all or nothing */
	uint32_t granted_cpus;
	bool has_numa_node;               /* preferred, not promised */
	uint32_t numa_node;
	uid_t actor_uid;
	pid_t actor_pid;
	char actor_comm[64];
	char reason[STATE_REASON_MAX + 1];
	uint64_t create_realtime_ns;
	uint64_t arrive_boottime_ns;      /* the request, from which waiting is measured */
	uint64_t expire_boottime_ns;      /* never 0 */
	uint64_t config_generation;
	/* How far it is; written by lease_progress(), not stored: */
	uint64_t limits_generation;       /* the first limits that count it */
	bool is_owned, is_running;        /* now; a CPU that once ran the class counts while the class owns it */
	bool was_owned, was_running;      /* once, after so long: */
	uint64_t owned_after_ns, running_after_ns;
	uint64_t plan_generation;         /* of the plan in which it was owned */
	uint64_t ran[SCHEDD_MAX_CPUS / 64]; /* CPUs that ran the class, or were free for it, since it owned them */
};

struct state_request {                    /* a change that was done, for retries */
	char request_id[STATE_ID_MAX + 1];
	uid_t uid;
	enum command_type type;
	uint64_t content_hash;
	uint64_t expire_boottime_ns;
	char result_id[STATE_ID_MAX + 1]; /* id of an assignment or lease, or class name */
};

struct state {
	struct state_class classes[SCHEDD_MAX_CLASSES];
	struct state_assignment *assignments;
	size_t nr_assignments;
	struct state_request *requests;
	size_t nr_requests;
	struct cgroup_rule *rules;
	size_t nr_rules;
	struct state_lease *leases;       /* oldest first */
	size_t nr_leases;
	uint32_t lease_max;               /* leases.max and leases.max_ttl of the configuration */
	uint64_t lease_ttl_max_ns;
	struct cgroup_tree *tree;
	uint32_t nr_cpus;                 /* online */
	uint32_t nr_numa_nodes;
	uint64_t own_cgroup_id;           /* the daemon's cgroup, protected like sshd's; 0 = unknown */
	uint64_t config_generation;
	uint64_t next_id;
	bool guarantees_scaled;           /* condition GuaranteesMet */
	/* Both only rise, whatever is undone: */
	uint64_t limits_generation;       /* moves with the effective guarantees and bursts */
	uint64_t lease_revision;          /* moves when a lease comes, goes or gets further */
};

int state_new(uint32_t nr_cpus, struct state **ret_state); /* the three built-in classes, an empty tree */
void state_free(struct state *s);

/* Deep copy of all but the tree (classes, assignments, leases, requests, rules, counters): undo for commands. */
struct state *state_snapshot(const struct state *s);
void state_restore(struct state *s, struct state *snapshot); /* takes and frees the snapshot; recounts members */

int state_find_class(const struct state *s, const char *name); /* slot or -ENOENT */
void state_class_etag(const struct state_class *c, char *ret_etag, size_t size); /* 26 bytes are enough */

/*
 * Classes of the configuration, whole: unknown ones of origin config that
 * vanished are dropped unless an assignment or rule needs them (-EBUSY, name in error).
 * A class of a call that the files now name keeps the call's settings as overrides.
 * -EEXIST: twice, or another kind than a call made; -EINVAL, -ERANGE:
 * settings or a glob; -ENOENT: a rule names no class; -ENOSPC: 17th class.
 */
struct state_config_class {
	char name[CLASS_NAME_MAX + 1];
	struct class_settings settings;
	char *origin;                     /* "file:line" */
};
int state_set_config(struct state *s, const struct state_config_class *classes, size_t nr_classes,
		     struct cgroup_rule *rules, size_t nr_rules, /* taken on success */
		     char *error, size_t error_size);

/*
 * -EINVAL, -ERANGE, -ENOENT, -ENOSPC (17th), -EBUSY (in use), -EPERM (not
 * that kind of class: built in, of the files, of a call); text in error.  fields: 0 =
 * those that are present; a field that is in `fields` but not present goes back to
 * what the files or the defaults say.
 */
int state_upsert_class(struct state *s, const char *name, const struct class_settings *settings, uint32_t fields,
		       bool persistent, int *ret_slot, char *error, size_t error_size);
int state_revert_class(struct state *s, const char *name, char *error, size_t error_size);
int state_delete_class(struct state *s, const char *name, char *error, size_t error_size);

/*
 * Adds, or replaces the one with the same target; `a` is copied deeply.  An empty id gets
 * a new one.  -ENOSPC: full; -ENOENT: no such class; -EINVAL: no target.
 */
int state_set_assignment(struct state *s, const struct state_assignment *a, struct state_assignment **ret_assignment);
void state_remove_assignment(struct state *s, size_t index);
struct state_assignment *state_find_assignment(struct state *s, const char *id);
/* By cgroup when both have one, else by text; path, id, pid and self all mean a cgroup path. */
struct state_assignment *state_find_assignment_for(struct state *s, enum command_target_type type, const char *text,
						   uint64_t cgroup_id);
/* Ends what expired, leases too; true when something changed.  *ret_next is the next end, 0 = none. */
bool state_expire(struct state *s, uint64_t boottime_ns, uint64_t *ret_next_boottime_ns);

/*
 * Leases.  A class cannot be given more than what explicit guarantees, leases and
 * one CPU for all others leave; a class that CPUs are taken from gives what it is
 * guaranteed by explicit order, besides what is free, and keeps a burst of one.
 */
uint32_t state_lease_room(const struct state *s, const char *from_class_name); /* "" = from nobody */
/* What counts before defaults: an explicit guarantee, less what is taken from it, and leases. */
uint32_t state_ordered_cpus(const struct state_class *c);
/*
 * Copies `l`.  An empty id gets a new one; granted_cpus 0 is decided: what there is
 * room for.  -ENOENT: no such class; -ENOSPC: lease_max; -ERANGE: less room than min_cpus.
 */
int state_add_lease(struct state *s, const struct state_lease *l, struct state_lease **ret_lease);
void state_remove_lease(struct state *s, size_t index);
struct state_lease *state_find_lease(struct state *s, const char *id);
/* Those that ended by themselves; true when there were some.  *ret_next as above, may be NULL. */
bool state_expire_leases(struct state *s, uint64_t boottime_ns, uint64_t *ret_next_boottime_ns);

/* Changes that were done, for retries; one that is too old is not found, the oldest makes room. */
const struct state_request *state_find_request(const struct state *s, const char *request_id, uid_t uid,
					       enum command_type type, uint64_t boottime_ns);
int state_add_request(struct state *s, const struct state_request *request, uint64_t boottime_ns);

/*
 * A cgroup vanished (still in the tree, or never was): assignments of
 * LIFETIME_CGROUP end, others wait; true when assignments changed.
 */
bool state_cgroup_removed(struct state *s, uint64_t cgroup_id);
/* A cgroup came: waiting assignments of that path are bound to it; true when some were. */
bool state_cgroup_added(struct state *s, struct cgroup_node *node);

/*
 * Decides the class of node and all below it from scratch: a call for this
 * cgroup, the nearest call above when that is for a whole subtree, the last
 * config rule that matches, the parent's class; the root is normal.  A protected
 * cgroup is best-effort only by force.  Calls changed() (may be NULL) for each
 * node whose class_idx differs from applied_class_idx or that was never applied.
 * Counts members.  The parent of node must be decided already.
 */
void state_classify(struct state *s, struct cgroup_node *node,
		    void (*changed)(void *ctx, struct cgroup_node *node), void *ctx);

/* Cgroups from top down that have their class by that call, target or heirs: how many; the first max of them. */
size_t state_list_decided(const struct state *s, const struct state_assignment *a, struct cgroup_node *top,
			  struct cgroup_node **ret_nodes, size_t max);
/* "call", "config", "inherited" or "default": who decided the class of a cgroup, as state_explain() names it. */
const char *state_source_name(const struct cgroup_node *node);
/* What depends on that cgroup, NULL when it is not protected. */
const char *state_protected(const struct state *s, const char *path, uint64_t cgroup_id);

/* Who decided, who was overridden; strings live in the arena (or are constant), never NULL. */
void state_explain(const struct state *s, const struct cgroup_node *node, struct arena *arena,
		   struct decision_view *ret_decision);

/*
 * Limits of every class from its settings and the leases: a lease raises the
 * guarantee and never meets the burst; of the class that it takes from both are
 * lower.  Scaled to the CPUs there are, defaults first.
 */
void state_scale_guarantees(struct state *s);

/* True when a cgroup is in a class other than normal by anything but a default, or a lease exists: auto mode attaches. */
bool state_wants_scheduler(const struct state *s);

#endif
