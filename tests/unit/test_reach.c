// SPDX-License-Identifier: GPL-2.0-or-later
/* test_reach.c - which CPUs a class reaches, and which are private to one: worked examples, and any tree against the definition */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "daemon/reach.h"

enum {
	NORMAL = SCHEDD_CLASS_NORMAL,
	LC = SCHEDD_CLASS_LATENCY_CRITICAL,
	BE = SCHEDD_CLASS_BEST_EFFORT,
	EMPTY = 0, /* no tasks of its own */
	TASKS = 1,
};

struct fixture {
	struct cgroup_tree *tree;
	struct cpuset online;
	struct reach reach;
	uint64_t next_id;
};

static struct cpuset set_of(const char *list)
{
	struct cpuset s;

	if (cpuset_parse(list, &s) < 0)
		fail_msg("'%s' is no list", list);
	return s;
}

static struct cgroup_node *add(struct fixture *f, const char *path, uint8_t class_idx, const char *cpus, bool tasks)
{
	const char *slash = strrchr(path, '/');
	char above[256];
	struct cgroup_node *parent, *node;

	snprintf(above, sizeof(above), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	parent = cgroup_tree_find_path(f->tree, above);
	if (!parent)
		fail_msg("%s has no parent in this test", path);
	assert_int_equal(cgroup_tree_add(f->tree, parent, slash + 1, f->next_id++, &node), 0);
	node->class_idx = class_idx;
	node->cpuset = (struct cgroup_cpuset){ .effective = set_of(cpus), .populated = tasks, .has_tasks = tasks };
	return node;
}

/* A machine of these CPUs; the root has kernel threads, in normal. */
static void start(struct fixture *f, const char *online)
{
	struct cgroup_node *root;

	f->online = set_of(online);
	assert_int_equal(cgroup_tree_add(f->tree, NULL, "", 1, &root), 0);
	f->next_id = 2;
	root->class_idx = NORMAL;
	root->cpuset = (struct cgroup_cpuset){ .effective = f->online, .populated = true, .has_tasks = true };
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->tree = cgroup_tree_new();
	*state = f;
	return f->tree ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	cgroup_tree_free(f->tree);
	free(f);
	return 0;
}

static void compute(struct fixture *f)
{
	reach_compute(cgroup_tree_root(f->tree), &f->online, &f->reach);
}

static void expect_list(const struct cpuset *set, const char *list, const char *what)
{
	struct cpuset wanted = set_of(list);
	char text[CPUSET_TEXT_BYTES];

	assert_int_equal(cpuset_format(set, text, sizeof(text)), 0);
	if (!cpuset_equal(set, &wanted))
		fail_msg("%s: '%s' instead of '%s'", what, text, list);
}

static void expect_reach(struct fixture *f, uint8_t class_idx, const char *list)
{
	char what[32];

	snprintf(what, sizeof(what), "reach of class %u", class_idx);
	expect_list(&f->reach.classes[class_idx], list, what);
}

static void expect_private(struct fixture *f, uint8_t class_idx, const char *list)
{
	struct cpuset found = {};
	char what[40];

	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++)
		if (f->reach.private_class[cpu] == class_idx + 1)
			cpuset_add(&found, cpu);
	snprintf(what, sizeof(what), "private to class %u", class_idx);
	expect_list(&found, list, what);
}

