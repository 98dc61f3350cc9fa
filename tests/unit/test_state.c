// SPDX-License-Identifier: GPL-2.0-or-later
/* test_state.c - the model: who decides, assignments and their ends, anything in any order */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cgroup/protected.h"
#include "daemon/base/cleanup.h"
#include "tests/unit/state_setup.h"

/* ---------- who decides ---------- */

static void test_strongest_speaker_wins(void **state)
{
	static const char *const rules[][2] = { { "/a/**", "best-effort" }, { "/a/x", "latency-critical" } };
	struct state *s = *state;
	struct cgroup_node *a = grow(s, "/a", 2), *x = grow(s, "/a/x", 3);

	grow(s, "/a/y", 4);
	grow(s, "/a/x/z", 5);
	expect_class(s, "/a/x", "normal");
	assert_int_equal(configure(s, NULL, 0, 2, rules), 0);
	expect_class(s, "/a", "normal");
	expect_class(s, "/a/x", "latency-critical");
	expect_class(s, "/a/y", "best-effort");
	expect_class(s, "/a/x/z", "best-effort");
	/* A rule for a cgroup beats a call for its parent; a call for itself beats the rule. */
	assign(s, a, "latency-critical", false, LIFETIME_CGROUP);
	expect_class(s, "/a", "latency-critical");
	expect_class(s, "/a/y", "best-effort");
	assign(s, x, "normal", false, LIFETIME_CGROUP);
	expect_class(s, "/a/x", "normal");
	assert_true(state_wants_scheduler(s));
	/* A new one has its class at once. */
	grow(s, "/a/new", 6);
	expect_class(s, "/a/new", "best-effort");
	assert_int_equal(configure(s, NULL, 0, 0, NULL), 0);
	expect_class(s, "/a/new", "latency-critical");
	expect_class(s, "/a/x/z", "normal");
}

static void test_whole_subtree(void **state)
{
	static const char *const rules[][2] = { { "/a/x", "best-effort" }, { "/a/n/r", "best-effort" } };
	struct state *s = *state;
	struct cgroup_node *a = grow(s, "/a", 2), *n;

	grow(s, "/a/x", 3);
	n = grow(s, "/a/n", 4);
	grow(s, "/a/n/r", 5);
	grow(s, "/a/n/i", 6);
	assert_int_equal(configure(s, NULL, 0, 2, rules), 0);
	assign(s, a, "latency-critical", true, LIFETIME_CGROUP);
	expect_class(s, "/a/x", "latency-critical");
	expect_class(s, "/a/n/r", "latency-critical");
	/* A nearer call ends the reach of the wide one, for itself and for what is below. */
	assign(s, n, "normal", false, LIFETIME_CGROUP);
	expect_class(s, "/a/n", "normal");
	expect_class(s, "/a/n/i", "normal");
	expect_class(s, "/a/n/r", "best-effort");
	expect_class(s, "/a/x", "latency-critical");
	assign(s, n, "normal", true, LIFETIME_CGROUP);
	expect_class(s, "/a/n/r", "normal");
	assert_int_equal(s->nr_assignments, 2);
}

static void test_protected_cgroups_are_passed_over(void **state)
{
	static const char *const rules[][2] = { { "/system.slice/*", "best-effort" },
						{ "/init.scope", "best-effort" } };
	struct state *s = *state;
	struct cgroup_node *slice = grow(s, "/system.slice", 2), *ssh = grow(s, "/system.slice/ssh.service", 3);
	struct state_assignment *a;

	grow(s, "/system.slice/x.service", 4);
	grow(s, "/init.scope", 5);
	assert_int_equal(configure(s, NULL, 0, 2, rules), 0);
	expect_class(s, "/system.slice/x.service", "best-effort");
	expect_class(s, "/system.slice/ssh.service", "normal");
	expect_class(s, "/init.scope", "normal");
	assert_int_equal(configure(s, NULL, 0, 0, NULL), 0);
	/* Neither by inheritance nor by a wide call without force. */
	a = assign(s, slice, "best-effort", false, LIFETIME_CGROUP);
	expect_class(s, "/system.slice/x.service", "best-effort");
	expect_class(s, "/system.slice/ssh.service", "normal");
	a->whole_subtree = true;
	state_classify(s, slice, NULL, NULL);
	expect_class(s, "/system.slice/ssh.service", "normal");
	a->force_protected = true;
	state_classify(s, slice, NULL, NULL);
	expect_class(s, "/system.slice/ssh.service", "best-effort");
	unassign(s, a);
	/* A call for it itself was forced, or would have been refused. */
	assign(s, ssh, "best-effort", false, LIFETIME_CGROUP);
	expect_class(s, "/system.slice/ssh.service", "best-effort");
	/* Up is always allowed. */
	assign(s, ssh, "latency-critical", false, LIFETIME_CGROUP);
	expect_class(s, "/system.slice/ssh.service", "latency-critical");
	s->own_cgroup_id = 4;
	assert_non_null(state_protected(s, "/system.slice/x.service", 4));
	assert_null(state_protected(s, "/system.slice/x.service", 6));
}

