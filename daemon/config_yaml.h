/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config_yaml.h - one YAML document -> a tree of nodes that know their place in the file
 *
 * The subset that a configuration needs: one document of mappings, lists and
 * scalars.  Anchors, aliases, tags, several documents, equal keys and deep
 * nesting are refused, so that what a reader sees is what is meant.
 */
#ifndef SCHEDD_CONFIG_YAML_H
#define SCHEDD_CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/arena.h"

enum { CONFIG_FILE_MAX_BYTES = 1 << 20 };

enum config_node_type { CONFIG_NODE_SCALAR, CONFIG_NODE_MAP, CONFIG_NODE_LIST };

struct config_node {
	enum config_node_type type;
	const char *text;                 /* scalar; "" otherwise */
	bool is_null;                     /* nothing, "~" or "null", not quoted */
	uint32_t line, column;            /* 1-based, of the value */
	const char *key;                  /* child of a map */
	uint32_t key_line, key_column;
	struct config_node *first, *next; /* children and siblings, in order */
};

struct config_yaml_error {
	uint32_t line, column;            /* 0 = the whole file */
	const char *key;                  /* "" when it is about no key */
	const char *message;              /* in the arena */
};

/*
 * *ret_root is NULL for an empty document.  -EINVAL: *ret_error is filled;
 * -ENOMEM: the arena is exhausted.  Text need not end in NUL.
 */
int config_yaml_parse(const char *text, size_t size, struct arena *arena, struct config_node **ret_root,
		      struct config_yaml_error *ret_error);

const char *config_node_type_name(enum config_node_type type); /* "a mapping (key: value)", ... */

#endif