static void expect_nothing_private(struct fixture *f)
{
	for (uint8_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
		expect_private(f, i, "");
}

/* ---------- reach ---------- */

static void test_without_cpusets_all_reach_all(void **state)
{
	struct fixture *f = *state;

	start(f, "0-3");
	add(f, "/lc", LC, "0-3", TASKS);
	compute(f);
	for (uint8_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
		expect_reach(f, i, "0-3");
	expect_nothing_private(f);
	expect_list(&f->reach.isolated, "", "isolated");
}

static void test_reach_is_the_union_of_cgroups_with_tasks(void **state)
{
	struct fixture *f = *state;

	start(f, "0-7");
	add(f, "/s", LC, "0-7", EMPTY); /* populated by what is below only */
	add(f, "/s/a", LC, "1", TASKS);
	add(f, "/s/b", LC, "4-5", TASKS);
	add(f, "/s/c", LC, "7", EMPTY);
	add(f, "/be", BE, "2-3", EMPTY);
	compute(f);
	expect_reach(f, LC, "1,4-5");
	expect_reach(f, NORMAL, "0-7"); /* the root's tasks */
	expect_reach(f, BE, "0-7"); /* none has tasks: nothing is known against it */
}

static void test_only_online_cpus(void **state)
{
	struct fixture *f = *state;

	start(f, "0-3");
	f->online = set_of("0-2");
	add(f, "/a", LC, "2-3", TASKS);
	add(f, "/b", BE, "3", TASKS);
	compute(f);
	expect_reach(f, NORMAL, "0-2");
	expect_reach(f, LC, "2");
	expect_reach(f, BE, "0-2"); /* its only CPU is off: the kernel lets it run anywhere */
	expect_private(f, LC, "2");
	expect_private(f, BE, "");
}

/* ---------- private ---------- */

static void test_a_confined_cgroup_that_nobody_shares_with(void **state)
{
	struct fixture *f = *state;

	start(f, "0-3");
	add(f, "/a", LC, "1", TASKS);
	add(f, "/b", NORMAL, "0,2", TASKS);
	compute(f);
	expect_private(f, LC, "1");
	expect_private(f, NORMAL, "0,2");
}

static void test_whoever_may_use_it_too_makes_it_common(void **state)
{
	struct fixture *f = *state;
	struct cgroup_node *other;

	start(f, "0-3");
	add(f, "/a", LC, "1", TASKS);
	other = add(f, "/system", NORMAL, "0-3", TASKS);
	compute(f);
	expect_nothing_private(f);
	/* Without tasks it uses nothing. */
	other->cpuset.has_tasks = false;
	compute(f);
	expect_private(f, LC, "1");
	/* In the same class too: it is another subtree, and in no confined one. */
	other->cpuset.has_tasks = true;
	other->class_idx = LC;
	compute(f);
	expect_nothing_private(f);
}

static void test_overlapping_cpusets(void **state)
{
	struct fixture *f = *state;

	start(f, "0-7");
	add(f, "/a", LC, "0-3", TASKS);
	add(f, "/b", BE, "3-6", TASKS);
	compute(f);
	expect_private(f, LC, "0-2");
	expect_private(f, BE, "4-6");
	assert_int_equal(f->reach.private_class[3], 0);
	assert_int_equal(f->reach.private_class[7], 0);
}

static void test_one_subtree_may_have_several_cgroups(void **state)
{
	struct fixture *f = *state;
	struct cgroup_node *helper;

	start(f, "0-7");
	add(f, "/pod", LC, "4-6", EMPTY);
	add(f, "/pod/app", LC, "4-6", TASKS);
	helper = add(f, "/pod/app/helper", LC, "6", TASKS);
	compute(f);
	expect_private(f, LC, "4-6");
	/* Of two classes: no CPU that both use is that of one of them. */
	helper->class_idx = BE;
	compute(f);
	expect_private(f, LC, "4-5");
	expect_private(f, BE, "");
	expect_reach(f, BE, "6");
	expect_reach(f, LC, "4-6");
}

static void test_partitions(void **state)
{
	struct fixture *f = *state;
	struct cgroup_node *root, *p, *q;

	/* The kernel takes the CPUs of a partition out of everybody else's effective cpuset. */
	start(f, "0-7");
	root = cgroup_tree_root(f->tree);
	root->cpuset.effective = set_of("0-3");
	add(f, "/system", NORMAL, "0-3", TASKS);
	p = add(f, "/p", LC, "4-5", TASKS);
	q = add(f, "/q", BE, "6-7", TASKS);
	p->cpuset.partition = CGROUP_PARTITION_ROOT;
	q->cpuset.partition = CGROUP_PARTITION_ISOLATED;
	compute(f);
	expect_reach(f, NORMAL, "0-3");
	expect_private(f, LC, "4-5");
	expect_private(f, BE, "6-7");
	expect_list(&f->reach.isolated, "6-7", "isolated");
	/* Isolated stays so without tasks; nobody has it then. */
	q->cpuset.has_tasks = false;
	compute(f);
	expect_private(f, BE, "");
	expect_list(&f->reach.isolated, "6-7", "isolated");
}

static void test_an_invalid_partition_is_a_member(void **state)
{
	struct fixture *f = *state;

	start(f, "0-3");
	add(f, "/system", NORMAL, "0-3", TASKS);
	add(f, "/p", LC, "1", TASKS)->cpuset.partition = CGROUP_PARTITION_INVALID;
	compute(f);
	expect_nothing_private(f);
	expect_list(&f->reach.isolated, "", "isolated");
	expect_reach(f, LC, "1");
}

/* ---------- kubelet ---------- */

/* 2-3 are exclusive to one container, the others share the rest; pause containers and the host are not confined. */
static void start_node(struct fixture *f, const char *top)
{
	static const struct {
		const char *name;
		uint8_t class_idx;
		const char *cpus;
	} pods[] = {
		{ "pod1", LC, "2-3" },
		{ "pod2", NORMAL, "0-1,4-7" },
		{ "pod3", BE, "0-1,4-7" },
	};
	char path[128];

	start(f, "0-7");
	add(f, "/init.scope", NORMAL, "0-7", TASKS);
	add(f, "/system.slice", NORMAL, "0-7", EMPTY);
	add(f, "/system.slice/kubelet.service", NORMAL, "0-7", TASKS);
	if (strrchr(top, '/') != top) {
		snprintf(path, sizeof(path), "%.*s", (int)(strrchr(top, '/') - top), top);
		add(f, path, NORMAL, "0-7", EMPTY);
	}
	add(f, top, NORMAL, "0-7", EMPTY);
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, pods[i].name);
		add(f, path, pods[i].class_idx, "0-7", EMPTY);
		snprintf(path, sizeof(path), "%s/%s/pause", top, pods[i].name);
		add(f, path, pods[i].class_idx, "0-7", TASKS);
		snprintf(path, sizeof(path), "%s/%s/app", top, pods[i].name);
		add(f, path, pods[i].class_idx, pods[i].cpus, TASKS);
	}
	compute(f);
}

