// SPDX-License-Identifier: GPL-2.0-or-later
/* test_state_class.c - the model: classes of calls and files, guarantees */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/state_setup.h"

/* ---------- classes ---------- */

static void test_built_in_classes(void **state)
{
	const struct state *s = *state;

	assert_int_equal(state_find_class(s, "normal"), SCHEDD_CLASS_NORMAL);
	assert_int_equal(state_find_class(s, "latency-critical"), SCHEDD_CLASS_LATENCY_CRITICAL);
	assert_int_equal(state_find_class(s, "best-effort"), SCHEDD_CLASS_BEST_EFFORT);
	assert_int_equal(state_find_class(s, "web"), -ENOENT);
	for (int i = 0; i < SCHEDD_NR_BUILTIN; i++) {
		assert_int_equal(s->classes[i].origin, CLASS_ORIGIN_BUILTIN);
		assert_int_equal(s->classes[i].effective.set, CLASS_FIELD_ALL);
	}
	assert_int_equal(effective(s, "best-effort")->kind, SCHEDD_KIND_BEST_EFFORT);
	assert_int_equal(effective(s, "normal")->guarantee_cpus, 1);
}

static void test_class_is_made_changed_and_reset(void **state)
{
	struct state *s = *state;
	struct class_settings c =
		settings(CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE, SCHEDD_KIND_LATENCY_CRITICAL, 2, 0);
	uint64_t revision;
	int slot = -1;

	assert_int_equal(state_upsert_class(s, "web", &c, 0, true, &slot, error, sizeof(error)), 0);
	assert_int_equal(slot, state_find_class(s, "web"));
	assert_int_equal(s->classes[slot].origin, CLASS_ORIGIN_API);
	assert_true(s->classes[slot].persistent);
	assert_int_equal(effective(s, "web")->guarantee_cpus, 2);
	revision = s->classes[slot].revision;
	/* Only what is present changes, and what was persistent stays so. */
	c = settings(CLASS_FIELD_BURST, 0, 0, 4);
	assert_int_equal(state_upsert_class(s, "web", &c, 0, false, &slot, error, sizeof(error)), 0);
	assert_int_equal(effective(s, "web")->guarantee_cpus, 2);
	assert_int_equal(effective(s, "web")->burst_cpus, 4);
	assert_true(s->classes[slot].persistent);
	assert_true(s->classes[slot].revision > revision);
	/* In the mask and absent: back to the default. */
	c.set = 0;
	assert_int_equal(state_upsert_class(s, "web", &c, CLASS_FIELD_ALL, false, &slot, error, sizeof(error)), 0);
	assert_int_equal(effective(s, "web")->guarantee_cpus, 0);
	assert_int_equal(effective(s, "web")->burst_cpus, CPUS);
	assert_int_equal(effective(s, "web")->kind, SCHEDD_KIND_LATENCY_CRITICAL);
	assert_int_equal(s->classes[slot].override.set, CLASS_FIELD_KIND);
}

