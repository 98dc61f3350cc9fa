/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_class.c - SchedClass in both directions */
#include <errno.h>
#include <string.h>

#include "api/codec_private.h"
#include "daemon/base/str.h"

/* ---------- decode ---------- */

static bool decode_cpus(struct class_settings *s, uint32_t field, const Google__Protobuf__UInt32Value *m,
			uint32_t *ret_value)
{
	if (m) {
		s->set |= field;
		*ret_value = m->value;
	}
	return true;
}

static bool decode_ns(struct class_settings *s, uint32_t field, const char *name, const Google__Protobuf__Duration *m,
		      struct reply *reply, uint64_t *ret_ns)
{
	if (!m)
		return true;
	s->set |= field;
	return check_duration(reply, name, m, 0, ret_ns);
}

static bool decode_enums(struct class_settings *s, const Schedd__V1alpha1__SchedClass *m, struct reply *reply)
{
	if (!check_enum(reply, "sched_class.kind", &schedd__v1alpha1__sched_class__kind__descriptor, (int)m->kind) ||
	    !check_enum(reply, "sched_class.lend", &schedd__v1alpha1__sched_class__lend__descriptor, (int)m->lend))
		return false;
	s->kind = (uint32_t)m->kind;
	s->lend = (uint32_t)m->lend;
	s->set |= (m->kind ? CLASS_FIELD_KIND : 0) | (m->lend ? CLASS_FIELD_LEND : 0);
	return true;
}

static bool decode_policy(struct class_settings *s, const char *policy, struct reply *reply)
{
	if (!*policy)
		return true;
	s->set |= CLASS_FIELD_POLICY;
	if (!check_text(reply, "sched_class.policy", policy, sizeof(s->policy) - 1))
		return false;
	return !str_copy(s->policy, sizeof(s->policy), policy);
}

static bool decode_settings(struct class_settings *s, const Schedd__V1alpha1__SchedClass *m, struct reply *reply)
{
	decode_cpus(s, CLASS_FIELD_GUARANTEE, m->guarantee_cpus, &s->guarantee_cpus);
	decode_cpus(s, CLASS_FIELD_BURST, m->burst_cpus, &s->burst_cpus);
	decode_cpus(s, CLASS_FIELD_WEIGHT, m->weight, &s->weight);
	if (m->exclusive_smt) {
		s->set |= CLASS_FIELD_EXCLUSIVE_SMT;
		s->exclusive_smt = m->exclusive_smt->value;
	}
	return decode_enums(s, m, reply) && decode_policy(s, m->policy, reply) &&
	       decode_ns(s, CLASS_FIELD_SLICE, "sched_class.slice", m->slice, reply, &s->slice_ns) &&
	       decode_ns(s, CLASS_FIELD_QUANTUM, "sched_class.quantum", m->quantum, reply, &s->quantum_ns) &&
	       decode_ns(s, CLASS_FIELD_CONGESTION, "sched_class.congestion_threshold", m->congestion_threshold, reply,
			 &s->congestion_ns) &&
	       decode_ns(s, CLASS_FIELD_WAKEUP_TARGET, "sched_class.wakeup_target", m->wakeup_target, reply,
			 &s->wakeup_target_ns);
}

static uint32_t mask_field(const char *path)
{
	if (!strcmp(path, "*"))
		return CLASS_FIELD_ALL;
	for (size_t i = 0; i < class_nr_keys; i++)
		if (!strcmp(path, class_keys[i].proto))
			return class_keys[i].field;
	return 0;
}

static bool decode_mask(const Google__Protobuf__FieldMask *mask, struct reply *reply, uint32_t *ret_fields)
{
	uint32_t fields = 0, field;
	char shown[128];

	for (size_t i = 0; mask && i < mask->n_paths; i++) {
		field = mask_field(mask->paths[i]);
		if (!field)
			return check_refuse(reply, REASON(INVALID_VALUE), "update_mask",
					    "\"%s\" is not a field of a class that can be set, or \"*\" for all",
					    str_escape(shown, sizeof(shown), mask->paths[i]));
		fields |= field;
	}
	*ret_fields = fields;
	return true;
}

