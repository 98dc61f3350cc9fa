/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics.c - a snapshot -> text 0.0.4 or OpenMetrics 1.0, both from metrics_list.h */
#include "daemon/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/attach.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/metrics_list.h"

struct writer {
	FILE *out;
	enum metrics_format format;
	const struct metrics_family *family;
};

struct label {
	const char *name, *value;
};

static double ns_to_s(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Sums over CPUs that are read while they change may pass below zero for a moment. */
static double at_least_zero(int64_t value)
{
	return value > 0 ? (double)value : 0;
}

/* A byte that is no UTF-8 would make the scraper refuse the whole page. */
static void put_label_value(FILE *out, const char *value)
{
	bool utf8 = str_is_utf8(value);

	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			fprintf(out, "\\%c", *value);
		else if (*value == '\n')
			fputs("\\n", out);
		else
			fputc(!utf8 && *value & 0x80 ? '?' : *value, out);
	}
}

/* The shortest text that reads back as the same number. */
static void put_number(FILE *out, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, out);
}

/* labels ends with an entry without a name; suffix is what the type adds to the family's name. */
static void put_sample(const struct writer *w, const char *suffix, const struct label *labels, double value)
{
	const char *separator = "{";

	fprintf(w->out, "%s%s", w->family->name, suffix);
	for (; labels && labels->name; labels++) {
		fprintf(w->out, "%s%s=\"", separator, labels->name);
		put_label_value(w->out, labels->value ?: "");
		fputc('"', w->out);
		separator = ",";
	}
	if (separator[0] == ',')
		fputc('}', w->out);
	fputc(' ', w->out);
	put_number(w->out, value);
	fputc('\n', w->out);
}

static const char *type_suffix(const struct metrics_family *f)
{
	if (strcmp(f->type, "counter") == 0)
		return "_total";
	return strcmp(f->type, "info") == 0 ? "_info" : "";
}

#define LABELS(...) ((const struct label[]){ __VA_ARGS__, {} })

static void put_value(const struct writer *w, const struct label *labels, double value)
{
	put_sample(w, type_suffix(w->family), labels, value);
}

/*
 * OpenMetrics names the family, the text format what its samples are called;
 * the latter knows neither info nor units.
 */
static void put_header(const struct writer *w)
{
	const struct metrics_family *f = w->family;
	bool text = w->format == METRICS_TEXT;
	const char *suffix = text ? type_suffix(f) : "";

	fprintf(w->out, "# HELP %s%s %s\n", f->name, suffix, f->help);
	fprintf(w->out, "# TYPE %s%s %s\n", f->name, suffix, text && strcmp(f->type, "info") == 0 ? "gauge" : f->type);
	if (!text && f->unit[0])
		fprintf(w->out, "# UNIT %s %s\n", f->name, f->unit);
}

#define for_each_class(c, m) \
	for (const struct metrics_class *c = (m)->classes; c < (m)->classes + SCHEDD_MAX_CLASSES; c++) \
		if (c->used)

/* Exactly one sample is 1, or none when value is ""; a value that is not listed gets its own sample. */
static void put_one_hot(const struct writer *w, const char *label, const char *const *names, size_t nr_names,
			const char *value)
{
	bool found = !value || !value[0];

	for (size_t i = 0; i < nr_names; i++) {
		bool is = value && strcmp(names[i], value) == 0;

		put_value(w, LABELS({ label, names[i] }), is);
		found |= is;
	}
	if (!found)
		put_value(w, LABELS({ label, value }), 1);
}

static void emit_schedd_build(const struct writer *w, const struct metrics_snapshot *m)
{
	put_value(w,
		  LABELS({ "version", m->version }, { "revision", m->revision }, { "bpf_hash", m->bpf_hash },
			 { "kernel", m->kernel }),
		  1);
}

static void emit_schedd_scheduler_state(const struct writer *w, const struct metrics_snapshot *m)
{
	const char *names[NR_ATTACH_STATES];

	for (int state = 0; state < NR_ATTACH_STATES; state++)
		names[state] = attach_state_name((enum attach_state)state);
	put_one_hot(w, "state", names, ARRAY_SIZE(names), m->state);
}

static void emit_schedd_mode(const struct writer *w, const struct metrics_snapshot *m)
{
	const char *names[NR_MODES - 1];

	for (int mode = MODE_UNSET + 1; mode < NR_MODES; mode++)
		names[mode - 1] = mode_name((enum schedd_mode)mode);
	put_one_hot(w, "mode", names, ARRAY_SIZE(names), m->mode);
}

static void emit_schedd_hold(const struct writer *w, const struct metrics_snapshot *m)
{
	static const char *const names[] = { "sysrq", "mode-detached", "ejections" };

	put_one_hot(w, "reason", names, ARRAY_SIZE(names), m->hold_reason);
}

static void emit_schedd_scheduler_ejections(const struct writer *w, const struct metrics_snapshot *m)
{
	static const char *const names[] = { "stall", "error", "sysrq", "other" };

	_Static_assert(ARRAY_SIZE(names) == ARRAY_SIZE(m->ejections), "one name per reason");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put_value(w, LABELS({ "reason", names[i] }), (double)m->ejections[i]);
}

