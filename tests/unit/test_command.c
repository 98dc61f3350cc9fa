// SPDX-License-Identifier: GPL-2.0-or-later
/* test_command.c - every command without a socket: roles, retries, dry runs, undo, modes */
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

/* ---------- all of them ---------- */

static void test_names_and_roles(void **state)
{
	enum schedd_mode mode = MODE_UNSET;

	(void)state;
	assert_string_equal(command_name(COMMAND_GET_STATUS), "GetStatus");
	assert_string_equal(command_name(COMMAND_GET_PLAN), "GetPlan");
	assert_string_equal(command_name(NR_COMMANDS), "unknown");
	assert_int_equal(command_needs_role(COMMAND_LIST_CGROUPS), ROLE_VIEW);
	assert_int_equal(command_needs_role(COMMAND_SET_CLASS), ROLE_ASSIGN);
	assert_int_equal(command_needs_role(COMMAND_SET_MODE), ROLE_ADMIN);
	assert_int_equal(command_needs_role(NR_COMMANDS), ROLE_ADMIN);
	for (int m = MODE_AUTO; m < NR_MODES; m++) {
		assert_int_equal(mode_parse(mode_name(m), &mode), 0);
		assert_int_equal(mode, m);
	}
	assert_int_equal(mode_parse("unset", &mode), -EINVAL);
	assert_int_equal(mode_parse("", &mode), -EINVAL);
	assert_int_equal(mode_parse(NULL, &mode), -EINVAL);
	assert_string_equal(mode_name(NR_MODES), "unknown");
}

static void test_roles_are_asked_first(void **state)
{
	struct fake *f = *state;

	for (int type = 0; type < NR_COMMANDS; type++)
		for (int role = ROLE_NONE; role < ROLE_ADMIN; role++) {
			if (role >= (int)command_needs_role(type))
				continue;
			command(f, type)->caller.role = role;
			run_refused(f, COMMAND_PERMISSION_DENIED, "ROLE_MISSING", command_name(type));
		}
	assert_int_equal(f->commits, 0);
	command(f, NR_COMMANDS);
	run_refused(f, COMMAND_UNIMPLEMENTED, "UNKNOWN_COMMAND", "");
}

static void test_reads_that_are_filled_outside(void **state)
{
	struct fake *f = *state;

	command(f, COMMAND_GET_STATUS);
	assert_string_equal(run_ok(f)->node.state, "attached");
	command(f, COMMAND_GET_CONFIG);
	assert_string_equal(run_ok(f)->config.yaml, "yaml");
	command(f, COMMAND_GET_PLAN)->full_view = true;
	assert_string_equal(run_ok(f)->plan.policy, "full");
}

/* ---------- Change ---------- */

static void test_retries_are_answered_once_done(void **state)
{
	struct fake *f = *state;
	struct command *c = on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	char id[64];
	uint64_t generation;

	c->change.request_id = REQUEST_1;
	c->change.content_hash = 5;
	c->change.has_expected_generation = true;
	c->change.expected_config_generation = f->state->config_generation;
	snprintf(id, sizeof(id), "%s", run_ok(f)->assignments->id);
	generation = f->state->config_generation;
	/* The generation moved on by the call itself: still no refusal. */
	assert_string_equal(run_ok(f)->assignments->id, id);
	assert_int_equal(f->reply.assignments->affected_total, 2);
	assert_int_equal(f->state->config_generation, generation);
	assert_int_equal(f->commits, 1);
	c->change.content_hash = 6;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "REQUEST_ID_REUSED", REQUEST_1);
	/* Another caller or another call may use the same id. */
	c->caller.uid = 1000;
	c->change.has_expected_generation = false;
	run_ok(f);
	assert_int_equal(f->commits, 2);
	c = on_path(f, COMMAND_UNSET_CLASS, "/a", "");
	c->change.request_id = REQUEST_1;
	snprintf(id, sizeof(id), "%s", run_ok(f)->assignments->id);
	assert_string_equal(run_ok(f)->assignments->id, id);
	assert_int_equal(f->commits, 3);
	/* What it made has ended since. */
	c = on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	c->change.request_id = REQUEST_1;
	c->change.content_hash = 5;
	run_refused(f, COMMAND_NOT_FOUND, "ASSIGNMENT_NOT_FOUND", "ended");
	/* After ten minutes it is a new request. */
	f->now_ns += 601 * UINT64_C(1000000000);
	run_ok(f);
}

