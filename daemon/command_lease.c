/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_lease.c - CPUs ordered for a class, renewed, given back, listed; answers that wait for them */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/str.h"
#include "daemon/command_private.h"
#include "daemon/lease.h"

#define NS_PER_S UINT64_C(1000000000)

static uint64_t boottime_ns(const struct call *c)
{
	return c->env->boottime_ns(c->env->ctx);
}

/* ---------- replies ---------- */

static void view_lease(struct command_env *env, const struct state_lease *l, struct lease_view *ret_view,
		       struct reply *reply)
{
	uint64_t now_ns = env->boottime_ns(env->ctx);

	*ret_view = (struct lease_view){
		.id = reply_text(reply, l->id),
		.class_name = reply_text(reply, l->class_name),
		.from_class_name = reply_text(reply, l->from_class_name),
		.requested_cpus = l->requested_cpus,
		.granted_cpus = l->granted_cpus,
		.state = lease_state_of(l),
		.actor_uid = l->actor_uid,
		.actor_pid = l->actor_pid,
		.actor_comm = reply_text(reply, l->actor_comm),
		.reason = reply_text(reply, l->reason),
		.create_realtime_ns = l->create_realtime_ns,
		/* The model counts on CLOCK_BOOTTIME; people read a date. */
		.expire_realtime_ns = env->realtime_ns(env->ctx) +
				      (l->expire_boottime_ns > now_ns ? l->expire_boottime_ns - now_ns : 0),
		.was_owned = l->was_owned,
		.was_running = l->was_running,
		.owned_after_ns = l->owned_after_ns,
		.running_after_ns = l->running_after_ns,
		.plan_generation = l->plan_generation,
		.config_generation = l->config_generation,
	};
	env->ops->fill_lease(env->ctx, l, ret_view, reply);
}

static enum command_status reply_lease(struct command_env *env, const struct state_lease *l, struct reply *reply)
{
	reply->leases = arena_new(&reply->arena, struct lease_view);
	if (!reply->leases)
		return reply_no_memory(reply);
	view_lease(env, l, reply->leases, reply);
	reply->nr_leases = 1;
	return COMMAND_OK;
}

static enum command_status reply_one_lease(struct call *c, const struct state_lease *l)
{
	return reply_lease(c->env, l, c->reply);
}

/* The answer as it is now, or later when the lease is where the caller wants it. */
static enum command_status reply_when_there(struct call *c, const struct state_lease *l)
{
	struct command_wait *wait = &c->reply->wait;

	if (!lease_is_there(l, c->cmd->wait_for)) {
		wait->wait_for = c->cmd->wait_for;
		snprintf(wait->lease_id, sizeof(wait->lease_id), "%s", l->id);
	}
	return reply_one_lease(c, l);
}

/* One that ended a moment ago may still be in the model. */
static struct state_lease *find_live(struct command_env *env, const char *id)
{
	struct state_lease *l = state_find_lease(env->state, id);

	return l && l->expire_boottime_ns > env->boottime_ns(env->ctx) ? l : NULL;
}

static enum command_status fail_no_lease(struct call *c, const char *id)
{
	return reply_fail(
		c->reply, COMMAND_NOT_FOUND, REASON(LEASE_NOT_FOUND),
		"no lease `%s': it was released, its time is over, or there never was one; `schedctl cores leases` "
		"shows those that there are",
		reply_shown(c->reply, id));
}

/* ---------- checks ---------- */

static enum command_status fail_value(struct call *c, const char *field, const char *why)
{
	reply_add_detail(c->reply, field, why);
	return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE), "%s: %s", field, why);
}

static enum command_status check_ttl(struct call *c)
{
	const struct command *cmd = c->cmd;
	uint64_t max_ns = c->env->state->lease_ttl_max_ns;
	char max[32], text[128];

	if (!cmd->has_ttl)
		return fail_value(c, "ttl", "is required: a lease ends by itself");
	if (cmd->ttl_ns >= NS_PER_S && cmd->ttl_ns <= max_ns)
		return COMMAND_OK;
	snprintf(text, sizeof(text), "must be from 1s to %s (leases.max_ttl)",
		 str_format_duration_ns(max, sizeof(max), max_ns));
	return fail_value(c, "ttl", text);
}

static enum command_status check_cpus(struct call *c)
{
	const struct command *cmd = c->cmd;
	uint32_t nr_nodes = c->env->state->nr_numa_nodes;

