// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ctl_json.c - proto JSON from descriptors */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <float.h>

#include "api/ctl/json.c"
#include "google/protobuf/field_mask.pb-c.h"
#include "google/protobuf/wrappers.pb-c.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

static char *json_of(const ProtobufCMessage *m)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	json_print_message(m, f);
	fclose(f);
	return text;
}

static void expect_json(const ProtobufCMessage *m, const char *wanted)
{
	char *text = json_of(m);

	assert_string_equal(text, wanted);
	free(text);
}

static void test_an_empty_message(void **state)
{
	Schedd__V1alpha1__NodeStatus s = SCHEDD__V1ALPHA1__NODE_STATUS__INIT;

	(void)state;
	expect_json(&s.base, "{}\n");
}

static void test_scalars_enums_wrappers_and_lists(void **state)
{
	Schedd__V1alpha1__SchedClass c = SCHEDD__V1ALPHA1__SCHED_CLASS__INIT;
	Google__Protobuf__UInt32Value zero = GOOGLE__PROTOBUF__UINT32_VALUE__INIT;
	Google__Protobuf__BoolValue no = GOOGLE__PROTOBUF__BOOL_VALUE__INIT;
	Google__Protobuf__Duration slice = GOOGLE__PROTOBUF__DURATION__INIT;
	char *fields[] = { "weight", "burst_cpus" };
	uint32_t cpus[] = { 0, 3 };

	(void)state;
	c.name = "web";
	c.kind = SCHEDD__V1ALPHA1__SCHED_CLASS__KIND__KIND_LATENCY_CRITICAL;
	c.guarantee_cpus = &zero;
	c.exclusive_smt = &no;
	slice.nanos = 2000000;
	c.slice = &slice;
	c.overridden_fields = fields;
	c.n_overridden_fields = 2;
	c.owned_cpu_ids = cpus;
	c.n_owned_cpu_ids = 2;
	c.config_generation = UINT64_MAX;
	expect_json(&c.base, "{\n  \"name\": \"web\",\n  \"kind\": \"KIND_LATENCY_CRITICAL\",\n  \"guaranteeCpus\": 0,\n"
			     "  \"slice\": \"0.002s\",\n  \"exclusiveSmt\": false,\n"
			     "  \"overriddenFields\": [\n    \"weight\",\n    \"burst_cpus\"\n  ],\n"
			     "  \"ownedCpuIds\": [\n    0,\n    3\n  ],\n"
			     "  \"configGeneration\": \"18446744073709551615\"\n}\n");
}

static void test_on_one_line(void **state)
{
	Schedd__V1alpha1__SchedClass c = SCHEDD__V1ALPHA1__SCHED_CLASS__INIT;
	Schedd__V1alpha1__Condition condition = SCHEDD__V1ALPHA1__CONDITION__INIT, *conditions[] = { &condition };
	uint32_t cpus[] = { 0, 3 };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	c.name = "a\nb";
	c.owned_cpu_ids = cpus;
	c.n_owned_cpu_ids = 2;
	condition.type = "Attached";
	c.conditions = conditions;
	c.n_conditions = 1;
	json_print_line(&c.base, f);
	fclose(f);
	assert_string_equal(text, "{\"name\": \"a\\nb\",\"ownedCpuIds\": [0,3],\"conditions\": [{\"type\": \"Attached\"}]}\n");
	free(text);
}

static void test_an_unknown_enum_value_is_a_number(void **state)
{
	Schedd__V1alpha1__SchedClass c = SCHEDD__V1ALPHA1__SCHED_CLASS__INIT;

	(void)state;
	c.kind = (Schedd__V1alpha1__SchedClass__Kind)99;
	expect_json(&c.base, "{\n  \"kind\": 99\n}\n");
}

static void test_oneof_says_what_was_chosen(void **state)
{
	Schedd__V1alpha1__Target t = SCHEDD__V1ALPHA1__TARGET__INIT;
	Schedd__V1alpha1__SelfTarget self = SCHEDD__V1ALPHA1__SELF_TARGET__INIT;

	(void)state;
	t.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_ID;
	t.cgroup_id = 0;
	expect_json(&t.base, "{\n  \"cgroupId\": \"0\"\n}\n");
	t.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_SELF;
	t.self = &self;
	expect_json(&t.base, "{\n  \"self\": {}\n}\n");
	t.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET__NOT_SET;
	expect_json(&t.base, "{}\n");
}

static void expect_duration(int64_t seconds, int32_t nanos, const char *wanted)
{
	Google__Protobuf__Duration d = GOOGLE__PROTOBUF__DURATION__INIT;

	d.seconds = seconds;
	d.nanos = nanos;
	expect_json(&d.base, wanted);
}

static void test_durations(void **state)
{
	(void)state;
	expect_duration(0, 0, "\"0s\"\n");
	expect_duration(1, 500000000, "\"1.500s\"\n");
	expect_duration(0, 1000, "\"0.000001s\"\n");
	expect_duration(3, 1, "\"3.000000001s\"\n");
	expect_duration(-1, -500000000, "\"-1.500s\"\n");
	expect_duration(0, -5000000, "\"-0.005s\"\n");
	expect_duration(INT64_MIN, 0, "\"-9223372036854775808s\"\n");
}

static void expect_timestamp(int64_t seconds, int32_t nanos, const char *wanted)
{
	Google__Protobuf__Timestamp t = GOOGLE__PROTOBUF__TIMESTAMP__INIT;

	t.seconds = seconds;
	t.nanos = nanos;
	expect_json(&t.base, wanted);
}

