// SPDX-License-Identifier: GPL-2.0-or-later
/* test_command.c - every command without a socket: what it does, what it refuses, that a refusal changes nothing */
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
#include "daemon/command_env.h"
#include "daemon/command_reason.h"
#include "tests/unit/state_fixture.h"

enum { CPUS = 8 };
#define REQUEST_1 "11111111-1111-4111-8111-111111111111"

/* The outside world, and how it shall fail. */
struct fake {
	struct state *state;
	struct command_env env;
	struct reply reply;
	struct command cmd;
	uint64_t now_ns;
	int commits, commit_errors[4]; /* results of the next commits, 0 after them */
	int mode_sets, mode_error;
	int reloads, reload_error;
	bool reload_refused;
	const char *pid_path;          /* NULL: no such process */
	const char *pid_path_later;    /* where it is when asked again */
	int pid_asked;
	int processes;
	int resolve_error;
	const char *vanishes;          /* removed from the tree when it is resolved */
};

static int fake_resolve_path(void *ctx, const char *path, uint64_t *ret_id)
{
	struct fake *f = ctx;
	struct cgroup_node *n;

	if (f->resolve_error)
		return f->resolve_error;
	if (path[0] != '/' || (path[1] && path[strlen(path) - 1] == '/') || strstr(path, ".."))
		return -EINVAL;
	n = cgroup_tree_find_path(f->state->tree, path);
	if (n && f->vanishes && strcmp(path, f->vanishes) == 0) {
		cut(f->state, n);
		n = NULL;
	}
	if (!n)
		return -ENOENT;
	*ret_id = n->id;
	return 0;
}

static int fake_resolve_pid(void *ctx, pid_t pid, int pidfd, uint64_t ticks, char *ret_path, size_t size)
{
	struct fake *f = ctx;
	const char *path = f->pid_asked++ && f->pid_path_later ? f->pid_path_later : f->pid_path;

	(void)pid;
	(void)pidfd;
	if (!path || ticks == 666)
		return -ESRCH;
	snprintf(ret_path, size, "%s", path);
	return 0;
}

static int fake_count(void *ctx, const char *path)
{
	(void)path;
	return ((struct fake *)ctx)->processes;
}

static int fake_commit(void *ctx)
{
	struct fake *f = ctx;
	int i = f->commits++;

	return i < (int)ARRAY_SIZE(f->commit_errors) ? f->commit_errors[i] : 0;
}

static int fake_set_mode(void *ctx, enum schedd_mode mode, bool has_hold_for, uint64_t hold_for_ns,
			 const struct command_caller *caller, char *error, size_t error_size)
{
	struct fake *f = ctx;

	(void)mode;
	(void)has_hold_for;
	(void)hold_for_ns;
	(void)caller;
	if (f->mode_error)
		snprintf(error, error_size, "the mode is refused");
	f->mode_sets += !f->mode_error;
	return f->mode_error;
}

static int fake_reload(void *ctx, struct reply *reply)
{
	struct fake *f = ctx;

	f->reloads++;
	reply->config.reload_accepted = !f->reload_error && !f->reload_refused;
	f->state->config_generation += reply->config.reload_accepted;
	return f->reload_refused ? -EINVAL : f->reload_error;
}

static void fake_fill_config(void *ctx, struct reply *reply)
{
	(void)ctx;
	reply->config.yaml = "yaml";
}

static void fake_fill_status(void *ctx, struct reply *reply)
{
	(void)ctx;
	reply->node.state = "attached";
}

static void fake_fill_plan(void *ctx, bool full, struct reply *reply)
{
	(void)ctx;
	reply->plan.policy = full ? "full" : "basic";
}

static void fake_fill_class(void *ctx, unsigned int slot, struct class_view *view, struct reply *reply)
{
	(void)ctx;
	(void)slot;
	(void)view;
	(void)reply;
}

static uint64_t fake_now(void *ctx)
{
	return ((struct fake *)ctx)->now_ns;
}

static const struct command_ops ops = {
	.resolve_path = fake_resolve_path,
	.resolve_pid = fake_resolve_pid,
	.count_processes = fake_count,
	.commit = fake_commit,
	.set_mode = fake_set_mode,
	.reload_config = fake_reload,
	.fill_config = fake_fill_config,
	.fill_status = fake_fill_status,
	.fill_plan = fake_fill_plan,
	.fill_class = fake_fill_class,
};