	if (!cmd->cpus)
		return fail_value(c, "cpus", "must be at least 1");
	if (cmd->min_cpus > cmd->cpus)
		return fail_value(c, "min_cpus", "must not be above cpus");
	if (cmd->has_numa_node && cmd->numa_node >= nr_nodes)
		return fail_value(c, "numa_node",
				  arena_printf(&c->reply->arena, "must be below %" PRIu32 ", the number of nodes",
					       nr_nodes));
	return COMMAND_OK;
}

static enum command_status check_mode(struct call *c)
{
	char error[256] = "";
	int r = c->env->ops->can_lease(c->env->ctx, error, sizeof(error));

	if (r == 0)
		return COMMAND_OK;
	if (r == -EOPNOTSUPP)
		return reply_fail(c->reply, COMMAND_UNIMPLEMENTED, REASON(MODE_REFUSED), "%s", error);
	return reply_fail(c->reply, COMMAND_FAILED_PRECONDITION, REASON(MODE_GIVES_NO_CPUS), "%s", error);
}

static enum command_status prepare_grant(struct call *c)
{
	int slot;

	if (call_find_class(c, &slot) != COMMAND_OK || check_cpus(c) != COMMAND_OK || check_ttl(c) != COMMAND_OK)
		return c->reply->status;
	return check_mode(c);
}

static const char *from_name(const struct call *c)
{
	return class_name_canonical(c->cmd->from_class_name ?: "");
}

static enum command_status prepare_reassign(struct call *c)
{
	struct call from = *c;
	int slot;

	from.class_name = from_name(c);
	if (call_find_class(&from, &slot) != COMMAND_OK)
		return c->reply->status;
	if (strcmp(from.class_name, c->class_name) == 0)
		return fail_value(c, "from_class_name", "must be another class than to_class_name");
	return prepare_grant(c);
}

/* ---------- GrantCores, ReassignCores ---------- */

/* Who has what cannot be had: each class with its orders. */
static void add_takers(struct call *c)
{
	const struct state *s = c->env->state;

	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		const struct state_class *class = &s->classes[i];

		if (state_ordered_cpus(class))
			reply_add_detail(
				c->reply, class->name,
				arena_printf(&c->reply->arena, "%" PRIu32 " by guarantee, %" PRIu32 " by leases",
					     state_ordered_cpus(class) - class->leased_cpus, class->leased_cpus));
	}
}

/* "web 2, batch 1" */
static const char *list_takers(const struct state *s, char *dst, size_t size)
{
	size_t n = 0;

	snprintf(dst, size, "nobody");
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (state_ordered_cpus(&s->classes[i]) && n < size)
			n += (size_t)snprintf(dst + n, size - n, "%s%s %" PRIu32, n ? ", " : "", s->classes[i].name,
					      state_ordered_cpus(&s->classes[i]));
	return dst;
}

static enum command_status fail_taken(struct call *c)
{
	const struct state *s = c->env->state;
	uint32_t room = state_lease_room(s, from_name(c));
	char takers[SCHEDD_MAX_CLASSES * (CLASS_NAME_MAX + 13)], giver[CLASS_NAME_MAX + 16] = "";

	if (from_name(c)[0])
		snprintf(giver, sizeof(giver), " from %s", from_name(c));
	add_takers(c);
	return reply_fail(c->reply, COMMAND_FAILED_PRECONDITION, REASON(CPUS_TAKEN),
			  "%s can have at most %" PRIu32 " more CPUs%s, not %" PRIu32 ": of %" PRIu32
			  " online CPUs guarantees and "
			  "leases have taken %s%s; ask for fewer, or say with min_cpus how few will do",
			  c->class_name, room, giver, c->cmd->min_cpus ?: c->cmd->cpus, s->nr_cpus,
			  list_takers(s, takers, sizeof(takers)),
			  s->nr_cpus > 1 ? ", and one stays outside for all others" : "");
}

static enum command_status fail_lease(struct call *c, int r)
{
	int slot;

	if (r == -ERANGE)
		return fail_taken(c);
	if (r == -ENOSPC)
		return reply_fail(
			c->reply, COMMAND_RESOURCE_EXHAUSTED, REASON(TOO_MANY_LEASES),
			"there are %zu leases already, the most that leases.max allows; release some first",
			c->env->state->nr_leases);
	if (r == -ENOENT)
		return call_find_class(c, &slot);
	return reply_no_memory(c->reply);
}

