/* SPDX-License-Identifier: GPL-2.0-or-later */
/* str.c - strings: bounded copies, UTF-8, escaping for output, durations */
#include "daemon/base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"

int str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src);

	if (n >= size)
		return -ENAMETOOLONG;
	memcpy(dst, src, n + 1);
	return 0;
}

/* Length of the sequence at s and its code point; 0 when it is not valid UTF-8.  Never reads past a NUL. */
static size_t utf8_decode(const char *text, uint32_t *ret_code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	uint32_t code;
	size_t n, i;

	if (s[0] < 0x80) {
		*ret_code = s[0];
		return 1;
	}
	n = (s[0] & 0xe0) == 0xc0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : (s[0] & 0xf8) == 0xf0 ? 4 : 0;
	if (!n)
		return 0;
	code = s[0] & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return n;
}

bool str_is_utf8(const char *s)
{
	uint32_t code;
	size_t n;

	for (; *s; s += n)
		if (!(n = utf8_decode(s, &code)))
			return false;
	return true;
}

bool str_has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

/*
 * Beside ASCII controls also C1 (U+009B starts a terminal sequence), line
 * separators and the marks that reorder text: a name must not rewrite the line it is shown in.
 */
static bool code_is_unsafe(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == '\\' || code == 0x2028 || code == 0x2029 ||
	       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* Writes what stands for the character at src; returns the bytes of src that it covers. */
static size_t escape_one(const char *src, char ret_piece[20])
{
	uint32_t code = 0;
	size_t n = utf8_decode(src, &code), i, at = 0;

	if (n && !code_is_unsafe(code)) {
		memcpy(ret_piece, src, n);
		ret_piece[n] = '\0';
		return n;
	}
	n = n ? n : 1;
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(ret_piece + at, 20 - at, "\\x%02x", (unsigned char)src[i]);
	return n;
}

char *str_escape(char *dst, size_t size, const char *src)
{
	size_t at = 0, cut = 0, n;
	char piece[20];

	if (!size)
		return dst;
	while (*src) {
		src += escape_one(src, piece);
		n = strlen(piece);
		if (at + n >= size) {
			snprintf(dst + cut, size - cut, "...");
			return dst;
		}
		memcpy(dst + at, piece, n);
		at += n;
		if (at + 3 < size)
			cut = at;
	}
	dst[at] = '\0';
	return dst;
}

#define NS_PER_US 1000ull
#define NS_PER_MS (1000 * NS_PER_US)
#define NS_PER_S (1000 * NS_PER_MS)
#define NS_PER_MIN (60 * NS_PER_S)
#define NS_PER_H (60 * NS_PER_MIN)
#define NS_PER_DAY (24 * NS_PER_H)

/* Months and years have the lengths of systemd.time(7). */
static const struct duration_unit {
	const char *name;
	uint64_t ns;
} duration_units[] = {
	{ "ns", 1 }, { "nsec", 1 },
	{ "us", NS_PER_US }, { "usec", NS_PER_US }, { "\xc2\xb5s", NS_PER_US }, { "\xce\xbcs", NS_PER_US },
	{ "ms", NS_PER_MS }, { "msec", NS_PER_MS },
	{ "s", NS_PER_S }, { "sec", NS_PER_S }, { "second", NS_PER_S }, { "seconds", NS_PER_S },
	{ "m", NS_PER_MIN }, { "min", NS_PER_MIN }, { "minute", NS_PER_MIN }, { "minutes", NS_PER_MIN },
	{ "h", NS_PER_H }, { "hr", NS_PER_H }, { "hour", NS_PER_H }, { "hours", NS_PER_H },
	{ "d", NS_PER_DAY }, { "day", NS_PER_DAY }, { "days", NS_PER_DAY },
	{ "w", 7 * NS_PER_DAY }, { "week", 7 * NS_PER_DAY }, { "weeks", 7 * NS_PER_DAY },
	{ "M", 2629800 * NS_PER_S }, { "month", 2629800 * NS_PER_S }, { "months", 2629800 * NS_PER_S },
	{ "y", 31557600 * NS_PER_S }, { "year", 31557600 * NS_PER_S }, { "years", 31557600 * NS_PER_S },
};

static const struct duration_unit *duration_unit_find(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(duration_units); i++)
		if (strlen(duration_units[i].name) == n && !memcmp(duration_units[i].name, s, n))
			return &duration_units[i];
	return NULL;
}