/* Each refusal: the errno, a word of its text, and nothing changed. */
static void test_refused_classes(void **state)
{
	struct state *s = *state;
	const struct {
		const char *name;
		struct class_settings c;
		int r;
		const char *word;
	} cases[] = {
		{ "Web", settings(CLASS_FIELD_KIND, 3, 0, 0), -EINVAL, "name" },
		{ "", settings(CLASS_FIELD_KIND, 3, 0, 0), -EINVAL, "name" },
		{ "a\nb", settings(CLASS_FIELD_KIND, 3, 0, 0), -EINVAL, "name" },
		{ "new", settings(CLASS_FIELD_GUARANTEE, 0, 1, 0), -EINVAL, "kind" },
		{ "new", settings(CLASS_FIELD_KIND, 9, 0, 0), -EINVAL, "kind" },
		{ "web", settings(CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0, 0), -EINVAL, "kind" },
		{ "normal", settings(CLASS_FIELD_KIND, SCHEDD_KIND_BEST_EFFORT, 0, 0), -EINVAL, "kind" },
		{ "web", settings(CLASS_FIELD_GUARANTEE, 0, CPUS + 1, 0), -ERANGE, "online CPUs" },
		{ "web", settings(CLASS_FIELD_BURST, 0, 0, 0), -ERANGE, "burst" },
		/* the guarantee of 3 is there already */
		{ "web", settings(CLASS_FIELD_BURST, 0, 0, 2), -EINVAL, "burst" },
		{ "web", { .set = CLASS_FIELD_WEIGHT, .weight = 10001 }, -ERANGE, "weight" },
		{ "web", { .set = CLASS_FIELD_POLICY, .policy = "x" }, -EINVAL, "policy" },
		{ "web", { .set = CLASS_FIELD_QUANTUM, .quantum_ns = 1000 }, -ERANGE, "quantum" },
	};

	assert_int_equal(upsert(s, "web", CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE, SCHEDD_KIND_LATENCY_CRITICAL, 3),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *before = state_fingerprint(s), *after = NULL;
		int slot = 77;

		error[0] = '\0';
		if (state_upsert_class(s, cases[i].name, &cases[i].c, 0, true, &slot, error, sizeof(error)) !=
		    cases[i].r)
			fail_msg("case %zu: another result; `%s'", i, error);
		if (!strstr(error, cases[i].word))
			fail_msg("case %zu: `%s' does not name `%s'", i, error, cases[i].word);
		after = state_fingerprint(s);
		assert_string_equal(before, after);
		assert_int_equal(slot, 77);
	}
}

static void test_seventeenth_class(void **state)
{
	struct state *s = *state;
	char name[16];

	for (int i = SCHEDD_NR_BUILTIN; i < SCHEDD_MAX_CLASSES; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		assert_int_equal(new_class(s, name, SCHEDD_KIND_NORMAL), 0);
	}
	assert_int_equal(new_class(s, "one-more", SCHEDD_KIND_NORMAL), -ENOSPC);
	assert_int_equal(state_delete_class(s, "c5", error, sizeof(error)), 0);
	assert_int_equal(new_class(s, "one-more", SCHEDD_KIND_NORMAL), 0);
	assert_int_equal(state_find_class(s, "one-more"), 5);
}

/* Tasks may still carry the number of a class that went: the slot that is free for longest is taken first. */
static void test_slots_are_used_again_late(void **state)
{
	struct state *s = *state;
	int a, b;

	assert_int_equal(new_class(s, "a", SCHEDD_KIND_NORMAL), 0);
	a = state_find_class(s, "a");
	assert_int_equal(state_delete_class(s, "a", error, sizeof(error)), 0);
	assert_int_equal(new_class(s, "b", SCHEDD_KIND_NORMAL), 0);
	b = state_find_class(s, "b");
	assert_int_not_equal(a, b);
}

