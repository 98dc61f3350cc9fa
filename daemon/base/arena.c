/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arena.c - allocations that are freed together */
#include "daemon/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_BYTES = 8192 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	alignas(max_align_t) char data[];
};

static struct arena_block *arena_grow(struct arena *a, size_t bytes)
{
	size_t size = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
	struct arena_block *b = calloc(1, sizeof(*b) + size);

	if (!b)
		return NULL;
	b->size = size;
	b->next = a->head;
	a->head = b;
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	struct arena_block *b = a->head;
	void *p;

	if (bytes > (size_t)1 << 40)
		return NULL;
	bytes = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (a->cap_bytes && bytes > a->cap_bytes - a->used_bytes)
		return NULL;
	if ((!b || b->size - b->used < bytes) && !(b = arena_grow(a, bytes)))
		return NULL;
	p = b->data + b->used;
	b->used += bytes;
	a->used_bytes += bytes;
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n;
	char *p;

	if (!s)
		return NULL;
	n = strlen(s) + 1;
	p = arena_alloc(a, n);
	return p ? memcpy(p, s, n) : NULL;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0 || !(p = arena_alloc(a, (size_t)n + 1)))
		return NULL;
	va_start(ap, format);
	vsnprintf(p, (size_t)n + 1, format, ap);
	va_end(ap);
	return p;
}

void arena_free(struct arena *a)
{
	struct arena_block *b, *next;

	if (!a)
		return;
	for (b = a->head; b; b = next) {
		next = b->next;
		free(b);
	}
	a->head = NULL;
	a->used_bytes = 0;
}
