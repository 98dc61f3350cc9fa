// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ctl_class.c - KEY=VALUE to SchedClass and back */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/ctl/class_message.c"
#include "api/ctl/cli.c"

static void test_every_key_goes_there_and_back(void **state)
{
	static const char *const words[] = { "kind=lc",       "guarantee=0",       "burst=4",          "lend=never",
					     "policy=vtime",  "slice=2ms",         "quantum=0",        "weight=10000",
					     "exclusive_smt=yes", "congestion=10us", "wakeup_target=1.5ms" };
	static const char *const values[] = { "latency-critical", "0", "4", "never", "vtime", "2ms", "0", "10000",
					      "yes", "10us", "1.5ms" };
	struct class_message m;
	uint8_t packed[512];
	char error[256] = "", value[64];
	Schedd__V1alpha1__SchedClass *back;
	size_t i, n;

	(void)state;
	assert_int_equal(ARRAY_SIZE(words), class_nr_keys);
	if (class_message_parse(&m, "web", words, ARRAY_SIZE(words), error, sizeof(error)) < 0)
		fail_msg("%s", error);
	assert_int_equal(m.reset, 0);
	n = schedd__v1alpha1__sched_class__pack(&m.message, packed);
	back = schedd__v1alpha1__sched_class__unpack(NULL, n, packed);
	assert_string_equal(back->name, "web");
	for (i = 0; i < class_nr_keys; i++)
		if (strcmp(class_message_value(back, class_keys[i].field, value, sizeof(value)), values[i]) != 0)
			fail_msg("%s is `%s' instead of `%s'", class_keys[i].yaml, value, values[i]);
	schedd__v1alpha1__sched_class__free_unpacked(back, NULL);
}

static void test_absent_keys_stay_absent(void **state)
{
	static const char *const words[] = { "weight=5" };
	struct class_message m;
	char error[256], value[64];

	(void)state;
	assert_int_equal(class_message_parse(&m, "web", words, 1, error, sizeof(error)), 0);
	assert_null(m.message.guarantee_cpus);
	assert_null(m.message.slice);
	assert_int_equal(m.message.weight->value, 5);
	assert_string_equal(class_message_value(&m.message, CLASS_FIELD_SLICE, value, sizeof(value)), "");
}

static void test_proto_names_and_resets(void **state)
{
	static const char *const words[] = { "guarantee_cpus=2", "slice=" };
	struct class_message m;
	char error[256];

	(void)state;
	assert_int_equal(class_message_parse(&m, "web", words, 2, error, sizeof(error)), 0);
	assert_int_equal(m.message.guarantee_cpus->value, 2);
	assert_int_equal(m.reset, CLASS_FIELD_SLICE);
	assert_int_equal(m.mask.n_paths, 2);
	assert_string_equal(m.mask.paths[0], "guarantee_cpus");
	assert_string_equal(m.mask.paths[1], "slice");
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *words[2];
		const char *part;
	} bad[] = {
		{ { "weight" }, "not KEY=VALUE" },
		{ { "=5" }, "not KEY=VALUE" },
		{ { "wieght=5" }, "did you mean `weight'" },
		{ { "xyzzyxyzzy=5" }, "it has kind, guarantee" },
		{ { "weight=0" }, "weight: `0'" },
		{ { "weight=5", "weight=6" }, "twice" },
		{ { "weight=5", "weight=" }, "twice" },
		{ { "kind=fast" }, "latency-critical" },
		{ { "slice=2" }, "slice: `2'" },
		{ { "policy=cfs" }, "must be vtime, fifo" },
	};
	struct class_message m;
	char error[512];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		size_t n = bad[i].words[1] ? 2 : 1;

		if (class_message_parse(&m, "web", bad[i].words, n, error, sizeof(error)) != -EINVAL)
			fail_msg("`%s' was accepted", bad[i].words[0]);
		if (!strstr(error, bad[i].part))
			fail_msg("`%s' gave `%s', which lacks `%s'", bad[i].words[0], error, bad[i].part);
	}
}

static const struct class_key *key_of(uint32_t field)
{
	size_t i;

	for (i = 0; class_keys[i].field != field; i++)
		;
	return &class_keys[i];
}

static void test_origins(void **state)
{
	Schedd__V1alpha1__SchedClass c = SCHEDD__V1ALPHA1__SCHED_CLASS__INIT;
	char *own[] = { "kind", "guarantee_cpus", "weight" }, *overridden[] = { "weight" };

	(void)state;
	c.origin = SCHEDD__V1ALPHA1__SCHED_CLASS__ORIGIN__ORIGIN_BUILTIN;
	c.own_fields = own;
	c.n_own_fields = 3;
	c.overridden_fields = overridden;
	c.n_overridden_fields = 1;
	assert_string_equal(class_message_origin(&c, key_of(CLASS_FIELD_KIND)), "builtin");
	assert_string_equal(class_message_origin(&c, key_of(CLASS_FIELD_GUARANTEE)), "config");
	assert_string_equal(class_message_origin(&c, key_of(CLASS_FIELD_WEIGHT)), "call");
	assert_string_equal(class_message_origin(&c, key_of(CLASS_FIELD_SLICE)), "default");
	c.origin = SCHEDD__V1ALPHA1__SCHED_CLASS__ORIGIN__ORIGIN_API;
	assert_string_equal(class_message_origin(&c, key_of(CLASS_FIELD_KIND)), "call");
}

static void test_mutated_words_never_crash(void **state)
{
	static const char *const start[] = { "kind=best-effort", "guarantee_cpus=12", "slice=1min 2s", "exclusive_smt=no",
					     "weight=" };
	uint64_t seed = 13;
	char text[32], error[64];
	struct class_message m;
	int round;

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 20000; round++) {
		const char *words[] = { text };

		strcpy(text, start[(size_t)round % ARRAY_SIZE(start)]);
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		text[(seed >> 40) % strlen(text)] = (char)(seed >> 32);
		memset(error, 'x', sizeof(error));
		if (class_message_parse(&m, "web", words, 1, error, sizeof(error)) < 0 && strlen(error) >= sizeof(error))
			fail_msg("round %d: no end of the message for `%s'", round, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_goes_there_and_back),
		cmocka_unit_test(test_absent_keys_stay_absent),
		cmocka_unit_test(test_proto_names_and_resets),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_mutated_words_never_crash),
	};

	return cmocka_run_group_tests_name("ctl_class", tests, NULL, NULL);
}
