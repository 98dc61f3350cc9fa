/* SPDX-License-Identifier: GPL-2.0-or-later */
/* class.c - the settings of a scheduling class, and their rules */
#include "daemon/class.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS (1000 * NS_PER_US)
#define NS_PER_S (1000 * NS_PER_MS)

const struct class_key class_keys[] = {
	{ "kind", "kind", CLASS_FIELD_KIND, "latency-critical, normal or best-effort" },
	{ "guarantee", "guarantee_cpus", CLASS_FIELD_GUARANTEE, "a whole number of CPUs, 0 to 1024" },
	{ "burst", "burst_cpus", CLASS_FIELD_BURST, "a whole number of CPUs, 1 to 1024" },
	{ "lend", "lend", CLASS_FIELD_LEND, "idle or never" },
	{ "policy", "policy", CLASS_FIELD_POLICY, "vtime, fifo, round-robin, deadline or interactive" },
	{ "slice", "slice", CLASS_FIELD_SLICE, "a duration from 100us to 1s, for example 4ms" },
	{ "quantum", "quantum", CLASS_FIELD_QUANTUM,
	  "0 (turns end with the slice) or a duration from 100us to 1s, for example 500us" },
	{ "weight", "weight", CLASS_FIELD_WEIGHT, "a whole number, 1 to 10000" },
	{ "exclusive_smt", "exclusive_smt", CLASS_FIELD_EXCLUSIVE_SMT, "yes or no" },
	{ "congestion", "congestion_threshold", CLASS_FIELD_CONGESTION, "a duration from 1us to 1s, for example 10us" },
	{ "wakeup_target", "wakeup_target", CLASS_FIELD_WAKEUP_TARGET,
	  "0 (none) or a duration from 1us to 10s, for example 100us" },
};
const size_t class_nr_keys = ARRAY_SIZE(class_keys);

enum value_type { VALUE_KIND, VALUE_LEND, VALUE_POLICY, VALUE_BOOL, VALUE_NUMBER, VALUE_DURATION };

/* How each of class_keys is stored and bounded; zero_ok: 0 is allowed below min. */
static const struct class_rule {
	enum value_type type;
	size_t offset;
	uint64_t min, max;
	bool zero_ok;
} class_rules[] = {
	{ VALUE_KIND, offsetof(struct class_settings, kind), SCHEDD_KIND_BEST_EFFORT, SCHEDD_KIND_LATENCY_CRITICAL,
	  false },
	{ VALUE_NUMBER, offsetof(struct class_settings, guarantee_cpus), 0, SCHEDD_MAX_CPUS, true },
	{ VALUE_NUMBER, offsetof(struct class_settings, burst_cpus), 1, SCHEDD_MAX_CPUS, false },
	{ VALUE_LEND, offsetof(struct class_settings, lend), CLASS_LEND_IDLE, CLASS_LEND_NEVER, false },
	{ VALUE_POLICY, offsetof(struct class_settings, policy), 0, 0, false },
	{ VALUE_DURATION, offsetof(struct class_settings, slice_ns), 100 * NS_PER_US, NS_PER_S, false },
	{ VALUE_DURATION, offsetof(struct class_settings, quantum_ns), 100 * NS_PER_US, NS_PER_S, true },
	{ VALUE_NUMBER, offsetof(struct class_settings, weight), 1, 10000, false },
	{ VALUE_BOOL, offsetof(struct class_settings, exclusive_smt), 0, 1, true },
	{ VALUE_DURATION, offsetof(struct class_settings, congestion_ns), NS_PER_US, NS_PER_S, false },
	{ VALUE_DURATION, offsetof(struct class_settings, wakeup_target_ns), NS_PER_US, 10 * NS_PER_S, true },
};
_Static_assert(ARRAY_SIZE(class_keys) == ARRAY_SIZE(class_rules), "one rule for each key");
_Static_assert((1 << ARRAY_SIZE(class_keys)) - 1 == CLASS_FIELD_ALL, "one key for each field");

static const char *const policy_names[SCHEDD_NR_POLICIES] = {
	[SCHEDD_POLICY_VTIME] = "vtime",
	[SCHEDD_POLICY_FIFO] = "fifo",
	[SCHEDD_POLICY_ROUND_ROBIN] = "round-robin",
	[SCHEDD_POLICY_DEADLINE] = "deadline",
	[SCHEDD_POLICY_INTERACTIVE] = "interactive",
};

int class_name_check(const char *name)
{
	size_t n = strlen(name), i;

	if (!n || n > CLASS_NAME_MAX || name[0] < 'a' || name[0] > 'z' || name[n - 1] == '-')
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') || name[i] == '-'))
			return -EINVAL;
	return 0;
}

const char *class_name_canonical(const char *name)
{
	if (!strcmp(name, "lc"))
		return "latency-critical";
	if (!strcmp(name, "be"))
		return "best-effort";
	if (!strcmp(name, "default"))
		return "normal";
	return name;
}

