// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ctl_cli.c - schedctl's command line: words, options, durations, suggestions, help */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/ctl/cli.c"

static int run_nothing(struct ctl *ctl)
{
	(void)ctl;
	return 0;
}

static const struct cli_option set_options[] = {
	{ "ttl", 0, "DURATION", "end", false },
	{ "force", 'f', NULL, "force", false },
	{ "tag", 't', "NAME...", "tags", false },
	{ NULL, 0, NULL, NULL, false },
};

static const struct cli_command commands[] = {
	{ "status", NULL, "", "how it is", 0, 0, CLI_TABLE | CLI_JSON, NULL, run_nothing },
	{ "mode", NULL, "[MODE]", "the mode", 0, 1, CLI_ALL, NULL, run_nothing },
	{ "class", "set", "TARGET CLASS", "put", 2, 2, CLI_ALL, set_options, run_nothing },
	{ "class", "list", "", "all", 0, 0, CLI_ALL, NULL, run_nothing },
	{ NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL },
};

/* Parses words that are separated by one blank. */
static int parse(const char *line, struct cli *cli, char *error, size_t error_size)
{
	static char words[512];
	char *argv[64] = { "schedctl" }, *at;
	int argc = 1;

	strcpy(words, line);
	for (at = strtok(words, " "); at; at = strtok(NULL, " "))
		argv[argc++] = at;
	*error = '\0';
	return cli_parse(commands, argc, argv, cli, error, error_size);
}

static void expect_error(const char *line, const char *part)
{
	struct cli cli = { .nr_args = 99 };
	char error[512];

	if (parse(line, &cli, error, sizeof(error)) != -EINVAL)
		fail_msg("`%s' was accepted", line);
	if (!strstr(error, part))
		fail_msg("`%s' gave `%s', which lacks `%s'", line, error, part);
	assert_int_equal(cli.nr_args, 99);
}

static void test_words_and_options_in_any_order(void **state)
{
	static const char *const lines[] = {
		"class set /x lc --ttl 5s -f -o json",     "class set --ttl=5s -f /x -ojson lc",
		"-o json class set /x --force lc --ttl 5s", "class -o json set -fojson --ttl 5s -- /x lc",
	};
	struct cli cli;
	char error[512];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		if (parse(lines[i], &cli, error, sizeof(error)) < 0)
			fail_msg("`%s': %s", lines[i], error);
		assert_ptr_equal(cli.command, &commands[2]);
		assert_int_equal(cli.nr_args, 2);
		assert_string_equal(cli.args[0], "/x");
		assert_string_equal(cli.args[1], "lc");
		assert_string_equal(cli_value(&cli, "ttl"), "5s");
		assert_true(cli_flag(&cli, "force"));
		assert_int_equal(cli.format, CLI_JSON);
	}
}

static void test_defaults(void **state)
{
	struct cli cli;
	char error[512];

	(void)state;
	assert_int_equal(parse("mode", &cli, error, sizeof(error)), 0);
	assert_int_equal(cli.nr_args, 0);
	assert_int_equal(cli.format, CLI_TABLE);
	assert_int_equal(cli.timeout_ns, 30000000000ull);
	assert_null(cli.socket);
	assert_false(cli.no_headers);
}

static void test_options_that_may_be_repeated(void **state)
{
	char line[512] = "class set /x lc", error[512];
	struct cli cli;

	(void)state;
	assert_int_equal(parse("class set /x --tag a lc -tb --ttl 5s --tag=c", &cli, error, sizeof(error)), 0);
	assert_string_equal(cli_repeat(&cli, "tag", 0), "a");
	assert_string_equal(cli_repeat(&cli, "tag", 1), "b");
	assert_string_equal(cli_repeat(&cli, "tag", 2), "c");
	assert_null(cli_repeat(&cli, "tag", 3));
	assert_null(cli_repeat(&cli, "force", 0));
	assert_string_equal(cli_value(&cli, "ttl"), "5s");
	for (int i = 0; i < CLI_MAX_REPEATS; i++)
		strcat(line, " --tag=x");
	assert_int_equal(parse(line, &cli, error, sizeof(error)), 0);
	strcat(line, " --tag=x");
	expect_error(line, "too often");
	expect_error("class set /x lc --tag", "--tag needs a value");
}

static void test_a_dash_and_two_dashes(void **state)
{
	struct cli cli;
	char error[512];

	(void)state;
	assert_int_equal(parse("class set -- --ttl -", &cli, error, sizeof(error)), 0);
	assert_string_equal(cli.args[0], "--ttl");
	assert_string_equal(cli.args[1], "-");
	assert_null(cli_value(&cli, "ttl"));
}

