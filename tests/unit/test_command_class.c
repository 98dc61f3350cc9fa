// SPDX-License-Identifier: GPL-2.0-or-later
/* test_command_class.c - classes by calls, lists and their page tokens, explanations */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/command_fixture.h"

/* ---------- classes ---------- */

static void test_upsert_class(void **state)
{
	struct fake *f = *state;
	const struct class_view *v;
	struct command *c = upsert(f, "web", CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE, SCHEDD_KIND_LATENCY_CRITICAL, 2);
	char etag[64];

	c->persistent = c->must_not_exist = true;
	v = run_ok(f)->classes;
	assert_int_equal(f->reply.nr_classes, 1);
	assert_string_equal(v->name, "web");
	assert_int_equal(v->origin, CLASS_ORIGIN_API);
	assert_int_equal(v->own_fields, CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE);
	assert_int_equal(v->overridden_fields, 0);
	assert_int_equal(v->settings.set, CLASS_FIELD_ALL);
	assert_int_equal(v->effective_guarantee_cpus, 2);
	snprintf(etag, sizeof(etag), "%s", v->etag);
	c = upsert(f, "web", CLASS_FIELD_GUARANTEE, 0, 3);
	c->etag = etag;
	c->must_exist = true;
	v = run_ok(f)->classes;
	assert_string_not_equal(v->etag, etag);
	run_refused(f, COMMAND_ABORTED, "ETAG_STALE", "web");
	c->etag = "";
	c->update_fields = CLASS_FIELD_GUARANTEE;
	c->settings.set = 0;
	assert_int_equal(run_ok(f)->classes->settings.guarantee_cpus, 0);
	/* Of a built-in class what a call says is an override. */
	upsert(f, "lc", CLASS_FIELD_GUARANTEE, 0, 1);
	assert_int_equal(run_ok(f)->classes->overridden_fields, CLASS_FIELD_GUARANTEE);
	assert_string_equal(f->reply.classes->name, "latency-critical");
	on_class(f, COMMAND_REVERT_CLASS, "lc");
	assert_int_equal(run_ok(f)->classes->own_fields, 0);
}

