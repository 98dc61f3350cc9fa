/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_announce.c - which changes of the model become events, and that undone ones do not */
#include "tests/unit/command_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/announce.h"

struct world {
	struct fake *f;
	struct announce announce;
	struct events *ev;
	struct event_reader reader;
};

static const struct event_cause nobody;

static int world_set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct event_filter everything = { 0 };
	void *fake = NULL;

	if (!w || set_up(&fake) < 0 || events_new("e", &w->ev) < 0)
		return -1;
	w->f = fake;
	announce_reset(&w->announce, w->f->state);
	*state = w;
	return events_open(w->ev, &everything, 0, &w->reader);
}

static int world_tear_down(void **state)
{
	struct world *w = *state;
	void *fake = w->f;

	events_close(w->ev, &w->reader);
	announce_free(&w->announce);
	events_free(w->ev);
	tear_down(&fake);
	free(w);
	return 0;
}

static void note(void *ctx, struct cgroup_node *node)
{
	struct world *w = ctx;

	announce_note(&w->announce, node);
}

/* As the daemon does after each command; the callback is called for all because nothing is applied here. */
static void announce(struct world *w, const struct event_cause *cause)
{
	state_classify(w->f->state, cgroup_tree_root(w->f->state->tree), note, w);
	announce_changes(&w->announce, w->f->state, w->ev, cause, 77);
}

static struct event next(struct world *w, enum event_type type, const char *class_name)
{
	struct event e;

	if (!events_next(w->ev, &w->reader, &e))
		fail_msg("no event, expected %d of %s", type, class_name);
	if (e.type != type || strcmp(e.class_name, class_name) != 0)
		fail_msg("event %d of %s, expected %d of %s", e.type, e.class_name, type, class_name);
	assert_int_equal(e.realtime_ns, 77);
	return e;
}

static void expect_decision(struct world *w, const char *path, const char *class_name, const char *from,
			    const char *source)
{
	struct event e = next(w, EVENT_DECISION_CHANGED, class_name);

	assert_string_equal(e.decision.path, path);
	assert_string_equal(e.from_class_name, from);
	assert_string_equal(e.decision.source, source);
	assert_int_equal(e.decision.cgroup_id, cgroup_tree_find_path(w->f->state->tree, path)->id);
}

static void expect_silence(struct world *w)
{
	struct event e;

	if (events_next(w->ev, &w->reader, &e))
		fail_msg("event %d of %s, none expected", e.type, e.class_name);
}

/* ---------- leases ---------- */

static void add_lease(struct world *w, const char *id)
{
	struct state_lease l = { .requested_cpus = 1, .expire_boottime_ns = 1000000000000 }, *stored;

	snprintf(l.id, sizeof(l.id), "%s", id);
	strcpy(l.class_name, "latency-critical");
	assert_int_equal(state_add_lease(w->f->state, &l, &stored), 0);
}

static void announce_lease_changes(struct world *w, enum event_source source)
{
	const struct event_cause cause = { .source = source };

	announce_leases(&w->announce, w->f->state, w->ev, &cause, 77, 1);
}

static void expect_lease(struct world *w, const char *id, enum lease_state state)
{
	struct event e = next(w, EVENT_LEASE_CHANGED, "latency-critical");

	assert_string_equal(e.lease.id, id);
	assert_int_equal(e.lease.state, state);
}

static void test_leases_come_get_further_and_end(void **state)
{
	struct world *w = *state;

	w->f->state->nr_cpus = 8;
	add_lease(w, "a");
	add_lease(w, "b");
	announce_lease_changes(w, EVENT_FROM_API);
	expect_lease(w, "a", LEASE_ACCEPTED);
	expect_lease(w, "b", LEASE_ACCEPTED);
	announce_lease_changes(w, EVENT_FROM_API);
	expect_silence(w);
	w->f->state->leases[1].is_owned = true;
	w->f->state->lease_revision++;
	announce_lease_changes(w, EVENT_FROM_SCHEDD);
	expect_lease(w, "b", LEASE_OWNED);
	state_remove_lease(w->f->state, 0);
	announce_lease_changes(w, EVENT_FROM_API);
	expect_lease(w, "a", LEASE_RELEASED);
	state_remove_lease(w->f->state, 0);
	announce_lease_changes(w, EVENT_FROM_SCHEDD);
	expect_lease(w, "b", LEASE_EXPIRED);
	expect_silence(w);
}

/* ---------- commands ---------- */