struct changes {
	size_t nr;
	uint64_t last;
};

static void count_change(void *ctx, struct cgroup_node *n)
{
	struct changes *c = ctx;

	c->nr++;
	c->last = n->id;
	n->applied = true;
	n->applied_class_idx = n->class_idx;
}

static void test_changes_are_told_once(void **state)
{
	struct state *s = *state;
	struct cgroup_node *root = cgroup_tree_root(s->tree), *a = grow(s, "/a", 2);
	struct changes c = { 0 };

	grow(s, "/a/b", 3);
	state_classify(s, root, count_change, &c);
	assert_int_equal(c.nr, 3);
	state_classify(s, root, count_change, &c);
	assert_int_equal(c.nr, 3);
	assign(s, a, "best-effort", false, LIFETIME_CGROUP);
	state_classify(s, root, count_change, &c);
	assert_int_equal(c.nr, 5);
	assert_int_equal(c.last, 3);
	state_classify(s, NULL, count_change, &c);
	assert_int_equal(c.nr, 5);
}

static void test_deep_trees_are_decided(void **state)
{
	enum { DEEP = 5000 };
	struct state *s = *state;
	struct cgroup_node *top = grow(s, "/a", 2), *n = top;

	for (uint64_t i = 0; i < DEEP; i++)
		assert_int_equal(cgroup_tree_add(s->tree, n, "d", 10 + i, &n), 0);
	assign(s, top, "best-effort", true, LIFETIME_CGROUP);
	assert_int_equal(n->class_idx, SCHEDD_CLASS_BEST_EFFORT);
	assert_int_equal(s->classes[SCHEDD_CLASS_BEST_EFFORT].member_cgroups, DEEP + 1);
}

static void test_explanations(void **state)
{
	static const char *const rules[][2] = { { "/a/**", "best-effort" },
						{ "/a/x", "latency-critical" },
						{ "/system.slice/*", "best-effort" } };
	struct state *s = *state;
	struct cgroup_node *a = grow(s, "/a", 2), *x = grow(s, "/a/x", 3), *z = grow(s, "/a/x/z", 4), *ssh;
	struct state_assignment *call;
	struct arena arena = { 0 };
	struct decision_view d;

	grow(s, "/system.slice", 5);
	ssh = grow(s, "/system.slice/ssh.service", 6);
	assert_int_equal(configure(s, NULL, 0, 3, rules), 0);
	state_explain(s, cgroup_tree_root(s->tree), &arena, &d);
	assert_string_equal(d.winner.source, "default");
	assert_int_equal(d.nr_overridden, 0);
	call = assign(s, x, "normal", false, LIFETIME_CGROUP);
	state_explain(s, x, &arena, &d);
	assert_string_equal(d.cgroup_path, "/a/x");
	assert_int_equal(d.cgroup_id, 3);
	assert_string_equal(d.class_name, "normal");
	assert_string_equal(d.winner.source, "call");
	assert_string_equal(d.winner.value, call->id);
	assert_int_equal(d.nr_overridden, 2);
	assert_string_equal(d.overridden[0].source, "config");
	assert_string_equal(d.overridden[0].class_name, "latency-critical");
	assert_string_equal(d.overridden[0].rule, "test.yaml:2");
	assert_string_equal(d.overridden[1].value, "/a/**");
	assert_string_equal(d.capped_by, "");
	assert_int_equal(configure(s, NULL, 0, 0, NULL), 0);
	state_explain(s, z, &arena, &d);
	assert_string_equal(d.winner.source, "inherited");
	assert_string_equal(d.winner.value, "/a/x");
	assert_int_equal(d.winner.at_cgroup_id, 3);
	assign(s, a, "best-effort", true, LIFETIME_CGROUP);
	unassign(s, state_find_assignment_for(s, TARGET_PATH, "/a/x", 3));
	state_classify(s, a, NULL, NULL);
	state_explain(s, z, &arena, &d);
	assert_string_equal(d.winner.source, "call");
	assert_non_null(strstr(d.winner.rule, "/a"));
	assert_int_equal(d.winner.at_cgroup_id, 2);
	assert_int_equal(configure(s, NULL, 0, 3, rules), 0);
	state_explain(s, ssh, &arena, &d);
	assert_string_equal(d.class_name, "normal");
	assert_int_equal(d.nr_overridden, 1);
	assert_non_null(strstr(d.overridden[0].rule, "ignored"));
	arena_free(&arena);
}

