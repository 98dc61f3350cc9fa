/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_command_lease.c - CPUs ordered, renewed, given back and listed: bad orders, retries, ends, waiting */
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

#define S UINT64_C(1000000000)

static struct command *grant(struct fake *f, const char *class_name, uint32_t cpus, uint64_t ttl_ns)
{
	struct command *c = on_class(f, COMMAND_GRANT_CORES, class_name);

	c->cpus = cpus;
	c->has_ttl = true;
	c->ttl_ns = ttl_ns;
	c->wait_for = LEASE_WAIT_ACCEPTED;
	return c;
}

static struct command *reassign(struct fake *f, const char *from, const char *to, uint32_t cpus)
{
	struct command *c = grant(f, to, cpus, 30 * S);

	c->type = COMMAND_REASSIGN_CORES;
	c->from_class_name = from;
	return c;
}

static struct command *on_lease(struct fake *f, enum command_type type, const char *id)
{
	struct command *c = command(f, type);

	c->lease_id = id;
	c->has_ttl = type == COMMAND_RENEW_LEASE;
	c->ttl_ns = 60 * S;
	return c;
}

/* A copy, for the reply goes with the next run. */
static void id_of(const struct reply *r, char ret_id[64])
{
	assert_int_equal(r->nr_leases, 1);
	snprintf(ret_id, 64, "%s", r->leases[0].id);
}

static uint32_t guarantee_of(const struct fake *f, const char *name)
{
	return f->state->classes[state_find_class(f->state, name)].effective_guarantee_cpus;
}

/* ---------- orders ---------- */

static void test_grant(void **state)
{
	struct fake *f = *state;
	uint64_t generation = f->state->config_generation;
	struct command *c = grant(f, "lc", 3, 30 * S);
	const struct lease_view *v;

	c->change.reason = "a burst";
	c->age_ns = 7;
	v = run_ok(f)->leases;
	assert_int_equal(f->reply.nr_leases, 1);
	assert_string_equal(v->class_name, "latency-critical");
	assert_string_equal(v->from_class_name, "");
	assert_int_equal(v->requested_cpus, 3);
	assert_int_equal(v->granted_cpus, 3);
	assert_int_equal(v->nr_cpu_ids, 1);
	assert_int_equal(v->state, LEASE_ACCEPTED);
	assert_int_equal(v->actor_pid, 42);
	assert_string_equal(v->actor_comm, "test");
	assert_string_equal(v->reason, "a burst");
	assert_int_equal(v->create_realtime_ns, f->now_ns);
	assert_int_equal(v->expire_realtime_ns, f->now_ns + 30 * S);
	assert_false(v->was_owned || v->was_running);
	assert_int_equal(v->config_generation, generation + 1);
	assert_int_equal(f->state->leases[0].arrive_boottime_ns, f->now_ns - 7);
	assert_int_equal(guarantee_of(f, "latency-critical"), 3);
	assert_int_equal(f->commits, 1);
	assert_int_equal(f->reply.wait.wait_for, LEASE_WAIT_NONE);
}

static void test_partial_grant(void **state)
{
	struct fake *f = *state;
	const struct lease_view *v;

	grant(f, "lc", 20, 30 * S)->min_cpus = 4;
	v = run_ok(f)->leases;
	assert_int_equal(v->state, LEASE_PARTIAL);
	assert_int_equal(v->requested_cpus, 20);
	assert_int_equal(v->granted_cpus, CPUS - 1);
}

static void test_reassign(void **state)
{
	struct fake *f = *state;

	upsert(f, "best-effort", CLASS_FIELD_GUARANTEE, 0, 4);
	run_ok(f);
	reassign(f, "be", "lc", 3);
	assert_string_equal(run_ok(f)->leases->from_class_name, "best-effort");
	assert_int_equal(guarantee_of(f, "best-effort"), 1);
	assert_int_equal(guarantee_of(f, "latency-critical"), 3);
	reassign(f, "be", "lc", 5);
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CPUS_TAKEN",
		    "latency-critical can have at most 4 more CPUs from best-effort, "
		    "not 5");
	reassign(f, "lc", "lc", 1);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "from_class_name");
	reassign(f, "none", "lc", 1);
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "none");
	reassign(f, "be", "none", 1);
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "none");
	reassign(f, "", "lc", 1);
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "");
}

