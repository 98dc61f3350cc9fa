/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_metrics.c - the table of metrics and both formats
 *
 * With an argument it prints instead of testing, for the scripts in
 * tests/check: `text`, `openmetrics` (a snapshot with awkward values) or
 * `families` (name, type, unit and labels, one family a line, tab-separated).
 */
#include "daemon/metrics.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <cmocka.h>

static void fill_class(struct metrics_class *c, const char *name, uint64_t seed)
{
	*c = (struct metrics_class){
		.used = true,
		.name = name,
		.owned_cpus = (uint32_t)seed,
		.guarantee_cpus = 2,
		.burst_cpus = 8,
		.cgroups = 3,
		.sum = { .cpu_ns = 1234567890123 * seed, .nr_runnable = -1 },
		.wakeups[METRICS_SCHEDD].sum_ns = 987654321 * seed,
		.wakeups[METRICS_KERNEL].sum_ns = 1000000000 * seed,
	};
	for (unsigned int i = 0; i < SCHEDD_LAT_BUCKETS; i++) {
		c->wakeups[METRICS_SCHEDD].hist[i] = i * seed;
		c->wakeups[METRICS_KERNEL].hist[i] = seed;
	}
}

static void fill_snapshot(struct metrics_snapshot *m)
{
	*m = (struct metrics_snapshot){
		.version = "1.2.3",
		.revision = "a\"quote\\backslash\nnewline",
		.bpf_hash = "0123abcd",
		.kernel = "7.3.4-\xff\xfe" "cloud",
		.state = "held",
		.mode = "auto",
		.hold_reason = "sysrq",
		.attached_seconds = 0.1,
		.detached_seconds = 1e15 + 0.5,
		.ejections = { 1, 2, 3, 4 },
		.kernel_events = { 5, 6 },
		.kernel_event_names = { "SCX_EV_SELECT_CPU_FALLBACK", "SCX_EV_REFILL_SLICE_DFL" },
		.nr_kernel_events = 2,
		.cpu_sum = { .tick_rescues = 7 },
		.plans_applied = 9007199254740991,
		.plan_duration_sum_seconds = 1.0 / 3,
		.plan_duration_count = 3,
		.config_ok = true,
		.config_success_timestamp_seconds = 1790000000.25,
	};
	fill_class(&m->classes[SCHEDD_CLASS_NORMAL], "normal", 1);
	fill_class(&m->classes[SCHEDD_CLASS_LATENCY_CRITICAL], "latency-critical", 7);
	fill_class(&m->classes[SCHEDD_CLASS_BEST_EFFORT], "best-effort", 11);
	m->classes[9] = (struct metrics_class){ .used = true, .name = "web" };
	m->methods[COMMAND_SET_CLASS].requests = 12;
	m->methods[COMMAND_SET_CLASS].failures[COMMAND_NOT_FOUND] = 4;
	metrics_read_process(m);
}

static char *render(enum metrics_format format)
{
	struct metrics_snapshot *m = calloc(1, sizeof(*m));
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fill_snapshot(m);
	assert_int_equal(metrics_render(m, format, out), 0);
	fclose(out);
	free(m);
	return text;
}

static void assert_has(const char *text, const char *piece)
{
	if (!strstr(text, piece))
		fail_msg("missing: %s", piece);
}

static void assert_has_not(const char *text, const char *piece)
{
	if (strstr(text, piece))
		fail_msg("must not be there: %s", piece);
}