static void test_explaining_without_memory(void **state)
{
	struct state *s = *state;
	struct cgroup_node *a = grow(s, "/a", 2);

	assign(s, a, "best-effort", true, LIFETIME_CGROUP);
	for (size_t cap = 1; cap < 600; cap += 16) {
		struct arena arena = { .cap_bytes = cap };
		struct decision_view d;

		state_explain(s, grow(s, "/a/b", 3), &arena, &d);
		assert_non_null(d.class_name);
		assert_non_null(d.winner.value);
		cut(s, cgroup_tree_find_id(s->tree, 3));
		arena_free(&arena);
	}
}

/* ---------- assignments ---------- */

static void test_one_assignment_per_cgroup(void **state)
{
	struct state *s = *state;
	struct cgroup_node *a = grow(s, "/a", 2);
	char first[STATE_ID_MAX + 1];
	struct state_assignment by_id = { .target_type = TARGET_ID,
					  .target_text = (char *)"/a",
					  .cgroup_id = 2,
					  .class_name = "best-effort",
					  .lifetime = LIFETIME_CGROUP },
				bad = by_id, *stored = NULL;

	strcpy(first, assign(s, a, "latency-critical", false, LIFETIME_CGROUP)->id);
	assert_int_equal(state_set_assignment(s, &by_id, &stored), 0);
	assert_int_equal(s->nr_assignments, 1);
	assert_int_equal(stored->target_type, TARGET_ID);
	assert_string_not_equal(stored->id, first);
	assert_null(state_find_assignment(s, first));
	assert_ptr_equal(state_find_assignment_for(s, TARGET_PATH, "/a", 0), stored);
	assert_ptr_equal(state_find_assignment_for(s, TARGET_SELF, NULL, 2), stored);
	assert_null(state_find_assignment_for(s, TARGET_UNIT, "/a", 0));
	strcpy(bad.class_name, "none");
	assert_int_equal(state_set_assignment(s, &bad, NULL), -ENOENT);
	bad.target_text = NULL;
	assert_int_equal(state_set_assignment(s, &bad, NULL), -EINVAL);
	/* A given id stays, as the state file needs it. */
	strcpy(by_id.id, "kept");
	assert_int_equal(state_set_assignment(s, &by_id, &stored), 0);
	assert_string_equal(stored->id, "kept");
}

static void test_assignments_are_limited(void **state)
{
	struct state *s = *state;
	char text[16];
	struct state_assignment a = { .target_type = TARGET_PATH,
				      .target_text = text,
				      .class_name = "best-effort",
				      .lifetime = LIFETIME_RUNTIME };

	for (int i = 0; i < STATE_MAX_ASSIGNMENTS; i++) {
		snprintf(text, sizeof(text), "/g%d", i);
		assert_int_equal(state_set_assignment(s, &a, NULL), 0);
	}
	assert_int_equal(state_set_assignment(s, &a, NULL), 0); /* the same again is no new one */
	strcpy(text, "/more");
	assert_int_equal(state_set_assignment(s, &a, NULL), -ENOSPC);
}

