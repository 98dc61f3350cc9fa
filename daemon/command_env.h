/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_env.h - what command_run() may touch
 *
 * The model is changed directly; everything outside it (BPF, disk, mode) goes
 * through ops, so that a unit test runs commands against fakes.
 */
#ifndef SCHEDD_COMMAND_ENV_H
#define SCHEDD_COMMAND_ENV_H

#include "daemon/command.h"
#include "daemon/state.h"

struct command_ops {
	/* Opens a path beneath the mount; -errno as cgroup_open(). */
	int (*resolve_path)(void *ctx, const char *path, uint64_t *ret_id);
	/* Path of the cgroup of a process; -ESRCH. */
	int (*resolve_pid)(void *ctx, pid_t pid, int pidfd, uint64_t start_time_ticks, char *ret_path, size_t size);
	/* Number of processes in a cgroup, counting stops at 2; -errno. */
	int (*count_processes)(void *ctx, const char *path);
	/*
	 * After the model changed: writes the state file, tells BPF, recomputes the
	 * plan.  -errno means nothing of it may be acknowledged; the caller restores
	 * the model from its snapshot and calls it again.
	 */
	int (*commit)(void *ctx, char *error, size_t error_size); /* -EBUSY: error names the other scheduler */
	/* -EOPNOTSUPP: not supported; -EBUSY with text: another scheduler is loaded; 0: reached or on its way. */
	int (*set_mode)(void *ctx, enum schedd_mode mode, bool has_hold_for, uint64_t hold_for_ns,
			const struct command_caller *caller, char *error, size_t error_size);
	int (*reload_config)(void *ctx, struct reply *reply);
	void (*fill_config)(void *ctx, struct reply *reply);
	void (*fill_status)(void *ctx, struct reply *reply);
	void (*fill_plan)(void *ctx, bool full, struct reply *reply);
	/* held_cpus, owned_cpus and conditions of a class; may leave them empty. */
	void (*fill_class)(void *ctx, unsigned int class_idx, struct class_view *view, struct reply *reply);
	/* May CPUs be ordered now?  -EPERM: not in this mode; -EOPNOTSUPP: this machine cannot; text in error. */
	int (*can_lease)(void *ctx, char *error, size_t error_size);
	/* Looks how far the leases are, in the model. */
	void (*update_leases)(void *ctx);
	/* cpu_ids of a lease; may leave them empty. */
	void (*fill_lease)(void *ctx, const struct state_lease *lease, struct lease_view *view, struct reply *reply);
};

struct command_env {
	struct state *state;
	const struct command_ops *ops;
	void *ctx;
	uint64_t (*realtime_ns)(void *ctx);
	uint64_t (*boottime_ns)(void *ctx);
	struct events *events;            /* NULL: none are kept */
};

#endif
