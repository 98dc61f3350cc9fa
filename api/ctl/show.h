/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show.h - pieces that several commands share: names, conditions, guarantees, targets, the Change of a request */
#ifndef SCHEDD_CTL_SHOW_H
#define SCHEDD_CTL_SHOW_H

#include <stdbool.h>
#include <stddef.h>

#include "api/ctl/ctl.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

struct out_table;
struct target;

void show_name(const char *name); /* one line for -o name */

/* A condition that is not as it should be: false or unknown. */
bool show_condition_is_bad(const Schedd__V1alpha1__Condition *c);
/* One line each, those that are not fine; all of them with -o wide. */
void show_conditions(const struct ctl *ctl, Schedd__V1alpha1__Condition *const *conditions, size_t nr_conditions,
		     const char *indent);

/* "2", or "4 (2 now)" when it was scaled, in yellow, or raised by leases. */
void show_guarantee_cell(struct out_table *t, const Schedd__V1alpha1__SchedClass *c);

/* --reason and --dry-run of the command; returns change. */
Schedd__V1alpha1__Change *show_fill_change(const struct ctl *ctl, Schedd__V1alpha1__Change *change);

/* The target from --self or from text (NULL = none given); CTL_USAGE is reported. */
enum ctl_exit show_read_target(const struct ctl *ctl, const char *text, struct target *ret_target);

#endif