static void test_lifetimes(void **state)
{
	struct state *s = *state;

	assign(s, grow(s, "/c", 2), "best-effort", false, LIFETIME_CGROUP);
	assign(s, grow(s, "/r", 3), "best-effort", false, LIFETIME_RUNTIME);
	assign(s, grow(s, "/p.slice", 4), "latency-critical", false, LIFETIME_PERSISTENT);
	assert_int_equal(s->classes[SCHEDD_CLASS_BEST_EFFORT].member_cgroups, 2);
	assert_true(state_cgroup_removed(s, 2));
	cgroup_tree_remove(s->tree, cgroup_tree_find_id(s->tree, 2));
	assert_true(state_cgroup_removed(s, 3));
	cgroup_tree_remove(s->tree, cgroup_tree_find_id(s->tree, 3));
	assert_false(state_cgroup_removed(s, 99));
	assert_false(state_cgroup_removed(s, 0));
	assert_int_equal(s->nr_assignments, 2);
	assert_int_equal(s->assignments[0].cgroup_id, 0);
	assert_int_equal(s->classes[SCHEDD_CLASS_BEST_EFFORT].member_cgroups, 0);
	/* The same path, another cgroup. */
	grow(s, "/c", 12);
	grow(s, "/r", 13);
	expect_class(s, "/c", "normal");
	expect_class(s, "/r", "best-effort");
	assert_int_equal(s->assignments[0].cgroup_id, 13);
}

static void test_expiry(void **state)
{
	struct state *s = *state;
	struct cgroup_node *a = grow(s, "/a", 2), *b = grow(s, "/b", 3);
	uint64_t next = 77;

	assert_false(state_expire(s, 1000, &next));
	assert_int_equal(next, 0);
	assign(s, a, "best-effort", false, LIFETIME_CGROUP)->expire_boottime_ns = 500;
	assign(s, b, "best-effort", false, LIFETIME_CGROUP)->expire_boottime_ns = 800;
	assert_false(state_expire(s, 499, &next));
	assert_int_equal(next, 500);
	assert_true(state_expire(s, 500, &next));
	assert_int_equal(next, 800);
	assert_int_equal(s->nr_assignments, 1);
	assert_true(state_expire(s, UINT64_MAX, NULL));
	assert_int_equal(s->nr_assignments, 0);
}

static void test_requests_are_kept_for_a_while(void **state)
{
	struct state *s = *state;
	struct state_request q = { .request_id = "r", .uid = 1, .type = COMMAND_SET_CLASS, .expire_boottime_ns = 100 };

	assert_int_equal(state_add_request(s, &q, 0), 0);
	assert_non_null(state_find_request(s, "r", 1, COMMAND_SET_CLASS, 99));
	assert_null(state_find_request(s, "r", 1, COMMAND_SET_CLASS, 100));
	assert_null(state_find_request(s, "r", 2, COMMAND_SET_CLASS, 0));
	assert_null(state_find_request(s, "r", 1, COMMAND_UNSET_CLASS, 0));
	assert_null(state_find_request(s, "R", 1, COMMAND_SET_CLASS, 0));
	for (int i = 0; i < STATE_MAX_REQUESTS; i++) {
		snprintf(q.request_id, sizeof(q.request_id), "r%d", i);
		q.expire_boottime_ns = (uint64_t)(200 + i);
		assert_int_equal(state_add_request(s, &q, 0), 0);
	}
	assert_int_equal(s->nr_requests, STATE_MAX_REQUESTS);
	assert_null(state_find_request(s, "r", 1, COMMAND_SET_CLASS, 0)); /* the oldest made room */
	assert_non_null(state_find_request(s, "r0", 1, COMMAND_SET_CLASS, 0));
	state_expire(s, 210, NULL);
	assert_int_equal(s->nr_requests, STATE_MAX_REQUESTS - 11);
}

