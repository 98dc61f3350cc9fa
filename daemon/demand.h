/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demand.h - counter deltas -> congestion and demand per class.  Pure: no clock, file or map. */
#ifndef SCHEDD_DEMAND_H
#define SCHEDD_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/intf.h"

/* Cumulative counters of one class in one LLC, summed over its CPUs. */
struct demand_counters {
	uint64_t enqueued;        /* tasks put into a queue */
	uint64_t dequeued;        /* tasks that left a queue */
	uint64_t started;         /* starts of tasks that had waited */
	uint64_t queue_delay_ns;  /* how long those had waited */
	uint64_t cpu_ns;          /* ran */
};

struct demand_input {
	uint64_t now_ns;          /* CLOCK_MONOTONIC */
	uint32_t nr_llcs;
	uint32_t used;            /* bit per class */
	uint64_t congestion_ns[SCHEDD_MAX_CLASSES]; /* threshold of the mean delay; 0 = only what still waits counts */
	const struct demand_counters (*counters)[SCHEDD_MAX_CLASSES]; /* [llc][class] */
};

struct demand_class {
	bool congested;            /* what was queued at the previous update is still queued, or the mean delay is too long */
	uint64_t congested_llcs;   /* where: bit per LLC */
	uint32_t queued;           /* tasks that wait now */
	uint64_t mean_delay_ns;    /* of the starts since the previous update */
	uint32_t running_mcpu;     /* CPU time since the previous update, in thousandths of a CPU */
	uint32_t utilisation_mcpu; /* its moving average, half of it from the last 100 ms */
};

/* What an update remembers for the next one.  Zeroed = first update: nothing is congested. */
struct demand {
	uint64_t at_ns;
	uint32_t nr_llcs;
	uint32_t used;             /* a class that is new has no previous counters */
	struct demand_counters previous[SCHEDD_MAX_LLCS][SCHEDD_MAX_CLASSES];
	/* Left the queue of this LLC, counted elsewhere; less what is counted here and left other queues. */
	int64_t stolen[SCHEDD_MAX_CLASSES][SCHEDD_MAX_LLCS];
	double utilisation_mcpu[SCHEDD_MAX_CLASSES]; /* at 5 us an update moves it by less than a thousandth of a CPU */
};

/*
 * A counter that is below its previous value began again: its change is unknown and
 * counts as nothing.  A second update at the same now_ns learns nothing and says so.
 */
void demand_update(struct demand *d, const struct demand_input *in, struct demand_class ret_classes[SCHEDD_MAX_CLASSES]);

#endif
