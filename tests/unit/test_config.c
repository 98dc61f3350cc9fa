// SPDX-License-Identifier: GPL-2.0-or-later
/* test_config.c - files, drop-ins, merging and what is read from them */
#include "tests/unit/config_fixture.h"

#include "daemon/config_schema.h"

static void test_no_file_gives_the_defaults(void **state)
{
	struct fixture *f = *state;

	assert_loaded(f, load(f));
	assert_int_equal(f->config->mode, MODE_AUTO);
	assert_int_equal(f->config->alive_max_ns, 100000000);
	assert_int_equal(f->config->watchdog_ns, 30000000000);
	assert_false(f->config->unsupported_stay);
	assert_int_equal(f->config->socket_mode, 0660);
	assert_string_equal(f->config->group, "schedd");
	assert_string_equal(f->config->metrics_listen, "127.0.0.1:9770");
	assert_int_equal(f->config->metrics_max_series, 200);
	assert_int_equal(f->config->nr_classes, 0);
	assert_int_equal(f->config->nr_rules, 0);
	assert_int_equal(f->config->nr_files, 0);
}

static void test_a_missing_directory_is_no_error(void **state)
{
	struct fixture *f = *state;

	f->dirs[0] = "/nonexistent/schedd";
	assert_loaded(f, load(f));
}

static void test_every_key_is_read(void **state)
{
	struct fixture *f = *state;
	const struct class_settings *s;

	put(f, "etc/schedd.yaml",
	    "scheduler: {mode: active, alive_ms: 250, watchdog: 20s, unsupported: stay}\n"
	    "classes:\n"
	    "  web: {kind: lc, guarantee: 2, burst: 6, lend: never, slice: 2ms, quantum: 0, policy: vtime,\n"
	    "        weight: 300, exclusive_smt: yes, congestion: 20us, wakeup_target: 100us}\n"
	    "rules:\n"
	    "- {cgroup: /system.slice/nginx.service, class: web}\n"
	    "- {cgroup: /batch.slice/**, class: be}\n"
	    "api: {socket_mode: \"0666\", group: \"\"}\n"
	    "metrics: {listen: \"[::1]:9771\", max_series: 10}\n"
	    "leases: {max_ttl: 90min, max: 7}\n");
	assert_loaded(f, load(f));
	assert_int_equal(f->config->mode, MODE_ACTIVE);
	assert_int_equal(f->config->alive_max_ns, 250000000);
	assert_int_equal(f->config->watchdog_ns, 20000000000);
	assert_true(f->config->unsupported_stay);
	assert_int_equal(f->config->socket_mode, 0666);
	assert_string_equal(f->config->group, "");
	assert_string_equal(f->config->metrics_listen, "[::1]:9771");
	assert_int_equal(f->config->metrics_max_series, 10);
	assert_true(f->config->lease_ttl_max_ns == 5400 * UINT64_C(1000000000));
	assert_int_equal(f->config->lease_max, 7);
	assert_int_equal(f->config->nr_classes, 1);
	assert_string_equal(f->config->classes[0].name, "web");
	s = &f->config->classes[0].settings;
	assert_int_equal(s->set, CLASS_FIELD_ALL);
	assert_int_equal(s->kind, SCHEDD_KIND_LATENCY_CRITICAL);
	assert_int_equal(s->guarantee_cpus, 2);
	assert_int_equal(s->burst_cpus, 6);
	assert_int_equal(s->lend, CLASS_LEND_NEVER);
	assert_int_equal(s->slice_ns, 2000000);
	assert_int_equal(s->weight, 300);
	assert_true(s->exclusive_smt);
	assert_int_equal(s->congestion_ns, 20000);
	assert_int_equal(s->wakeup_target_ns, 100000);
	assert_int_equal(f->config->nr_rules, 2);
	assert_string_equal(f->config->rules[1].cgroup_glob, "/batch.slice/**");
	assert_string_equal(f->config->rules[1].class_name, "best-effort");
	assert_non_null(strstr(f->config->rules[1].origin, "/etc/schedd.yaml:7"));
	assert_non_null(strstr(f->config->classes[0].origin, "/etc/schedd.yaml:3"));
}

static void test_every_mode_is_read_and_printed(void **state)
{
	struct fixture *f = *state;

	for (int mode = MODE_AUTO; mode < NR_MODES; mode++) {
		struct arena arena = { 0 };
		char text[64];

		snprintf(text, sizeof(text), "scheduler: {mode: %s}\n", mode_name(mode));
		put(f, "etc/schedd.yaml", text);
		assert_loaded(f, load(f));
		assert_int_equal(f->config->mode, mode);
		snprintf(text, sizeof(text), "mode: %s\n", mode_name(mode));
		assert_non_null(strstr(config_to_yaml(f->config, &arena), text));
		arena_free(&arena);
	}
}