static void test_upsert_class_refuses(void **state)
{
	struct fake *f = *state;
	struct command *c = upsert(f, "web", CLASS_FIELD_KIND, SCHEDD_KIND_LATENCY_CRITICAL, 0);
	char name[40];

	c->must_exist = true;
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "web");
	c->must_not_exist = true;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "must_exist");
	c->must_exist = c->must_not_exist = false;
	c->etag = "1-2";
	run_refused(f, COMMAND_ABORTED, "ETAG_STALE", "1-2");
	c->etag = "";
	run_ok(f);
	c->must_not_exist = true;
	run_refused(f, COMMAND_ALREADY_EXISTS, "CLASS_EXISTS", "web");
	upsert(f, "web", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "KIND_IMMUTABLE", "latency-critical");
	upsert(f, "new", CLASS_FIELD_GUARANTEE, 0, 1);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "kind");
	upsert(f, "web", CLASS_FIELD_GUARANTEE, 0, CPUS + 1);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "8 online CPUs");
	c = upsert(f, "web", CLASS_FIELD_POLICY, 0, 0);
	strcpy(c->settings.policy, "nonsense");
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "vtime");
	upsert(f, "web", 0, 0, 0)->update_fields = 1u << 20;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "update_mask");
	memset(name, 'x', sizeof(name));
	name[CLASS_NAME_MAX + 1] = '\0';
	upsert(f, name, CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_NAME", "32");
	upsert(f, "a\n", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_NAME", "\\x0a");
	upsert(f, "", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_NAME", "");
	for (int i = 4; i < SCHEDD_MAX_CLASSES; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		upsert(f, name, CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
		run_ok(f);
	}
	upsert(f, "one-more", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	run_refused(f, COMMAND_RESOURCE_EXHAUSTED, "TOO_MANY_CLASSES", "16");
}

static void configure(struct fake *f, const char *name)
{
	static const char *const rules[][2] = { { "/a", "web" } };
	struct state_config_class c = { .settings = { .set = CLASS_FIELD_KIND, .kind = SCHEDD_KIND_LATENCY_CRITICAL },
					.origin = (char *)"f:1" };
	char error[256];

	strcpy(c.name, name);
	assert_int_equal(state_set_config(f->state, &c, 1, make_rules(1, rules), 1, error, sizeof(error)), 0);
}

static void test_delete_and_revert_class(void **state)
{
	struct fake *f = *state;

	upsert(f, "temp", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	run_ok(f);
	configure(f, "web");
	on_class(f, COMMAND_DELETE_CLASS, "be");
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CLASS_BUILTIN", "built in");
	on_class(f, COMMAND_DELETE_CLASS, "web");
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CLASS_FROM_CONFIG", "files");
	on_class(f, COMMAND_DELETE_CLASS, "none");
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "none");
	on_class(f, COMMAND_REVERT_CLASS, "temp");
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CLASS_FROM_API", "delete");
	on_class(f, COMMAND_REVERT_CLASS, "none");
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "none");
	on_path(f, COMMAND_SET_CLASS, "/a", "temp");
	run_ok(f);
	on_class(f, COMMAND_DELETE_CLASS, "temp");
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CLASS_IN_USE", "/a");
	assert_int_equal(f->reply.nr_details, 1);
	assert_non_null(strstr(f->reply.details[0].description, f->state->assignments[0].id));
	on_path(f, COMMAND_UNSET_CLASS, "/a", "");
	run_ok(f);
	on_class(f, COMMAND_DELETE_CLASS, "temp")->etag = "x";
	run_refused(f, COMMAND_ABORTED, "ETAG_STALE", "temp");
	on_class(f, COMMAND_DELETE_CLASS, "temp");
	run_ok(f);
	assert_int_equal(state_find_class(f->state, "temp"), -ENOENT);
}

static void test_get_and_list_classes(void **state)
{
	struct fake *f = *state;
	struct command *c;
	char token[64];

	configure(f, "web");
	on_class(f, COMMAND_GET_CLASS, "default");
	assert_string_equal(run_ok(f)->classes->name, "normal");
	on_class(f, COMMAND_GET_CLASS, "web");
	assert_int_equal(run_ok(f)->classes->member_cgroups, 2);
	on_class(f, COMMAND_GET_CLASS, "nope");
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "web");
	c = command(f, COMMAND_LIST_CLASSES);
	assert_int_equal(run_ok(f)->nr_classes, 4);
	assert_string_equal(f->reply.classes[0].name, "best-effort");
	assert_string_equal(f->reply.classes[3].name, "web");
	assert_string_equal(f->reply.next_page_token, "");
	c->page_size = 3;
	run_ok(f);
	assert_int_equal(f->reply.nr_classes, 3);
	snprintf(token, sizeof(token), "%s", f->reply.next_page_token);
	c->page_token = token;
	assert_int_equal(run_ok(f)->nr_classes, 1);
	assert_string_equal(f->reply.classes[0].name, "web");
	assert_string_equal(f->reply.next_page_token, "");
}

/* ---------- lists and explanations ---------- */

static void test_page_tokens_are_checked(void **state)
{
	struct fake *f = *state;
	struct command *c = command(f, COMMAND_LIST_CGROUPS);
	unsigned int seed = 3, x = seed;
	char token[64], bad[64];

	c->page_size = 2;
	snprintf(token, sizeof(token), "%s", run_ok(f)->next_page_token);
	assert_true(token[0]);
	c = command(f, COMMAND_LIST_ASSIGNMENTS);
	c->page_token = token; /* of another list */
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_PAGE_TOKEN", "ListAssignments");
	print_message("# seed %u\n", seed);
	for (int i = 0; i < 3000; i++) {
		size_t n = strlen(token);

		snprintf(bad, sizeof(bad), "%s", token);
		bad[(size_t)rand_r(&x) % n] ^= (char)(1 << rand_r(&x) % 7);
		if (rand_r(&x) % 4 == 0)
			bad[(size_t)rand_r(&x) % n] = '\0';
		if (!bad[0] || strcmp(bad, token) == 0)
			continue;
		c = command(f, i % 3 == 0 ? COMMAND_LIST_CGROUPS :
			       i % 3 == 1 ? COMMAND_LIST_CLASSES :
					    COMMAND_LIST_ASSIGNMENTS);
		c->page_token = bad;
		run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_PAGE_TOKEN", "token");
	}
	memset(bad, 'a', sizeof(bad) - 1);
	bad[sizeof(bad) - 1] = '\0';
	c->page_token = bad;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_PAGE_TOKEN", "token");
}

static void test_list_cgroups(void **state)
{
	struct fake *f = *state;
	struct command *c = command(f, COMMAND_LIST_CGROUPS);
	uint64_t last = 0;
	size_t seen = 0;
	char token[64] = "";

	c->page_size = 2;
	do {
		c->page_token = token;
		run_ok(f);
		assert_true(f->reply.nr_decisions <= 2);
		for (size_t i = 0; i < f->reply.nr_decisions; i++, seen++) {
			assert_true(f->reply.decisions[i].cgroup_id > last);
			last = f->reply.decisions[i].cgroup_id;
		}
		snprintf(token, sizeof(token), "%s", f->reply.next_page_token);
	} while (token[0]);
	assert_int_equal(seen, cgroup_tree_size(f->state->tree));
	on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	run_ok(f);
	on_class(f, COMMAND_LIST_CGROUPS, "lc");
	assert_int_equal(run_ok(f)->nr_decisions, 2);
	assert_string_equal(f->reply.decisions[1].cgroup_path, "/a/b");
	on_class(f, COMMAND_LIST_CGROUPS, "nope");
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "nope");
}

static void test_list_assignments(void **state)
{
	static const char *const paths[] = { "/a", "/a/b", "/web.service" };
	struct fake *f = *state;
	struct command *c;
	char token[128];

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		on_path(f, COMMAND_SET_CLASS, paths[i], i ? "lc" : "be");
		run_ok(f);
		f->now_ns += 5000000;
	}
	c = command(f, COMMAND_LIST_ASSIGNMENTS);
	c->page_size = 2;
	assert_int_equal(run_ok(f)->nr_assignments, 2);
	assert_string_equal(f->reply.assignments[0].target_text, "/a");
	snprintf(token, sizeof(token), "%s", f->reply.next_page_token);
	c->page_token = token;
	assert_int_equal(run_ok(f)->nr_assignments, 1);
	assert_string_equal(f->reply.assignments[0].target_text, "/web.service");
	assert_string_equal(f->reply.next_page_token, "");
	on_class(f, COMMAND_LIST_ASSIGNMENTS, "lc");
	assert_int_equal(run_ok(f)->nr_assignments, 2);
	on_class(f, COMMAND_LIST_ASSIGNMENTS, "nope");
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "nope");
}