static struct cgroup_node *node_at(struct fixture *f, const char *path)
{
	struct cgroup_node *n = cgroup_tree_find_path(f->tree, path);

	if (!n)
		fail_msg("%s is not in this test", path);
	return n;
}

static void test_exclusive_cpus_of_the_kubelet(void **state)
{
	struct fixture *f = *state;
	struct cgroup_node *service;

	start_node(f, "/kubepods.slice");
	expect_private(f, LC, "2-3");
	expect_private(f, NORMAL, "");
	expect_private(f, BE, "");
	/* A service that somebody confined to the very CPUs uses them by intent. */
	service = node_at(f, "/system.slice/kubelet.service");
	service->cpuset.effective = set_of("0-2");
	compute(f);
	expect_private(f, LC, "3");
	service->cpuset.effective = set_of("0-1");
	compute(f);
	expect_private(f, LC, "2-3");
}

static void test_a_shared_pool_is_not_private(void **state)
{
	struct fixture *f = *state;

	start_node(f, "/kubepods.slice");
	/* The exclusive container is gone: the kubelet gives its CPUs back to the pool. */
	node_at(f, "/kubepods.slice/pod1/app")->cpuset.has_tasks = false;
	node_at(f, "/kubepods.slice/pod2/app")->cpuset.effective = set_of("0-7");
	node_at(f, "/kubepods.slice/pod3/app")->cpuset.effective = set_of("0-7");
	compute(f);
	expect_nothing_private(f);
	/* One container with less than the others, by whatever hand: that takes nothing from anybody. */
	node_at(f, "/kubepods.slice/pod3/app")->cpuset.effective = set_of("4-7");
	compute(f);
	expect_nothing_private(f);
}

static void test_other_places_of_kubepods(void **state)
{
	static const char *const places[] = { "/kubepods", "/kubelet/kubepods",
					      "/kubelet.slice/kubelet-kubepods.slice" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		tear_down(state);
		set_up(state);
		start_node(*state, places[i]);
		expect_private(*state, LC, "2-3");
	}
}