const char *class_kind_name(uint32_t kind)
{
	switch (kind) {
	case SCHEDD_KIND_LATENCY_CRITICAL:
		return "latency-critical";
	case SCHEDD_KIND_NORMAL:
		return "normal";
	case SCHEDD_KIND_BEST_EFFORT:
		return "best-effort";
	default:
		return NULL;
	}
}

int class_kind_parse(const char *s, uint32_t *ret_kind)
{
	uint32_t kind;

	s = class_name_canonical(s);
	for (kind = SCHEDD_KIND_BEST_EFFORT; kind < SCHEDD_NR_KINDS; kind++)
		if (!strcmp(s, class_kind_name(kind))) {
			*ret_kind = kind;
			return 0;
		}
	return -EINVAL;
}

const char *class_lend_name(uint32_t lend)
{
	return lend == CLASS_LEND_IDLE ? "idle" : lend == CLASS_LEND_NEVER ? "never" : NULL;
}

int class_lend_parse(const char *s, uint32_t *ret_lend)
{
	if (!strcmp(s, "idle"))
		*ret_lend = CLASS_LEND_IDLE;
	else if (!strcmp(s, "never"))
		*ret_lend = CLASS_LEND_NEVER;
	else
		return -EINVAL;
	return 0;
}

int class_policy_parse(const char *s, uint32_t *ret_policy)
{
	for (uint32_t i = 0; i < SCHEDD_NR_POLICIES; i++)
		if (!strcmp(s, policy_names[i])) {
			*ret_policy = i;
			return 0;
		}
	return -EINVAL;
}

/* The words of systemd and of YAML 1.1; numbers are left out, so that "exclusive_smt: 2" is an error. */
static int bool_parse(const char *s, bool *ret_value)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(s, words[i])) {
			*ret_value = i % 2;
			return 0;
		}
	return -EINVAL;
}

static uint64_t field_read(const struct class_settings *s, const struct class_rule *rule)
{
	const char *at = (const char *)s + rule->offset;

	switch (rule->type) {
	case VALUE_BOOL:
		return *(const bool *)at;
	case VALUE_DURATION:
		return *(const uint64_t *)at;
	case VALUE_POLICY:
		return 0;
	default:
		return *(const uint32_t *)at;
	}
}

static const size_t value_sizes[] = {
	[VALUE_KIND] = sizeof(uint32_t),   [VALUE_LEND] = sizeof(uint32_t),
	[VALUE_BOOL] = sizeof(bool),       [VALUE_POLICY] = sizeof(((struct class_settings *)0)->policy),
	[VALUE_NUMBER] = sizeof(uint32_t), [VALUE_DURATION] = sizeof(uint64_t),
};

static void field_copy(struct class_settings *dst, const struct class_settings *src, const struct class_rule *rule)
{
	memcpy((char *)dst + rule->offset, (const char *)src + rule->offset, value_sizes[rule->type]);
}

static bool field_equal(const struct class_settings *a, const struct class_settings *b, const struct class_rule *rule)
{
	const char *x = (const char *)a + rule->offset, *y = (const char *)b + rule->offset;

	/* Behind the end of a text anything may be left. */
	return rule->type == VALUE_POLICY ? strcmp(x, y) == 0 : memcmp(x, y, value_sizes[rule->type]) == 0;
}

/* 0, -EINVAL or -ERANGE. */
static int field_check(const struct class_settings *s, size_t i)
{
	const struct class_rule *rule = &class_rules[i];
	uint64_t value = field_read(s, rule);
	uint32_t policy;

	if (rule->type == VALUE_POLICY)
		return class_policy_parse(s->policy, &policy);
	if (rule->type == VALUE_KIND || rule->type == VALUE_LEND)
		return value < rule->min || value > rule->max ? -EINVAL : 0;
	if (!value && rule->zero_ok)
		return 0;
	return value < rule->min || value > rule->max ? -ERANGE : 0;
}

static int field_fail(int r, size_t i, char *error, size_t error_size)
{
	snprintf(error, error_size, "must be %s", class_keys[i].help);
	return r;
}

static int field_parse(struct class_settings *s, const struct class_rule *rule, const char *value)
{
	char *at = (char *)s + rule->offset;
	uint64_t number;
	int r;

	switch (rule->type) {
	case VALUE_KIND:
		return class_kind_parse(value, (uint32_t *)at);
	case VALUE_LEND:
		return class_lend_parse(value, (uint32_t *)at);
	case VALUE_POLICY:
		return str_copy(at, sizeof(s->policy), value) < 0 ? -EINVAL : 0;
	case VALUE_BOOL:
		return bool_parse(value, (bool *)at);
	case VALUE_NUMBER:
		r = str_parse_u64(value, UINT32_MAX, &number);
		if (r < 0)
			return r;
		*(uint32_t *)at = (uint32_t)number;
		return 0;
	case VALUE_DURATION:
		return str_parse_duration_ns(value, (uint64_t *)at);
	}
	return -EINVAL;
}