#define family_assert(f, condition)                                    \
	do {                                                           \
		if (!(condition))                                      \
			fail_msg("%s: %s", (f)->name, #condition);     \
	} while (0)

/* Number of lines that begin with prefix. */
static unsigned int count_lines(const char *text, const char *prefix)
{
	unsigned int count = 0;

	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
		count += strncmp(line, prefix, strlen(prefix)) == 0;
	return count;
}

static bool ends_with(const char *s, const char *end)
{
	return strlen(s) >= strlen(end) && strcmp(s + strlen(s) - strlen(end), end) == 0;
}

static void test_table_is_well_formed(void **state)
{
	static const char *const types[] = { "counter", "gauge", "histogram", "summary", "info" };

	(void)state;
	for (size_t i = 0; i < metrics_nr_families; i++) {
		const struct metrics_family *f = &metrics_families[i];
		bool known = false;

		family_assert(f, strncmp(f->name, "schedd_", 7) == 0 || strncmp(f->name, "process_", 8) == 0);
		family_assert(f, strspn(f->name, "abcdefghijklmnopqrstuvwxyz_") == strlen(f->name));
		family_assert(f, !ends_with(f->name, "_total"));
		family_assert(f, !strpbrk(f->help, "\"\\\n"));
		family_assert(f, ends_with(f->help, "."));
		for (size_t t = 0; t < ARRAY_SIZE(types); t++)
			known |= strcmp(f->type, types[t]) == 0;
		family_assert(f, known);
		/* OpenMetrics wants the unit to be the end of the name. */
		if (f->unit[0])
			family_assert(f, ends_with(f->name, f->unit));
		for (size_t other = 0; other < i; other++)
			family_assert(f, strcmp(f->name, metrics_families[other].name) != 0);
	}
}

static void test_every_family_has_one_header_in_both_formats(void **state)
{
	char *text = render(METRICS_TEXT), *open = render(METRICS_OPENMETRICS), line[256];

	(void)state;
	for (size_t i = 0; i < metrics_nr_families; i++) {
		const struct metrics_family *f = &metrics_families[i];

		snprintf(line, sizeof(line), "# TYPE %s %s", f->name, f->type);
		family_assert(f, count_lines(open, line) == 1);
		snprintf(line, sizeof(line), "# UNIT %s %s", f->name, f->unit);
		family_assert(f, count_lines(open, line) == (f->unit[0] != '\0'));
		snprintf(line, sizeof(line), "# TYPE %s%s ", f->name, type_suffix(f));
		family_assert(f, count_lines(text, line) == 1);
		snprintf(line, sizeof(line), "# HELP %s%s ", f->name, type_suffix(f));
		family_assert(f, count_lines(text, line) == 1);
	}
	assert_true(ends_with(open, "\n# EOF\n"));
	assert_has_not(text, "# EOF");
	assert_has_not(text, "# UNIT");
	assert_has(text, "# TYPE schedd_build_info gauge\n");
	free(text);
	free(open);
}

/* A sample belongs to the header above it, so the samples of a family are contiguous. */
static void test_samples_follow_their_header(void **state)
{
	char *text = render(METRICS_OPENMETRICS), *save = NULL, family[128] = "";

	(void)state;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "# TYPE %127s", family) == 1 || line[0] == '#')
			continue;
		if (strncmp(line, family, strlen(family)) != 0)
			fail_msg("below %s: %s", family, line);
	}
	free(text);
}

static void test_both_formats_have_the_same_samples(void **state)
{
	char *text = render(METRICS_TEXT), *open = render(METRICS_OPENMETRICS), *save_text = NULL, *save_open = NULL;
	char *a = strtok_r(text, "\n", &save_text), *b = strtok_r(open, "\n", &save_open);

	(void)state;
	while (a || b) {
		while (a && a[0] == '#')
			a = strtok_r(NULL, "\n", &save_text);
		while (b && b[0] == '#')
			b = strtok_r(NULL, "\n", &save_open);
		if (!a || !b)
			break;
		/* The two renderings read process_* at two instants. */
		if (strncmp(a, "process_", 8) != 0)
			assert_string_equal(a, b);
		a = strtok_r(NULL, "\n", &save_text);
		b = strtok_r(NULL, "\n", &save_open);
	}
	assert_null(a);
	assert_null(b);
	free(text);
	free(open);
}

static void test_labels_are_escaped(void **state)
{
	char *text = render(METRICS_TEXT);

	(void)state;
	assert_has(text, "schedd_build_info{version=\"1.2.3\",revision=\"a\\\"quote\\\\backslash\\nnewline\","
			 "bpf_hash=\"0123abcd\",kernel=\"7.3.4-??cloud\"} 1\n");
	free(text);
}

