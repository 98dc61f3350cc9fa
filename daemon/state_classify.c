/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state_classify.c - which class a cgroup is in, and who decided
 *
 * Strongest first: a call for this very cgroup; the nearest call above it, if
 * that is for a whole subtree (a nearer call, whole or not, ends its reach);
 * the last config rule that matches; the parent's class.  Speakers that would
 * make a protected cgroup best-effort without force are passed over, and when
 * nobody is left it is normal.
 */
#include <limits.h>
#include <string.h>

#include "cgroup/idmap.h"
#include "cgroup/protected.h"
#include "daemon/state_private.h"

enum source { SOURCE_CALL, SOURCE_SUBTREE, SOURCE_CONFIG, SOURCE_INHERITED, SOURCE_PROTECTED, SOURCE_DEFAULT };

struct decision {
	enum source source;
	int class_idx;
	const struct state_assignment *call; /* CALL, SUBTREE */
	const struct cgroup_node *at;        /* the cgroup it was said about */
	int rule;                            /* CONFIG */
};

/* Calls by cgroup, made for one pass: a pass over n cgroups must not look at every call n times. */
struct calls {
	const struct state *s;
	struct idmap by_cgroup;
	bool mapped, any_subtree;
};

static void calls_init(struct calls *c, const struct state *s, bool many)
{
	*c = (struct calls){ .s = s, .mapped = many };
	for (size_t i = 0; i < s->nr_assignments; i++) {
		struct state_assignment *a = &s->assignments[i];

		c->any_subtree |= a->cgroup_id && a->whole_subtree;
		/* Without memory every look-up walks the list instead: slower, not wrong. */
		if (c->mapped && a->cgroup_id && idmap_put(&c->by_cgroup, a->cgroup_id, a) < 0)
			c->mapped = false;
	}
}

static const struct state_assignment *call_for(const struct calls *c, const struct cgroup_node *node)
{
	if (c->mapped)
		return idmap_get(&c->by_cgroup, node->id);
	for (size_t i = 0; i < c->s->nr_assignments; i++)
		if (c->s->assignments[i].cgroup_id == node->id)
			return &c->s->assignments[i];
	return NULL;
}

/* The nearest call above decides whether it reaches down here. */
static const struct state_assignment *subtree_call_for(const struct calls *c, const struct cgroup_node *node,
						       const struct cgroup_node **ret_at)
{
	if (!c->any_subtree)
		return NULL;
	for (const struct cgroup_node *at = node->parent; at; at = at->parent) {
		const struct state_assignment *a = call_for(c, at);

		if (!a)
			continue;
		*ret_at = at;
		return a->whole_subtree ? a : NULL;
	}
	return NULL;
}

const char *state_protected(const struct state *s, const char *path, uint64_t cgroup_id)
{
	if (cgroup_id && cgroup_id == s->own_cgroup_id)
		return "schedd itself";
	return cgroup_protected(path);
}

static bool is_best_effort(const struct state *s, int class_idx)
{
	return s->classes[class_idx].effective.kind == SCHEDD_KIND_BEST_EFFORT;
}

/* A class that a call or rule names always exists: it cannot be deleted before them. */
static int slot_of(const struct state *s, const char *name)
{
	int slot = state_find_class(s, name);

	return slot < 0 ? SCHEDD_CLASS_NORMAL : slot;
}

/* One step of the search for who speaks about a cgroup. */
struct question {
	const struct calls *calls;
	const struct cgroup_node *node;
	char path[PATH_MAX]; /* "" when longer than any path can be: rules do not reach it */
	bool protected;
};

static void ask(struct question *q, const struct calls *calls, const struct cgroup_node *node)
{
	q->calls = calls;
	q->node = node;
	if (cgroup_node_path(node, q->path, sizeof(q->path)) < 0)
		q->path[0] = '\0';
	q->protected = state_protected(calls->s, q->path, node->id);
}

static bool find_call(const struct question *q, struct decision *ret)
{
	const struct state_assignment *a = call_for(q->calls, q->node);

	if (!a)
		return false;
	*ret = (struct decision){ SOURCE_CALL, slot_of(q->calls->s, a->class_name), a, q->node, -1 };
	return true;
}

static bool find_subtree_call(const struct question *q, struct decision *ret)
{
	const struct cgroup_node *at;
	const struct state_assignment *a = subtree_call_for(q->calls, q->node, &at);
	int slot;

	if (!a)
		return false;
	slot = slot_of(q->calls->s, a->class_name);
	if (q->protected && !a->force_protected && is_best_effort(q->calls->s, slot))
		return false;
	*ret = (struct decision){ SOURCE_SUBTREE, slot, a, at, -1 };
	return true;
}