static void test_snapshot_undoes_everything(void **state)
{
	static const char *const rules[][2] = { { "/a/**", "best-effort" } };
	struct state *s = *state, *snapshot;
	_cleanup_free_ char *before = NULL, *after = NULL;
	struct state_request q = { .request_id = "r", .expire_boottime_ns = 100 };
	struct cgroup_node *a = grow(s, "/a", 2);

	grow(s, "/a/b", 3);
	assert_int_equal(configure(s, NULL, 0, 1, rules), 0);
	assert_int_equal(new_class(s, "web", SCHEDD_KIND_LATENCY_CRITICAL), 0);
	assign(s, a, "web", false, LIFETIME_CGROUP);
	assert_int_equal(state_add_request(s, &q, 0), 0);
	before = state_fingerprint(s);
	snapshot = state_snapshot(s);
	assert_non_null(snapshot);
	assert_null(snapshot->tree);
	s->config_generation++;
	assign(s, a, "normal", true, LIFETIME_CGROUP);
	assert_int_equal(state_delete_class(s, "web", error, sizeof(error)), 0);
	assert_int_equal(configure(s, NULL, 0, 0, NULL), 0);
	state_add_request(s, &q, 200);
	state_restore(s, snapshot);
	after = state_fingerprint(s);
	assert_string_equal(before, after);
	snapshot = state_snapshot(s);
	state_free(snapshot);
	state_free(NULL);
}

/* ---------- anything in any order ---------- */

static const char *naive_call(const struct state *s, const struct cgroup_node *n, bool *ret_subtree)
{
	for (size_t i = 0; i < s->nr_assignments; i++)
		if (s->assignments[i].cgroup_id == n->id) {
			*ret_subtree = s->assignments[i].whole_subtree;
			return s->assignments[i].class_name;
		}
	return NULL;
}

/* The rule of operations.md in as few words as possible; recursive, linear, slow. */
static int naive_class(const struct state *s, const struct cgroup_node *n)
{
	const char *name, *found = NULL;
	char path[4096];
	bool subtree, protected;
	int slot;

	assert_int_equal(cgroup_node_path(n, path, sizeof(path)), 0);
	protected = cgroup_protected(path);
	name = naive_call(s, n, &subtree);
	if (name)
		return state_find_class(s, name);
	for (const struct cgroup_node *up = n->parent; up && !found; up = up->parent)
		if ((found = naive_call(s, up, &subtree)) && subtree) {
			slot = state_find_class(s, found);
			if (!protected || s->classes[slot].effective.kind != SCHEDD_KIND_BEST_EFFORT)
				return slot;
		}
	for (size_t i = s->nr_rules; i-- > 0;)
		if (cgroup_rule_glob_match(s->rules[i].cgroup_glob, path)) {
			slot = state_find_class(s, s->rules[i].class_name);
			if (!protected || s->classes[slot].effective.kind != SCHEDD_KIND_BEST_EFFORT)
				return slot;
		}
	if (!n->parent)
		return SCHEDD_CLASS_NORMAL;
	slot = naive_class(s, n->parent);
	return protected && s->classes[slot].effective.kind == SCHEDD_KIND_BEST_EFFORT ? SCHEDD_CLASS_NORMAL : slot;
}

static void check_invariants(const struct state *s, int step)
{
	uint32_t members[SCHEDD_MAX_CLASSES] = { 0 };
	struct cgroup_node *root = cgroup_tree_root(s->tree);
	char path[4096];

	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n)) {
		cgroup_node_path(n, path, sizeof(path));
		if (n->class_idx != naive_class(s, n))
			fail_msg("step %d: %s is %s, must be %s", step, path, s->classes[n->class_idx].name,
				 s->classes[naive_class(s, n)].name);
		members[n->class_idx]++;
	}
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (s->classes[i].member_cgroups != members[i])
			fail_msg("step %d: class %d counts %u members, has %u", step, i, s->classes[i].member_cgroups,
				 members[i]);
	for (size_t i = 0; i < s->nr_assignments; i++) {
		assert_true(state_find_class(s, s->assignments[i].class_name) >= 0);
		assert_true(!s->assignments[i].cgroup_id || cgroup_tree_find_id(s->tree, s->assignments[i].cgroup_id));
	}
}

