/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_private.h - what the files of the configuration reader share */
#ifndef SCHEDD_CONFIG_PRIVATE_H
#define SCHEDD_CONFIG_PRIVATE_H

#include "daemon/config.h"
#include "daemon/config_yaml.h"

enum {
	CONFIG_MAX_ERRORS = 32,
	CONFIG_MAX_RULES = 4096,
	CONFIG_MAX_DROPINS = 1024,
	CONFIG_NR_CLASS_KEYS = 11,
};

struct config_place {
	const char *file;                 /* NULL = not set */
	uint32_t line, column;            /* 0 = the whole file */
};

struct config_class_draft {
	struct state_config_class class;
	struct config_place place;        /* first mention */
	struct config_place last;         /* last mention */
	struct config_place key_places[CONFIG_NR_CLASS_KEYS]; /* in the order of class_keys */
	bool kind_refused;                /* said already */
};

struct config_rule_draft {
	struct config_rule_draft *next;
	struct cgroup_rule rule;
	struct config_place glob_place, class_place;
	const char *class_key;            /* "rules[2].class" */
	const char *class_text;           /* as written */
};

struct config_build {
	struct config *config;
	uint32_t nr_cpus;                 /* 0 = not known */
	struct config_class_draft classes[SCHEDD_MAX_CLASSES];
	size_t nr_classes, nr_own_classes;
	struct config_rule_draft *rules, **rules_tail;
	size_t nr_rules;
	struct config_place interval_place; /* where allocator.interval was last set */
	int read_error;                   /* first -errno of reading a file */
};

/* Adds an error; 0, or -ENOMEM.  key and value may be "". */
int config_report(struct config *c, const struct config_place *place, const char *key, const char *value,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* config_build.c.  What is wrong is reported; only -ENOMEM is returned. */
int config_build_file(struct config_build *b, const char *file, const struct config_node *root);
int config_build_finish(struct config_build *b);

/* config_files.c.  Paths in order of reading, in the arena of the config. */
struct config_file_list {
	const char **paths;
	size_t nr_paths;
};
int config_files_find(struct config_build *b, const struct config_paths *paths, struct config_file_list *ret_list);
/* *ret_text NULL: the file is masked by /dev/null, or was reported; malloc()ed. */
int config_files_read(struct config_build *b, const char *path, char **ret_text, size_t *ret_size);

#endif