static void emit_schedd_kernel_events(const struct writer *w, const struct metrics_snapshot *m)
{
	const struct schedd_cpu_stats *s = &m->cpu_sum;
	const struct {
		const char *name;
		uint64_t count;
	} own[] = {
		{ "reflex_lost", s->reflex_lost },       { "tick_rescues", s->tick_rescues },
		{ "class_misses", s->class_misses },     { "kthread_direct", s->kthread_direct },
		{ "kthread_demoted", s->kthread_demoted }, { "alive_lost", s->alive_lost },
		{ "task_misses", s->task_misses },
	};

	for (size_t i = 0; i < m->nr_kernel_events && i < ARRAY_SIZE(m->kernel_events); i++)
		put_value(w, LABELS({ "event", m->kernel_event_names[i] }), (double)m->kernel_events[i]);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		put_value(w, LABELS({ "event", own[i].name }), (double)own[i].count);
}

static void emit_schedd_class_limit_cpus(const struct writer *w, const struct metrics_snapshot *m)
{
	for_each_class(c, m) {
		put_value(w, LABELS({ "class", c->name }, { "limit", "guarantee" }), c->guarantee_cpus);
		put_value(w, LABELS({ "class", c->name }, { "limit", "burst" }), c->burst_cpus);
	}
}

static void emit_schedd_lease_requests(const struct writer *w, const struct metrics_snapshot *m)
{
	static const char *const names[] = { "granted", "partial", "refused", "renewed", "released" };

	_Static_assert(ARRAY_SIZE(names) == NR_LEASE_RESULTS, "one name per result");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put_value(w, LABELS({ "result", names[i] }), (double)m->lease_requests[i]);
}

static void put_histogram(const struct writer *w, const struct metrics_class *c, const char *scheduler,
			  const struct metrics_latency *l)
{
	uint64_t count = 0;
	char edge[40];

	for (unsigned int i = 0; i < SCHEDD_LAT_BUCKETS; i++) {
		bool last = i == SCHEDD_LAT_BUCKETS - 1;

		count += l->hist[i];
		/* Ten digits are exact for every power of two below 2^34 ns. */
		snprintf(edge, sizeof(edge), "%.10g", ns_to_s(1ULL << (SCHEDD_LAT_FIRST_SHIFT + i)));
		put_sample(w, "_bucket",
			   LABELS({ "class", c->name }, { "scheduler", scheduler }, { "le", last ? "+Inf" : edge }),
			   (double)count);
	}
	put_sample(w, "_sum", LABELS({ "class", c->name }, { "scheduler", scheduler }), ns_to_s(l->sum_ns));
	/* Not sum.wakeups: read at another instant it would differ from the last bucket. */
	put_sample(w, "_count", LABELS({ "class", c->name }, { "scheduler", scheduler }), (double)count);
}

static void emit_schedd_class_wakeup_latency_seconds(const struct writer *w, const struct metrics_snapshot *m)
{
	static const char *const names[] = { [METRICS_SCHEDD] = "schedd", [METRICS_KERNEL] = "kernel" };

	_Static_assert(ARRAY_SIZE(names) == NR_METRICS_SCHEDULERS, "one name per scheduler");
	for_each_class(c, m) {
		for (size_t by = 0; by < ARRAY_SIZE(names); by++)
			put_histogram(w, c, names[by], &c->wakeups[by]);
	}
}

static void emit_schedd_class_assignments(const struct writer *w, const struct metrics_snapshot *m)
{
	for_each_class(c, m) {
		put_value(w, LABELS({ "class", c->name }, { "source", "call" }), c->assignments_call);
		put_value(w, LABELS({ "class", c->name }, { "source", "config" }), c->assignments_config);
	}
}

static void emit_schedd_dispatches(const struct writer *w, const struct metrics_snapshot *m)
{
	for_each_class(c, m) {
		put_value(w, LABELS({ "class", c->name }, { "path", "direct" }), (double)c->sum.dispatch_direct);
		put_value(w, LABELS({ "class", c->name }, { "path", "class" }), (double)c->sum.dispatch_class);
		put_value(w, LABELS({ "class", c->name }, { "path", "percpu" }), (double)c->sum.dispatch_percpu);
		put_value(w, LABELS({ "class", c->name }, { "path", "kept" }), (double)c->sum.dispatch_kept);
	}
}

static void put_summary(const struct writer *w, double sum, uint64_t count)
{
	put_sample(w, "_sum", NULL, sum);
	put_sample(w, "_count", NULL, (double)count);
}

static void emit_schedd_plan_duration_seconds(const struct writer *w, const struct metrics_snapshot *m)
{
	put_summary(w, m->plan_duration_sum_seconds, m->plan_duration_count);
}

