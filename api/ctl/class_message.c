// SPDX-License-Identifier: GPL-2.0-or-later
/* class_message.c - between KEY=VALUE, struct class_settings and the message SchedClass */
#include "api/ctl/class_message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/ctl/cli.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

static const struct class_key *find_key(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < class_nr_keys; i++)
		if ((strlen(class_keys[i].yaml) == length && !memcmp(class_keys[i].yaml, name, length)) ||
		    (strlen(class_keys[i].proto) == length && !memcmp(class_keys[i].proto, name, length)))
			return &class_keys[i];
	return NULL;
}

static int unknown_key(const char *word, size_t length, char *error, size_t error_size)
{
	const char *names[ARRAY_SIZE(((struct class_message *)0)->paths) + 1], *nearest;
	char key[64], list[256] = "";
	size_t i, at = 0;

	snprintf(key, sizeof(key), "%.*s", (int)(length < 60 ? length : 60), word);
	for (i = 0; i < class_nr_keys; i++) {
		names[i] = class_keys[i].yaml;
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "", class_keys[i].yaml);
	}
	names[i] = NULL;
	nearest = cli_nearest(key, names);
	if (nearest)
		snprintf(error, error_size, "a class has no key `%s'; did you mean `%s'?", key, nearest);
	else
		snprintf(error, error_size, "a class has no key `%s'; it has %s", key, list);
	return -EINVAL;
}

static int parse_word(struct class_message *m, const char *word, char *error, size_t error_size)
{
	size_t length = strcspn(word, "=");
	const struct class_key *key;
	char why[256];

	if (!word[length] || !length) {
		snprintf(error, error_size, "`%s' is not KEY=VALUE", word);
		return -EINVAL;
	}
	key = find_key(word, length);
	if (!key)
		return unknown_key(word, length, error, error_size);
	if ((m->settings.set | m->reset) & key->field) {
		snprintf(error, error_size, "`%s' was given twice", key->yaml);
		return -EINVAL;
	}
	m->paths[m->mask.n_paths++] = (char *)key->proto;
	if (!word[length + 1]) {
		m->reset |= key->field;
		return 0;
	}
	if (class_settings_parse_key(&m->settings, key, word + length + 1, why, sizeof(why)) < 0) {
		snprintf(error, error_size, "%s: `%s' %s", key->yaml, word + length + 1, why);
		return -EINVAL;
	}
	m->settings.set |= key->field;
	return 0;
}

static Google__Protobuf__UInt32Value *uint32_value(Google__Protobuf__UInt32Value *v, uint32_t value)
{
	google__protobuf__uint32_value__init(v);
	v->value = value;
	return v;
}

static Google__Protobuf__Duration *duration(Google__Protobuf__Duration *d, uint64_t ns)
{
	google__protobuf__duration__init(d);
	d->seconds = (int64_t)(ns / 1000000000);
	d->nanos = (int32_t)(ns % 1000000000);
	return d;
}

static void fill_message(struct class_message *m)
{
	const struct class_settings *s = &m->settings;
	Schedd__V1alpha1__SchedClass *c = &m->message;

	if (s->set & CLASS_FIELD_KIND)
		c->kind = (Schedd__V1alpha1__SchedClass__Kind)s->kind;
	if (s->set & CLASS_FIELD_GUARANTEE)
		c->guarantee_cpus = uint32_value(&m->guarantee, s->guarantee_cpus);
	if (s->set & CLASS_FIELD_BURST)
		c->burst_cpus = uint32_value(&m->burst, s->burst_cpus);
	if (s->set & CLASS_FIELD_LEND)
		c->lend = (Schedd__V1alpha1__SchedClass__Lend)s->lend;
	if (s->set & CLASS_FIELD_POLICY)
		c->policy = m->settings.policy;
	if (s->set & CLASS_FIELD_SLICE)
		c->slice = duration(&m->slice, s->slice_ns);
	if (s->set & CLASS_FIELD_QUANTUM)
		c->quantum = duration(&m->quantum, s->quantum_ns);
	if (s->set & CLASS_FIELD_WEIGHT)
		c->weight = uint32_value(&m->weight, s->weight);
	if (s->set & CLASS_FIELD_EXCLUSIVE_SMT) {
		google__protobuf__bool_value__init(&m->exclusive_smt);
		m->exclusive_smt.value = s->exclusive_smt;
		c->exclusive_smt = &m->exclusive_smt;
	}
	if (s->set & CLASS_FIELD_CONGESTION)
		c->congestion_threshold = duration(&m->congestion, s->congestion_ns);
	if (s->set & CLASS_FIELD_WAKEUP_TARGET)
		c->wakeup_target = duration(&m->wakeup_target, s->wakeup_target_ns);
}

