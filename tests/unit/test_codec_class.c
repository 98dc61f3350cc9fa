/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_codec_class.c - classes, modes and lists in requests */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/codec_fixture.h"

/* ---------- classes, mode, lists ---------- */

static void absent_fields_are_not_set(void **state)
{
	Google__Protobuf__UInt32Value zero = GOOGLE__PROTOBUF__UINT32_VALUE__INIT;
	Google__Protobuf__BoolValue no = GOOGLE__PROTOBUF__BOOL_VALUE__INIT;
	Google__Protobuf__Duration none = GOOGLE__PROTOBUF__DURATION__INIT;
	struct upsert u;

	(void)state;
	upsert_init(&u);
	accepted(COMMAND_UPSERT_CLASS, &u.m);
	assert_string_equal(request.cmd.class_name, "web");
	assert_int_equal(request.cmd.settings.set, 0);
	assert_int_equal(request.cmd.update_fields, 0);
	u.c.guarantee_cpus = &zero;
	u.c.exclusive_smt = &no;
	u.c.quantum = &none;
	u.c.policy = "vtime";
	u.c.kind = SCHEDD__V1ALPHA1__SCHED_CLASS__KIND__KIND_NORMAL;
	accepted(COMMAND_UPSERT_CLASS, &u.m);
	assert_int_equal(request.cmd.settings.set, CLASS_FIELD_GUARANTEE | CLASS_FIELD_EXCLUSIVE_SMT |
							    CLASS_FIELD_QUANTUM | CLASS_FIELD_POLICY | CLASS_FIELD_KIND);
	assert_string_equal(request.cmd.settings.policy, "vtime");
	assert_int_equal(request.cmd.settings.kind, SCHEDD_KIND_NORMAL);
}

static void class_fields_are_checked(void **state)
{
	Google__Protobuf__UInt32Value weight = GOOGLE__PROTOBUF__UINT32_VALUE__INIT;
	Google__Protobuf__Duration slice = GOOGLE__PROTOBUF__DURATION__INIT;
	MSG(UpsertClassRequest) empty = SCHEDD__V1ALPHA1__UPSERT_CLASS_REQUEST__INIT;
	struct upsert u;

	(void)state;
	refused(COMMAND_UPSERT_CLASS, &empty, "sched_class");
	upsert_init(&u);
	u.c.kind = 9;
	refused(COMMAND_UPSERT_CLASS, &u.m, "sched_class.kind");
	upsert_init(&u);
	u.c.lend = 3;
	refused(COMMAND_UPSERT_CLASS, &u.m, "sched_class.lend");
	upsert_init(&u);
	u.c.policy = "a-policy-with-a-long-name";
	refused(COMMAND_UPSERT_CLASS, &u.m, "sched_class.policy");
	upsert_init(&u);
	u.c.weight = &weight;
	refused(COMMAND_UPSERT_CLASS, &u.m, "sched_class");
	weight.value = 10001;
	refused(COMMAND_UPSERT_CLASS, &u.m, "sched_class");
	upsert_init(&u);
	u.c.slice = &slice;
	slice.nanos = -1;
	refused(COMMAND_UPSERT_CLASS, &u.m, "sched_class.slice");
	upsert_init(&u);
	u.c.name = "no spaces";
	refused_as(COMMAND_UPSERT_CLASS, &u.m, "sched_class.name", "INVALID_NAME");
	upsert_init(&u);
	u.m.must_exist = u.m.must_not_exist = 1;
	refused(COMMAND_UPSERT_CLASS, &u.m, "must_not_exist");
	upsert_init(&u);
	u.m.etag = "12345678901234567890123456789012345678901234567890123456789012345";
	refused(COMMAND_UPSERT_CLASS, &u.m, "etag");
}

