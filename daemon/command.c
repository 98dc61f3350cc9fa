/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.c - runs a command: role, then one function or one change per command */
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/command_private.h"

static enum command_status run_get_status(struct call *c)
{
	c->env->ops->fill_status(c->env->ctx, c->reply);
	return c->reply->status;
}

static enum command_status run_get_config(struct call *c)
{
	c->env->ops->fill_config(c->env->ctx, c->reply);
	return c->reply->status;
}

static enum command_status run_get_plan(struct call *c)
{
	c->env->ops->fill_plan(c->env->ctx, c->cmd->full_view, c->reply);
	return c->reply->status;
}

/* Names and roles: command_util.c. */
static const struct {
	enum command_status (*run)(struct call *c);
	const struct change_ops *change;
} commands[] = {
	[COMMAND_GET_STATUS] = { .run = run_get_status },
	[COMMAND_SET_MODE] = { .change = &set_mode_ops },
	[COMMAND_RELOAD_CONFIG] = { .run = run_reload_config },
	[COMMAND_GET_CONFIG] = { .run = run_get_config },
	[COMMAND_LIST_CLASSES] = { .run = run_list_classes },
	[COMMAND_GET_CLASS] = { .run = run_get_class },
	[COMMAND_UPSERT_CLASS] = { .change = &upsert_class_ops },
	[COMMAND_REVERT_CLASS] = { .change = &revert_class_ops },
	[COMMAND_DELETE_CLASS] = { .change = &delete_class_ops },
	[COMMAND_SET_CLASS] = { .change = &set_class_ops },
	[COMMAND_UNSET_CLASS] = { .change = &unset_class_ops },
	[COMMAND_LIST_ASSIGNMENTS] = { .run = run_list_assignments },
	[COMMAND_EXPLAIN_TARGET] = { .run = run_explain_target },
	[COMMAND_LIST_CGROUPS] = { .run = run_list_cgroups },
	[COMMAND_GET_PLAN] = { .run = run_get_plan },
	[COMMAND_GRANT_CORES] = { .change = &grant_cores_ops },
	[COMMAND_REASSIGN_CORES] = { .change = &reassign_cores_ops },
	[COMMAND_RENEW_LEASE] = { .change = &renew_lease_ops },
	[COMMAND_RELEASE_LEASE] = { .change = &release_lease_ops },
	[COMMAND_LIST_LEASES] = { .run = run_list_leases },
	[COMMAND_WATCH_EVENTS] = { .run = run_watch_events },
};
_Static_assert(ARRAY_SIZE(commands) == NR_COMMANDS, "every command can be run");

static enum command_status fail_role(struct reply *reply, const struct command *cmd)
{
	static const char *const names[] = { "none", "view", "assign", "admin" };

	return reply_fail(reply, COMMAND_PERMISSION_DENIED, REASON(ROLE_MISSING),
			  "%s needs the role %s, and uid %u has %s; root and members of the group schedd are admin",
			  command_name(cmd->type), names[command_needs_role(cmd->type)], (unsigned int)cmd->caller.uid,
			  names[cmd->caller.role]);
}

void reply_init(struct reply *reply)
{
	reply->message = reply->message ?: "";
	reply->error_reason = reply->error_reason ?: "";
	reply->next_page_token = reply->next_page_token ?: "";
}

static void dispatch(struct call *c)
{
	if (c->cmd->caller.role < command_needs_role(c->cmd->type))
		fail_role(c->reply, c->cmd);
	else if (commands[c->cmd->type].change)
		run_change(c, commands[c->cmd->type].change);
	else
		commands[c->cmd->type].run(c);
}

void command_run(struct command_env *env, const struct command *cmd, struct reply *reply)
{
	struct call c = { .env = env, .cmd = cmd, .reply = reply };

	reply_init(reply);
	c.class_name = class_name_canonical(cmd->class_name ?: "");
	if ((unsigned int)cmd->type < NR_COMMANDS)
		dispatch(&c);
	else
		reply_fail(reply, COMMAND_UNIMPLEMENTED, REASON(UNKNOWN_COMMAND), "no such call");
	reply->config_generation = env->state->config_generation;
	if (reply->status == COMMAND_OK)
		reply->nr_details = 0;
}
