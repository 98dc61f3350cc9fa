/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_build.c - a tree of nodes -> the settings they stand for; every mistake is reported, not only the first */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/class.h"
#include "daemon/config_private.h"
#include "daemon/config_schema.h"

#define LATER_TEXT "not supported yet by this version"

struct builder {
	struct config_build *b;
	const char *file;
};

static struct config_place value_place(const struct builder *w, const struct config_node *node)
{
	return (struct config_place){ .file = w->file, .line = node->line, .column = node->column };
}

static struct config_place key_place(const struct builder *w, const struct config_node *node)
{
	return (struct config_place){ .file = w->file, .line = node->key_line, .column = node->key_column };
}

/* "prefix" as shown to the user ("rules[2]."), "generic" as the schema knows it ("rules[]."). */
static int report_unknown(const struct builder *w, const char *prefix, const char *generic,
			  const struct config_node *node)
{
	struct config_place place = key_place(w, node);
	char path[256], key[256], text[512];

	snprintf(path, sizeof(path), "%s%s", generic, node->key);
	snprintf(key, sizeof(key), "%s%s", prefix, node->key);
	if (config_schema_is_later(path))
		return config_report(w->b->config, &place, key, node->text, LATER_TEXT "; remove it");
	config_schema_suggest(generic, node->key, text, sizeof(text));
	return config_report(w->b->config, &place, key, node->text, "%s", text);
}

/* True when node is of that type; else it is reported and *ret_r says how that went. */
static bool expect_type(const struct builder *w, const struct config_node *node, enum config_node_type type,
			const char *key, int *ret_r)
{
	struct config_place place = value_place(w, node);

	*ret_r = 0;
	if (node->type == type && (type != CONFIG_NODE_SCALAR || !node->is_null))
		return true;
	*ret_r = config_report(w->b->config, &place, key, node->text, "must be %s, not %s", config_node_type_name(type),
			       node->is_null ? "nothing" : config_node_type_name(node->type));
	return false;
}

/* A scalar for which "allowed" says what is right. */
static bool expect_value(const struct builder *w, const struct config_node *node, const char *allowed, const char *key,
			 int *ret_r)
{
	struct config_place place = value_place(w, node);

	*ret_r = 0;
	if (node->type == CONFIG_NODE_SCALAR && !node->is_null)
		return true;
	*ret_r = config_report(w->b->config, &place, key, node->text, "must be %s, not %s", allowed,
			       node->is_null ? "nothing" : config_node_type_name(node->type));
	return false;
}

static int build_scalar(const struct builder *w, const struct config_schema_key *key, const struct config_node *node)
{
	struct config_place place = value_place(w, node);
	int r;

	if (!expect_value(w, node, key->help, key->path, &r))
		return r;
	r = key->set(w->b->config, node->text);
	if (r == 0 && strcmp(key->path, "allocator.interval") == 0)
		w->b->interval_place = place;
	if (r == 0 || r == -ENOMEM)
		return r;
	return config_report(w->b->config, &place, key->path, node->text, "must be %s", key->help);
}

static int build_section(const struct builder *w, const struct config_node *section)
{
	const struct config_schema_key *key;
	const struct config_node *node;
	char prefix[32], path[256];
	int r = 0;

	snprintf(prefix, sizeof(prefix), "%s.", section->key);
	for (node = section->first; node && r == 0; node = node->next) {
		snprintf(path, sizeof(path), "%s%s", prefix, node->key);
		key = config_schema_find(path);
		r = key ? build_scalar(w, key, node) : report_unknown(w, prefix, prefix, node);
	}
	return r;
}

static int builtin_kind(const char *name, uint32_t *ret_kind)
{
	/* The names of the built-in classes are those of their kinds. */
	return class_kind_parse(name, ret_kind);
}

static int build_class_key(const struct builder *w, struct config_class_draft *draft, const struct config_node *node,
			   const char *prefix)
{
	struct config_place place = value_place(w, node);
	struct class_settings parsed = draft->class.settings;
	const struct class_key *key = NULL;
	char error[256], path[256];
	uint32_t kind;
	size_t i;
	int r;

	for (i = 0; i < class_nr_keys && !key; i++)
		if (!strcmp(class_keys[i].yaml, node->key))
			key = &class_keys[i];
	if (!key)
		return report_unknown(w, prefix, "classes.NAME.", node);
	snprintf(path, sizeof(path), "%s%s", prefix, key->yaml);
	draft->kind_refused |= key->field == CLASS_FIELD_KIND;
	if (!expect_value(w, node, key->help, path, &r))
		return r;
	if (class_settings_parse_key(&parsed, key, node->text, error, sizeof(error)) < 0)
		return config_report(w->b->config, &place, path, node->text, "%s", error);
	if (key->field == CLASS_FIELD_KIND && builtin_kind(draft->class.name, &kind) == 0 && kind != parsed.kind)
		return config_report(w->b->config, &place, path, node->text,
				     "the kind of a built-in class cannot be changed; make a class with another name");
	if (key->field == CLASS_FIELD_GUARANTEE && w->b->nr_cpus && parsed.guarantee_cpus > w->b->nr_cpus)
		return config_report(w->b->config, &place, path, node->text, "above the %" PRIu32 " online CPUs",
				     w->b->nr_cpus);
	draft->class.settings = parsed;
	draft->key_places[key - class_keys] = place;
	return 0;
}

