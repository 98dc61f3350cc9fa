/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seqlock.h - a block of words that one thread writes and another reads, neither waiting
 *
 * One writer.  The words are copied as relaxed atomics: a torn copy is thrown
 * away by the sequence, but reading it must not be undefined either.  Sizes are
 * multiples of 8.
 */
#ifndef SCHEDD_BASE_SEQLOCK_H
#define SCHEDD_BASE_SEQLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seqlock {
	uint32_t sequence; /* odd while a write is under way */
};

static inline void seqlock_copy(uint64_t *to, const uint64_t *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*to); i++)
		__atomic_store_n(&to[i], __atomic_load_n(&from[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

static inline void seqlock_write(struct seqlock *l, void *to, const void *from, size_t size)
{
	uint32_t sequence = __atomic_load_n(&l->sequence, __ATOMIC_RELAXED);

	__atomic_store_n(&l->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	seqlock_copy(to, from, size);
	__atomic_store_n(&l->sequence, sequence + 2, __ATOMIC_RELEASE);
}

/* False: the writer was in the way and ret is torn; the reader keeps what it had, or tries again. */
static inline bool seqlock_read(const struct seqlock *l, void *ret, const void *from, size_t size)
{
	uint32_t sequence = __atomic_load_n(&l->sequence, __ATOMIC_ACQUIRE);

	if (sequence & 1)
		return false;
	seqlock_copy(ret, from, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&l->sequence, __ATOMIC_RELAXED) == sequence;
}

#endif