/* Whoever was given a cgroup may call one inside as he likes. */
static void test_a_name_further_down_is_not_believed(void **state)
{
	static const char *const places[] = { "/pods", "/mine/kubepods", "/mine/kubepods.slice",
					      "/kubelet/kubepods.slice" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		tear_down(state);
		set_up(state);
		start_node(*state, places[i]);
		expect_nothing_private(*state);
	}
}

/* ---------- any tree, against the definition word by word ---------- */

static bool inside(const struct cgroup_node *n, const struct cgroup_node *top)
{
	for (; n; n = n->parent)
		if (n == top)
			return true;
	return false;
}

static bool confined(const struct cgroup_node *n)
{
	return n->parent &&
	       (n->cpuset.partition == CGROUP_PARTITION_ROOT || n->cpuset.partition == CGROUP_PARTITION_ISOLATED ||
		!cpuset_equal(&n->cpuset.effective, &n->parent->cpuset.effective));
}

static bool in_confined_below(const struct cgroup_node *n, const struct cgroup_node *ground)
{
	if (!inside(n, ground))
		return false;
	for (; n != ground; n = n->parent)
		if (confined(n))
			return true;
	return false;
}

static bool counts(const struct cgroup_node *n, const struct cgroup_node *ground, uint32_t cpu)
{
	if (!n->parent || !n->cpuset.has_tasks || !cpuset_has(&n->cpuset.effective, cpu))
		return false;
	return !ground->parent || in_confined_below(n, ground) ||
	       !cpuset_is_subset(&ground->cpuset.effective, &n->cpuset.effective);
}

static unsigned int confined_with_tasks(struct cgroup_node *ground)
{
	unsigned int n = 0;

	for (struct cgroup_node *top = ground; top; top = cgroup_node_next(ground, top)) {
		bool tasks = false;

		if (top == ground || !confined(top) || in_confined_below(top->parent, ground))
			continue;
		for (struct cgroup_node *at = top; at; at = cgroup_node_next(top, at))
			tasks |= at->cpuset.has_tasks && !cpuset_is_empty(&at->cpuset.effective);
		n += tasks;
	}
	return n;
}

/* Class + 1 for which the CPU is private on this ground, 0 = none. */
static uint8_t private_on(struct fixture *f, struct cgroup_node *ground, uint32_t cpu)
{
	struct cgroup_node *root = cgroup_tree_root(f->tree);

	if (ground->parent && confined_with_tasks(ground) < 2)
		return 0;
	for (struct cgroup_node *s = root; s; s = cgroup_node_next(root, s)) {
		uint8_t class = 0;
		bool all = true;

		if (s == ground || !inside(s, ground) || !confined(s))
			continue;
		for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n)) {
			if (!counts(n, ground, cpu))
				continue;
			all &= inside(n, s) && (!class || class == n->class_idx + 1);
			class = (uint8_t)(n->class_idx + 1);
		}
		if (all && class)
			return class;
	}
	return 0;
}

static void check_against_definition(struct fixture *f, unsigned int seed)
{
	struct cgroup_node *root = cgroup_tree_root(f->tree), *kubepods = cgroup_tree_find_path(f->tree, "/kubepods");

	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++) {
		uint8_t wanted = 0;
		bool reached[SCHEDD_MAX_CLASSES] = {};

		if (cpuset_has(&f->online, cpu))
			wanted = private_on(f, root, cpu);
		if (cpuset_has(&f->online, cpu) && !wanted && kubepods)
			wanted = private_on(f, kubepods, cpu);
		if (f->reach.private_class[cpu] != wanted)
			fail_msg("seed %u: CPU %u is private to %u, not to %u", seed, cpu, f->reach.private_class[cpu],
				 wanted);
		if (wanted && !cpuset_has(&f->reach.classes[wanted - 1], cpu))
			fail_msg("seed %u: CPU %u is private to a class that does not reach it", seed, cpu);
		for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n))
			reached[n->class_idx] |= n->cpuset.has_tasks && cpuset_has(&n->cpuset.effective, cpu) &&
						 cpuset_has(&f->online, cpu);
		for (uint8_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
			if (reached[i] && !cpuset_has(&f->reach.classes[i], cpu))
				fail_msg("seed %u: class %u uses CPU %u but does not reach it", seed, i, cpu);
	}
	for (uint8_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
		assert_true(!cpuset_is_empty(&f->reach.classes[i]) &&
			    cpuset_is_subset(&f->reach.classes[i], &f->online));
}

