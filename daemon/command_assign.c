/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_assign.c - a cgroup put into a class, taken back, and who was put where */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/str.h"
#include "daemon/command_private.h"

enum { AFFECTED_MAX = 100 };

/* ---------- checks of SetClass ---------- */

static enum command_status fail_lifetime(struct call *c, const char *why)
{
	reply_add_detail(c->reply, "lifetime", why);
	return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(LIFETIME_NOT_ALLOWED), "%s", why);
}

/* The path of a unit or slice, which comes back under the same name after a boot. */
static bool names_a_unit(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (strcmp(dot, ".service") == 0 || strcmp(dot, ".slice") == 0);
}

static enum command_status check_lifetime(struct call *c)
{
	const struct command *cmd = c->cmd;

	if (cmd->lifetime != LIFETIME_RUNTIME && cmd->lifetime != LIFETIME_PERSISTENT)
		return COMMAND_OK;
	if (cmd->target.type != TARGET_PATH)
		return fail_lifetime(c, "an assignment to an id or a process ends with its cgroup; name the cgroup by its path "
				     "to have it applied again");
	if (cmd->lifetime == LIFETIME_PERSISTENT && !names_a_unit(c->path))
		return fail_lifetime(c, "only services and slices (paths that end in .service or .slice) can be assigned "
				     "over reboots");
	return COMMAND_OK;
}

static enum command_status check_ttl(struct call *c)
{
	const struct command *cmd = c->cmd;

	if (!cmd->has_ttl || (cmd->ttl_ns && cmd->ttl_ns <= INT64_MAX))
		return COMMAND_OK;
	reply_add_detail(c->reply, "ttl", "more than 0 and at most 292 years");
	return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE),
			  "ttl must be more than 0; leave it out for an assignment without end");
}

static enum command_status check_protected(struct call *c, int slot)
{
	const struct state *s = c->env->state;
	const char *why = state_protected(s, c->path, c->node->id);

	if (!why || c->cmd->force_protected || s->classes[slot].effective.kind != SCHEDD_KIND_BEST_EFFORT)
		return COMMAND_OK;
	return reply_fail(c->reply, COMMAND_FAILED_PRECONDITION, REASON(CGROUP_PROTECTED),
			  "%s is protected: %s would be of kind best-effort and could become unreachable under load; "
			  "--force (force_protected) does it all the same", reply_shown(c->reply, c->path), why);
}

static enum command_status check_moved(struct call *c, const char *path)
{
	if (strcmp(path, c->path) == 0)
		return COMMAND_OK;
	return reply_fail(c->reply, COMMAND_ABORTED, REASON(PROCESS_MOVED),
			  "the process moved from %s to %s during the call; try again", reply_shown(c->reply, path),
			  reply_shown(c->reply, c->path));
}

/* A process stands for its whole cgroup, and who names one may not know what else is in it. */
static enum command_status check_shared(struct call *c)
{
	enum command_target_type type = c->cmd->target.type;
	const char *path = c->path;
	int n;

	if ((type != TARGET_PID && type != TARGET_SELF) || c->cmd->accept_shared_cgroup)
		return COMMAND_OK;
	n = c->env->ops->count_processes(c->env->ctx, path);
	if (n < 0)
		return call_fail_path(c, n, path);
	if (n > 1) {
		reply_add_detail(c->reply, "target", arena_printf(&c->reply->arena, "shared cgroup: %s",
								  reply_shown(c->reply, path)));
		return reply_fail(c->reply, COMMAND_FAILED_PRECONDITION, REASON(CGROUP_SHARED),
				  "cgroup %s holds other processes too, and a class is of the whole cgroup; --whole-cgroup "
				  "(accept_shared_cgroup) includes them, or start the process in a cgroup of its own: "
				  "systemd-run --scope", reply_shown(c->reply, path));
	}
	/* Counted where it was; it may have moved in between. */
	return call_resolve_target(c) != COMMAND_OK ? c->reply->status : check_moved(c, path);
}

static enum command_status prepare_set(struct call *c)
{
	int slot;

	if (call_find_class(c, &slot) != COMMAND_OK || check_ttl(c) != COMMAND_OK || call_resolve_target(c) != COMMAND_OK ||
	    check_lifetime(c) != COMMAND_OK || check_protected(c, slot) != COMMAND_OK)
		return c->reply->status;
	return check_shared(c);
}

/* ---------- changes ---------- */

