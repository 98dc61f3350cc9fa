/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - what can be asked of the daemon, and what it answers
 *
 * The API decodes bytes into a struct command, the loop runs it, the API
 * encodes the struct reply.  A unit test calls command_run() with no socket.
 * Strings of a command belong to whoever built it and must outlive the call;
 * everything a reply points to lives in its arena.  Loop thread only.
 */
#ifndef SCHEDD_COMMAND_H
#define SCHEDD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/arena.h"
#include "daemon/class.h"
#include "daemon/command_event.h"

enum command_type {
	COMMAND_GET_STATUS,
	COMMAND_SET_MODE,
	COMMAND_RELOAD_CONFIG,
	COMMAND_GET_CONFIG,
	COMMAND_LIST_CLASSES,
	COMMAND_GET_CLASS,
	COMMAND_UPSERT_CLASS,
	COMMAND_REVERT_CLASS,
	COMMAND_DELETE_CLASS,
	COMMAND_SET_CLASS,
	COMMAND_UNSET_CLASS,
	COMMAND_LIST_ASSIGNMENTS,
	COMMAND_EXPLAIN_TARGET,
	COMMAND_LIST_CGROUPS,
	COMMAND_GET_PLAN,
	COMMAND_GRANT_CORES,
	COMMAND_REASSIGN_CORES,
	COMMAND_RENEW_LEASE,
	COMMAND_RELEASE_LEASE,
	COMMAND_LIST_LEASES,
	COMMAND_WATCH_EVENTS,
	NR_COMMANDS,
};

/* Numbers are gRPC's status codes, so that the API only copies them. */
enum command_status {
	COMMAND_OK = 0,
	COMMAND_INVALID_ARGUMENT = 3,
	COMMAND_DEADLINE_EXCEEDED = 4,
	COMMAND_NOT_FOUND = 5,
	COMMAND_ALREADY_EXISTS = 6,
	COMMAND_PERMISSION_DENIED = 7,
	COMMAND_RESOURCE_EXHAUSTED = 8,
	COMMAND_FAILED_PRECONDITION = 9,
	COMMAND_ABORTED = 10,
	COMMAND_OUT_OF_RANGE = 11,
	COMMAND_UNIMPLEMENTED = 12,
	COMMAND_INTERNAL = 13,
	COMMAND_UNAVAILABLE = 14,
};

enum command_role { ROLE_NONE = 0, ROLE_VIEW = 1, ROLE_ASSIGN = 2, ROLE_ADMIN = 3 };

/* Who asks: read once per connection by the API. */
struct command_caller {
	enum command_role role;
	uid_t uid;
	pid_t pid;
	char comm[64];            /* already escaped */
	int pidfd;                /* -1 when unknown; borrowed */
};

struct command_change {       /* proto Change */
	const char *request_id;   /* "" = not idempotent; else UUID text, already checked */
	bool has_expected_generation;
	uint64_t expected_config_generation;
	bool validate_only;
	const char *reason;       /* "" or at most 256 bytes of UTF-8 */
	uint64_t content_hash;    /* of the request without Change.request_id: same id with other content is refused */
};

enum command_target_type { TARGET_NONE, TARGET_PATH, TARGET_ID, TARGET_UNIT, TARGET_POD, TARGET_CONTAINER, TARGET_PID, TARGET_SELF };

struct command_target {
	enum command_target_type type;
	const char *path;         /* TARGET_PATH; TARGET_UNIT: unit; TARGET_CONTAINER: id */
	uint64_t cgroup_id;       /* TARGET_ID */
	pid_t pid;                /* TARGET_PID */
	uint64_t pid_start_time_ticks;
};

enum command_lifetime { LIFETIME_UNSET = 0, LIFETIME_CGROUP = 1, LIFETIME_RUNTIME = 2, LIFETIME_PERSISTENT = 3 };

enum schedd_mode { MODE_UNSET = 0, MODE_AUTO, MODE_ACTIVE, MODE_OBSERVE, MODE_PAUSED, MODE_DETACHED, NR_MODES };
const char *mode_name(enum schedd_mode mode);
int mode_parse(const char *s, enum schedd_mode *ret_mode); /* -EINVAL */

/* How long a call that orders CPUs waits; numbers of WaitFor, 0 = it does not ask. */
enum lease_wait { LEASE_WAIT_NONE = 0, LEASE_WAIT_ACCEPTED = 1, LEASE_WAIT_OWNED = 2, LEASE_WAIT_RUNNING = 3 };