/* The next weaker rule than `before`. */
static bool find_rule(const struct question *q, size_t before, struct decision *ret)
{
	const struct state *s = q->calls->s;
	int i = (int)before;

	while ((i = cgroup_rules_match(s->rules, s->nr_rules, q->path, (size_t)i)) >= 0) {
		int slot = slot_of(s, s->rules[i].class_name);

		if (q->protected && is_best_effort(s, slot))
			continue;
		*ret = (struct decision){ SOURCE_CONFIG, slot, NULL, q->node, i };
		return true;
	}
	return false;
}

static struct decision find_fallback(const struct question *q)
{
	const struct cgroup_node *parent = q->node->parent;

	if (!parent)
		return (struct decision){ SOURCE_DEFAULT, SCHEDD_CLASS_NORMAL, NULL, q->node, -1 };
	if (q->protected && is_best_effort(q->calls->s, parent->class_idx))
		return (struct decision){ SOURCE_PROTECTED, SCHEDD_CLASS_NORMAL, NULL, q->node, -1 };
	return (struct decision){ SOURCE_INHERITED, parent->class_idx, NULL, parent, -1 };
}

static struct decision decide(const struct question *q)
{
	struct decision d;

	if (find_call(q, &d) || find_subtree_call(q, &d) || find_rule(q, q->calls->s->nr_rules, &d))
		return d;
	return find_fallback(q);
}

static void set_class(struct state *s, struct cgroup_node *node, struct decision d)
{
	if (node->counted)
		s->classes[node->class_idx].member_cgroups--;
	node->class_idx = (uint8_t)d.class_idx;
	node->source = (uint8_t)d.source;
	node->counted = true;
	s->classes[d.class_idx].member_cgroups++;
}

void state_classify(struct state *s, struct cgroup_node *top, void (*changed)(void *ctx, struct cgroup_node *node),
		    void *ctx)
{
	struct question q;
	struct calls calls;

	if (!top)
		return;
	calls_init(&calls, s, top->first_child);
	for (struct cgroup_node *n = top; n; n = cgroup_node_next(top, n)) {
		ask(&q, &calls, n);
		set_class(s, n, decide(&q));
		if (changed && (!n->applied || n->class_idx != n->applied_class_idx))
			changed(ctx, n);
	}
	idmap_clear(&calls.by_cgroup);
}

void state_recount(struct state *s)
{
	struct cgroup_node *root = cgroup_tree_root(s->tree);

	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		s->classes[i].member_cgroups = 0;
	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n))
		n->counted = false;
	state_classify(s, root, NULL, NULL);
}

bool state_wants_scheduler(const struct state *s)
{
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (i != SCHEDD_CLASS_NORMAL && s->classes[i].used && s->classes[i].member_cgroups)
			return true;
	return s->nr_leases > 0;
}

/* Who decided, past everything that was only inherited. */
static struct decision trace(const struct calls *calls, const struct cgroup_node *node, struct question *q)
{
	struct decision d;

	for (;; node = node->parent) {
		ask(q, calls, node);
		d = decide(q);
		if (d.source != SOURCE_INHERITED)
			return d;
	}
}

size_t state_list_decided(const struct state *s, const struct state_assignment *a, struct cgroup_node *top,
			  struct cgroup_node **ret_nodes, size_t max)
{
	struct idmap decided = { 0 };
	struct question q;
	struct calls calls;
	size_t nr = 0;

	calls_init(&calls, s, top->first_child);
	for (struct cgroup_node *n = top; n; n = cgroup_node_next(top, n)) {
		struct decision d;
		bool heir;

		ask(&q, &calls, n);
		d = decide(&q);
		/* Parents come first, so what a parent has is known. */
		heir = d.source == SOURCE_INHERITED && idmap_get(&decided, n->parent->id);
		if (d.call != a && !heir)
			continue;
		if (n->first_child && idmap_put(&decided, n->id, n) < 0)
			break;
		if (nr < max)
			ret_nodes[nr] = n;
		nr++;
	}
	idmap_clear(&decided);
	idmap_clear(&calls.by_cgroup);
	return nr;
}

/* ---------- explaining ---------- */

