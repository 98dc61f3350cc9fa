/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_codec.c - changes, targets and assignments in requests */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/codec_fixture.h"

/* ---------- change ---------- */

static void change_is_checked(void **state)
{
	static const char *const bad_ids[] = { "x", UUID "0", "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633", "{" UUID "}",
					       "1b4e28ba02fa1-4d3b-a3f5-ef19b5a7633b", "gb4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b" };
	Google__Protobuf__UInt64Value generation = GOOGLE__PROTOBUF__UINT64_VALUE__INIT;
	char reason[300] = "";
	struct set_class s;

	(void)state;
	set_class_init(&s);
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_string_equal(request.cmd.change.request_id, "");
	assert_false(request.cmd.change.has_expected_generation);
	s.change.request_id = "1B4E28BA-2FA1-4D3B-A3F5-EF19B5A7633B";
	s.change.validate_only = 1;
	s.change.expected_config_generation = &generation;
	memset(reason, 'r', 256);
	s.change.reason = reason;
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_string_equal(request.cmd.change.request_id, UUID);
	assert_true(request.cmd.change.validate_only);
	assert_true(request.cmd.change.has_expected_generation);
	assert_int_equal(request.cmd.change.expected_config_generation, 0);
	assert_string_equal(request.cmd.change.reason, reason);
	reason[256] = 'r';
	refused(COMMAND_SET_CLASS, &s.m, "change.reason");
	s.change.reason = "line\nbreak";
	refused(COMMAND_SET_CLASS, &s.m, "change.reason");
	s.change.reason = "";
	for (size_t i = 0; i < ARRAY_SIZE(bad_ids); i++) {
		s.change.request_id = (char *)bad_ids[i];
		refused(COMMAND_SET_CLASS, &s.m, "change.request_id");
	}
}

static uint64_t hash_of(enum command_type type, const void *message)
{
	accepted(type, message);
	return request.cmd.change.content_hash;
}

static void content_hash_is_of_everything_but_the_id(void **state)
{
	MSG(RevertClassRequest) revert = SCHEDD__V1ALPHA1__REVERT_CLASS_REQUEST__INIT;
	MSG(DeleteClassRequest) del = SCHEDD__V1ALPHA1__DELETE_CLASS_REQUEST__INIT;
	struct set_class s;
	uint64_t hash;

	(void)state;
	set_class_init(&s);
	s.change.request_id = UUID;
	hash = hash_of(COMMAND_SET_CLASS, &s.m);
	assert_int_not_equal(hash, 0);
	assert_int_equal(hash, hash_of(COMMAND_SET_CLASS, &s.m));
	assert_string_equal(request.cmd.change.request_id, UUID);
	s.change.request_id = "00000000-2fa1-4d3b-a3f5-ef19b5a7633b";
	assert_int_equal(hash, hash_of(COMMAND_SET_CLASS, &s.m));
	s.m.whole_subtree = 1;
	assert_int_not_equal(hash, hash_of(COMMAND_SET_CLASS, &s.m));
	s.m.whole_subtree = 0;
	s.change.reason = "other";
	assert_int_not_equal(hash, hash_of(COMMAND_SET_CLASS, &s.m));
	/* Two methods with the same bytes are not the same content. */
	revert.change = del.change = &s.change;
	revert.class_name = del.class_name = "web";
	assert_int_not_equal(hash_of(COMMAND_REVERT_CLASS, &revert), hash_of(COMMAND_DELETE_CLASS, &del));
}

/* ---------- targets ---------- */

