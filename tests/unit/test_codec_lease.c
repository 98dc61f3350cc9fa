/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_codec_lease.c - requests and replies about leases */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/codec_fixture.h"

/* A valid order of each kind, to spoil. */
struct orders {
	MSG(GrantCoresRequest) grant;
	MSG(ReassignCoresRequest) reassign;
	MSG(RenewLeaseRequest) renew;
	MSG(ReleaseLeaseRequest) release;
	MSG(Change) change;
	Google__Protobuf__Duration ttl;
	Google__Protobuf__UInt32Value node;
};

static void orders_init(struct orders *o)
{
	schedd__v1alpha1__grant_cores_request__init(&o->grant);
	schedd__v1alpha1__reassign_cores_request__init(&o->reassign);
	schedd__v1alpha1__renew_lease_request__init(&o->renew);
	schedd__v1alpha1__release_lease_request__init(&o->release);
	schedd__v1alpha1__change__init(&o->change);
	google__protobuf__duration__init(&o->ttl);
	google__protobuf__uint32_value__init(&o->node);
	o->ttl.seconds = 30;
	o->grant.class_name = o->reassign.to_class_name = "lc";
	o->reassign.from_class_name = "be";
	o->grant.cpus = o->reassign.cpus = 2;
	o->grant.ttl = o->reassign.ttl = o->renew.ttl = &o->ttl;
	o->renew.lease_id = o->release.lease_id = "0123456789ab-00000001";
	o->grant.change = o->reassign.change = o->renew.change = o->release.change = &o->change;
}

static void grant_is_decoded(void **state)
{
	struct orders o;

	(void)state;
	orders_init(&o);
	accepted(COMMAND_GRANT_CORES, &o.grant);
	assert_string_equal(request.cmd.class_name, "latency-critical");
	assert_int_equal(request.cmd.cpus, 2);
	assert_int_equal(request.cmd.min_cpus, 0);
	assert_true(request.cmd.has_ttl);
	assert_true(request.cmd.ttl_ns == UINT64_C(30000000000));
	assert_false(request.cmd.has_numa_node);
	/* Unspecified is OWNED. */
	assert_int_equal(request.cmd.wait_for, LEASE_WAIT_OWNED);
	o.grant.numa_node = &o.node;
	o.grant.min_cpus = 2;
	o.grant.wait_for = SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_RUNNING;
	o.change.validate_only = 1;
	o.change.request_id = UUID;
	accepted(COMMAND_GRANT_CORES, &o.grant);
	assert_true(request.cmd.has_numa_node);
	assert_int_equal(request.cmd.numa_node, 0);
	assert_int_equal(request.cmd.min_cpus, 2);
	assert_int_equal(request.cmd.wait_for, LEASE_WAIT_RUNNING);
	assert_true(request.cmd.change.validate_only);
	assert_int_not_equal(request.cmd.change.content_hash, 0);
}

static void reassign_is_decoded(void **state)
{
	struct orders o;

	(void)state;
	orders_init(&o);
	o.reassign.wait_for = SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_ACCEPTED;
	accepted(COMMAND_REASSIGN_CORES, &o.reassign);
	assert_string_equal(request.cmd.class_name, "latency-critical");
	assert_string_equal(request.cmd.from_class_name, "best-effort");
	assert_int_equal(request.cmd.wait_for, LEASE_WAIT_ACCEPTED);
	o.reassign.from_class_name = "";
	refused_as(COMMAND_REASSIGN_CORES, &o.reassign, "from_class_name", "INVALID_NAME");
	o.reassign.from_class_name = "be";
	o.reassign.to_class_name = "B";
	refused_as(COMMAND_REASSIGN_CORES, &o.reassign, "to_class_name", "INVALID_NAME");
}

