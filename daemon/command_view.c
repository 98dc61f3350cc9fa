/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_view.c - the model as replies show it */
#include "daemon/base/str.h"
#include "daemon/command_private.h"

enum { DETAILS_MAX = 20, SHOWN_MAX = 128 };

const char *reply_text(struct reply *reply, const char *s)
{
	return arena_strdup(&reply->arena, s ?: "") ?: "";
}

const char *reply_shown(struct reply *reply, const char *s)
{
	char text[SHOWN_MAX];

	return reply_text(reply, str_escape(text, sizeof(text), s ?: ""));
}

void reply_add_detail(struct reply *reply, const char *field, const char *description)
{
	if (!reply->details)
		reply->details = arena_array(&reply->arena, struct detail_view, DETAILS_MAX);
	if (!reply->details || reply->nr_details == DETAILS_MAX)
		return;
	reply->details[reply->nr_details++] = (struct detail_view){ field, reply_text(reply, description) };
}

enum command_status reply_no_memory(struct reply *reply)
{
	return reply_fail(reply, COMMAND_UNAVAILABLE, REASON(OUT_OF_MEMORY),
			  "no memory for this call; nothing was changed; try again later");
}

const char *class_etag(struct reply *reply, const struct state_class *c)
{
	char etag[32];

	state_class_etag(c, etag, sizeof(etag));
	return reply_text(reply, etag);
}

void view_class(struct call *c, int slot, struct class_view *ret_view)
{
	const struct state_class *class = &c->env->state->classes[slot];

	*ret_view = (struct class_view){
		.name = reply_text(c->reply, class->name),
		.settings = class->effective,
		.own_fields = class->config.set | class->override.set,
		/* Of a class that only calls know, nothing is over anything. */
		.overridden_fields = class->origin == CLASS_ORIGIN_API ? 0 : class->override.set,
		.origin = class->origin,
		.etag = class_etag(c->reply, class),
		.member_cgroups = class->member_cgroups,
		.effective_guarantee_cpus = class->effective_guarantee_cpus,
	};
	c->env->ops->fill_class(c->env->ctx, (unsigned int)slot, ret_view, c->reply);
}

enum command_status reply_one_class(struct call *c, int slot)
{
	c->reply->classes = arena_new(&c->reply->arena, struct class_view);
	if (!c->reply->classes)
		return reply_no_memory(c->reply);
	view_class(c, slot, c->reply->classes);
	c->reply->nr_classes = 1;
	return COMMAND_OK;
}

/* The model counts on CLOCK_BOOTTIME; people read a date. */
static uint64_t expire_realtime_ns(struct call *c, uint64_t expire_boottime_ns)
{
	uint64_t now = c->env->boottime_ns(c->env->ctx);

	if (!expire_boottime_ns)
		return 0;
	return c->env->realtime_ns(c->env->ctx) + (expire_boottime_ns > now ? expire_boottime_ns - now : 0);
}

void view_assignment(struct call *c, const struct state_assignment *a, struct assignment_view *ret_view)
{
	*ret_view = (struct assignment_view){
		.id = reply_text(c->reply, a->id),
		.target_type = a->target_type,
		.target_text = reply_text(c->reply, a->target_text),
		.cgroup_id = a->cgroup_id,
		.class_name = reply_text(c->reply, a->class_name),
		.lifetime = a->lifetime,
		.state = a->cgroup_id ? 1 : 2,
		.actor_uid = a->actor_uid,
		.actor_pid = a->actor_pid,
		.actor_comm = reply_text(c->reply, a->actor_comm),
		.reason = reply_text(c->reply, a->reason),
		.create_realtime_ns = a->create_realtime_ns,
		.expire_realtime_ns = expire_realtime_ns(c, a->expire_boottime_ns),
		.config_generation = a->config_generation,
	};
}
