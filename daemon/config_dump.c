/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_dump.c - the effective configuration as one YAML document that reads back the same */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/class.h"
#include "daemon/config.h"
#include "daemon/config_schema.h"

/* Letters, digits and the few signs that mean nothing to YAML inside a word. */
static bool is_plain(const char *s)
{
	static const char *const reserved[] = { "null", "true", "false", "yes", "no", "on", "off" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reserved); i++)
		if (!strcmp(s, reserved[i]))
			return false;
	/* "0660" would be another number to a YAML 1.1 reader. */
	if (s[0] == '0' && s[1])
		return false;
	return *s && s[0] != '-' && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")];
}

static void put_string(FILE *out, const char *s)
{
	if (is_plain(s)) {
		fputs(s, out);
		return;
	}
	fputc('"', out);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\x%02x", (unsigned char)*s);
		else
			fputc(*s, out);
	fputc('"', out);
}

static void put_schema(const struct config *c, FILE *out)
{
	char value[256], section[32] = "";
	size_t i, n;

	for (i = 0; i < config_schema_nr_keys; i++) {
		const struct config_schema_key *key = &config_schema_keys[i];

		n = strcspn(key->path, ".");
		if (strlen(section) != n || strncmp(section, key->path, n)) {
			snprintf(section, sizeof(section), "%.*s", (int)n, key->path);
			fprintf(out, "%s:\n", section);
		}
		value[0] = '\0';
		key->get(c, value, sizeof(value));
		fprintf(out, "  %s: ", key->path + n + 1);
		put_string(out, value);
		fputc('\n', out);
	}
}

static void put_class(const struct state_config_class *class, FILE *out)
{
	char value[64];
	size_t i;

	fprintf(out, "  %s:\n", class->name);
	for (i = 0; i < class_nr_keys; i++) {
		if (!(class->settings.set & class_keys[i].field))
			continue;
		class_settings_format_key(&class->settings, &class_keys[i], value, sizeof(value));
		fprintf(out, "    %s: %s\n", class_keys[i].yaml, value);
	}
}

static void put_all(const struct config *c, FILE *out)
{
	size_t i;

	put_schema(c, out);
	fputs(c->nr_classes ? "classes:\n" : "classes: {}\n", out);
	for (i = 0; i < c->nr_classes; i++)
		put_class(&c->classes[i], out);
	fputs(c->nr_rules ? "rules:\n" : "rules: []\n", out);
	for (i = 0; i < c->nr_rules; i++) {
		fprintf(out, "  - cgroup: ");
		put_string(out, c->rules[i].cgroup_glob);
		fprintf(out, "\n    class: ");
		put_string(out, c->rules[i].class_name);
		fputc('\n', out);
	}
}

char *config_to_yaml(const struct config *c, struct arena *arena)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool failed;

	if (!out)
		return NULL;
	put_all(c, out);
	failed = ferror(out);
	return fclose(out) == 0 && !failed ? arena_strdup(arena, text) : NULL;
}