static enum command_status reply_one_assignment(struct call *c, const struct state_assignment *a)
{
	c->reply->assignments = arena_new(&c->reply->arena, struct assignment_view);
	if (!c->reply->assignments)
		return reply_no_memory(c->reply);
	view_assignment(c, a, c->reply->assignments);
	c->reply->nr_assignments = 1;
	return COMMAND_OK;
}

/* Cgroups that the assignment decides, so that the caller sees what the order did. */
static size_t list_affected(struct call *c, const struct state_assignment *a, struct cgroup_node **nodes)
{
	struct cgroup_node *top = a->cgroup_id ? cgroup_tree_find_id(c->env->state->tree, a->cgroup_id) : NULL;

	return top ? state_list_decided(c->env->state, a, top, nodes, AFFECTED_MAX) : 0;
}

static enum command_status view_affected(struct call *c, struct cgroup_node **nodes, size_t total)
{
	struct assignment_view *v = c->reply->assignments;
	size_t n = total < AFFECTED_MAX ? total : AFFECTED_MAX;

	v->affected_total = (uint32_t)total;
	v->affected = arena_array(&c->reply->arena, struct decision_view, n + 1);
	if (!v->affected)
		return reply_no_memory(c->reply);
	for (size_t i = 0; i < n; i++)
		state_explain(c->env->state, nodes[i], &c->reply->arena, &v->affected[i]);
	v->nr_affected = n;
	return COMMAND_OK;
}

static enum command_status fail_assignment(struct call *c, int r)
{
	int slot;

	if (r == -ENOSPC)
		return reply_fail(c->reply, COMMAND_RESOURCE_EXHAUSTED, REASON(TOO_MANY_ASSIGNMENTS),
				  "there are %d assignments already, the most there can be; unset some, or use a config rule",
				  STATE_MAX_ASSIGNMENTS);
	if (r == -ENOENT)
		return call_find_class(c, &slot);
	return reply_no_memory(c->reply);
}

static void fill_assignment(struct call *c, struct state_assignment *ret)
{
	const struct command *cmd = c->cmd;
	struct command_env *env = c->env;

	*ret = (struct state_assignment){
		.target_type = cmd->target.type,
		.target_text = (char *)c->path,
		.cgroup_id = c->node->id,
		.lifetime = cmd->lifetime == LIFETIME_UNSET ? LIFETIME_CGROUP : cmd->lifetime,
		.whole_subtree = cmd->whole_subtree,
		.force_protected = cmd->force_protected,
		.actor_uid = cmd->caller.uid,
		.actor_pid = cmd->caller.pid,
		.reason = (char *)(cmd->change.reason ?: ""),
		.create_realtime_ns = env->realtime_ns(env->ctx),
		.expire_boottime_ns = cmd->has_ttl ? env->boottime_ns(env->ctx) + cmd->ttl_ns : 0,
		.config_generation = env->state->config_generation,
	};
	snprintf(ret->class_name, sizeof(ret->class_name), "%s", c->class_name);
	memcpy(ret->actor_comm, cmd->caller.comm, sizeof(ret->actor_comm));
}

static enum command_status apply_set(struct call *c)
{
	struct cgroup_node *nodes[AFFECTED_MAX];
	struct state_assignment a, *stored;
	size_t total;
	int r;

	fill_assignment(c, &a);
	r = state_set_assignment(c->env->state, &a, &stored);
	if (r < 0)
		return fail_assignment(c, r);
	memcpy(c->result_id, stored->id, sizeof(c->result_id));
	state_classify(c->env->state, c->node, NULL, NULL);
	total = list_affected(c, stored, nodes);
	if (reply_one_assignment(c, stored) != COMMAND_OK)
		return c->reply->status;
	return view_affected(c, nodes, total);
}

static enum command_status fail_no_assignment(struct call *c, const char *what)
{
	return reply_fail(c->reply, COMMAND_NOT_FOUND, REASON(ASSIGNMENT_NOT_FOUND),
			  "no assignment %s; `schedctl class assignments` shows them, `schedctl class get --explain` who decided",
			  reply_shown(c->reply, what));
}

/* The target need not be there now: an assignment may wait for it. */
static struct state_assignment *find_by_target(struct call *c)
{
	const struct command_target *t = &c->cmd->target;
	struct state *s = c->env->state;

	if (t->type == TARGET_PATH)
		return state_find_assignment_for(s, t->type, t->path ?: "", 0);
	if (t->type == TARGET_ID && t->cgroup_id)
		return state_find_assignment_for(s, t->type, NULL, t->cgroup_id);
	return NULL;
}

