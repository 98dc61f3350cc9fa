// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - outcomes as a table for people and as tab-separated values for the plot */
#include <inttypes.h>

#include "report.h"

static const char *percent(int64_t ppm, char buf[static 16])
{
	if (ppm == INT64_MIN)
		return "-";
	snprintf(buf, 16, "%.1f%%", (double)ppm / 10000);
	return buf;
}

static void report_row(FILE *out, const struct scenario *s, const struct outcome all[NR_CONTENDERS], uint32_t service,
		       enum contender c)
{
	const struct outcome_service *o = &all[c].services[service];
	char p99[16], p999[16];

	fprintf(out,
		"  %-8s %-18s %9" PRIu64 " %8.1f %8.1f %9.1f %9.1f %9.1f  %8s %8s  %6.2f%% %7.3f  %7.2f %9" PRIu64 "\n",
		s->services[service].name, contender_name(c), o->requests, (double)o->mean_ns / 1000,
		(double)o->p50_ns / 1000, (double)o->p99_ns / 1000, (double)o->p999_ns / 1000, (double)o->max_ns / 1000,
		percent(contest_closed_p99_ppm(all, service, c), p99),
		percent(contest_closed_p999_ppm(all, service, c), p999), all[c].batch_ppm / 10000.0,
		(double)all[c].batch_ppm / all[CONTENDER_UTILISATION_100MS].batch_ppm, o->owned_mcpu / 1000.0,
		all[c].moves_per_s);
}

void report_table(FILE *out, const struct scenario *s, const struct contest_options *o,
		  const struct outcome all[NR_CONTENDERS])
{
	fprintf(out, "%s: %s\n", s->name, s->what);
	fprintf(out, "  shenango-poll at %" PRIu64 " us with step %" PRIu32 "; measured %" PRIu64 " ms\n",
		(o->interval_ns ? o->interval_ns : s->interval_ns) / 1000, o->step ? o->step : s->step,
		(o->measured_ns ? o->measured_ns : s->measured_ns) / 1000000);
	fprintf(out, "  %-8s %-18s %9s %8s %8s %9s %9s %9s  %8s %8s  %7s %7s  %7s %9s\n", "", "", "", "delay us", "",
		"", "", "", "to the", "oracle", "best-", "/util", "CPUs", "CPUs");
	fprintf(out, "  %-8s %-18s %9s %8s %8s %9s %9s %9s  %8s %8s  %7s %7s  %7s %9s\n", "service", "policy",
		"requests", "mean", "p50", "p99", "p99.9", "max", "p99", "p99.9", "effort", "100ms", "owned",
		"moved/s");
	for (uint32_t service = 0; service < scenario_nr_services(s); service++)
		for (int c = 0; c < NR_CONTENDERS; c++)
			report_row(out, s, all, service, (enum contender)c);
	fputc('\n', out);
}

int report_targets(FILE *out, const struct target targets[NR_TARGETS])
{
	int missed = 0;

	fprintf(out, "targets of the headline, shenango-poll\n");
	for (int i = 0; i < NR_TARGETS; i++) {
		const struct target *t = &targets[i];

		missed += !target_met(t);
		fprintf(out, "  %-6s %s: %.4f, at %s %.4f\n", target_met(t) ? "ok" : "MISSED", t->what, t->value,
			t->at_most ? "most" : "least", t->limit);
	}
	fputc('\n', out);
	return missed;
}

void report_tsv_head(FILE *out, const struct contest_options *o)
{
	fprintf(out, "# seed %" PRIu64 "\n", o->seed);
	fprintf(out, "group\tscenario\tservice\tpolicy\trequests\tmean_us\tp50_us\tp99_us\tp999_us\tmax_us\t"
		     "closed_p99_ppm\tclosed_p999_ppm\tbest_effort_ppm\towned_cpus\tmoves_per_s\n");
}

static void tsv_ppm(FILE *out, int64_t ppm)
{
	if (ppm == INT64_MIN)
		fprintf(out, "\t");
	else
		fprintf(out, "\t%" PRId64, ppm);
}

void report_tsv(FILE *out, const struct scenario *s, const struct outcome all[NR_CONTENDERS], uint32_t *group)
{
	for (uint32_t service = 0; service < scenario_nr_services(s); service++) {
		++*group;
		for (int c = 0; c < NR_CONTENDERS; c++) {
			const struct outcome_service *o = &all[c].services[service];

			fprintf(out, "%" PRIu32 "\t%s\t%s\t%s\t%" PRIu64 "\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f", *group,
				s->name, s->services[service].name, contender_name((enum contender)c), o->requests,
				(double)o->mean_ns / 1000, (double)o->p50_ns / 1000, (double)o->p99_ns / 1000,
				(double)o->p999_ns / 1000, (double)o->max_ns / 1000);
			tsv_ppm(out, contest_closed_p99_ppm(all, service, (enum contender)c));
			tsv_ppm(out, contest_closed_p999_ppm(all, service, (enum contender)c));
			fprintf(out, "\t%" PRIu32 "\t%.3f\t%" PRIu64 "\n", all[c].batch_ppm, o->owned_mcpu / 1000.0,
				all[c].moves_per_s);
		}
	}
}