static void orders_are_checked(void **state)
{
	struct orders o;

	(void)state;
	orders_init(&o);
	o.grant.cpus = 0;
	refused(COMMAND_GRANT_CORES, &o.grant, "cpus");
	o.grant.cpus = 1025;
	refused(COMMAND_GRANT_CORES, &o.grant, "cpus");
	o.grant.cpus = UINT32_MAX;
	refused(COMMAND_GRANT_CORES, &o.grant, "cpus");
	o.grant.cpus = 1024;
	accepted(COMMAND_GRANT_CORES, &o.grant);
	o.grant.min_cpus = 1025;
	refused(COMMAND_GRANT_CORES, &o.grant, "min_cpus");
	o.grant.min_cpus = 1;
	o.grant.wait_for = 4;
	refused(COMMAND_GRANT_CORES, &o.grant, "wait_for");
	o.grant.wait_for = -1;
	refused(COMMAND_GRANT_CORES, &o.grant, "wait_for");
	o.grant.wait_for = 0;
	o.grant.class_name = "";
	refused_as(COMMAND_GRANT_CORES, &o.grant, "class_name", "INVALID_NAME");
	o.grant.class_name = "lc";
	o.change.request_id = "x";
	refused(COMMAND_GRANT_CORES, &o.grant, "change.request_id");
}

static void every_lease_has_an_end(void **state)
{
	static const struct {
		int64_t seconds;
		int32_t nanos;
	} bad[] = { { 0, 0 }, { 0, 999999999 }, { -1, 0 }, { 1, -1 }, { 1, 1000000000 }, { INT64_MAX, 0 } };
	struct orders o;

	(void)state;
	orders_init(&o);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		o.ttl.seconds = bad[i].seconds;
		o.ttl.nanos = bad[i].nanos;
		refused(COMMAND_GRANT_CORES, &o.grant, "ttl");
		refused(COMMAND_REASSIGN_CORES, &o.reassign, "ttl");
		refused(COMMAND_RENEW_LEASE, &o.renew, "ttl");
	}
	o.ttl.seconds = 1;
	o.ttl.nanos = 0;
	accepted(COMMAND_RENEW_LEASE, &o.renew);
	assert_true(request.cmd.ttl_ns == UINT64_C(1000000000));
	o.grant.ttl = o.reassign.ttl = o.renew.ttl = NULL;
	refused(COMMAND_GRANT_CORES, &o.grant, "ttl");
	refused(COMMAND_REASSIGN_CORES, &o.reassign, "ttl");
	refused(COMMAND_RENEW_LEASE, &o.renew, "ttl");
}

static void leases_are_named(void **state)
{
	static const char *const bad[] = { "", "a\nb", "0123456789012345678901234567890123456" };
	MSG(ListLeasesRequest) list = SCHEDD__V1ALPHA1__LIST_LEASES_REQUEST__INIT;
	struct orders o;

	(void)state;
	orders_init(&o);
	accepted(COMMAND_RENEW_LEASE, &o.renew);
	assert_string_equal(request.cmd.lease_id, o.renew.lease_id);
	o.release.allow_missing = 1;
	accepted(COMMAND_RELEASE_LEASE, &o.release);
	assert_string_equal(request.cmd.lease_id, o.release.lease_id);
	assert_true(request.cmd.allow_missing);
	assert_int_equal(request.cmd.wait_for, LEASE_WAIT_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		o.renew.lease_id = o.release.lease_id = (char *)bad[i];
		refused(COMMAND_RENEW_LEASE, &o.renew, "lease_id");
		refused(COMMAND_RELEASE_LEASE, &o.release, "lease_id");
	}
	accepted(COMMAND_LIST_LEASES, &list);
	assert_string_equal(request.cmd.class_name, "");
	assert_int_equal(request.cmd.page_size, 100);
	list.class_name = "be";
	list.page_size = 5;
	accepted(COMMAND_LIST_LEASES, &list);
	assert_string_equal(request.cmd.class_name, "best-effort");
	list.page_size = -1;
	refused(COMMAND_LIST_LEASES, &list, "page_size");
}

