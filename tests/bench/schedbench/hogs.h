/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hogs.h - processes that compute without pause, and what they got done in a time */
#ifndef SCHEDBENCH_HOGS_H
#define SCHEDBENCH_HOGS_H

#include "tests/bench/schedbench/crew.h"
#include "tests/bench/schedbench/spin.h"

struct hogs {
	struct crew *crew;
	struct hog *hogs; /* shared */
	uint32_t first, nr; /* their places in the crew */
	uint64_t begin_ns, begin_cpu_ns, begin_loops;
};

struct hogs_done {
	double elapsed_s, cpu_s, loops_per_s;
};

/* Adds them; they wait for hogs_go(). */
int hogs_add(struct hogs *h, struct crew *crew, enum role role, uint32_t nr);

/* Starts them; with wait, returns once each has run. */
int hogs_go(struct hogs *h, bool wait);

void hogs_begin(struct hogs *h);
struct hogs_done hogs_measure(const struct hogs *h);

/* loops_per_s and cpu_s with prefix before the names; nothing without hogs. */
void hogs_report(const struct hogs *h, const struct hogs_done *done, const char *prefix);

void hogs_free(struct hogs *h);

#endif