static struct config_class_draft *find_draft(struct config_build *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->nr_classes; i++)
		if (!strcmp(b->classes[i].class.name, name))
			return &b->classes[i];
	return NULL;
}

/* *ret_draft stays NULL when the name was refused. */
static int get_draft(const struct builder *w, const struct config_node *node, const char *key,
		     struct config_class_draft **ret_draft)
{
	const char *name = class_name_canonical(node->key);
	struct config_place place = key_place(w, node);
	struct config_build *b = w->b;
	struct config_class_draft *draft;
	uint32_t kind;

	if (class_name_check(name) < 0)
		return config_report(b->config, &place, key, "",
				     "not a class name: a lower-case letter, then up to %d of a-z, 0-9 and -, "
				     "the last not a -", CLASS_NAME_MAX - 1);
	draft = find_draft(b, name);
	/* One file gives a class one place; "lc" beside "latency-critical" is most likely a mistake. */
	if (draft && draft->last.file == w->file)
		return config_report(b->config, &place, key, "", "the class %s is in this file twice, first at line %"
				     PRIu32 "; put its keys together", name, draft->last.line);
	if (!draft) {
		if (builtin_kind(name, &kind) < 0 && ++b->nr_own_classes > SCHEDD_MAX_CLASSES - SCHEDD_NR_BUILTIN)
			return config_report(b->config, &place, key, "",
					     "at most %d classes, %d of them built in; remove one", SCHEDD_MAX_CLASSES,
					     SCHEDD_NR_BUILTIN);
		draft = &b->classes[b->nr_classes++];
		strcpy(draft->class.name, name);
		draft->place = place;
		draft->class.origin = arena_printf(&b->config->arena, "%s:%" PRIu32, w->file, place.line);
		if (!draft->class.origin)
			return -ENOMEM;
	}
	draft->last = place;
	*ret_draft = draft;
	return 0;
}

static int build_class(const struct builder *w, const struct config_node *node)
{
	struct config_class_draft *draft = NULL;
	const struct config_node *child;
	char key[128], prefix[128];
	int r;

	snprintf(key, sizeof(key), "classes.%s", node->key);
	snprintf(prefix, sizeof(prefix), "classes.%s.", node->key);
	r = get_draft(w, node, key, &draft);
	if (r < 0 || !draft || node->is_null)
		return r;
	if (!expect_type(w, node, CONFIG_NODE_MAP, key, &r)) {
		draft->kind_refused = true;
		return r;
	}
	for (child = node->first; child && r == 0; child = child->next)
		r = build_class_key(w, draft, child, prefix);
	return r;
}

static int build_classes(const struct builder *w, const struct config_node *section)
{
	const struct config_node *node;
	int r = 0;

	for (node = section->first; node && r == 0; node = node->next)
		r = build_class(w, node);
	return r;
}

/* Fills the draft from one entry; *ret_complete says whether both keys were there and right. */
static int read_rule(const struct builder *w, const struct config_node *item, const char *prefix,
		     struct config_rule_draft *draft, bool *ret_complete)
{
	const struct config_node *node, *glob = NULL, *class = NULL;
	struct config_place place = value_place(w, item);
	struct config *c = w->b->config;
	char key[64];
	bool refused = false;
	int r;

