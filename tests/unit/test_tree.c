// SPDX-License-Identifier: GPL-2.0-or-later
/* test_tree.c - the cgroup tree in memory, and the map of numbers below it */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cgroup/idmap.h"
#include "cgroup/tree.h"
#include "daemon/base/cleanup.h"

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	return *x ^= *x << 17;
}

static struct cgroup_node *add(struct cgroup_tree *t, struct cgroup_node *parent, const char *name, uint64_t id)
{
	struct cgroup_node *n = NULL;

	assert_int_equal(cgroup_tree_add(t, parent, name, id, &n), 0);
	assert_non_null(n);
	return n;
}

static void test_idmap_agrees_with_an_array(void **state)
{
	enum { KEYS = 512, STEPS = 100000 };
	uint64_t x = 0x1234567, values[KEYS] = { 0 };
	struct idmap m = { 0 };
	size_t used = 0;

	(void)state;
	for (int i = 0; i < STEPS; i++) {
		size_t k = next_random(&x) % KEYS;
		/* Keys that fall on few slots: long probe chains are what can go wrong. */
		uint64_t key = k % 2 ? k : k << 40;

		if (next_random(&x) % 2) {
			assert_int_equal(idmap_put(&m, key, &values[k]), 0);
			used += !values[k];
			values[k] = 1;
		} else {
			assert_ptr_equal(idmap_take(&m, key), values[k] ? &values[k] : NULL);
			used -= values[k];
			values[k] = 0;
		}
		assert_int_equal(m.nr_used, used);
		k = next_random(&x) % KEYS;
		assert_ptr_equal(idmap_get(&m, k % 2 ? k : k << 40), values[k] ? &values[k] : NULL);
	}
	idmap_clear(&m);
	assert_null(idmap_get(&m, 1));
	assert_null(idmap_take(&m, 1));
}

static void test_nodes_are_found_by_id_and_path(void **state)
{
	struct cgroup_tree *t = cgroup_tree_new();
	struct cgroup_node *root = add(t, NULL, "ignored", 1), *a = add(t, root, "a", 2), *ab = add(t, a, "b", 3);
	char path[64];

	(void)state;
	assert_ptr_equal(cgroup_tree_root(t), root);
	assert_string_equal(root->name, "");
	assert_ptr_equal(cgroup_tree_find_id(t, 3), ab);
	assert_null(cgroup_tree_find_id(t, 4));
	assert_ptr_equal(cgroup_tree_find_path(t, "/"), root);
	assert_ptr_equal(cgroup_tree_find_path(t, "/a"), a);
	assert_ptr_equal(cgroup_tree_find_path(t, "/a/b"), ab);
	assert_null(cgroup_tree_find_path(t, "/a/"));
	assert_null(cgroup_tree_find_path(t, "//a"));
	assert_null(cgroup_tree_find_path(t, "a"));
	assert_null(cgroup_tree_find_path(t, ""));
	assert_null(cgroup_tree_find_path(t, "/a/b/c"));
	assert_null(cgroup_tree_find_path(t, "/ab"));
	assert_ptr_equal(cgroup_tree_find_child(t, a, "b"), ab);
	assert_null(cgroup_tree_find_child(t, a, ""));
	assert_int_equal(cgroup_node_path(ab, path, sizeof(path)), 0);
	assert_string_equal(path, "/a/b");
	assert_int_equal(cgroup_node_path(root, path, sizeof(path)), 0);
	assert_string_equal(path, "/");
	cgroup_tree_free(t);
}

static void test_path_needs_room(void **state)
{
	struct cgroup_tree *t = cgroup_tree_new();
	struct cgroup_node *root = add(t, NULL, "", 1), *n = add(t, root, "abc", 2);
	char path[8] = "kept";

	(void)state;
	assert_int_equal(cgroup_node_path(n, path, 4), -ENAMETOOLONG);
	assert_int_equal(cgroup_node_path(root, path, 1), -ENAMETOOLONG);
	assert_string_equal(path, "kept");
	assert_int_equal(cgroup_node_path(n, path, 5), 0);
	assert_string_equal(path, "/abc");
	cgroup_tree_free(t);
}

static void test_doubles_are_refused(void **state)
{
	struct cgroup_tree *t = cgroup_tree_new();
	struct cgroup_node *root = add(t, NULL, "", 1), *out = NULL;

	(void)state;
	assert_int_equal(cgroup_tree_add(t, NULL, "", 2, &out), -EEXIST);
	assert_int_equal(cgroup_tree_add(t, root, "a", 1, &out), -EEXIST);
	assert_null(out);
	assert_int_equal(cgroup_tree_size(t), 1);
	cgroup_tree_free(t);
}

