/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe.h - how late a periodic sleeper wakes up */
#ifndef SCHEDBENCH_PROBE_H
#define SCHEDBENCH_PROBE_H

#include <stdint.h>

struct probe {
	long samples, interval_us;
	long skip; /* thrown away before the first one that counts */
};

/*
 * Sleeps until an absolute time, again and again; late_ns gets by how much each
 * return was late.  A late one does not make the next ones late.
 */
void probe_run(const struct probe *p, uint64_t *late_ns);

#endif
