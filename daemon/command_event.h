/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_event.h - what an event is, and what WatchEvents asks for
 *
 * Plain values without pointers to what may change: an event says for ever what
 * was the case when it happened.  Texts may hold anything; the API escapes them.
 */
#ifndef SCHEDD_COMMAND_EVENT_H
#define SCHEDD_COMMAND_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/class.h"

/* Numbers are those of Event.Type in scheduler.proto. */
enum event_type {
	EVENT_NONE = 0,
	EVENT_BOOKMARK = 1,
	EVENT_INITIAL_STATE_END = 2,
	EVENT_DROPPED = 3,
	EVENT_CLASS_CHANGED = 4,
	EVENT_CLASS_DELETED = 5,
	EVENT_DECISION_CHANGED = 6,
	EVENT_DECISION_DENIED = 7,
	EVENT_LEASE_CHANGED = 8,
	EVENT_REALLOCATION = 9,
	EVENT_CONGESTION = 10,
	EVENT_STATE_CHANGED = 11,
	EVENT_CONFIG_CHANGED = 12,
	EVENT_PREEMPTION = 13,
	NR_EVENT_TYPES,
};

enum {
	EVENT_READERS_MAX = 64,    /* watches at a time */
	EVENT_CLASSES_MAX = 16,    /* names in one filter */
	EVENT_TEXT_MAX = 255,      /* bytes of a path or message; longer ones end with "..." */
	EVENT_ID_MAX = 36,         /* request and assignment ids */
};

enum event_source {
	EVENT_FROM_SCHEDD,         /* itself: time has passed, a cgroup came */
	EVENT_FROM_API,
	EVENT_FROM_CONFIG,
	EVENT_FROM_ALLOCATOR,
	EVENT_FROM_KERNEL,
	NR_EVENT_SOURCES,
};

/* Who or what made it happen. */
struct event_cause {
	enum event_source source;
	uid_t uid;                 /* API: these and the request */
	pid_t pid;
	char comm[64];             /* already escaped */
	char request_id[EVENT_ID_MAX + 1];
};

struct event_class {
	struct class_settings settings;
	uint32_t own_fields, overridden_fields; /* CLASS_FIELD_* */
	uint32_t origin;           /* enum class_origin */
	uint32_t member_cgroups, effective_guarantee_cpus;
	uint64_t config_generation;
	char etag[32];
};

struct event_decision {
	uint64_t cgroup_id;        /* 0: an assignment that waits for its target */
	const char *source;        /* a constant: "call", "config", "inherited", "default" */
	char assignment_id[EVENT_ID_MAX + 1];   /* "" = not known */
	char path[EVENT_TEXT_MAX + 1];
};

struct event_lease {
	char id[EVENT_ID_MAX + 1];
	uint32_t state;            /* enum lease_state; RELEASED and EXPIRED are said here only */
	uint32_t requested_cpus, granted_cpus;
	uint64_t plan_generation, config_generation;
	uint64_t create_realtime_ns, expire_realtime_ns;
};

struct event_reallocation {
	uint32_t cpu;
	const char *trigger;       /* a constant */
	uint64_t took_ns;
	uint64_t plan_generation;
};

struct event_congestion {
	uint32_t llc;
	bool began;
	uint64_t oldest_wait_ns;
};

struct event_state {
	const char *from, *to;     /* constants */
	const char *exit_kind;     /* a constant, "" = the kernel did not remove us */
	char message[EVENT_TEXT_MAX + 1];
};

struct event_dropped {
	uint64_t first_sequence, last_sequence;
};

struct event_config {
	bool accepted;
	uint64_t config_generation;
	char error[EVENT_TEXT_MAX + 1];
};

struct event {
	const char *epoch;         /* lives as long as the daemon */
	uint64_t sequence;
	uint64_t realtime_ns;      /* 0 = not known */
	enum event_type type;
	struct event_cause cause;
	char class_name[CLASS_NAME_MAX + 1];      /* the class it is about, "" = none */
	char from_class_name[CLASS_NAME_MAX + 1]; /* the one before, "" = none */
	union {
		struct event_class class;
		struct event_decision decision;
		struct event_lease lease;
		struct event_reallocation reallocation;
		struct event_congestion congestion;
		struct event_state state;
		struct event_dropped dropped;
		struct event_config config;
	};
};

/* What a reader wants to see; all zero = the default. */
struct event_filter {
	uint32_t types;            /* 1 << enum event_type; 0 = all but PREEMPTION */
	char class_names[EVENT_CLASSES_MAX][CLASS_NAME_MAX + 1];
	size_t nr_class_names;     /* 0 = all, and what is about no class */
};

/* WatchEvents. */
struct command_watch {
	struct event_filter filter;
	const char *epoch;         /* "" = none given */
	bool has_after;            /* without an epoch it is 0: all that is kept */
	uint64_t after_sequence;
	bool initial_state;        /* excludes has_after */
	uint64_t bookmark_ns;      /* longest silence */
};

/* One watch that runs: event_stream.h. */
struct event_stream;

#endif
