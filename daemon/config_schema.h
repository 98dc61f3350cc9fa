/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_schema.h - the one list of configuration keys: reading, printing, manual page check
 *
 * Paths are written as in the manual page: "scheduler.mode",
 * "classes.NAME.kind", "rules[].cgroup".
 */
#ifndef SCHEDD_CONFIG_SCHEMA_H
#define SCHEDD_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/config.h"

struct config_schema_key {
	const char *path;
	const char *fallback;   /* the default, as text */
	const char *help;       /* what is allowed, after "must be" */
	/* 0, -EINVAL, -ERANGE, -ENOMEM; -EOPNOTSUPP: known, in a later version. */
	int (*set)(struct config *c, const char *value);
	void (*get)(const struct config *c, char *dst, size_t size);
};
extern const struct config_schema_key config_schema_keys[];
extern const size_t config_schema_nr_keys;

int config_schema_set_defaults(struct config *c);

/* NULL when there is none. */
const struct config_schema_key *config_schema_find(const char *path);

/* Every path of this version in turn, also those of classes and rules; false behind the last. */
bool config_schema_path(size_t i, char *dst, size_t size);

/* Keys of later versions; a section stands for all that is below it. */
extern const char *const config_schema_later[];
extern const size_t config_schema_nr_later;
bool config_schema_is_later(const char *path);

/* "unknown key; did you mean `mode'?" or the list of what is allowed below prefix ("", "scheduler.", ...). */
void config_schema_suggest(const char *prefix, const char *key, char *dst, size_t size);

#endif
