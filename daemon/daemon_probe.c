/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_probe.c - --probe: what this kernel offers, proved by loading the object */
#include <stdio.h>

#include "daemon/daemon.h"
#include "daemon/sched.h"

int daemon_probe(void)
{
	struct sched_options o = { 0 };
	struct sched_probe p;
	struct sched *s = NULL;
	char error[512] = "";
	struct topo topo;
	int r;

	sched_probe(&p);
	for (size_t i = 0; i < p.nr_features; i++)
		printf("%-22s %s%s%s\n", p.features[i].name,
		       p.features[i].present ? "yes" : p.features[i].required ? "MISSING" : "no",
		       p.features[i].present ? "" : "   ", p.features[i].present ? "" : p.features[i].detail);
	if (p.other[0])
		printf("%-22s %s\n", "loaded scheduler", p.other);
	if (!p.supported) {
		printf("result: not usable: %s\n", p.missing);
		return EXIT_UNSUPPORTED;
	}
	r = topo_read("", &topo);
	if (r == 0)
		r = sched_load(&topo, sched_read_hotplug_seq(), &o, &s, error, sizeof(error));
	if (r < 0) {
		printf("result: not usable: %s\n", error[0] ? error : "cannot read the CPUs");
		return EXIT_UNSUPPORTED;
	}
	printf("%-22s %llu\n", "verified instructions", (unsigned long long)sched_verified_instructions(s));
	printf("result: usable, BPF object %s verified and loaded\n", sched_bpf_hash());
	sched_free(s);
	return 0;
}
