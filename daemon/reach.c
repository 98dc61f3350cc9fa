/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reach.c - cpusets of the tree -> CPUs of each class, private and isolated CPUs
 *
 * A sweep goes through the tree once, depth first, so that the cgroups of a
 * confined subtree follow each other.  Only the outermost one around a cgroup
 * matters: what is inside an inner one is inside the outer one too.
 */
#include "daemon/reach.h"

#include <string.h>

#include "daemon/base/cleanup.h"

struct sweep {
	const struct cgroup_node *ground;     /* subtrees below it count: the root, or kubepods */
	const struct cgroup_node *group;      /* the confined subtree that the sweep is in; NULL = in none */
	struct cpuset group_uses;             /* cgroups in it, so far */
	struct cpuset once, again;            /* CPUs that one group uses; that a second one uses too */
	struct cpuset open;                   /* that cgroups use which count but are in no group */
	struct cpuset classes[SCHEDD_MAX_CLASSES]; /* cgroups that count, by class */
	unsigned int nr_groups;               /* that have tasks */
};

static bool is_inside(const struct cgroup_node *node, const struct cgroup_node *top)
{
	while (node && node != top)
		node = node->parent;
	return node;
}

static bool is_partition(const struct cgroup_node *n)
{
	return n->cpuset.partition == CGROUP_PARTITION_ROOT || n->cpuset.partition == CGROUP_PARTITION_ISOLATED;
}

static bool is_confined(const struct cgroup_node *n)
{
	return is_partition(n) || !cpuset_equal(&n->cpuset.effective, &n->parent->cpuset.effective);
}

/* Top-level names only: further down anybody who was given a cgroup may call one so. */
static bool is_kubepods(const struct cgroup_node *n)
{
	static const struct {
		const char *above, *name;
	} places[] = {
		{ "", "kubepods" },
		{ "", "kubepods.slice" },
		{ "kubelet", "kubepods" },
		{ "kubelet.slice", "kubelet-kubepods.slice" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (n->parent && strcmp(n->name, places[i].name) == 0 &&
		    strcmp(n->parent->name, places[i].above) == 0 && (!n->parent->parent || !n->parent->parent->parent))
			return true;
	return false;
}

static void end_group(struct sweep *s)
{
	struct cpuset again = s->group_uses;

	s->nr_groups += !cpuset_is_empty(&s->group_uses);
	cpuset_and(&again, &s->once);
	cpuset_or(&s->again, &again);
	cpuset_or(&s->once, &s->group_uses);
	s->group_uses = (struct cpuset){};
	s->group = NULL;
}

static void sweep_node(struct sweep *s, const struct cgroup_node *n)
{
	const struct cpuset *uses = &n->cpuset.effective;

	if (s->group && !is_inside(n, s->group))
		end_group(s);
	if (!s->group && n != s->ground && is_inside(n, s->ground) && is_confined(n))
		s->group = n;
	if (!n->parent || !n->cpuset.has_tasks)
		return;
	if (s->group)
		cpuset_or(&s->group_uses, uses);
	else if (s->ground->parent && cpuset_is_subset(&s->ground->cpuset.effective, uses))
		return;
	else
		cpuset_or(&s->open, uses);
	cpuset_or(&s->classes[n->class_idx], uses);
}

/* Class index + 1 of the only class that uses the CPU, 0 = several do. */
static uint8_t only_class(const struct sweep *s, uint32_t cpu)
{
	uint8_t found = 0;

	for (uint8_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		if (!cpuset_has(&s->classes[i], cpu))
			continue;
		if (found)
			return 0;
		found = (uint8_t)(i + 1);
	}
	return found;
}

static void find_private(struct cgroup_node *root, const struct cgroup_node *ground, const struct cpuset *online,
			 struct reach *r)
{
	struct sweep s = { .ground = ground };
	struct cpuset cpus;

	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n))
		sweep_node(&s, n);
	end_group(&s);
	if (ground->parent && s.nr_groups < 2)
		return;
	cpus = s.once;
	cpuset_andnot(&cpus, &s.again);
	cpuset_andnot(&cpus, &s.open);
	cpuset_and(&cpus, online);
	for_each_cpu_in(cpu, &cpus)
		if (!r->private_class[cpu])
			r->private_class[cpu] = only_class(&s, cpu);
}

static void add_node(struct reach *r, const struct cgroup_node *n)
{
	if (n->cpuset.has_tasks)
		cpuset_or(&r->classes[n->class_idx], &n->cpuset.effective);
	if (n->cpuset.partition == CGROUP_PARTITION_ISOLATED)
		cpuset_or(&r->isolated, &n->cpuset.effective);
}

void reach_compute(struct cgroup_node *root, const struct cpuset *online, struct reach *ret_reach)
{
	struct reach r = {};

	if (root)
		find_private(root, root, online, &r);
	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n)) {
		add_node(&r, n);
		if (is_kubepods(n))
			find_private(root, n, online, &r);
	}
	cpuset_and(&r.isolated, online);
	for (size_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		cpuset_and(&r.classes[i], online);
		if (cpuset_is_empty(&r.classes[i]))
			r.classes[i] = *online;
	}
	*ret_reach = r;
}
