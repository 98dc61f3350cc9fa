/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuset.h - a set of CPUs, and the lists in which the kernel writes one ("0-3,8,10-11").  Thread-safe. */
#ifndef SCHEDD_BASE_CPUSET_H
#define SCHEDD_BASE_CPUSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CPUSET_MAX_CPUS = 1024,    /* as SCHEDD_MAX_CPUS, which this room does not know */
	CPUSET_WORDS = CPUSET_MAX_CPUS / 64,
	CPUSET_TEXT_BYTES = 4096,  /* enough for any list: the longest, every third CPU left out, has 2,671 */
};

struct cpuset { /* zeroed = empty */
	uint64_t bits[CPUSET_WORDS];
};

static inline bool cpuset_has(const struct cpuset *s, uint32_t cpu)
{
	return cpu < CPUSET_MAX_CPUS && (s->bits[cpu / 64] >> (cpu % 64) & 1);
}

static inline void cpuset_add(struct cpuset *s, uint32_t cpu) /* cpu < CPUSET_MAX_CPUS */
{
	s->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

void cpuset_fill(struct cpuset *s); /* every CPU, online or not */
void cpuset_or(struct cpuset *s, const struct cpuset *other);
void cpuset_and(struct cpuset *s, const struct cpuset *other);
void cpuset_andnot(struct cpuset *s, const struct cpuset *other); /* takes the others out */

bool cpuset_is_empty(const struct cpuset *s);
bool cpuset_equal(const struct cpuset *a, const struct cpuset *b);
bool cpuset_is_subset(const struct cpuset *inner, const struct cpuset *outer);
uint32_t cpuset_count(const struct cpuset *s);
uint32_t cpuset_next(const struct cpuset *s, uint32_t from); /* first member >= from; CPUSET_MAX_CPUS = none */

/* An empty list is a valid one, and so is a newline at the end.  -EINVAL: no such list; -ERANGE: a CPU too high. */
int cpuset_parse(const char *text, struct cpuset *ret_set);

/* The shortest list, "" when empty; -ENAMETOOLONG (dst untouched). */
int cpuset_format(const struct cpuset *s, char *dst, size_t size);

#define for_each_cpu_in(cpu, set) \
	for (uint32_t cpu = cpuset_next(set, 0); cpu < CPUSET_MAX_CPUS; cpu = cpuset_next(set, cpu + 1))

#endif
