/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latprobe.c - how late a periodic sleeper wakes up
 *
 * latprobe [-n SAMPLES] [-i INTERVAL_US] [-s SKIP] [-w]
 *
 * Sleeps until an absolute time, again and again, and prints by how much the
 * return was late: one line "latprobe n=... p50_us=... p99_us=... p999_us=...
 * max_us=...".  The first SKIP samples are thrown away.  With -w another line
 * "sleeps=..." says how often it did sleep: a time may have passed before it could.
 */
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/probe.h"

int main(int argc, char **argv)
{
	struct probe probe = { .samples = 1000, .interval_us = 1000, .skip = 20 };
	bool count_sleeps = false;
	uint64_t *late;
	int c;

	while ((c = getopt(argc, argv, "n:i:s:w")) != -1) {
		if (c == 'n')
			probe.samples = atol(optarg);
		else if (c == 'i')
			probe.interval_us = atol(optarg);
		else if (c == 's')
			probe.skip = atol(optarg);
		else if (c == 'w')
			count_sleeps = true;
		else
			return 2;
	}
	if (probe.samples < 1 || probe.samples > 100000000 || probe.interval_us < 1 || probe.skip < 0)
		return 2;
	late = malloc(probe.samples * sizeof(*late));
	if (!late)
		return 1;
	place_quiet();
	probe_run(&probe, late);
	sample_print("latprobe", late, probe.samples);
	if (count_sleeps) {
		struct rusage usage;

		getrusage(RUSAGE_SELF, &usage);
		printf("sleeps=%ld\n", usage.ru_nvcsw);
	}
	free(late);
	return 0;
}
