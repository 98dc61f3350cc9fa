/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_class.c - classes listed, shown, made, changed, reverted, deleted */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command_private.h"

static int compare_names(const void *a, const void *b, void *classes)
{
	const struct state_class *c = classes;

	return strcmp(c[*(const int *)a].name, c[*(const int *)b].name);
}

enum command_status run_list_classes(struct call *c)
{
	struct state *s = c->env->state;
	int slots[SCHEDD_MAX_CLASSES], nr = 0;
	char last[CLASS_NAME_MAX + 1];

	if (page_start(c, 'k', last, sizeof(last)) != COMMAND_OK)
		return c->reply->status;
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (s->classes[i].used && strcmp(s->classes[i].name, last) > 0)
			slots[nr++] = i;
	qsort_r(slots, (size_t)nr, sizeof(slots[0]), compare_names, s->classes);
	c->reply->classes = arena_array(&c->reply->arena, struct class_view, SCHEDD_MAX_CLASSES);
	if (!c->reply->classes)
		return reply_no_memory(c->reply);
	for (int i = 0; i < nr; i++) {
		if (c->reply->nr_classes == c->cmd->page_size) {
			c->reply->next_page_token = page_token(c->reply, 'k', s->classes[slots[i - 1]].name);
			break;
		}
		view_class(c, slots[i], &c->reply->classes[c->reply->nr_classes++]);
	}
	return COMMAND_OK;
}

enum command_status run_get_class(struct call *c)
{
	int slot;

	if (call_find_class(c, &slot) != COMMAND_OK)
		return c->reply->status;
	return reply_one_class(c, slot);
}

static enum command_status check_etag(struct call *c, int slot)
{
	const char *etag = c->cmd->etag ?: "";

	if (!etag[0] || (slot >= 0 && strcmp(etag, class_etag(c->reply, &c->env->state->classes[slot])) == 0))
		return COMMAND_OK;
	return reply_fail(c->reply, COMMAND_ABORTED, REASON(ETAG_STALE),
			  "class %s changed since etag `%s' was read; read it again and repeat the change",
			  reply_shown(c->reply, c->class_name), reply_shown(c->reply, etag));
}

static enum command_status fail_name(struct call *c)
{
	reply_add_detail(c->reply, "sched_class.name", "[a-z]([a-z0-9-]{0,30}[a-z0-9])?");
	return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_NAME),
			  "`%s' is not a class name: 1 to %d of a-z, 0-9 and \"-\", the first a letter, the last no \"-\"",
			  reply_shown(c->reply, c->class_name), CLASS_NAME_MAX);
}

static enum command_status check_existence(struct call *c, int slot)
{
	if (c->cmd->must_exist && c->cmd->must_not_exist)
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE),
				  "must_exist and must_not_exist exclude each other");
	if (c->cmd->must_exist && slot < 0)
		return call_find_class(c, &slot);
	if (c->cmd->must_not_exist && slot >= 0)
		return reply_fail(c->reply, COMMAND_ALREADY_EXISTS, REASON(CLASS_EXISTS),
				  "class %s is there already; `schedctl class update` changes it", c->class_name);
	return COMMAND_OK;
}

static enum command_status check_kind(struct call *c, int slot)
{
	const struct command *cmd = c->cmd;
	uint32_t mask = cmd->update_fields ? cmd->update_fields : cmd->settings.set;
	const struct state_class *class = slot < 0 ? NULL : &c->env->state->classes[slot];

	if (mask & ~(uint32_t)CLASS_FIELD_ALL)
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE), "update_mask names unknown fields");
	if (!class || !(mask & cmd->settings.set & CLASS_FIELD_KIND) || class->effective.kind == cmd->settings.kind)
		return COMMAND_OK;
	reply_add_detail(c->reply, "sched_class.kind", "immutable after creation");
	return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(KIND_IMMUTABLE),
			  "class %s is of kind %s, and a kind cannot change; make a class of another name", c->class_name,
			  class_kind_name(class->effective.kind));
}

static enum command_status prepare_upsert(struct call *c)
{
	int slot = state_find_class(c->env->state, c->class_name);

