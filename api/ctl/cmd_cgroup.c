// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_cgroup.c - schedctl cgroup list */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl/cgroup_order.h"
#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/out.h"
#include "api/ctl/show.h"
#include "daemon/base/cleanup.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

static const struct out_column columns[] = {
	{ "CGROUP", false, false }, { "CLASS", false, false },	{ "FROM", false, false }, { "ID", true, true },
	{ "RULE", false, true },    { "CEILING", false, true }, { NULL, false, false },
};

static int compare(const void *a, const void *b)
{
	return cgroup_order_compare((*(Schedd__V1alpha1__Decision *const *)a)->cgroup_path,
				    (*(Schedd__V1alpha1__Decision *const *)b)->cgroup_path);
}

static void row(struct out_table *t, const Schedd__V1alpha1__Decision *d, unsigned int depth, const char *name)
{
	_cleanup_free_ char *shown = out_path(name);

	out_cell(t, OUT_PLAIN, "%*s%s", (int)depth * 2, "", shown);
	out_cell(t, OUT_PLAIN, "%s", d->class_name);
	out_cell(t, d->winner && !strcmp(d->winner->source, "inherited") ? OUT_DIM : OUT_PLAIN, "%s",
		 d->winner ? d->winner->source : "");
	out_cell(t, OUT_PLAIN, "%" PRIu64, d->cgroup_id);
	out_cell(t, OUT_PLAIN, "%s", d->winner ? d->winner->rule : "");
	out_cell(t, OUT_PLAIN, "%s", d->capped_by);
}

static int print_rows(const struct ctl *ctl, const Schedd__V1alpha1__ListCgroupsResponse *reply)
{
	_cleanup_(out_table_freep) struct out_table *t =
		out_table_new(columns, ctl->cli.format == CLI_WIDE, ctl->colour);
	_cleanup_free_ const char **paths = calloc(reply->n_decisions + 1, sizeof(*paths));
	_cleanup_free_ const char **names = calloc(reply->n_decisions + 1, sizeof(*names));
	_cleanup_free_ unsigned int *depths = calloc(reply->n_decisions + 1, sizeof(*depths));
	bool tree = cli_flag(&ctl->cli, "tree");
	size_t i;

	if (!paths || !names || !depths)
		return ctl_fail(CTL_FAILED, "no memory for a list of %zu cgroups", reply->n_decisions);
	for (i = 0; i < reply->n_decisions; i++)
		paths[i] = reply->decisions[i]->cgroup_path;
	cgroup_order_place(paths, reply->n_decisions, depths, names);
	for (i = 0; i < reply->n_decisions; i++)
		row(t, reply->decisions[i], tree ? depths[i] : 0, tree ? names[i] : paths[i]);
	out_table_print(t, !ctl->cli.no_headers, "", stdout);
	return CTL_DONE;
}

int cmd_cgroup_list(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__ListCgroupsResponse *reply = NULL;
	Schedd__V1alpha1__ListCgroupsRequest request = SCHEDD__V1ALPHA1__LIST_CGROUPS_REQUEST__INIT;
	const char *class_name = cli_value(&ctl->cli, "class");
	enum ctl_exit code;
	size_t i;

	if (class_name)
		request.class_name = (char *)class_name;
	code = ctl_call_all_pages(ctl, "ListCgroups", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	if (reply->n_decisions)
		qsort(reply->decisions, reply->n_decisions, sizeof(*reply->decisions), compare);
	if (ctl->cli.format != CLI_NAME)
		return print_rows(ctl, reply);
	for (i = 0; i < reply->n_decisions; i++) {
		_cleanup_free_ char *path = out_path(reply->decisions[i]->cgroup_path);

		puts(path);
	}
	return CTL_DONE;
}