static void test_one_hot(void **state)
{
	char *text = render(METRICS_TEXT);

	(void)state;
	assert_int_equal(count_lines(text, "schedd_scheduler_state{"), NR_ATTACH_STATES);
	assert_has(text, "schedd_scheduler_state{state=\"held\"} 1\n");
	assert_has(text, "schedd_scheduler_state{state=\"attached\"} 0\n");
	assert_has(text, "schedd_scheduler_state{state=\"observing\"} 0\n");
	assert_int_equal(count_lines(text, "schedd_mode{"), NR_MODES - 1);
	assert_has(text, "schedd_mode{mode=\"auto\"} 1\n");
	assert_has(text, "schedd_mode{mode=\"detached\"} 0\n");
	assert_has(text, "schedd_hold{reason=\"sysrq\"} 1\n");
	assert_has(text, "schedd_hold{reason=\"ejections\"} 0\n");
	free(text);
}

static void test_a_value_without_a_name_is_not_lost(void **state)
{
	struct metrics_snapshot *m = calloc(1, sizeof(*m));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	m->state = "new-state";
	assert_int_equal(metrics_render(m, METRICS_TEXT, out), 0); /* all other strings are NULL */
	fclose(out);
	assert_has(text, "schedd_scheduler_state{state=\"new-state\"} 1\n");
	assert_has(text, "schedd_hold{reason=\"sysrq\"} 0\n");
	free(text);
	free(m);
}

static void test_histogram_is_cumulative_and_closed(void **state)
{
	char *text = render(METRICS_TEXT), line[256];
	uint64_t total = 0;

	(void)state;
	assert_int_equal(count_lines(text, "schedd_class_wakeup_latency_seconds_bucket{class=\"normal\",scheduler=\"schedd\""),
			 SCHEDD_LAT_BUCKETS);
	for (unsigned int i = 0; i < SCHEDD_LAT_BUCKETS - 1; i++) {
		total += i * 7;
		snprintf(line, sizeof(line),
			 "schedd_class_wakeup_latency_seconds_bucket{class=\"latency-critical\",scheduler=\"schedd\","
			 "le=\"%.10g\"} %llu\n",
			 (double)(1ULL << (10 + i)) / 1e9, (unsigned long long)total);
		assert_has(text, line);
	}
	assert_has(text, "le=\"1.024e-06\"");
	assert_has(text, "le=\"1.073741824\"");
	total += (SCHEDD_LAT_BUCKETS - 1) * 7;
	snprintf(line, sizeof(line), "scheduler=\"schedd\",le=\"+Inf\"} %llu\n", (unsigned long long)total);
	assert_has(text, line);
	snprintf(line, sizeof(line),
		 "schedd_class_wakeup_latency_seconds_count{class=\"latency-critical\",scheduler=\"schedd\"} %llu\n",
		 (unsigned long long)total);
	assert_has(text, line);
	free(text);
}

static void test_what_was_observed_stands_apart(void **state)
{
	char *text = render(METRICS_TEXT);

	(void)state;
	assert_int_equal(count_lines(text, "schedd_class_wakeup_latency_seconds_bucket{class=\"normal\",scheduler=\"kernel\""),
			 SCHEDD_LAT_BUCKETS);
	assert_has(text, "_seconds_bucket{class=\"latency-critical\",scheduler=\"kernel\",le=\"2.048e-06\"} 14\n");
	assert_has(text, "_seconds_sum{class=\"latency-critical\",scheduler=\"kernel\"} 7\n");
	assert_has(text, "_seconds_count{class=\"latency-critical\",scheduler=\"kernel\"} 154\n");
	assert_has(text, "_seconds_sum{class=\"latency-critical\",scheduler=\"schedd\"} 6.913580247\n");
	free(text);
}

static void test_classes_are_present_from_the_start(void **state)
{
	char *text = render(METRICS_TEXT);

	(void)state;
	assert_has(text, "schedd_class_cpu_seconds_total{class=\"web\"} 0\n");
	assert_has(text, "schedd_dispatches_total{class=\"web\",path=\"percpu\"} 0\n");
	assert_has(text, "schedd_class_limit_cpus{class=\"web\",limit=\"guarantee\"} 0\n");
	assert_has(text, "schedd_class_wakeup_latency_seconds_count{class=\"web\",scheduler=\"schedd\"} 0\n");
	assert_has(text, "schedd_class_wakeup_latency_seconds_count{class=\"web\",scheduler=\"kernel\"} 0\n");
	assert_int_equal(count_lines(text, "schedd_class_owned_cpus{"), 4);
	free(text);
}

