/* SPDX-License-Identifier: GPL-2.0-or-later */
/* announce.c - what changed in the model since it was announced, as events */
#include "daemon/announce.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* One pass: what goes into each of its events. */
struct pass {
	struct announce *a;
	struct state *s;
	struct events *ev;
	struct event event;        /* cause and time; the rest is filled for each */
	bool replaced[SCHEDD_MAX_CLASSES]; /* the slot holds another class, or none: same index, not the same class */
};

static void pass_init(struct pass *p, struct announce *a, struct state *s, struct events *ev,
		      const struct event_cause *cause, uint64_t realtime_ns)
{
	*p = (struct pass){ .a = a, .s = s, .ev = ev, .event = { .cause = *cause, .realtime_ns = realtime_ns } };
}

/* ---------- classes ---------- */

void announce_fill_class(const struct state *s, const struct state_class *c, struct event *ret_event)
{
	ret_event->type = EVENT_CLASS_CHANGED;
	memcpy(ret_event->class_name, c->name, sizeof(ret_event->class_name));
	ret_event->class = (struct event_class){
		.settings = c->effective,
		.own_fields = c->config.set | c->override.set,
		/* Of a class that only calls know, nothing is over anything. */
		.overridden_fields = c->origin == CLASS_ORIGIN_API ? 0 : c->override.set,
		.origin = c->origin,
		.member_cgroups = c->member_cgroups,
		.effective_guarantee_cpus = c->effective_guarantee_cpus,
		.config_generation = s->config_generation,
	};
	state_class_etag(c, ret_event->class.etag, sizeof(ret_event->class.etag));
}

static bool is_replaced(const struct announce *a, const struct state *s, int slot)
{
	return a->classes[slot].used &&
	       (!s->classes[slot].used || strcmp(a->classes[slot].name, s->classes[slot].name) != 0);
}

static void announce_made(struct pass *p)
{
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		const struct state_class *c = &p->s->classes[i];

		p->replaced[i] = is_replaced(p->a, p->s, i);
		if (!c->used || (p->a->classes[i].used && !p->replaced[i] && p->a->classes[i].revision == c->revision))
			continue;
		p->event.from_class_name[0] = '\0';
		announce_fill_class(p->s, c, &p->event);
		events_append(p->ev, &p->event);
	}
}

/* A class that only moved to another slot is still there. */
static void announce_gone(struct pass *p)
{
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		const char *name = p->a->classes[i].name;

		if (!p->replaced[i] || state_find_class(p->s, name) >= 0)
			continue;
		p->event.type = EVENT_CLASS_DELETED;
		memcpy(p->event.class_name, name, sizeof(p->event.class_name));
		p->event.from_class_name[0] = '\0';
		p->event.class = (struct event_class){ .config_generation = p->s->config_generation };
		events_append(p->ev, &p->event);
	}
}

static void remember_classes(struct announce *a, const struct state *s)
{
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		a->classes[i].used = s->classes[i].used;
		a->classes[i].revision = s->classes[i].revision;
		memcpy(a->classes[i].name, s->classes[i].name, sizeof(a->classes[i].name));
	}
}

/* ---------- decisions ---------- */

static void fill_path(const struct cgroup_node *node, char dst[EVENT_TEXT_MAX + 1])
{
	char path[PATH_MAX];

	event_set_text(dst, cgroup_node_path(node, path, sizeof(path)) < 0 ? "" : path);
}

static void announce_decision(struct pass *p, const struct cgroup_node *node)
{
	struct event *e = &p->event;

	e->type = EVENT_DECISION_CHANGED;
	memcpy(e->class_name, p->s->classes[node->class_idx].name, sizeof(e->class_name));
	if (node->announced)
		memcpy(e->from_class_name, p->a->classes[node->announced_class_idx].name, sizeof(e->from_class_name));
	else
		e->from_class_name[0] = '\0';
	e->decision.cgroup_id = node->id;
	e->decision.source = state_source_name(node);
	e->decision.assignment_id[0] = '\0';
	fill_path(node, e->decision.path);
	events_append(p->ev, e);
}

static bool is_news(const struct pass *p, const struct cgroup_node *node)
{
	if (node->announced)
		return node->announced_class_idx != node->class_idx || p->replaced[node->class_idx];
	return !node->parent || node->class_idx != node->parent->class_idx;
}

static void announce_below(struct pass *p, struct cgroup_node *top)
{
	for (struct cgroup_node *n = top; n; n = cgroup_node_next(top, n)) {
		if (is_news(p, n))
			announce_decision(p, n);
		n->announced = true;
		n->announced_class_idx = n->class_idx;
	}
}

void announce_fill_assignment(const struct state *s, const struct state_assignment *a, struct event *ret_event)
{
	const struct cgroup_node *node = a->cgroup_id ? cgroup_tree_find_id(s->tree, a->cgroup_id) : NULL;
	struct event_cause *cause = &ret_event->cause;

	ret_event->type = EVENT_DECISION_CHANGED;
	ret_event->realtime_ns = a->create_realtime_ns;
	*cause = (struct event_cause){ .source = EVENT_FROM_API, .uid = a->actor_uid, .pid = a->actor_pid };
	memcpy(cause->comm, a->actor_comm, sizeof(cause->comm));
	memcpy(ret_event->class_name, a->class_name, sizeof(ret_event->class_name));
	ret_event->from_class_name[0] = '\0';
	ret_event->decision = (struct event_decision){ .cgroup_id = a->cgroup_id, .source = "call" };
	memcpy(ret_event->decision.assignment_id, a->id, sizeof(ret_event->decision.assignment_id));
	if (node)
		fill_path(node, ret_event->decision.path);
	else
		event_set_text(ret_event->decision.path, a->target_text);
}

/* ---------- passes ---------- */

void announce_reset(struct announce *a, struct state *s)
{
	struct cgroup_node *root = cgroup_tree_root(s->tree);

	remember_classes(a, s);
	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n)) {
		n->announced = true;
		n->announced_class_idx = n->class_idx;
	}
	a->decisions_differ = false;
}

void announce_note(struct announce *a, const struct cgroup_node *node)
{
	/* One that was never announced came just now: announce_cgroup() sees to it. */
	a->decisions_differ |= node->announced && node->announced_class_idx != node->class_idx;
}

void announce_changes(struct announce *a, struct state *s, struct events *ev, const struct event_cause *cause,
		      uint64_t realtime_ns)
{
	struct pass p;

	pass_init(&p, a, s, ev, cause, realtime_ns);
	/* A class is there before the first cgroup is in it, and gone after the last. */
	announce_made(&p);
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		a->decisions_differ |= p.replaced[i];
	if (a->decisions_differ)
		announce_below(&p, cgroup_tree_root(s->tree));
	announce_gone(&p);
	remember_classes(a, s);
	a->decisions_differ = false;
}

void announce_cgroup(struct announce *a, struct state *s, struct cgroup_node *node, struct events *ev,
		     const struct event_cause *cause, uint64_t realtime_ns)
{
	struct pass p;

	pass_init(&p, a, s, ev, cause, realtime_ns);
	announce_below(&p, node);
}
