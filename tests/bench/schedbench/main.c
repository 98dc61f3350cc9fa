/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - schedbench: one set of measurements for whatever scheduler is active
 *
 * schedbench [--json FILE|-] [--samples] [--lc DIR] [--lc2 DIR] [--normal DIR] [--be DIR]
 *            [--set TEST.KEY=VALUE]... [--policy leave|ext] [--verbose] TEST...
 * schedbench --list | --help | --version
 *
 * --help has every test with its settings.  Their definitions and thresholds are those
 * of the tests that schedulers are usually compared by (adaptive_priority, fairness,
 * spread_out, come_together, ping_pong), so that figures can be laid side by side, and
 * of our own for what classes promise.  The files:
 *
 *   case_*.c, cases.c   the tests, and their list
 *   crew.c hogs.c       processes of a test: cgroup, rounds, death, what they got done
 *   probe.c broadcast.c seize.c spin.c   measuring loops, shared with the programs beside this folder
 *   fsem.c reservoir.c converge.c arrivals.c   wake-ups, samples, batches, requests
 *   params.c options.c result.c report.c machine.c place.c proc.c   what is around them
 *
 * This process only coordinates: what is measured happens in its children, and it
 * itself stays in the cgroup that it was started in.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "daemon/base/cleanup.h"
#include "tests/bench/schedbench/crew.h"
#include "tests/bench/schedbench/options.h"
#include "tests/bench/schedbench/report.h"
#include "version.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOT_MEASURED = 3 };

static void run_one(const struct options *o, const struct bench_env *env, int test, struct result *ret_result)
{
	struct bench b = {
		.env = env,
		.test = &bench_cases[test],
		.values = o->values.of[test],
		.result = ret_result,
	};
	int r;

	result_init(ret_result, o->samples);
	r = b.test->run(&b);
	if (r < 0)
		result_error(ret_result, r, "%s", strerror(-r));
	if (ret_result->status == STATUS_ERROR)
		fprintf(stderr, "schedbench: %s: %s\n", b.test->name, ret_result->reason);
}

static int run_all(const struct options *o, const struct bench_env *env, FILE *table, FILE *json)
{
	bool failed = false, unmeasured = false;

	report_table_head(table);
	for (int i = 0; i < o->nr_tests; i++) {
		const struct bench_case *test = &bench_cases[o->tests[i]];
		struct result result;

		run_one(o, env, o->tests[i], &result);
		report_table_rows(table, test, &result);
		if (json)
			report_json_result(json, test, o->values.of[o->tests[i]], &result, i == 0);
		failed |= result.status == STATUS_FAIL;
		unmeasured |= result.status == STATUS_ERROR;
		result_destroy(&result);
	}
	return unmeasured ? EXIT_NOT_MEASURED : failed ? EXIT_FAILED : 0;
}

static int measure(const struct options *o)
{
	bool to_stdout = o->json && strcmp(o->json, "-") == 0;
	struct bench_env env = { .ext_policy = o->ext_policy, .verbose = o->verbose };
	static struct machine machine;
	_cleanup_fclose_ FILE *file = NULL;
	FILE *json = to_stdout ? stdout : NULL;
	struct utsname kernel;
	char scheduler[128];
	int r = machine_read("", &machine);

	if (r < 0) {
		fprintf(stderr, "schedbench: cannot read the machine's topology from /sys: %s\n", strerror(-r));
		return EXIT_NOT_MEASURED;
	}
	if (o->json && !to_stdout) {
		json = file = fopen(o->json, "we");
		if (!file) {
			fprintf(stderr, "schedbench: cannot write %s: %s\n", o->json, strerror(errno));
			return EXIT_USAGE;
		}
	}
	memcpy(env.cgroups, o->cgroups, sizeof(env.cgroups));
	env.machine = &machine;
	machine_scheduler("", scheduler, sizeof(scheduler));
	uname(&kernel);
	if (json)
		report_json_begin(json, &(struct report_head){ SCHEDD_VERSION, scheduler, kernel.release,
							      machine.topo.nr_online });
	r = run_all(o, &env, to_stdout ? stderr : stdout, json);
	if (json)
		report_json_end(json);
	if (json && (fflush(json) != 0 || ferror(json))) {
		fprintf(stderr, "schedbench: writing %s failed: %s\n", o->json, strerror(errno));
		return EXIT_NOT_MEASURED;
	}
	return r;
}

int main(int argc, char **argv)
{
	static struct options options;
	char error[1024];

	if (bench_options_parse(argc, argv, bench_cases, &options, error, sizeof(error)) < 0) {
		fprintf(stderr, "schedbench: %s\n", error);
		return EXIT_USAGE;
	}
	switch (options.what) {
	case DO_HELP: bench_options_help(bench_cases, stdout); return 0;
	case DO_LIST: bench_options_list(bench_cases, stdout); return 0;
	case DO_VERSION: printf("schedbench %s\n", SCHEDD_VERSION); return 0;
	default: break;
	}
	/* The parent's own sleeps are part of what some tests look at. */
	prctl(PR_SET_TIMERSLACK, 1);
	crew_catch_signals();
	return measure(&options);
}
