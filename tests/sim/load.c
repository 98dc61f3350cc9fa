// SPDX-License-Identifier: GPL-2.0-or-later
/* load.c - what asks for CPUs: when requests arrive and how long they run */
#include <math.h>

#include "load.h"

/* Rounded to whole nanoseconds, so the last bit of log() cannot show. */
uint64_t load_mean_service_ns(const struct load_spec *spec)
{
	double shortest = (double)spec->service_ns, longest = (double)spec->longest_ns;

	switch (spec->service) {
	case LOAD_BIMODAL:
		return spec->service_ns + (spec->longest_ns - spec->service_ns) * spec->long_ppm / 1000000;
	case LOAD_PARETO:
		return (uint64_t)(shortest * log(longest / shortest) / (1 - shortest / longest) + 0.5);
	default:
		return spec->service_ns;
	}
}

static double load_draw_service(struct load *l)
{
	const struct load_spec *spec = l->spec;
	double shortest = (double)spec->service_ns, longest = (double)spec->longest_ns;

	switch (spec->service) {
	case LOAD_EXPONENTIAL:
		return shortest * rng_exponential(&l->rng);
	case LOAD_BIMODAL:
		return rng_unit(&l->rng) * 1000000 < spec->long_ppm ? longest : shortest;
	case LOAD_PARETO:
		return shortest / (1 - rng_unit(&l->rng) * (1 - shortest / longest));
	default:
		return shortest;
	}
}

/* Jitter moves a burst inside its period and never adds up. */
static void load_plan_burst(struct load *l)
{
	const struct load_spec *spec = l->spec;

	if (spec->random)
		l->phase_end_ns += rng_exponential(&l->rng) * (double)(spec->period_ns - spec->burst_ns);
	else
		l->phase_end_ns = (double)(spec->phase_ns + l->nr_bursts * spec->period_ns) +
				  rng_unit(&l->rng) * (double)spec->jitter_ns;
}

static void load_switch(struct load *l)
{
	const struct load_spec *spec = l->spec;

	l->bursting = !l->bursting;
	l->rate = l->base_rate * (l->bursting ? spec->burst_factor : 1);
	if (!l->bursting) {
		load_plan_burst(l);
		return;
	}
	l->nr_bursts++;
	l->phase_end_ns += (double)spec->burst_ns * (spec->random ? rng_exponential(&l->rng) : 1);
}

void load_init(struct load *l, const struct load_spec *spec, uint64_t seed, uint64_t stream)
{
	*l = (struct load){ .spec = spec, .phase_end_ns = INFINITY };
	rng_seed(&l->rng, seed, stream);
	l->base_rate = spec->busy_mcpu / 1000.0 / (double)load_mean_service_ns(spec);
	l->rate = l->base_rate;
	if (spec->burst_factor) {
		l->phase_end_ns = 0;
		load_plan_burst(l);
	}
}

void load_next(struct load *l, uint64_t *ret_at_ns, uint64_t *ret_service_ns)
{
	/* One exponential is spent at whatever rate holds: exact for a rate that changes in steps. */
	double rest = rng_exponential(&l->rng), service;

	while (l->at_ns + rest / l->rate > l->phase_end_ns) {
		rest -= (l->phase_end_ns - l->at_ns) * l->rate;
		l->at_ns = l->phase_end_ns;
		load_switch(l);
	}
	l->at_ns += rest / l->rate;
	service = load_draw_service(l);
	*ret_at_ns = (uint64_t)l->at_ns;
	*ret_service_ns = service < 1 ? 1 : (uint64_t)service;
}
