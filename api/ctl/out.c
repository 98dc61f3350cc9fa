// SPDX-License-Identifier: GPL-2.0-or-later
/* out.c - text output: tables, cells, colours */
#include "api/ctl/out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

struct cell {
	char *text;
	enum out_colour colour;
};

struct out_table {
	const struct out_column *columns;
	size_t nr_columns;
	struct cell *cells;
	size_t nr_cells, size_cells;
	bool wide, colour;
};

/* A command-line tool that has no memory for a line of text can do nothing else. */
static void *or_die(void *p)
{
	if (!p) {
		fputs("schedctl: out of memory\n", stderr);
		abort();
	}
	return p;
}

/* ---------- cells ---------- */

char *out_text(const char *s)
{
	char *copy = or_die(malloc(strlen(s) * 4 + 1)), *to = copy;
	const unsigned char *from = (const unsigned char *)s;
	char one[5];
	size_t n, i;

	while (*from) {
		n = *from < 0x80 ? 1 : *from < 0xe0 ? 2 : *from < 0xf0 ? 3 : 4;
		for (i = 0; i < n && from[i]; i++)
			one[i] = (char)from[i];
		one[i] = '\0';
		/* U+0080 to U+009F are control characters too; terminals obey some of them. */
		if (str_has_control(one) || !str_is_utf8(one) || (from[0] == 0xc2 && from[1] < 0xa0)) {
			to += sprintf(to, "\\x%02x", *from++);
			continue;
		}
		memcpy(to, one, n);
		to += n;
		from += n;
	}
	*to = '\0';
	return copy;
}

char *out_path(const char *s)
{
	_cleanup_free_ char *plain = or_die(strdup(s));
	char *from = plain, *to = plain;

	while (*from) {
		if (!strncmp(from, "\\x5c", 4)) {
			*to++ = '\\';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return out_text(plain);
}

char *out_cpu_list(const uint32_t *cpus, size_t nr_cpus)
{
	size_t size = nr_cpus * 12 + 1, at = 0, i, last;
	char *list = or_die(calloc(1, size));

	for (i = 0; i < nr_cpus; i = last + 1) {
		last = i;
		while (last + 1 < nr_cpus && cpus[last + 1] == cpus[last] + 1)
			last++;
		at += (size_t)snprintf(list + at, size - at, "%s%" PRIu32, at ? "," : "", cpus[i]);
		if (last > i)
			at += (size_t)snprintf(list + at, size - at, "-%" PRIu32, cpus[last]);
	}
	return list;
}

char *out_span(char *dst, size_t size, uint64_t ns)
{
	static const struct {
		uint64_t seconds;
		const char *name;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
	uint64_t s = ns / 1000000000;
	size_t i;

	if (s == 0) {
		snprintf(dst, size, "%" PRIu64 "ms", ns / 1000000);
		return dst;
	}
	for (i = 0; s < units[i].seconds; i++)
		;
	if (i + 1 < ARRAY_SIZE(units) && s % units[i].seconds / units[i + 1].seconds)
		snprintf(dst, size, "%" PRIu64 "%s %" PRIu64 "%s", s / units[i].seconds, units[i].name,
			 s % units[i].seconds / units[i + 1].seconds, units[i + 1].name);
	else
		snprintf(dst, size, "%" PRIu64 "%s", s / units[i].seconds, units[i].name);
	return dst;
}

char *out_time(char *dst, size_t size, int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(dst, size, "%Y-%m-%d %H:%M:%S %Z", &tm))
		snprintf(dst, size, "@%" PRId64, seconds);
	return dst;
}

/* ---------- colours ---------- */

bool out_want_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(fd);
}

const char *out_colour_start(bool enabled, enum out_colour colour)
{
	static const char *const codes[] = {
		[OUT_PLAIN] = "",	   [OUT_BOLD] = "\x1b[1m",   [OUT_GREEN] = "\x1b[32m",
		[OUT_YELLOW] = "\x1b[33m", [OUT_RED] = "\x1b[1;31m", [OUT_DIM] = "\x1b[2m"
	};

	return enabled ? codes[colour] : "";
}

const char *out_colour_end(bool enabled, enum out_colour colour)
{
	return enabled && colour != OUT_PLAIN ? "\x1b[0m" : "";
}

/* ---------- tables ---------- */

struct out_table *out_table_new(const struct out_column *columns, bool wide, bool colour)
{
	struct out_table *t = or_die(calloc(1, sizeof(*t)));

	t->columns = columns;
	while (columns[t->nr_columns].title)
		t->nr_columns++;
	if (t->nr_columns > OUT_MAX_COLUMNS)
		abort();
	t->wide = wide;
	t->colour = colour;
	return t;
}

void out_cell(struct out_table *t, enum out_colour colour, const char *format, ...)
{
	_cleanup_free_ char *raw = NULL;
	va_list args;
	int n;

	if (t->nr_cells == t->size_cells) {
		t->size_cells = t->size_cells ? t->size_cells * 2 : 64;
		t->cells = or_die(reallocarray(t->cells, t->size_cells, sizeof(*t->cells)));
	}
	va_start(args, format);
	n = vasprintf(&raw, format, args);
	va_end(args);
	if (n < 0)
		raw = or_die(NULL);
	t->cells[t->nr_cells++] = (struct cell){ out_text(n ? raw : "-"), colour };
}

/* Characters, not bytes.  (Double-width scripts would need a locale; paths of cgroups have none.) */
static size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static bool column_shown(const struct out_table *t, size_t column)
{
	return t->wide || !t->columns[column].wide_only;
}

static size_t column_width(const struct out_table *t, size_t column, bool headers)
{
	size_t width = headers ? text_width(t->columns[column].title) : 0, i, w;

	for (i = column; i < t->nr_cells; i += t->nr_columns) {
		w = text_width(t->cells[i].text);
		if (w > width)
			width = w;
	}
	return width;
}

static void print_cell(const struct out_table *t, size_t column, size_t width, bool last, const char *text,
		       enum out_colour colour, FILE *out)
{
	int pad = (int)(width - text_width(text));

	fprintf(out, "%*s%s%s%s", t->columns[column].right ? pad : 0, "", out_colour_start(t->colour, colour), text,
		out_colour_end(t->colour, colour));
	if (last)
		fputc('\n', out);
	else
		fprintf(out, "%*s", (t->columns[column].right ? 0 : pad) + 2, "");
}

void out_table_print(const struct out_table *t, bool headers, const char *indent, FILE *out)
{
	size_t widths[OUT_MAX_COLUMNS], last = 0, row, i;

	for (i = 0; i < t->nr_columns; i++) {
		widths[i] = column_width(t, i, headers);
		if (column_shown(t, i))
			last = i;
	}
	if (headers)
		fputs(indent, out);
	for (i = 0; headers && i < t->nr_columns; i++)
		if (column_shown(t, i))
			print_cell(t, i, widths[i], i == last, t->columns[i].title, OUT_BOLD, out);
	for (row = 0; row + t->nr_columns <= t->nr_cells; row += t->nr_columns) {
		fputs(indent, out);
		for (i = 0; i < t->nr_columns; i++)
			if (column_shown(t, i))
				print_cell(t, i, widths[i], i == last, t->cells[row + i].text,
					   t->cells[row + i].colour, out);
	}
}

size_t out_table_rows(const struct out_table *t)
{
	return t->nr_cells / t->nr_columns;
}

void out_table_free(struct out_table *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->nr_cells; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}
