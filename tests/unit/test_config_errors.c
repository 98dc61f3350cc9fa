// SPDX-License-Identifier: GPL-2.0-or-later
/* test_config_errors.c - every mistake is named with its place, and changes nothing */
#include "tests/unit/config_fixture.h"

enum { CONFIG_TEST_BYTES = 1 << 20 };

struct error_case {
	const char *yaml;
	const char *place;   /* "line:column", or "" for the whole file */
	const char *parts[3]; /* all must be in the message */
};

static const struct error_case cases[] = {
	/* syntax */
	{ "scheduler:\n\tmode: auto\n", "2:1", { "a tab cannot indent YAML" } },
	{ "scheduler: {mode: auto\n", "2:1", { "not YAML", "began at line 1" } },
	{ "a: b: c\n", "1:5", { "not YAML" } },
	{ "scheduler:\n  mode: auto\n api: {}\n", "3:2", { "not YAML" } },
	{ "scheduler: {mode: au\xffto}\n", "1:21", { "not valid UTF-8: byte 0xff" } },
	{ "# \xc3\xa4\xc3\xb6\n# \xc3(\n", "2:4", { "not valid UTF-8: byte 0x28" } },
	{ "mode: \x01\n", "1:7", { "the control character U+0001" } },
	{ "\xff\xfe" "a\0", "1:1", { "byte 0xff" } },
	{ "a: \x7f\n", "1:4", { "U+007F" } },
	{ "scheduler: &x {mode: auto}\n", "1:12", { "anchors" } },
	{ "scheduler: {mode: *x}\n", "1:19", { "aliases" } },
	{ "scheduler: {mode: !!str auto}\n", "1:19", { "tags" } },
	{ "scheduler: {}\n---\napi: {}\n", "2:1", { "a second document" } },
	{ "scheduler: {mode: auto, mode: active}\n", "1:25", { "key `mode'", "twice", "line 1 column 13" } },
	{ "scheduler: {}\napi: {}\nscheduler: {}\n", "3:1", { "key `scheduler'", "twice" } },
	{ "? {a: b}\n: c\n", "1:3", { "a key must be a single word" } },
	{ "a: [[[[[[[[[1]]]]]]]]]\n", "1:11", { "nested deeper than 8" } },
	{ "api: {group: \"a\\0b\"}\n", "1:14", { "NUL" } },
	/* shape */
	{ "just text\n", "1:1", { "must be a mapping (key: value), not a single value" } },
	{ "- a\n", "1:1", { "must be a mapping", "not a list" } },
	{ "scheduler: auto\n", "1:12", { "key `scheduler'", "value `auto'", "must be a mapping" } },
	{ "scheduler: [mode]\n", "1:12", { "key `scheduler'", "not a list" } },
	{ "rules: {cgroup: /a}\n", "1:8", { "key `rules'", "must be a list, not a mapping" } },
	{ "rules:\n  - /a\n", "2:5", { "key `rules[0]'", "must be a mapping" } },
	{ "classes: {web: lc}\n", "1:16", { "key `classes.web'", "must be a mapping" } },
	{ "scheduler:\n  mode: [auto]\n", "2:9", { "key `scheduler.mode'", "must be auto, active, observe, paused or detached, not a list" } },
	{ "scheduler:\n  mode:\n", "2:8", { "key `scheduler.mode'", "must be auto, active, observe, paused or detached, not nothing" } },
	/* unknown keys */
	{ "shceduler: {}\n", "1:1", { "key `shceduler'", "did you mean `scheduler'?" } },
	{ "foo: {}\n", "1:1", { "key `foo'", "allowed are scheduler, allocator, api, metrics, leases, classes, rules" } },
	{ "scheduler: {mdoe: auto}\n", "1:13", { "key `scheduler.mdoe'", "value `auto'", "did you mean `mode'?" } },
	{ "scheduler: {x: 1}\n", "1:13", { "allowed are mode, alive_ms, watchdog, unsupported" } },
	{ "classes: {web: {kind: lc, garantee: 2}}\n", "1:27", { "key `classes.web.garantee'", "did you mean `guarantee'?" } },
	{ "rules: [{cgruop: /a, class: lc}]\n", "1:10", { "key `rules[0].cgruop'", "did you mean `cgroup'?" } },
	/* later versions */
	{ "kubernetes: {aliases: no}\n", "1:1", { "key `kubernetes'", "not supported yet by this version" } },
	{ "allocator: {policy: best}\n", "1:21", { "key `allocator.policy'", "must be shenango, static or utilisation" } },
	{ "allocator: {interval: 50us}\n", "1:23", { "key `allocator.interval'", "set allocator.poll_cpu too" } },
	{ "allocator: {grace: 50us}\n", "1:13", { "key `allocator.grace'", "not supported yet by this version" } },
	{ "ceilings: []\n", "1:1", { "not supported yet by this version" } },
	{ "kubernetes: {}\n", "1:1", { "not supported yet by this version" } },
	{ "scheduler: {fallback: cgroup}\n", "1:13", { "key `scheduler.fallback'", "not supported yet by this version" } },
	{ "scheduler: {mode: unset}\n", "1:19", { "value `unset'", "must be auto, active, observe, paused or detached" } },
	{ "api: {listen: \"\"}\n", "1:7", { "key `api.listen'", "not supported yet by this version" } },
	{ "metrics: {per_cgroup: no}\n", "1:11", { "not supported yet by this version" } },
	{ "rules: [{unit: nginx.service, class: lc}]\n", "1:10", { "key `rules[0].unit'", "not supported yet" } },
	{ "rules: [{pod: {namespace: shop}, class: lc}]\n", "1:10", { "key `rules[0].pod'", "not supported yet" } },
	{ "classes: {lc: {policy: eevdf}}\n", "1:24", { "value `eevdf'", "must be vtime, fifo" } },
	{ "classes: {lc: {quantum: 50us}}\n", "1:25", { "100us to 1s" } },
	/* values */
	{ "scheduler: {mode: Auto}\n", "1:19", { "value `Auto'", "must be auto, active, observe, paused or detached" } },
	{ "scheduler: {alive_ms: 5}\n", "1:23", { "10 to 60000, or 0" } },
	{ "scheduler: {alive_ms: 100ms}\n", "1:23", { "whole number of milliseconds" } },
	{ "scheduler: {watchdog: 31s}\n", "1:23", { "1s to 30s" } },
	{ "scheduler: {watchdog: 30}\n", "1:23", { "1s to 30s" } },
	{ "scheduler: {unsupported: ignore}\n", "1:26", { "exit or stay" } },
	{ "api: {socket_mode: 0770}\n", "1:20", { "without execute bits" } },
	{ "api: {socket_mode: 0060}\n", "1:20", { "0600 to 0666" } },
	{ "api: {socket_mode: 0o660}\n", "1:20", { "octal" } },
	{ "api: {group: \"a:b\"}\n", "1:14", { "the name of a group" } },
	{ "metrics: {listen: localhost:9770}\n", "1:19", { "address:port" } },
	{ "metrics: {listen: \"127.0.0.1\"}\n", "1:19", { "address:port" } },
	{ "metrics: {listen: \"127.0.0.1:0\"}\n", "1:19", { "address:port" } },
	{ "metrics: {listen: \"127.0.0.1:65536\"}\n", "1:19", { "address:port" } },
	{ "metrics: {listen: \"::1:9770\"}\n", "1:19", { "address:port" } },
	{ "metrics: {max_series: -1}\n", "1:23", { "0 to 100000" } },
	{ "leases: {max_ttl: 25h}\n", "1:19", { "key `leases.max_ttl'", "1s to 24h" } },
	{ "leases: {max_ttl: 999ms}\n", "1:19", { "1s to 24h" } },
	{ "leases: {max: 0}\n", "1:15", { "1 to 1024" } },
	{ "leases: {max: 1025}\n", "1:15", { "1 to 1024" } },
	{ "leases: {ttl: 1h}\n", "1:10", { "key `leases.ttl'", "max_ttl" } },
	/* classes */
	{ "classes: {Web: {kind: lc}}\n", "1:11", { "key `classes.Web'", "not a class name" } },
	{ "classes: {\"a\\nb\": {kind: lc}}\n", "1:11", { "key `classes.a\\x0ab'", "not a class name" } },
	{ "classes:\n  web: {weight: 5}\n", "2:3", { "key `classes.web.kind'", "missing" } },
	{ "classes:\n  web:\n", "2:3", { "key `classes.web.kind'", "missing" } },
	{ "classes: {web: {kind: fast}}\n", "1:23", { "value `fast'", "latency-critical, normal or best-effort" } },
	{ "classes: {lc: {kind: normal}}\n", "1:22", { "key `classes.lc.kind'", "built-in class cannot be changed" } },
	{ "classes: {lc: {weight: 1}, latency-critical: {weight: 2}}\n", "1:28", { "in this file twice", "line 1" } },
	{ "classes: {lc: {guarantee: 9}}\n", "1:27", { "value `9'", "above the 8 online CPUs" } },
	{ "classes: {lc: {guarantee: 4, burst: 3}}\n", "1:37", { "key `classes.latency-critical'", "burst: 3 is below the guarantee of 4" } },
	{ "classes: {lc: {slice: 2}}\n", "1:23", { "a duration from 100us to 1s" } },
	/* rules */
	{ "rules: [{cgroup: a/b, class: lc}]\n", "1:18", { "key `rules[0].cgroup'", "value `a/b'", "absolute cgroup path" } },
	{ "rules: [{cgroup: /a/, class: lc}]\n", "1:18", { "absolute cgroup path" } },
	{ "rules: [{cgroup: /a**, class: lc}]\n", "1:18", { "** stands alone" } },
	{ "rules: [{cgroup: /a, class: web}]\n", "1:29", { "key `rules[0].class'", "value `web'", "no such class" } },
	{ "rules: [{cgroup: /a}]\n", "1:9", { "key `rules[0].class'", "missing" } },
	{ "rules: [{class: lc}]\n", "1:9", { "key `rules[0].cgroup'", "missing" } },
	{ "rules:\n- {cgroup: /a, class: lc}\n- {cgroup: /a, class: be}\n", "3:12",
	  { "key `rules[1].cgroup'", "duplicate rule", "etc/schedd.yaml:2:12" } },
};