	if (class_name_check(c->class_name) < 0)
		return fail_name(c);
	if (check_existence(c, slot) != COMMAND_OK || check_etag(c, slot) != COMMAND_OK)
		return c->reply->status;
	return check_kind(c, slot);
}

/* What uses a class, each with the call or file to change. */
static void add_users(struct call *c)
{
	const struct state *s = c->env->state;

	for (size_t i = 0; i < s->nr_assignments; i++)
		if (strcmp(s->assignments[i].class_name, c->class_name) == 0)
			reply_add_detail(c->reply, "assignment", arena_printf(&c->reply->arena, "%s of %s", s->assignments[i].id,
									      reply_shown(c->reply, s->assignments[i].target_text)));
	for (size_t i = 0; i < s->nr_rules; i++)
		if (strcmp(s->rules[i].class_name, c->class_name) == 0)
			reply_add_detail(c->reply, "rule", s->rules[i].origin);
	for (size_t i = 0; i < s->nr_leases; i++)
		if (strcmp(s->leases[i].class_name, c->class_name) == 0 ||
		    strcmp(s->leases[i].from_class_name, c->class_name) == 0)
			reply_add_detail(c->reply, "lease", s->leases[i].id);
}

static const char *refusal_of(struct call *c)
{
	int slot = state_find_class(c->env->state, c->class_name);
	enum class_origin origin = slot < 0 ? CLASS_ORIGIN_UNSET : c->env->state->classes[slot].origin;

	return origin == CLASS_ORIGIN_API    ? REASON(CLASS_FROM_API) :
	       origin == CLASS_ORIGIN_CONFIG ? REASON(CLASS_FROM_CONFIG) :
					       REASON(CLASS_BUILTIN);
}

static enum command_status fail_class(struct call *c, int r, const char *error)
{
	struct reply *reply = c->reply;

	switch (r) {
	case -EINVAL:
	case -ERANGE:
		return reply_fail(reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_VALUE), "%s", error);
	case -ENOENT:
		return call_find_class(c, &r);
	case -ENOSPC:
		return reply_fail(reply, COMMAND_RESOURCE_EXHAUSTED, REASON(TOO_MANY_CLASSES), "%s", error);
	case -EBUSY:
		add_users(c);
		return reply_fail(reply, COMMAND_FAILED_PRECONDITION, REASON(CLASS_IN_USE), "%s", error);
	case -EPERM:
		return reply_fail(reply, COMMAND_FAILED_PRECONDITION, refusal_of(c), "%s", error);
	default:
		return reply_no_memory(reply);
	}
}

static enum command_status apply_upsert(struct call *c)
{
	const struct command *cmd = c->cmd;
	char error[256] = "";
	int slot, r;

	r = state_upsert_class(c->env->state, c->class_name, &cmd->settings, cmd->update_fields, cmd->persistent, &slot, error,
			       sizeof(error));
	if (r < 0)
		return fail_class(c, r, error);
	return reply_one_class(c, slot);
}

static enum command_status prepare_existing(struct call *c)
{
	int slot;

	if (call_find_class(c, &slot) != COMMAND_OK)
		return c->reply->status;
	return check_etag(c, slot);
}

static enum command_status apply_revert(struct call *c)
{
	char error[256] = "";
	int r = state_revert_class(c->env->state, c->class_name, error, sizeof(error));

	if (r < 0)
		return fail_class(c, r, error);
	return reply_one_class(c, state_find_class(c->env->state, c->class_name));
}

static enum command_status apply_delete(struct call *c)
{
	char error[256] = "";
	int r = state_delete_class(c->env->state, c->class_name, error, sizeof(error));

	return r < 0 ? fail_class(c, r, error) : COMMAND_OK;
}

static enum command_status replay_class(struct call *c, const char *result_id)
{
	c->class_name = result_id;
	return run_get_class(c);
}

static enum command_status replay_delete(struct call *c, const char *result_id)
{
	(void)c;
	(void)result_id;
	return COMMAND_OK;
}

const struct change_ops upsert_class_ops = { prepare_upsert, apply_upsert, NULL, replay_class };
const struct change_ops revert_class_ops = { prepare_existing, apply_revert, NULL, replay_class };
const struct change_ops delete_class_ops = { prepare_existing, apply_delete, NULL, replay_delete };
