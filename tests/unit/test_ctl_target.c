// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ctl_target.c - what schedctl takes as a TARGET */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/ctl/out.c"
#include "api/ctl/target.c"

#define CASE(name) SCHEDD__V1ALPHA1__TARGET__TARGET_##name
#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void parse_ok(const char *text, struct target *t)
{
	char error[512];

	if (target_parse(text, "/sys/fs/cgroup/unified", t, error, sizeof(error)) < 0)
		fail_msg("`%s': %s", text, error);
}

static void test_paths(void **state)
{
	static const struct {
		const char *text, *path;
	} good[] = {
		{ "/", "/" },
		{ "/batch.slice", "/batch.slice" },
		{ "/batch.slice/", "/batch.slice" },
		{ "/a//", "/a" },
		{ "///", "/" },
		{ "/sys/fs/cgroup/unified/a/b", "/a/b" },
		{ "/sys/fs/cgroup/unified/a/b/", "/a/b" },
		{ "/sys/fs/cgroup/unified", "/" },
		{ "/sys/fs/cgroup/unified/", "/" },
		{ "/sys/fs/cgroup/unified2/a", "/sys/fs/cgroup/unified2/a" },
		{ "/sys/fs/cgroup/a", "/sys/fs/cgroup/a" },
		{ "/nginx.service", "/nginx.service" },
		{ "/with\nnewline", "/with\nnewline" },
	};
	struct target t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		parse_ok(good[i].text, &t);
		assert_int_equal(t.message.target_case, CASE(CGROUP_PATH));
		if (strcmp(t.message.cgroup_path, good[i].path) != 0)
			fail_msg("`%s' became `%s'", good[i].text, t.message.cgroup_path);
	}
}

static void test_a_mount_at_the_root_strips_nothing(void **state)
{
	struct target t;
	char error[512];

	(void)state;
	assert_int_equal(target_parse("/a/b", "/", &t, error, sizeof(error)), 0);
	assert_string_equal(t.message.cgroup_path, "/a/b");
	assert_int_equal(target_parse("/a/b", "/a/", &t, error, sizeof(error)), 0);
	assert_string_equal(t.message.cgroup_path, "/b");
}

static void test_units(void **state)
{
	static const char *const known[] = { "nginx.service", "batch.slice", "session-1.scope", "dbus.socket", "a.timer",
					     "user@1000.service", "dev-disk\\x2d1.swap", "home.automount" };
	struct target t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		parse_ok(known[i], &t);
		assert_int_equal(t.message.target_case, CASE(UNIT));
		assert_string_equal(t.message.unit, known[i]);
	}
	parse_ok("unit:without-suffix", &t);
	assert_int_equal(t.message.target_case, CASE(UNIT));
	assert_string_equal(t.message.unit, "without-suffix");
}

static void test_pods(void **state)
{
	struct target t;

	(void)state;
	parse_ok("pod:shop/cart-7", &t);
	assert_int_equal(t.message.target_case, CASE(POD));
	assert_string_equal(t.message.pod->namespace_, "shop");
	assert_string_equal(t.message.pod->name, "cart-7");
	assert_string_equal(t.message.pod->container, "");
	parse_ok("pod:shop/cart-7/app", &t);
	assert_string_equal(t.message.pod->name, "cart-7");
	assert_string_equal(t.message.pod->container, "app");
}

