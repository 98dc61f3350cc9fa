/* SPDX-License-Identifier: GPL-2.0-or-later */
/* result.c - figures of a test, gathered */
#include "tests/bench/schedbench/result.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/bench/sample.h"

void result_init(struct result *r, bool keep_samples)
{
	*r = (struct result){ .status = STATUS_DONE, .keep_samples = keep_samples };
}

void result_destroy(struct result *r)
{
	free(r->metrics);
	free(r->samples_us);
	*r = (struct result){ 0 };
}

const char *result_status_name(enum status status)
{
	static const char *const names[] = { "done", "pass", "fail", "skip", "error" };

	return names[status];
}

void result_metric(struct result *r, double value, const char *format, ...)
{
	struct metric *grown = reallocarray(r->metrics, r->nr_metrics + 1, sizeof(*grown));
	va_list args;

	if (!grown)
		err(3, "schedbench: no memory for a figure");
	r->metrics = grown;
	grown += r->nr_metrics++;
	grown->value = value;
	va_start(args, format);
	vsnprintf(grown->name, sizeof(grown->name), format, args);
	va_end(args);
}

static void keep(struct result *r, const uint64_t *ns, size_t n)
{
	if (!r->keep_samples || r->samples_us || !n)
		return;
	r->samples_us = calloc(n, sizeof(*r->samples_us));
	if (!r->samples_us)
		err(3, "schedbench: no memory for %zu samples", n);
	for (size_t i = 0; i < n; i++)
		r->samples_us[i] = (double)ns[i] / 1e3;
	r->nr_samples = n;
}

void result_series(struct result *r, const char *prefix, uint64_t *ns, size_t n)
{
	static const struct {
		const char *name;
		double p;
	} quantiles[] = {
		{ "p50_us", 0.5 }, { "p90_us", 0.9 }, { "p99_us", 0.99 }, { "p999_us", 0.999 }, { "max_us", 1 },
	};

	keep(r, ns, n);
	result_metric(r, (double)n, "%sn", prefix);
	if (!n)
		return;
	sample_sort(ns, (long)n);
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		result_metric(r, (double)sample_at(ns, (long)n, quantiles[i].p) / 1e3, "%s%s", prefix,
			      quantiles[i].name);
}

static void append(struct result *r, const char *format, va_list args)
{
	size_t used = strlen(r->reason);

	if (used)
		used += (size_t)snprintf(r->reason + used, sizeof(r->reason) - used, "; ");
	if (used < sizeof(r->reason))
		vsnprintf(r->reason + used, sizeof(r->reason) - used, format, args);
}

void result_note(struct result *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(r, format, args);
	va_end(args);
}

void result_skip(struct result *r, const char *format, ...)
{
	va_list args;

	r->status = STATUS_SKIP;
	va_start(args, format);
	append(r, format, args);
	va_end(args);
}

int result_error(struct result *r, int error, const char *format, ...)
{
	va_list args;

	if (r->status == STATUS_ERROR)
		return error;
	r->status = STATUS_ERROR;
	r->reason[0] = '\0';
	va_start(args, format);
	append(r, format, args);
	va_end(args);
	return error;
}

const char *result_unit(const char *metric_name)
{
	/* Longer ends first. */
	static const struct {
		const char *end, *unit;
	} units[] = {
		{ "_loops_per_s", "loops/s" }, { "_per_s", "1/s" }, { "_cpu_s", "CPU s" },
		{ "_us", "us" }, { "_ms", "ms" }, { "_ns", "ns" }, { "_s", "s" },
	};
	size_t len = strlen(metric_name);

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t end = strlen(units[i].end);

		if (len > end && strcmp(metric_name + len - end, units[i].end) == 0)
			return units[i].unit;
	}
	return "";
}
