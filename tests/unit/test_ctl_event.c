// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ctl_event.c - events in words: kinds, positions, one line for each */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/ctl/event_text.c"

static void expect_text(const Schedd__V1alpha1__Event *e, const char *wanted)
{
	char *text = event_text(e);

	assert_string_equal(text, wanted);
	free(text);
}

static void expect_actor(const Schedd__V1alpha1__Event *e, const char *wanted)
{
	char *text = event_actor(e);

	assert_string_equal(text, wanted);
	free(text);
}

/* ---------- words ---------- */

static void test_kinds_have_names(void **state)
{
	const ProtobufCEnumDescriptor *types = &schedd__v1alpha1__event__type__descriptor;
	Schedd__V1alpha1__Event__Type type;
	char name[EVENT_TYPE_MAX], error[256];

	(void)state;
	assert_string_equal(event_type_name(SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_CLASS_CHANGED, name), "class-changed");
	assert_string_equal(event_type_name(99, name), "type-99");
	for (unsigned int i = 0; i < types->n_values; i++) {
		int value = types->values[i].value, r;

		r = event_type_parse(event_type_name((Schedd__V1alpha1__Event__Type)value, name), &type, error,
				     sizeof(error));
		/* What is part of every stream cannot be asked for. */
		assert_int_equal(r, value <= SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_DROPPED ? -EINVAL : 0);
		if (r == 0)
			assert_int_equal(type, value);
	}
}

static void test_a_wrong_kind_is_helped(void **state)
{
	Schedd__V1alpha1__Event__Type type = 77;
	char error[256];

	(void)state;
	assert_int_equal(event_type_parse("class-change", &type, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "did you mean `class-changed'"));
	assert_int_equal(event_type_parse("\x1b[31m", &type, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "\\x1b[31m"));
	assert_int_equal(event_type_parse("", &type, error, sizeof(error)), -EINVAL);
	assert_int_equal(type, 77);
}

static void test_positions(void **state)
{
	static const char *const wrong[] = { "", ":", "12", "ab:", ":12", "ab:x", "ab:-1", "ab: 1",
					     "ab:18446744073709551616" };
	char epoch[EVENT_EPOCH_MAX] = "kept", longer[EVENT_EPOCH_MAX + 4];
	uint64_t sequence = 5;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (event_position_parse(wrong[i], epoch, &sequence) != -EINVAL)
			fail_msg("`%s' was accepted", wrong[i]);
	memset(longer, 'a', EVENT_EPOCH_MAX);
	strcpy(longer + EVENT_EPOCH_MAX, ":1");
	assert_int_equal(event_position_parse(longer, epoch, &sequence), -EINVAL);
	assert_string_equal(epoch, "kept");
	assert_int_equal(sequence, 5);
	assert_int_equal(event_position_parse("0123456789abcdef:18446744073709551615", epoch, &sequence), 0);
	assert_string_equal(epoch, "0123456789abcdef");
	assert_true(sequence == UINT64_MAX);
}

/* ---------- lines ---------- */

static void test_a_class_shows_what_was_set(void **state)
{
	Schedd__V1alpha1__Event e = SCHEDD__V1ALPHA1__EVENT__INIT;
	Schedd__V1alpha1__SchedClass c = SCHEDD__V1ALPHA1__SCHED_CLASS__INIT;
	Google__Protobuf__UInt32Value two = GOOGLE__PROTOBUF__UINT32_VALUE__INIT;
	char *own[] = { "kind", "guarantee_cpus" };

	(void)state;
	e.detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_SCHED_CLASS;
	e.sched_class = &c;
	c.name = "web";
	c.kind = SCHEDD__V1ALPHA1__SCHED_CLASS__KIND__KIND_LATENCY_CRITICAL;
	two.value = 2;
	c.guarantee_cpus = c.burst_cpus = &two;
	expect_text(&e, "web");
	c.own_fields = own;
	c.n_own_fields = 2;
	expect_text(&e, "web: kind=latency-critical guarantee=2");
}

static void test_a_decision(void **state)
{
	Schedd__V1alpha1__Event e = SCHEDD__V1ALPHA1__EVENT__INIT;
	Schedd__V1alpha1__Decision d = SCHEDD__V1ALPHA1__DECISION__INIT;
	Schedd__V1alpha1__Decision__Reason winner = SCHEDD__V1ALPHA1__DECISION__REASON__INIT;

	(void)state;
	e.detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_DECISION;
	e.decision = &d;
	d.cgroup_id = 7;
	d.cgroup_path = "/system.slice/a\\x5cx2db.service";
	d.class_name = "best-effort";
	d.winner = &winner;
	winner.source = "call";
	expect_text(&e, "/system.slice/a\\x2db.service -> best-effort (call)");
	winner.value = "a-1";
	d.cgroup_id = 0;
	d.cgroup_path = "/later";
	expect_text(&e, "/later -> best-effort (call a-1), once it is there");
	/* From a daemon that does not escape. */
	d.cgroup_path = "/a\n\x1b[31m";
	d.winner = NULL;
	d.cgroup_id = 1;
	expect_text(&e, "/a\\x0a\\x1b[31m -> best-effort");
}

