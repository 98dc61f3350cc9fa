/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - outcomes as a table for people and as tab-separated values for the plot */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdio.h>

#include "contest.h"

void report_table(FILE *out, const struct scenario *s, const struct contest_options *o,
		  const struct outcome all[NR_CONTENDERS]);

/* Returns how many of them are missed. */
int report_targets(FILE *out, const struct target targets[NR_TARGETS]);

/* *group counts the services of all scenarios; the plot draws one group of columns for each. */
void report_tsv_head(FILE *out, const struct contest_options *o);
void report_tsv(FILE *out, const struct scenario *s, const struct outcome all[NR_CONTENDERS], uint32_t *group);

#endif
