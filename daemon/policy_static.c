/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy_static.c - every class owns its guarantee, whatever it does */
#include "daemon/alloc.h"

static void want_static(const struct alloc_input *in, const struct alloc_memory *m, const uint32_t owned[SCHEDD_MAX_CLASSES],
			uint32_t ret_want[SCHEDD_MAX_CLASSES], enum alloc_trigger ret_trigger[SCHEDD_MAX_CLASSES])
{
	(void)m;
	(void)owned;
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		ret_want[i] = in->limits->classes[i].guarantee_cpus;
		ret_trigger[i] = ALLOC_TRIGGER_LIMITS;
	}
}

const struct alloc_policy policy_static = { .name = "static", .want = want_static };
