// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sim.c - compares allocation policies in virtual time, on the daemon's own code
 *
 * sim [OPTION...]     all scenarios; `sim --help` lists the options
 *
 * engine.h says what the model is and what it leaves out.  Equal options and
 * seed give equal bytes.  Status: 0; 1: the headline missed a target; 2: a plan
 * broke a rule; 64: a wrong option.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/cleanup.h"
#include "report.h"

enum { STATUS_MISSED = 1, STATUS_BROKEN = 2, STATUS_USAGE = 64 };

static const char usage[] =
	"sim - compare allocation policies in virtual time\n\n"
	"  --scenario NAME     only this one (--list names them)\n"
	"  --quick             only the headline, over a shorter time\n"
	"  --seed N            of all random numbers (1)\n"
	"  --out DIR           write sim.tsv there\n"
	"  --reflex            waiting requests take any CPU from best-effort (off: the allocator alone is judged)\n"
	"  --reclaim-ns N      from calling a CPU back from best-effort to its use (2000)\n"
	"  --move-ns N         from a changed owner to the CPU's use (6000)\n"
	"  --interval-us N     shenango's, instead of the scenario's\n"
	"  --step N            CPUs per interval, instead of the scenario's\n"
	"  --congestion-us N   mean delay that is too long (10)\n"
	"  --park-us N         unused so long, a CPU above the guarantee goes back (50)\n"
	"  --dwell-us N        a CPU stays with a new owner at least so long (50)\n"
	"  --measured-ms N     instead of the scenario's\n"
	"  --list              the scenarios\n";

struct options {
	struct contest_options contest;
	const struct scenario *only;
	const char *out;
};

enum { OPT_NUMBERS = 'n', OPT_SCENARIO = 256, OPT_QUICK, OPT_OUT, OPT_REFLEX, OPT_LIST, OPT_HELP };

/* Options that are a number: where it goes, in which unit. */
#define NUMBER(option, field, scale) { option, offsetof(struct contest_options, field), scale }
static const struct {
	const char *name;
	size_t offset;
	uint64_t scale;
} numbers[] = {
	NUMBER("seed", seed, 1),
	NUMBER("reclaim-ns", costs.reclaim_ns, 1),
	NUMBER("move-ns", costs.move_ns, 1),
	NUMBER("interval-us", interval_ns, 1000),
	NUMBER("congestion-us", congestion_ns, 1000),
	NUMBER("park-us", park_ns, 1000),
	NUMBER("dwell-us", dwell_ns, 1000),
	NUMBER("measured-ms", measured_ns, 1000000),
};

static bool number_parse(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !errno && end != text && !*end && *text != '-' && *ret <= UINT64_C(1000000000000);
}

static bool number_set(struct contest_options *o, const char *name, const char *text)
{
	uint64_t value;

	if (!number_parse(text, &value))
		return false;
	if (!strcmp(name, "step")) {
		o->step = (uint32_t)value;
		return true;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(numbers[i].name, name))
			*(uint64_t *)((char *)o + numbers[i].offset) = value * numbers[i].scale;
	return true;
}

static const struct option long_options[] = {
	{ "scenario", required_argument, NULL, OPT_SCENARIO },
	{ "quick", no_argument, NULL, OPT_QUICK },
	{ "seed", required_argument, NULL, OPT_NUMBERS },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "reflex", no_argument, NULL, OPT_REFLEX },
	{ "reclaim-ns", required_argument, NULL, OPT_NUMBERS },
	{ "move-ns", required_argument, NULL, OPT_NUMBERS },
	{ "interval-us", required_argument, NULL, OPT_NUMBERS },
	{ "step", required_argument, NULL, OPT_NUMBERS },
	{ "congestion-us", required_argument, NULL, OPT_NUMBERS },
	{ "park-us", required_argument, NULL, OPT_NUMBERS },
	{ "dwell-us", required_argument, NULL, OPT_NUMBERS },
	{ "measured-ms", required_argument, NULL, OPT_NUMBERS },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, OPT_HELP },
	{},
};

static void list_scenarios(void)
{
	for (size_t i = 0; i < nr_scenarios; i++)
		printf("%-10s %s\n", scenarios[i].name, scenarios[i].what);
}

