/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc_cpus.h - sets of CPUs; every operation walks 16 words, whatever the machine, so that it is a few vector instructions */
#ifndef SCHEDD_ALLOC_CPUS_H
#define SCHEDD_ALLOC_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/intf.h"

enum { ALLOC_CPU_WORDS = SCHEDD_MAX_CPUS / 64 };

struct alloc_cpus {
	uint64_t bits[ALLOC_CPU_WORDS];
};

static inline void alloc_cpus_add(struct alloc_cpus *s, uint32_t cpu)
{
	s->bits[cpu / 64] |= 1ULL << (cpu % 64);
}

static inline void alloc_cpus_del(struct alloc_cpus *s, uint32_t cpu)
{
	s->bits[cpu / 64] &= ~(1ULL << (cpu % 64));
}

static inline bool alloc_cpus_has(const struct alloc_cpus *s, uint32_t cpu)
{
	return s->bits[cpu / 64] >> (cpu % 64) & 1;
}

static inline void alloc_cpus_or(struct alloc_cpus *s, const struct alloc_cpus *more)
{
	for (int i = 0; i < ALLOC_CPU_WORDS; i++)
		s->bits[i] |= more->bits[i];
}

static inline void alloc_cpus_sub(struct alloc_cpus *s, const struct alloc_cpus *less)
{
	for (int i = 0; i < ALLOC_CPU_WORDS; i++)
		s->bits[i] &= ~less->bits[i];
}

static inline void alloc_cpus_and(const struct alloc_cpus *a, const struct alloc_cpus *b, struct alloc_cpus *ret)
{
	for (int i = 0; i < ALLOC_CPU_WORDS; i++)
		ret->bits[i] = a->bits[i] & b->bits[i];
}

static inline bool alloc_cpus_empty(const struct alloc_cpus *s)
{
	uint64_t any = 0;

	for (int i = 0; i < ALLOC_CPU_WORDS; i++)
		any |= s->bits[i];
	return !any;
}

static inline bool alloc_cpus_meet(const struct alloc_cpus *a, const struct alloc_cpus *b)
{
	uint64_t any = 0;

	for (int i = 0; i < ALLOC_CPU_WORDS; i++)
		any |= a->bits[i] & b->bits[i];
	return any;
}

/* Keeps what is also in `wish`, or all of it when that would leave nothing; true when the wish came true. */
static inline bool alloc_cpus_narrow(struct alloc_cpus *s, const struct alloc_cpus *wish)
{
	if (!alloc_cpus_meet(s, wish))
		return false;
	alloc_cpus_and(s, wish, s);
	return true;
}

/* By hand: without the instruction, which old processors lack, the compiler calls a function for each word. */
static inline uint32_t alloc_cpus_count(const struct alloc_cpus *s)
{
	uint64_t count = 0;

	for (int i = 0; i < ALLOC_CPU_WORDS; i++) {
		uint64_t x = s->bits[i];

		x -= x >> 1 & 0x5555555555555555;
		x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
		x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
		count += x * 0x0101010101010101 >> 56;
	}
	return (uint32_t)count;
}

/* The lowest CPU of the set that is not below `from`; SCHEDD_MAX_CPUS when there is none. */
static inline uint32_t alloc_cpus_next(const struct alloc_cpus *s, uint32_t from)
{
	uint32_t i = from / 64;
	uint64_t word;

	if (from >= SCHEDD_MAX_CPUS)
		return SCHEDD_MAX_CPUS;
	word = s->bits[i] & ~0ULL << (from % 64);
	while (!word && ++i < ALLOC_CPU_WORDS)
		word = s->bits[i];
	return word ? i * 64 + (uint32_t)__builtin_ctzll(word) : SCHEDD_MAX_CPUS;
}

#define for_each_alloc_cpu(cpu, set) \
	for (uint32_t cpu = alloc_cpus_next(set, 0); cpu < SCHEDD_MAX_CPUS; cpu = alloc_cpus_next(set, cpu + 1))

#endif