static void emit_schedd_core_reallocations(const struct writer *w, const struct metrics_snapshot *m)
{
	static const char *const directions[] = { "gained", "lost" };

	for_each_class(c, m)
		for (size_t way = 0; way < ARRAY_SIZE(directions); way++)
			for (int trigger = ALLOC_TRIGGER_NONE + 1; trigger < NR_ALLOC_TRIGGERS; trigger++)
				put_value(w,
					  LABELS({ "class", c->name }, { "direction", directions[way] },
						 { "trigger", alloc_trigger_name((enum alloc_trigger)trigger) }),
					  (double)c->reallocations[way][trigger]);
}

static void emit_schedd_core_reallocation_latency_seconds(const struct writer *w, const struct metrics_snapshot *m)
{
	put_summary(w, m->reallocation_sum_seconds, m->reallocation_count);
}

static void emit_schedd_cgroup_events(const struct writer *w, const struct metrics_snapshot *m)
{
	put_value(w, LABELS({ "kind", "created" }), (double)m->cgroup_created);
	put_value(w, LABELS({ "kind", "removed" }), (double)m->cgroup_removed);
}

static void emit_schedd_grpc_requests(const struct writer *w, const struct metrics_snapshot *m)
{
	for (int i = 0; i < NR_COMMANDS; i++)
		put_value(w, LABELS({ "method", command_name((enum command_type)i) }), (double)m->methods[i].requests);
}

/* All pairs would be 240 series a node; INTERNAL is the one to alert on, so it is there before its first. */
static void emit_schedd_grpc_request_failures(const struct writer *w, const struct metrics_snapshot *m)
{
	static const char *const codes[] = {
		"OK",          "CANCELLED",         "UNKNOWN",            "INVALID_ARGUMENT",    "DEADLINE_EXCEEDED",
		"NOT_FOUND",   "ALREADY_EXISTS",    "PERMISSION_DENIED",  "RESOURCE_EXHAUSTED",  "FAILED_PRECONDITION",
		"ABORTED",     "OUT_OF_RANGE",      "UNIMPLEMENTED",      "INTERNAL",            "UNAVAILABLE",
		"DATA_LOSS",   "UNAUTHENTICATED",
	};

	_Static_assert(ARRAY_SIZE(codes) == ARRAY_SIZE(m->methods[0].failures), "one name per status code");
	for (int i = 0; i < NR_COMMANDS; i++)
		for (size_t code = COMMAND_OK + 1; code < ARRAY_SIZE(codes); code++)
			if (m->methods[i].failures[code] || code == COMMAND_INTERNAL)
				put_value(w,
					  LABELS({ "method", command_name((enum command_type)i) },
						 { "code", codes[code] }),
					  (double)m->methods[i].failures[code]);
}

static void emit_schedd_grpc_request_duration_seconds(const struct writer *w, const struct metrics_snapshot *m)
{
	put_summary(w, m->request_seconds_sum, m->request_seconds_count);
}

static void emit_schedd_connections_refused(const struct writer *w, const struct metrics_snapshot *m)
{
	put_value(w, LABELS({ "reason", "total" }), (double)m->connections_refused_total);
	put_value(w, LABELS({ "reason", "per_uid" }), (double)m->connections_refused_per_uid);
	put_value(w, LABELS({ "reason", "idle" }), (double)m->connections_refused_idle);
}

#define DEFINE_SCALAR(name_, type_, unit_, help_, value_)                                         \
	static void emit_##name_(const struct writer *w, const struct metrics_snapshot *m)        \
	{                                                                                         \
		put_value(w, NULL, (double)(value_));                                             \
	}
#define DEFINE_CLASS(name_, type_, unit_, help_, value_)                                          \
	static void emit_##name_(const struct writer *w, const struct metrics_snapshot *m)        \
	{                                                                                         \
		for_each_class(c, m)                                                              \
			put_value(w, LABELS({ "class", c->name }), (double)(value_));             \
	}
#define DEFINE_NOTHING(...)
METRICS_LIST(DEFINE_SCALAR, DEFINE_CLASS, DEFINE_NOTHING)

#define FAMILY_SCALAR(name_, type_, unit_, help_, value_) { #name_, #type_, unit_, "", help_ },
#define FAMILY_CLASS(name_, type_, unit_, help_, value_) { #name_, #type_, unit_, "class", help_ },
#define FAMILY_CUSTOM(name_, type_, unit_, labels_, help_) { #name_, #type_, unit_, labels_, help_ },
const struct metrics_family metrics_families[] = { METRICS_LIST(FAMILY_SCALAR, FAMILY_CLASS, FAMILY_CUSTOM) };
const size_t metrics_nr_families = ARRAY_SIZE(metrics_families);

#define EMITTER(name_, ...) emit_##name_,
static void (*const emitters[])(const struct writer *w, const struct metrics_snapshot *m) = {
	METRICS_LIST(EMITTER, EMITTER, EMITTER)
};

int metrics_render(const struct metrics_snapshot *m, enum metrics_format format, FILE *out)
{
	struct writer w = { .out = out, .format = format };

	for (size_t i = 0; i < ARRAY_SIZE(emitters); i++) {
		w.family = &metrics_families[i];
		put_header(&w);
		emitters[i](&w, m);
	}
	if (format == METRICS_OPENMETRICS)
		fputs("# EOF\n", out);
	return ferror(out) ? -EIO : 0;
}
