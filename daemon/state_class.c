/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_class.c - the classes of the model: found, made, changed, reverted, deleted, scaled */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/state_private.h"

int state_class_find(const struct state_class *classes, const char *name)
{
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (classes[i].used && strcmp(classes[i].name, name) == 0)
			return i;
	return -ENOENT;
}

int state_find_class(const struct state *s, const char *name)
{
	return state_class_find(s->classes, name);
}

/*
 * Of the free slots the one that is free for the longest time (revision is kept
 * when a class goes): tasks that still carry a class's number should be few
 * when another class gets it.
 */
int state_class_find_free(const struct state_class *classes)
{
	int best = -ENOSPC;

	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (!classes[i].used && (best < 0 || classes[i].revision < classes[best].revision))
			best = i;
	return best;
}

/* effective.kind must be set: it never changes after a class is made. */
void state_class_update(struct state_class *c, uint32_t nr_cpus)
{
	uint32_t kind = c->effective.kind;

	memset(&c->effective, 0, sizeof(c->effective));
	class_settings_default(&c->effective, kind, nr_cpus);
	class_settings_merge(&c->effective, &c->config);
	class_settings_merge(&c->effective, &c->override);
	c->effective.kind = kind;
}

int state_class_check(const struct state_class *c, uint32_t nr_cpus, char *error, size_t error_size)
{
	int r = class_settings_check(&c->config, error, error_size);

	if (r == 0)
		r = class_settings_check(&c->override, error, error_size);
	if (r == 0 && c->effective.guarantee_cpus > nr_cpus) {
		snprintf(error, error_size, "guarantee: %" PRIu32 " is above the %" PRIu32 " online CPUs",
			 c->effective.guarantee_cpus, nr_cpus);
		return -ERANGE;
	}
	/* Default, files and calls together. */
	return r < 0 ? r : class_settings_check(&c->effective, error, error_size);
}

bool state_class_is_used(const struct state *s, const char *name, const struct cgroup_rule *rules, size_t nr_rules,
			 char *error, size_t error_size)
{
	char text[128];

	for (size_t i = 0; i < s->nr_assignments; i++) {
		const struct state_assignment *a = &s->assignments[i];

		if (strcmp(a->class_name, name) != 0)
			continue;
		snprintf(error, error_size, "class %s is in use by the assignment %s of %s", name, a->id,
			 str_escape(text, sizeof(text), a->target_text));
		return true;
	}
	for (size_t i = 0; i < nr_rules; i++) {
		if (strcmp(rules[i].class_name, name) != 0)
			continue;
		snprintf(error, error_size, "class %s is in use by the rule at %s", name,
			 str_escape(text, sizeof(text), rules[i].origin));
		return true;
	}
	for (size_t i = 0; i < s->nr_leases; i++) {
		if (strcmp(s->leases[i].class_name, name) != 0 && strcmp(s->leases[i].from_class_name, name) != 0)
			continue;
		snprintf(error, error_size, "class %s is in use by the lease %s", name, s->leases[i].id);
		return true;
	}
	return false;
}

/* A copy of the class to change, or a new one: nothing is in force until it passed every check. */
static int find_or_make(const struct state *s, const char *name, const struct class_settings *settings, int *ret_slot,
			struct state_class *ret_class, char *error, size_t error_size)
{
	int slot = state_find_class(s, name);

	if (slot >= 0) {
		*ret_class = s->classes[slot];
		*ret_slot = slot;
		return 0;
	}
	if (!(settings->set & CLASS_FIELD_KIND)) {
		snprintf(error, error_size, "kind: a new class needs one: latency-critical, normal or best-effort");
		return -EINVAL;
	}
	slot = state_class_find_free(s->classes);
	if (slot < 0) {
		snprintf(error, error_size, "there are %d classes already, the most there can be; delete one first",
			 SCHEDD_MAX_CLASSES);
		return slot;
	}
	memset(ret_class, 0, sizeof(*ret_class));
	ret_class->used = true;
	ret_class->origin = CLASS_ORIGIN_API;
	strcpy(ret_class->name, name);
	ret_class->effective.kind = settings->kind;
	*ret_slot = slot;
	return 0;
}