struct command {
	enum command_type type;
	struct command_caller caller;
	struct command_change change;
	struct command_target target;
	const char *class_name;   /* canonical name or "" */
	struct class_settings settings;   /* UPSERT_CLASS: present fields */
	uint32_t update_fields;   /* UPSERT_CLASS: CLASS_FIELD_* of the mask, 0 = the present ones */
	const char *etag;
	const char *assignment_id;
	bool must_exist, must_not_exist, persistent;
	bool whole_subtree, accept_shared_cgroup, force_protected;
	enum command_lifetime lifetime;
	bool has_ttl;
	uint64_t ttl_ns;
	enum schedd_mode mode;
	bool has_hold_for;
	uint64_t hold_for_ns;
	uint32_t page_size;       /* 1..1000, defaulted by the API */
	const char *page_token;   /* "" = first page */
	bool full_view;           /* GET_PLAN */
	/* leases */
	const char *from_class_name;      /* REASSIGN_CORES: canonical name */
	const char *lease_id;
	uint32_t cpus, min_cpus;
	bool has_numa_node;
	uint32_t numa_node;
	enum lease_wait wait_for;
	bool allow_missing;
	uint64_t age_ns;          /* since the call arrived */
	struct command_watch watch;       /* WATCH_EVENTS */
};

/* ---------- views: what replies are made of ---------- */

struct condition_view {
	const char *type, *reason, *message;
	int status;               /* 1 true, 2 false, 3 unknown */
	uint64_t last_transition_realtime_ns;
};

enum class_origin { CLASS_ORIGIN_UNSET = 0, CLASS_ORIGIN_BUILTIN = 1, CLASS_ORIGIN_CONFIG = 2, CLASS_ORIGIN_API = 3 };

struct class_view {
	const char *name;
	struct class_settings settings;   /* every field present */
	uint32_t own_fields;              /* fields that somebody set, the others are defaults */
	uint32_t overridden_fields;       /* by a call over the config */
	enum class_origin origin;
	const char *etag;
	uint32_t member_cgroups;
	uint32_t effective_guarantee_cpus;
	uint32_t *owned_cpus, *held_cpus;
	size_t nr_owned_cpus, nr_held_cpus;
	struct condition_view *conditions;
	size_t nr_conditions;
};

struct reason_view {
	const char *source;       /* "call", "config", "inherited", "default" */
	const char *key, *value, *rule, *class_name;
	uint64_t at_cgroup_id;
};

struct decision_view {
	uint64_t cgroup_id;
	const char *cgroup_path;  /* raw; the API escapes control characters */
	const char *class_name;
	struct reason_view winner;
	struct reason_view *overridden;
	size_t nr_overridden;
	const char *capped_by;    /* "" or the ceiling */
};

struct assignment_view {
	const char *id;
	enum command_target_type target_type;
	const char *target_text;  /* path, unit, ... */
	uint64_t cgroup_id;       /* 0 = waiting for its target */
	const char *class_name;
	enum command_lifetime lifetime;
	int state;                /* 1 active, 2 waiting for target, 3 capped */
	uid_t actor_uid;
	pid_t actor_pid;
	const char *actor_comm;
	const char *reason;
	uint64_t create_realtime_ns, expire_realtime_ns; /* expire 0 = none */
	struct decision_view *affected;   /* first 100 */
	size_t nr_affected;
	uint32_t affected_total;
	uint64_t config_generation;
};

enum lease_state {                /* Lease.State */
	LEASE_UNSET = 0,
	LEASE_ACCEPTED = 1,
	LEASE_OWNED = 2,
	LEASE_RUNNING = 3,
	LEASE_PARTIAL = 4,
	LEASE_RELEASED = 5,
	LEASE_EXPIRED = 6,
};

struct lease_view {
	const char *id, *class_name;
	const char *from_class_name;      /* "" for a grant */
	uint32_t requested_cpus, granted_cpus;
	uint32_t *cpu_ids;
	size_t nr_cpu_ids;
	enum lease_state state;
	uid_t actor_uid;
	pid_t actor_pid;
	const char *actor_comm;
	const char *reason;
	uint64_t create_realtime_ns, expire_realtime_ns;
	bool was_owned, was_running;      /* whether the next two say something */
	uint64_t owned_after_ns, running_after_ns;
	uint64_t plan_generation, config_generation;
};

struct feature_view {
	const char *name, *detail;
	bool present;
};

