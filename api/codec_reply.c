/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_reply.c - struct reply -> bytes of the response, one function for each message */
#include <errno.h>

#include "api/codec_private.h"
#include "daemon/base/cleanup.h"

typedef ProtobufCMessage *reply_encoder(struct encoder *e, const struct reply *reply);

/* ---------- node and configuration ---------- */

static Schedd__V1alpha1__Feature **encode_features(struct encoder *e, const struct status_view *view, size_t *ret_n)
{
	Schedd__V1alpha1__Feature **list =
		encode_messages(e, &schedd__v1alpha1__feature__descriptor, view->nr_features, ret_n);

	for (size_t i = 0; i < *ret_n; i++) {
		list[i]->name = encode_text(e, view->features[i].name);
		list[i]->present = view->features[i].present;
		list[i]->detail = encode_text(e, view->features[i].detail);
	}
	return list;
}

static void encode_build(struct encoder *e, const struct status_view *view, Schedd__V1alpha1__NodeStatus *m)
{
	m->version = encode_text(e, view->version);
	m->revision = encode_text(e, view->revision);
	m->bpf_hash = encode_text(e, view->bpf_hash);
	m->kernel = encode_text(e, view->kernel);
}

static ProtobufCMessage *encode_node(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__NodeStatus *m = encode_message(e, &schedd__v1alpha1__node_status__descriptor);
	const struct status_view *view = &reply->node;

	m->mode = encode_text(e, view->mode);
	m->state = encode_text(e, view->state);
	m->state_reason = encode_text(e, view->state_reason);
	m->hold_reason = encode_text(e, view->hold_reason);
	m->hold_until_time = encode_time(e, view->hold_until_realtime_ns);
	m->epoch = encode_text(e, view->epoch);
	m->config_generation = view->config_generation;
	m->plan_generation = view->plan_generation;
	encode_build(e, view, m);
	m->online_cpus = view->online_cpus;
	m->managed_cgroups = view->managed_cgroups;
	m->cpu_limits_unenforced_cgroups = view->cpu_limits_unenforced_cgroups;
	m->ejections = view->ejections;
	m->attached_duration = encode_duration(e, view->attached_ns);
	m->detached_duration = encode_duration(e, view->detached_ns);
	m->uptime_duration = encode_duration(e, view->uptime_ns);
	m->conditions = encode_conditions(e, view->conditions, view->nr_conditions, &m->n_conditions);
	m->features = encode_features(e, view, &m->n_features);
	m->classes = encode_classes(e, view->classes, view->nr_classes, view->config_generation, &m->n_classes);
	m->healthy = view->healthy;
	m->ready = view->ready;
	return &m->base;
}

static ProtobufCMessage *encode_reload(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__ReloadConfigResponse *m =
		encode_message(e, &schedd__v1alpha1__reload_config_response__descriptor);
	const struct config_view *view = &reply->config;

	m->accepted = view->reload_accepted;
	m->config_generation = reply->config_generation;
	m->files = encode_texts(e, view->files, view->nr_files, &m->n_files);
	m->errors = encode_messages(e, &schedd__v1alpha1__config_error__descriptor, view->nr_errors, &m->n_errors);
	for (size_t i = 0; i < m->n_errors; i++) {
		m->errors[i]->file = encode_text(e, view->errors[i].file);
		m->errors[i]->line = view->errors[i].line;
		m->errors[i]->column = view->errors[i].column;
		m->errors[i]->key = encode_text(e, view->errors[i].key);
		m->errors[i]->value = encode_text(e, view->errors[i].value);
		m->errors[i]->message = encode_text(e, view->errors[i].message);
	}
	return &m->base;
}

static ProtobufCMessage *encode_config(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__GetConfigResponse *m =
		encode_message(e, &schedd__v1alpha1__get_config_response__descriptor);

	m->yaml = encode_utf8(e, reply->config.yaml);
	m->files = encode_texts(e, reply->config.files, reply->config.nr_files, &m->n_files);
	m->config_generation = reply->config_generation;
	return &m->base;
}