/* The kind of a class of a call is stored with its settings; elsewhere it is no override. */
static uint32_t kind_field(const struct state_class *c)
{
	return c->origin == CLASS_ORIGIN_API ? CLASS_FIELD_KIND : 0;
}

int state_upsert_class(struct state *s, const char *name, const struct class_settings *settings, uint32_t fields,
		       bool persistent, int *ret_slot, char *error, size_t error_size)
{
	struct class_settings given = *settings;
	struct state_class c;
	int slot, r;

	if (class_name_check(name) < 0) {
		snprintf(error, error_size, "a class name is 1 to %d of a-z, 0-9 and \"-\", starts with a letter and does "
			 "not end with \"-\"", CLASS_NAME_MAX);
		return -EINVAL;
	}
	fields = fields ? fields : given.set;
	given.set &= fields;
	r = find_or_make(s, name, &given, &slot, &c, error, error_size);
	if (r < 0)
		return r;
	r = class_settings_check(&given, error, error_size);
	if (r < 0)
		return r;
	if (given.set & CLASS_FIELD_KIND && given.kind != c.effective.kind) {
		snprintf(error, error_size, "kind: class %s is %s, and the kind of a class cannot change; make another class",
			 name, class_kind_name(c.effective.kind));
		return -EINVAL;
	}
	c.override.set &= ~fields;
	class_settings_merge(&c.override, &given);
	c.override.kind = c.effective.kind;
	c.override.set = (c.override.set & ~(uint32_t)CLASS_FIELD_KIND) | kind_field(&c);
	c.persistent |= persistent;
	state_class_update(&c, s->nr_cpus);
	r = state_class_check(&c, s->nr_cpus, error, error_size);
	if (r < 0)
		return r;
	c.revision = s->next_id++;
	s->classes[slot] = c;
	state_scale_guarantees(s);
	if (ret_slot)
		*ret_slot = slot;
	return 0;
}

