/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_change.c - the way of every change: done once, whole, and stored before it is acknowledged
 *
 * A retry (same caller, call and request id) is answered before anything else
 * is looked at, else expected_config_generation would refuse what was done.
 * What is looked up outside may let the tree move on, so it comes before the
 * snapshot: putting that back must not bring dead cgroups back.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/command_private.h"

static bool has_request_id(const struct call *c)
{
	return c->cmd->change.request_id && c->cmd->change.request_id[0];
}

static uint64_t boottime_ns(const struct call *c)
{
	return c->env->boottime_ns(c->env->ctx);
}

static const struct state_request *find_request(const struct call *c)
{
	const struct command *cmd = c->cmd;

	if (!has_request_id(c))
		return NULL;
	return state_find_request(c->env->state, cmd->change.request_id, cmd->caller.uid, cmd->type, boottime_ns(c));
}

static enum command_status fail_reused(struct call *c)
{
	return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(REQUEST_ID_REUSED),
			  "request_id %s was used for another %s in the last %d minutes; a new request needs a new id",
			  reply_shown(c->reply, c->cmd->change.request_id), command_name(c->cmd->type),
			  STATE_REQUEST_KEEP_S / 60);
}

static enum command_status check_generation(struct call *c)
{
	const struct command_change *change = &c->cmd->change;
	uint64_t now = c->env->state->config_generation;

	if (!change->has_expected_generation || change->expected_config_generation == now)
		return COMMAND_OK;
	return reply_fail(c->reply, COMMAND_ABORTED, REASON(GENERATION_STALE),
			  "config_generation is %llu, not the expected %llu: something was changed in between; read the state "
			  "again and repeat", (unsigned long long)now, (unsigned long long)change->expected_config_generation);
}

static int remember_request(struct call *c)
{
	const struct command *cmd = c->cmd;
	struct state_request q = {
		.uid = cmd->caller.uid,
		.type = cmd->type,
		.content_hash = cmd->change.content_hash,
		.expire_boottime_ns = boottime_ns(c) + STATE_REQUEST_KEEP_S * UINT64_C(1000000000),
	};

	if (!has_request_id(c))
		return 0;
	if (strlen(cmd->change.request_id) > STATE_ID_MAX)
		return -EINVAL;
	strcpy(q.request_id, cmd->change.request_id);
	snprintf(q.result_id, sizeof(q.result_id), "%.*s", STATE_ID_MAX, c->result_id[0] ? c->result_id : c->class_name);
	return state_add_request(c->env->state, &q, boottime_ns(c));
}

static enum command_status fail_commit(struct call *c, int r, const char *error)
{
	if (r == -EBUSY)
		return reply_fail(c->reply, COMMAND_FAILED_PRECONDITION, REASON(OTHER_SCHEDULER),
				  "the change could not take effect and was not kept: %s", error);
	return reply_fail(c->reply, COMMAND_UNAVAILABLE, REASON(STATE_NOT_SAVED),
			  "the change was undone: the state file (`state' in the state directory, /var/lib/schedd by default) "
			  "could not be written or the kernel refused it: %s", strerrordesc_np(-r) ?: "unknown error");
}

/* In the same commit as the change: a retry after a crash finds both or neither. */
static enum command_status commit(struct call *c)
{
	char error[256] = "";
	int r = remember_request(c);

	if (r == -EINVAL)
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE), "request_id must be a UUID");
	if (r < 0)
		return reply_no_memory(c->reply);
	r = c->env->ops->commit(c->env->ctx, error, sizeof(error));
	if (r == 0)
		return COMMAND_OK;
	fail_commit(c, r, error);
	return c->reply->status;
}

/* What a failed commit told BPF or wrote is told and written again as the model now is. */
static void commit_again(struct call *c)
{
	char error[256];

	c->env->ops->commit(c->env->ctx, error, sizeof(error));
}

/* The model is changed only when the result is OK and it was not validate_only. */
static enum command_status change_model(struct call *c, const struct change_ops *ops)
{
	struct state *s = c->env->state, *snapshot = state_snapshot(s);
	enum command_status status;
	bool committed = false;

	if (!snapshot)
		return reply_no_memory(c->reply);
	s->config_generation++;
	status = ops->apply(c);
	if (status == COMMAND_OK && !c->cmd->change.validate_only) {
		committed = true;
		status = commit(c);
		if (status == COMMAND_OK && ops->finish)
			status = ops->finish(c);
	}
	if (status == COMMAND_OK && committed) {
		state_free(snapshot);
		return COMMAND_OK;
	}
	state_restore(s, snapshot);
	if (committed)
		commit_again(c);
	return status;
}

