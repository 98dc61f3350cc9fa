/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.c - YAML files and drop-ins -> struct config */
#include "daemon/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/config_private.h"
#include "daemon/config_schema.h"

enum { CONFIG_ARENA_MAX_BYTES = 64 << 20 };

static void cleanup_config(struct config **c)
{
	config_free(*c);
}

static void cleanup_arena(struct arena *a)
{
	arena_free(a);
}

void config_free(struct config *c)
{
	if (!c)
		return;
	arena_free(&c->arena);
	free(c);
}

static int error_fill(struct config *c, struct config_error *e, const struct config_place *place, const char *key,
		      const char *value)
{
	char shown[128];

	*e = (struct config_error){ .file = arena_strdup(&c->arena, place->file),
				    .key = arena_strdup(&c->arena, str_escape(shown, sizeof(shown), key)),
				    .value = arena_strdup(&c->arena, str_escape(shown, sizeof(shown), value)),
				    .line = place->line,
				    .column = place->column };
	return e->file && e->key && e->value ? 0 : -ENOMEM;
}

int config_report(struct config *c, const struct config_place *place, const char *key, const char *value,
		  const char *format, ...)
{
	const struct config_place nowhere = { .file = place->file };
	bool last = c->nr_errors == CONFIG_MAX_ERRORS - 1;
	struct config_error *e;
	char message[1024];
	va_list ap;

	if (!c->errors)
		c->errors = arena_array(&c->arena, struct config_error, CONFIG_MAX_ERRORS);
	if (!c->errors)
		return -ENOMEM;
	if (c->nr_errors == CONFIG_MAX_ERRORS)
		return 0;
	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	e = &c->errors[c->nr_errors];
	if (error_fill(c, e, last ? &nowhere : place, last ? "" : key, last ? "" : value) < 0)
		return -ENOMEM;
	e->message = last ? "more errors are not shown; mend the ones above first" : arena_strdup(&c->arena, message);
	if (!e->message)
		return -ENOMEM;
	c->nr_errors++;
	return 0;
}

static int load_text(struct config_build *b, const char *path, const char *text, size_t size)
{
	_cleanup_(cleanup_arena) struct arena arena = { .cap_bytes = CONFIG_ARENA_MAX_BYTES };
	struct config_yaml_error error = { 0 };
	struct config_node *root = NULL;
	struct config_place place;
	int r;

	r = config_yaml_parse(text, size, &arena, &root, &error);
	if (r == -EINVAL) {
		place = (struct config_place){ .file = path, .line = error.line, .column = error.column };
		return config_report(b->config, &place, error.key, "", "%s", error.message);
	}
	return r < 0 ? r : config_build_file(b, path, root);
}

static int load_files(struct config_build *b, const struct config_file_list *list)
{
	struct config *c = b->config;
	size_t i, size;
	int r;

	c->files = arena_array(&c->arena, const char *, list->nr_paths + 1);
	if (!c->files)
		return -ENOMEM;
	for (i = 0; i < list->nr_paths; i++) {
		_cleanup_free_ char *text = NULL;

		r = config_files_read(b, list->paths[i], &text, &size);
		if (r < 0)
			return r;
		if (!text)
			continue;
		c->files[c->nr_files++] = list->paths[i];
		r = load_text(b, list->paths[i], text, size);
		if (r < 0)
			return r;
	}
	return config_build_finish(b);
}

/* find: fills the list of files. */
static int load(int (*find)(struct config_build *b, const void *arg, struct config_file_list *ret_list),
		const void *arg, uint32_t nr_cpus, struct config **ret_config)
{
	_cleanup_(cleanup_config) struct config *c = calloc(1, sizeof(*c));
	_cleanup_free_ struct config_build *b = calloc(1, sizeof(*b));
	struct config_file_list list = { 0 };
	int r;

	if (!c || !b)
		return -ENOMEM;
	c->arena.cap_bytes = CONFIG_ARENA_MAX_BYTES;
	b->config = c;
	b->nr_cpus = nr_cpus;
	b->rules_tail = &b->rules;
	r = config_schema_set_defaults(c);
	if (r == 0)
		r = find(b, arg, &list);
	if (r == 0)
		r = load_files(b, &list);
	if (r < 0)
		return r;
	r = b->read_error ? b->read_error : c->nr_errors ? -EINVAL : 0;
	*ret_config = TAKE_PTR(c);
	return r;
}

static int find_search_path(struct config_build *b, const void *arg, struct config_file_list *ret_list)
{
	static const char *const dirs[] = { "/usr/lib/schedd", "/run/schedd", "/etc/schedd" };
	static const struct config_paths standard = { .dirs = dirs, .nr_dirs = ARRAY_SIZE(dirs) };
	const struct config_paths *paths = arg;

	return config_files_find(b, paths ? paths : &standard, ret_list);
}

int config_load(const struct config_paths *paths, uint32_t nr_cpus, struct config **ret_config)
{
	return load(find_search_path, paths, nr_cpus, ret_config);
}

static int find_one_path(struct config_build *b, const void *arg, struct config_file_list *ret_list)
{
	const char *path = arg;
	const struct config_paths one = { .dirs = &path, .nr_dirs = 1 };
	struct config_place place = { .file = path };
	struct config *c = b->config;
	struct stat st;
	int r;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		r = config_files_find(b, &one, ret_list);
		if (r < 0 || ret_list->nr_paths || c->nr_errors)
			return r;
		return config_report(c, &place, "", "", "the directory holds neither schedd.yaml nor conf.d/*.yaml");
	}
	ret_list->paths = arena_array(&c->arena, const char *, 1);
	if (!ret_list->paths)
		return -ENOMEM;
	ret_list->paths[0] = arena_strdup(&c->arena, path);
	ret_list->nr_paths = 1;
	return ret_list->paths[0] ? 0 : -ENOMEM;
}

int config_load_path(const char *path, uint32_t nr_cpus, struct config **ret_config)
{
	return load(find_one_path, path, nr_cpus, ret_config);
}

void config_error_print(const struct config_error *e, FILE *out)
{
	char file[512];

	fputs(str_escape(file, sizeof(file), e->file), out);
	if (e->line)
		fprintf(out, ":%" PRIu32 ":%" PRIu32, e->line, e->column);
	if (*e->key)
		fprintf(out, ": key `%s'", e->key);
	if (*e->value)
		fprintf(out, ": value `%s'", e->value);
	fprintf(out, ": %s\n", e->message);
}