/* The revision alone would repeat after a restart, the settings alone after two changes. */
void state_class_etag(const struct state_class *c, char *ret_etag, size_t size)
{
	const struct class_settings *e = &c->effective;
	const uint64_t words[] = { e->kind, e->guarantee_cpus, e->burst_cpus, e->lend, e->slice_ns, e->quantum_ns, e->weight,
				   e->exclusive_smt, e->congestion_ns, e->wakeup_target_ns, c->override.set, c->config.set };
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		h = (h ^ words[i]) * UINT64_C(0x100000001b3);
	for (const char *p = e->policy; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	snprintf(ret_etag, size, "%" PRIx64 "-%08" PRIx32, c->revision, (uint32_t)(h ^ h >> 32));
}

static int find_for(const struct state *s, const char *name, char *error, size_t error_size)
{
	int slot = state_find_class(s, name);
	char text[64];

	if (slot < 0)
		snprintf(error, error_size, "no class %s", str_escape(text, sizeof(text), name));
	return slot;
}

int state_revert_class(struct state *s, const char *name, char *error, size_t error_size)
{
	int slot = find_for(s, name, error, error_size);
	struct state_class c;
	int r;

	if (slot < 0)
		return slot;
	c = s->classes[slot];
	if (c.origin == CLASS_ORIGIN_API) {
		snprintf(error, error_size, "class %s was made by a call, there is nothing to go back to; delete it instead",
			 name);
		return -EPERM;
	}
	memset(&c.override, 0, sizeof(c.override));
	c.persistent = false;
	state_class_update(&c, s->nr_cpus);
	r = state_class_check(&c, s->nr_cpus, error, error_size);
	if (r < 0)
		return r;
	c.revision = s->next_id++;
	s->classes[slot] = c;
	state_scale_guarantees(s);
	return 0;
}

int state_delete_class(struct state *s, const char *name, char *error, size_t error_size)
{
	int slot = find_for(s, name, error, error_size);
	struct state_class *c;

	if (slot < 0)
		return slot;
	c = &s->classes[slot];
	if (c->origin != CLASS_ORIGIN_API) {
		snprintf(error, error_size, c->origin == CLASS_ORIGIN_BUILTIN ?
			 "class %s is built in and cannot be deleted" :
			 "class %s belongs to the configuration; remove it from the files and reload", name);
		return -EPERM;
	}
	if (state_class_is_used(s, name, s->rules, s->nr_rules, error, error_size))
		return -EBUSY;
	memset(c, 0, sizeof(*c));
	c->revision = s->next_id++;
	state_scale_guarantees(s);
	state_recount(s);
	return 0;
}

/* Whether somebody asked for this guarantee; the default of a kind gives way to those. */
static bool is_explicit(const struct state_class *c)
{
	return (c->config.set | c->override.set) & CLASS_FIELD_GUARANTEE;
}

uint32_t state_ordered_cpus(const struct state_class *c)
{
	return is_explicit(c) ? c->asked_guarantee_cpus : c->leased_cpus;
}

/* What classes ask for, of one strength. */
struct asked {
	uint32_t cpus[SCHEDD_MAX_CLASSES];
	uint64_t sum;
};

static void ask(struct asked *a, int class_idx, uint32_t cpus)
{
	a->cpus[class_idx] += cpus;
	a->sum += cpus;
}

/* Largest remainder: the parts add up to `cpus` exactly, and no part is above its share rounded up. */
static void divide(struct asked *a, uint32_t cpus)
{
	uint64_t remainder[SCHEDD_MAX_CLASSES];
	uint32_t left = cpus;

	if (a->sum <= cpus)
		return;
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint64_t wanted = a->cpus[i];

		a->cpus[i] = (uint32_t)(wanted * cpus / a->sum);
		remainder[i] = wanted * cpus % a->sum;
		left -= a->cpus[i];
	}
	while (left--) {
		int best = 0;

		for (int i = 1; i < SCHEDD_MAX_CLASSES; i++)
			if (remainder[i] > remainder[best])
				best = i;
		a->cpus[best]++;
		remainder[best] = 0;
	}
}

static uint32_t subtract(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

static void set_limits(struct state_class *c, uint32_t guarantee_cpus)
{
	uint32_t burst_cpus = subtract(c->effective.burst_cpus, c->reassigned_cpus);

	c->effective_guarantee_cpus = guarantee_cpus;
	/* Every class may use one CPU, and what was ordered for it on top. */
	burst_cpus = burst_cpus ? burst_cpus : 1;
	c->effective_burst_cpus = burst_cpus > guarantee_cpus ? burst_cpus : guarantee_cpus;
}

void state_scale_guarantees(struct state *s)
{
	struct asked orders = { 0 }, defaults = { 0 };

	state_sum_leases(s);
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		struct state_class *c = &s->classes[i];
		uint32_t own = c->used ? subtract(c->effective.guarantee_cpus, c->reassigned_cpus) : 0;

		c->asked_guarantee_cpus = own + c->leased_cpus;
		ask(&orders, i, state_ordered_cpus(c));
		ask(&defaults, i, c->asked_guarantee_cpus - state_ordered_cpus(c));
	}
	s->guarantees_scaled = orders.sum > s->nr_cpus;
	divide(&defaults, s->guarantees_scaled ? 0 : s->nr_cpus - (uint32_t)orders.sum);
	divide(&orders, s->nr_cpus);
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		set_limits(&s->classes[i], orders.cpus[i] + defaults.cpus[i]);
	s->limits_generation++;
}