static void test_the_highest_main_file_stands_alone(void **state)
{
	struct fixture *f = *state;

	put(f, "usr/schedd.yaml", "scheduler: {mode: active, alive_ms: 500}\n");
	put(f, "run/schedd.yaml", "scheduler: {mode: detached}\n");
	assert_loaded(f, load(f));
	assert_int_equal(f->config->mode, MODE_DETACHED);
	assert_int_equal(f->config->alive_max_ns, 100000000);
	assert_int_equal(f->config->nr_files, 1);
}

static void test_dropins_are_sorted_by_name_and_replaced_by_name(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/schedd.yaml", "scheduler: {alive_ms: 11}\nmetrics: {max_series: 11}\n");
	put(f, "etc/conf.d/10-a.yaml", "scheduler: {alive_ms: 12}\n");
	put(f, "usr/conf.d/20-b.yaml", "scheduler: {alive_ms: 13}\n");
	put(f, "usr/conf.d/10-a.yaml", "metrics: {max_series: 99}\n");
	put(f, "run/conf.d/.hidden.yaml", "not yaml at all: [\n");
	put(f, "run/conf.d/README", "nor this: [\n");
	assert_loaded(f, load(f));
	assert_int_equal(f->config->alive_max_ns, 13000000);
	assert_int_equal(f->config->metrics_max_series, 11);
	assert_int_equal(f->config->nr_files, 3);
	assert_non_null(strstr(f->config->files[1], "etc/conf.d/10-a.yaml"));
	assert_non_null(strstr(f->config->files[2], "usr/conf.d/20-b.yaml"));
}

static void test_a_link_to_dev_null_disables_a_vendor_file(void **state)
{
	struct fixture *f = *state;
	char path[128];

	put(f, "usr/schedd.yaml", "scheduler: {mode: active}\n");
	put(f, "usr/conf.d/10-vendor.yaml", "scheduler: {alive_ms: 500}\n");
	snprintf(path, sizeof(path), "%s/etc/conf.d/10-vendor.yaml", f->root);
	assert_int_equal(symlink("/dev/null", path), 0);
	snprintf(path, sizeof(path), "%s/etc/schedd.yaml", f->root);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_loaded(f, load(f));
	assert_int_equal(f->config->mode, MODE_AUTO);
	assert_int_equal(f->config->alive_max_ns, 100000000);
	assert_int_equal(f->config->nr_files, 0);
}

static void test_classes_merge_by_name_and_key(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/schedd.yaml", "classes:\n  web: {kind: lc, guarantee: 2, weight: 5}\n  lc: {weight: 7}\n");
	put(f, "etc/conf.d/50-more.yaml", "classes:\n  web: {guarantee: 3}\n  latency-critical: {slice: 1ms}\n  normal:\n");
	assert_loaded(f, load(f));
	assert_int_equal(f->config->nr_classes, 3);
	assert_int_equal(f->config->classes[0].settings.guarantee_cpus, 3);
	assert_int_equal(f->config->classes[0].settings.weight, 5);
	assert_string_equal(f->config->classes[1].name, "latency-critical");
	assert_int_equal(f->config->classes[1].settings.weight, 7);
	assert_int_equal(f->config->classes[1].settings.slice_ns, 1000000);
	assert_int_equal(f->config->classes[1].settings.kind, SCHEDD_KIND_LATENCY_CRITICAL);
	assert_string_equal(f->config->classes[2].name, "normal");
}

static void test_rules_append_in_order_of_reading(void **state)
{
	struct fixture *f = *state;

	put(f, "etc/conf.d/20.yaml", "rules: [{cgroup: /b, class: web}]\n");
	put(f, "usr/conf.d/10.yaml", "rules:\n  - {cgroup: /a, class: lc}\n  - {cgroup: \"/[x]\", class: default}\n");
	put(f, "run/schedd.yaml", "classes: {web: {kind: normal}}\nrules: [{cgroup: \"/**\", class: be}]\n");
	assert_loaded(f, load(f));
	assert_int_equal(f->config->nr_rules, 4);
	assert_string_equal(f->config->rules[0].cgroup_glob, "/**");
	assert_string_equal(f->config->rules[1].cgroup_glob, "/a");
	assert_string_equal(f->config->rules[2].class_name, "normal");
	assert_string_equal(f->config->rules[3].class_name, "web");
}

static void test_empty_documents_and_sections_are_fine(void **state)
{
	static const char *const texts[] = { "", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "{}\n", "~\n",
					     "\xef\xbb\xbf# BOM\n", "%YAML 1.1\n---\n{}\n", "%TAG ! tag:x,2000:\n---\n",
					     "scheduler:\nclasses:\n  # web:\nrules:\napi: {}\n", "rules: []\r\n" };
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		put(f, "etc/schedd.yaml", texts[i]);
		assert_loaded(f, load(f));
	}
}

