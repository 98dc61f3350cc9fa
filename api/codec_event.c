/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_event.c - what WatchEvents asks for, and an event as bytes */
#include <string.h>

#include "api/codec_private.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

enum { EPOCH_MAX = 64 };

static const uint64_t bookmark_default_ns = UINT64_C(10000000000), bookmark_min_ns = UINT64_C(1000000000);

/* ---------- the request ---------- */

static bool decode_types(const Schedd__V1alpha1__WatchEventsRequest *m, struct reply *reply, uint32_t *ret_types)
{
	uint32_t types = 0;

	for (size_t i = 0; i < m->n_types; i++) {
		if (!check_enum(reply, "types", &schedd__v1alpha1__event__type__descriptor, (int)m->types[i]))
			return false;
		if (!m->types[i])
			return check_refuse(reply, REASON(INVALID_VALUE), "types",
					    "TYPE_UNSPECIFIED is no kind of event; leave types empty for the usual ones");
		types |= 1u << m->types[i];
	}
	*ret_types = types;
	return true;
}

static bool decode_classes(const Schedd__V1alpha1__WatchEventsRequest *m, struct reply *reply,
			   struct event_filter *filter)
{
	const char *name;

	if (m->n_class_names > EVENT_CLASSES_MAX)
		return check_refuse(reply, REASON(INVALID_VALUE), "class_names", "has %zu names, at most %d are allowed",
				    m->n_class_names, EVENT_CLASSES_MAX);
	for (size_t i = 0; i < m->n_class_names; i++) {
		if (!check_class_name(reply, "class_names", m->class_names[i], &name))
			return false;
		str_copy(filter->class_names[filter->nr_class_names++], CLASS_NAME_MAX + 1, name);
	}
	return true;
}

static bool decode_resume(const Schedd__V1alpha1__WatchEventsRequest *m, struct reply *reply,
			  struct command_watch *watch)
{
	if (!check_text(reply, "epoch", m->epoch, EPOCH_MAX))
		return false;
	if (*m->epoch && !m->after_sequence)
		return check_refuse(reply, REASON(INVALID_VALUE), "after_sequence", "is required with an epoch");
	if (!*m->epoch && m->after_sequence && m->after_sequence->value)
		return check_refuse(reply, REASON(INVALID_VALUE), "epoch",
				    "is required with an after_sequence above 0: a sequence means nothing without it");
	if (m->send_initial_state && m->after_sequence)
		return check_refuse(reply, REASON(INVALID_VALUE), "send_initial_state", "excludes after_sequence");
	watch->epoch = m->epoch;
	watch->has_after = m->after_sequence;
	watch->after_sequence = m->after_sequence ? m->after_sequence->value : 0;
	watch->initial_state = m->send_initial_state;
	return true;
}

bool codec_watch_decode(const Schedd__V1alpha1__WatchEventsRequest *m, struct reply *reply,
			struct command_watch *ret_watch)
{
	ret_watch->bookmark_ns = bookmark_default_ns;
	return decode_types(m, reply, &ret_watch->filter.types) && decode_classes(m, reply, &ret_watch->filter) &&
	       decode_resume(m, reply, ret_watch) &&
	       (!m->bookmark_interval || check_duration(reply, "bookmark_interval", m->bookmark_interval,
							bookmark_min_ns, &ret_watch->bookmark_ns));
}

/* ---------- the event ---------- */

static Schedd__V1alpha1__Actor *encode_cause(struct encoder *e, const struct event_cause *cause)
{
	static const char *const sources[] = {
		[EVENT_FROM_SCHEDD] = "schedd",       [EVENT_FROM_API] = "api",       [EVENT_FROM_CONFIG] = "config",
		[EVENT_FROM_ALLOCATOR] = "allocator", [EVENT_FROM_KERNEL] = "kernel",
	};
	_Static_assert(ARRAY_SIZE(sources) == NR_EVENT_SOURCES, "every source has a name");
	Schedd__V1alpha1__Actor *m = encode_message(e, &schedd__v1alpha1__actor__descriptor);

	m->source = encode_text(e, sources[cause->source]);
	if (cause->source != EVENT_FROM_API)
		return m;
	m->uid = encode_u32(e, cause->uid);
	m->pid = cause->pid;
	m->comm = encode_text(e, cause->comm);
	return m;
}

static void encode_event_class(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m)
{
	const struct event_class *c = &event->class;
	const struct class_view view = {
		.name = event->class_name,
		.settings = c->settings,
		.own_fields = c->own_fields,
		.overridden_fields = c->overridden_fields,
		.origin = (enum class_origin)c->origin,
		.etag = c->etag,
		.member_cgroups = c->member_cgroups,
		.effective_guarantee_cpus = c->effective_guarantee_cpus,
	};

	m->detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_SCHED_CLASS;
	m->sched_class = encode_message(e, &schedd__v1alpha1__sched_class__descriptor);
	encode_class(e, &view, c->config_generation, m->sched_class);
}

static void encode_event_decision(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m)
{
	const struct event_decision *d = &event->decision;
	Schedd__V1alpha1__Decision *decision = encode_message(e, &schedd__v1alpha1__decision__descriptor);
	Schedd__V1alpha1__Decision__Reason *winner =
		encode_message(e, &schedd__v1alpha1__decision__reason__descriptor);

	m->detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_DECISION;
	m->decision = decision;
	decision->cgroup_id = d->cgroup_id;
	decision->cgroup_path = encode_text(e, d->path);
	decision->class_name = encode_text(e, event->class_name);
	decision->winner = winner;
	winner->source = encode_text(e, d->source);
	winner->key = encode_text(e, d->assignment_id[0] ? "assignment_id" : "");
	winner->value = encode_text(e, d->assignment_id);
	winner->class_name = encode_text(e, event->class_name);
}

