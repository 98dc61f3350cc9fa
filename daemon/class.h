/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * class.h - the settings of a scheduling class, and their rules
 *
 * One struct serves the configuration, calls and the model: `set` says which
 * fields are present, so "absent" is never a magic value.  Pure, no I/O.
 */
#ifndef SCHEDD_CLASS_H
#define SCHEDD_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/intf.h"

enum { CLASS_NAME_MAX = 32 }; /* bytes without NUL: [a-z]([a-z0-9-]{0,30}[a-z0-9])? */

/* In the order of SchedClass in scheduler.proto. */
enum class_field {
	CLASS_FIELD_KIND = 1 << 0,
	CLASS_FIELD_GUARANTEE = 1 << 1,
	CLASS_FIELD_BURST = 1 << 2,
	CLASS_FIELD_LEND = 1 << 3,
	CLASS_FIELD_POLICY = 1 << 4,
	CLASS_FIELD_SLICE = 1 << 5,
	CLASS_FIELD_QUANTUM = 1 << 6,
	CLASS_FIELD_WEIGHT = 1 << 7,
	CLASS_FIELD_EXCLUSIVE_SMT = 1 << 8,
	CLASS_FIELD_CONGESTION = 1 << 9,
	CLASS_FIELD_WAKEUP_TARGET = 1 << 10,
	CLASS_FIELD_ALL = (1 << 11) - 1,
};

enum class_lend { CLASS_LEND_UNSET = 0, CLASS_LEND_IDLE = 1, CLASS_LEND_NEVER = 2 };

struct class_settings {
	uint32_t set;                /* CLASS_FIELD_* that are present */
	uint32_t kind;               /* enum schedd_kind */
	uint32_t guarantee_cpus;
	uint32_t burst_cpus;
	uint32_t lend;               /* enum class_lend */
	char policy[16];             /* a name of class_policy_parse() */
	uint64_t slice_ns;
	uint64_t quantum_ns;
	uint32_t weight;             /* 1..10000 */
	bool exclusive_smt;
	uint64_t congestion_ns;
	uint64_t wakeup_target_ns;
};

/* 0 or -EINVAL; the rule of CLASS_NAME_MAX. */
int class_name_check(const char *name);

/* "lc", "be", "default" -> long names, anything else unchanged; never NULL for a non-NULL name. */
const char *class_name_canonical(const char *name);

const char *class_kind_name(uint32_t kind); /* "latency-critical", "normal", "best-effort"; NULL otherwise */
int class_kind_parse(const char *s, uint32_t *ret_kind); /* also "lc", "be" and "default"; -EINVAL */
const char *class_lend_name(uint32_t lend); /* "idle", "never"; NULL otherwise */
int class_lend_parse(const char *s, uint32_t *ret_lend);

int class_policy_parse(const char *s, uint32_t *ret_policy); /* enum schedd_policy; -EINVAL */

/* One list of keys for YAML, schedctl and field masks. */
struct class_key {
	const char *yaml;   /* "guarantee" */
	const char *proto;  /* "guarantee_cpus" */
	uint32_t field;     /* enum class_field */
	const char *help;   /* what is allowed, for errors and --help */
};
extern const struct class_key class_keys[];
extern const size_t class_nr_keys;

/* value as text ("2", "2ms", "never", "yes"); on -EINVAL/-ERANGE *error says what is allowed. */
int class_settings_parse_key(struct class_settings *s, const struct class_key *key, const char *value, char *error,
			     size_t error_size);

/* The text that class_settings_parse_key() reads back as the same value; returns dst (32 bytes are enough). */
char *class_settings_format_key(const struct class_settings *s, const struct class_key *key, char *dst, size_t size);

/*
 * Checks the present fields.  -EINVAL or -ERANGE, text in error.
 */
int class_settings_check(const struct class_settings *s, char *error, size_t error_size);

/* The same fields present, with the same values; what an absent one holds does not count. */
bool class_settings_equal(const struct class_settings *a, const struct class_settings *b);

/* Fields present in `over` replace those of `base`. */
void class_settings_merge(struct class_settings *base, const struct class_settings *over);

/* Every field present: defaults of operations.md for that kind on nr_cpus online CPUs. */
void class_settings_default(struct class_settings *ret, uint32_t kind, uint32_t nr_cpus);

#endif