static void check_case(struct fixture *f, const struct error_case *c)
{
	_cleanup_free_ char *text = NULL;
	char place[64];
	size_t i;
	int r;

	put(f, "etc/schedd.yaml", c->yaml);
	r = load(f);
	text = errors_text(f);
	snprintf(place, sizeof(place), "etc/schedd.yaml:%s%s", c->place, *c->place ? ":" : "");
	if (r != -EINVAL || strncmp(text, place, strlen(place)))
		fail_msg("%s--- gave %d, %s--- not at %s", c->yaml, r, text, place);
	for (i = 0; i < ARRAY_SIZE(c->parts) && c->parts[i]; i++)
		if (!strstr(text, c->parts[i]))
			fail_msg("%s--- gave %s--- without `%s'", c->yaml, text, c->parts[i]);
	if (f->config->nr_errors != 1)
		fail_msg("%s--- gave more than one error: %s", c->yaml, text);
}

static void test_each_mistake_is_named_with_its_place(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(*state, &cases[i]);
}

static void test_several_errors_are_told_at_once(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/schedd.yaml", "scheduler:\n  mode: fast\n  alive: 5\nrules:\n  - {cgroup: /a, class: web}\n");
	put(f, "etc/conf.d/1.yaml", "api: [\n");
	assert_errors(f, load(f),
		      "etc/schedd.yaml:2:9: key `scheduler.mode': value `fast': must be auto, active, observe, paused or detached\n"
		      "etc/schedd.yaml:3:3: key `scheduler.alive': value `5': unknown key; allowed are mode, alive_ms, watchdog, "
		      "unsupported\n"
		      "etc/conf.d/1.yaml:2:1: not YAML: did not find expected node content (while parsing a flow node that began "
		      "at line 2)\n"
		      "etc/schedd.yaml:5:25: key `rules[0].class': value `web': no such class; define it under classes: or use "
		      "latency-critical, normal or best-effort\n");
}