static void test_removal_takes_all_below(void **state)
{
	struct cgroup_tree *t = cgroup_tree_new();
	struct cgroup_node *root = add(t, NULL, "", 1), *a = add(t, root, "a", 2), *b = add(t, root, "b", 3);

	(void)state;
	add(t, add(t, a, "x", 4), "y", 5);
	add(t, a, "z", 6);
	cgroup_tree_remove(t, a);
	assert_int_equal(cgroup_tree_size(t), 2);
	for (uint64_t id = 4; id <= 6; id++)
		assert_null(cgroup_tree_find_id(t, id));
	assert_null(cgroup_tree_find_path(t, "/a"));
	assert_ptr_equal(cgroup_tree_find_path(t, "/b"), b);
	assert_ptr_equal(root->first_child, b);
	add(t, root, "a", 2);
	cgroup_tree_remove(t, root);
	assert_null(cgroup_tree_root(t));
	assert_int_equal(cgroup_tree_size(t), 0);
	cgroup_tree_free(t);
	cgroup_tree_free(NULL);
}

static void test_walk_has_parents_first_and_stays_below(void **state)
{
	struct cgroup_tree *t = cgroup_tree_new();
	struct cgroup_node *root = add(t, NULL, "", 1), *a = add(t, root, "a", 2);
	uint64_t seen = 0;

	(void)state;
	add(t, root, "b", 3);
	add(t, add(t, a, "x", 4), "y", 5);
	for (struct cgroup_node *n = cgroup_node_next(root, NULL); n; n = cgroup_node_next(root, n)) {
		assert_true(!n->parent || seen & 1 << n->parent->id);
		assert_false(seen & 1 << n->id);
		seen |= 1 << n->id;
	}
	assert_int_equal(seen, 0x3e);
	seen = 0;
	for (struct cgroup_node *n = cgroup_node_next(a, NULL); n; n = cgroup_node_next(a, n))
		seen |= 1 << n->id;
	assert_int_equal(seen, 1 << 2 | 1 << 4 | 1 << 5);
	cgroup_tree_free(t);
}

static void test_wide_and_deep_trees(void **state)
{
	enum { WIDE = 10000, DEEP = 20000 };
	struct cgroup_tree *t = cgroup_tree_new();
	struct cgroup_node *root = add(t, NULL, "", 1), *n = root;
	char name[32], path[64];

	(void)state;
	for (uint64_t i = 0; i < WIDE; i++) {
		snprintf(name, sizeof(name), "c%llu", (unsigned long long)i);
		add(t, root, name, 2 + i);
	}
	for (uint64_t i = 0; i < WIDE; i++) {
		snprintf(path, sizeof(path), "/c%llu", (unsigned long long)i);
		assert_int_equal(cgroup_tree_find_path(t, path)->id, 2 + i);
	}
	for (uint64_t i = 0; i < WIDE; i += 2)
		cgroup_tree_remove(t, cgroup_tree_find_id(t, 2 + i));
	assert_int_equal(cgroup_tree_size(t), 1 + WIDE / 2);
	/* The depth is up to whoever got a delegated cgroup: nothing may recurse. */
	for (uint64_t i = 0; i < DEEP; i++)
		n = add(t, n, "d", UINT64_C(1) << 32 | i);
	assert_int_equal(cgroup_node_path(n, path, sizeof(path)), -ENAMETOOLONG);
	cgroup_tree_free(t);
}

/* Random adds and removes against the list of paths that should be there. */
static void test_random_trees(void **state)
{
	enum { IDS = 200, STEPS = 20000 };
	uint64_t seed = 20240607, x = seed;
	struct cgroup_tree *t = cgroup_tree_new();

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	add(t, NULL, "", 1);
	for (int i = 0; i < STEPS; i++) {
		uint64_t id = 2 + next_random(&x) % IDS;
		struct cgroup_node *n = cgroup_tree_find_id(t, id), *parent = cgroup_tree_find_id(t, 1 + next_random(&x) % IDS);
		char name[16], path[4096];
		size_t nr = 0;

		if (n) {
			cgroup_tree_remove(t, n);
		} else if (parent) {
			snprintf(name, sizeof(name), "n%llu", (unsigned long long)id);
			n = add(t, parent, name, id);
			assert_int_equal(cgroup_node_path(n, path, sizeof(path)), 0);
			assert_ptr_equal(cgroup_tree_find_path(t, path), n);
		}
		for (n = cgroup_tree_root(t); n; n = cgroup_node_next(cgroup_tree_root(t), n)) {
			assert_ptr_equal(cgroup_tree_find_id(t, n->id), n);
			nr++;
		}
		assert_int_equal(nr, cgroup_tree_size(t));
	}
	cgroup_tree_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idmap_agrees_with_an_array),
		cmocka_unit_test(test_nodes_are_found_by_id_and_path),
		cmocka_unit_test(test_path_needs_room),
		cmocka_unit_test(test_doubles_are_refused),
		cmocka_unit_test(test_removal_takes_all_below),
		cmocka_unit_test(test_walk_has_parents_first_and_stays_below),
		cmocka_unit_test(test_wide_and_deep_trees),
		cmocka_unit_test(test_random_trees),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
