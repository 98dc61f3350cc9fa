/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuset.c - a set of CPUs, and the lists in which the kernel writes one */
#include "daemon/base/cpuset.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void cpuset_fill(struct cpuset *s)
{
	memset(s, 0xff, sizeof(*s));
}

void cpuset_or(struct cpuset *s, const struct cpuset *other)
{
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		s->bits[i] |= other->bits[i];
}

void cpuset_and(struct cpuset *s, const struct cpuset *other)
{
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		s->bits[i] &= other->bits[i];
}

void cpuset_andnot(struct cpuset *s, const struct cpuset *other)
{
	for (size_t i = 0; i < CPUSET_WORDS; i++)
		s->bits[i] &= ~other->bits[i];
}

bool cpuset_is_empty(const struct cpuset *s)
{
	uint64_t any = 0;

	for (size_t i = 0; i < CPUSET_WORDS; i++)
		any |= s->bits[i];
	return !any;
}

bool cpuset_equal(const struct cpuset *a, const struct cpuset *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

bool cpuset_is_subset(const struct cpuset *inner, const struct cpuset *outer)
{
	uint64_t outside = 0;

	for (size_t i = 0; i < CPUSET_WORDS; i++)
		outside |= inner->bits[i] & ~outer->bits[i];
	return !outside;
}

uint32_t cpuset_count(const struct cpuset *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < CPUSET_WORDS; i++)
		n += (uint32_t)__builtin_popcountll(s->bits[i]);
	return n;
}

uint32_t cpuset_next(const struct cpuset *s, uint32_t from)
{
	uint64_t word;

	if (from >= CPUSET_MAX_CPUS)
		return CPUSET_MAX_CPUS;
	word = s->bits[from / 64] & (~UINT64_C(0) << (from % 64));
	for (uint32_t i = from / 64;;) {
		if (word)
			return i * 64 + (uint32_t)__builtin_ctzll(word);
		if (++i == CPUSET_WORDS)
			return CPUSET_MAX_CPUS;
		word = s->bits[i];
	}
}

static int parse_number(const char **s, uint32_t *ret_value)
{
	const char *p = *s;
	uint32_t value = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (value > INT_MAX / 10 - 1)
			return -ERANGE;
		value = value * 10 + (uint32_t)(*p - '0');
	}
	*s = p;
	*ret_value = value;
	return 0;
}

static int parse_range(const char **s, uint32_t *ret_first, uint32_t *ret_last)
{
	uint32_t first, last;
	int r;

	r = parse_number(s, &first);
	if (r < 0)
		return r;
	last = first;
	if (**s == '-') {
		(*s)++;
		r = parse_number(s, &last);
		if (r < 0)
			return r;
	}
	if (last < first)
		return -EINVAL;
	if (last >= CPUSET_MAX_CPUS)
		return -ERANGE;
	*ret_first = first;
	*ret_last = last;
	return 0;
}

int cpuset_parse(const char *text, struct cpuset *ret_set)
{
	struct cpuset set = {};
	uint32_t first, last;
	int r;

	while (*text && *text != '\n') {
		r = parse_range(&text, &first, &last);
		if (r < 0)
			return r;
		for (uint32_t cpu = first; cpu <= last; cpu++)
			cpuset_add(&set, cpu);
		if (*text == ',' && text[1] >= '0' && text[1] <= '9')
			text++;
		else if (*text && *text != '\n')
			return -EINVAL;
	}
	if (*text == '\n' && text[1])
		return -EINVAL;
	*ret_set = set;
	return 0;
}

int cpuset_format(const struct cpuset *s, char *dst, size_t size)
{
	char text[CPUSET_TEXT_BYTES];
	size_t n = 0;

	text[0] = '\0';
	for_each_cpu_in(first, s) {
		uint32_t last = first;

		while (cpuset_has(s, last + 1))
			last++;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", n ? "," : "", first);
		if (last > first)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "-%u", last);
		first = last;
	}
	if (n >= size)
		return -ENAMETOOLONG;
	memcpy(dst, text, n + 1);
	return 0;
}
