/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_target.c - what a call names -> a cgroup in the tree, a class in its slot */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/str.h"
#include "daemon/command_private.h"

static enum command_status fail_not_found(struct call *c, const char *path)
{
	return reply_fail(c->reply, COMMAND_NOT_FOUND, REASON(CGROUP_NOT_FOUND),
			  "no cgroup %s below the cgroup2 mount; `schedctl cgroup list` shows them",
			  reply_shown(c->reply, path));
}

enum command_status call_fail_path(struct call *c, int r, const char *path)
{
	const char *shown = reply_shown(c->reply, path);

	switch (r) {
	case -ENOENT:
	case -ENODEV: /* removed while it was read */
	case -ENOTDIR:
	case -ESTALE:
		return fail_not_found(c, path);
	case -EINVAL:
	case -ENAMETOOLONG:
	case -ELOOP:
	case -EXDEV:
	case -EMEDIUMTYPE:
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_PATH),
				  "`%s' is not the path of a cgroup: it starts with \"/\" at the cgroup2 mount and has no \"..\", "
				  "no trailing \"/\", no symbolic link and at most 255 bytes between two \"/\"", shown);
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
		return reply_no_memory(c->reply);
	default:
		return reply_fail(c->reply, COMMAND_UNAVAILABLE, REASON(CGROUP_NOT_FOUND), "cannot open cgroup %s: %s", shown,
				  strerrordesc_np(-r) ?: "unknown error");
	}
}

/* The last look before the model is changed: what vanished until now is not found. */
static enum command_status take_path(struct call *c, const char *path)
{
	uint64_t id;
	int r = c->env->ops->resolve_path(c->env->ctx, path, &id);

	if (r < 0)
		return call_fail_path(c, r, path);
	c->node = cgroup_tree_find_id(c->env->state->tree, id);
	if (!c->node)
		return fail_not_found(c, path);
	c->path = arena_strdup(&c->reply->arena, path);
	return c->path ? COMMAND_OK : reply_no_memory(c->reply);
}

static enum command_status resolve_path(struct call *c)
{
	const char *path = c->cmd->target.path ?: "";

	/* The kernel would take some of them; in what people type they are a mistake or an attack on a terminal. */
	if (str_has_control(path) || !str_is_utf8(path))
		return call_fail_path(c, -EINVAL, path);
	return take_path(c, path);
}

static enum command_status resolve_id(struct call *c)
{
	uint64_t id = c->cmd->target.cgroup_id;
	struct cgroup_node *node = cgroup_tree_find_id(c->env->state->tree, id);
	char path[PATH_MAX];
	enum command_status status;

	if (node && cgroup_node_path(node, path, sizeof(path)) == 0) {
		status = take_path(c, path);
		if (status != COMMAND_NOT_FOUND && (status != COMMAND_OK || c->node->id == id))
			return status;
	}
	return reply_fail(c->reply, COMMAND_NOT_FOUND, REASON(CGROUP_NOT_FOUND),
			  "no cgroup with id %" PRIu64 "; `schedctl cgroup list` shows them", id);
}

static enum command_status fail_process(struct call *c, int r, pid_t pid)
{
	if (r == -ESRCH)
		return reply_fail(c->reply, COMMAND_NOT_FOUND, REASON(PROCESS_NOT_FOUND),
				  "no process %d, or it is not the one that was meant: the number was given again", (int)pid);
	if (r == -EXDEV || r == -ENXIO)
		return reply_fail(c->reply, COMMAND_FAILED_PRECONDITION, REASON(CGROUP_NOT_FOUND),
				  "process %d is in no cgroup below schedd's cgroup2 mount", (int)pid);
	return reply_fail(c->reply, COMMAND_UNAVAILABLE, REASON(PROCESS_NOT_FOUND), "cannot read the cgroup of process %d: %s",
			  (int)pid, strerrordesc_np(-r) ?: "unknown error");
}

static enum command_status resolve_process(struct call *c, pid_t pid, int pidfd, uint64_t start_time_ticks)
{
	char path[PATH_MAX];
	int r = c->env->ops->resolve_pid(c->env->ctx, pid, pidfd, start_time_ticks, path, sizeof(path));

	return r < 0 ? fail_process(c, r, pid) : take_path(c, path);
}

static enum command_status resolve_pid(struct call *c)
{
	const struct command_target *t = &c->cmd->target;

	if (t->pid <= 0)
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE),
				  "%d is not the number of a process", (int)t->pid);
	return resolve_process(c, t->pid, -1, t->pid_start_time_ticks);
}

static enum command_status resolve_self(struct call *c)
{
	const struct command_caller *caller = &c->cmd->caller;

	if (caller->pid <= 0)
		return reply_fail(c->reply, COMMAND_FAILED_PRECONDITION, REASON(CALLER_UNKNOWN),
				  "this connection does not say which process calls (only the unix socket does, within one pid "
				  "namespace); name the cgroup by its path");
	return resolve_process(c, caller->pid, caller->pidfd, 0);
}

static enum command_status fail_unsupported(struct call *c, const char *kind)
{
	return reply_fail(c->reply, COMMAND_UNIMPLEMENTED, REASON(NOT_SUPPORTED_YET),
			  "%s targets are not supported yet by this version; name the cgroup by its path "
			  "(`schedctl cgroup list` shows them)", kind);
}

enum command_status call_resolve_target(struct call *c)
{
	switch (c->cmd->target.type) {
	case TARGET_PATH:
		return resolve_path(c);
	case TARGET_ID:
		return resolve_id(c);
	case TARGET_PID:
		return resolve_pid(c);
	case TARGET_SELF:
		return resolve_self(c);
	case TARGET_UNIT:
		return fail_unsupported(c, "unit");
	case TARGET_POD:
		return fail_unsupported(c, "pod");
	case TARGET_CONTAINER:
		return fail_unsupported(c, "container");
	case TARGET_NONE:
		break;
	}
	return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(TARGET_MISSING),
			  "%s needs a target: a cgroup path, a cgroup id, a process or the caller itself",
			  command_name(c->cmd->type));
}

enum command_status call_find_class(struct call *c, int *ret_slot)
{
	const struct state *s = c->env->state;
	int slot = state_find_class(s, c->class_name);
	char names[SCHEDD_MAX_CLASSES * (CLASS_NAME_MAX + 3)] = "";
	size_t n = 0;

	if (slot >= 0) {
		*ret_slot = slot;
		return COMMAND_OK;
	}
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (s->classes[i].used)
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", s->classes[i].name);
	return reply_fail(c->reply, COMMAND_NOT_FOUND, REASON(CLASS_NOT_FOUND), "no class `%s'; there are: %s",
			  reply_shown(c->reply, c->class_name), names);
}
