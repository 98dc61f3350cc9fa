/* SPDX-License-Identifier: GPL-2.0-or-later */
/* params.c - --set TEST.KEY=VALUE against the tables of the tests */
#include "tests/bench/schedbench/params.h"

#include <err.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void params_default(const struct bench_case *cases, struct param_values *ret_values)
{
	for (int i = 0; cases[i].name; i++)
		for (int k = 0; cases[i].params[k].name; k++)
			ret_values->of[i][k] = cases[i].params[k].fallback;
}

/* Length of the list, cut to fit. */
static void list_keys(const struct bench_case *test, char *dst, size_t size)
{
	size_t used = 0;

	dst[0] = '\0';
	for (const struct param *p = test->params; p->name && used < size; p++)
		used += (size_t)snprintf(dst + used, size - used, "%s%s", used ? ", " : "", p->name);
}

static void list_cases(const struct bench_case *cases, char *dst, size_t size)
{
	size_t used = 0;

	dst[0] = '\0';
	for (; cases->name && used < size; cases++)
		used += (size_t)snprintf(dst + used, size - used, "%s%s", used ? ", " : "", cases->name);
}

/* Is text up to len the name? */
static bool is_name(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && strncmp(name, text, len) == 0;
}

static int parse_value(const struct param *p, const char *text, double *ret_value)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value < p->min || value > p->max)
		return -EINVAL;
	if (p->whole && value != floor(value))
		return -EINVAL;
	*ret_value = value;
	return 0;
}

int params_set(const struct bench_case *cases, const char *text, struct param_values *values, char *error, size_t size)
{
	const char *dot = strchr(text, '.'), *equal = dot ? strchr(dot, '=') : NULL;
	const struct param *p;
	char list[400];
	int test = 0;

	if (!equal) {
		snprintf(error, size, "--set %s: want TEST.KEY=VALUE, as in latprobe.samples=20000", text);
		return -EINVAL;
	}
	while (cases[test].name && !is_name(cases[test].name, text, (size_t)(dot - text)))
		test++;
	if (!cases[test].name) {
		list_cases(cases, list, sizeof(list));
		snprintf(error, size, "--set %s: there is no such test; there are: %s", text, list);
		return -EINVAL;
	}
	p = cases[test].params;
	while (p->name && !is_name(p->name, dot + 1, (size_t)(equal - dot - 1)))
		p++;
	if (!p->name) {
		list_keys(&cases[test], list, sizeof(list));
		snprintf(error, size, "--set %s: %s has no such key; it has: %s", text, cases[test].name, list);
		return -EINVAL;
	}
	if (parse_value(p, equal + 1, &values->of[test][p - cases[test].params]) < 0) {
		snprintf(error, size, "--set %s: want a %s of %.10g to %.10g (%s)", text,
			 p->whole ? "whole number" : "number", p->min, p->max, p->help);
		return -EINVAL;
	}
	return 0;
}

double param(const struct bench *b, const char *name)
{
	for (int i = 0; b->test->params[i].name; i++)
		if (strcmp(b->test->params[i].name, name) == 0)
			return b->values[i];
	errx(3, "%s asks for its key %s, which is not in its table", b->test->name, name);
}

uint32_t param_count(const struct bench *b, const char *name)
{
	return (uint32_t)param(b, name);
}

uint32_t param_count_or(const struct bench *b, const char *name, uint32_t otherwise)
{
	double value = param(b, name);

	return value < 0 ? otherwise : (uint32_t)value;
}

uint64_t param_ns(const struct bench *b, const char *name)
{
	size_t len = strlen(name);
	double unit = 1e9;

	if (len > 3 && strcmp(name + len - 3, "_us") == 0)
		unit = 1e3;
	else if (len > 3 && strcmp(name + len - 3, "_ms") == 0)
		unit = 1e6;
	return (uint64_t)(param(b, name) * unit);
}

int param_cpu(const struct bench *b, uint32_t *ret_cpu)
{
	const struct machine *m = b->env->machine;
	double cpu = param(b, "cpu");

	if (cpu >= 0 && !machine_has_cpu(m, (uint32_t)cpu))
		return result_error(b->result, -EINVAL, "CPU %.0f is not online, or not one that we may run on", cpu);
	*ret_cpu = cpu < 0 ? m->cpus[0] : (uint32_t)cpu;
	return 0;
}

void params_print(const struct bench_case *test, FILE *out)
{
	for (const struct param *p = test->params; p->name; p++)
		fprintf(out, "    %-16s %-8.10g %.10g..%.10g: %s\n", p->name, p->fallback, p->min, p->max, p->help);
}
