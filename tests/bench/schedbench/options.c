/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - the command line, its help, its list of tests */
#include "tests/bench/schedbench/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The roles come first: each option's value is its role. */
enum { OPT_JSON = NR_ROLES, OPT_SAMPLES, OPT_SET, OPT_POLICY, OPT_VERBOSE, OPT_LIST, OPT_VERSION, OPT_HELP };

static const struct option long_options[] = {
	{ "lc", required_argument, NULL, ROLE_LC },
	{ "lc2", required_argument, NULL, ROLE_LC2 },
	{ "normal", required_argument, NULL, ROLE_NORMAL },
	{ "be", required_argument, NULL, ROLE_BE },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "samples", no_argument, NULL, OPT_SAMPLES },
	{ "set", required_argument, NULL, OPT_SET },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static int set_cgroup(struct options *o, int role, const char *dir, char *error, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	if (access(path, W_OK) < 0) {
		snprintf(error, size,
			 "--%s %s: cannot write to cgroup.procs there: %s; want a cgroup v2 directory, as in "
			 "/sys/fs/cgroup/service",
			 long_options[role].name, dir, strerror(errno));
		return -EINVAL;
	}
	o->cgroups[role] = dir;
	return 0;
}

static int set_policy(struct options *o, const char *name, char *error, size_t size)
{
	if (strcmp(name, "leave") != 0 && strcmp(name, "ext") != 0) {
		snprintf(error, size, "--policy %s: want leave or ext", name);
		return -EINVAL;
	}
	o->ext_policy = strcmp(name, "ext") == 0;
	return 0;
}

static int take(struct options *o, int c, const struct bench_case *cases, char *error, size_t size)
{
	switch (c) {
	case OPT_JSON: o->json = optarg; return 0;
	case OPT_SAMPLES: o->samples = true; return 0;
	case OPT_VERBOSE: o->verbose = true; return 0;
	case OPT_LIST: o->what = DO_LIST; return 0;
	case OPT_VERSION: o->what = DO_VERSION; return 0;
	case OPT_HELP: o->what = DO_HELP; return 0;
	case OPT_SET: return params_set(cases, optarg, &o->values, error, size);
	case OPT_POLICY: return set_policy(o, optarg, error, size);
	default: return set_cgroup(o, c, optarg, error, size);
	}
}

static int take_test(struct options *o, const char *name, const struct bench_case *cases, char *error, size_t size)
{
	size_t used;
	int i = 0;

	while (cases[i].name && strcmp(cases[i].name, name) != 0)
		i++;
	if (cases[i].name && o->nr_tests < BENCH_MAX_CASES) {
		o->tests[o->nr_tests++] = i;
		return 0;
	}
	if (cases[i].name) {
		snprintf(error, size, "%s: a call names at most %d tests", name, BENCH_MAX_CASES);
		return -EINVAL;
	}
	used = (size_t)snprintf(error, size, "%s: there is no such test; there are:", name);
	for (i = 0; cases[i].name && used < size; i++)
		used += (size_t)snprintf(error + used, size - used, " %s", cases[i].name);
	return -EINVAL;
}

int bench_options_parse(int argc, char **argv, const struct bench_case *cases, struct options *ret_options, char *error,
			size_t size)
{
	struct options o = { .what = DO_RUN };
	int c, r;

	params_default(cases, &o.values);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c == '?') {
			snprintf(error, size, "%s: unknown option, or its value is missing; see --help",
				 argv[optind - 1]);
			return -EINVAL;
		}
		r = take(&o, c, cases, error, size);
		if (r < 0)
			return r;
	}
	for (; optind < argc; optind++) {
		r = take_test(&o, argv[optind], cases, error, size);
		if (r < 0)
			return r;
	}
	if (o.what == DO_RUN && !o.nr_tests) {
		snprintf(error, size, "no test is named; --list says which there are, --help the rest");
		return -EINVAL;
	}
	*ret_options = o;
	return 0;
}

void bench_options_list(const struct bench_case *cases, FILE *out)
{
	for (; cases->name; cases++)
		fprintf(out, "%-18s %s\n", cases->name, cases->help);
}

void bench_options_help(const struct bench_case *cases, FILE *out)
{
	fputs("usage: schedbench [OPTION...] TEST...\n"
	      "\n"
	      "Measures whatever scheduler is active, one test after the other.\n"
	      "\n"
	      "  --json FILE|-          results as JSON; with - the table goes to standard error\n"
	      "  --samples              with each sample of a test's first series in the JSON\n"
	      "  --lc DIR --lc2 DIR --normal DIR --be DIR\n"
	      "                         cgroup v2 directories that the processes of each role join;\n"
	      "                         without one they stay in the caller's.  What the list does not\n"
	      "                         say to be of lc, lc2 or be is of normal\n"
	      "  --set TEST.KEY=VALUE   a setting, see below; may be repeated\n"
	      "  --policy leave|ext     ext: processes ask for SCHED_EXT, which a partial scheduler wants (leave)\n"
	      "  --verbose              a line for each batch of the tests that grow them\n"
	      "  --list                 the tests\n"
	      "  --version  --help\n"
	      "\n"
	      "Exit status: 0 no test failed its threshold, 1 one did, 2 wrong usage, 3 something could not be\n"
	      "measured, 130 interrupted.  Percentiles are the sorted samples' at index (n - 1) * p.\n"
	      "adaptive_priority, fairness, spread_out, come_together have thresholds; the others only measure.\n"
	      "JSON has a list `results` of objects with test, status (pass, fail, done, skip; error when it could\n"
	      "not be measured), reason, params, and metrics whose names end in their unit.\n"
	      "\n"
	      "Tests, with key, default, range and meaning of each setting:\n", out);
	for (; cases->name; cases++) {
		fprintf(out, "\n  %s: %s\n", cases->name, cases->help);
		params_print(cases, out);
	}
}