static struct cgroup_node *any_node(const struct state *s, unsigned int *x)
{
	struct cgroup_node *root = cgroup_tree_root(s->tree), *n = root;

	for (size_t i = (size_t)rand_r(x) % cgroup_tree_size(s->tree); i; i--)
		n = cgroup_node_next(root, n);
	return n;
}

static const char *any_class(const struct state *s, unsigned int *x)
{
	int slot;

	do
		slot = rand_r(x) % SCHEDD_MAX_CLASSES;
	while (!s->classes[slot].used);
	return s->classes[slot].name;
}

static void random_config(struct state *s, unsigned int *x)
{
	static const char *const globs[] = { "/**", "/a", "/a/*", "/*/b/**", "/system.slice/**", "/**/c", "/" };
	const struct state_config_class web = { "web", settings(CLASS_FIELD_KIND, SCHEDD_KIND_LATENCY_CRITICAL, 0, 0),
						(char *)"f:1" };
	size_t nr = (size_t)rand_r(x) % 4;
	const char *rules[4][2];

	for (size_t i = 0; i < nr; i++) {
		rules[i][0] = globs[(size_t)rand_r(x) % ARRAY_SIZE(globs)];
		rules[i][1] = any_class(s, x);
	}
	configure(s, &web, (size_t)rand_r(x) % 2, nr, (const char *const(*)[2])rules);
}

static void random_step(struct state *s, unsigned int *x, uint64_t *id)
{
	static const char *const names[] = { "a", "b", "c", "system.slice", "ssh.service" };
	struct cgroup_node *n = any_node(s, x);
	char path[4096], name[16];
	struct state *snapshot;

	switch (rand_r(x) % 12) {
	case 0 ... 3:
		cgroup_node_path(n, path, sizeof(path));
		if (strlen(path) < 60) {
			sprintf(path + (n->parent ? strlen(path) : 0), "/%s",
				names[(size_t)rand_r(x) % ARRAY_SIZE(names)]);
			if (!cgroup_tree_find_path(s->tree, path))
				assert_non_null(grow(s, path, ++*id));
		}
		break;
	case 4:
		if (n->parent)
			cut(s, n);
		break;
	case 5 ... 6:
		assign(s, n, any_class(s, x), rand_r(x) % 3 == 0, 1 + (unsigned int)rand_r(x) % 3);
		break;
	case 7:
		if (s->nr_assignments)
			unassign(s, &s->assignments[(size_t)rand_r(x) % s->nr_assignments]);
		break;
	case 8:
		random_config(s, x);
		break;
	case 9:
		snprintf(name, sizeof(name), "n%d", rand_r(x) % 20);
		new_class(s, name, 1 + (uint32_t)rand_r(x) % 3);
		break;
	case 10:
		state_delete_class(s, any_class(s, x), error, sizeof(error));
		break;
	default:
		snapshot = state_snapshot(s);
		assign(s, n, any_class(s, x), true, LIFETIME_CGROUP);
		state_restore(s, snapshot);
	}
}

static void test_random_steps_keep_the_invariants(void **state)
{
	enum { STEPS = 6000 };
	struct state *s = *state;
	unsigned int seed = 271828, x = seed;
	uint64_t id = 1;

	print_message("# seed %u\n", seed);
	for (int i = 0; i < STEPS; i++) {
		random_step(s, &x, &id);
		check_invariants(s, i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(test_strongest_speaker_wins),
		STATE_TEST(test_whole_subtree),
		STATE_TEST(test_protected_cgroups_are_passed_over),
		STATE_TEST(test_changes_are_told_once),
		STATE_TEST(test_deep_trees_are_decided),
		STATE_TEST(test_explanations),
		STATE_TEST(test_explaining_without_memory),
		STATE_TEST(test_one_assignment_per_cgroup),
		STATE_TEST(test_assignments_are_limited),
		STATE_TEST(test_lifetimes),
		STATE_TEST(test_expiry),
		STATE_TEST(test_requests_are_kept_for_a_while),
		STATE_TEST(test_snapshot_undoes_everything),
		STATE_TEST(test_random_steps_keep_the_invariants),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
