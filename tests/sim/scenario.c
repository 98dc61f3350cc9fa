// SPDX-License-Identifier: GPL-2.0-or-later
/* scenario.c - the situations that are compared: one row each */
#include <string.h>

#include "scenario.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* Every 20 ms a burst of 1 ms at `factor` times the rate, late by up to 1 ms: every phase of a 1 ms interval. */
#define BURSTS(factor) .burst_factor = (factor), .period_ns = 20 * MS, .burst_ns = 1 * MS, .jitter_ns = 1 * MS

const struct scenario scenarios[] = {
	{
		.name = "headline",
		.what = "64 CPUs, guarantee 8 at 60 %, 4 us requests, every 20 ms 1 ms at ten times the rate",
		.hardware = { .nr_cpus = 64, .threads = 1, .nr_llcs = 4, .nr_nodes = 1 },
		.services = { { "web", 8, .load = { .service_ns = 4 * US, .busy_mcpu = 4800, BURSTS(10) } } },
		.interval_ns = 5 * US,
		.step = 1,
		.warmup_ns = 500 * MS,
		.measured_ns = 1000 * MS,
	},
	{
		.name = "small",
		.what = "8 CPUs, guarantee 2 at 60 %, exponential 20 us, every 20 ms 1 ms at five times the rate",
		.hardware = { .nr_cpus = 8, .threads = 2, .nr_llcs = 1, .nr_nodes = 1 },
		.services = { { "web", 2, .load = { .service = LOAD_EXPONENTIAL, .service_ns = 20 * US,
						    .busy_mcpu = 1200, BURSTS(5) } } },
		.interval_ns = 5 * US,
		.step = 1,
		.warmup_ns = 500 * MS,
		.measured_ns = 2000 * MS,
	},
	{
		.name = "two",
		.what = "64 CPUs, two services of guarantee 8, bursts 10 ms out of phase",
		.hardware = { .nr_cpus = 64, .threads = 2, .nr_llcs = 4, .nr_nodes = 2 },
		.services = {
			{ "web", 8, .load = { .service_ns = 4 * US, .busy_mcpu = 4800, BURSTS(10) } },
			{ "cache", 8, .load = { .service = LOAD_EXPONENTIAL, .service_ns = 10 * US,
						.busy_mcpu = 4800, BURSTS(10), .phase_ns = 10 * MS } },
		},
		.interval_ns = 5 * US,
		.step = 1,
		.warmup_ns = 500 * MS,
		.measured_ns = 500 * MS,
	},
	{
		.name = "clash",
		.what = "64 CPUs, two services of guarantee 8 that burst together and would need 96",
		.hardware = { .nr_cpus = 64, .threads = 2, .nr_llcs = 4, .nr_nodes = 2 },
		.services = {
			{ "web", 8, .load = { .service_ns = 4 * US, .busy_mcpu = 4800, BURSTS(10) } },
			{ "cache", 8, .load = { .service = LOAD_EXPONENTIAL, .service_ns = 10 * US,
						.busy_mcpu = 4800, BURSTS(10) } },
		},
		.interval_ns = 5 * US,
		.step = 1,
		.warmup_ns = 500 * MS,
		.measured_ns = 500 * MS,
	},
	{
		.name = "bimodal",
		.what = "64 CPUs, guarantee 8 at 60 %, 99.5 % take 4 us and 0.5 % 10 ms; no bursts",
		.hardware = { .nr_cpus = 64, .threads = 1, .nr_llcs = 4, .nr_nodes = 1 },
		.services = { { "web", 8, .load = { .service = LOAD_BIMODAL, .service_ns = 4 * US,
						    .longest_ns = 10 * MS, .long_ppm = 5000, .busy_mcpu = 4800 } } },
		.interval_ns = 5 * US,
		.step = 1,
		.warmup_ns = 500 * MS,
		.measured_ns = 3000 * MS,
	},
	{
		.name = "pareto",
		.what = "64 CPUs, guarantee 8 at 60 %, bounded Pareto 2 us to 2 ms, bursts at random times",
		.hardware = { .nr_cpus = 64, .threads = 1, .nr_llcs = 4, .nr_nodes = 1 },
		.services = { { "web", 8, .load = { .service = LOAD_PARETO, .service_ns = 2 * US,
						    .longest_ns = 2 * MS, .busy_mcpu = 4800, BURSTS(8),
						    .random = true } } },
		.interval_ns = 5 * US,
		.step = 1,
		.warmup_ns = 500 * MS,
		.measured_ns = 1000 * MS,
	},
	{
		.name = "cpuset",
		.what = "64 CPUs, the headline's load, but cpusets hold the service in 24 of them",
		.hardware = { .nr_cpus = 64, .threads = 1, .nr_llcs = 4, .nr_nodes = 1 },
		.services = { { "web", 8, 8, 24,
				.load = { .service_ns = 4 * US, .busy_mcpu = 4800, BURSTS(10) } } },
		.interval_ns = 5 * US,
		.step = 1,
		.warmup_ns = 500 * MS,
		.measured_ns = 500 * MS,
	},
	{
		.name = "large",
		.what = "1024 CPUs with SMT in 16 LLCs and 4 nodes, guarantees 128 and 64 at 60 %, bursts of 8 times",
		.hardware = { .nr_cpus = 1024, .threads = 2, .nr_llcs = 16, .nr_nodes = 4 },
		.services = {
			{ "web", 128, .load = { .service = LOAD_EXPONENTIAL, .service_ns = 40 * US, .busy_mcpu = 76800,
						BURSTS(8) } },
			{ "cache", 64, .load = { .service = LOAD_EXPONENTIAL, .service_ns = 40 * US, .busy_mcpu = 38400,
						 BURSTS(8), .phase_ns = 7 * MS } },
		},
		/* A plan for so many CPUs takes longer than 5 us, and a step of 1 longer than a burst. */
		.interval_ns = 50 * US,
		.step = 32,
		.warmup_ns = 400 * MS,
		.measured_ns = 200 * MS,
	},
};

