// SPDX-License-Identifier: GPL-2.0-or-later
/* test_command_assign.c - a cgroup put into a class and taken back: targets, lifetimes, refusals */
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

/* ---------- SetClass, UnsetClass ---------- */

static void test_set_class(void **state)
{
	struct fake *f = *state;
	struct command *c = on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	const struct assignment_view *v;
	uint64_t generation = f->state->config_generation;

	c->has_ttl = true;
	c->ttl_ns = 5;
	c->change.reason = "because";
	v = run_ok(f)->assignments;
	assert_int_equal(f->reply.nr_assignments, 1);
	assert_string_equal(v->class_name, "latency-critical");
	assert_string_equal(v->target_text, "/a");
	assert_int_equal(v->cgroup_id, 2);
	assert_int_equal(v->lifetime, LIFETIME_CGROUP);
	assert_int_equal(v->state, 1);
	assert_int_equal(v->actor_pid, 42);
	assert_string_equal(v->actor_comm, "test");
	assert_string_equal(v->reason, "because");
	assert_int_equal(v->create_realtime_ns, f->now_ns);
	assert_int_equal(v->expire_realtime_ns, f->now_ns + 5);
	assert_int_equal(v->affected_total, 2);
	assert_int_equal(v->nr_affected, 2);
	assert_string_equal(v->affected[1].cgroup_path, "/a/b");
	assert_string_equal(v->affected[1].winner.source, "inherited");
	assert_int_equal(v->config_generation, generation + 1);
	assert_int_equal(f->reply.config_generation, generation + 1);
	assert_string_equal(class_of(f, "/a/b"), "latency-critical");
	assert_int_equal(f->commits, 1);
	/* Again: the one before is replaced. */
	on_path(f, COMMAND_SET_CLASS, "/a", "be");
	run_ok(f);
	assert_int_equal(f->state->nr_assignments, 1);
	assert_string_equal(class_of(f, "/a"), "best-effort");
}

static void test_set_class_by_other_targets(void **state)
{
	struct fake *f = *state;
	struct command *c = command(f, COMMAND_SET_CLASS);

	c->class_name = "best-effort";
	c->target = (struct command_target){ .type = TARGET_ID, .cgroup_id = 3 };
	assert_string_equal(run_ok(f)->assignments->target_text, "/a/b");
	f->pid_path = "/web.service";
	c->target = (struct command_target){ .type = TARGET_PID, .pid = 7 };
	assert_string_equal(run_ok(f)->assignments->target_text, "/web.service");
	c->target = (struct command_target){ .type = TARGET_SELF };
	assert_int_equal(run_ok(f)->assignments->target_type, TARGET_SELF);
	assert_int_equal(f->state->nr_assignments, 2);
	/* Shared, and accepted. */
	f->processes = 2;
	c->accept_shared_cgroup = true;
	run_ok(f);
}

static void test_set_class_refuses_targets(void **state)
{
	static const char *const bad_paths[] = { "", "a", "/a/", "/../a", "/a\nb", "/\xff", "/\x1b[31m" };
	struct fake *f = *state;
	struct command *c;
	char long_name[302];

	for (size_t i = 0; i < ARRAY_SIZE(bad_paths); i++) {
		on_path(f, COMMAND_SET_CLASS, bad_paths[i], "lc");
		run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_PATH", "");
	}
	on_path(f, COMMAND_SET_CLASS, "/none", "lc");
	run_refused(f, COMMAND_NOT_FOUND, "CGROUP_NOT_FOUND", "no cgroup /none below the cgroup2 mount");
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[0] = '/';
	long_name[301] = '\0';
	f->resolve_error = -ENAMETOOLONG;
	on_path(f, COMMAND_SET_CLASS, long_name, "lc");
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_PATH", "255");
	f->resolve_error = -ELOOP;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_PATH", "");
	f->resolve_error = -EACCES;
	run_refused(f, COMMAND_UNAVAILABLE, "CGROUP_NOT_FOUND", "Permission denied");
	f->resolve_error = 0;
	c = on_class(f, COMMAND_SET_CLASS, "lc");
	run_refused(f, COMMAND_INVALID_ARGUMENT, "TARGET_MISSING", "target");
	c->target = (struct command_target){ .type = TARGET_ID, .cgroup_id = 99 };
	run_refused(f, COMMAND_NOT_FOUND, "CGROUP_NOT_FOUND", "99");
	c->target = (struct command_target){ .type = TARGET_PID, .pid = 7 };
	run_refused(f, COMMAND_NOT_FOUND, "PROCESS_NOT_FOUND", "7");
	c->target.pid = 0;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "");
	c->target = (struct command_target){ .type = TARGET_SELF };
	c->caller.pid = 0;
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CALLER_UNKNOWN", "");
	for (int type = TARGET_UNIT; type <= TARGET_CONTAINER; type++) {
		c->target = (struct command_target){ .type = type, .path = "x" };
		run_refused(f, COMMAND_UNIMPLEMENTED, "NOT_SUPPORTED_YET", "not supported yet");
	}
	assert_int_equal(f->commits, 0);
}

