/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - what asks for CPUs: when requests arrive and how long they run
 *
 * Arrivals are Poisson at a base rate.  A load with bursts is switched between
 * the base rate and burst_factor times it: at fixed periods, each burst late by
 * up to jitter_ns so that it meets an allocator at every phase of its interval,
 * or (random) after exponential times with the same means.
 */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "rng.h"

enum load_service {
	LOAD_CONSTANT,    /* service_ns */
	LOAD_EXPONENTIAL, /* mean service_ns */
	LOAD_BIMODAL,     /* longest_ns with probability long_ppm, else service_ns */
	LOAD_PARETO,      /* bounded Pareto, alpha 1, from service_ns to longest_ns */
};

struct load_spec {
	enum load_service service;
	uint64_t service_ns, longest_ns;
	uint32_t long_ppm;
	uint32_t busy_mcpu;        /* offered at the base rate, in thousandths of a CPU */
	uint32_t burst_factor;     /* 0: no bursts */
	uint64_t period_ns, burst_ns;
	uint64_t phase_ns;         /* of the first burst */
	uint64_t jitter_ns;
	bool random;
};

struct load {
	const struct load_spec *spec;
	struct rng rng;
	double at_ns;              /* of the last arrival */
	double rate;               /* arrivals per ns now */
	double base_rate;
	double phase_end_ns;
	uint64_t nr_bursts;        /* begun */
	bool bursting;
};

/* spec must outlive load; stream separates the loads of one seed. */
void load_init(struct load *l, const struct load_spec *spec, uint64_t seed, uint64_t stream);

/* The next arrival; times never fall, service times are at least 1 ns. */
void load_next(struct load *l, uint64_t *ret_at_ns, uint64_t *ret_service_ns);

uint64_t load_mean_service_ns(const struct load_spec *spec);

#endif