static void paths_are_checked(void **state)
{
	static const char *const good[] = { "/", "/a", "/a/b.slice", "/a/..b", "/a/...", "/\xc3\xa4",
					    "/dev-disk\\x2dby.swap" };
	static const char *const bad[] = { "", "a", "a/b", "/a/", "//", "/a//b", "/..", "/a/../b", "/a/..", "/.", "/a/.",
					   "/a\nb", "/a\x7f", "/a\xc2\x9b" "b" };
	char long_path[4200];
	struct set_class s;

	(void)state;
	set_class_init(&s);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		s.target.cgroup_path = (char *)good[i];
		accepted(COMMAND_SET_CLASS, &s.m);
		assert_int_equal(request.cmd.target.type, TARGET_PATH);
		assert_string_equal(request.cmd.target.path, good[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		s.target.cgroup_path = (char *)bad[i];
		refused_as(COMMAND_SET_CLASS, &s.m, "target.cgroup_path", "INVALID_PATH");
	}
	for (size_t i = 0; i < sizeof(long_path); i++)
		long_path[i] = i % 200 ? 'a' : '/';
	s.target.cgroup_path = long_path;
	long_path[4095] = '\0';
	accepted(COMMAND_SET_CLASS, &s.m);
	long_path[4095] = 'a';
	long_path[4096] = '\0';
	refused_as(COMMAND_SET_CLASS, &s.m, "target.cgroup_path", "INVALID_PATH");
	memset(long_path + 1, 'a', 300);
	long_path[257] = '\0';
	refused_as(COMMAND_SET_CLASS, &s.m, "target.cgroup_path", "INVALID_PATH");
}

static void other_targets_are_checked(void **state)
{
	MSG(PidTarget) process = SCHEDD__V1ALPHA1__PID_TARGET__INIT;
	MSG(SelfTarget) self = SCHEDD__V1ALPHA1__SELF_TARGET__INIT;
	struct set_class s;

	(void)state;
	set_class_init(&s);
	s.target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_ID;
	s.target.cgroup_id = 0;
	refused(COMMAND_SET_CLASS, &s.m, "target.cgroup_id");
	s.target.cgroup_id = UINT64_MAX;
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_int_equal(request.cmd.target.type, TARGET_ID);
	assert_true(request.cmd.target.cgroup_id == UINT64_MAX);
	s.target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_PROCESS;
	s.target.process = &process;
	refused(COMMAND_SET_CLASS, &s.m, "target.process.pid");
	process.pid = -1;
	refused(COMMAND_SET_CLASS, &s.m, "target.process.pid");
	process.pid = 1234;
	process.start_time_ticks = 99;
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_int_equal(request.cmd.target.type, TARGET_PID);
	assert_int_equal(request.cmd.target.pid, 1234);
	assert_int_equal(request.cmd.target.pid_start_time_ticks, 99);
	s.target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_SELF;
	s.target.self = &self;
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_int_equal(request.cmd.target.type, TARGET_SELF);
	s.target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET__NOT_SET;
	refused_as(COMMAND_SET_CLASS, &s.m, "target", "TARGET_MISSING");
	s.m.target = NULL;
	refused_as(COMMAND_SET_CLASS, &s.m, "target", "TARGET_MISSING");
}

static void named_targets_are_checked(void **state)
{
	static const char *const bad_units[] = { "", "nginx", ".service", "nginx.", "a/b.service", "a b.service",
						 "a\n.service", "\xc3\xa4.service" };
	static const char *const bad_ids[] = { "", "0123456789a", "0123456789aG", "0123456789AB" };
	MSG(PodTarget) pod = SCHEDD__V1ALPHA1__POD_TARGET__INIT;
	char unit[300];
	struct set_class s;

	(void)state;
	set_class_init(&s);
	s.target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_UNIT;
	s.target.unit = "systemd-fsck@dev-disk-by\\x2duuid.service";
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_int_equal(request.cmd.target.type, TARGET_UNIT);
	assert_string_equal(request.cmd.target.path, s.target.unit);
	for (size_t i = 0; i < ARRAY_SIZE(bad_units); i++) {
		s.target.unit = (char *)bad_units[i];
		refused(COMMAND_SET_CLASS, &s.m, "target.unit");
	}
	memset(unit, 'u', sizeof(unit));
	strcpy(unit + 249, ".slice");
	s.target.unit = unit;
	accepted(COMMAND_SET_CLASS, &s.m);
	unit[249] = 'u';
	strcpy(unit + 250, ".slice");
	refused(COMMAND_SET_CLASS, &s.m, "target.unit");
	s.target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CONTAINER_ID;
	s.target.container_id = "0123456789ab";
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_int_equal(request.cmd.target.type, TARGET_CONTAINER);
	for (size_t i = 0; i < ARRAY_SIZE(bad_ids); i++) {
		s.target.container_id = (char *)bad_ids[i];
		refused(COMMAND_SET_CLASS, &s.m, "target.container_id");
	}
	s.target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_POD;
	s.target.pod = &pod;
	refused(COMMAND_SET_CLASS, &s.m, "target.pod.namespace");
	pod.namespace_ = "shop";
	refused(COMMAND_SET_CLASS, &s.m, "target.pod.name");
	pod.name = "cart-0";
	pod.container = "main";
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_int_equal(request.cmd.target.type, TARGET_POD);
	assert_string_equal(request.cmd.target.path, "shop/cart-0/main");
}

static void set_class_is_checked(void **state)
{
	static const char *const bad_names[] = { "", "A", "9a", "a-", "-a", "a_b", "a b", "w\xc3\xa4",
						 "a23456789012345678901234567890123" };
	struct set_class s;

	(void)state;
	set_class_init(&s);
	s.m.ttl = &s.ttl;
	s.m.lifetime = SCHEDD__V1ALPHA1__LIFETIME__LIFETIME_PERSISTENT;
	s.ttl.seconds = 600;
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_string_equal(request.cmd.class_name, "latency-critical");
	assert_int_equal(request.cmd.lifetime, LIFETIME_PERSISTENT);
	assert_true(request.cmd.has_ttl);
	assert_true(request.cmd.ttl_ns == UINT64_C(600000000000));
	for (size_t i = 0; i < ARRAY_SIZE(bad_names); i++) {
		s.m.class_name = (char *)bad_names[i];
		refused_as(COMMAND_SET_CLASS, &s.m, "class_name", "INVALID_NAME");
	}
	s.m.class_name = "a2345678901234567890123456789012";
	accepted(COMMAND_SET_CLASS, &s.m);
	s.m.lifetime = 4;
	refused(COMMAND_SET_CLASS, &s.m, "lifetime");
	s.m.lifetime = -1;
	refused(COMMAND_SET_CLASS, &s.m, "lifetime");
}

static void durations_are_checked(void **state)
{
	static const struct {
		int64_t seconds;
		int32_t nanos;
	} bad[] = { { 0, 0 },	 { 0, 999999 }, { -1, 0 },	     { 0, -1 },	      { 1, 1000000000 },
		    { 1, -500 }, { 1, INT32_MIN }, { INT64_MAX, 0 }, { INT64_MIN, 0 }, { INT64_C(9223372036), 0 } };
	struct set_class s;

	(void)state;
	set_class_init(&s);
	s.m.ttl = &s.ttl;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		s.ttl.seconds = bad[i].seconds;
		s.ttl.nanos = bad[i].nanos;
		refused(COMMAND_SET_CLASS, &s.m, "ttl");
	}
	s.ttl.seconds = INT64_C(9223372035);
	s.ttl.nanos = 999999999;
	accepted(COMMAND_SET_CLASS, &s.m);
	assert_true(request.cmd.ttl_ns == UINT64_C(9223372035999999999));
	s.ttl.seconds = 0;
	s.ttl.nanos = 1000000;
	accepted(COMMAND_SET_CLASS, &s.m);
}

