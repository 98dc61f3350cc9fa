// SPDX-License-Identifier: GPL-2.0-or-later
/* event_text.c - events in words */
#include "api/ctl/event_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/ctl/class_message.h"
#include "api/ctl/cli.h"
#include "api/ctl/out.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

#define PREFIX "TYPE_"

/* ---------- kinds ---------- */

static void type_word(const char *name, char dst[EVENT_TYPE_MAX])
{
	size_t i;

	name += strncmp(name, PREFIX, sizeof(PREFIX) - 1) == 0 ? sizeof(PREFIX) - 1 : 0;
	for (i = 0; name[i] && i < EVENT_TYPE_MAX - 1; i++)
		dst[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	dst[i] = '\0';
}

char *event_type_name(Schedd__V1alpha1__Event__Type type, char dst[EVENT_TYPE_MAX])
{
	const ProtobufCEnumValue *v =
		protobuf_c_enum_descriptor_get_value(&schedd__v1alpha1__event__type__descriptor, (int)type);

	/* A daemon that is newer than this program. */
	if (v)
		type_word(v->name, dst);
	else
		snprintf(dst, EVENT_TYPE_MAX, "type-%d", (int)type);
	return dst;
}

int event_type_parse(const char *word, Schedd__V1alpha1__Event__Type *ret_type, char *error, size_t error_size)
{
	const ProtobufCEnumDescriptor *types = &schedd__v1alpha1__event__type__descriptor;
	char names[32][EVENT_TYPE_MAX], shown[128];
	const char *candidates[33] = { NULL };
	size_t n = 0;

	for (unsigned int i = 0; i < types->n_values && n < ARRAY_SIZE(names); i++) {
		/* Bookmarks and the like are part of every stream. */
		if (types->values[i].value <= SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_DROPPED)
			continue;
		type_word(types->values[i].name, names[n]);
		if (strcmp(names[n], word) == 0) {
			*ret_type = (Schedd__V1alpha1__Event__Type)types->values[i].value;
			return 0;
		}
		candidates[n] = names[n];
		n++;
	}
	str_escape(shown, sizeof(shown), word);
	if (cli_nearest(word, candidates))
		snprintf(error, error_size, "--type: unknown kind of event `%s'; did you mean `%s'?", shown,
			 cli_nearest(word, candidates));
	else
		snprintf(error, error_size, "--type: unknown kind of event `%s'; see the EVENTS of `man schedctl'", shown);
	return -EINVAL;
}

int event_position_parse(const char *text, char ret_epoch[EVENT_EPOCH_MAX], uint64_t *ret_sequence)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t sequence;

	if (!n || n >= EVENT_EPOCH_MAX || str_parse_u64(colon + 1, UINT64_MAX, &sequence) < 0)
		return -EINVAL;
	memcpy(ret_epoch, text, n);
	ret_epoch[n] = '\0';
	*ret_sequence = sequence;
	return 0;
}

/* ---------- what happened ---------- */

static bool is_own(const Schedd__V1alpha1__SchedClass *c, const char *field)
{
	for (size_t i = 0; i < c->n_own_fields; i++)
		if (strcmp(c->own_fields[i], field) == 0)
			return true;
	return false;
}

/* The keys that somebody set, as `class create' takes them. */
static void put_class(FILE *out, const Schedd__V1alpha1__SchedClass *c)
{
	char value[64];
	bool any = false;

	fputs(c->name, out);
	for (size_t i = 0; i < class_nr_keys; i++) {
		if (!is_own(c, class_keys[i].proto))
			continue;
		fprintf(out, "%s%s=%s", any ? " " : ": ", class_keys[i].yaml,
			class_message_value(c, class_keys[i].field, value, sizeof(value)));
		any = true;
	}
}

static void put_decision(FILE *out, const Schedd__V1alpha1__Decision *d)
{
	fprintf(out, "%s -> %s", d->cgroup_path, d->class_name);
	if (d->winner)
		fprintf(out, " (%s%s%s)", d->winner->source, *d->winner->value ? " " : "", d->winner->value);
	if (!d->cgroup_id)
		fputs(", once it is there", out);
}

static uint64_t duration_ns(const Google__Protobuf__Duration *d)
{
	return d && d->seconds >= 0 && d->nanos >= 0 ? (uint64_t)d->seconds * 1000000000u + (uint64_t)d->nanos : 0;
}

static const char *or_nobody(const char *name)
{
	return *name ? name : "nobody";
}

