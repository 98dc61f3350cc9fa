// SPDX-License-Identifier: GPL-2.0-or-later
/* test_rules.c - globs of config rules: what they match, what is refused, how long it takes */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "cgroup/protected.h"
#include "cgroup/rules.h"
#include "daemon/base/cleanup.h"

static const struct {
	const char *glob, *path;
	bool match;
} cases[] = {
	{ "/", "/", true }, { "/", "/a", false }, { "/a", "/", false }, { "/*", "/", false }, { "/**", "/", false },
	{ "/a", "/a", true }, { "/a", "/ab", false }, { "/a", "/a/b", false }, { "/a/b", "/a", false },
	{ "/*", "/a", true }, { "/*", "/a/b", false }, { "/a*", "/a", true }, { "/a*", "/abc", true }, { "/*c", "/abc", true },
	{ "/*b*", "/abc", true }, { "/*b*", "/ac", false }, { "/a?c", "/abc", true }, { "/a?c", "/ac", false },
	{ "/a?c", "/a/c", false }, { "/*.service", "/nginx.service", true }, { "/*.service", "/x/nginx.service", false },
	{ "/**", "/a", true }, { "/**", "/a/b/c", true },
	{ "/batch.slice/**", "/batch.slice", false }, { "/batch.slice/**", "/batch.slice/x", true },
	{ "/batch.slice/**", "/batch.slice/x/y", true }, { "/batch.slice/**", "/batch.slicex/y", false },
	{ "/**/c", "/c", true }, { "/**/c", "/a/b/c", true }, { "/**/c", "/a/b/c/d", false }, { "/a/**/c", "/a/c", true },
	{ "/a/**/c", "/a/x/y/c", true }, { "/a/**/c", "/b/x/c", false }, { "/a/**/b/**/c", "/a/b/c", true },
	{ "/a/**/b/**/c", "/a/b/b/x/c", true }, { "/a/**/b/**/c", "/a/c/b", false }, { "/**/**/x", "/x", true },
	{ "/**/a/**", "/a", false }, { "/**/a/**", "/a/b", true }, { "/**/a/**", "/x/a/b", true },
	{ "/**/*.scope", "/user.slice/session-1.scope", true },
	{ "/[abc]", "/b", true }, { "/[abc]", "/d", false }, { "/[a-c]x", "/bx", true }, { "/[!a-c]", "/d", true },
	{ "/[!a-c]", "/a", false }, { "/[^a]", "/b", true }, { "/[]]", "/]", true }, { "/[!]]", "/a", true },
	{ "/[!]]", "/]", false }, { "/[a-]", "/-", true }, { "/[-a]", "/-", true }, { "/[*]", "/*", true }, { "/[*]", "/a", false },
	{ "/[?]", "/?", true }, { "/[[]x", "/[x", true }, { "/pod[0-9]*", "/pod7ab", true },
	/* systemd escapes with a backslash: it stands for itself */
	{ "/dev-a\\x2db.swap", "/dev-a\\x2db.swap", true }, { "/a\\*", "/a\\b", true },
	/* characters, not bytes */
	{ "/?", "/\xc3\xa4", true }, { "/??", "/\xc3\xa4", false }, { "/[\xc3\xa4-\xc3\xbc]", "/\xc3\xb6", true },
	{ "/[!a]", "/\xc3\xa4", true }, { "/?", "/\xff", true }, { "/\xff", "/\xff", true }, { "/\xff", "/\xfe", false },
	{ "/*\xa4", "/\xc3\xa4", false },
};

static void test_matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cgroup_rule_glob_check(cases[i].glob) != 0)
			fail_msg("`%s' was refused", cases[i].glob);
		if (cgroup_rule_glob_match(cases[i].glob, cases[i].path) != cases[i].match)
			fail_msg("`%s' must %smatch `%s'", cases[i].glob, cases[i].match ? "" : "not ", cases[i].path);
	}
}