static void test_durations(void **state)
{
	static const struct {
		const char *line;
		uint64_t ns;
	} good[] = {
		{ "status --timeout 500ms", 500000000 },   { "status --timeout 1m30s", 90000000000ull },
		{ "status --timeout 1.5s", 1500000000 },   { "status --timeout 2min", 120000000000ull },
		{ "status --timeout 1us", 1000 },
	};
	struct cli cli;
	char error[512];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		if (parse(good[i].line, &cli, error, sizeof(error)) < 0)
			fail_msg("`%s': %s", good[i].line, error);
		assert_int_equal(cli.timeout_ns, good[i].ns);
	}
	expect_error("status --timeout 5", "duration");
	expect_error("status --timeout 0", "duration");
	expect_error("status --timeout -1s", "duration");
	expect_error("status --timeout abc", "duration");
}

static void test_errors_say_the_one_thing(void **state)
{
	(void)state;
	expect_error("", "no command");
	expect_error("stauts", "did you mean `status'");
	expect_error("clas set", "did you mean `class'");
	expect_error("class sett", "did you mean `set'");
	expect_error("set", "did you mean `class set'");
	expect_error("xyzzy", "unknown command `xyzzy'; see `schedctl --help'");
	expect_error("class xyzzy", "see `schedctl class --help'");
	expect_error("class", "needs a verb");
	expect_error("class set /x", "missing: schedctl class set TARGET CLASS");
	expect_error("class set /x lc more", "`more' is too much");
	expect_error("class set /x lc --tll 5s", "did you mean `--ttl'");
	expect_error("class set /x lc --zzzzzzz", "unknown option `--zzzzzzz'");
	expect_error("class set /x lc --ttl", "--ttl needs a value");
	expect_error("class set /x lc --force=yes", "--force takes no value");
	expect_error("class set /x lc --ttl 1s --ttl 2s", "twice");
	expect_error("--ttl 5s class set /x lc", "belongs to `class set'");
	expect_error("status -z", "unknown option `-z'");
	expect_error("status -o", "-o needs a value");
	expect_error("status -o yaml", "table, wide, json or name");
	expect_error("status -o name", "does not exist for `status'");
	expect_error("--address a:1 status", "not supported yet");
	expect_error("status --cacert f", "not supported yet");
}

static void test_control_characters_are_escaped(void **state)
{
	(void)state;
	expect_error("sta\x1b[31m", "\\x1b");
}

static void test_help_at_every_level(void **state)
{
	struct cli cli;
	char error[512], *text = NULL;
	size_t size = 0;
	FILE *f;

	(void)state;
	assert_int_equal(parse("class set --help", &cli, error, sizeof(error)), 0);
	assert_true(cli.help);
	f = open_memstream(&text, &size);
	cli_help(commands, &cli, f);
	fclose(f);
	assert_non_null(strstr(text, "Usage: schedctl class set TARGET CLASS [OPTION]..."));
	assert_non_null(strstr(text, "--ttl DURATION"));
	assert_null(strstr(text, "--cacert"));
	free(text);
	text = NULL;
	assert_int_equal(parse("class -h", &cli, error, sizeof(error)), 0);
	f = open_memstream(&text, &size);
	cli_help(commands, &cli, f);
	fclose(f);
	assert_non_null(strstr(text, "class list"));
	assert_null(strstr(text, "  status"));
	free(text);
	assert_int_equal(parse("--help", &cli, error, sizeof(error)), 0);
	assert_null(cli.noun);
}

static void test_nearest(void **state)
{
	static const char *const words[] = { "status", "doctor", "cgroup", "class", NULL };

	(void)state;
	assert_string_equal(cli_nearest("docter", words), "doctor");
	assert_string_equal(cli_nearest("statsu", words), "status");
	assert_string_equal(cli_nearest("cgr", words), "cgroup");
	assert_null(cli_nearest("", words));
	assert_null(cli_nearest("reallynotaword", words));
	assert_null(cli_nearest("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", words));
}

static void test_mutated_lines_never_crash(void **state)
{
	static const char *const start[] = {
		"class set /x lc --ttl 5s -f -o json", "--timeout=1min mode active -onam", "status --help --no-headers",
		"class list --socket /a -- -x",
	};
	uint64_t seed = 7;
	char line[128], error[64];
	struct cli cli;
	int round, change;

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 20000; round++) {
		strcpy(line, start[(size_t)round % ARRAY_SIZE(start)]);
		for (change = 0; change < 3; change++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			line[(seed >> 40) % strlen(line)] = (char)(seed >> 33 & 1 ? (seed >> 32) | 1 : (seed >> 34) % 94 + 33);
		}
		memset(error, 'x', sizeof(error));
		if (parse(line, &cli, error, sizeof(error)) < 0 && (!*error || strlen(error) >= sizeof(error)))
			fail_msg("round %d: no message for `%s'", round, line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_and_options_in_any_order),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_options_that_may_be_repeated),
		cmocka_unit_test(test_a_dash_and_two_dashes),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_errors_say_the_one_thing),
		cmocka_unit_test(test_control_characters_are_escaped),
		cmocka_unit_test(test_help_at_every_level),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_mutated_lines_never_crash),
	};

	return cmocka_run_group_tests_name("ctl_cli", tests, NULL, NULL);
}