/* Small machines and few classes, so that cgroups meet; every parent's cpuset contains its children's, as in the kernel. */
static void grow_random_tree(struct fixture *f, unsigned int *x)
{
	static const char *const names[] = { "kubepods", "a", "b", "c", "d" };
	struct cgroup_node *nodes[24];
	size_t nr = 1;

	nodes[0] = cgroup_tree_root(f->tree);
	for (int i = 0; i < 23; i++) {
		struct cgroup_node *parent = nodes[(size_t)rand_r(x) % nr], *node;

		const char *name = names[rand_r(x) % 5];

		if (cgroup_tree_find_child(f->tree, parent, name))
			continue;
		assert_int_equal(cgroup_tree_add(f->tree, parent, name, f->next_id++, &node), 0);
		node->class_idx = (uint8_t)(rand_r(x) % 3);
		node->cpuset = parent->cpuset;
		node->cpuset.partition =
			rand_r(x) % 8 ? CGROUP_PARTITION_MEMBER : (enum cgroup_partition)(rand_r(x) % 4);
		node->cpuset.has_tasks = rand_r(x) % 3 == 0;
		if (rand_r(x) % 3 == 0)
			node->cpuset.effective.bits[0] &= (uint64_t)rand_r(x) | (uint64_t)rand_r(x) << 3;
		nodes[nr++] = node;
	}
}

static void test_random_trees(void **state)
{
	unsigned int nr_private = 0;

	for (unsigned int seed = 1; seed <= 400; seed++) {
		struct fixture *f;
		unsigned int x = seed;

		tear_down(state);
		set_up(state);
		f = *state;
		start(f, seed % 2 ? "0-7" : "0-3,5");
		grow_random_tree(f, &x);
		compute(f);
		check_against_definition(f, seed);
		for (uint32_t cpu = 0; cpu < 8; cpu++)
			nr_private += f->reach.private_class[cpu] != 0;
	}
	/* Else the trees would prove nothing. */
	assert_in_range(nr_private, 100, 3000);
}

/* How long it takes is said, not asserted. */
static void test_ten_thousand_cgroups(void **state)
{
	enum { CGROUPS = 10000 };
	struct fixture *f = *state;
	struct timespec begin, end;
	char path[64];
	long best_us = 0;

	start(f, "0-1023");
	add(f, "/kubepods.slice", NORMAL, "0-1023", EMPTY);
	for (int i = 0; i < CGROUPS; i++) {
		snprintf(path, sizeof(path), "/kubepods.slice/pod%d", i);
		add(f, path, (uint8_t)(i % 3), i % 100 ? "0-511" : "512-1023", TASKS);
	}
	for (int i = 0; i < 20; i++) {
		long us;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		compute(f);
		clock_gettime(CLOCK_MONOTONIC, &end);
		us = (end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000;
		if (!i || us < best_us)
			best_us = us;
	}
	print_message("# %d cgroups: %ld us\n", CGROUPS, best_us);
	expect_nothing_private(f);
	expect_reach(f, BE, "0-1023");
}

#define REACH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REACH_TEST(test_without_cpusets_all_reach_all),
		REACH_TEST(test_reach_is_the_union_of_cgroups_with_tasks),
		REACH_TEST(test_only_online_cpus),
		REACH_TEST(test_a_confined_cgroup_that_nobody_shares_with),
		REACH_TEST(test_whoever_may_use_it_too_makes_it_common),
		REACH_TEST(test_overlapping_cpusets),
		REACH_TEST(test_one_subtree_may_have_several_cgroups),
		REACH_TEST(test_partitions),
		REACH_TEST(test_an_invalid_partition_is_a_member),
		REACH_TEST(test_exclusive_cpus_of_the_kubelet),
		REACH_TEST(test_a_shared_pool_is_not_private),
		REACH_TEST(test_other_places_of_kubepods),
		REACH_TEST(test_a_name_further_down_is_not_believed),
		REACH_TEST(test_random_trees),
		REACH_TEST(test_ten_thousand_cgroups),
	};

	return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