static void test_refused_globs(void **state)
{
	static const char *const bad[] = { "", "a", "*", "//", "/a/", "/a//b", "/a**", "/**a", "/***", "/a/x**y/b", "/[", "/[a", "/[]",
					   "/[!]", "/[a/b]", "/a[", "/.", "/..", "/a/../b" };
	char *too_long = malloc(5000);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (cgroup_rule_glob_check(bad[i]) != -EINVAL)
			fail_msg("`%s' was accepted", bad[i]);
	memset(too_long, 'a', 4999);
	too_long[0] = '/';
	too_long[4999] = '\0';
	assert_int_equal(cgroup_rule_glob_check(too_long), -EINVAL);
	too_long[4095] = '\0';
	assert_int_equal(cgroup_rule_glob_check(too_long), 0);
	free(too_long);
}

static void test_last_rule_wins_and_weaker_ones_follow(void **state)
{
	struct cgroup_rule rules[] = {
		{ (char *)"/**", (char *)"a", (char *)"f:1" },
		{ (char *)"/x", (char *)"b", (char *)"f:2" },
		{ (char *)"/y", (char *)"c", (char *)"f:3" },
		{ (char *)"/*", (char *)"d", (char *)"f:4" },
	};

	(void)state;
	assert_int_equal(cgroup_rules_match(rules, 4, "/x", 4), 3);
	assert_int_equal(cgroup_rules_match(rules, 4, "/x", SIZE_MAX), 3);
	assert_int_equal(cgroup_rules_match(rules, 4, "/x", 3), 1);
	assert_int_equal(cgroup_rules_match(rules, 4, "/x", 1), 0);
	assert_int_equal(cgroup_rules_match(rules, 4, "/x", 0), -1);
	assert_int_equal(cgroup_rules_match(rules, 4, "/", 4), -1);
	assert_int_equal(cgroup_rules_match(NULL, 0, "/x", 0), -1);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What makes a matcher that tries every split of every star run for years. */
static void test_hostile_globs_end_soon(void **state)
{
	static char glob[4096], path[4096];
	double start = seconds();
	size_t n = 0;

	(void)state;
	/* /a*a*a*...b against /aaaa... */
	glob[n++] = '/';
	while (n < 2000) {
		glob[n++] = 'a';
		glob[n++] = '*';
	}
	strcpy(glob + n, "b");
	memset(path, 'a', 4000);
	path[0] = '/';
	path[4000] = '\0';
	assert_int_equal(cgroup_rule_glob_check(glob), 0);
	assert_false(cgroup_rule_glob_match(glob, path));
	/* a "**" before each "a", and a "b" that is not there */
	for (n = 0; n < 3500; n += 5)
		memcpy(glob + n, "/**/a", 5);
	strcpy(glob + n, "/b");
	for (n = 0; n < 4000; n += 2)
		memcpy(path + n, "/a", 2);
	path[n] = '\0';
	assert_false(cgroup_rule_glob_match(glob, path));
	/* both kinds at once */
	for (n = 0; n < 3500; n += 7)
		memcpy(glob + n, "/**/*a*", 7);
	strcpy(glob + n, "/b");
	for (n = 0; n < 3996; n += 6)
		memcpy(path + n, "/aaaaa", 6);
	path[n] = '\0';
	assert_int_equal(cgroup_rule_glob_check(glob), 0);
	assert_false(cgroup_rule_glob_match(glob, path));
	if (seconds() - start > 2.0)
		fail_msg("three matches took %.1f s", seconds() - start);
}

/* The definition, as slow as it likes. */
static bool slow_component(const char *g, size_t gn, const char *p, size_t pn)
{
	if (!gn)
		return !pn;
	if (*g == '*')
		return slow_component(g + 1, gn - 1, p, pn) || (pn && slow_component(g, gn, p + 1, pn - 1));
	return pn && (*g == '?' || *g == *p) && slow_component(g + 1, gn - 1, p + 1, pn - 1);
}

static bool slow_match(const char *g, const char *p)
{
	size_t gn, pn;

	if (!*g)
		return !*p;
	gn = strcspn(g + 1, "/");
	if (!*p)
		return false;
	pn = strcspn(p + 1, "/");
	if (gn == 2 && strncmp(g + 1, "**", 2) == 0)
		return g[3] ? slow_match(g + 3, p) || slow_match(g, p + 1 + pn) : true;
	return slow_component(g + 1, gn, p + 1, pn) && slow_match(g + 1 + gn, p + 1 + pn);
}

static void random_text(char *dst, const char *const *parts, size_t nr_parts, unsigned int *x)
{
	size_t n = 1 + (size_t)rand_r(x) % 5;

	for (*dst = '\0'; n; n--)
		strcat(dst, parts[(size_t)rand_r(x) % nr_parts]);
}

static void test_agrees_with_the_definition(void **state)
{
	static const char *const globs[] = { "/**", "/*", "/a", "/b", "/a*", "/*b", "/?", "/?b*", "/ab", "/*a*b" };
	static const char *const paths[] = { "/a", "/b", "/ab", "/ba", "/aab", "/abb" };
	unsigned int seed = 99, x = seed;
	char glob[64], path[64];

	(void)state;
	print_message("# seed %u\n", seed);
	for (int i = 0; i < 50000; i++) {
		random_text(glob, globs, ARRAY_SIZE(globs), &x);
		random_text(path, paths, ARRAY_SIZE(paths), &x);
		if (cgroup_rule_glob_match(glob, path) != slow_match(glob, path))
			fail_msg("`%s' and `%s': the definition says %d", glob, path, slow_match(glob, path));
	}
}

static void test_mutated_globs(void **state)
{
	unsigned int seed = 1, x = seed;

	(void)state;
	print_message("# seed %u\n", seed);
	for (int i = 0; i < 20000; i++) {
		/* Exactly as long as needed: a read behind the end is seen by the sanitizer. */
		size_t gn = 1 + (size_t)rand_r(&x) % 20, pn = 1 + (size_t)rand_r(&x) % 20;
		char *glob = calloc(1, gn + 1), *path = calloc(1, pn + 1);

		for (size_t k = 0; k < gn; k++)
			glob[k] = rand_r(&x) % 8 ? "/*?[]!-a^\xc3"[rand_r(&x) % 10] : (char)(1 + rand_r(&x) % 255);
		for (size_t k = 0; k < pn; k++)
			path[k] = rand_r(&x) % 8 ? "/a]-\xc3\xa4"[rand_r(&x) % 6] : (char)(1 + rand_r(&x) % 255);
		glob[0] = path[0] = '/';
		if (cgroup_rule_glob_check(glob) == 0)
			cgroup_rule_glob_match(glob, path);
		free(glob);
		free(path);
	}
}

static void test_protected_cgroups(void **state)
{
	static const char *const yes[] = { "/", "/init.scope", "/system.slice/sshd.service", "/system.slice/ssh.service",
					   "/system.slice/dbus.service", "/system.slice/kubelet.service",
					   "/system.slice/containerd.service", "/runtime.slice/crio.service", "/docker.service",
					   "/system.slice/schedd.service", "/system.slice/system-x.slice/sshd.service" };
	static const char *const no[] = { "/system.slice", "/system.slice/nginx.service", "/system.slice/xsshd.service",
					  "/system.slice/sshd.service.d", "/system.slice/sshd", "/system.slice/sshd.service/x",
					  /* given by whoever got the cgroup above */
					  "/system.slice/docker-1.scope/sshd.service", "/user.slice/user@0.service/sshd.service",
					  "/kubepods/pod1/sshd.service", "/x/init.scope", "/.slice/sshd.service", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!cgroup_protected(yes[i]))
			fail_msg("`%s' must be protected", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (cgroup_protected(no[i]))
			fail_msg("`%s' must not be protected", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_refused_globs),
		cmocka_unit_test(test_last_rule_wins_and_weaker_ones_follow),
		cmocka_unit_test(test_hostile_globs_end_soon),
		cmocka_unit_test(test_agrees_with_the_definition),
		cmocka_unit_test(test_mutated_globs),
		cmocka_unit_test(test_protected_cgroups),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
