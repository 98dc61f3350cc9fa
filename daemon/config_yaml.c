/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_yaml.c - one YAML document -> a tree of nodes that know their place in the file */
#include "daemon/config_yaml.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

enum {
	MAX_DEPTH = 8,
	MAX_NODES = 65536,      /* with the size of the file: what one file can cost */
	MAX_MAP_KEYS = 256,     /* equal keys are found by comparing all */
};

struct yaml_reader {
	yaml_parser_t parser;
	const char *text;
	size_t size;
	struct arena *arena;
	struct config_yaml_error *error;
	size_t nr_nodes;
};

const char *config_node_type_name(enum config_node_type type)
{
	switch (type) {
	case CONFIG_NODE_MAP:
		return "a mapping (key: value)";
	case CONFIG_NODE_LIST:
		return "a list";
	default:
		return "a single value";
	}
}

static int fail_at(struct yaml_reader *r, size_t line, size_t column, const char *key, const char *message)
{
	if (!message)
		return -ENOMEM;
	r->error->line = (uint32_t)line;
	r->error->column = (uint32_t)column;
	r->error->key = key;
	r->error->message = message;
	return -EINVAL;
}

static int fail_mark(struct yaml_reader *r, const yaml_mark_t *mark, const char *message)
{
	return fail_at(r, mark->line + 1, mark->column + 1, "", message);
}

/* libyaml knows only the offset of a byte that it cannot read. */
static int fail_byte(struct yaml_reader *r)
{
	const yaml_parser_t *p = &r->parser;
	size_t i, line = 1, column = 1;

	for (i = 0; i < r->size && i < p->problem_offset; i++) {
		if (r->text[i] == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)r->text[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	if (p->problem && strstr(p->problem, "control"))
		return fail_at(r, line, column, "",
			       arena_printf(r->arena, "the control character U+%04X is not allowed",
					    (unsigned int)p->problem_value));
	return fail_at(r, line, column, "",
		       arena_printf(r->arena, "not valid UTF-8: byte 0x%02x", (unsigned int)p->problem_value & 0xff));
}

/* First byte of a place given in characters; NULL when it is beyond the end. */
static const char *find_place(const struct yaml_reader *r, const yaml_mark_t *mark)
{
	const char *p = r->text, *end = r->text + r->size;
	size_t n;

	for (n = mark->line; n && p < end; p++)
		if (*p == '\n')
			n--;
	for (n = mark->column; n && p < end; n--)
		do
			p++;
		while (p < end && ((unsigned char)*p & 0xc0) == 0x80);
	return p < end ? p : NULL;
}

static int fail_syntax(struct yaml_reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem ? p->problem : "unknown problem";
	const char *place;

	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (p->error == YAML_READER_ERROR)
		return fail_byte(r);
	if (p->error != YAML_SCANNER_ERROR && p->error != YAML_PARSER_ERROR)
		return fail_at(r, 0, 0, "", arena_printf(r->arena, "not YAML: %s", problem));
	place = find_place(r, &p->problem_mark);
	if (place && *place == '\t')
		return fail_mark(r, &p->problem_mark,
				 arena_strdup(r->arena, "a tab cannot indent YAML; use spaces"));
	if (!p->context)
		return fail_mark(r, &p->problem_mark, arena_printf(r->arena, "not YAML: %s", problem));
	return fail_mark(r, &p->problem_mark,
			 arena_printf(r->arena, "not YAML: %s (%s that began at line %zu)", problem, p->context,
				      p->context_mark.line + 1));
}

static int next_event(struct yaml_reader *r, yaml_event_t *ret_event)
{
	return yaml_parser_parse(&r->parser, ret_event) ? 0 : fail_syntax(r);
}

static int check_decoration(struct yaml_reader *r, const yaml_event_t *e)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (e->type == YAML_ALIAS_EVENT)
		return fail_mark(r, &e->start_mark,
				 arena_strdup(r->arena, "aliases (*name) are not supported; repeat the value"));
	if (e->type == YAML_SCALAR_EVENT) {
		anchor = e->data.scalar.anchor;
		tag = e->data.scalar.tag;
	} else if (e->type == YAML_MAPPING_START_EVENT) {
		anchor = e->data.mapping_start.anchor;
		tag = e->data.mapping_start.tag;
	} else if (e->type == YAML_SEQUENCE_START_EVENT) {
		anchor = e->data.sequence_start.anchor;
		tag = e->data.sequence_start.tag;
	}
	if (anchor)
		return fail_mark(r, &e->start_mark,
				 arena_strdup(r->arena, "anchors (&name) are not supported; remove it"));
	if (tag)
		return fail_mark(r, &e->start_mark,
				 arena_strdup(r->arena, "tags (!name) are not supported; remove it"));
	return 0;
}

static int set_scalar(struct yaml_reader *r, const yaml_event_t *e, struct config_node *node)
{
	const char *value = (const char *)e->data.scalar.value;

	/* "\0" in double quotes: the rest would be cut off without a word. */
	if (strlen(value) != e->data.scalar.length)
		return fail_mark(r, &e->start_mark, arena_strdup(r->arena, "a value cannot contain a NUL character"));
	node->text = arena_strdup(r->arena, value);
	if (!node->text)
		return -ENOMEM;
	node->is_null = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
			(!*value || !strcmp(value, "~") || !strcmp(value, "null"));
	return 0;
}

static int new_node(struct yaml_reader *r, const yaml_event_t *e, struct config_node **ret_node)
{
	struct config_node *node;
	int err = check_decoration(r, e);

	if (err < 0)
		return err;
	if (++r->nr_nodes > MAX_NODES)
		return fail_mark(r, &e->start_mark,
				 arena_printf(r->arena, "more than %d values in one file", MAX_NODES));
	node = arena_new(r->arena, struct config_node);
	if (!node)
		return -ENOMEM;
	node->text = "";
	node->line = (uint32_t)e->start_mark.line + 1;
	node->column = (uint32_t)e->start_mark.column + 1;
	if (e->type == YAML_SCALAR_EVENT) {
		err = set_scalar(r, e, node);
		if (err < 0)
			return err;
	} else {
		node->type = e->type == YAML_MAPPING_START_EVENT ? CONFIG_NODE_MAP : CONFIG_NODE_LIST;
	}
	*ret_node = node;
	return 0;
}

static int check_key(struct yaml_reader *r, const struct config_node *map, const struct config_node *key)
{
	const struct config_node *other;
	size_t n = 0;

	for (other = map->first; other; other = other->next, n++)
		if (!strcmp(other->key, key->text))
			return fail_at(r, key->line, key->column, key->text,
				       arena_printf(r->arena,
						    "the key is here twice, first at line %u column %u; remove one",
						    other->key_line, other->key_column));
	if (n >= MAX_MAP_KEYS)
		return fail_at(r, key->line, key->column, key->text,
			       arena_printf(r->arena, "more than %d keys in one mapping", MAX_MAP_KEYS));
	return 0;
}

static int parse_children(struct yaml_reader *r, struct config_node *parent, unsigned int depth);

/* The value that starts with event e, which is freed here. */
static int parse_value(struct yaml_reader *r, yaml_event_t *e, unsigned int depth, struct config_node **ret_node)
{
	struct config_node *node = NULL;
	int err = new_node(r, e, &node);

	yaml_event_delete(e);
	if (err < 0)
		return err;
	if (node->type != CONFIG_NODE_SCALAR) {
		if (depth >= MAX_DEPTH)
			return fail_at(r, node->line, node->column, "",
				       arena_printf(r->arena, "nested deeper than %d levels", MAX_DEPTH));
		err = parse_children(r, node, depth + 1);
		if (err < 0)
			return err;
	}
	*ret_node = node;
	return 0;
}

/* The event after a key: its value. */
static int parse_entry(struct yaml_reader *r, const struct config_node *map, const struct config_node *key,
		       unsigned int depth, struct config_node **ret_node)
{
	yaml_event_t e;
	int err;

	if (key->type != CONFIG_NODE_SCALAR)
		return fail_at(r, key->line, key->column, "", arena_strdup(r->arena, "a key must be a single word"));
	err = check_key(r, map, key);
	if (err < 0)
		return err;
	err = next_event(r, &e);
	if (err < 0)
		return err;
	err = parse_value(r, &e, depth, ret_node);
	if (err < 0)
		return err;
	(*ret_node)->key = key->text;
	(*ret_node)->key_line = key->line;
	(*ret_node)->key_column = key->column;
	return 0;
}

static int parse_children(struct yaml_reader *r, struct config_node *parent, unsigned int depth)
{
	struct config_node **tail = &parent->first, *child;
	yaml_event_t e;
	int err;

	for (;;) {
		err = next_event(r, &e);
		if (err < 0)
			return err;
		if (e.type == YAML_MAPPING_END_EVENT || e.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&e);
			return 0;
		}
		err = parse_value(r, &e, depth, &child);
		if (err == 0 && parent->type == CONFIG_NODE_MAP)
			err = parse_entry(r, parent, child, depth, &child);
		if (err < 0)
			return err;
		*tail = child;
		tail = &child->next;
	}
}