const size_t nr_scenarios = sizeof(scenarios) / sizeof(scenarios[0]);

const struct scenario *scenario_find(const char *name)
{
	for (size_t i = 0; i < nr_scenarios; i++)
		if (!strcmp(scenarios[i].name, name))
			return &scenarios[i];
	return NULL;
}

uint32_t scenario_nr_services(const struct scenario *s)
{
	uint32_t nr = 0;

	while (nr < ENGINE_MAX_SERVICES && s->services[nr].name)
		nr++;
	return nr;
}

uint32_t scenario_class_idx(uint32_t service)
{
	return service ? SCHEDD_NR_BUILTIN + service - 1 : SCHEDD_CLASS_LATENCY_CRITICAL;
}

static void scenario_reach(const struct scenario *s, uint32_t first_cpu, uint32_t nr_cpus,
			   struct alloc_cpus *ret_reach)
{
	uint32_t end = nr_cpus ? first_cpu + nr_cpus : s->hardware.nr_cpus;

	for (uint32_t cpu = first_cpu; cpu < end; cpu++)
		alloc_cpus_add(ret_reach, cpu);
}

void scenario_limits(const struct scenario *s, struct alloc_limits *ret_limits)
{
	memset(ret_limits, 0, sizeof(*ret_limits));
	ret_limits->generation = 1;
	ret_limits->classes[SCHEDD_CLASS_BEST_EFFORT] = (struct alloc_class){
		.used = true,
		.kind = SCHEDD_KIND_BEST_EFFORT,
		.burst_cpus = s->hardware.nr_cpus,
		.weight = 100,
	};
	scenario_reach(s, 0, 0, &ret_limits->classes[SCHEDD_CLASS_BEST_EFFORT].reach);
	for (uint32_t i = 0; i < scenario_nr_services(s); i++) {
		const struct scenario_service *service = &s->services[i];
		struct alloc_class *c = &ret_limits->classes[scenario_class_idx(i)];

		*c = (struct alloc_class){
			.used = true,
			.kind = SCHEDD_KIND_LATENCY_CRITICAL,
			.guarantee_cpus = service->guarantee_cpus,
			.burst_cpus = s->hardware.nr_cpus,
			.weight = 100,
		};
		scenario_reach(s, service->first_cpu, service->nr_cpus, &c->reach);
	}
}