static void test_retries_of_the_other_changes(void **state)
{
	struct fake *f = *state;
	struct command *c = upsert(f, "web", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	uint64_t generation;

	c->must_not_exist = true;
	c->change.request_id = REQUEST_1;
	run_ok(f);
	assert_string_equal(run_ok(f)->classes->name, "web");
	c = on_class(f, COMMAND_DELETE_CLASS, "web");
	c->change.request_id = REQUEST_1;
	run_ok(f);
	run_ok(f);
	c = command(f, COMMAND_SET_MODE);
	c->mode = MODE_ACTIVE;
	c->change.request_id = REQUEST_1;
	run_ok(f);
	assert_string_equal(run_ok(f)->node.state, "attached");
	assert_int_equal(f->mode_sets, 1);
	c = command(f, COMMAND_RELOAD_CONFIG);
	c->change.request_id = REQUEST_1;
	assert_true(run_ok(f)->config.reload_accepted);
	generation = f->state->config_generation;
	assert_true(run_ok(f)->config.reload_accepted);
	assert_int_equal(f->reloads, 1);
	assert_int_equal(f->state->config_generation, generation);
	c->change.content_hash = 1;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "REQUEST_ID_REUSED", "");
}

static void test_expected_generation(void **state)
{
	static const enum command_type types[] = { COMMAND_SET_CLASS,    COMMAND_UNSET_CLASS,  COMMAND_UPSERT_CLASS,
						   COMMAND_REVERT_CLASS, COMMAND_DELETE_CLASS, COMMAND_SET_MODE,
						   COMMAND_RELOAD_CONFIG };
	struct fake *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct command *c = on_path(f, types[i], "/a", "lc");

		c->mode = MODE_ACTIVE;
		c->change.has_expected_generation = true;
		c->change.expected_config_generation = f->state->config_generation + 1;
		run_refused(f, COMMAND_ABORTED, "GENERATION_STALE", "config_generation");
	}
	assert_int_equal(f->commits + f->mode_sets + f->reloads, 0);
}

/* Everything is answered as if it were done, and nothing is. */
static void test_validate_only(void **state)
{
	struct fake *f = *state;
	struct command *c;

	on_path(f, COMMAND_SET_CLASS, "/web.service", "lc");
	run_ok(f);
	upsert(f, "temp", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	run_ok(f);
	f->commits = 0;
	for (int i = 0; i < 6; i++) {
		_cleanup_free_ char *before = state_fingerprint(f->state), *after = NULL;

		c = i == 0 ? on_path(f, COMMAND_SET_CLASS, "/a", "lc") :
		    i == 1 ? on_path(f, COMMAND_UNSET_CLASS, "/web.service", "") :
		    i == 2 ? upsert(f, "web", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0) :
		    i == 3 ? on_class(f, COMMAND_DELETE_CLASS, "temp") :
		    i == 4 ? on_class(f, COMMAND_REVERT_CLASS, "normal") :
			     command(f, COMMAND_SET_MODE);
		c->mode = MODE_ACTIVE;
		c->change.validate_only = true;
		c->change.request_id = REQUEST_1;
		run_ok(f);
		assert_true(i != 0 || f->reply.assignments->affected_total == 2);
		after = state_fingerprint(f->state);
		assert_string_equal(before, after);
	}
	on_path(f, COMMAND_SET_CLASS, "/none", "lc")->change.validate_only = true;
	run_refused(f, COMMAND_NOT_FOUND, "CGROUP_NOT_FOUND", "/none");
	command(f, COMMAND_RELOAD_CONFIG)->change.validate_only = true;
	run_refused(f, COMMAND_UNIMPLEMENTED, "NOT_SUPPORTED_YET", "config verify");
	assert_int_equal(f->commits + f->mode_sets + f->reloads, 0);
}

static void test_failed_commit_is_undone(void **state)
{
	static const int errors[] = { -ENOSPC, -EIO, -EROFS };
	struct fake *f = *state;
	struct command *c;

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		c = on_path(f, COMMAND_SET_CLASS, "/a", "lc");
		c->change.request_id = REQUEST_1;
		f->commits = 0;
		f->commit_errors[0] = errors[i];
		run_refused(f, COMMAND_UNAVAILABLE, "STATE_NOT_SAVED", "state file");
		assert_int_equal(f->commits, 2); /* the second one takes the first back */
		assert_string_equal(class_of(f, "/a/b"), "normal");
	}
	f->commits = 0;
	f->commit_errors[0] = -EBUSY;
	run_refused(f, COMMAND_FAILED_PRECONDITION, "OTHER_SCHEDULER", "the scheduler other");
	/* Not remembered as done. */
	f->commit_errors[0] = 0;
	run_ok(f);
	assert_string_equal(class_of(f, "/a/b"), "latency-critical");
	upsert(f, "web", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
	f->commits = 0;
	f->commit_errors[0] = -EIO;
	run_refused(f, COMMAND_UNAVAILABLE, "STATE_NOT_SAVED", "");
}

/* ---------- SetMode, ReloadConfig ---------- */

static void test_set_mode(void **state)
{
	struct fake *f = *state;
	struct command *c = command(f, COMMAND_SET_MODE);
	uint64_t generation = f->state->config_generation;

	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "auto");
	c->mode = NR_MODES;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "auto");
	for (c->mode = MODE_AUTO; c->mode < NR_MODES; c->mode++) {
		assert_string_equal(run_ok(f)->node.state, "attached");
		assert_int_equal(f->mode, c->mode);
		assert_int_equal(f->state->config_generation, ++generation);
	}
	f->mode_sets = 0;
	c->mode = MODE_DETACHED;
	c->has_hold_for = true;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "hold_for");
	c->hold_for_ns = 1;
	assert_string_equal(run_ok(f)->node.state, "attached");
	assert_int_equal(f->mode_sets, 1);
	assert_int_equal(f->state->config_generation, generation + 1);
	c->change.request_id = REQUEST_1;
	f->mode_error = -EBUSY;
	run_refused(f, COMMAND_FAILED_PRECONDITION, "OTHER_SCHEDULER", "the mode is refused");
	f->mode_error = -EOPNOTSUPP;
	run_refused(f, COMMAND_UNIMPLEMENTED, "MODE_REFUSED", "the mode is refused");
	f->mode_error = -EIO;
	run_refused(f, COMMAND_UNAVAILABLE, "MODE_REFUSED", "detached");
	/* A mode that could not be stored is not reached either. */
	f->mode_error = 0;
	f->commits = 0;
	f->commit_errors[0] = -EIO;
	run_refused(f, COMMAND_UNAVAILABLE, "STATE_NOT_SAVED", "");
	assert_int_equal(f->mode_sets, 1);
}