struct duration_number {
	uint64_t whole;
	uint64_t fraction;       /* in units of 1 / scale */
	uint64_t scale;
};

/* "12", "1.5", ".5"; digits beyond 10^-18 are below every unit's nanosecond and only skipped. */
static int duration_number_parse(const char **s, struct duration_number *ret)
{
	struct duration_number n = { .scale = 1 };
	const char *p = *s;
	size_t digits = 0;

	for (; *p >= '0' && *p <= '9'; p++, digits++)
		if (__builtin_mul_overflow(n.whole, 10, &n.whole) ||
		    __builtin_add_overflow(n.whole, (uint64_t)(*p - '0'), &n.whole))
			return -ERANGE;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, digits++)
			if (n.scale < 1000000000000000000ull) {
				n.fraction = n.fraction * 10 + (uint64_t)(*p - '0');
				n.scale *= 10;
			}
	if (!digits)
		return -EINVAL;
	*s = p;
	*ret = n;
	return 0;
}

int str_parse_duration_ns(const char *s, uint64_t *ret_ns)
{
	const struct duration_unit *unit;
	unsigned __int128 sum = 0;
	struct duration_number n;
	size_t len;
	int r;

	if (!strcmp(s, "0")) {
		*ret_ns = 0;
		return 0;
	}
	do {
		r = duration_number_parse(&s, &n);
		if (r < 0)
			return r;
		s += strspn(s, " ");
		len = strcspn(s, " .0123456789");
		unit = duration_unit_find(s, len);
		if (!unit)
			return -EINVAL;
		sum += (unsigned __int128)n.whole * unit->ns + (unsigned __int128)n.fraction * unit->ns / n.scale;
		if (sum > (uint64_t)1 << 63)
			return -ERANGE;
		s += len;
		if (*s == ' ' && s[strspn(s, " ")])
			s += strspn(s, " ");
	} while (*s);
	*ret_ns = (uint64_t)sum;
	return 0;
}

/* The largest exact unit from a second on; else a decimal fraction of the largest unit that fits. */
char *str_format_duration_ns(char *dst, size_t size, uint64_t ns)
{
	static const struct duration_unit exact[] = { { "h", NS_PER_H }, { "min", NS_PER_MIN }, { "s", NS_PER_S } };
	static const struct duration_unit decimal[] = { { "s", NS_PER_S }, { "ms", NS_PER_MS }, { "us", NS_PER_US },
							{ "ns", 1 } };
	int digits = 9;
	uint64_t rest;
	size_t i;

	for (i = 0; ns && i < ARRAY_SIZE(exact); i++)
		if (ns % exact[i].ns == 0) {
			snprintf(dst, size, "%" PRIu64 "%s", ns / exact[i].ns, exact[i].name);
			return dst;
		}
	for (i = 0; i + 1 < ARRAY_SIZE(decimal) && ns < decimal[i].ns; i++)
		digits -= 3;
	rest = ns % decimal[i].ns;
	for (; digits > 0 && rest % 10 == 0; digits--)
		rest /= 10;
	if (!ns)
		snprintf(dst, size, "0");
	else if (digits <= 0)
		snprintf(dst, size, "%" PRIu64 "%s", ns / decimal[i].ns, decimal[i].name);
	else
		snprintf(dst, size, "%" PRIu64 ".%0*" PRIu64 "%s", ns / decimal[i].ns, digits, rest, decimal[i].name);
	return dst;
}

int str_parse_u64(const char *s, uint64_t max, uint64_t *ret_value)
{
	uint64_t value = 0;
	bool over = false;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		over = over || __builtin_mul_overflow(value, 10, &value) ||
		       __builtin_add_overflow(value, (uint64_t)(*s - '0'), &value);
	}
	if (over || value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}