/* ---------- classes ---------- */

static ProtobufCMessage *encode_class_list(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__ListClassesResponse *m =
		encode_message(e, &schedd__v1alpha1__list_classes_response__descriptor);

	m->classes = encode_classes(e, reply->classes, reply->nr_classes, reply->config_generation, &m->n_classes);
	m->next_page_token = encode_text(e, reply->next_page_token);
	return &m->base;
}

static ProtobufCMessage *encode_one_class(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__SchedClass *m = encode_message(e, &schedd__v1alpha1__sched_class__descriptor);

	if (reply->nr_classes)
		encode_class(e, &reply->classes[0], reply->config_generation, m);
	return &m->base;
}

static ProtobufCMessage *encode_deleted(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__DeleteClassResponse *m =
		encode_message(e, &schedd__v1alpha1__delete_class_response__descriptor);

	m->config_generation = reply->config_generation;
	return &m->base;
}

/* ---------- decisions and assignments ---------- */

static void encode_reason(struct encoder *e, const struct reason_view *view, Schedd__V1alpha1__Decision__Reason *m)
{
	m->source = encode_text(e, view->source);
	m->key = encode_text(e, view->key);
	m->value = encode_text(e, view->value);
	m->rule = encode_text(e, view->rule);
	m->class_name = encode_text(e, view->class_name);
	m->at_cgroup_id = view->at_cgroup_id;
}

static void encode_decision(struct encoder *e, const struct decision_view *view, Schedd__V1alpha1__Decision *m)
{
	m->cgroup_id = view->cgroup_id;
	m->cgroup_path = encode_text(e, view->cgroup_path);
	m->class_name = encode_text(e, view->class_name);
	m->winner = encode_message(e, &schedd__v1alpha1__decision__reason__descriptor);
	encode_reason(e, &view->winner, m->winner);
	m->overridden = encode_messages(e, &schedd__v1alpha1__decision__reason__descriptor, view->nr_overridden,
					&m->n_overridden);
	for (size_t i = 0; i < m->n_overridden; i++)
		encode_reason(e, &view->overridden[i], m->overridden[i]);
	m->capped_by = encode_text(e, view->capped_by);
}

Schedd__V1alpha1__Decision **encode_decisions(struct encoder *e, const struct decision_view *views, size_t n,
					      size_t *ret_n)
{
	Schedd__V1alpha1__Decision **list = encode_messages(e, &schedd__v1alpha1__decision__descriptor, n, ret_n);

	for (size_t i = 0; i < *ret_n; i++)
		encode_decision(e, &views[i], list[i]);
	return list;
}

static Schedd__V1alpha1__Actor *encode_actor(struct encoder *e, uid_t uid, pid_t pid, const char *comm)
{
	Schedd__V1alpha1__Actor *m = encode_message(e, &schedd__v1alpha1__actor__descriptor);

	m->uid = encode_u32(e, uid);
	m->pid = pid;
	m->comm = encode_text(e, comm);
	m->source = encode_text(e, "api");
	return m;
}

static void encode_assignment(struct encoder *e, const struct assignment_view *view, Schedd__V1alpha1__Assignment *m)
{
	m->assignment_id = encode_text(e, view->id);
	m->target = encode_target(e, view);
	m->class_name = encode_text(e, view->class_name);
	m->lifetime = (Schedd__V1alpha1__Lifetime)view->lifetime;
	m->state = (Schedd__V1alpha1__Assignment__State)view->state;
	m->actor = encode_actor(e, view->actor_uid, view->actor_pid, view->actor_comm);
	m->reason = encode_text(e, view->reason);
	m->create_time = encode_time(e, view->create_realtime_ns);
	m->expire_time = encode_time(e, view->expire_realtime_ns);
	m->affected = encode_decisions(e, view->affected, view->nr_affected, &m->n_affected);
	m->affected_total = view->affected_total;
	m->config_generation = view->config_generation;
	m->cgroup_id = view->cgroup_id;
}