static void test_values(void **state)
{
	char *text = render(METRICS_TEXT);

	(void)state;
	assert_has(text, "\nschedd_attached_seconds_total 0.1\n");
	assert_has(text, "\nschedd_detached_seconds_total 1000000000000000.5\n");
	assert_has(text, "\nschedd_plans_applied_total 9007199254740991\n");
	assert_has(text, "\nschedd_plan_duration_seconds_sum 0.3333333333333333\n");
	assert_has(text, "\nschedd_plan_duration_seconds_count 3\n");
	assert_has(text, "schedd_class_cpu_seconds_total{class=\"normal\"} 1234.567890123\n");
	assert_has(text, "schedd_class_runnable_tasks{class=\"normal\"} 0\n");
	assert_has(text, "schedd_kernel_events_total{event=\"tick_rescues\"} 7\n");
	assert_has(text, "schedd_kernel_events_total{event=\"SCX_EV_SELECT_CPU_FALLBACK\"} 5\n");
	assert_has(text, "schedd_grpc_request_failures_total{method=\"SetClass\",code=\"NOT_FOUND\"} 4\n");
	assert_has(text, "schedd_grpc_request_failures_total{method=\"GetPlan\",code=\"INTERNAL\"} 0\n");
	assert_has(text, "\nschedd_config_last_reload_success_timestamp_seconds 1790000000.25\n");
	free(text);
}

static void test_numbers_read_back_equal(void **state)
{
	static const double values[] = { 0, 1, 0.1, 1e-9, 123456789.123456789, 1e22, 5e-324, 1.7976931348623157e308 };
	uint64_t random = 88172645463325252ULL;

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)random);
	for (unsigned int i = 0; i < 5000; i++) {
		double value = i < ARRAY_SIZE(values) ? values[i] : 0;
		char text[64] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		if (i >= ARRAY_SIZE(values))
			value = (double)random / (double)(1ULL << (random % 60));
		put_number(out, value);
		fclose(out);
		assert_true(strtod(text, NULL) == value);
	}
}

static void test_a_full_disk_is_reported(void **state)
{
	struct metrics_snapshot *m = calloc(1, sizeof(*m));
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	setvbuf(out, NULL, _IONBF, 0);
	assert_int_equal(metrics_render(m, METRICS_TEXT, out), -EIO);
	fclose(out);
	free(m);
}

static void test_process_values(void **state)
{
	struct metrics_snapshot *m = calloc(1, sizeof(*m));
	struct timespec now;

	(void)state;
	metrics_read_process(m);
	clock_gettime(CLOCK_REALTIME, &now);
	assert_int_equal(m->process_threads, 1);
	assert_true(m->process_resident_bytes > 100000 && m->process_resident_bytes < m->process_virtual_bytes);
	assert_true(m->process_open_fds >= 1 && m->process_open_fds < 100);
	assert_true(m->process_max_fds >= m->process_open_fds);
	assert_true(m->process_start_time_seconds > (double)now.tv_sec - 3600);
	assert_true(m->process_start_time_seconds < (double)now.tv_sec + 2);
	free(m);
}

static int print(const char *what)
{
	char *text;

	if (strcmp(what, "families") == 0) {
		for (size_t i = 0; i < metrics_nr_families; i++)
			printf("%s%s\t%s\t%s\t%s\n", metrics_families[i].name, type_suffix(&metrics_families[i]),
			       metrics_families[i].type, metrics_families[i].unit, metrics_families[i].labels);
		return 0;
	}
	text = render(strcmp(what, "openmetrics") == 0 ? METRICS_OPENMETRICS : METRICS_TEXT);
	fputs(text, stdout);
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_well_formed),
		cmocka_unit_test(test_every_family_has_one_header_in_both_formats),
		cmocka_unit_test(test_samples_follow_their_header),
		cmocka_unit_test(test_both_formats_have_the_same_samples),
		cmocka_unit_test(test_labels_are_escaped),
		cmocka_unit_test(test_one_hot),
		cmocka_unit_test(test_a_value_without_a_name_is_not_lost),
		cmocka_unit_test(test_histogram_is_cumulative_and_closed),
		cmocka_unit_test(test_what_was_observed_stands_apart),
		cmocka_unit_test(test_classes_are_present_from_the_start),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_numbers_read_back_equal),
		cmocka_unit_test(test_a_full_disk_is_reported),
		cmocka_unit_test(test_process_values),
	};

	if (argc == 2)
		return print(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
