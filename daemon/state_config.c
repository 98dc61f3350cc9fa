/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_config.c - the configuration's classes and rules put in force, all or nothing */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/state_private.h"

/* The classes as they will be; copied over the real ones when everything passed. */
struct next_config {
	struct state *s;
	struct state_class classes[SCHEDD_MAX_CLASSES];
	bool named[SCHEDD_MAX_CLASSES];
	const struct cgroup_rule *rules;
	size_t nr_rules;
	char *error;
	size_t error_size;
};

static int refuse(struct next_config *n, int r, const char *origin, const char *name, const char *why)
{
	snprintf(n->error, n->error_size, "%s: class %s: %s", origin ? origin : "?", name, why);
	return r;
}

static int make_class(struct next_config *n, const struct state_config_class *cc, int *ret_slot)
{
	int slot = state_class_find_free(n->classes);
	struct state_class *c;

	if (!(cc->settings.set & CLASS_FIELD_KIND))
		return refuse(n, -EINVAL, cc->origin, cc->name, "kind is missing: latency-critical, normal or best-effort");
	if (slot < 0)
		return refuse(n, -ENOSPC, cc->origin, cc->name, "there can be 16 classes, the built-in ones included");
	c = &n->classes[slot];
	memset(c, 0, sizeof(*c));
	c->used = true;
	strcpy(c->name, cc->name);
	c->origin = CLASS_ORIGIN_CONFIG;
	c->effective.kind = cc->settings.kind;
	*ret_slot = slot;
	return 0;
}

static int kind_conflict(struct next_config *n, const struct state_config_class *cc, const struct state_class *c)
{
	if (c->origin == CLASS_ORIGIN_API)
		return refuse(n, -EEXIST, cc->origin, cc->name,
			      "a call made a class of that name and another kind; `schedctl class delete` it or take another name");
	return refuse(n, -EINVAL, cc->origin, cc->name, c->origin == CLASS_ORIGIN_BUILTIN ?
		      "the kind of a built-in class cannot change" :
		      "the kind of a class cannot change while schedd runs; take another name");
}

static int take_class(struct next_config *n, const struct state_config_class *cc)
{
	int slot = state_class_find(n->classes, cc->name), r = 0;
	struct state_class *c;

	if (class_name_check(cc->name) < 0)
		return refuse(n, -EINVAL, cc->origin, "?", "not a class name");
	if (slot >= 0 && n->named[slot])
		return refuse(n, -EEXIST, cc->origin, cc->name, "defined twice");
	if (slot < 0)
		r = make_class(n, cc, &slot);
	if (r < 0)
		return r;
	c = &n->classes[slot];
	if (cc->settings.set & CLASS_FIELD_KIND && cc->settings.kind != c->effective.kind)
		return kind_conflict(n, cc, c);
	n->named[slot] = true;
	c->config = cc->settings;
	if (c->origin == CLASS_ORIGIN_API)
		c->origin = CLASS_ORIGIN_CONFIG;
	/* Now the files say the kind; what the call set beside it stays an override. */
	c->override.set &= ~(uint32_t)CLASS_FIELD_KIND;
	return 0;
}

static int drop_unnamed(struct next_config *n, const bool *keep)
{
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		struct state_class *c = &n->classes[i];

		if (keep[i] || !c->used || c->origin != CLASS_ORIGIN_CONFIG)
			continue;
		if (state_class_is_used(n->s, c->name, n->rules, n->nr_rules, n->error, n->error_size))
			return -EBUSY;
		memset(c, 0, sizeof(*c));
		/* Rises above all others, so that the slot is the last to be used again. */
		c->revision = UINT64_MAX;
	}
	return 0;
}

static int check_rules(struct next_config *n)
{
	for (size_t i = 0; i < n->nr_rules; i++) {
		const struct cgroup_rule *rule = &n->rules[i];
		char text[128];

		if (cgroup_rule_glob_check(rule->cgroup_glob) < 0) {
			snprintf(n->error, n->error_size, "%s: `%s' is not a cgroup path or glob", rule->origin,
				 str_escape(text, sizeof(text), rule->cgroup_glob));
			return -EINVAL;
		}
		if (state_class_find(n->classes, rule->class_name) < 0) {
			snprintf(n->error, n->error_size, "%s: no class `%s'", rule->origin,
				 str_escape(text, sizeof(text), rule->class_name));
			return -ENOENT;
		}
	}
	return 0;
}

static bool same_settings(const struct state_class *a, const struct state_class *b)
{
	return a->used == b->used && a->origin == b->origin && strcmp(a->name, b->name) == 0 &&
	       class_settings_equal(&a->config, &b->config) && class_settings_equal(&a->override, &b->override);
}

static int check_classes(struct next_config *n)
{
	char why[256];

	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		struct state_class *c = &n->classes[i];
		int r;

		if (!c->used)
			continue;
		state_class_update(c, n->s->nr_cpus);
		r = state_class_check(c, n->s->nr_cpus, why, sizeof(why));
		if (r < 0) {
			snprintf(n->error, n->error_size, "class %s: %s%s", c->name, why,
				 c->override.set ? " (calls changed this class: see `schedctl class show`)" : "");
			return r;
		}
	}
	return 0;
}

static int prepare(struct next_config *n, const struct state_config_class *classes, size_t nr_classes)
{
	bool keep[SCHEDD_MAX_CLASSES] = { false };
	int r;

	memcpy(n->classes, n->s->classes, sizeof(n->classes));
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		memset(&n->classes[i].config, 0, sizeof(n->classes[i].config));
	/* Room first: sixteen old names may give way to sixteen new ones. */
	for (size_t i = 0; i < nr_classes; i++) {
		int slot = state_class_find(n->classes, classes[i].name);

		if (slot >= 0)
			keep[slot] = true;
	}
	r = drop_unnamed(n, keep);
	for (size_t i = 0; r == 0 && i < nr_classes; i++)
		r = take_class(n, &classes[i]);
	if (r == 0)
		r = check_rules(n);
	return r < 0 ? r : check_classes(n);
}

int state_set_config(struct state *s, const struct state_config_class *classes, size_t nr_classes,
		     struct cgroup_rule *rules, size_t nr_rules, char *error, size_t error_size)
{
	struct next_config n = { .s = s, .rules = rules, .nr_rules = nr_rules, .error = error, .error_size = error_size };
	int r = prepare(&n, classes, nr_classes);

	if (r < 0)
		return r;
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (!same_settings(&n.classes[i], &s->classes[i]))
			n.classes[i].revision = s->next_id++;
	memcpy(s->classes, n.classes, sizeof(s->classes));
	state_free_rules(s->rules, s->nr_rules);
	s->rules = rules;
	s->nr_rules = nr_rules;
	s->config_generation++;
	state_scale_guarantees(s);
	state_recount(s);
	return 0;
}
