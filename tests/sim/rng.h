/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rng.h - the simulator's random numbers: the same on every machine
 *
 * SplitMix64 (Steele, Lea, Flood 2014): a counter that advances by the golden
 * ratio, mixed by two multiplications; period 2^64.  Each class draws from a
 * stream of its own, so that all policies meet the same arrivals.  Nothing here
 * calls the mathematics library, whose last bit depends on the CPU.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Streams of one seed start at places that have nothing to do with each other. */
static inline void rng_seed(struct rng *r, uint64_t seed, uint64_t stream)
{
	struct rng mix = { seed };

	r->state = rng_next(&mix);
	mix.state = r->state ^ stream;
	r->state = rng_next(&mix);
}

/* In (0, 1), 53 bits. */
static inline double rng_unit(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

/* Exponential with mean 1, by comparisons only (von Neumann 1951). */
static inline double rng_exponential(struct rng *r)
{
	for (double whole = 0;; whole++) {
		double first = rng_unit(r), last = first, u;
		uint32_t run = 1;

		for (; (u = rng_unit(r)) < last; run++)
			last = u;
		if (run & 1)
			return whole + first;
	}
}

#endif