int class_settings_parse_key(struct class_settings *s, const struct class_key *key, const char *value, char *error,
			     size_t error_size)
{
	size_t i = (size_t)(key - class_keys);
	struct class_settings parsed = *s;
	int r;

	r = field_parse(&parsed, &class_rules[i], value);
	if (r == 0)
		r = field_check(&parsed, i);
	if (r < 0)
		return field_fail(r, i, error, error_size);
	parsed.set |= key->field;
	*s = parsed;
	return 0;
}

char *class_settings_format_key(const struct class_settings *s, const struct class_key *key, char *dst, size_t size)
{
	const struct class_rule *rule = &class_rules[key - class_keys];
	uint64_t value = field_read(s, rule);
	const char *word = NULL;

	if (rule->type == VALUE_DURATION)
		return str_format_duration_ns(dst, size, value);
	if (rule->type == VALUE_KIND)
		word = class_kind_name((uint32_t)value);
	else if (rule->type == VALUE_LEND)
		word = class_lend_name((uint32_t)value);
	else if (rule->type == VALUE_POLICY)
		word = s->policy;
	else if (rule->type == VALUE_BOOL)
		word = value ? "yes" : "no";
	if (rule->type == VALUE_NUMBER)
		snprintf(dst, size, "%" PRIu64, value);
	else
		snprintf(dst, size, "%s", word ? word : "");
	return dst;
}

int class_settings_check(const struct class_settings *s, char *error, size_t error_size)
{
	const uint32_t both = CLASS_FIELD_GUARANTEE | CLASS_FIELD_BURST;
	char text[160];
	size_t i;
	int r;

	for (i = 0; i < class_nr_keys; i++) {
		if (!(s->set & class_keys[i].field))
			continue;
		r = field_check(s, i);
		if (r < 0) {
			field_fail(r, i, text, sizeof(text));
			snprintf(error, error_size, "%s: %s", class_keys[i].yaml, text);
			return r;
		}
	}
	if ((s->set & both) == both && s->burst_cpus < s->guarantee_cpus) {
		snprintf(error, error_size, "burst: %" PRIu32 " is below the guarantee of %" PRIu32
			 " CPUs; raise burst or lower guarantee", s->burst_cpus, s->guarantee_cpus);
		return -EINVAL;
	}
	return 0;
}

void class_settings_merge(struct class_settings *base, const struct class_settings *over)
{
	size_t i;

	for (i = 0; i < class_nr_keys; i++)
		if (over->set & class_keys[i].field)
			field_copy(base, over, &class_rules[i]);
	base->set |= over->set & CLASS_FIELD_ALL;
}

bool class_settings_equal(const struct class_settings *a, const struct class_settings *b)
{
	if (a->set != b->set)
		return false;
	for (size_t i = 0; i < class_nr_keys; i++)
		if (a->set & class_keys[i].field && !field_equal(a, b, &class_rules[i]))
			return false;
	return true;
}

/*
 * normal keeps a tenth of the machine so that sshd and kubelet live beside any
 * load; with one CPU a guarantee would own it, there the floor does that work.
 */
static uint32_t default_guarantee(uint32_t kind, uint32_t nr_cpus)
{
	if (kind != SCHEDD_KIND_NORMAL || nr_cpus <= 1)
		return 0;
	return nr_cpus < 10 ? 1 : nr_cpus / 10;
}

void class_settings_default(struct class_settings *ret, uint32_t kind, uint32_t nr_cpus)
{
	/* Best-effort is preempted at once when others need the CPU: a short slice only costs it throughput. */
	static const struct class_settings by_kind[SCHEDD_NR_KINDS] = {
		[SCHEDD_KIND_BEST_EFFORT] = { .slice_ns = 20 * NS_PER_MS, .congestion_ns = 10 * NS_PER_MS },
		[SCHEDD_KIND_NORMAL] = { .slice_ns = 4 * NS_PER_MS, .congestion_ns = NS_PER_MS },
		[SCHEDD_KIND_LATENCY_CRITICAL] = { .slice_ns = 4 * NS_PER_MS, .congestion_ns = 10 * NS_PER_US },
	};

	if (kind == SCHEDD_KIND_NONE || kind >= SCHEDD_NR_KINDS)
		kind = SCHEDD_KIND_NORMAL;
	if (nr_cpus < 1)
		nr_cpus = 1;
	*ret = by_kind[kind];
	ret->set = CLASS_FIELD_ALL;
	ret->kind = kind;
	ret->guarantee_cpus = default_guarantee(kind, nr_cpus);
	ret->burst_cpus = nr_cpus;
	ret->lend = CLASS_LEND_IDLE;
	ret->weight = 100;
	/* Where nobody said what matters, the task that sleeps most is probably what somebody waits for. */
	strcpy(ret->policy, kind == SCHEDD_KIND_NORMAL ? "interactive" : "vtime");
}
