/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_file.h - a small file that is either whole or set aside
 *
 * One record a line: a type, then name=value with %XX for every byte that is
 * not a printable ASCII character, so that any cgroup name survives.  The first
 * line names kind and version, the last one holds a checksum of all before it:
 * against damage, not against an attacker, who cannot write there anyway.
 */
#ifndef SCHEDD_STORE_FILE_H
#define SCHEDD_STORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Replaces dir/name by the header, the body and its checksum: after a crash the old or the new is there. */
int store_file_write(const char *dir, const char *name, const char *kind, const char *body, size_t size);

/* The same for a file that only people read: just the text. */
int store_file_write_plain(const char *dir, const char *name, const char *text, size_t size);

/*
 * *ret_body: the lines between header and checksum, NUL-terminated, malloc()ed.
 * -ENOENT; -EUCLEAN: damaged or another version, set aside, *ret_aside is the new path; -errno.
 */
int store_file_read(const char *dir, const char *name, const char *kind, char **ret_body, char **ret_aside);

/* For content that is whole and still makes no sense; -EUCLEAN, or -errno when it cannot be moved. */
int store_file_set_aside(const char *dir, const char *name, char **ret_aside);

enum { STORE_MAX_FIELDS = 24 };

struct store_record {
	const char *type;
	struct {
		char *name, *value;       /* decoded in place */
	} fields[STORE_MAX_FIELDS];
	size_t nr_fields;
	uint32_t fields_read;             /* bit i: somebody asked for fields[i] */
};

/* Takes line apart, which is overwritten.  -EUCLEAN. */
int store_record_parse(char *line, struct store_record *ret_record);
/* NULL when there is none. */
const char *store_record_get(struct store_record *r, const char *name);
/* -EUCLEAN when it is missing, no number, or above max. */
int store_record_get_u64(struct store_record *r, const char *name, uint64_t max, uint64_t *ret_value);
/* -EUCLEAN when it is missing or does not fit. */
int store_record_get_text(struct store_record *r, const char *name, char *ret_text, size_t size);
/* A field that nobody asked for means another writer: -EUCLEAN. */
int store_record_check_all_read(const struct store_record *r);

void store_put_text(FILE *out, const char *name, const char *value); /* " name=value" */
void store_put_u64(FILE *out, const char *name, uint64_t value);

#endif
