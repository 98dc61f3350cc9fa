/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_record.c - one line of a stored file: a type and name=value fields */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/base/str.h"
#include "daemon/store_file.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int decode(char *s)
{
	char *to = s;
	int high, low;

	for (; *s; s++) {
		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		high = hex_digit(s[1]);
		low = high < 0 ? -1 : hex_digit(s[2]);
		if (low < 0 || (!high && !low))
			return -EUCLEAN;
		*to++ = (char)(high << 4 | low);
		s += 2;
	}
	*to = '\0';
	return 0;
}

int store_record_parse(char *line, struct store_record *ret_record)
{
	struct store_record r = { .type = line };
	char *next = strchr(line, ' '), *field, *equals;

	while (next) {
		*next = '\0';
		field = next + 1;
		next = strchr(field, ' ');
		equals = strchr(field, '=');
		if (!equals || equals == field || (next && equals > next) || r.nr_fields == STORE_MAX_FIELDS)
			return -EUCLEAN;
		*equals = '\0';
		if (next)
			*next = '\0';
		r.fields[r.nr_fields].name = field;
		r.fields[r.nr_fields].value = equals + 1;
		if (decode(equals + 1) < 0)
			return -EUCLEAN;
		r.nr_fields++;
	}
	if (!*line)
		return -EUCLEAN;
	*ret_record = r;
	return 0;
}

const char *store_record_get(struct store_record *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->nr_fields; i++)
		if (!strcmp(r->fields[i].name, name)) {
			r->fields_read |= 1u << i;
			return r->fields[i].value;
		}
	return NULL;
}

int store_record_get_u64(struct store_record *r, const char *name, uint64_t max, uint64_t *ret_value)
{
	const char *text = store_record_get(r, name);

	return text && str_parse_u64(text, max, ret_value) == 0 ? 0 : -EUCLEAN;
}

int store_record_get_text(struct store_record *r, const char *name, char *ret_text, size_t size)
{
	const char *text = store_record_get(r, name);

	return text && str_copy(ret_text, size, text) == 0 ? 0 : -EUCLEAN;
}

/* A name that is here twice is never read the second time, so it fails too. */
int store_record_check_all_read(const struct store_record *r)
{
	return r->fields_read == (1u << r->nr_fields) - 1 ? 0 : -EUCLEAN;
}

void store_put_text(FILE *out, const char *name, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	fprintf(out, " %s=", name);
	for (; *s; s++)
		if (*s <= ' ' || *s >= 0x7f || *s == '%')
			fprintf(out, "%%%02x", *s);
		else
			fputc(*s, out);
}

void store_put_u64(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, " %s=%" PRIu64, name, value);
}
