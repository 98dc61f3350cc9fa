// SPDX-License-Identifier: GPL-2.0-or-later
/* hardware.c - machines that exist only as a struct topo */
#include "hardware.h"

void hardware_build(const struct hardware *hw, struct topo *ret_topo)
{
	uint32_t nr_cores = hw->nr_cpus / hw->threads;

	*ret_topo = (struct topo){
		.nr_possible = hw->nr_cpus,
		.nr_online = hw->nr_cpus,
		.nr_cores = nr_cores,
		.nr_llcs = hw->nr_llcs,
		.nr_nodes = hw->nr_nodes,
	};
	for (uint32_t cpu = 0; cpu < hw->nr_cpus; cpu++) {
		uint32_t core = cpu % nr_cores;

		ret_topo->cpus[cpu] = (struct topo_cpu){
			.possible = true,
			.online = true,
			.core = core,
			.llc = core * hw->nr_llcs / nr_cores,
			.node = core * hw->nr_nodes / nr_cores,
			.sibling = (cpu + nr_cores) % hw->nr_cpus,
		};
	}
}