static void test_containers_processes_ids_and_self(void **state)
{
	struct target t;

	(void)state;
	parse_ok("container:0123456789ab", &t);
	assert_int_equal(t.message.target_case, CASE(CONTAINER_ID));
	assert_string_equal(t.message.container_id, "0123456789ab");
	parse_ok("container:" ID64, &t);
	parse_ok("pid:2147483647", &t);
	assert_int_equal(t.message.target_case, CASE(PROCESS));
	assert_int_equal(t.message.process->pid, 2147483647);
	assert_int_equal(t.message.process->start_time_ticks, 0);
	parse_ok("cgroup-id:18446744073709551615", &t);
	assert_int_equal(t.message.target_case, CASE(CGROUP_ID));
	assert_true(t.message.cgroup_id == UINT64_MAX);
	target_set_self(&t);
	assert_int_equal(t.message.target_case, CASE(SELF));
	assert_non_null(t.message.self);
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *text, *part;
	} bad[] = {
		{ "", "empty" },
		{ "nginx", "nginx.service" },
		{ ".service", "not understood" },
		{ "batch.slice/a", "begins with `/'" },
		{ "a/nginx.service", "begins with `/'" },
		{ "unit:", "unit name" },
		{ "unit:a/b", "unit name" },
		{ "pod:", "NAMESPACE/NAME" },
		{ "pod:a", "NAMESPACE/NAME" },
		{ "pod:a/", "NAMESPACE/NAME" },
		{ "pod:/b", "NAMESPACE/NAME" },
		{ "pod:a//c", "NAMESPACE/NAME" },
		{ "pod:a/b/", "empty container" },
		{ "pod:a/b/c/d", "too many parts" },
		{ "container:", "12 to 64" },
		{ "container:0123456789a", "12 to 64" },
		{ "container:" ID64 "0", "12 to 64" },
		{ "container:0123456789AB", "12 to 64" },
		{ "pid:", "process number" },
		{ "pid:0", "process number" },
		{ "pid:-1", "process number" },
		{ "pid:2147483648", "process number" },
		{ "pid:12x", "process number" },
		{ "cgroup-id:0", "no cgroup id" },
		{ "cgroup-id:18446744073709551616", "no cgroup id" },
	};
	struct target t;
	char error[512];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (target_parse(bad[i].text, "/sys/fs/cgroup", &t, error, sizeof(error)) != -EINVAL)
			fail_msg("`%s' was accepted", bad[i].text);
		if (!strstr(error, bad[i].part))
			fail_msg("`%s' gave `%s', which lacks `%s'", bad[i].text, error, bad[i].part);
	}
}

static void test_a_path_that_is_too_long(void **state)
{
	static char path[8000];
	struct target t;
	char error[512];

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	assert_int_equal(target_parse(path, "/sys/fs/cgroup", &t, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "4095"));
}

static void test_what_is_parsed_packs_and_prints(void **state)
{
	static const char *const texts[] = { "/a/b", "nginx.service", "pod:a/b", "pod:a/b/c", "container:0123456789ab",
					     "pid:7", "cgroup-id:9" };
	uint8_t packed[512];
	struct target t;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		Schedd__V1alpha1__Target *back;
		char *printed;
		size_t n;

		parse_ok(texts[i], &t);
		n = schedd__v1alpha1__target__pack(&t.message, packed);
		back = schedd__v1alpha1__target__unpack(NULL, n, packed);
		assert_non_null(back);
		printed = target_format(back);
		assert_string_equal(printed, texts[i]);
		free(printed);
		schedd__v1alpha1__target__free_unpacked(back, NULL);
	}
}

static void test_mutated_targets_never_crash(void **state)
{
	static const char *const start[] = { "/sys/fs/cgroup/a/b/", "pod:shop/cart/app", "container:0123456789ab",
					     "pid:12345", "cgroup-id:77", "nginx.service", "unit:x.slice" };
	uint64_t seed = 11;
	struct target t;
	char text[64], error[64], *printed;
	int round;

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 20000; round++) {
		strcpy(text, start[(size_t)round % ARRAY_SIZE(start)]);
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		text[(seed >> 40) % strlen(text)] = (char)(seed >> 32);
		text[(seed >> 50) % (strlen(text) + 1)] = seed >> 63 ? '/' : (char)(seed >> 24);
		if (target_parse(text, "/sys/fs/cgroup", &t, error, sizeof(error)) < 0)
			continue;
		printed = target_format(&t.message);
		assert_non_null(printed);
		assert_false(str_has_control(printed));
		free(printed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_a_mount_at_the_root_strips_nothing),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_containers_processes_ids_and_self),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_a_path_that_is_too_long),
		cmocka_unit_test(test_what_is_parsed_packs_and_prints),
		cmocka_unit_test(test_mutated_targets_never_crash),
	};

	return cmocka_run_group_tests_name("ctl_target", tests, NULL, NULL);
}