static void test_the_dump_reads_back_the_same(void **state)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct fixture *f = *state;
	char *first, *second;

	put(f, "etc/schedd.yaml",
	    "scheduler: {mode: detached, alive_ms: 0}\n"
	    "classes: {web: {kind: lc, guarantee: 2, exclusive_smt: no}, be: {slice: 10ms}}\n"
	    "rules:\n- {cgroup: '/a \"b\\c*', class: web}\n- {cgroup: \"/x\\x7fy\", class: be}\n"
	    "api: {group: \"yes\"}\nmetrics: {listen: \"\"}\n");
	assert_loaded(f, load(f));
	first = config_to_yaml(f->config, &arena);
	assert_non_null(first);
	put(f, "etc/schedd.yaml", first);
	assert_loaded(f, load(f));
	second = config_to_yaml(f->config, &arena);
	assert_string_equal(first, second);
	assert_string_equal(f->config->rules[1].cgroup_glob, "/x\x7fy");
	assert_non_null(strstr(first, "  mode: detached\n"));
	assert_non_null(strstr(first, "  group: \"yes\"\n"));
	assert_non_null(strstr(first, "  socket_mode: \"0660\"\n"));
	assert_non_null(strstr(first, "  web:\n    kind: latency-critical\n    guarantee: 2\n    exclusive_smt: no\n"));
}

static void test_one_path_is_a_file_or_a_directory(void **state)
{
	struct fixture *f = *state;
	char path[128];

	put(f, "etc/schedd.yaml", "scheduler: {alive_ms: 50}\n");
	put(f, "etc/conf.d/a.yaml", "scheduler: {alive_ms: 60}\n");
	snprintf(path, sizeof(path), "%s/etc", f->root);
	assert_loaded(f, config_load_path(path, 8, &f->config));
	assert_int_equal(f->config->alive_max_ns, 60000000);
	config_free(f->config);
	f->config = NULL;
	snprintf(path, sizeof(path), "%s/etc/schedd.yaml", f->root);
	assert_loaded(f, config_load_path(path, 8, &f->config));
	assert_int_equal(f->config->alive_max_ns, 50000000);
}

static void test_the_vendor_file_is_valid_and_changes_nothing(void **state)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct fixture *f = *state;
	char *defaults, *vendor;

	assert_loaded(f, load(f));
	defaults = config_to_yaml(f->config, &arena);
	config_free(f->config);
	f->config = NULL;
	assert_loaded(f, config_load_path("deploy/schedd.yaml", 8, &f->config));
	vendor = config_to_yaml(f->config, &arena);
	assert_string_equal(vendor, defaults);
}

/* What a user gets who removes the "#" of each example: "#key" and "#  key" are examples, "# text" is prose. */
static void test_the_examples_of_the_vendor_file_are_valid(void **state)
{
	struct fixture *f = *state;
	_cleanup_fclose_ FILE *in = fopen("deploy/schedd.yaml", "r");
	char line[512], text[16384] = "";

	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (line[0] == '#' && line[1] != '\n' && (line[1] != ' ' || line[2] == ' '))
			strcat(text, line + 1);
	put(f, "etc/schedd.yaml", text);
	assert_loaded(f, load(f));
	assert_true(f->config->nr_classes >= 2);
	assert_true(f->config->nr_rules >= 2);
}

static void test_the_schema_defaults_are_accepted_by_their_own_setters(void **state)
{
	struct fixture *f = *state;
	char value[256], path[64];
	size_t i;

	assert_loaded(f, load(f));
	for (i = 0; i < config_schema_nr_keys; i++) {
		config_schema_keys[i].get(f->config, value, sizeof(value));
		assert_string_equal(value, config_schema_keys[i].fallback);
	}
	for (i = 0; config_schema_path(i, path, sizeof(path)); i++)
		assert_false(config_schema_is_later(path));
	assert_int_equal(i, config_schema_nr_keys + class_nr_keys + 2);
}

/* For tests/check/man_config.py: kind, path and default of every key, with tabs between. */
static int print_keys(void)
{
	const struct config_schema_key *key;
	char path[64];
	size_t i;

	for (i = 0; config_schema_path(i, path, sizeof(path)); i++) {
		key = config_schema_find(path);
		printf("key\t%s\t%s\n", path, key ? key->fallback : "");
	}
	for (i = 0; i < config_schema_nr_later; i++)
		printf("later\t%s\t\n", config_schema_later[i]);
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(test_no_file_gives_the_defaults),
		T(test_a_missing_directory_is_no_error),
		T(test_every_key_is_read),
		T(test_every_mode_is_read_and_printed),
		T(test_the_highest_main_file_stands_alone),
		T(test_dropins_are_sorted_by_name_and_replaced_by_name),
		T(test_a_link_to_dev_null_disables_a_vendor_file),
		T(test_classes_merge_by_name_and_key),
		T(test_rules_append_in_order_of_reading),
		T(test_empty_documents_and_sections_are_fine),
		T(test_the_dump_reads_back_the_same),
		T(test_one_path_is_a_file_or_a_directory),
		T(test_the_vendor_file_is_valid_and_changes_nothing),
		T(test_the_examples_of_the_vendor_file_are_valid),
		T(test_the_schema_defaults_are_accepted_by_their_own_setters),
	};

	if (argc == 2 && !strcmp(argv[1], "keys"))
		return print_keys();
	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