static void put_lease(FILE *out, const Schedd__V1alpha1__Lease *l)
{
	const ProtobufCEnumValue *state =
		protobuf_c_enum_descriptor_get_value(&schedd__v1alpha1__lease__state__descriptor, (int)l->state);
	char word[EVENT_TYPE_MAX];

	type_word(state && strlen(state->name) > 6 ? state->name + 6 : "UNKNOWN", word);
	fprintf(out, "%s: %s %" PRIu32 " CPU%s%s%s, %s", l->lease_id, l->class_name, l->granted_cpus,
		l->granted_cpus == 1 ? "" : "s", *l->from_class_name ? " from " : "", l->from_class_name, word);
}

static void put_reallocation(FILE *out, const Schedd__V1alpha1__Event__Reallocation *r)
{
	char took[32];

	fprintf(out, "CPU %" PRIu32 ": %s -> %s (%s%sin %s)", r->cpu_id, or_nobody(r->from_class_name),
		or_nobody(r->to_class_name), r->trigger, *r->trigger ? ", " : "",
		str_format_duration_ns(took, sizeof(took), duration_ns(r->took)));
}

static void put_congestion(FILE *out, const Schedd__V1alpha1__Event__Congestion *c)
{
	char wait[32];

	fprintf(out, "%s on LLC %" PRIu32 " %s, oldest wait %s", c->class_name, c->llc_id,
		c->began ? "is congested" : "is no longer congested",
		str_format_duration_ns(wait, sizeof(wait), duration_ns(c->oldest_wait)));
}

static void put_state(FILE *out, const Schedd__V1alpha1__Event__StateChange *s)
{
	fprintf(out, "%s -> %s", s->from_state, s->to_state);
	if (*s->exit_kind)
		fprintf(out, " (%s)", s->exit_kind);
	if (*s->message)
		fprintf(out, ": %s", s->message);
}

static void put_config(FILE *out, const Schedd__V1alpha1__Event__ConfigChange *c)
{
	if (c->accepted)
		fprintf(out, "reloaded, generation %" PRIu64, c->config_generation);
	else
		fprintf(out, "refused: %s", c->error);
}

static void put_dropped(FILE *out, const Schedd__V1alpha1__Event__Dropped *d)
{
	fprintf(out, "%" PRIu64 " events (%" PRIu64 " to %" PRIu64 ") are missing here: they were not read fast enough",
		d->count, d->first_sequence, d->last_sequence);
}

static void put_detail(FILE *out, const Schedd__V1alpha1__Event *e)
{
	switch (e->detail_case) {
	case SCHEDD__V1ALPHA1__EVENT__DETAIL_SCHED_CLASS:
		put_class(out, e->sched_class);
		break;
	case SCHEDD__V1ALPHA1__EVENT__DETAIL_DECISION:
		put_decision(out, e->decision);
		break;
	case SCHEDD__V1ALPHA1__EVENT__DETAIL_LEASE:
		put_lease(out, e->lease);
		break;
	case SCHEDD__V1ALPHA1__EVENT__DETAIL_REALLOCATION:
		put_reallocation(out, e->reallocation);
		break;
	case SCHEDD__V1ALPHA1__EVENT__DETAIL_CONGESTION:
		put_congestion(out, e->congestion);
		break;
	case SCHEDD__V1ALPHA1__EVENT__DETAIL_STATE_CHANGE:
		put_state(out, e->state_change);
		break;
	case SCHEDD__V1ALPHA1__EVENT__DETAIL_DROPPED:
		put_dropped(out, e->dropped);
		break;
	case SCHEDD__V1ALPHA1__EVENT__DETAIL_CONFIG_CHANGE:
		put_config(out, e->config_change);
		break;
	default:
		fputs("-", out);
	}
}

char *event_text(const Schedd__V1alpha1__Event *e)
{
	_cleanup_free_ char *raw = NULL;
	size_t size;
	FILE *out = open_memstream(&raw, &size);

	if (out) {
		put_detail(out, e);
		fclose(out);
	}
	return out_path(raw ? raw : "out of memory");
}

char *event_actor(const Schedd__V1alpha1__Event *e)
{
	char text[256] = "-";

	if (e->actor && e->actor->uid)
		snprintf(text, sizeof(text), "uid %" PRIu32 "%s%.100s%s", e->actor->uid->value,
			 *e->actor->comm ? " (" : "", e->actor->comm, *e->actor->comm ? ")" : "");
	else if (e->actor && *e->actor->source)
		snprintf(text, sizeof(text), "%.100s", e->actor->source);
	return out_text(text);
}
