/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_finish.c - what can only be judged once every file was read: kinds, limits, classes of rules */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/class.h"
#include "daemon/config_private.h"

#define LEAST_TIMER_INTERVAL_NS UINT64_C(100000)

/* Built-in classes have the kind of their name, whether a file says so or not. */
static int finish_kind(struct config_build *b, struct config_class_draft *draft)
{
	char key[64];

	if (draft->class.settings.set & CLASS_FIELD_KIND)
		return 0;
	if (class_kind_parse(draft->class.name, &draft->class.settings.kind) == 0) {
		draft->class.settings.set |= CLASS_FIELD_KIND;
		return 0;
	}
	if (draft->kind_refused)
		return 0;
	snprintf(key, sizeof(key), "classes.%s.kind", draft->class.name);
	return config_report(b->config, &draft->place, key, "",
			     "missing; a class of your own needs kind: latency-critical, normal or best-effort");
}

/* Keys that are right alone can be wrong together, across files and with defaults too. */
static int finish_limits(struct config_build *b, struct config_class_draft *draft)
{
	const struct config_place *place = &draft->place;
	struct class_settings all = { 0 };
	char key[64], error[256];
	size_t i;

	if (b->nr_cpus)
		class_settings_default(&all, draft->class.settings.kind, b->nr_cpus);
	class_settings_merge(&all, &draft->class.settings);
	if (class_settings_check(&all, error, sizeof(error)) == 0)
		return 0;
	for (i = 0; i < class_nr_keys; i++)
		if (class_keys[i].field == CLASS_FIELD_BURST && draft->key_places[i].file)
			place = &draft->key_places[i];
	snprintf(key, sizeof(key), "classes.%s", draft->class.name);
	return config_report(b->config, place, key, "", "%s", error);
}

static bool class_exists(const struct config_build *b, const char *name)
{
	uint32_t kind;
	size_t i;

	for (i = 0; i < b->nr_classes; i++)
		if (!strcmp(b->classes[i].class.name, name))
			return true;
	return class_kind_parse(name, &kind) == 0;
}

static int finish_classes(struct config_build *b)
{
	struct config *c = b->config;
	size_t i;
	int r = 0;

	c->classes = arena_array(&c->arena, struct state_config_class, b->nr_classes + 1);
	if (!c->classes)
		return -ENOMEM;
	for (i = 0; i < b->nr_classes && r == 0; i++) {
		r = finish_kind(b, &b->classes[i]);
		if (r == 0)
			r = finish_limits(b, &b->classes[i]);
		c->classes[c->nr_classes++] = b->classes[i].class;
	}
	return r;
}

static int finish_rules(struct config_build *b)
{
	const struct config_rule_draft *draft;
	struct config *c = b->config;
	int r = 0;

	c->rules = arena_array(&c->arena, struct cgroup_rule, b->nr_rules + 1);
	if (!c->rules)
		return -ENOMEM;
	for (draft = b->rules; draft && r == 0; draft = draft->next) {
		if (!class_exists(b, draft->rule.class_name))
			r = config_report(c, &draft->class_place, draft->class_key, draft->class_text,
					  "no such class; define it under classes: or use latency-critical, normal or "
					  "best-effort");
		c->rules[c->nr_rules++] = draft->rule;
	}
	return r;
}

/* On a timer each step costs a wake-up: faster than this it would cost more than it could give. */
static int finish_interval(struct config_build *b)
{
	const struct config *c = b->config;

	if (c->poll_cpu >= 0 || c->interval_ns >= LEAST_TIMER_INTERVAL_NS)
		return 0;
	return config_report(b->config, &b->interval_place, "allocator.interval", "",
			     "below 100us needs a CPU of its own: set allocator.poll_cpu too");
}

int config_build_finish(struct config_build *b)
{
	int r = finish_classes(b);

	if (r == 0)
		r = finish_rules(b);
	return r < 0 ? r : finish_interval(b);
}
