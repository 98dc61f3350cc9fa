/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_reason.h - the closed list of ErrorInfo.reason values of commands
 *
 * Programs match on these, so an entry is never renamed; a new kind of failure
 * gets a new entry.  The codec may add its own for what never becomes a command.
 */
#ifndef SCHEDD_COMMAND_REASON_H
#define SCHEDD_COMMAND_REASON_H

#define COMMAND_REASONS(X)                                                                        \
	X(ROLE_MISSING, "the caller's role does not allow this call")                             \
	X(NOT_SUPPORTED_YET, "valid, but this version does not do it")                            \
	X(INVALID_VALUE, "a field is outside what is allowed")                                    \
	X(INVALID_NAME, "not a class name")                                                       \
	X(INVALID_PATH, "not an absolute path of one cgroup below the cgroup2 mount")             \
	X(INVALID_PAGE_TOKEN, "a page token that this call did not give")                         \
	X(TARGET_MISSING, "no target, or two of them")                                            \
	X(LIFETIME_NOT_ALLOWED, "this kind of target cannot have that lifetime")                  \
	X(KIND_IMMUTABLE, "the kind of a class cannot be changed")                                \
	X(REQUEST_ID_REUSED, "the request id was used with other content")                        \
	X(GENERATION_STALE, "expected_config_generation is not the present one")                  \
	X(ETAG_STALE, "the class was changed since the etag was read")                            \
	X(CLASS_NOT_FOUND, "no class of that name")                                               \
	X(CLASS_EXISTS, "must_not_exist, and there is such a class")                              \
	X(CLASS_IN_USE, "assignments, rules or leases name the class")                            \
	X(CLASS_BUILTIN, "a built-in class cannot be deleted")                                    \
	X(CLASS_FROM_CONFIG, "the class belongs to the configuration files")                      \
	X(CLASS_FROM_API, "the class was made by a call: there is no configuration to go back to") \
	X(TOO_MANY_CLASSES, "all class slots are in use")                                         \
	X(TOO_MANY_ASSIGNMENTS, "the table of assignments is full")                               \
	X(CGROUP_NOT_FOUND, "no such cgroup, or it vanished during the call")                     \
	X(PROCESS_NOT_FOUND, "no such process, or it ended during the call")                      \
	X(CALLER_UNKNOWN, "the connection does not name a process")                               \
	X(CGROUP_SHARED, "other processes are in the cgroup of that process")                     \
	X(CGROUP_PROTECTED, "the node depends on that cgroup: not best-effort without force")     \
	X(PROCESS_MOVED, "the process changed its cgroup during the call")                        \
	X(ASSIGNMENT_NOT_FOUND, "no such assignment")                                             \
	X(OTHER_SCHEDULER, "another sched_ext scheduler is loaded")                               \
	X(MODE_REFUSED, "the mode cannot be reached")                                             \
	X(CONFIG_UNREADABLE, "the configuration could not be read")                               \
	X(LEASE_NOT_FOUND, "no such lease, or it has ended")                                      \
	X(TOO_MANY_LEASES, "as many leases as leases.max allows")                                 \
	X(CPUS_TAKEN, "guarantees, leases and the floor leave fewer CPUs than asked for")         \
	X(MODE_GIVES_NO_CPUS, "in the mode in force no CPUs can be ordered")                      \
	X(WAIT_DEADLINE, "the deadline passed while the call waited; what it ordered is in force") \
	X(STATE_NOT_SAVED, "the change could not be stored or applied, and was undone")           \
	X(OUT_OF_MEMORY, "no memory for the change or its answer")                                \
	X(EVENTS_GONE, "the events after that sequence are not kept, or not yet there")           \
	X(TOO_MANY_WATCHERS, "all watches of events are in use")                                  \
	X(UNKNOWN_COMMAND, "no such call")

enum command_reason {
#define X(name, meaning) REASON_##name,
	COMMAND_REASONS(X)
#undef X
	NR_COMMAND_REASONS,
};

struct command_reason_info {
	const char *name, *meaning;
};
extern const struct command_reason_info command_reasons[NR_COMMAND_REASONS];

/* For reply_fail(): a reason outside the list does not compile. */
#define REASON(reason) (command_reasons[REASON_##reason].name)

#endif