static void test_explain_target(void **state)
{
	struct fake *f = *state;

	on_path(f, COMMAND_EXPLAIN_TARGET, "/a/b", "");
	assert_int_equal(run_ok(f)->nr_decisions, 1);
	assert_string_equal(f->reply.decisions->class_name, "normal");
	assert_string_equal(f->reply.decisions->winner.source, "inherited");
	on_path(f, COMMAND_EXPLAIN_TARGET, "/none", "");
	run_refused(f, COMMAND_NOT_FOUND, "CGROUP_NOT_FOUND", "/none");
	command(f, COMMAND_EXPLAIN_TARGET);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "TARGET_MISSING", "");
}

static void test_affected_are_bounded(void **state)
{
	struct fake *f = *state;
	char path[32];

	for (uint64_t i = 0; i < 250; i++) {
		snprintf(path, sizeof(path), "/a/c%llu", (unsigned long long)i);
		grow(f->state, path, 1000 + i);
	}
	on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	run_ok(f);
	assert_int_equal(f->reply.assignments->affected_total, 252);
	assert_int_equal(f->reply.assignments->nr_affected, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(test_upsert_class),
		COMMAND_TEST(test_upsert_class_refuses),
		COMMAND_TEST(test_delete_and_revert_class),
		COMMAND_TEST(test_get_and_list_classes),
		COMMAND_TEST(test_page_tokens_are_checked),
		COMMAND_TEST(test_list_cgroups),
		COMMAND_TEST(test_list_assignments),
		COMMAND_TEST(test_explain_target),
		COMMAND_TEST(test_affected_are_bounded),
	};

	return cmocka_run_group_tests_name("command_class", tests, NULL, NULL);
}