static ProtobufCMessage *encode_one_assignment(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__Assignment *m = encode_message(e, &schedd__v1alpha1__assignment__descriptor);

	if (reply->nr_assignments)
		encode_assignment(e, &reply->assignments[0], m);
	return &m->base;
}

static ProtobufCMessage *encode_assignment_list(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__ListAssignmentsResponse *m =
		encode_message(e, &schedd__v1alpha1__list_assignments_response__descriptor);

	m->assignments = encode_messages(e, &schedd__v1alpha1__assignment__descriptor, reply->nr_assignments,
					 &m->n_assignments);
	for (size_t i = 0; i < m->n_assignments; i++)
		encode_assignment(e, &reply->assignments[i], m->assignments[i]);
	m->next_page_token = encode_text(e, reply->next_page_token);
	return &m->base;
}

static ProtobufCMessage *encode_explanation(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__ExplainTargetResponse *m =
		encode_message(e, &schedd__v1alpha1__explain_target_response__descriptor);

	m->decisions = encode_decisions(e, reply->decisions, reply->nr_decisions, &m->n_decisions);
	return &m->base;
}

static ProtobufCMessage *encode_cgroup_list(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__ListCgroupsResponse *m =
		encode_message(e, &schedd__v1alpha1__list_cgroups_response__descriptor);

	m->decisions = encode_decisions(e, reply->decisions, reply->nr_decisions, &m->n_decisions);
	m->next_page_token = encode_text(e, reply->next_page_token);
	return &m->base;
}

/* ---------- leases ---------- */

static void encode_lease(struct encoder *e, const struct lease_view *view, Schedd__V1alpha1__Lease *m)
{
	m->lease_id = encode_text(e, view->id);
	m->class_name = encode_text(e, view->class_name);
	m->from_class_name = encode_text(e, view->from_class_name);
	m->requested_cpus = view->requested_cpus;
	m->granted_cpus = view->granted_cpus;
	m->cpu_ids = view->cpu_ids;
	m->n_cpu_ids = view->nr_cpu_ids;
	m->state = (Schedd__V1alpha1__Lease__State)view->state;
	m->holder = encode_actor(e, view->actor_uid, view->actor_pid, view->actor_comm);
	m->reason = encode_text(e, view->reason);
	m->create_time = encode_time(e, view->create_realtime_ns);
	m->expire_time = encode_time(e, view->expire_realtime_ns);
	m->owned_after = view->was_owned ? encode_duration(e, view->owned_after_ns) : NULL;
	m->running_after = view->was_running ? encode_duration(e, view->running_after_ns) : NULL;
	m->plan_generation = view->plan_generation;
	m->config_generation = view->config_generation;
}

static ProtobufCMessage *encode_one_lease(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__Lease *m = encode_message(e, &schedd__v1alpha1__lease__descriptor);

	if (reply->nr_leases)
		encode_lease(e, &reply->leases[0], m);
	return &m->base;
}

static ProtobufCMessage *encode_lease_list(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__ListLeasesResponse *m =
		encode_message(e, &schedd__v1alpha1__list_leases_response__descriptor);

	m->leases = encode_messages(e, &schedd__v1alpha1__lease__descriptor, reply->nr_leases, &m->n_leases);
	for (size_t i = 0; i < m->n_leases; i++)
		encode_lease(e, &reply->leases[i], m->leases[i]);
	m->next_page_token = encode_text(e, reply->next_page_token);
	return &m->base;
}

/* ---------- plan ---------- */

static void encode_plan_classes(struct encoder *e, const struct plan_view *view, Schedd__V1alpha1__Plan *m)
{
	m->classes = encode_messages(e, &schedd__v1alpha1__plan__class_plan__descriptor, view->nr_classes,
				     &m->n_classes);
	for (size_t i = 0; i < m->n_classes; i++) {
		m->classes[i]->class_name = encode_text(e, view->classes[i].class_name);
		m->classes[i]->guarantee_cpus = view->classes[i].guarantee_cpus;
		m->classes[i]->leased_cpus = view->classes[i].leased_cpus;
		m->classes[i]->owned_cpus = view->classes[i].owned_cpus;
		m->classes[i]->held_cpus = view->classes[i].held_cpus;
		m->classes[i]->reachable_cpus = view->classes[i].reachable_cpus;
	}
}