static void fill_lease(struct call *c, struct state_lease *ret)
{
	const struct command *cmd = c->cmd;
	uint64_t now_ns = boottime_ns(c);

	*ret = (struct state_lease){
		.requested_cpus = cmd->cpus,
		.min_cpus = cmd->min_cpus,
		.has_numa_node = cmd->has_numa_node,
		.numa_node = cmd->numa_node,
		.actor_uid = cmd->caller.uid,
		.actor_pid = cmd->caller.pid,
		.create_realtime_ns = c->env->realtime_ns(c->env->ctx),
		.arrive_boottime_ns = now_ns > cmd->age_ns ? now_ns - cmd->age_ns : 0,
		.expire_boottime_ns = now_ns + cmd->ttl_ns,
		.config_generation = c->env->state->config_generation,
	};
	snprintf(ret->class_name, sizeof(ret->class_name), "%s", c->class_name);
	snprintf(ret->from_class_name, sizeof(ret->from_class_name), "%s", from_name(c));
	snprintf(ret->reason, sizeof(ret->reason), "%s", cmd->change.reason ?: "");
	memcpy(ret->actor_comm, cmd->caller.comm, sizeof(ret->actor_comm));
}

static enum command_status apply_grant(struct call *c)
{
	struct state_lease l, *stored;
	int r;

	/* What has ended but was not yet noticed must not stand in the way. */
	state_expire_leases(c->env->state, boottime_ns(c), NULL);
	fill_lease(c, &l);
	r = state_add_lease(c->env->state, &l, &stored);
	if (r < 0)
		return fail_lease(c, r);
	memcpy(c->result_id, stored->id, sizeof(c->result_id));
	if (reply_one_lease(c, stored) == COMMAND_OK && c->cmd->change.validate_only)
		c->reply->leases->id = "";
	return c->reply->status;
}

/* After the commit, which may have given the CPUs already. */
static enum command_status finish_grant(struct call *c)
{
	const struct state_lease *l = state_find_lease(c->env->state, c->result_id);

	return l ? reply_when_there(c, l) : COMMAND_OK;
}

static enum command_status fail_ended(struct call *c, const char *id)
{
	return reply_fail(c->reply, COMMAND_NOT_FOUND, REASON(LEASE_NOT_FOUND),
			  "this request was done, and the lease %s that it was about has ended since",
			  reply_shown(c->reply, id));
}

static enum command_status replay_grant(struct call *c, const char *result_id)
{
	const struct state_lease *l = find_live(c->env, result_id);

	return l ? reply_when_there(c, l) : fail_ended(c, result_id);
}

const struct change_ops grant_cores_ops = { prepare_grant, apply_grant, finish_grant, replay_grant };
const struct change_ops reassign_cores_ops = { prepare_reassign, apply_grant, finish_grant, replay_grant };

/* ---------- RenewLease, ReleaseLease ---------- */

static enum command_status prepare_renew(struct call *c)
{
	const char *id = c->cmd->lease_id ?: "";

	if (check_ttl(c) != COMMAND_OK)
		return c->reply->status;
	return find_live(c->env, id) ? COMMAND_OK : fail_no_lease(c, id);
}

static enum command_status apply_renew(struct call *c)
{
	struct state_lease *l = find_live(c->env, c->cmd->lease_id);

	if (!l)
		return fail_no_lease(c, c->cmd->lease_id);
	memcpy(c->result_id, l->id, sizeof(c->result_id));
	l->expire_boottime_ns = boottime_ns(c) + c->cmd->ttl_ns;
	l->config_generation = c->env->state->config_generation;
	return reply_one_lease(c, l);
}

static enum command_status replay_renew(struct call *c, const char *result_id)
{
	const struct state_lease *l = find_live(c->env, result_id);

	return l ? reply_one_lease(c, l) : fail_ended(c, result_id);
}

static enum command_status reply_released(struct call *c, const char *id)
{
	const struct state_lease gone = { 0 };

	if (reply_one_lease(c, &gone) != COMMAND_OK)
		return c->reply->status;
	c->reply->leases->id = reply_text(c->reply, id);
	c->reply->leases->state = LEASE_RELEASED;
	c->reply->leases->expire_realtime_ns = 0;
	c->reply->leases->nr_cpu_ids = 0;
	return COMMAND_OK;
}

static enum command_status prepare_release(struct call *c)
{
	const char *id = c->cmd->lease_id ?: "";

