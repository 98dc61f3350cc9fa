/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy_utilisation.c - as many CPUs as the average use of the last moments asks for
 *
 * What other schedulers do, here to be compared with.  The numbers are those of
 * scx_layered: its average has a half-life of 100 ms (demand.c), and the util_range
 * of its example configurations begins at 0.4 and ends between 0.8 and 0.95.  The
 * caller chooses the interval; scx_layered's is 100 ms.
 */
#include "daemon/alloc.h"

enum {
	GROW_ABOVE_MCPU = 800,   /* use per owned CPU, in thousandths */
	SHRINK_BELOW_MCPU = 400,
};

static void want_utilisation(const struct alloc_input *in, const struct alloc_memory *m,
			     const uint32_t owned[SCHEDD_MAX_CLASSES], uint32_t ret_want[SCHEDD_MAX_CLASSES],
			     enum alloc_trigger ret_trigger[SCHEDD_MAX_CLASSES])
{
	(void)m;
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint32_t used_mcpu = in->demand[i].utilisation_mcpu;
		uint32_t least = used_mcpu / GROW_ABOVE_MCPU + (used_mcpu % GROW_ABOVE_MCPU != 0);
		uint32_t most = used_mcpu / SHRINK_BELOW_MCPU;

		/* Without a CPU there is no use to measure. */
		if (!least && in->demand[i].queued)
			least = 1;
		if (most < least)
			most = least;
		ret_want[i] = owned[i] < least ? least : owned[i] > most ? most : owned[i];
		ret_trigger[i] = ALLOC_TRIGGER_UTILISATION;
	}
}

const struct alloc_policy policy_utilisation = {
	.name = "utilisation",
	.by_demand = true,
	.by_time = true,
	.want = want_utilisation,
};
