/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arena.h - allocations that are freed together
 *
 * A reply or a parsed configuration is many small strings with one lifetime.
 * Not thread-safe.  Every function returns NULL when memory or the cap is
 * exhausted, and the arena stays usable.
 */
#ifndef SCHEDD_BASE_ARENA_H
#define SCHEDD_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head;
	size_t used_bytes; /* given out, all blocks */
	size_t cap_bytes;  /* 0 = no cap */
};

void *arena_alloc(struct arena *a, size_t bytes); /* zeroed, aligned for any type */
char *arena_strdup(struct arena *a, const char *s); /* NULL stays NULL */
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a); /* NULL and empty are fine; the arena is empty and reusable */

#define arena_new(a, type) ((type *)arena_alloc(a, sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc(a, sizeof(type) * (n)))

#endif