static void numbers_are_those_of_the_schema(void **state)
{
	(void)state;
	assert_int_equal(LEASE_WAIT_ACCEPTED, SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_ACCEPTED);
	assert_int_equal(LEASE_WAIT_OWNED, SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_OWNED);
	assert_int_equal(LEASE_WAIT_RUNNING, SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_RUNNING);
	assert_int_equal(LEASE_ACCEPTED, SCHEDD__V1ALPHA1__LEASE__STATE__STATE_ACCEPTED);
	assert_int_equal(LEASE_PARTIAL, SCHEDD__V1ALPHA1__LEASE__STATE__STATE_PARTIAL);
	assert_int_equal(LEASE_EXPIRED, SCHEDD__V1ALPHA1__LEASE__STATE__STATE_EXPIRED);
}

static void lease_round_trip(void **state)
{
	uint32_t cpus[] = { 1, 5 };
	struct lease_view views[] = {
		{ .id = "a",
		  .class_name = "web",
		  .from_class_name = "be",
		  .requested_cpus = 3,
		  .granted_cpus = 2,
		  .cpu_ids = cpus,
		  .nr_cpu_ids = 2,
		  .state = LEASE_PARTIAL,
		  .actor_uid = 7,
		  .actor_pid = 8,
		  .actor_comm = "c\x1b",
		  .reason = "r",
		  .create_realtime_ns = 1,
		  .expire_realtime_ns = UINT64_C(5000000002),
		  .was_owned = true,
		  .owned_after_ns = UINT64_C(1000000003),
		  .plan_generation = 4,
		  .config_generation = 5 },
		{ .id = "b", .was_running = true, .running_after_ns = 6 },
	};
	struct reply out = { .leases = views, .nr_leases = 2, .next_page_token = "t" };
	MSG(ListLeasesResponse) * m;
	const MSG(Lease) * l;
	uint8_t *bytes = NULL;
	size_t size = 0;

	(void)state;
	assert_int_equal(codec_reply_encode(COMMAND_LIST_LEASES, &out, &bytes, &size), 0);
	m = schedd__v1alpha1__list_leases_response__unpack(NULL, size, bytes);
	assert_non_null(m);
	assert_int_equal(m->n_leases, 2);
	assert_string_equal(m->next_page_token, "t");
	l = m->leases[0];
	assert_string_equal(l->lease_id, "a");
	assert_string_equal(l->from_class_name, "be");
	assert_int_equal(l->requested_cpus, 3);
	assert_int_equal(l->granted_cpus, 2);
	assert_int_equal(l->n_cpu_ids, 2);
	assert_int_equal(l->cpu_ids[1], 5);
	assert_int_equal(l->state, SCHEDD__V1ALPHA1__LEASE__STATE__STATE_PARTIAL);
	assert_int_equal(l->holder->uid->value, 7);
	assert_string_equal(l->holder->comm, "c\\x1b");
	assert_int_equal(l->expire_time->seconds, 5);
	assert_int_equal(l->expire_time->nanos, 2);
	assert_int_equal(l->owned_after->nanos, 3);
	assert_null(l->running_after);
	assert_int_equal(l->plan_generation, 4);
	assert_int_equal(l->config_generation, 5);
	assert_null(m->leases[1]->owned_after);
	assert_int_equal(m->leases[1]->running_after->nanos, 6);
	schedd__v1alpha1__list_leases_response__free_unpacked(m, NULL);
	free(bytes);
}

#define T(name) cmocka_unit_test_teardown(name, codec_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(grant_is_decoded),       T(reassign_is_decoded), T(orders_are_checked),
		T(every_lease_has_an_end), T(leases_are_named),    T(numbers_are_those_of_the_schema),
		T(lease_round_trip),
	};

	return cmocka_run_group_tests_name("codec_lease", tests, NULL, NULL);
}