	for (node = item->first; node; node = node->next) {
		snprintf(key, sizeof(key), "%s%.16s", prefix, node->key);
		if (!strcmp(node->key, "cgroup"))
			glob = node;
		else if (!strcmp(node->key, "class"))
			class = node;
		else if ((r = report_unknown(w, prefix, "rules[].", node)) < 0)
			return r;
		else
			refused = true;
		if ((node == glob || node == class) &&
		    !expect_value(w, node, node == glob ? "a cgroup path or pattern" : "the name of a class", key, &r))
			return r;
	}
	if (refused)
		return 0;
	if (!glob || !class) {
		snprintf(key, sizeof(key), "%s%s", prefix, glob ? "class" : "cgroup");
		return config_report(c, &place, key, "", "missing; a rule is {cgroup: PATTERN, class: NAME}");
	}
	draft->glob_place = value_place(w, glob);
	draft->class_place = value_place(w, class);
	draft->rule.cgroup_glob = arena_strdup(&c->arena, glob->text);
	draft->class_text = arena_strdup(&c->arena, class->text);
	draft->rule.class_name = arena_strdup(&c->arena, class_name_canonical(class->text));
	draft->rule.origin = arena_printf(&c->arena, "%s:%" PRIu32, w->file, item->line);
	draft->class_key = arena_printf(&c->arena, "%sclass", prefix);
	if (!draft->rule.cgroup_glob || !draft->class_text || !draft->rule.class_name || !draft->rule.origin ||
	    !draft->class_key)
		return -ENOMEM;
	*ret_complete = true;
	return 0;
}

static int add_rule(const struct builder *w, const char *prefix, struct config_rule_draft *draft)
{
	const struct config_rule_draft *other;
	struct config_build *b = w->b;
	char key[64];

	snprintf(key, sizeof(key), "%scgroup", prefix);
	if (cgroup_rule_glob_check(draft->rule.cgroup_glob) < 0)
		return config_report(b->config, &draft->glob_place, key, draft->rule.cgroup_glob,
				     "must be an absolute cgroup path without trailing / or ..; * ? [] match within "
				     "one component, ** stands alone for any number of components");
	for (other = b->rules; other; other = other->next)
		if (!strcmp(other->rule.cgroup_glob, draft->rule.cgroup_glob))
			return config_report(b->config, &draft->glob_place, key, draft->rule.cgroup_glob,
					     "duplicate rule: the same pattern is at %s:%" PRIu32 ":%" PRIu32
					     "; remove one", other->glob_place.file, other->glob_place.line,
					     other->glob_place.column);
	if (b->nr_rules == CONFIG_MAX_RULES)
		return config_report(b->config, &draft->glob_place, key, "", "more than %d rules", CONFIG_MAX_RULES);
	b->nr_rules++;
	*b->rules_tail = draft;
	b->rules_tail = &draft->next;
	return 0;
}

static int build_rules(const struct builder *w, const struct config_node *section)
{
	struct config_rule_draft *draft;
	const struct config_node *item;
	char key[32], prefix[32];
	bool complete;
	size_t i = 0;
	int r = 0;

	for (item = section->first; item && r == 0; item = item->next, i++) {
		snprintf(key, sizeof(key), "rules[%zu]", i);
		snprintf(prefix, sizeof(prefix), "rules[%zu].", i);
		if (!expect_type(w, item, CONFIG_NODE_MAP, key, &r))
			continue;
		draft = arena_new(&w->b->config->arena, struct config_rule_draft);
		if (!draft)
			return -ENOMEM;
		complete = false;
		r = read_rule(w, item, prefix, draft, &complete);
		if (r == 0 && complete)
			r = add_rule(w, prefix, draft);
	}
	return r;
}

static const struct {
	const char *name;
	enum config_node_type type;
	int (*build)(const struct builder *w, const struct config_node *section);
} sections[] = {
	{ "scheduler", CONFIG_NODE_MAP, build_section }, { "classes", CONFIG_NODE_MAP, build_classes },
	{ "rules", CONFIG_NODE_LIST, build_rules },	 { "api", CONFIG_NODE_MAP, build_section },
	{ "metrics", CONFIG_NODE_MAP, build_section },	 { "leases", CONFIG_NODE_MAP, build_section },
	{ "allocator", CONFIG_NODE_MAP, build_section },
};

static int build_top(const struct builder *w, const struct config_node *node)
{
	size_t i;
	int r;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		if (strcmp(sections[i].name, node->key))
			continue;
		/* "rules:" with every line below it commented out. */
		if (node->is_null)
			return 0;
		return expect_type(w, node, sections[i].type, node->key, &r) ? sections[i].build(w, node) : r;
	}
	return report_unknown(w, "", "", node);
}

int config_build_file(struct config_build *b, const char *file, const struct config_node *root)
{
	struct builder w = { .b = b, .file = file };
	const struct config_node *node;
	int r = 0;

	if (!root)
		return 0;
	if (!expect_type(&w, root, CONFIG_NODE_MAP, "", &r))
		return r;
	for (node = root->first; node && r == 0; node = node->next)
		r = build_top(&w, node);
	return r;
}