static void test_delete_and_revert(void **state)
{
	static const char *const rule[][2] = { { "/x", "ruled" } };
	const struct state_config_class ruled = { .name = "ruled",
						  .settings = settings(CLASS_FIELD_KIND, 3, 0, 0),
						  .origin = (char *)"f:1" };
	struct state *s = *state;
	struct cgroup_node *x = grow(s, "/x", 2);

	assert_int_equal(state_delete_class(s, "normal", error, sizeof(error)), -EPERM);
	assert_int_equal(state_delete_class(s, "web", error, sizeof(error)), -ENOENT);
	assert_int_equal(configure(s, &ruled, 1, 1, rule), 0);
	assert_int_equal(state_delete_class(s, "ruled", error, sizeof(error)), -EPERM);
	assert_non_null(strstr(error, "configuration"));
	assert_int_equal(new_class(s, "web", SCHEDD_KIND_LATENCY_CRITICAL), 0);
	assert_int_equal(state_revert_class(s, "web", error, sizeof(error)), -EPERM);
	assign(s, x, "web", false, LIFETIME_CGROUP);
	assert_int_equal(state_delete_class(s, "web", error, sizeof(error)), -EBUSY);
	assert_non_null(strstr(error, "/x"));
	unassign(s, &s->assignments[0]);
	assert_int_equal(state_delete_class(s, "web", error, sizeof(error)), 0);
	expect_class(s, "/x", "ruled");
	assert_int_equal(upsert(s, "ruled", CLASS_FIELD_GUARANTEE, 0, 2), 0);
	assert_int_equal(upsert(s, "normal", CLASS_FIELD_GUARANTEE, 0, 3), 0);
	assert_int_equal(state_revert_class(s, "ruled", error, sizeof(error)), 0);
	assert_int_equal(state_revert_class(s, "normal", error, sizeof(error)), 0);
	assert_int_equal(effective(s, "ruled")->guarantee_cpus, 0);
	assert_int_equal(effective(s, "normal")->guarantee_cpus, 1);
	assert_int_equal(state_revert_class(s, "none", error, sizeof(error)), -ENOENT);
}

/* ---------- configuration ---------- */

static void test_config_and_calls_together(void **state)
{
	struct state *s = *state;
	struct state_config_class c[] = {
		{ "web", settings(CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE, SCHEDD_KIND_LATENCY_CRITICAL, 2, 0),
		  (char *)"f:1" },
		{ "normal", settings(CLASS_FIELD_GUARANTEE, 0, 3, 0), (char *)"f:2" },
	};
	uint64_t generation = s->config_generation, revision;

	assert_int_equal(configure(s, c, 2, 0, NULL), 0);
	assert_true(s->config_generation > generation);
	assert_int_equal(s->classes[state_find_class(s, "web")].origin, CLASS_ORIGIN_CONFIG);
	assert_int_equal(s->classes[SCHEDD_CLASS_NORMAL].origin, CLASS_ORIGIN_BUILTIN);
	assert_int_equal(effective(s, "normal")->guarantee_cpus, 3);
	/* A call changes the named key only, and a reload keeps it. */
	assert_int_equal(upsert(s, "web", CLASS_FIELD_GUARANTEE, 0, 4), 0);
	revision = s->classes[state_find_class(s, "web")].revision;
	assert_int_equal(configure(s, c, 2, 0, NULL), 0);
	assert_int_equal(effective(s, "web")->guarantee_cpus, 4);
	assert_int_equal(s->classes[state_find_class(s, "web")].revision, revision);
	assert_int_equal(state_revert_class(s, "web", error, sizeof(error)), 0);
	assert_int_equal(effective(s, "web")->guarantee_cpus, 2);
	/* What is no longer in the files is gone, built-in classes go back to their defaults. */
	assert_int_equal(configure(s, NULL, 0, 0, NULL), 0);
	assert_int_equal(state_find_class(s, "web"), -ENOENT);
	assert_int_equal(effective(s, "normal")->guarantee_cpus, 1);
}

static void test_files_take_over_a_class_of_a_call(void **state)
{
	struct state *s = *state;
	const struct state_config_class c = { "web", settings(CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0, 0),
					      (char *)"f:1" };
	const struct state_config_class other = { "web", settings(CLASS_FIELD_KIND, SCHEDD_KIND_BEST_EFFORT, 0, 0),
						  (char *)"f:1" };

	assert_int_equal(upsert(s, "web", CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE, SCHEDD_KIND_NORMAL, 4), 0);
	assert_int_equal(configure(s, &other, 1, 0, NULL), -EEXIST);
	assert_int_equal(configure(s, &c, 1, 0, NULL), 0);
	assert_int_equal(s->classes[state_find_class(s, "web")].origin, CLASS_ORIGIN_CONFIG);
	assert_int_equal(s->classes[state_find_class(s, "web")].override.set, CLASS_FIELD_GUARANTEE);
	assert_int_equal(effective(s, "web")->guarantee_cpus, 4);
}

