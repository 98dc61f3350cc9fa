/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scenario.h - the situations that are compared: a machine, services, their loads; one row each */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "load.h"
#include "hardware.h"

struct scenario_service {
	const char *name;          /* NULL: no more of them */
	uint32_t guarantee_cpus;
	uint32_t first_cpu, nr_cpus;  /* its cpuset; nr_cpus 0 = the machine */
	struct load_spec load;
};

struct scenario {
	const char *name;
	const char *what;
	struct hardware hardware;
	struct scenario_service services[ENGINE_MAX_SERVICES];
	uint64_t interval_ns;      /* at which shenango polls */
	uint32_t step;             /* CPUs per interval that a congested class gains */
	uint64_t warmup_ns, measured_ns;
};

extern const struct scenario scenarios[];  /* the first is the headline */
extern const size_t nr_scenarios;

/* NULL: no such one. */
const struct scenario *scenario_find(const char *name);

uint32_t scenario_nr_services(const struct scenario *s);

/* The class of service i: the built-in one first, then those behind the built-in ones. */
uint32_t scenario_class_idx(uint32_t service);

/* What an operator would have configured: services latency-critical, the rest best-effort, no normal class. */
void scenario_limits(const struct scenario *s, struct alloc_limits *ret_limits);

#endif
