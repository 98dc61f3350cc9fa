/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_fixture.h - what tests of the model share: small trees, and all of a model as one text */
#ifndef SCHEDD_TEST_STATE_FIXTURE_H
#define SCHEDD_TEST_STATE_FIXTURE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/state.h"

static inline void put_settings(FILE *out, const char *name, const struct class_settings *s)
{
	fprintf(out, " %s{%x", name, s->set);
	if (s->set)
		fprintf(out, " %u %u %u %u %s %" PRIu64 " %" PRIu64 " %u %d %" PRIu64 " %" PRIu64, s->kind,
			s->guarantee_cpus, s->burst_cpus, s->lend, s->policy, s->slice_ns, s->quantum_ns, s->weight,
			s->exclusive_smt, s->congestion_ns, s->wakeup_target_ns);
	fputc('}', out);
}

static inline void put_tree(FILE *out, const struct state *s)
{
	struct cgroup_node *root = cgroup_tree_root(s->tree);
	char path[4096];

	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n)) {
		if (cgroup_node_path(n, path, sizeof(path)) < 0)
			strcpy(path, "?");
		fprintf(out, "cgroup %" PRIu64 " %s %s\n", n->id, path, s->classes[n->class_idx].name);
	}
}

/* Everything that a refused call must leave as it was; free() it. */
static inline char *state_fingerprint(const struct state *s)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "generation %" PRIu64 " next %" PRIu64 " scaled %d cpus %u\n", s->config_generation, s->next_id,
		s->guarantees_scaled, s->nr_cpus);
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		const struct state_class *c = &s->classes[i];

		if (!c->used)
			continue;
		fprintf(out, "class %d %s origin %d persistent %d revision %" PRIu64 " members %u guarantee %u burst %u", i,
			c->name, c->origin, c->persistent, c->revision, c->member_cgroups, c->effective_guarantee_cpus,
			c->effective_burst_cpus);
		put_settings(out, "config", &c->config);
		put_settings(out, "override", &c->override);
		put_settings(out, "effective", &c->effective);
		fputc('\n', out);
	}
	for (size_t i = 0; i < s->nr_assignments; i++) {
		const struct state_assignment *a = &s->assignments[i];

		fprintf(out,
			"assignment %s %d %s %" PRIu64 " %s %d %d %d %u %d %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			a->id, a->target_type, a->target_text, a->cgroup_id, a->class_name, a->lifetime,
			a->whole_subtree, a->force_protected, a->actor_uid, a->actor_pid, a->actor_comm, a->reason,
			a->create_realtime_ns, a->expire_boottime_ns, a->config_generation);
	}
	for (size_t i = 0; i < s->nr_requests; i++)
		fprintf(out, "request %s %u %d %" PRIu64 " %" PRIu64 " %s\n", s->requests[i].request_id,
			s->requests[i].uid, s->requests[i].type, s->requests[i].content_hash,
			s->requests[i].expire_boottime_ns, s->requests[i].result_id);
	for (size_t i = 0; i < s->nr_leases; i++) {
		const struct state_lease *l = &s->leases[i];

		fprintf(out, "lease %s %s from '%s' %u %u %u %d %u %u %d %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", l->id,
			l->class_name, l->from_class_name, l->requested_cpus, l->min_cpus, l->granted_cpus,
			l->has_numa_node, l->numa_node, l->actor_uid, l->actor_pid, l->actor_comm, l->reason,
			l->create_realtime_ns, l->expire_boottime_ns, l->config_generation);
	}
	for (size_t i = 0; i < s->nr_rules; i++)
		fprintf(out, "rule %s %s %s\n", s->rules[i].cgroup_glob, s->rules[i].class_name, s->rules[i].origin);
	put_tree(out, s);
	fclose(out);
	return text;
}

/* Adds a cgroup as watch.c and the loop do. */
static inline struct cgroup_node *grow(struct state *s, const char *path, uint64_t id)
{
	struct cgroup_node *node = NULL, *parent = NULL;
	const char *name = strrchr(path, '/') + 1;
	char up[4096];

	if (*name) {
		snprintf(up, sizeof(up), "%.*s", name - 1 == path ? 1 : (int)(name - 1 - path), path);
		parent = cgroup_tree_find_path(s->tree, up);
		if (!parent)
			return NULL;
	}
	if (cgroup_tree_add(s->tree, parent, name, id, &node) < 0)
		return NULL;
	state_cgroup_added(s, node);
	state_classify(s, node, NULL, NULL);
	return node;
}

/* Removes one with all below, children first, as watch.c and the loop do. */
static inline void cut(struct state *s, struct cgroup_node *node)
{
	while (node->first_child)
		cut(s, node->first_child);
	state_cgroup_removed(s, node->id);
	cgroup_tree_remove(s->tree, node);
}

static inline struct cgroup_rule *make_rules(size_t nr, const char *const (*pairs)[2])
{
	struct cgroup_rule *rules = calloc(nr + 1, sizeof(*rules));
	char origin[32];

	for (size_t i = 0; i < nr; i++) {
		snprintf(origin, sizeof(origin), "test.yaml:%zu", i + 1);
		rules[i].cgroup_glob = strdup(pairs[i][0]);
		rules[i].class_name = strdup(pairs[i][1]);
		rules[i].origin = strdup(origin);
	}
	return rules;
}

static inline void drop_rules(struct cgroup_rule *rules, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(rules[i].cgroup_glob);
		free(rules[i].class_name);
		free(rules[i].origin);
	}
	free(rules);
}

#endif