static void test_bad_orders(void **state)
{
	struct fake *f = *state;
	struct command *c;

	f->state->nr_numa_nodes = 2;
	f->state->lease_ttl_max_ns = 3600 * S;
	grant(f, "none", 1, 30 * S);
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "normal, latency-critical, best-effort");
	grant(f, "lc", 0, 30 * S);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "cpus");
	grant(f, "lc", 1, 0);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "ttl: must be from 1s to 1h");
	grant(f, "lc", 1, S - 1);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "ttl");
	grant(f, "lc", 1, 3600 * S + 1);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "leases.max_ttl");
	grant(f, "lc", 1, UINT64_MAX);
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "ttl");
	grant(f, "lc", 1, 30 * S)->has_ttl = false;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "ttl: is required");
	grant(f, "lc", 2, 30 * S)->min_cpus = 3;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "min_cpus");
	c = grant(f, "lc", 2, 30 * S);
	c->has_numa_node = true;
	c->numa_node = 2;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "numa_node");
	grant(f, "lc", CPUS, 30 * S);
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CPUS_TAKEN",
		    "at most 7 more CPUs, not 8: of 8 online CPUs guarantees and "
		    "leases have taken nobody");
	grant(f, "lc", 30, 30 * S)->min_cpus = CPUS;
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CPUS_TAKEN", "not 8");
	c = grant(f, "lc", 1, 30 * S);
	c->change.has_expected_generation = true;
	c->change.expected_config_generation = 99;
	run_refused(f, COMMAND_ABORTED, "GENERATION_STALE", "99");
	grant(f, "lc", 1, 30 * S)->caller.role = ROLE_VIEW;
	run_refused(f, COMMAND_PERMISSION_DENIED, "ROLE_MISSING", "assign");
	assert_int_equal(f->commits, 0);
	grant(f, "lc", 1, 3600 * S)->caller.role = ROLE_ASSIGN;
	run_ok(f);
}

static void test_what_is_taken_is_named(void **state)
{
	struct fake *f = *state;

	upsert(f, "web", CLASS_FIELD_KIND | CLASS_FIELD_GUARANTEE, SCHEDD_KIND_LATENCY_CRITICAL, 2);
	run_ok(f);
	grant(f, "web", 1, 30 * S);
	run_ok(f);
	grant(f, "be", 2, 30 * S);
	run_ok(f);
	grant(f, "lc", 3, 30 * S);
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CPUS_TAKEN",
		    "at most 2 more CPUs, not 3: of 8 online CPUs guarantees and "
		    "leases have taken best-effort 2, web 3, and one stays outside");
	assert_int_equal(f->reply.nr_details, 2);
	assert_string_equal(f->reply.details[1].field, "web");
	assert_string_equal(f->reply.details[1].description, "2 by guarantee, 1 by leases");
}

static void test_modes_that_give_no_cpus(void **state)
{
	struct fake *f = *state;
	char id[64];

	grant(f, "lc", 1, 30 * S);
	id_of(run_ok(f), id);
	f->lease_error = -EPERM;
	grant(f, "lc", 1, 30 * S);
	run_refused(f, COMMAND_FAILED_PRECONDITION, "MODE_GIVES_NO_CPUS", "detached");
	reassign(f, "be", "lc", 1);
	run_refused(f, COMMAND_FAILED_PRECONDITION, "MODE_GIVES_NO_CPUS", "detached");
	f->lease_error = -EOPNOTSUPP;
	grant(f, "lc", 1, 30 * S);
	run_refused(f, COMMAND_UNIMPLEMENTED, "MODE_REFUSED", "");
	/* What there is can be renewed and given back. */
	on_lease(f, COMMAND_RENEW_LEASE, id);
	run_ok(f);
	on_lease(f, COMMAND_RELEASE_LEASE, id);
	run_ok(f);
}

static void test_too_many_leases(void **state)
{
	struct fake *f = *state;

	f->state->nr_cpus = 2000;
	state_scale_guarantees(f->state);
	for (int i = 0; i < STATE_MAX_LEASES; i++) {
		grant(f, "lc", 1, 30 * S);
		run_ok(f);
	}
	grant(f, "lc", 1, 30 * S);
	run_refused(f, COMMAND_RESOURCE_EXHAUSTED, "TOO_MANY_LEASES", "1024 leases");
	/* An end that nobody has noticed yet makes room. */
	f->now_ns += 30 * S;
	grant(f, "lc", 1, 30 * S);
	run_ok(f);
	assert_int_equal(f->state->nr_leases, 1);
}