static void test_cores_and_congestion(void **state)
{
	Schedd__V1alpha1__Event e = SCHEDD__V1ALPHA1__EVENT__INIT;
	Schedd__V1alpha1__Event__Reallocation r = SCHEDD__V1ALPHA1__EVENT__REALLOCATION__INIT;
	Schedd__V1alpha1__Event__Congestion c = SCHEDD__V1ALPHA1__EVENT__CONGESTION__INIT;
	Google__Protobuf__Duration twelve_us = GOOGLE__PROTOBUF__DURATION__INIT;

	(void)state;
	twelve_us.nanos = 12000;
	e.detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_REALLOCATION;
	e.reallocation = &r;
	r.cpu_id = 3;
	r.to_class_name = "web";
	expect_text(&e, "CPU 3: nobody -> web (in 0)");
	r.from_class_name = "best-effort";
	r.trigger = "congestion";
	r.took = &twelve_us;
	expect_text(&e, "CPU 3: best-effort -> web (congestion, in 12us)");
	e.detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_CONGESTION;
	e.congestion = &c;
	c.class_name = "web";
	c.oldest_wait = &twelve_us;
	c.began = 1;
	expect_text(&e, "web on LLC 0 is congested, oldest wait 12us");
	c.began = 0;
	expect_text(&e, "web on LLC 0 is no longer congested, oldest wait 12us");
}

static void test_state_configuration_and_gaps(void **state)
{
	Schedd__V1alpha1__Event e = SCHEDD__V1ALPHA1__EVENT__INIT;
	Schedd__V1alpha1__Event__StateChange s = SCHEDD__V1ALPHA1__EVENT__STATE_CHANGE__INIT;
	Schedd__V1alpha1__Event__ConfigChange c = SCHEDD__V1ALPHA1__EVENT__CONFIG_CHANGE__INIT;
	Schedd__V1alpha1__Event__Dropped d = SCHEDD__V1ALPHA1__EVENT__DROPPED__INIT;

	(void)state;
	e.detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_STATE_CHANGE;
	e.state_change = &s;
	s.from_state = "attached";
	s.to_state = "held";
	expect_text(&e, "attached -> held");
	s.exit_kind = "sysrq";
	s.message = "SysRq-S was pressed";
	expect_text(&e, "attached -> held (sysrq): SysRq-S was pressed");
	e.detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_CONFIG_CHANGE;
	e.config_change = &c;
	c.error = "schedd.yaml:3:9: no";
	expect_text(&e, "refused: schedd.yaml:3:9: no");
	c.accepted = 1;
	c.config_generation = 9;
	expect_text(&e, "reloaded, generation 9");
	e.detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL_DROPPED;
	e.dropped = &d;
	d.count = 12;
	d.first_sequence = 3;
	d.last_sequence = 14;
	expect_text(&e, "12 events (3 to 14) are missing here: they were not read fast enough");
	/* A kind of a later version. */
	e.detail_case = SCHEDD__V1ALPHA1__EVENT__DETAIL__NOT_SET;
	expect_text(&e, "-");
}

static void test_who_did_it(void **state)
{
	Schedd__V1alpha1__Event e = SCHEDD__V1ALPHA1__EVENT__INIT;
	Schedd__V1alpha1__Actor a = SCHEDD__V1ALPHA1__ACTOR__INIT;
	Google__Protobuf__UInt32Value root = GOOGLE__PROTOBUF__UINT32_VALUE__INIT;

	(void)state;
	expect_actor(&e, "-");
	e.actor = &a;
	expect_actor(&e, "-");
	a.source = "kernel";
	expect_actor(&e, "kernel");
	a.uid = &root;
	expect_actor(&e, "uid 0");
	a.comm = "sched\tctl";
	expect_actor(&e, "uid 0 (sched\\x09ctl)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_have_names),
		cmocka_unit_test(test_a_wrong_kind_is_helped),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_a_class_shows_what_was_set),
		cmocka_unit_test(test_a_decision),
		cmocka_unit_test(test_cores_and_congestion),
		cmocka_unit_test(test_state_configuration_and_gaps),
		cmocka_unit_test(test_who_did_it),
	};

	return cmocka_run_group_tests_name("ctl_event", tests, NULL, NULL);
}