const char *state_source_name(const struct cgroup_node *node)
{
	static const char *const names[] = {
		[SOURCE_CALL] = "call",           [SOURCE_SUBTREE] = "call",      [SOURCE_CONFIG] = "config",
		[SOURCE_INHERITED] = "inherited", [SOURCE_PROTECTED] = "default", [SOURCE_DEFAULT] = "default",
	};

	return names[node->source];
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static const char *path_of(const struct cgroup_node *node, struct arena *arena)
{
	char path[PATH_MAX];

	return cgroup_node_path(node, path, sizeof(path)) < 0 ? "" : or_empty(arena_strdup(arena, path));
}

static struct reason_view view_of(const struct state *s, const struct decision *d, struct arena *arena)
{
	struct reason_view v = {
		.source = "default", .key = "", .value = "", .rule = "",
		.class_name = or_empty(arena_strdup(arena, s->classes[d->class_idx].name)),
		.at_cgroup_id = d->at->id,
	};

	if (d->call) {
		v.source = "call";
		v.key = "assignment_id";
		v.value = or_empty(arena_strdup(arena, d->call->id));
		v.rule = d->source == SOURCE_SUBTREE ? or_empty(arena_printf(arena, "whole subtree of %s",
									     path_of(d->at, arena))) : "";
	} else if (d->source == SOURCE_CONFIG) {
		v.source = "config";
		v.key = "cgroup";
		v.value = or_empty(arena_strdup(arena, s->rules[d->rule].cgroup_glob));
		v.rule = or_empty(arena_strdup(arena, s->rules[d->rule].origin));
	} else if (d->source == SOURCE_PROTECTED) {
		v.key = "protected";
		v.value = or_empty(state_protected(s, path_of(d->at, arena), d->at->id));
		v.rule = "not best-effort without force";
	}
	return v;
}

/* From the parent: what its chain of ancestors ends at. */
static struct reason_view inherited_view(const struct calls *calls, const struct cgroup_node *node, struct arena *arena,
					 enum source *ret_source)
{
	struct question q;
	struct decision d = trace(calls, node->parent, &q);
	struct reason_view from = view_of(calls->s, &d, arena);

	*ret_source = d.source;
	return (struct reason_view){
		.source = "inherited",
		.key = "cgroup",
		.value = path_of(q.node, arena),
		.rule = or_empty(from.rule[0] ? arena_printf(arena, "%s %s (%s)", from.source, from.value, from.rule) :
						arena_printf(arena, "%s %s", from.source, from.value)),
		.class_name = calls->s->classes[node->parent->class_idx].name[0] ?
				      or_empty(arena_strdup(arena, calls->s->classes[node->parent->class_idx].name)) : "",
		.at_cgroup_id = q.node->id,
	};
}

enum { EXPLAIN_MAX = 20 };

struct explanation {
	struct reason_view reasons[EXPLAIN_MAX];
	size_t nr;
};

static void add_reason(struct explanation *e, struct reason_view v)
{
	if (e->nr < EXPLAIN_MAX)
		e->reasons[e->nr++] = v;
}

/* A rule or a wide call that protection passed over is worth a line: its author wonders. */
static void add_passed_over(struct explanation *e, const struct question *q, struct arena *arena)
{
	const struct state *s = q->calls->s;
	int i = (int)s->nr_rules;

	if (!q->protected)
		return;
	while ((i = cgroup_rules_match(s->rules, s->nr_rules, q->path, (size_t)i)) >= 0) {
		struct decision d = { SOURCE_CONFIG, slot_of(s, s->rules[i].class_name), NULL, q->node, i };
		struct reason_view v;

		if (!is_best_effort(s, d.class_idx))
			continue;
		v = view_of(s, &d, arena);
		v.rule = or_empty(arena_printf(arena, "%s: ignored, %s cannot be best-effort without force", v.rule,
					       or_empty(state_protected(s, q->path, q->node->id))));
		add_reason(e, v);
	}
}

static void collect(struct explanation *e, const struct question *q, struct arena *arena)
{
	struct decision d;
	enum source source;
	size_t before = q->calls->s->nr_rules;

	if (find_call(q, &d))
		add_reason(e, view_of(q->calls->s, &d, arena));
	if (find_subtree_call(q, &d))
		add_reason(e, view_of(q->calls->s, &d, arena));
	for (; find_rule(q, before, &d); before = (size_t)d.rule)
		add_reason(e, view_of(q->calls->s, &d, arena));
	d = find_fallback(q);
	if (d.source == SOURCE_INHERITED) {
		struct reason_view v = inherited_view(q->calls, q->node, arena, &source);

		/* What nobody asked for is worth a line only when it decides. */
		if (source != SOURCE_DEFAULT || !e->nr)
			add_reason(e, v);
	} else if (d.source == SOURCE_PROTECTED || !e->nr) {
		add_reason(e, view_of(q->calls->s, &d, arena));
	}
	add_passed_over(e, q, arena);
}

void state_explain(const struct state *s, const struct cgroup_node *node, struct arena *arena,
		   struct decision_view *ret_decision)
{
	struct explanation e = { .nr = 0 };
	struct question q;
	struct calls calls;

	calls_init(&calls, s, false);
	ask(&q, &calls, node);
	collect(&e, &q, arena);
	*ret_decision = (struct decision_view){
		.cgroup_id = node->id,
		.cgroup_path = path_of(node, arena),
		.class_name = or_empty(arena_strdup(arena, s->classes[node->class_idx].name)),
		.winner = e.reasons[0],
		.capped_by = "",
	};
	ret_decision->overridden = e.nr > 1 ? arena_array(arena, struct reason_view, e.nr - 1) : NULL;
	if (!ret_decision->overridden)
		return;
	ret_decision->nr_overridden = e.nr - 1;
	memcpy(ret_decision->overridden, e.reasons + 1, (e.nr - 1) * sizeof(*e.reasons));
}
