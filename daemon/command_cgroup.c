/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_cgroup.c - which class a cgroup is in and why, for one and for all */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/command_private.h"

enum command_status run_explain_target(struct call *c)
{
	if (call_resolve_target(c) != COMMAND_OK)
		return c->reply->status;
	c->reply->decisions = arena_new(&c->reply->arena, struct decision_view);
	if (!c->reply->decisions)
		return reply_no_memory(c->reply);
	state_explain(c->env->state, c->node, &c->reply->arena, c->reply->decisions);
	c->reply->nr_decisions = 1;
	return COMMAND_OK;
}

static int compare_nodes(const void *a, const void *b)
{
	uint64_t x = (*(struct cgroup_node *const *)a)->id, y = (*(struct cgroup_node *const *)b)->id;

	return x < y ? -1 : x > y;
}

/* Nodes behind `last` in the order of ids; slot < 0 = of every class. */
static size_t find_nodes(const struct state *s, uint64_t last, int slot, struct cgroup_node **ret_nodes)
{
	struct cgroup_node *root = cgroup_tree_root(s->tree);
	size_t nr = 0;

	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n))
		if (n->id > last && (slot < 0 || n->class_idx == slot))
			ret_nodes[nr++] = n;
	qsort(ret_nodes, nr, sizeof(struct cgroup_node *), compare_nodes);
	return nr;
}

enum command_status run_list_cgroups(struct call *c)
{
	struct state *s = c->env->state;
	struct reply *reply = c->reply;
	struct cgroup_node **nodes;
	char last[32], id[32];
	int slot = -1;
	size_t nr;

	if (c->class_name[0] && call_find_class(c, &slot) != COMMAND_OK)
		return reply->status;
	if (page_start(c, 'c', last, sizeof(last)) != COMMAND_OK)
		return reply->status;
	nodes = arena_array(&reply->arena, struct cgroup_node *, cgroup_tree_size(s->tree) + 1);
	reply->decisions = arena_array(&reply->arena, struct decision_view, c->cmd->page_size + 1);
	if (!nodes || !reply->decisions)
		return reply_no_memory(reply);
	nr = find_nodes(s, strtoull(last, NULL, 10), slot, nodes);
	for (size_t i = 0; i < nr; i++) {
		if (i == c->cmd->page_size) {
			snprintf(id, sizeof(id), "%" PRIu64, nodes[i - 1]->id);
			reply->next_page_token = page_token(reply, 'c', id);
			break;
		}
		state_explain(s, nodes[i], &reply->arena, &reply->decisions[i]);
		reply->nr_decisions = i + 1;
	}
	return COMMAND_OK;
}
