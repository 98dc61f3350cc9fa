/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hardware.h - machines that exist only as a struct topo */
#ifndef SIM_HARDWARE_H
#define SIM_HARDWARE_H

#include <stdint.h>

#include "daemon/topo.h"

struct hardware {
	uint32_t nr_cpus;   /* divisible by threads */
	uint32_t threads;   /* of a core: 1 or 2 */
	uint32_t nr_llcs;
	uint32_t nr_nodes;
};

/* Threads of a core are nr_cores apart; LLCs and nodes hold equal runs of cores. */
void hardware_build(const struct hardware *hw, struct topo *ret_topo);

#endif