static void test_a_class_is_made_changed_and_deleted(void **state)
{
	const struct event_cause cause = { .source = EVENT_FROM_API, .uid = 7, .comm = "test", .request_id = REQUEST_1 };
	struct world *w = *state;
	struct event e;

	upsert(w->f, "web", CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE, SCHEDD_KIND_LATENCY_CRITICAL, 2);
	run_ok(w->f);
	announce(w, &cause);
	e = next(w, EVENT_CLASS_CHANGED, "web");
	assert_int_equal(e.cause.source, EVENT_FROM_API);
	assert_int_equal(e.cause.uid, 7);
	assert_string_equal(e.cause.request_id, REQUEST_1);
	assert_int_equal(e.class.settings.set, CLASS_FIELD_ALL);
	assert_int_equal(e.class.settings.guarantee_cpus, 2);
	assert_int_equal(e.class.origin, CLASS_ORIGIN_API);
	assert_int_equal(e.class.overridden_fields, 0);
	assert_int_equal(e.class.config_generation, w->f->state->config_generation);
	assert_string_equal(e.class.etag, w->f->reply.classes->etag);
	upsert(w->f, "web", CLASS_FIELD_GUARANTEE, 0, 3);
	run_ok(w->f);
	announce(w, &cause);
	assert_int_equal(next(w, EVENT_CLASS_CHANGED, "web").class.settings.guarantee_cpus, 3);
	on_class(w->f, COMMAND_DELETE_CLASS, "web");
	run_ok(w->f);
	announce(w, &cause);
	next(w, EVENT_CLASS_DELETED, "web");
	expect_silence(w);
}

static void test_a_decision_reaches_those_below(void **state)
{
	struct world *w = *state;

	on_path(w->f, COMMAND_SET_CLASS, "/a", "be");
	run_ok(w->f);
	announce(w, &nobody);
	expect_decision(w, "/a", "best-effort", "normal", "call");
	expect_decision(w, "/a/b", "best-effort", "normal", "inherited");
	expect_silence(w);
	on_path(w->f, COMMAND_UNSET_CLASS, "/a", "");
	run_ok(w->f);
	announce(w, &nobody);
	expect_decision(w, "/a", "normal", "best-effort", "inherited");
	expect_decision(w, "/a/b", "normal", "best-effort", "inherited");
	expect_silence(w);
}

static void test_what_was_undone_is_not_announced(void **state)
{
	struct world *w = *state;

	w->f->commit_errors[0] = -EIO;
	on_path(w->f, COMMAND_SET_CLASS, "/a", "be");
	run_refused(w->f, COMMAND_UNAVAILABLE, "STATE_NOT_SAVED", "undone");
	announce(w, &nobody);
	upsert(w->f, "web", CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0)->change.validate_only = true;
	run_ok(w->f);
	announce(w, &nobody);
	on_class(w->f, COMMAND_DELETE_CLASS, "lc");
	run_refused(w->f, COMMAND_FAILED_PRECONDITION, "CLASS_BUILTIN", "built in");
	announce(w, &nobody);
	expect_silence(w);
}

static void test_a_retry_is_announced_once(void **state)
{
	struct world *w = *state;

	on_path(w->f, COMMAND_SET_CLASS, "/a/b", "lc")->change.request_id = REQUEST_1;
	for (int i = 0; i < 2; i++) {
		run_ok(w->f);
		announce(w, &nobody);
	}
	expect_decision(w, "/a/b", "latency-critical", "normal", "call");
	expect_silence(w);
}

