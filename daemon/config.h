/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.h - YAML files and drop-ins -> struct config
 *
 * schedd.yaml of the last of /usr/lib, /run, /etc wins; then conf.d of all,
 * sorted by file name; scalars: last wins, classes merge by name and key, rules
 * are appended.  Any error refuses the whole: nothing half-read leaves here.
 * schedctl uses this file too (config verify), so it needs neither daemon nor root.
 */
#ifndef SCHEDD_CONFIG_H
#define SCHEDD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cgroup/rules.h"
#include "daemon/base/arena.h"
#include "daemon/command.h"
#include "daemon/state.h"

struct config_error {
	const char *file, *key, *value, *message;
	uint32_t line, column;            /* 1-based; 0 = the whole file */
};

struct config {
	/* scheduler: */
	enum schedd_mode mode;            /* never MODE_UNSET */
	uint64_t alive_max_ns;
	uint64_t watchdog_ns;
	bool unsupported_stay;            /* unsupported: exit | stay */
	/* allocator: */
	const char *policy;               /* of alloc_policy_find() */
	uint64_t interval_ns;
	int poll_cpu;                     /* -1 = none: on a timer */
	uint64_t congestion_ns;           /* of latency-critical classes that do not name their own */
	uint64_t park_ns;
	/* classes:, rules: */
	struct state_config_class *classes;
	size_t nr_classes;
	struct cgroup_rule *rules;
	size_t nr_rules;
	/* leases: */
	uint64_t lease_ttl_max_ns;
	uint32_t lease_max;
	/* api: */
	mode_t socket_mode;
	const char *group;
	/* metrics: */
	const char *metrics_listen;       /* "host:port", "[v6]:port"; "" = off */
	uint32_t metrics_max_series;

	const char **files;
	size_t nr_files;
	struct config_error *errors;      /* config_load() returned -EINVAL */
	size_t nr_errors;
	struct arena arena;               /* owns everything above */
};

/*
 * The search path: directories in rising precedence, each may hold schedd.yaml
 * and conf.d/.  NULL = /usr/lib/schedd, /run/schedd, /etc/schedd.
 */
struct config_paths {
	const char *const *dirs;
	size_t nr_dirs;
};

/* 0, -EINVAL (ret_config->errors says all that is wrong), -ENOMEM, or -errno of reading with an error entry. */
int config_load(const struct config_paths *paths, uint32_t nr_cpus, struct config **ret_config);
/* One file or one directory, for `config verify PATH`. */
int config_load_path(const char *path, uint32_t nr_cpus, struct config **ret_config);
void config_free(struct config *c);

/* "file:line:column: key `k': value `v': message" */
void config_error_print(const struct config_error *e, FILE *out);
/* The effective configuration as one YAML document, in the arena given. */
char *config_to_yaml(const struct config *c, struct arena *arena);

#endif