static void test_refused_configurations(void **state)
{
	static const char *const no_class[][2] = { { "/x", "none" } }, *const bad_glob[][2] = { { "/a**", "normal" } },
				 *const uses_old[][2] = { { "/x", "old" } };
	struct state *s = *state;
	const struct class_settings lc = settings(CLASS_FIELD_KIND, SCHEDD_KIND_LATENCY_CRITICAL, 0, 0);
	const struct state_config_class old = { "old", lc, (char *)"f:1" };
	struct state_config_class many[14];
	struct cgroup_node *x = grow(s, "/x", 2);
	const struct {
		struct state_config_class c[2];
		size_t nr_classes, nr_rules;
		const char *const (*rules)[2];
		int r;
		const char *word;
	} cases[] = {
		{ .c = { old },
		  .nr_classes = 1,
		  .nr_rules = 1,
		  .rules = no_class,
		  .r = -ENOENT,
		  .word = "test.yaml:1" },
		{ .c = { old }, .nr_classes = 1, .nr_rules = 1, .rules = bad_glob, .r = -EINVAL, .word = "/a**" },
		{ .c = { old, old }, .nr_classes = 2, .r = -EEXIST, .word = "twice" },
		{ .c = { old, { "x", { 0 }, (char *)"f:9" } }, .nr_classes = 2, .r = -EINVAL, .word = "f:9" },
		{ .c = { { "old", settings(CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0, 0), (char *)"f:1" } },
		  .nr_classes = 1,
		  .r = -EINVAL,
		  .word = "kind" },
		{ .c = { old, { "normal", settings(CLASS_FIELD_KIND, SCHEDD_KIND_BEST_EFFORT, 0, 0), (char *)"f:3" } },
		  .nr_classes = 2,
		  .r = -EINVAL,
		  .word = "kind" },
		{ .c = { old,
			 { "x", settings(CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE, 3, CPUS + 1, 0), (char *)"f:1" } },
		  .nr_classes = 2,
		  .r = -ERANGE,
		  .word = "online" },
		{ .nr_classes = 0, .r = -EBUSY, .word = "old" },
		{ .nr_classes = 0, .nr_rules = 1, .rules = uses_old, .r = -EBUSY, .word = "old" },
	};

	assert_int_equal(configure(s, &old, 1, 0, NULL), 0);
	assign(s, x, "old", false, LIFETIME_CGROUP);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *before = state_fingerprint(s), *after = NULL;

		error[0] = '\0';
		if (configure(s, cases[i].c, cases[i].nr_classes, cases[i].nr_rules, cases[i].rules) != cases[i].r)
			fail_msg("case %zu: another result; `%s'", i, error);
		if (!strstr(error, cases[i].word))
			fail_msg("case %zu: `%s' does not name `%s'", i, error, cases[i].word);
		after = state_fingerprint(s);
		assert_string_equal(before, after);
	}
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = old;
		snprintf(many[i].name, sizeof(many[i].name), i ? "c%zu" : "old", i);
	}
	assert_int_equal(configure(s, many, 14, 0, NULL), -ENOSPC);
	assert_int_equal(configure(s, many, 13, 0, NULL), 0);
	unassign(s, &s->assignments[0]);
	/* All names exchanged at once. */
	for (size_t i = 0; i < 13; i++)
		snprintf(many[i].name, sizeof(many[i].name), "d%zu", i);
	assert_int_equal(configure(s, many, 13, 0, NULL), 0);
}

/* ---------- guarantees ---------- */

static void expect_guarantees(struct state *s, uint32_t normal, uint32_t lc, uint32_t be, bool scaled)
{
	assert_int_equal(s->classes[SCHEDD_CLASS_NORMAL].effective_guarantee_cpus, normal);
	assert_int_equal(s->classes[SCHEDD_CLASS_LATENCY_CRITICAL].effective_guarantee_cpus, lc);
	assert_int_equal(s->classes[SCHEDD_CLASS_BEST_EFFORT].effective_guarantee_cpus, be);
	assert_int_equal(s->guarantees_scaled, scaled);
}