static void encode_event_lease(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m)
{
	const struct event_lease *l = &event->lease;

	m->detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_LEASE;
	m->lease = encode_message(e, &schedd__v1alpha1__lease__descriptor);
	m->lease->lease_id = encode_text(e, l->id);
	m->lease->class_name = encode_text(e, event->class_name);
	m->lease->from_class_name = encode_text(e, event->from_class_name);
	m->lease->requested_cpus = l->requested_cpus;
	m->lease->granted_cpus = l->granted_cpus;
	m->lease->state = (Schedd__V1alpha1__Lease__State)l->state;
	m->lease->create_time = encode_time(e, l->create_realtime_ns);
	m->lease->expire_time = encode_time(e, l->expire_realtime_ns);
	m->lease->plan_generation = l->plan_generation;
	m->lease->config_generation = l->config_generation;
}

static void encode_event_reallocation(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m)
{
	const struct event_reallocation *r = &event->reallocation;

	m->detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_REALLOCATION;
	m->reallocation = encode_message(e, &schedd__v1alpha1__event__reallocation__descriptor);
	m->reallocation->cpu_id = r->cpu;
	m->reallocation->from_class_name = encode_text(e, event->from_class_name);
	m->reallocation->to_class_name = encode_text(e, event->class_name);
	m->reallocation->trigger = encode_text(e, r->trigger);
	m->reallocation->took = encode_duration(e, r->took_ns);
	m->reallocation->plan_generation = r->plan_generation;
}

static void encode_event_congestion(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m)
{
	m->detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_CONGESTION;
	m->congestion = encode_message(e, &schedd__v1alpha1__event__congestion__descriptor);
	m->congestion->class_name = encode_text(e, event->class_name);
	m->congestion->llc_id = event->congestion.llc;
	m->congestion->oldest_wait = encode_duration(e, event->congestion.oldest_wait_ns);
	m->congestion->began = event->congestion.began;
}

static void encode_event_state(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m)
{
	m->detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_STATE_CHANGE;
	m->state_change = encode_message(e, &schedd__v1alpha1__event__state_change__descriptor);
	m->state_change->from_state = encode_text(e, event->state.from);
	m->state_change->to_state = encode_text(e, event->state.to);
	m->state_change->exit_kind = encode_text(e, event->state.exit_kind);
	m->state_change->message = encode_text(e, event->state.message);
}

static void encode_event_dropped(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m)
{
	const struct event_dropped *d = &event->dropped;

	m->detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_DROPPED;
	m->dropped = encode_message(e, &schedd__v1alpha1__event__dropped__descriptor);
	m->dropped->count = d->last_sequence - d->first_sequence + 1;
	m->dropped->first_sequence = d->first_sequence;
	m->dropped->last_sequence = d->last_sequence;
}

static void encode_event_config(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m)
{
	m->detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_CONFIG_CHANGE;
	m->config_change = encode_message(e, &schedd__v1alpha1__event__config_change__descriptor);
	m->config_change->accepted = event->config.accepted;
	m->config_change->error = encode_text(e, event->config.error);
	m->config_change->config_generation = event->config.config_generation;
}

/* NULL: the type says it all, or nothing makes such events yet. */
static void (*const details[])(struct encoder *e, const struct event *event, Schedd__V1alpha1__Event *m) = {
	[EVENT_DROPPED] = encode_event_dropped,
	[EVENT_CLASS_CHANGED] = encode_event_class,
	[EVENT_CLASS_DELETED] = encode_event_class,
	[EVENT_DECISION_CHANGED] = encode_event_decision,
	[EVENT_DECISION_DENIED] = encode_event_decision,
	[EVENT_LEASE_CHANGED] = encode_event_lease,
	[EVENT_REALLOCATION] = encode_event_reallocation,
	[EVENT_CONGESTION] = encode_event_congestion,
	[EVENT_STATE_CHANGED] = encode_event_state,
	[EVENT_CONFIG_CHANGED] = encode_event_config,
	[EVENT_PREEMPTION] = NULL,
};
_Static_assert(ARRAY_SIZE(details) == NR_EVENT_TYPES, "every type is thought of");

int codec_event_encode(const struct event *event, uint8_t **ret_bytes, size_t *ret_size)
{
	struct encoder e = {};
	Schedd__V1alpha1__Event *m = encode_message(&e, &schedd__v1alpha1__event__descriptor);

	m->epoch = encode_text(&e, event->epoch);
	m->sequence = event->sequence;
	m->event_time = encode_time(&e, event->realtime_ns);
	m->type = (Schedd__V1alpha1__Event__Type)event->type;
	/* Nobody makes a bookmark or an end happen. */
	if (event->type > EVENT_DROPPED) {
		m->actor = encode_cause(&e, &event->cause);
		m->request_id = encode_text(&e, event->cause.request_id);
	}
	if (details[event->type])
		details[event->type](&e, event, m);
	return encode_finish(&e, &m->base, ret_bytes, ret_size);
}