bool codec_class_decode(struct codec_request *r, const Schedd__V1alpha1__UpsertClassRequest *m, struct reply *reply)
{
	struct class_settings *s = &r->cmd.settings;
	char error[256];
	int err;

	if (!m->sched_class)
		return check_refuse(reply, REASON(INVALID_VALUE), "sched_class", "is required");
	if (!check_class_name(reply, "sched_class.name", m->sched_class->name, &r->cmd.class_name) ||
	    !decode_settings(s, m->sched_class, reply) || !decode_mask(m->update_mask, reply, &r->cmd.update_fields))
		return false;
	/* What is valid but not supported is for the command to refuse: it knows this version. */
	err = class_settings_check(s, error, sizeof(error));
	return err == 0 || err == -EOPNOTSUPP ||
	       check_refuse(reply, REASON(INVALID_VALUE), "sched_class", "%s", error);
}

/* ---------- encode ---------- */

static char **encode_fields(struct encoder *e, uint32_t fields, size_t *ret_n)
{
	const char *names[32];
	size_t n = 0;

	for (size_t i = 0; i < class_nr_keys; i++)
		if (fields & class_keys[i].field)
			names[n++] = class_keys[i].proto;
	return encode_texts(e, names, n, ret_n);
}

static Google__Protobuf__BoolValue *encode_bool(struct encoder *e, bool value)
{
	Google__Protobuf__BoolValue *m = encode_message(e, &google__protobuf__bool_value__descriptor);

	m->value = value;
	return m;
}

static void encode_settings(struct encoder *e, const struct class_settings *s, Schedd__V1alpha1__SchedClass *m)
{
	m->kind = (Schedd__V1alpha1__SchedClass__Kind)s->kind;
	m->lend = (Schedd__V1alpha1__SchedClass__Lend)s->lend;
	m->policy = encode_text(e, s->policy);
	if (s->set & CLASS_FIELD_GUARANTEE)
		m->guarantee_cpus = encode_u32(e, s->guarantee_cpus);
	if (s->set & CLASS_FIELD_BURST)
		m->burst_cpus = encode_u32(e, s->burst_cpus);
	if (s->set & CLASS_FIELD_SLICE)
		m->slice = encode_duration(e, s->slice_ns);
	if (s->set & CLASS_FIELD_QUANTUM)
		m->quantum = encode_duration(e, s->quantum_ns);
	if (s->set & CLASS_FIELD_WEIGHT)
		m->weight = encode_u32(e, s->weight);
	if (s->set & CLASS_FIELD_EXCLUSIVE_SMT)
		m->exclusive_smt = encode_bool(e, s->exclusive_smt);
	if (s->set & CLASS_FIELD_CONGESTION)
		m->congestion_threshold = encode_duration(e, s->congestion_ns);
	if (s->set & CLASS_FIELD_WAKEUP_TARGET)
		m->wakeup_target = encode_duration(e, s->wakeup_target_ns);
}

void encode_class(struct encoder *e, const struct class_view *view, uint64_t config_generation,
		  Schedd__V1alpha1__SchedClass *m)
{
	m->name = encode_text(e, view->name);
	encode_settings(e, &view->settings, m);
	m->origin = (Schedd__V1alpha1__SchedClass__Origin)view->origin;
	m->overridden_fields = encode_fields(e, view->overridden_fields, &m->n_overridden_fields);
	m->own_fields = encode_fields(e, view->own_fields, &m->n_own_fields);
	m->etag = encode_text(e, view->etag);
	m->member_cgroups = view->member_cgroups;
	m->effective_guarantee_cpus = view->effective_guarantee_cpus;
	m->owned_cpu_ids = view->owned_cpus;
	m->n_owned_cpu_ids = view->nr_owned_cpus;
	m->held_cpu_ids = view->held_cpus;
	m->n_held_cpu_ids = view->nr_held_cpus;
	m->conditions = encode_conditions(e, view->conditions, view->nr_conditions, &m->n_conditions);
	m->config_generation = config_generation;
}

Schedd__V1alpha1__SchedClass **encode_classes(struct encoder *e, const struct class_view *views, size_t n,
					      uint64_t config_generation, size_t *ret_n)
{
	Schedd__V1alpha1__SchedClass **list =
		encode_messages(e, &schedd__v1alpha1__sched_class__descriptor, n, ret_n);

	for (size_t i = 0; i < *ret_n; i++)
		encode_class(e, &views[i], config_generation, list[i]);
	return list;
}