static void test_set_class_on_processes(void **state)
{
	struct fake *f = *state;
	struct command *c = on_class(f, COMMAND_SET_CLASS, "lc");

	c->target = (struct command_target){ .type = TARGET_PID, .pid = 7 };
	f->pid_path = "/a";
	f->processes = 2;
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CGROUP_SHARED", "/a");
	assert_int_equal(f->reply.nr_details, 1);
	f->processes = -ENOENT;
	run_refused(f, COMMAND_NOT_FOUND, "CGROUP_NOT_FOUND", "/a");
	f->processes = 1;
	f->pid_path_later = "/a/b";
	f->pid_asked = 0;
	run_refused(f, COMMAND_ABORTED, "PROCESS_MOVED", "/a/b");
	c->target.pid_start_time_ticks = 666;
	run_refused(f, COMMAND_NOT_FOUND, "PROCESS_NOT_FOUND", "");
}

static void test_set_class_refuses_values(void **state)
{
	struct fake *f = *state;
	struct command *c = on_path(f, COMMAND_SET_CLASS, "/a", "none");

	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "normal, latency-critical, best-effort");
	c->class_name = "a\nb";
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "a\\x0ab");
	c->class_name = "";
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "");
	c->class_name = "lc";
	c->has_ttl = true;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "ttl");
	c->ttl_ns = UINT64_MAX;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "ttl");
	c->has_ttl = false;
	c->lifetime = LIFETIME_PERSISTENT;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "LIFETIME_NOT_ALLOWED", ".service");
	c->target = (struct command_target){ .type = TARGET_ID, .cgroup_id = 4 };
	run_refused(f, COMMAND_INVALID_ARGUMENT, "LIFETIME_NOT_ALLOWED", "path");
	c->lifetime = LIFETIME_RUNTIME;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "LIFETIME_NOT_ALLOWED", "path");
	on_path(f, COMMAND_SET_CLASS, "/web.service", "lc")->lifetime = LIFETIME_PERSISTENT;
	assert_int_equal(run_ok(f)->assignments->lifetime, LIFETIME_PERSISTENT);
	on_path(f, COMMAND_SET_CLASS, "/a", "lc")->lifetime = LIFETIME_RUNTIME;
	assert_int_equal(run_ok(f)->assignments->lifetime, LIFETIME_RUNTIME);
}

static void test_protected_cgroups_need_force(void **state)
{
	static const char *const paths[] = { "/", "/init.scope", "/system.slice/ssh.service" };
	struct fake *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		on_path(f, COMMAND_SET_CLASS, paths[i], "be");
		run_refused(f, COMMAND_FAILED_PRECONDITION, "CGROUP_PROTECTED", "--force");
		on_path(f, COMMAND_SET_CLASS, paths[i], "be")->force_protected = true;
		run_ok(f);
		on_path(f, COMMAND_UNSET_CLASS, paths[i], "");
		run_ok(f);
		on_path(f, COMMAND_SET_CLASS, paths[i], "lc");
		run_ok(f);
		on_path(f, COMMAND_UNSET_CLASS, paths[i], "");
		run_ok(f);
	}
	upsert(f, "batch", CLASS_FIELD_KIND, SCHEDD_KIND_BEST_EFFORT, 0);
	run_ok(f);
	on_path(f, COMMAND_SET_CLASS, "/init.scope", "batch");
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CGROUP_PROTECTED", "");
	/* Its slice may be; the protected one in it stays. */
	on_path(f, COMMAND_SET_CLASS, "/system.slice", "batch")->whole_subtree = true;
	assert_int_equal(run_ok(f)->assignments->affected_total, 1);
	assert_string_equal(class_of(f, "/system.slice/ssh.service"), "normal");
}