static void test_reload_config(void **state)
{
	struct fake *f = *state;

	command(f, COMMAND_RELOAD_CONFIG);
	assert_true(run_ok(f)->config.reload_accepted);
	/* A refused file is an answer: accepted is false. */
	f->reload_refused = true;
	assert_false(run_ok(f)->config.reload_accepted);
	f->reload_refused = false;
	f->reload_error = -EIO;
	run_refused(f, COMMAND_UNAVAILABLE, "CONFIG_UNREADABLE", "old one stays");
}

/* ---------- replies ---------- */

static void test_replies_without_memory(void **state)
{
	struct fake *f = *state;

	for (size_t cap = 1; cap < 3000; cap += 16) {
		_cleanup_free_ char *before = state_fingerprint(f->state), *after = NULL;

		on_path(f, COMMAND_SET_CLASS, "/a", "lc")->change.validate_only = true;
		reply_free(&f->reply);
		f->reply.arena.cap_bytes = cap;
		command_run(&f->env, &f->cmd, &f->reply);
		assert_non_null(f->reply.message);
		after = state_fingerprint(f->state);
		assert_string_equal(before, after);
	}
}

static void test_fail_and_free(void **state)
{
	struct reply r = { 0 };
	char text[3000];

	(void)state;
	r.nr_classes = 3;
	assert_int_equal(reply_fail(&r, COMMAND_NOT_FOUND, "X", "a %s", "b"), COMMAND_NOT_FOUND);
	assert_int_equal(r.status, COMMAND_NOT_FOUND);
	assert_string_equal(r.message, "a b");
	assert_string_equal(r.error_reason, "X");
	assert_int_equal(r.nr_classes, 0);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	reply_fail(&r, COMMAND_INTERNAL, NULL, "%s", text);
	assert_true(strlen(r.message) < sizeof(text));
	assert_string_equal(r.error_reason, "");
	reply_free(&r);
	assert_null(r.message);
	reply_free(&r);
	reply_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_roles),
		COMMAND_TEST(test_roles_are_asked_first),
		COMMAND_TEST(test_reads_that_are_filled_outside),
		COMMAND_TEST(test_retries_are_answered_once_done),
		COMMAND_TEST(test_retries_of_the_other_changes),
		COMMAND_TEST(test_expected_generation),
		COMMAND_TEST(test_validate_only),
		COMMAND_TEST(test_failed_commit_is_undone),
		COMMAND_TEST(test_set_mode),
		COMMAND_TEST(test_reload_config),
		COMMAND_TEST(test_replies_without_memory),
		cmocka_unit_test(test_fail_and_free),
	};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