enum command_status run_change(struct call *c, const struct change_ops *ops)
{
	const struct state_request *done = find_request(c);
	char result_id[STATE_ID_MAX + 1];

	if (done && done->content_hash != c->cmd->change.content_hash)
		return fail_reused(c);
	if (done) {
		memcpy(result_id, done->result_id, sizeof(result_id));
		return ops->replay(c, result_id);
	}
	if (check_generation(c) != COMMAND_OK || ops->prepare(c) != COMMAND_OK)
		return c->reply->status;
	return change_model(c, ops);
}

/* ---------- changes outside the model ---------- */

static enum command_status prepare_mode(struct call *c)
{
	const struct command *cmd = c->cmd;

	if (cmd->mode <= MODE_UNSET || cmd->mode >= NR_MODES)
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE),
				  "mode must be auto, active, observe, paused or detached");
	if (cmd->has_hold_for && (!cmd->hold_for_ns || cmd->hold_for_ns > INT64_MAX))
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE),
				  "hold_for must be more than 0; leave it out for a mode without end");
	return COMMAND_OK;
}

static enum command_status fail_mode(struct call *c, int r, const char *error)
{
	if (!error[0])
		error = strerrordesc_np(-r) ?: "unknown error";
	if (r == -EOPNOTSUPP)
		return reply_fail(c->reply, COMMAND_UNIMPLEMENTED, REASON(MODE_REFUSED), "%s", error);
	if (r == -EBUSY)
		return reply_fail(c->reply, COMMAND_FAILED_PRECONDITION, REASON(OTHER_SCHEDULER), "%s", error);
	return reply_fail(c->reply, COMMAND_UNAVAILABLE, REASON(MODE_REFUSED), "mode %s cannot be reached: %s",
			  mode_name(c->cmd->mode), error);
}

static enum command_status reply_status(struct call *c)
{
	c->env->ops->fill_status(c->env->ctx, c->reply);
	return COMMAND_OK;
}

/* A commit can be taken back, a mode that was reached cannot: so it comes last. */
static enum command_status finish_mode(struct call *c)
{
	const struct command *cmd = c->cmd;
	struct command_env *env = c->env;
	char error[256] = "";
	int r;

	r = env->ops->set_mode(env->ctx, cmd->mode, cmd->has_hold_for, cmd->hold_for_ns, &cmd->caller, error, sizeof(error));
	return r < 0 ? fail_mode(c, r, error) : reply_status(c);
}

static enum command_status replay_mode(struct call *c, const char *result_id)
{
	(void)result_id;
	return reply_status(c);
}

const struct change_ops set_mode_ops = { prepare_mode, reply_status, finish_mode, replay_mode };

static enum command_status reply_config(struct call *c, bool accepted)
{
	c->env->ops->fill_config(c->env->ctx, c->reply);
	c->reply->config.reload_accepted = accepted;
	return COMMAND_OK;
}

/* A refused file is an answer, not a failed call: the reply says file, line and column. */
static enum command_status reload(struct call *c)
{
	int r = c->env->ops->reload_config(c->env->ctx, c->reply);

	if (r == 0 || r == -EINVAL || c->reply->config.nr_errors || c->reply->status != COMMAND_OK)
		return c->reply->status;
	return reply_fail(c->reply, COMMAND_UNAVAILABLE, REASON(CONFIG_UNREADABLE),
			  "the configuration could not be read (%s); the old one stays in force",
			  strerrordesc_np(-r) ?: "unknown error");
}

enum command_status run_reload_config(struct call *c)
{
	const struct state_request *done = find_request(c);

	if (done)
		return done->content_hash == c->cmd->change.content_hash ? reply_config(c, true) : fail_reused(c);
	if (check_generation(c) != COMMAND_OK)
		return c->reply->status;
	if (c->cmd->change.validate_only)
		return reply_fail(c->reply, COMMAND_UNIMPLEMENTED, REASON(NOT_SUPPORTED_YET),
				  "validate_only of ReloadConfig is not supported yet; `schedctl config verify` checks the files");
	if (reload(c) != COMMAND_OK || !c->reply->config.reload_accepted)
		return c->reply->status;
	/* The files are in force and cannot be taken back, so a request that is not remembered is only done again. */
	if (has_request_id(c) && remember_request(c) == 0)
		commit_again(c);
	return COMMAND_OK;
}