static void masks_are_checked(void **state)
{
	char *paths[] = { "weight", "slice" };
	static const char *const bad[] = { "", "name", "etag", "origin", "weights", "sched_class.weight", "weight ",
					   "\x1b[2J" };
	struct upsert u;

	(void)state;
	upsert_init(&u);
	u.m.update_mask = &u.mask;
	accepted(COMMAND_UPSERT_CLASS, &u.m);
	assert_int_equal(request.cmd.update_fields, 0);
	u.mask.paths = paths;
	u.mask.n_paths = 2;
	accepted(COMMAND_UPSERT_CLASS, &u.m);
	assert_int_equal(request.cmd.update_fields, CLASS_FIELD_WEIGHT | CLASS_FIELD_SLICE);
	paths[1] = "*";
	accepted(COMMAND_UPSERT_CLASS, &u.m);
	assert_int_equal(request.cmd.update_fields, CLASS_FIELD_ALL);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		paths[1] = (char *)bad[i];
		refused(COMMAND_UPSERT_CLASS, &u.m, "update_mask");
	}
}

static void modes_are_checked(void **state)
{
	MSG(SetModeRequest) m = SCHEDD__V1ALPHA1__SET_MODE_REQUEST__INIT;
	Google__Protobuf__Duration hold = GOOGLE__PROTOBUF__DURATION__INIT;

	(void)state;
	refused(COMMAND_SET_MODE, &m, "mode");
	m.mode = "Auto";
	refused(COMMAND_SET_MODE, &m, "mode");
	m.mode = "detached";
	accepted(COMMAND_SET_MODE, &m);
	assert_int_equal(request.cmd.mode, MODE_DETACHED);
	assert_false(request.cmd.has_hold_for);
	m.hold_for = &hold;
	refused(COMMAND_SET_MODE, &m, "hold_for");
	hold.seconds = 1800;
	accepted(COMMAND_SET_MODE, &m);
	assert_true(request.cmd.has_hold_for);
	assert_true(request.cmd.hold_for_ns == UINT64_C(1800000000000));
}

static void pages_are_checked(void **state)
{
	MSG(ListCgroupsRequest) m = SCHEDD__V1ALPHA1__LIST_CGROUPS_REQUEST__INIT;
	char token[300];

	(void)state;
	accepted(COMMAND_LIST_CGROUPS, &m);
	assert_int_equal(request.cmd.page_size, 100);
	assert_string_equal(request.cmd.page_token, "");
	assert_string_equal(request.cmd.class_name, "");
	m.page_size = 1;
	m.page_token = "abc";
	m.class_name = "be";
	accepted(COMMAND_LIST_CGROUPS, &m);
	assert_int_equal(request.cmd.page_size, 1);
	assert_string_equal(request.cmd.page_token, "abc");
	assert_string_equal(request.cmd.class_name, "best-effort");
	m.page_size = INT32_MAX;
	accepted(COMMAND_LIST_CGROUPS, &m);
	assert_int_equal(request.cmd.page_size, 1000);
	m.page_size = -1;
	refused(COMMAND_LIST_CGROUPS, &m, "page_size");
	m.page_size = 0;
	memset(token, 't', sizeof(token));
	token[257] = '\0';
	m.page_token = token;
	refused(COMMAND_LIST_CGROUPS, &m, "page_token");
	m.page_token = "";
	m.class_name = "?";
	refused_as(COMMAND_LIST_CGROUPS, &m, "class_name", "INVALID_NAME");
}

static void views_are_checked(void **state)
{
	MSG(GetPlanRequest) m = SCHEDD__V1ALPHA1__GET_PLAN_REQUEST__INIT;

	(void)state;
	accepted(COMMAND_GET_PLAN, &m);
	assert_false(request.cmd.full_view);
	m.view = SCHEDD__V1ALPHA1__GET_PLAN_REQUEST__VIEW__VIEW_FULL;
	accepted(COMMAND_GET_PLAN, &m);
	assert_true(request.cmd.full_view);
	m.view = 77;
	refused(COMMAND_GET_PLAN, &m, "view");
}

#define T(name) cmocka_unit_test_teardown(name, codec_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(absent_fields_are_not_set),
		T(class_fields_are_checked),
		T(masks_are_checked),
		T(modes_are_checked),
		T(pages_are_checked),
		T(views_are_checked),
	};

	return cmocka_run_group_tests_name("codec_class", tests, NULL, NULL);
}
