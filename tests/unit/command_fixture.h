/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_fixture.h - commands against a fake daemon that fails as told; refused means unchanged */
#ifndef SCHEDD_TEST_COMMAND_FIXTURE_H
#define SCHEDD_TEST_COMMAND_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
	enum schedd_mode mode;         /* the last one that was set */
	int reloads, reload_error;
	bool reload_refused;
	const char *pid_path;          /* NULL: no such process */
	const char *pid_path_later;    /* where it is when asked again */
	int pid_asked;
	int processes;
	int resolve_error;
	const char *vanishes;          /* removed from the tree when it is resolved */
	int lease_error;
	bool plan_follows;             /* a commit gives leases their CPUs */
};

static inline int fake_resolve_path(void *ctx, const char *path, uint64_t *ret_id)
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

static inline int fake_resolve_pid(void *ctx, pid_t pid, int pidfd, uint64_t ticks, char *ret_path, size_t size)
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

static inline int fake_count(void *ctx, const char *path)
{
	(void)path;
	return ((struct fake *)ctx)->processes;
}

static inline int fake_commit(void *ctx, char *error, size_t error_size)
{
	struct fake *f = ctx;
	int i = f->commits++;

	snprintf(error, error_size, "the scheduler other is loaded");
	for (size_t l = 0; f->plan_follows && l < f->state->nr_leases; l++) {
		f->state->leases[l].is_owned = f->state->leases[l].was_owned = true;
		f->state->leases[l].owned_after_ns = 5;
	}
	return i < (int)ARRAY_SIZE(f->commit_errors) ? f->commit_errors[i] : 0;
}

static inline int fake_set_mode(void *ctx, enum schedd_mode mode, bool has_hold_for, uint64_t hold_for_ns,
				const struct command_caller *caller, char *error, size_t error_size)
{
	struct fake *f = ctx;

	(void)has_hold_for;
	(void)hold_for_ns;
	(void)caller;
	if (f->mode_error)
		snprintf(error, error_size, "the mode is refused");
	else
		f->mode = mode;
	f->mode_sets += !f->mode_error;
	return f->mode_error;
}

static inline int fake_reload(void *ctx, struct reply *reply)
{
	struct fake *f = ctx;

	f->reloads++;
	reply->config.reload_accepted = !f->reload_error && !f->reload_refused;
	f->state->config_generation += reply->config.reload_accepted;
	return f->reload_refused ? -EINVAL : f->reload_error;
}

static inline void fake_fill_config(void *ctx, struct reply *reply)
{
	(void)ctx;
	reply->config.yaml = "yaml";
}

static inline void fake_fill_status(void *ctx, struct reply *reply)
{
	(void)ctx;
	reply->node.state = "attached";
}

static inline void fake_fill_plan(void *ctx, bool full, struct reply *reply)
{
	(void)ctx;
	reply->plan.policy = full ? "full" : "basic";
}

static inline void fake_fill_class(void *ctx, unsigned int slot, struct class_view *view, struct reply *reply)
{
	(void)ctx;
	(void)slot;
	(void)view;
	(void)reply;
}

static inline int fake_can_lease(void *ctx, char *error, size_t error_size)
{
	snprintf(error, error_size, "in mode detached no CPUs are given");
	return ((struct fake *)ctx)->lease_error;
}

static inline void fake_update_leases(void *ctx)
{
	(void)ctx;
}

static inline void fake_fill_lease(void *ctx, const struct state_lease *lease, struct lease_view *view,
				   struct reply *reply)
{
	(void)ctx;
	view->cpu_ids = arena_new(&reply->arena, uint32_t);
	view->cpu_ids[0] = lease->granted_cpus;
	view->nr_cpu_ids = 1;
}

static inline uint64_t fake_now(void *ctx)
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
	.can_lease = fake_can_lease,
	.update_leases = fake_update_leases,
	.fill_lease = fake_fill_lease,
};

static inline int set_up(void **state)
{
	static const char *const paths[] = {
		"/", "/a", "/a/b", "/web.service", "/init.scope", "/system.slice", "/system.slice/ssh.service"
	};
	struct fake *f = calloc(1, sizeof(*f));

	if (!f || state_new(CPUS, &f->state) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		grow(f->state, paths[i], i + 1);
	f->now_ns = 1000 * UINT64_C(1000000000);
	f->processes = 1;
	f->env = (struct command_env){ f->state, &ops, f, fake_now, fake_now, NULL };
	*state = f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fake *f = *state;

	reply_free(&f->reply);
	state_free(f->state);
	free(f);
	return 0;
}

/* Starts a command; the test fills in what matters. */
static inline struct command *command(struct fake *f, enum command_type type)
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

static inline struct command *on_path(struct fake *f, enum command_type type, const char *path, const char *class_name)
{
	struct command *c = command(f, type);

	c->target = (struct command_target){ .type = TARGET_PATH, .path = path };
	c->class_name = class_name;
	return c;
}

static inline struct command *on_class(struct fake *f, enum command_type type, const char *name)
{
	struct command *c = command(f, type);

	c->class_name = name;
	return c;
}

static inline struct command *upsert(struct fake *f, const char *name, uint32_t set, uint32_t kind, uint32_t guarantee)
{
	struct command *c = on_class(f, COMMAND_UPSERT_CLASS, name);

	c->settings = (struct class_settings){ .set = set, .kind = kind, .guarantee_cpus = guarantee };
	return c;
}

static inline const struct reply *run(struct fake *f)
{
	reply_free(&f->reply);
	command_run(&f->env, &f->cmd, &f->reply);
	assert_non_null(f->reply.message);
	assert_non_null(f->reply.error_reason);
	assert_int_equal(f->reply.config_generation, f->state->config_generation);
	return &f->reply;
}

static inline const struct reply *run_ok(struct fake *f)
{
	const struct reply *r = run(f);

	if (r->status != COMMAND_OK)
		fail_msg("%s: %s", r->error_reason, r->message);
	assert_string_equal(r->error_reason, "");
	return r;
}

static inline bool is_listed(const char *reason)
{
	for (size_t i = 0; i < NR_COMMAND_REASONS; i++)
		if (strcmp(command_reasons[i].name, reason) == 0)
			return true;
	return false;
}

/* Status, reason and a word of the message; and the model is what it was. */
static inline const struct reply *run_refused(struct fake *f, enum command_status status, const char *reason,
					      const char *word)
{
	_cleanup_free_ char *before = state_fingerprint(f->state), *after = NULL;
	const struct reply *r = run(f);

	after = state_fingerprint(f->state);
	if (r->status != status || strcmp(r->error_reason, reason) != 0)
		fail_msg("%s gave %d %s (%s), not %d %s", command_name(f->cmd.type), r->status, r->error_reason,
			 r->message, status, reason);
	if (!is_listed(reason))
		fail_msg("%s is not in the closed list", reason);
	if (!strstr(r->message, word))
		fail_msg("`%s' does not say `%s'", r->message, word);
	for (const char *p = r->message; *p; p++)
		if ((unsigned char)*p < 0x20)
			fail_msg("a control character in `%s'", r->message);
	assert_string_equal(before, after);
	assert_int_equal(r->nr_classes + r->nr_assignments + r->nr_decisions + r->nr_leases, 0);
	assert_int_equal(r->wait.wait_for, LEASE_WAIT_NONE);
	return r;
}

static inline const char *class_of(const struct fake *f, const char *path)
{
	struct cgroup_node *n = cgroup_tree_find_path(f->state->tree, path);

	assert_non_null(n);
	return f->state->classes[n->class_idx].name;
}

#define COMMAND_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
