/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * out.h - text output: tables, cells, colours
 *
 * Whatever comes from outside passes out_text(): a cgroup may be named with
 * escape sequences.  A table keeps its cells until it is printed, so that
 * columns are as wide as their widest cell.
 */
#ifndef SCHEDD_CTL_OUT_H
#define SCHEDD_CTL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum out_colour { OUT_PLAIN, OUT_BOLD, OUT_GREEN, OUT_YELLOW, OUT_RED, OUT_DIM };

enum { OUT_MAX_COLUMNS = 16 };

struct out_column {
	const char *title;
	bool right;            /* numbers */
	bool wide_only;        /* only with -o wide */
};

struct out_table;

/* columns ends with a NULL title and must outlive the table.  NULL: no memory. */
struct out_table *out_table_new(const struct out_column *columns, bool wide, bool colour);
/* Cells are given left to right, wide ones too; a missing or empty text is shown as "-". */
void out_cell(struct out_table *t, enum out_colour colour, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void out_table_print(const struct out_table *t, bool headers, const char *indent, FILE *out);
size_t out_table_rows(const struct out_table *t);
void out_table_free(struct out_table *t);
static inline void out_table_freep(struct out_table **t)
{
	out_table_free(*t);
}

/* Colours on a terminal only; NO_COLOR (any value but empty) and TERM=dumb turn them off. */
bool out_want_colour(int fd);
const char *out_colour_start(bool enabled, enum out_colour colour);
const char *out_colour_end(bool enabled, enum out_colour colour);

/*
 * A copy in which control characters and invalid UTF-8 are \xNN.  A backslash
 * stays: unit names have them (dev-disk-by\x2dlabel), and what is printed is
 * to be pasted back.  Never NULL; free() it.
 */
char *out_text(const char *s);

/*
 * A path as the API gives it, where a backslash is \x5c: the backslash comes
 * back, so that `cgroup list' and `class set' speak of the same name.
 */
char *out_path(const char *s);

/* Sorted CPU numbers as a list: "0-3,8"; "" for none.  Never NULL; free() it. */
char *out_cpu_list(const uint32_t *cpus, size_t nr_cpus);

/* Coarse for people, two units at most: "850ms", "12s", "3min 5s", "2h 10min", "5d 3h". */
char *out_span(char *dst, size_t size, uint64_t ns);
/* "2026-11-30 14:10:05 UTC" in the local zone. */
char *out_time(char *dst, size_t size, int64_t seconds);

#endif
