/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy_shenango.c - a class that is congested grows, one that leaves CPUs alone gives them back
 *
 * The rule of Shenango's IOKernel, with two differences.  There a class at its
 * guarantee has idle cores taken away; here BPF lends them, so only what is above
 * the guarantee has to come back.  And there a runtime says itself that it parks;
 * here the CPU is seen without its owner for park_ns on end.
 */
#include "daemon/alloc.h"

static void count_parked(const struct alloc_input *in, const struct alloc_memory *m, uint32_t ret_parked[SCHEDD_MAX_CLASSES + 1])
{
	for (uint32_t cpu = 0; cpu < m->plan.nr_cpus; cpu++)
		if (alloc_cpu_is_parked(in, m, cpu))
			ret_parked[m->plan.owner[cpu]]++;
}

static void want_shenango(const struct alloc_input *in, const struct alloc_memory *m,
			  const uint32_t owned[SCHEDD_MAX_CLASSES], uint32_t ret_want[SCHEDD_MAX_CLASSES],
			  enum alloc_trigger ret_trigger[SCHEDD_MAX_CLASSES])
{
	uint32_t parked[SCHEDD_MAX_CLASSES + 1] = {}, step = in->limits->step ? in->limits->step : 1;

	count_parked(in, m, parked);
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		if (in->demand[i].congested) {
			ret_want[i] = owned[i] < UINT32_MAX - step ? owned[i] + step : UINT32_MAX;
			ret_trigger[i] = ALLOC_TRIGGER_CONGESTION;
		} else if (parked[i + 1]) {
			ret_want[i] = owned[i] > parked[i + 1] ? owned[i] - parked[i + 1] : 0;
			ret_trigger[i] = ALLOC_TRIGGER_PARK;
		}
	}
}

const struct alloc_policy policy_shenango = { .name = "shenango", .want = want_shenango };