static void test_guarantees(void **state)
{
	struct state *s = *state;

	expect_guarantees(s, 1, 0, 0, false);
	/* The default gives way before anything explicit is scaled. */
	assert_int_equal(upsert(s, "latency-critical", CLASS_FIELD_GUARANTEE, 0, 7), 0);
	expect_guarantees(s, 1, 7, 0, false);
	assert_int_equal(upsert(s, "latency-critical", CLASS_FIELD_GUARANTEE, 0, 8), 0);
	expect_guarantees(s, 0, 8, 0, false);
	assert_int_equal(upsert(s, "best-effort", CLASS_FIELD_GUARANTEE, 0, 4), 0);
	expect_guarantees(s, 0, 5, 3, true);
	assert_int_equal(upsert(s, "normal", CLASS_FIELD_GUARANTEE, 0, 4), 0);
	expect_guarantees(s, 2, 4, 2, true);
	assert_int_equal(state_revert_class(s, "latency-critical", error, sizeof(error)), 0);
	expect_guarantees(s, 4, 0, 4, false);
}

static void test_one_cpu(void **state)
{
	struct state *s = NULL;

	(void)state;
	assert_int_equal(state_new(1, &s), 0);
	expect_guarantees(s, 0, 0, 0, false);
	assert_int_equal(upsert(s, "latency-critical", CLASS_FIELD_GUARANTEE, 0, 1), 0);
	assert_int_equal(upsert(s, "best-effort", CLASS_FIELD_GUARANTEE, 0, 1), 0);
	assert_true(s->guarantees_scaled);
	assert_int_equal(s->classes[1].effective_guarantee_cpus + s->classes[2].effective_guarantee_cpus, 1);
	state_free(s);
}

static void test_random_guarantees(void **state)
{
	unsigned int seed = 5, x = seed;

	(void)state;
	print_message("# seed %u\n", seed);
	for (int i = 0; i < 300; i++) {
		uint32_t cpus = 1 + (uint32_t)rand_r(&x) % 64, sum = 0, explicit_sum = 0;
		struct state *s = NULL;
		char name[16];

		assert_int_equal(state_new(cpus, &s), 0);
		for (int k = rand_r(&x) % 12; k >= 0; k--) {
			snprintf(name, sizeof(name), "c%d", k);
			assert_int_equal(upsert(s, name, CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE,
						1 + (uint32_t)rand_r(&x) % 3, (uint32_t)rand_r(&x) % (cpus + 1)),
					 0);
		}
		for (int k = 0; k < SCHEDD_MAX_CLASSES; k++) {
			const struct state_class *c = &s->classes[k];

			sum += c->effective_guarantee_cpus;
			explicit_sum += c->override.set & CLASS_FIELD_GUARANTEE ? c->effective.guarantee_cpus : 0;
			assert_true(c->effective_guarantee_cpus <= c->effective.guarantee_cpus);
		}
		assert_true(sum <= cpus);
		assert_int_equal(s->guarantees_scaled, explicit_sum > cpus);
		if (s->guarantees_scaled)
			assert_int_equal(sum, cpus);
		state_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(test_built_in_classes),
		STATE_TEST(test_class_is_made_changed_and_reset),
		STATE_TEST(test_refused_classes),
		STATE_TEST(test_seventeenth_class),
		STATE_TEST(test_slots_are_used_again_late),
		STATE_TEST(test_delete_and_revert),
		STATE_TEST(test_config_and_calls_together),
		STATE_TEST(test_files_take_over_a_class_of_a_call),
		STATE_TEST(test_refused_configurations),
		STATE_TEST(test_guarantees),
		cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_random_guarantees),
	};

	return cmocka_run_group_tests_name("state_class", tests, NULL, NULL);
}
