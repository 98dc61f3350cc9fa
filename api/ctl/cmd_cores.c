// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_cores.c - schedctl cores show; the other verbs: cmd_lease.c */
#include <inttypes.h>

#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/out.h"
#include "daemon/base/cleanup.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

static const struct out_column class_columns[] = {
	{ "CLASS", false, false }, { "GUARANTEE", true, false }, { "OWNED", true, false }, { "HELD", true, false },
	{ "LEASED", true, true },  { "REACHABLE", true, true },	 { NULL, false, false },
};

static const struct out_column cpu_columns[] = {
	{ "CPU", true, false },	  { "CORE", true, false },   { "LLC", true, false },
	{ "NODE", true, false },  { "OWNER", false, false }, { "HOLDER", false, false },
	{ "NOTE", false, false }, { "LEASE", false, true },  { NULL, false, false },
};

static const char *exclusion_words(Schedd__V1alpha1__Plan__Exclusion exclusion)
{
	switch (exclusion) {
	case SCHEDD__V1ALPHA1__PLAN__EXCLUSION__EXCLUSION_OFFLINE:
		return "offline";
	case SCHEDD__V1ALPHA1__PLAN__EXCLUSION__EXCLUSION_POLLER:
		return "polled by schedd";
	case SCHEDD__V1ALPHA1__PLAN__EXCLUSION__EXCLUSION_REALTIME:
		return "taken by a real-time task";
	case SCHEDD__V1ALPHA1__PLAN__EXCLUSION__EXCLUSION_PRIVATE_CPUSET:
		return "private to one cpuset";
	case SCHEDD__V1ALPHA1__PLAN__EXCLUSION__EXCLUSION_ISOLATED:
		return "isolated";
	default:
		return "";
	}
}

static void print_classes(const struct ctl *ctl, const Schedd__V1alpha1__Plan *plan)
{
	_cleanup_(out_table_freep) struct out_table *t =
		out_table_new(class_columns, ctl->cli.format == CLI_WIDE, ctl->colour);
	size_t i;

	for (i = 0; i < plan->n_classes; i++) {
		const Schedd__V1alpha1__Plan__ClassPlan *c = plan->classes[i];

		out_cell(t, OUT_PLAIN, "%s", c->class_name);
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->guarantee_cpus);
		out_cell(t, c->owned_cpus < c->guarantee_cpus ? OUT_YELLOW : OUT_PLAIN, "%" PRIu32, c->owned_cpus);
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->held_cpus);
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->leased_cpus);
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->reachable_cpus);
	}
	out_table_print(t, !ctl->cli.no_headers, "", stdout);
}

static void print_cpus(const struct ctl *ctl, const Schedd__V1alpha1__Plan *plan)
{
	_cleanup_(out_table_freep) struct out_table *t =
		out_table_new(cpu_columns, ctl->cli.format == CLI_WIDE, ctl->colour);
	size_t i;

	for (i = 0; i < plan->n_cpus; i++) {
		const Schedd__V1alpha1__Plan__CpuPlan *c = plan->cpus[i];

		out_cell(t, OUT_PLAIN, "%" PRIu32, c->cpu_id);
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->core_id);
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->llc_id);
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->numa_node);
		out_cell(t, OUT_PLAIN, "%s", c->owner_class_name);
		out_cell(t, OUT_PLAIN, "%s", c->holder_class_name);
		out_cell(t, OUT_YELLOW, "%s", exclusion_words(c->exclusion));
		out_cell(t, OUT_PLAIN, "%s", c->lease_id);
	}
	out_table_print(t, !ctl->cli.no_headers, "", stdout);
}

int cmd_cores_show(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__Plan *plan = NULL;
	Schedd__V1alpha1__GetPlanRequest request = SCHEDD__V1ALPHA1__GET_PLAN_REQUEST__INIT;
	_cleanup_free_ char *policy = NULL;
	enum ctl_exit code;
	char when[64];

	request.view = SCHEDD__V1ALPHA1__GET_PLAN_REQUEST__VIEW__VIEW_FULL;
	code = ctl_call(ctl, "GetPlan", &request.base, &plan);
	if (code != CTL_DONE || ctl_print_json(ctl, &plan->base))
		return code;
	policy = out_text(plan->policy);
	printf("Plan %" PRIu64 ", policy %s, ", plan->plan_generation, policy);
	if (plan->apply_time)
		printf("applied %s\n\n", out_time(when, sizeof(when), plan->apply_time->seconds));
	else
		printf("not applied: the scheduler is not attached\n\n");
	print_classes(ctl, plan);
	printf("\n");
	print_cpus(ctl, plan);
	return CTL_DONE;
}