/* 0: go on; 1: done, all was said; -EINVAL: said on stderr. */
static int options_parse(struct options *o, int argc, char **argv)
{
	int c, index;

	while ((c = getopt_long(argc, argv, "", long_options, &index)) != -1) {
		switch (c) {
		case OPT_SCENARIO:
			o->only = scenario_find(optarg);
			if (o->only)
				break;
			fprintf(stderr, "sim: no scenario \"%s\": --list names them\n", optarg);
			return -EINVAL;
		case OPT_NUMBERS:
			if (number_set(&o->contest, long_options[index].name, optarg))
				break;
			fprintf(stderr, "sim: --%s %s: a whole number is needed\n", long_options[index].name, optarg);
			return -EINVAL;
		case OPT_QUICK:
			o->only = &scenarios[0];
			o->contest.warmup_ns = CONTEST_QUICK_WARMUP_NS;
			o->contest.measured_ns = CONTEST_QUICK_MEASURED_NS;
			break;
		case OPT_OUT:
			o->out = optarg;
			break;
		case OPT_REFLEX:
			o->contest.costs.reflex = true;
			break;
		case OPT_LIST:
			list_scenarios();
			return 1;
		case OPT_HELP:
			fputs(usage, stdout);
			return 1;
		default:
			return -EINVAL;
		}
	}
	if (optind == argc)
		return 0;
	fprintf(stderr, "sim: \"%s\" is no option: sim --help lists them\n", argv[optind]);
	return -EINVAL;
}

static int open_tsv(const char *dir, FILE **ret_file)
{
	char path[4096];
	FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/sim.tsv", dir);
	if (mkdir(dir, 0777) == 0 || errno == EEXIST)
		file = fopen(path, "we");
	if (!file) {
		int r = -errno;

		fprintf(stderr, "sim: cannot write %s: %s; name a writable directory with --out\n", path, strerror(-r));
		return r;
	}
	*ret_file = file;
	return 0;
}

static int run_scenario(const struct scenario *s, const struct options *o, FILE *tsv, uint32_t *group, int *missed)
{
	struct outcome all[NR_CONTENDERS] = {};
	struct target targets[NR_TARGETS];

	for (int c = 0; c < NR_CONTENDERS; c++) {
		int r = contest_run(s, (enum contender)c, &o->contest, &all[c]);

		if (r < 0) {
			fprintf(stderr, "sim: scenario %s, policy %s, seed %" PRIu64 ": %s\n", s->name,
				contender_name((enum contender)c), o->contest.seed, strerror(-r));
			return r;
		}
	}
	report_table(stdout, s, &o->contest, all);
	/* With the reflex the policies hardly differ: the targets are those of the allocator alone. */
	if (s == &scenarios[0] && !o->contest.costs.reflex) {
		contest_judge(all, targets);
		*missed += report_targets(stdout, targets);
	}
	fflush(stdout);
	if (tsv)
		report_tsv(tsv, s, all, group);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { .contest = contest_defaults };
	_cleanup_fclose_ FILE *tsv = NULL;
	uint32_t group = 0;
	int missed = 0, r;

	r = options_parse(&o, argc, argv);
	if (r)
		return r < 0 ? STATUS_USAGE : 0;
	if (o.out && open_tsv(o.out, &tsv) < 0)
		return STATUS_USAGE;
	printf("seed %" PRIu64 ", reclaim %" PRIu64 " ns, move %" PRIu64 " ns, reflex %s, congestion %" PRIu64
	       " us, park %" PRIu64 " us, dwell %" PRIu64 " us\n\n",
	       o.contest.seed, o.contest.costs.reclaim_ns, o.contest.costs.move_ns,
	       o.contest.costs.reflex ? "on" : "off", o.contest.congestion_ns / 1000, o.contest.park_ns / 1000,
	       o.contest.dwell_ns / 1000);
	if (tsv)
		report_tsv_head(tsv, &o.contest);
	for (size_t i = 0; i < nr_scenarios; i++)
		if ((!o.only || o.only == &scenarios[i]) && run_scenario(&scenarios[i], &o, tsv, &group, &missed) < 0)
			return STATUS_BROKEN;
	return missed ? STATUS_MISSED : 0;
}