static void test_timestamps(void **state)
{
	(void)state;
	expect_timestamp(0, 0, "\"1970-01-01T00:00:00Z\"\n");
	expect_timestamp(1700000000, 120000000, "\"2023-11-14T22:13:20.120Z\"\n");
	expect_timestamp(1700000000, 7, "\"2023-11-14T22:13:20.000000007Z\"\n");
	expect_timestamp(INT64_MAX, 0, "null\n");
}

static void test_wrappers_and_masks_at_the_top(void **state)
{
	Google__Protobuf__Int64Value i = GOOGLE__PROTOBUF__INT64_VALUE__INIT;
	Google__Protobuf__DoubleValue d = GOOGLE__PROTOBUF__DOUBLE_VALUE__INIT;
	Google__Protobuf__FloatValue f = GOOGLE__PROTOBUF__FLOAT_VALUE__INIT;
	Google__Protobuf__StringValue s = GOOGLE__PROTOBUF__STRING_VALUE__INIT;
	Google__Protobuf__FieldMask m = GOOGLE__PROTOBUF__FIELD_MASK__INIT;
	char *paths[] = { "guarantee_cpus", "weight", "a.exclusive_smt" };

	(void)state;
	i.value = INT64_MIN;
	expect_json(&i.base, "\"-9223372036854775808\"\n");
	d.value = 0.5;
	expect_json(&d.base, "0.5\n");
	d.value = DBL_MAX * 10;
	expect_json(&d.base, "\"Infinity\"\n");
	f.value = 1.25f;
	expect_json(&f.base, "1.25\n");
	expect_json(&s.base, "\"\"\n");
	expect_json(&m.base, "\"\"\n");
	m.paths = paths;
	m.n_paths = 3;
	expect_json(&m.base, "\"guaranteeCpus,weight,a.exclusiveSmt\"\n");
}

static void expect_bytes(const char *bytes, size_t n, const char *wanted)
{
	Google__Protobuf__BytesValue b = GOOGLE__PROTOBUF__BYTES_VALUE__INIT;

	b.value.len = n;
	b.value.data = (uint8_t *)bytes;
	expect_json(&b.base, wanted);
}

static void test_bytes_are_base64(void **state)
{
	(void)state;
	expect_bytes("", 0, "\"\"\n");
	expect_bytes("f", 1, "\"Zg==\"\n");
	expect_bytes("fo", 2, "\"Zm8=\"\n");
	expect_bytes("foo", 3, "\"Zm9v\"\n");
	expect_bytes("\xff\xfe\xfd\0", 4, "\"//79AA==\"\n");
}

static void expect_quoted(const char *s, const char *wanted)
{
	Google__Protobuf__StringValue v = GOOGLE__PROTOBUF__STRING_VALUE__INIT;

	v.value = (char *)s;
	expect_json(&v.base, wanted);
}

static void test_strings_are_escaped(void **state)
{
	(void)state;
	expect_quoted("a\"b\\c", "\"a\\\"b\\\\c\"\n");
	expect_quoted("a\nb\tc\x1b[0m\x7f", "\"a\\nb\\tc\\u001b[0m\\u007f\"\n");
	expect_quoted("\xc2\x9b", "\"\\u009b\"\n"); /* CSI as one character */
	expect_quoted("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"\n");
	expect_quoted("\xff" "a\xc3", "\"\xef\xbf\xbd" "a\xef\xbf\xbd\"\n");
	expect_quoted("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"\n");             /* overlong */
	expect_quoted("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n"); /* surrogate */
}

/* Whatever bytes the daemon sends: it ends, and no raw control character comes out but our own newlines. */
static void test_mutated_messages_never_crash(void **state)
{
	Schedd__V1alpha1__Assignment a = SCHEDD__V1ALPHA1__ASSIGNMENT__INIT;
	Schedd__V1alpha1__Decision d = SCHEDD__V1ALPHA1__DECISION__INIT, *list[] = { &d, &d };
	Google__Protobuf__Timestamp t = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
	uint8_t good[512], packed[512];
	uint64_t seed = 5;
	size_t n, read = 0;
	int round;

	(void)state;
	t.seconds = 1700000000;
	d.cgroup_path = "/batch.slice/x";
	d.class_name = "best-effort";
	a.assignment_id = "a-1";
	a.create_time = &t;
	a.affected = list;
	a.n_affected = 2;
	n = schedd__v1alpha1__assignment__pack(&a, good);
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 20000; round++) {
		Schedd__V1alpha1__Assignment *m;
		char *text, *at;

		memcpy(packed, good, n);
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		packed[(seed >> 40) % n] = (uint8_t)(seed >> 32);
		m = schedd__v1alpha1__assignment__unpack(NULL, n, packed);
		if (!m)
			continue;
		read++;
		text = json_of(&m->base);
		for (at = text; *at; at++)
			if ((unsigned char)*at < 0x20 && *at != '\n')
				fail_msg("round %d: control character %d in %s", round, *at, text);
		free(text);
		schedd__v1alpha1__assignment__free_unpacked(m, NULL);
	}
	assert_true(read > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_message),
		cmocka_unit_test(test_scalars_enums_wrappers_and_lists),
		cmocka_unit_test(test_on_one_line),
		cmocka_unit_test(test_an_unknown_enum_value_is_a_number),
		cmocka_unit_test(test_oneof_says_what_was_chosen),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_timestamps),
		cmocka_unit_test(test_wrappers_and_masks_at_the_top),
		cmocka_unit_test(test_bytes_are_base64),
		cmocka_unit_test(test_strings_are_escaped),
		cmocka_unit_test(test_mutated_messages_never_crash),
	};

	return cmocka_run_group_tests_name("ctl_json", tests, NULL, NULL);
}
