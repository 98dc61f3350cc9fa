/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.c - the model as a whole: made, copied, put back, freed */
#include "daemon/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/state_private.h"

static void add_builtin(struct state *s, unsigned int slot, uint32_t kind)
{
	struct state_class *c = &s->classes[slot];

	c->used = true;
	c->origin = CLASS_ORIGIN_BUILTIN;
	strcpy(c->name, class_kind_name(kind));
	c->effective.kind = kind;
	c->revision = s->next_id++;
	state_class_update(c, s->nr_cpus);
}

int state_new(uint32_t nr_cpus, struct state **ret_state)
{
	_cleanup_free_ struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->tree = cgroup_tree_new();
	if (!s->tree)
		return -ENOMEM;
	s->nr_cpus = nr_cpus ? nr_cpus : 1;
	s->nr_numa_nodes = 1;
	s->lease_max = STATE_MAX_LEASES;
	s->lease_ttl_max_ns = STATE_LEASE_TTL_MAX_S * UINT64_C(1000000000);
	s->next_id = 1;
	s->config_generation = 1;
	add_builtin(s, SCHEDD_CLASS_NORMAL, SCHEDD_KIND_NORMAL);
	add_builtin(s, SCHEDD_CLASS_LATENCY_CRITICAL, SCHEDD_KIND_LATENCY_CRITICAL);
	add_builtin(s, SCHEDD_CLASS_BEST_EFFORT, SCHEDD_KIND_BEST_EFFORT);
	state_scale_guarantees(s);
	*ret_state = TAKE_PTR(s);
	return 0;
}

void state_free_rules(struct cgroup_rule *rules, size_t nr_rules)
{
	for (size_t i = 0; rules && i < nr_rules; i++) {
		free(rules[i].cgroup_glob);
		free(rules[i].class_name);
		free(rules[i].origin);
	}
	free(rules);
}

static void free_contents(struct state *s)
{
	for (size_t i = 0; s->assignments && i < s->nr_assignments; i++)
		state_assignment_clear(&s->assignments[i]);
	free(s->assignments);
	free(s->requests);
	free(s->leases);
	state_free_rules(s->rules, s->nr_rules);
}

void state_free(struct state *s)
{
	if (!s)
		return;
	free_contents(s);
	cgroup_tree_free(s->tree);
	free(s);
}

static int copy_assignments(struct state *to, const struct state *from)
{
	if (!from->nr_assignments)
		return 0;
	to->assignments = calloc(from->nr_assignments, sizeof(*to->assignments));
	if (!to->assignments)
		return -ENOMEM;
	for (; to->nr_assignments < from->nr_assignments; to->nr_assignments++) {
		size_t i = to->nr_assignments;
		int r = state_assignment_copy(&from->assignments[i], &to->assignments[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int copy_rules(struct state *to, const struct state *from)
{
	if (!from->nr_rules)
		return 0;
	to->rules = calloc(from->nr_rules, sizeof(*to->rules));
	if (!to->rules)
		return -ENOMEM;
	to->nr_rules = from->nr_rules;
	for (size_t i = 0; i < from->nr_rules; i++) {
		struct cgroup_rule *rule = &to->rules[i];

		rule->cgroup_glob = strdup(from->rules[i].cgroup_glob);
		rule->class_name = strdup(from->rules[i].class_name);
		rule->origin = strdup(from->rules[i].origin);
		if (!rule->cgroup_glob || !rule->class_name || !rule->origin)
			return -ENOMEM;
	}
	return 0;
}

static int copy_requests(struct state *to, const struct state *from)
{
	if (!from->nr_requests)
		return 0;
	to->requests = calloc(from->nr_requests, sizeof(*to->requests));
	if (!to->requests)
		return -ENOMEM;
	memcpy(to->requests, from->requests, from->nr_requests * sizeof(*to->requests));
	to->nr_requests = from->nr_requests;
	return 0;
}

static int copy_leases(struct state *to, const struct state *from)
{
	if (!from->nr_leases)
		return 0;
	to->leases = calloc(from->nr_leases, sizeof(*to->leases));
	if (!to->leases)
		return -ENOMEM;
	memcpy(to->leases, from->leases, from->nr_leases * sizeof(*to->leases));
	to->nr_leases = from->nr_leases;
	return 0;
}

struct state *state_snapshot(const struct state *s)
{
	struct state *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *s;
	copy->tree = NULL;
	copy->assignments = NULL;
	copy->requests = NULL;
	copy->rules = NULL;
	copy->leases = NULL;
	copy->nr_assignments = copy->nr_requests = copy->nr_rules = copy->nr_leases = 0;
	if (copy_assignments(copy, s) < 0 || copy_rules(copy, s) < 0 || copy_requests(copy, s) < 0 ||
	    copy_leases(copy, s) < 0) {
		state_free(copy);
		return NULL;
	}
	return copy;
}

void state_restore(struct state *s, struct state *snapshot)
{
	uint64_t limits_generation = s->limits_generation, lease_revision = s->lease_revision;
	struct cgroup_tree *tree = s->tree;

	free_contents(s);
	*s = *snapshot;
	s->tree = tree;
	/* What was told of the undone change must not be taken for what comes next. */
	s->limits_generation = limits_generation + 1;
	s->lease_revision = lease_revision + 1;
	free(snapshot);
	state_recount(s);
}