static void test_validate_only(void **state)
{
	struct fake *f = *state;
	struct command *c = grant(f, "lc", 9, 30 * S);
	_cleanup_free_ char *before = state_fingerprint(f->state), *after = NULL;

	c->change.validate_only = true;
	c->min_cpus = 1;
	c->wait_for = LEASE_WAIT_RUNNING;
	assert_int_equal(run_ok(f)->leases->granted_cpus, CPUS - 1);
	assert_string_equal(f->reply.leases->id, "");
	assert_int_equal(f->reply.wait.wait_for, LEASE_WAIT_NONE);
	c->min_cpus = 0;
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CPUS_TAKEN", "");
	after = state_fingerprint(f->state);
	assert_string_equal(before, after);
	assert_int_equal(f->commits, 0);
}

static void test_what_cannot_be_stored_is_undone(void **state)
{
	struct fake *f = *state;

	f->commit_errors[0] = -EIO;
	grant(f, "lc", 3, 30 * S);
	run_refused(f, COMMAND_UNAVAILABLE, "STATE_NOT_SAVED", "undone");
	assert_int_equal(f->state->nr_leases, 0);
	assert_int_equal(guarantee_of(f, "latency-critical"), 0);
	assert_int_equal(f->commits, 2);
}

/* ---------- renew, release, list ---------- */

static void test_renew(void **state)
{
	struct fake *f = *state;
	char id[64];

	grant(f, "lc", 1, 30 * S);
	id_of(run_ok(f), id);
	f->now_ns += 29 * S;
	on_lease(f, COMMAND_RENEW_LEASE, id);
	assert_int_equal(run_ok(f)->leases->expire_realtime_ns, f->now_ns + 60 * S);
	on_lease(f, COMMAND_RENEW_LEASE, id)->ttl_ns = 2 * S;
	assert_int_equal(run_ok(f)->leases->expire_realtime_ns, f->now_ns + 2 * S);
	on_lease(f, COMMAND_RENEW_LEASE, id)->ttl_ns = 5;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "ttl");
	on_lease(f, COMMAND_RENEW_LEASE, id)->has_ttl = false;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_VALUE", "ttl");
	on_lease(f, COMMAND_RENEW_LEASE, "no\nsuch");
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", "no\\x0asuch");
	on_lease(f, COMMAND_RENEW_LEASE, NULL);
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", "");
	f->now_ns += 2 * S;
	on_lease(f, COMMAND_RENEW_LEASE, id);
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", id);
}

static void test_release(void **state)
{
	struct fake *f = *state;
	uint64_t generation;
	char id[64], other[64];

	grant(f, "lc", 2, 30 * S);
	id_of(run_ok(f), id);
	grant(f, "lc", 1, 30 * S);
	id_of(run_ok(f), other);
	on_lease(f, COMMAND_RELEASE_LEASE, id);
	assert_int_equal(run_ok(f)->leases->state, LEASE_RELEASED);
	assert_string_equal(f->reply.leases->id, id);
	assert_int_equal(f->reply.leases->granted_cpus, 2);
	assert_int_equal(guarantee_of(f, "latency-critical"), 1);
	on_lease(f, COMMAND_RELEASE_LEASE, id);
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", id);
	on_lease(f, COMMAND_RELEASE_LEASE, "");
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", "");
	on_lease(f, COMMAND_RELEASE_LEASE, "0123456789012345678901234567890123456")->allow_missing = true;
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", "");
	generation = f->state->config_generation;
	on_lease(f, COMMAND_RELEASE_LEASE, id)->allow_missing = true;
	assert_int_equal(run_ok(f)->leases->state, LEASE_RELEASED);
	assert_string_equal(f->reply.leases->id, id);
	assert_int_equal(f->state->nr_leases, 1);
	assert_int_equal(f->state->config_generation, generation);
	f->now_ns += 30 * S;
	on_lease(f, COMMAND_RELEASE_LEASE, other);
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", other);
}