static int set_up(void **state)
{
	static const char *const paths[] = { "/", "/a", "/a/b", "/web.service", "/init.scope", "/system.slice",
					     "/system.slice/ssh.service" };
	struct fake *f = calloc(1, sizeof(*f));

	if (!f || state_new(CPUS, &f->state) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		grow(f->state, paths[i], i + 1);
	f->now_ns = 1000 * UINT64_C(1000000000);
	f->processes = 1;
	f->env = (struct command_env){ f->state, &ops, f, fake_now, fake_now };
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fake *f = *state;

	reply_free(&f->reply);
	state_free(f->state);
	free(f);
	return 0;
}

/* Starts a command; the test fills in what matters. */
static struct command *command(struct fake *f, enum command_type type)
{
	memset(&f->cmd, 0, sizeof(f->cmd));
	f->cmd.type = type;
	f->cmd.caller = (struct command_caller){ .role = ROLE_ADMIN, .uid = 0, .pid = 42, .comm = "test", .pidfd = -1 };
	f->cmd.change.request_id = "";
	f->cmd.change.reason = "";
	f->cmd.class_name = f->cmd.etag = f->cmd.assignment_id = f->cmd.page_token = "";
	f->cmd.page_size = 100;
	return &f->cmd;
}

static struct command *on_path(struct fake *f, enum command_type type, const char *path, const char *class_name)
{
	struct command *c = command(f, type);

	c->target = (struct command_target){ .type = TARGET_PATH, .path = path };
	c->class_name = class_name;
	return c;
}

static struct command *on_class(struct fake *f, enum command_type type, const char *name)
{
	struct command *c = command(f, type);

	c->class_name = name;
	return c;
}

static struct command *upsert(struct fake *f, const char *name, uint32_t set, uint32_t kind, uint32_t guarantee)
{
	struct command *c = on_class(f, COMMAND_UPSERT_CLASS, name);

	c->settings = (struct class_settings){ .set = set, .kind = kind, .guarantee_cpus = guarantee };
	return c;
}

static const struct reply *run(struct fake *f)
{
	reply_free(&f->reply);
	command_run(&f->env, &f->cmd, &f->reply);
	assert_non_null(f->reply.message);
	assert_non_null(f->reply.error_reason);
	assert_int_equal(f->reply.config_generation, f->state->config_generation);
	return &f->reply;
}

static const struct reply *run_ok(struct fake *f)
{
	const struct reply *r = run(f);

	if (r->status != COMMAND_OK)
		fail_msg("%s: %s", r->error_reason, r->message);
	assert_string_equal(r->error_reason, "");
	return r;
}

static bool is_listed(const char *reason)
{
	for (size_t i = 0; i < NR_COMMAND_REASONS; i++)
		if (strcmp(command_reasons[i].name, reason) == 0)
			return true;
	return false;
}

/* Status, reason and a word of the message; and the model is what it was. */
static const struct reply *run_refused(struct fake *f, enum command_status status, const char *reason, const char *word)
{
	_cleanup_free_ char *before = state_fingerprint(f->state), *after = NULL;
	const struct reply *r = run(f);

	after = state_fingerprint(f->state);
	if (r->status != status || strcmp(r->error_reason, reason) != 0)
		fail_msg("%s gave %d %s (%s), not %d %s", command_name(f->cmd.type), r->status, r->error_reason, r->message, status,
			 reason);
	if (!is_listed(reason))
		fail_msg("%s is not in the closed list", reason);
	if (!strstr(r->message, word))
		fail_msg("`%s' does not say `%s'", r->message, word);
	for (const char *p = r->message; *p; p++)
		if ((unsigned char)*p < 0x20)
			fail_msg("a control character in `%s'", r->message);
	assert_string_equal(before, after);
	assert_int_equal(r->nr_classes + r->nr_assignments + r->nr_decisions, 0);
	return r;
}

static const char *class_of(const struct fake *f, const char *path)
{
	struct cgroup_node *n = cgroup_tree_find_path(f->state->tree, path);

	assert_non_null(n);
	return f->state->classes[n->class_idx].name;
}

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
	struct state_assignment a = { .target_type = TARGET_PATH, .target_text = text, .class_name = "normal",
				      .lifetime = LIFETIME_RUNTIME };

	for (int i = 0; i < STATE_MAX_ASSIGNMENTS; i++) {
		snprintf(text, sizeof(text), "/g%d", i);
		assert_int_equal(state_set_assignment(f->state, &a, NULL), 0);
	}
	on_path(f, COMMAND_SET_CLASS, "/a", "lc");
	run_refused(f, COMMAND_RESOURCE_EXHAUSTED, "TOO_MANY_ASSIGNMENTS", "4096");
}

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
	strcpy(c->settings.policy, "fifo");
	run_refused(f, COMMAND_UNIMPLEMENTED, "NOT_SUPPORTED_YET", "vtime");
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
		c = command(f, i % 3 == 0 ? COMMAND_LIST_CGROUPS : i % 3 == 1 ? COMMAND_LIST_CLASSES : COMMAND_LIST_ASSIGNMENTS);
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
	static const enum command_type types[] = { COMMAND_SET_CLASS, COMMAND_UNSET_CLASS, COMMAND_UPSERT_CLASS, COMMAND_REVERT_CLASS,
						   COMMAND_DELETE_CLASS, COMMAND_SET_MODE, COMMAND_RELOAD_CONFIG };
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
		run_refused(f, COMMAND_UNAVAILABLE, "STATE_NOT_SAVED", "state.yaml");
		assert_int_equal(f->commits, 2); /* the second one takes the first back */
		assert_string_equal(class_of(f, "/a/b"), "normal");
	}
	f->commits = 0;
	f->commit_errors[0] = -EBUSY;
	run_refused(f, COMMAND_FAILED_PRECONDITION, "OTHER_SCHEDULER", "another");
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
	c->mode = MODE_OBSERVE;
	run_refused(f, COMMAND_UNIMPLEMENTED, "NOT_SUPPORTED_YET", "observe");
	c->mode = MODE_PAUSED;
	run_refused(f, COMMAND_UNIMPLEMENTED, "NOT_SUPPORTED_YET", "paused");
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

#define COMMAND_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_roles),
		COMMAND_TEST(test_roles_are_asked_first),
		COMMAND_TEST(test_reads_that_are_filled_outside),
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
		COMMAND_TEST(test_upsert_class),
		COMMAND_TEST(test_upsert_class_refuses),
		COMMAND_TEST(test_delete_and_revert_class),
		COMMAND_TEST(test_get_and_list_classes),
		COMMAND_TEST(test_page_tokens_are_checked),
		COMMAND_TEST(test_list_cgroups),
		COMMAND_TEST(test_list_assignments),
		COMMAND_TEST(test_explain_target),
		COMMAND_TEST(test_affected_are_bounded),
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