/* What comes after the first document may only be the end. */
static int expect_end(struct yaml_reader *r)
{
	yaml_event_type_t type;
	yaml_event_t e;
	yaml_mark_t at;
	int err;

	do {
		err = next_event(r, &e);
		if (err < 0)
			return err;
		type = e.type;
		at = e.start_mark;
		yaml_event_delete(&e);
		if (type == YAML_DOCUMENT_START_EVENT)
			return fail_mark(r, &at, arena_strdup(r->arena, "a second document (---); one file holds one"));
	} while (type != YAML_STREAM_END_EVENT);
	return 0;
}

static int parse_stream(struct yaml_reader *r, struct config_node **ret_root)
{
	struct config_node *root = NULL;
	yaml_event_type_t type;
	yaml_event_t e;
	int err;

	for (;;) {
		err = next_event(r, &e);
		if (err < 0)
			return err;
		type = e.type;
		if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT && type != YAML_STREAM_END_EVENT)
			break;
		yaml_event_delete(&e);
		if (type == YAML_STREAM_END_EVENT) {
			*ret_root = NULL;
			return 0;
		}
	}
	err = parse_value(r, &e, 0, &root);
	if (err == 0)
		err = expect_end(r);
	if (err < 0)
		return err;
	*ret_root = root->is_null ? NULL : root;
	return 0;
}

int config_yaml_parse(const char *text, size_t size, struct arena *arena, struct config_node **ret_root,
		      struct config_yaml_error *ret_error)
{
	struct yaml_reader r = { .text = text, .size = size, .arena = arena, .error = ret_error };
	int err;

	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		r.text += 3;
		r.size -= 3;
	}
	if (!yaml_parser_initialize(&r.parser))
		return -ENOMEM;
	/* Else libyaml would take UTF-16 too, by its byte order mark. */
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)r.text, r.size);
	err = parse_stream(&r, ret_root);
	yaml_parser_delete(&r.parser);
	return err;
}
