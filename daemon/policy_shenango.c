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

static void want_shenango(const struct alloc_input *in, const struct alloc_memory *m,
			  const uint32_t owned[SCHEDD_MAX_CLASSES], uint32_t ret_want[SCHEDD_MAX_CLASSES],
			  enum alloc_trigger ret_trigger[SCHEDD_MAX_CLASSES])
{
	uint32_t step = in->limits->step ? in->limits->step : 1;

	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		if (in->demand[i].congested) {
			ret_want[i] = owned[i] < UINT32_MAX - step ? owned[i] + step : UINT32_MAX;
			ret_trigger[i] = ALLOC_TRIGGER_CONGESTION;
		} else if (m->parked_cpus[i]) {
			ret_want[i] = owned[i] > m->parked_cpus[i] ? owned[i] - m->parked_cpus[i] : 0;
			ret_trigger[i] = ALLOC_TRIGGER_PARK;
		}
	}
}

const struct alloc_policy policy_shenango = { .name = "shenango", .by_demand = true, .want = want_shenango };