static void test_list(void **state)
{
	struct fake *f = *state;
	char token[64];
	struct command *c;

	grant(f, "lc", 1, 30 * S);
	run_ok(f);
	grant(f, "be", 1, 10 * S);
	run_ok(f);
	grant(f, "lc", 1, 30 * S);
	run_ok(f);
	c = command(f, COMMAND_LIST_LEASES);
	assert_int_equal(run_ok(f)->nr_leases, 3);
	assert_string_equal(f->reply.next_page_token, "");
	c->page_size = 2;
	assert_int_equal(run_ok(f)->nr_leases, 2);
	snprintf(token, sizeof(token), "%s", f->reply.next_page_token);
	c->page_token = token;
	assert_int_equal(run_ok(f)->nr_leases, 1);
	assert_string_equal(f->reply.leases[0].id, f->state->leases[2].id);
	token[3] ^= 1;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "INVALID_PAGE_TOKEN", "");
	on_class(f, COMMAND_LIST_LEASES, "lc");
	assert_int_equal(run_ok(f)->nr_leases, 2);
	on_class(f, COMMAND_LIST_LEASES, "none");
	run_refused(f, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "none");
	/* Live ones only, noticed or not. */
	f->now_ns += 10 * S;
	command(f, COMMAND_LIST_LEASES);
	assert_int_equal(run_ok(f)->nr_leases, 2);
	assert_int_equal(f->state->nr_leases, 3);
}

static void test_a_leased_class_cannot_be_deleted(void **state)
{
	struct fake *f = *state;
	char id[64];

	upsert(f, "web", CLASS_FIELD_KIND, SCHEDD_KIND_LATENCY_CRITICAL, 0);
	run_ok(f);
	grant(f, "web", 1, 30 * S);
	id_of(run_ok(f), id);
	on_class(f, COMMAND_DELETE_CLASS, "web");
	run_refused(f, COMMAND_FAILED_PRECONDITION, "CLASS_IN_USE", id);
	assert_string_equal(f->reply.details[0].field, "lease");
}

/* ---------- retries ---------- */

static void test_a_retry_grants_once(void **state)
{
	struct fake *f = *state;
	struct command *c = grant(f, "lc", 2, 30 * S);
	char id[64];

	c->change.request_id = REQUEST_1;
	c->change.content_hash = 1;
	id_of(run_ok(f), id);
	/* What changed since does not matter to a retry. */
	c->change.has_expected_generation = true;
	f->now_ns += 5 * S;
	f->lease_error = -EPERM;
	assert_string_equal(run_ok(f)->leases->id, id);
	assert_int_equal(f->state->nr_leases, 1);
	assert_int_equal(f->commits, 1);
	c->change.content_hash = 2;
	run_refused(f, COMMAND_INVALID_ARGUMENT, "REQUEST_ID_REUSED", REQUEST_1);
	c->change.content_hash = 1;
	f->now_ns += 25 * S;
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", id);
}

static void test_retries_of_renew_and_release(void **state)
{
	struct fake *f = *state;
	struct command *c;
	char id[64];

	grant(f, "lc", 2, 30 * S);
	id_of(run_ok(f), id);
	c = on_lease(f, COMMAND_RENEW_LEASE, id);
	c->change.request_id = REQUEST_1;
	run_ok(f);
	f->now_ns += S;
	assert_int_equal(run_ok(f)->leases->expire_realtime_ns, f->now_ns + 59 * S);
	c = on_lease(f, COMMAND_RELEASE_LEASE, id);
	c->change.request_id = REQUEST_1;
	run_ok(f);
	assert_int_equal(run_ok(f)->leases->state, LEASE_RELEASED);
	assert_string_equal(f->reply.leases->id, id);
	on_lease(f, COMMAND_RENEW_LEASE, id)->change.request_id = REQUEST_1;
	run_refused(f, COMMAND_NOT_FOUND, "LEASE_NOT_FOUND", id);
}

/* ---------- answers that wait ---------- */

static bool resume(struct fake *f, const struct command_wait *wait, bool deadline_passed)
{
	reply_free(&f->reply);
	return command_resume(&f->env, wait, deadline_passed, &f->reply);
}