static enum command_status prepare_unset(struct call *c)
{
	const char *id = c->cmd->assignment_id ?: "";
	struct state_assignment *a;

	if (id[0] && c->cmd->target.type != TARGET_NONE)
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(TARGET_MISSING),
				  "UnsetClass takes a target or an assignment_id, not both");
	a = id[0] ? state_find_assignment(c->env->state, id) : find_by_target(c);
	if (!a && id[0])
		return fail_no_assignment(c, id);
	if (!a) {
		if (call_resolve_target(c) != COMMAND_OK)
			return c->reply->status;
		a = state_find_assignment_for(c->env->state, c->cmd->target.type, c->path, c->node->id);
	}
	if (!a)
		return fail_no_assignment(c, arena_printf(&c->reply->arena, "of %s", c->path));
	memcpy(c->result_id, a->id, sizeof(c->result_id));
	return COMMAND_OK;
}

static enum command_status apply_unset(struct call *c)
{
	struct state *s = c->env->state;
	struct state_assignment *a = state_find_assignment(s, c->result_id);
	struct cgroup_node *nodes[AFFECTED_MAX], *top;
	size_t total;

	if (!a)
		return fail_no_assignment(c, c->result_id);
	top = a->cgroup_id ? cgroup_tree_find_id(s->tree, a->cgroup_id) : NULL;
	total = list_affected(c, a, nodes);
	if (reply_one_assignment(c, a) != COMMAND_OK)
		return c->reply->status;
	state_remove_assignment(s, (size_t)(a - s->assignments));
	state_classify(s, top, NULL, NULL);
	return view_affected(c, nodes, total);
}

static enum command_status replay_set(struct call *c, const char *result_id)
{
	struct cgroup_node *nodes[AFFECTED_MAX];
	struct state_assignment *a = state_find_assignment(c->env->state, result_id);

	if (!a)
		return reply_fail(c->reply, COMMAND_NOT_FOUND, REASON(ASSIGNMENT_NOT_FOUND),
				  "this request was done, and the assignment %s that it made has ended since", result_id);
	if (reply_one_assignment(c, a) != COMMAND_OK)
		return c->reply->status;
	return view_affected(c, nodes, list_affected(c, a, nodes));
}

static enum command_status replay_unset(struct call *c, const char *result_id)
{
	const struct state_assignment gone = { .target_text = (char *)"", .reason = (char *)"" };

	if (reply_one_assignment(c, &gone) != COMMAND_OK)
		return c->reply->status;
	c->reply->assignments->id = reply_text(c->reply, result_id);
	c->reply->assignments->state = 0;
	return COMMAND_OK;
}

const struct change_ops set_class_ops = { prepare_set, apply_set, NULL, replay_set };
const struct change_ops unset_class_ops = { prepare_unset, apply_unset, NULL, replay_unset };

/* ---------- the list ---------- */

static int compare_ids(const void *a, const void *b)
{
	return strcmp((*(struct state_assignment *const *)a)->id, (*(struct state_assignment *const *)b)->id);
}

enum command_status run_list_assignments(struct call *c)
{
	struct state *s = c->env->state;
	char last[STATE_ID_MAX + 1];
	const struct state_assignment **found;
	size_t nr = 0;
	int slot;

	if (c->class_name[0] && call_find_class(c, &slot) != COMMAND_OK)
		return c->reply->status;
	if (page_start(c, 'a', last, sizeof(last)) != COMMAND_OK)
		return c->reply->status;
	found = arena_array(&c->reply->arena, const struct state_assignment *, s->nr_assignments + 1);
	c->reply->assignments = arena_array(&c->reply->arena, struct assignment_view, c->cmd->page_size + 1);
	if (!found || !c->reply->assignments)
		return reply_no_memory(c->reply);
	for (size_t i = 0; i < s->nr_assignments; i++)
		if (strcmp(s->assignments[i].id, last) > 0 &&
		    (!c->class_name[0] || strcmp(s->assignments[i].class_name, c->class_name) == 0))
			found[nr++] = &s->assignments[i];
	qsort(found, nr, sizeof(*found), compare_ids);
	for (size_t i = 0; i < nr; i++) {
		if (i == c->cmd->page_size) {
			c->reply->next_page_token = page_token(c->reply, 'a', found[i - 1]->id);
			break;
		}
		view_assignment(c, found[i], &c->reply->assignments[i]);
		c->reply->nr_assignments = i + 1;
	}
	return COMMAND_OK;
}