struct status_view {
	const char *mode;         /* wanted: auto, active, ... */
	const char *state;        /* attached, observing, detached, held, degraded, unsupported, starting, stopping */
	const char *state_reason; /* one sentence */
	const char *hold_reason;  /* "" or SysRq, detached, ejections */
	uint64_t hold_until_realtime_ns;  /* 0 = no end */
	const char *epoch;        /* random per start */
	uint64_t config_generation, plan_generation;
	const char *version, *revision, *bpf_hash, *kernel;
	uint32_t online_cpus, managed_cgroups;
	uint32_t cpu_limits_unenforced_cgroups;
	uint64_t ejections;
	uint64_t attached_ns, detached_ns, uptime_ns;
	struct condition_view *conditions;
	size_t nr_conditions;
	struct feature_view *features;
	size_t nr_features;
	struct class_view *classes;       /* summary for `schedctl status` */
	size_t nr_classes;
	bool healthy, ready;
};

struct config_error_view {
	const char *file, *key, *value, *message; /* message says what is allowed */
	uint32_t line, column;
};

struct config_view {
	const char *yaml;         /* the effective configuration, one document */
	const char **files;       /* in order of reading */
	size_t nr_files;
	bool reload_accepted;
	struct config_error_view *errors;
	size_t nr_errors;
};

struct plan_class_view {
	const char *class_name;
	uint32_t guarantee_cpus, leased_cpus, owned_cpus, held_cpus, reachable_cpus;
};

struct plan_cpu_view {
	uint32_t cpu_id, core_id, llc_id, numa_node;
	const char *owner_class_name, *holder_class_name; /* "" = nobody, idle */
	int exclusion;            /* Plan.Exclusion: 1 none, 2 offline, 5 private to a cpuset, 6 isolated */
	const char *lease_id;     /* "" = none */
};

struct plan_view {
	const char *policy;
	uint64_t apply_realtime_ns;
	struct plan_class_view *classes;
	size_t nr_classes;
	struct plan_cpu_view *cpus;
	size_t nr_cpus;
};

struct detail_view {          /* google.rpc.BadRequest.FieldViolation, or a candidate */
	const char *field, *description;
};

/*
 * What an answer waits for: the order is done and stored, and the caller wants
 * to know when its CPUs are there.  command_resume() gives the answer.
 */
struct command_wait {
	enum lease_wait wait_for;         /* above LEASE_WAIT_ACCEPTED, else nothing is waited for */
	char lease_id[40];
};

struct reply {
	enum command_status status;
	const char *message;      /* what, where, why and what to do; "" when OK */
	const char *error_reason; /* ErrorInfo.reason: UPPER_SNAKE_CASE, closed list in command.c; "" when OK */
	struct detail_view *details;
	size_t nr_details;
	uint64_t config_generation;
	const char *next_page_token;      /* "" = last page */
	struct status_view node;          /* GET_STATUS, SET_MODE; GET_PLAN: epoch, mode, generations */
	struct config_view config;        /* GET_CONFIG, RELOAD_CONFIG */
	struct class_view *classes;       /* one for GET/UPSERT/REVERT */
	size_t nr_classes;
	struct assignment_view *assignments; /* one for SET/UNSET */
	size_t nr_assignments;
	struct decision_view *decisions;
	size_t nr_decisions;
	struct plan_view plan;
	struct lease_view *leases;        /* one for GRANT/REASSIGN/RENEW/RELEASE */
	size_t nr_leases;
	struct command_wait wait;         /* not to be answered yet */
	struct event_stream *stream;      /* WATCH_EVENTS: taken by whoever ran it, who frees it */
	struct arena arena;
};

/* Implemented by daemon/command.c; env is the daemon's (see command_env.h). */
struct command_env;
void command_run(struct command_env *env, const struct command *cmd, struct reply *reply);

/*
 * Whether a reply that waits can be given, which then is in *reply: the lease is
 * where it is waited for, has ended, or deadline_passed gives up on it.
 */
bool command_resume(struct command_env *env, const struct command_wait *wait, bool deadline_passed,
		    struct reply *reply);

/* The role a command needs: view for reads, assign for classes of cgroups, admin for the rest. */
enum command_role command_needs_role(enum command_type type);
const char *command_name(enum command_type type); /* the RPC's name */

/* Fills status, reason and message; returns reply->status.  Usable before command_run() too. */
enum command_status reply_fail(struct reply *reply, enum command_status status, const char *error_reason,
			       const char *format, ...) __attribute__((format(printf, 4, 5)));
void reply_free(struct reply *reply);

#endif