static void test_an_answer_waits_for_its_cpus(void **state)
{
	struct fake *f = *state;
	struct command_wait wait;
	struct state_lease *l;

	grant(f, "lc", 2, 30 * S)->wait_for = LEASE_WAIT_RUNNING;
	wait = run_ok(f)->wait;
	assert_int_equal(wait.wait_for, LEASE_WAIT_RUNNING);
	l = &f->state->leases[0];
	assert_string_equal(wait.lease_id, l->id);
	assert_false(resume(f, &wait, false));
	l->is_owned = l->was_owned = true;
	l->owned_after_ns = 11;
	assert_false(resume(f, &wait, false));
	l->is_running = l->was_running = true;
	l->running_after_ns = 12;
	assert_true(resume(f, &wait, false));
	assert_int_equal(f->reply.status, COMMAND_OK);
	assert_int_equal(f->reply.leases->state, LEASE_RUNNING);
	assert_int_equal(f->reply.leases->owned_after_ns, 11);
	assert_int_equal(f->reply.leases->running_after_ns, 12);
	assert_true(f->reply.leases->was_owned && f->reply.leases->was_running);
	assert_int_equal(f->reply.config_generation, f->state->config_generation);
}

static void test_what_is_there_at_once_is_answered_at_once(void **state)
{
	struct fake *f = *state;

	f->plan_follows = true;
	grant(f, "lc", 2, 30 * S)->wait_for = LEASE_WAIT_OWNED;
	assert_int_equal(run_ok(f)->wait.wait_for, LEASE_WAIT_NONE);
	assert_int_equal(f->reply.leases->state, LEASE_OWNED);
	assert_int_equal(f->reply.leases->owned_after_ns, 5);
	grant(f, "lc", 2, 30 * S)->wait_for = LEASE_WAIT_RUNNING;
	assert_int_equal(run_ok(f)->wait.wait_for, LEASE_WAIT_RUNNING);
}

static void test_a_retry_waits_too(void **state)
{
	struct fake *f = *state;
	struct command *c = grant(f, "lc", 2, 30 * S);

	c->wait_for = LEASE_WAIT_OWNED;
	c->change.request_id = REQUEST_1;
	run_ok(f);
	assert_int_equal(run_ok(f)->wait.wait_for, LEASE_WAIT_OWNED);
	f->state->leases[0].is_owned = true;
	assert_int_equal(run_ok(f)->wait.wait_for, LEASE_WAIT_NONE);
}

static void test_waits_that_end_without_cpus(void **state)
{
	struct fake *f = *state;
	struct command_wait wait;

	grant(f, "lc", 2, 30 * S)->wait_for = LEASE_WAIT_OWNED;
	wait = run_ok(f)->wait;
	assert_true(resume(f, &wait, true));
	assert_int_equal(f->reply.status, COMMAND_DEADLINE_EXCEEDED);
	assert_string_equal(f->reply.error_reason, "WAIT_DEADLINE");
	assert_non_null(strstr(f->reply.message, wait.lease_id));
	assert_non_null(strstr(f->reply.message, "exists"));
	assert_int_equal(f->state->nr_leases, 1);
	/* There at the last moment is there. */
	f->state->leases[0].is_owned = true;
	assert_true(resume(f, &wait, true));
	assert_int_equal(f->reply.status, COMMAND_OK);
	f->now_ns += 30 * S;
	assert_true(resume(f, &wait, false));
	assert_int_equal(f->reply.status, COMMAND_NOT_FOUND);
	assert_string_equal(f->reply.error_reason, "LEASE_NOT_FOUND");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(test_grant),
		COMMAND_TEST(test_partial_grant),
		COMMAND_TEST(test_reassign),
		COMMAND_TEST(test_bad_orders),
		COMMAND_TEST(test_what_is_taken_is_named),
		COMMAND_TEST(test_modes_that_give_no_cpus),
		COMMAND_TEST(test_too_many_leases),
		COMMAND_TEST(test_validate_only),
		COMMAND_TEST(test_what_cannot_be_stored_is_undone),
		COMMAND_TEST(test_renew),
		COMMAND_TEST(test_release),
		COMMAND_TEST(test_list),
		COMMAND_TEST(test_a_leased_class_cannot_be_deleted),
		COMMAND_TEST(test_a_retry_grants_once),
		COMMAND_TEST(test_retries_of_renew_and_release),
		COMMAND_TEST(test_an_answer_waits_for_its_cpus),
		COMMAND_TEST(test_what_is_there_at_once_is_answered_at_once),
		COMMAND_TEST(test_a_retry_waits_too),
		COMMAND_TEST(test_waits_that_end_without_cpus),
	};

	return cmocka_run_group_tests_name("command_lease", tests, NULL, NULL);
}