static void test_errors_end_at_the_thirty_second(void **state)
{
	struct fixture *f = *state;
	char text[4096] = "metrics:\n";
	int i;

	for (i = 0; i < 100; i++)
		sprintf(text + strlen(text), "  key%d: 1\n", i);
	put(f, "etc/schedd.yaml", text);
	assert_int_equal(load(f), -EINVAL);
	assert_int_equal(f->config->nr_errors, 32);
	assert_non_null(strstr(f->config->errors[31].message, "more errors"));
}

static void test_a_duplicate_rule_in_another_file_names_both(void **state)
{
	struct fixture *f = *state;

	put(f, "usr/conf.d/1.yaml", "rules:\n- {cgroup: /a, class: lc}\n");
	put(f, "etc/conf.d/2.yaml", "\nrules: [{class: be, cgroup: /a}]\n");
	assert_int_equal(load(f), -EINVAL);
	assert_int_equal(f->config->nr_errors, 1);
	assert_int_equal(f->config->errors[0].line, 2);
	assert_int_equal(f->config->errors[0].column, 29);
	assert_non_null(strstr(f->config->errors[0].file, "etc/conf.d/2.yaml"));
	assert_non_null(strstr(f->config->errors[0].message, "usr/conf.d/1.yaml:2:12"));
}