int class_message_parse(struct class_message *ret, const char *name, const char *const *words, size_t nr_words,
			char *error, size_t error_size)
{
	size_t i;
	int r;

	memset(ret, 0, sizeof(*ret));
	schedd__v1alpha1__sched_class__init(&ret->message);
	google__protobuf__field_mask__init(&ret->mask);
	ret->mask.paths = ret->paths;
	for (i = 0; i < nr_words; i++) {
		r = parse_word(ret, words[i], error, error_size);
		if (r < 0)
			return r;
	}
	ret->message.name = (char *)name;
	fill_message(ret);
	return 0;
}

/* ---------- to text ---------- */

static void number_text(const Google__Protobuf__UInt32Value *v, char *dst, size_t size)
{
	if (v)
		snprintf(dst, size, "%" PRIu32, v->value);
}

static void duration_text(const Google__Protobuf__Duration *d, char *dst, size_t size)
{
	if (d && d->seconds >= 0 && d->nanos >= 0)
		str_format_duration_ns(dst, size, (uint64_t)d->seconds * 1000000000 + (uint64_t)d->nanos);
}

static void name_text(const char *name, char *dst, size_t size)
{
	snprintf(dst, size, "%s", name ? name : "");
}

char *class_message_value(const Schedd__V1alpha1__SchedClass *c, uint32_t field, char *dst, size_t size)
{
	*dst = '\0';
	switch ((enum class_field)field) {
	case CLASS_FIELD_KIND:
		name_text(class_kind_name((uint32_t)c->kind), dst, size);
		break;
	case CLASS_FIELD_GUARANTEE:
		number_text(c->guarantee_cpus, dst, size);
		break;
	case CLASS_FIELD_BURST:
		number_text(c->burst_cpus, dst, size);
		break;
	case CLASS_FIELD_LEND:
		name_text(class_lend_name((uint32_t)c->lend), dst, size);
		break;
	case CLASS_FIELD_POLICY:
		name_text(c->policy, dst, size);
		break;
	case CLASS_FIELD_SLICE:
		duration_text(c->slice, dst, size);
		break;
	case CLASS_FIELD_QUANTUM:
		duration_text(c->quantum, dst, size);
		break;
	case CLASS_FIELD_WEIGHT:
		number_text(c->weight, dst, size);
		break;
	case CLASS_FIELD_EXCLUSIVE_SMT:
		name_text(c->exclusive_smt ? (c->exclusive_smt->value ? "yes" : "no") : NULL, dst, size);
		break;
	case CLASS_FIELD_CONGESTION:
		duration_text(c->congestion_threshold, dst, size);
		break;
	case CLASS_FIELD_WAKEUP_TARGET:
		duration_text(c->wakeup_target, dst, size);
		break;
	case CLASS_FIELD_ALL:
		break;
	}
	return dst;
}

static bool has_name(char *const *names, size_t nr_names, const char *name)
{
	size_t i;

	for (i = 0; i < nr_names; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

const char *class_message_origin(const Schedd__V1alpha1__SchedClass *c, const struct class_key *key)
{
	if (has_name(c->overridden_fields, c->n_overridden_fields, key->proto))
		return "call";
	if (c->origin == SCHEDD__V1ALPHA1__SCHED_CLASS__ORIGIN__ORIGIN_BUILTIN && key->field == CLASS_FIELD_KIND)
		return "builtin";
	if (!has_name(c->own_fields, c->n_own_fields, key->proto))
		return "default";
	return c->origin == SCHEDD__V1ALPHA1__SCHED_CLASS__ORIGIN__ORIGIN_API ? "call" : "config";
}