static void unset_takes_a_target_or_an_id(void **state)
{
	MSG(UnsetClassRequest) m = SCHEDD__V1ALPHA1__UNSET_CLASS_REQUEST__INIT;
	char id[80];
	struct set_class s;

	(void)state;
	set_class_init(&s);
	refused_as(COMMAND_UNSET_CLASS, &m, "target", "TARGET_MISSING");
	m.assignment_id = "a-17";
	accepted(COMMAND_UNSET_CLASS, &m);
	assert_string_equal(request.cmd.assignment_id, "a-17");
	assert_int_equal(request.cmd.target.type, TARGET_NONE);
	m.target = &s.target;
	refused_as(COMMAND_UNSET_CLASS, &m, "assignment_id", "TARGET_MISSING");
	m.assignment_id = "";
	accepted(COMMAND_UNSET_CLASS, &m);
	assert_int_equal(request.cmd.target.type, TARGET_PATH);
	m.target = NULL;
	memset(id, 'a', sizeof(id));
	id[65] = '\0';
	m.assignment_id = id;
	refused(COMMAND_UNSET_CLASS, &m, "assignment_id");
}

#define T(name) cmocka_unit_test_teardown(name, codec_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(change_is_checked),
		T(content_hash_is_of_everything_but_the_id),
		T(paths_are_checked),
		T(other_targets_are_checked),
		T(named_targets_are_checked),
		T(set_class_is_checked),
		T(durations_are_checked),
		T(unset_takes_a_target_or_an_id),
	};

	return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