static void test_the_seventeenth_class_is_refused(void **state)
{
	struct fixture *f = *state;
	char text[2048] = "classes:\n  lc: {weight: 1}\n";
	int i;

	for (i = 0; i < 13; i++)
		sprintf(text + strlen(text), "  c%d: {kind: normal}\n", i);
	put(f, "etc/schedd.yaml", text);
	assert_loaded(f, load(f));
	assert_int_equal(f->config->nr_classes, 14);
	strcat(text, "  last: {kind: normal}\n");
	put(f, "etc/schedd.yaml", text);
	assert_errors(f, load(f), "etc/schedd.yaml:16:3: key `classes.last': at most 16 classes, 3 of them built in; remove one\n");
}

static void test_keys_that_are_wrong_together_across_files(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/schedd.yaml", "classes: {web: {kind: lc, burst: 2}}\n");
	put(f, "etc/conf.d/1.yaml", "classes: {web: {guarantee: 3}}\n");
	assert_errors(f, load(f), "etc/schedd.yaml:1:34: key `classes.web': burst: 2 is below the guarantee of 3 CPUs; raise "
				  "burst or lower guarantee\n");
}

static void test_a_burst_below_a_default_guarantee(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/schedd.yaml", "classes: {normal: {burst: 1}}\n");
	assert_loaded(f, load_cpus(f, 8));
	assert_errors(f, load_cpus(f, 64), "etc/schedd.yaml:1:27: key `classes.normal': burst: 1 is below the guarantee of 6 "
					   "CPUs; raise burst or lower guarantee\n");
}

static void test_the_kind_may_come_from_any_file(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/schedd.yaml", "classes: {web: {burst: 2}}\nrules: [{cgroup: /a, class: web}]\n");
	put(f, "etc/conf.d/1.yaml", "classes: {web: {kind: lc}}\n");
	assert_loaded(f, load(f));
}

static void test_without_a_cpu_count_guarantees_are_not_judged(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/schedd.yaml", "classes: {lc: {guarantee: 900}}\n");
	assert_loaded(f, load_cpus(f, 0));
	assert_int_equal(load_cpus(f, 899), -EINVAL);
	assert_loaded(f, load_cpus(f, 900));
}

static void test_files_that_cannot_be_read_are_errors(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%s/etc/conf.d/dir.yaml", f->root);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/etc/conf.d/fifo.yaml", f->root);
	assert_int_equal(mkfifo(path, 0644), 0);
	snprintf(path, sizeof(path), "%s/etc/conf.d/gone.yaml", f->root);
	assert_int_equal(symlink("/nonexistent", path), 0);
	put(f, "etc/conf.d/name.yml", "");
	assert_int_equal(load(f), -EISDIR);
	text = errors_text(f);
	assert_string_equal(text, "etc/conf.d: value `name.yml': would not be read: the name of a drop-in must end in .yaml; "
				  "rename it\n"
				  "etc/conf.d/dir.yaml: cannot read the file: Is a directory\n"
				  "etc/conf.d/fifo.yaml: not a regular file\n"
				  "etc/conf.d/gone.yaml: cannot open the file: No such file or directory\n");
}

static void test_an_unreadable_file_is_an_error(void **state)
{
	struct fixture *f = *state;
	char path[128];
	int r;

	/* Root reads everything: become somebody for the test. */
	put(f, "etc/schedd.yaml", "");
	snprintf(path, sizeof(path), "%s/etc/schedd.yaml", f->root);
	chmod(f->root, 0755);
	chmod(path, 0);
	if (geteuid() == 0 && seteuid(65534) < 0)
		skip();
	r = load(f);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, -EACCES);
	assert_int_equal(f->config->nr_errors, 1);
	assert_non_null(strstr(f->config->errors[0].message, "Permission denied"));
}

static void test_a_huge_file_is_refused(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = malloc(CONFIG_TEST_BYTES + 1);

	memset(text, '#', CONFIG_TEST_BYTES + 1);
	put_bytes(f, "etc/schedd.yaml", text, CONFIG_TEST_BYTES);
	assert_loaded(f, load(f));
	put_bytes(f, "etc/schedd.yaml", text, CONFIG_TEST_BYTES + 1);
	assert_errors(f, load(f), "etc/schedd.yaml: larger than 1048576 bytes\n");
}