static void test_cgroup_that_vanishes_during_the_call(void **state)
{
	struct fake *f = *state;

	f->vanishes = "/a";
	on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	run(f);
	assert_int_equal(f->reply.status, COMMAND_NOT_FOUND);
	assert_int_equal(f->state->nr_assignments, 0);
	assert_null(cgroup_tree_find_path(f->state->tree, "/a"));
	assert_int_equal(f->commits, 0);
}

/* While the target is looked up other cgroups go: undoing the call must not bring their assignments back. */
static void test_undo_keeps_what_the_tree_did(void **state)
{
	struct fake *f = *state;
	struct command *c;

	on_path(f, COMMAND_SET_CLASS, "/web.service", "lc");
	run_ok(f);
	f->pid_path = "/a";
	f->vanishes = "/web.service";
	fake_resolve_path(f, "/web.service", &(uint64_t){ 0 });
	c = on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	c->change.validate_only = true;
	run_ok(f);
	assert_int_equal(f->state->nr_assignments, 0);
}

static void test_unset_class(void **state)
{
	struct fake *f = *state;
	struct command *c;
	char id[64];

	on_path(f, COMMAND_UNSET_CLASS, "/a", "");
	run_refused(f, COMMAND_NOT_FOUND, "ASSIGNMENT_NOT_FOUND", "/a");
	on_path(f, COMMAND_UNSET_CLASS, "/none", "");
	run_refused(f, COMMAND_NOT_FOUND, "CGROUP_NOT_FOUND", "/none");
	on_path(f, COMMAND_SET_CLASS, "/a", "lc")->lifetime = LIFETIME_RUNTIME;
	snprintf(id, sizeof(id), "%s", run_ok(f)->assignments->id);
	c = on_path(f, COMMAND_UNSET_CLASS, "/a", "");
	c->assignment_id = id;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "TARGET_MISSING", "not both");
	command(f, COMMAND_UNSET_CLASS);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "TARGET_MISSING", "target");
	command(f, COMMAND_UNSET_CLASS)->assignment_id = "nope\n";
	run_refused(f, COMMAND_NOT_FOUND, "ASSIGNMENT_NOT_FOUND", "nope");
	command(f, COMMAND_UNSET_CLASS)->assignment_id = id;
	assert_string_equal(run_ok(f)->assignments->id, id);
	assert_int_equal(f->reply.assignments->affected_total, 2);
	assert_string_equal(f->reply.assignments->affected[0].class_name, "normal");
	assert_int_equal(f->state->nr_assignments, 0);
	/* What waits for its cgroup can be taken back by the same path, what is of a process by its id. */
	on_path(f, COMMAND_SET_CLASS, "/a", "lc")->lifetime = LIFETIME_RUNTIME;
	run_ok(f);
	cut(f->state, cgroup_tree_find_path(f->state->tree, "/a"));
	on_path(f, COMMAND_UNSET_CLASS, "/a", "");
	assert_int_equal(run_ok(f)->assignments->state, 2);
	on_path(f, COMMAND_SET_CLASS, "/web.service", "lc");
	run_ok(f);
	command(f, COMMAND_UNSET_CLASS)->target = (struct command_target){ .type = TARGET_ID, .cgroup_id = 4 };
	run_ok(f);
	assert_int_equal(f->state->nr_assignments, 0);
}

static void test_too_many_assignments(void **state)
{
	struct fake *f = *state;
	char text[32];
	struct state_assignment a = {
		.target_type = TARGET_PATH, .target_text = text, .class_name = "normal", .lifetime = LIFETIME_RUNTIME
	};

	for (int i = 0; i < STATE_MAX_ASSIGNMENTS; i++) {
		snprintf(text, sizeof(text), "/g%d", i);
		assert_int_equal(state_set_assignment(f->state, &a, NULL), 0);
	}
	on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	run_refused(f, COMMAND_RESOURCE_EXHAUSTED, "TOO_MANY_ASSIGNMENTS", "4096");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(test_set_class),
		COMMAND_TEST(test_set_class_by_other_targets),
		COMMAND_TEST(test_set_class_refuses_targets),
		COMMAND_TEST(test_set_class_on_processes),
		COMMAND_TEST(test_set_class_refuses_values),
		COMMAND_TEST(test_protected_cgroups_need_force),
		COMMAND_TEST(test_cgroup_that_vanishes_during_the_call),
		COMMAND_TEST(test_undo_keeps_what_the_tree_did),
		COMMAND_TEST(test_unset_class),
		COMMAND_TEST(test_too_many_assignments),
	};

	return cmocka_run_group_tests_name("command_assign", tests, NULL, NULL);
}