static void encode_plan_cpus(struct encoder *e, const struct plan_view *view, Schedd__V1alpha1__Plan *m)
{
	m->cpus = encode_messages(e, &schedd__v1alpha1__plan__cpu_plan__descriptor, view->nr_cpus, &m->n_cpus);
	for (size_t i = 0; i < m->n_cpus; i++) {
		m->cpus[i]->cpu_id = view->cpus[i].cpu_id;
		m->cpus[i]->core_id = view->cpus[i].core_id;
		m->cpus[i]->llc_id = view->cpus[i].llc_id;
		m->cpus[i]->numa_node = view->cpus[i].numa_node;
		m->cpus[i]->owner_class_name = encode_text(e, view->cpus[i].owner_class_name);
		m->cpus[i]->holder_class_name = encode_text(e, view->cpus[i].holder_class_name);
		m->cpus[i]->lease_id = encode_text(e, view->cpus[i].lease_id);
		m->cpus[i]->exclusion = (Schedd__V1alpha1__Plan__Exclusion)view->cpus[i].exclusion;
	}
}

static ProtobufCMessage *encode_plan(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__Plan *m = encode_message(e, &schedd__v1alpha1__plan__descriptor);
	const struct plan_view *view = &reply->plan;

	m->epoch = encode_text(e, reply->node.epoch);
	m->plan_generation = reply->node.plan_generation;
	m->config_generation = reply->config_generation;
	m->apply_time = encode_time(e, view->apply_realtime_ns);
	m->mode = encode_text(e, reply->node.mode);
	m->policy = encode_text(e, view->policy);
	encode_plan_classes(e, view, m);
	encode_plan_cpus(e, view, m);
	return &m->base;
}

/* Its answer is a stream, see codec_event.c; this is the one of a daemon that keeps none. */
static ProtobufCMessage *encode_no_event(struct encoder *e, const struct reply *reply)
{
	Schedd__V1alpha1__Event *m = encode_message(e, &schedd__v1alpha1__event__descriptor);

	(void)reply;
	return &m->base;
}

static reply_encoder *const encoders[] = {
	[COMMAND_GET_STATUS] = encode_node,
	[COMMAND_SET_MODE] = encode_node,
	[COMMAND_RELOAD_CONFIG] = encode_reload,
	[COMMAND_GET_CONFIG] = encode_config,
	[COMMAND_LIST_CLASSES] = encode_class_list,
	[COMMAND_GET_CLASS] = encode_one_class,
	[COMMAND_UPSERT_CLASS] = encode_one_class,
	[COMMAND_REVERT_CLASS] = encode_one_class,
	[COMMAND_DELETE_CLASS] = encode_deleted,
	[COMMAND_SET_CLASS] = encode_one_assignment,
	[COMMAND_UNSET_CLASS] = encode_one_assignment,
	[COMMAND_LIST_ASSIGNMENTS] = encode_assignment_list,
	[COMMAND_EXPLAIN_TARGET] = encode_explanation,
	[COMMAND_LIST_CGROUPS] = encode_cgroup_list,
	[COMMAND_GET_PLAN] = encode_plan,
	[COMMAND_GRANT_CORES] = encode_one_lease,
	[COMMAND_REASSIGN_CORES] = encode_one_lease,
	[COMMAND_RENEW_LEASE] = encode_one_lease,
	[COMMAND_RELEASE_LEASE] = encode_one_lease,
	[COMMAND_LIST_LEASES] = encode_lease_list,
	[COMMAND_WATCH_EVENTS] = encode_no_event,
};
_Static_assert(ARRAY_SIZE(encoders) == NR_COMMANDS, "every command has an encoder");

int codec_reply_encode(enum command_type type, const struct reply *reply, uint8_t **ret_bytes, size_t *ret_size)
{
	struct encoder e = {};

	return encode_finish(&e, encoders[type](&e, reply), ret_bytes, ret_size);
}