static void test_many_small_values_are_refused_cheaply(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *text = malloc(CONFIG_TEST_BYTES);
	size_t n = strlen(strcpy(text, "rules: ["));

	while (n + 4 < CONFIG_TEST_BYTES) {
		text[n++] = 'a';
		text[n++] = ',';
	}
	text[n++] = ']';
	put_bytes(f, "etc/schedd.yaml", text, n);
	assert_errors(f, load(f), "etc/schedd.yaml:1:131075: more than 65536 values in one file\n");
}

static void test_paths_that_are_not_there(void **state)
{
	struct fixture *f = *state;
	char path[128];

	assert_int_equal(config_load_path("/nonexistent/x.yaml", 8, &f->config), -ENOENT);
	assert_int_equal(f->config->nr_errors, 1);
	config_free(f->config);
	f->config = NULL;
	snprintf(path, sizeof(path), "%s/usr", f->root);
	assert_int_equal(config_load_path(path, 8, &f->config), -EINVAL);
	assert_non_null(strstr(f->config->errors[0].message, "neither schedd.yaml nor conf.d"));
}

static const char fuzz_start[] =
	"scheduler: {mode: auto, alive_ms: 100, watchdog: 30s, unsupported: exit}\n"
	"classes:\n"
	"  web: {kind: latency-critical, guarantee: 2, burst: 6, lend: idle, slice: 2ms, quantum: 0}\n"
	"  batch:\n"
	"    kind: best-effort\n"
	"    weight: 50 # half\n"
	"rules:\n"
	"  - {cgroup: \"/batch.slice/**\", class: batch}\n"
	"  - cgroup: '/system.slice/nginx.service'\n"
	"    class: web\n"
	"api: {socket_mode: \"0660\", group: schedd}\n"
	"metrics: {listen: \"127.0.0.1:9770\", max_series: 200}\n";

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 24;
}

static size_t mutate(char *text, size_t n, uint64_t *seed)
{
	static const char signs[] = "{}[]:,-#&*!|>'\"%@`~?\n\t \\0a";
	size_t i = random_next(seed) % n, len;

	switch (random_next(seed) % 4) {
	case 0:
		text[i] = (char)random_next(seed);
		return n;
	case 1:
		text[i] = signs[random_next(seed) % (sizeof(signs) - 1)];
		return n;
	case 2:
		len = random_next(seed) % (n - i);
		memmove(text + i, text + i + len, n - i - len);
		return n - len;
	default:
		return i + 1;
	}
}

static void test_mutated_files_load_whole_or_name_a_place(void **state)
{
	struct fixture *f = *state;
	char text[sizeof(fuzz_start)];
	uint64_t seed = 20261130;
	int round, r, accepted = 0;
	size_t n, i;

	print_message("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 5000; round++) {
		memcpy(text, fuzz_start, sizeof(text));
		n = sizeof(text) - 1;
		for (i = random_next(&seed) % 3 + 1; i && n > 1; i--)
			n = mutate(text, n, &seed);
		put_bytes(f, "etc/schedd.yaml", text, n);
		r = load(f);
		assert_true(r == 0 || r == -EINVAL);
		assert_true(r == 0 || f->config->nr_errors > 0);
		accepted += r == 0;
		for (i = 0; i < f->config->nr_errors; i++) {
			assert_true(f->config->errors[i].line > 0 && f->config->errors[i].column > 0);
			assert_true(*f->config->errors[i].message);
		}
	}
	print_message("# %d of 5000 accepted\n", accepted);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_each_mistake_is_named_with_its_place),
		T(test_several_errors_are_told_at_once),
		T(test_errors_end_at_the_thirty_second),
		T(test_a_duplicate_rule_in_another_file_names_both),
		T(test_the_seventeenth_class_is_refused),
		T(test_keys_that_are_wrong_together_across_files),
		T(test_a_burst_below_a_default_guarantee),
		T(test_the_kind_may_come_from_any_file),
		T(test_without_a_cpu_count_guarantees_are_not_judged),
		T(test_files_that_cannot_be_read_are_errors),
		T(test_an_unreadable_file_is_an_error),
		T(test_a_huge_file_is_refused),
		T(test_many_small_values_are_refused_cheaply),
		T(test_paths_that_are_not_there),
		T(test_mutated_files_load_whole_or_name_a_place),
	};

	return cmocka_run_group_tests_name("config_errors", tests, NULL, NULL);
}