/* The index is the same, the class is another one. */
static void test_a_class_in_the_slot_of_another(void **state)
{
	const struct state_config_class old = { .name = "old", .settings = { .set = CLASS_FIELD_KIND, .kind = 2 } };
	const struct state_config_class new = { .name = "new", .settings = { .set = CLASS_FIELD_KIND, .kind = 2 } };
	const char *const of_old[1][2] = { { "/a", "old" } }, *const of_new[1][2] = { { "/a", "new" } };
	struct world *w = *state;
	struct state *s = w->f->state;
	char error[256];
	int slot;

	assert_int_equal(state_set_config(s, &old, 1, make_rules(1, of_old), 1, error, sizeof(error)), 0);
	announce(w, &nobody);
	next(w, EVENT_CLASS_CHANGED, "old");
	expect_decision(w, "/a", "old", "normal", "config");
	expect_decision(w, "/a/b", "old", "normal", "inherited");
	slot = state_find_class(s, "old");
	/* Every other slot is taken, so that the new one gets this. */
	for (int i = 0; i < SCHEDD_MAX_CLASSES - 4; i++) {
		char name[16];

		snprintf(name, sizeof(name), "other-%d", i);
		upsert(w->f, name, CLASS_FIELD_KIND, SCHEDD_KIND_NORMAL, 0);
		run_ok(w->f);
		announce(w, &nobody);
		next(w, EVENT_CLASS_CHANGED, name);
	}
	assert_int_equal(state_set_config(s, &new, 1, make_rules(1, of_new), 1, error, sizeof(error)), 0);
	assert_int_equal(state_find_class(s, "new"), slot);
	announce(w, &nobody);
	next(w, EVENT_CLASS_CHANGED, "new");
	expect_decision(w, "/a", "new", "old", "config");
	expect_decision(w, "/a/b", "new", "old", "inherited");
	next(w, EVENT_CLASS_DELETED, "old");
	expect_silence(w);
}

/* ---------- cgroups ---------- */

static void test_a_cgroup_that_comes(void **state)
{
	const char *const rule[1][2] = { { "/a/special", "latency-critical" } };
	struct world *w = *state;
	struct state *s = w->f->state;
	struct cgroup_node *plain, *special;
	char error[256];

	assert_int_equal(state_set_config(s, NULL, 0, make_rules(1, rule), 1, error, sizeof(error)), 0);
	announce(w, &nobody);
	expect_silence(w);
	plain = grow(s, "/a/plain", 100);
	announce_cgroup(&w->announce, s, plain, w->ev, &nobody, 77);
	expect_silence(w); /* it has the class it was born with */
	special = grow(s, "/a/special", 101);
	announce_cgroup(&w->announce, s, special, w->ev, &nobody, 77);
	expect_decision(w, "/a/special", "latency-critical", "", "config");
	announce(w, &nobody);
	expect_silence(w);
}

static void test_a_long_path_is_cut(void **state)
{
	struct world *w = *state;
	char path[600] = "/a";
	struct cgroup_node *n;
	struct event e;

	for (int i = 0; i < 3; i++) {
		size_t at = strlen(path);

		path[at] = '/';
		memset(path + at + 1, 'a' + i, 150);
		n = grow(w->f->state, path, 200 + (uint64_t)i);
		announce_cgroup(&w->announce, w->f->state, n, w->ev, &nobody, 77);
	}
	on_path(w->f, COMMAND_SET_CLASS, path, "lc");
	run_ok(w->f);
	announce(w, &nobody);
	e = next(w, EVENT_DECISION_CHANGED, "latency-critical");
	assert_int_equal(strlen(e.decision.path), EVENT_TEXT_MAX);
	assert_int_equal(memcmp(e.decision.path, path, EVENT_TEXT_MAX - 3), 0);
	assert_int_equal(e.decision.cgroup_id, 202);
}

/* ---------- cost ---------- */

static void test_ten_thousand_decisions_are_cheap(void **state)
{
	struct world *w = *state;
	struct timespec begin, end;
	char path[64];
	double ms;

	for (uint64_t i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "/a/b/%llu", (unsigned long long)i);
		announce_cgroup(&w->announce, w->f->state, grow(w->f->state, path, 1000 + i), w->ev, &nobody, 77);
	}
	expect_silence(w);
	on_path(w->f, COMMAND_SET_CLASS, "/a/b", "be");
	run_ok(w->f);
	state_classify(w->f->state, cgroup_tree_root(w->f->state->tree), note, w);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	announce_changes(&w->announce, w->f->state, w->ev, &nobody, 77);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ms = (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
	print_message("10,001 decisions announced in %.1f ms\n", ms);
	assert_int_equal(events_last(w->ev), 10001);
	/* A busy machine and sanitizers are slow; a pass that is not linear would take minutes. */
	assert_true(ms < 2000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_leases_come_get_further_and_end),
		T(test_a_class_is_made_changed_and_deleted),
		T(test_a_decision_reaches_those_below),
		T(test_what_was_undone_is_not_announced),
		T(test_a_retry_is_announced_once),
		T(test_a_class_in_the_slot_of_another),
		T(test_a_cgroup_that_comes),
		T(test_a_long_path_is_cut),
		T(test_ten_thousand_decisions_are_cheap),
	};

	return cmocka_run_group_tests_name("announce", tests, NULL, NULL);
}