	/* Longer than any id: there never was such a lease, and no place to remember it. */
	if (!id[0] || strlen(id) > STATE_ID_MAX)
		return fail_no_lease(c, id);
	memcpy(c->result_id, id, strlen(id) + 1);
	return c->cmd->allow_missing || find_live(c->env, id) ? COMMAND_OK : fail_no_lease(c, id);
}

static enum command_status apply_release(struct call *c)
{
	struct state *s = c->env->state;
	struct state_lease *l = find_live(c->env, c->result_id);

	if (!l) {
		/* Nothing changes, so nobody's expected generation becomes stale. */
		s->config_generation--;
		return reply_released(c, c->result_id);
	}
	if (reply_one_lease(c, l) != COMMAND_OK)
		return c->reply->status;
	c->reply->leases->state = LEASE_RELEASED;
	state_remove_lease(s, (size_t)(l - s->leases));
	return COMMAND_OK;
}

const struct change_ops renew_lease_ops = { prepare_renew, apply_renew, NULL, replay_renew };
const struct change_ops release_lease_ops = { prepare_release, apply_release, NULL, reply_released };

/* ---------- the list ---------- */

static int compare_ids(const void *a, const void *b)
{
	return strcmp((*(struct state_lease *const *)a)->id, (*(struct state_lease *const *)b)->id);
}

enum command_status run_list_leases(struct call *c)
{
	struct state *s = c->env->state;
	const struct state_lease **found;
	char last[STATE_ID_MAX + 1];
	uint64_t now_ns = boottime_ns(c);
	size_t nr = 0;
	int slot;

	if (c->class_name[0] && call_find_class(c, &slot) != COMMAND_OK)
		return c->reply->status;
	if (page_start(c, 'l', last, sizeof(last)) != COMMAND_OK)
		return c->reply->status;
	c->env->ops->update_leases(c->env->ctx);
	found = arena_array(&c->reply->arena, const struct state_lease *, s->nr_leases + 1);
	c->reply->leases = arena_array(&c->reply->arena, struct lease_view, c->cmd->page_size + 1);
	if (!found || !c->reply->leases)
		return reply_no_memory(c->reply);
	for (size_t i = 0; i < s->nr_leases; i++)
		if (s->leases[i].expire_boottime_ns > now_ns && strcmp(s->leases[i].id, last) > 0 &&
		    (!c->class_name[0] || strcmp(s->leases[i].class_name, c->class_name) == 0))
			found[nr++] = &s->leases[i];
	qsort(found, nr, sizeof(*found), compare_ids);
	for (size_t i = 0; i < nr; i++) {
		if (i == c->cmd->page_size) {
			c->reply->next_page_token = page_token(c->reply, 'l', found[i - 1]->id);
			break;
		}
		view_lease(c->env, found[i], &c->reply->leases[i], c->reply);
		c->reply->nr_leases = i + 1;
	}
	return COMMAND_OK;
}

/* ---------- answers that wait ---------- */

static void fail_waiting(const struct command_wait *wait, const struct state_lease *l, struct reply *reply)
{
	const char *wanted = wait->wait_for == LEASE_WAIT_RUNNING ? "ran the class" : "were the class's";

	if (!l)
		reply_fail(reply, COMMAND_NOT_FOUND, REASON(LEASE_NOT_FOUND),
			   "the lease %s ended before all of its CPUs %s: it was released, or its time was over",
			   wait->lease_id, wanted);
	else
		reply_fail(reply, COMMAND_DEADLINE_EXCEEDED, REASON(WAIT_DEADLINE),
			   "the lease %s exists, but not all of its %" PRIu32
			   " CPUs %s when the deadline of the call came; `schedctl "
			   "cores leases` shows how far it is, `schedctl cores release %s` gives it back",
			   wait->lease_id, l->granted_cpus, wanted, wait->lease_id);
}

bool command_resume(struct command_env *env, const struct command_wait *wait, bool deadline_passed, struct reply *reply)
{
	const struct state_lease *l = find_live(env, wait->lease_id);

	if (l && !deadline_passed && !lease_is_there(l, wait->wait_for))
		return false;
	reply_init(reply);
	if (l && lease_is_there(l, wait->wait_for))
		reply_lease(env, l, reply);
	else
		fail_waiting(wait, l, reply);
	reply->config_generation = env->state->config_generation;
	return true;
}
