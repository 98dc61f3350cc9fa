// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_class.c - schedctl class list, show, create, update, revert, delete */
#include <inttypes.h>
#include <string.h>

#include "api/ctl/class_message.h"
#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/out.h"
#include "api/ctl/show.h"
#include "daemon/base/cleanup.h"

/* ---------- list ---------- */

static const struct out_column list_columns[] = {
	{ "CLASS", false, false },     { "KIND", false, false }, { "GUARANTEE", true, false },
	{ "BURST", true, false },      { "LEND", false, false }, { "WEIGHT", true, false },
	{ "OWNED", true, false },      { "HELD", true, false },	 { "CGROUPS", true, false },
	{ "ORIGIN", false, false },    { "SLICE", true, true },	 { "POLICY", false, true },
	{ "OWNED-CPUS", false, true }, { NULL, false, false },
};

static const char *origin_name(const Schedd__V1alpha1__SchedClass *c)
{
	switch (c->origin) {
	case SCHEDD__V1ALPHA1__SCHED_CLASS__ORIGIN__ORIGIN_BUILTIN:
		return c->n_overridden_fields ? "builtin, changed" : "builtin";
	case SCHEDD__V1ALPHA1__SCHED_CLASS__ORIGIN__ORIGIN_CONFIG:
		return c->n_overridden_fields ? "config, changed" : "config";
	case SCHEDD__V1ALPHA1__SCHED_CLASS__ORIGIN__ORIGIN_API:
		return "call";
	default:
		return "-";
	}
}

static void list_row(struct out_table *t, const Schedd__V1alpha1__SchedClass *c)
{
	_cleanup_free_ char *owned = out_cpu_list(c->owned_cpu_ids, c->n_owned_cpu_ids);
	char v[64];

	out_cell(t, OUT_PLAIN, "%s", c->name);
	out_cell(t, OUT_PLAIN, "%s", class_message_value(c, CLASS_FIELD_KIND, v, sizeof(v)));
	show_guarantee_cell(t, c);
	out_cell(t, OUT_PLAIN, "%s", class_message_value(c, CLASS_FIELD_BURST, v, sizeof(v)));
	out_cell(t, OUT_PLAIN, "%s", class_message_value(c, CLASS_FIELD_LEND, v, sizeof(v)));
	out_cell(t, OUT_PLAIN, "%s", class_message_value(c, CLASS_FIELD_WEIGHT, v, sizeof(v)));
	out_cell(t, OUT_PLAIN, "%zu", c->n_owned_cpu_ids);
	out_cell(t, OUT_PLAIN, "%zu", c->n_held_cpu_ids);
	out_cell(t, OUT_PLAIN, "%" PRIu32, c->member_cgroups);
	out_cell(t, OUT_PLAIN, "%s", origin_name(c));
	out_cell(t, OUT_PLAIN, "%s", class_message_value(c, CLASS_FIELD_SLICE, v, sizeof(v)));
	out_cell(t, OUT_PLAIN, "%s", class_message_value(c, CLASS_FIELD_POLICY, v, sizeof(v)));
	out_cell(t, OUT_PLAIN, "%s", owned);
}

int cmd_class_list(struct ctl *ctl)
{
	_cleanup_(out_table_freep) struct out_table *t = NULL;
	_cleanup_message_ Schedd__V1alpha1__ListClassesResponse *reply = NULL;
	Schedd__V1alpha1__ListClassesRequest request = SCHEDD__V1ALPHA1__LIST_CLASSES_REQUEST__INIT;
	enum ctl_exit code;
	size_t i;

	code = ctl_call_all_pages(ctl, "ListClasses", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	t = out_table_new(list_columns, ctl->cli.format == CLI_WIDE, ctl->colour);
	for (i = 0; i < reply->n_classes; i++) {
		if (ctl->cli.format == CLI_NAME)
			show_name(reply->classes[i]->name);
		else
			list_row(t, reply->classes[i]);
	}
	if (ctl->cli.format != CLI_NAME)
		out_table_print(t, !ctl->cli.no_headers, "", stdout);
	return CTL_DONE;
}

/* ---------- show ---------- */

static const struct out_column key_columns[] = {
	{ "KEY", false, false },    { "VALUE", false, false }, { "FROM", false, false },
	{ "ALLOWED", false, true }, { NULL, false, false },
};

static void show_class(const struct ctl *ctl, const Schedd__V1alpha1__SchedClass *c)
{
	_cleanup_(out_table_freep) struct out_table *t =
		out_table_new(key_columns, ctl->cli.format == CLI_WIDE, ctl->colour);
	_cleanup_free_ char *owned = out_cpu_list(c->owned_cpu_ids, c->n_owned_cpu_ids);
	_cleanup_free_ char *held = out_cpu_list(c->held_cpu_ids, c->n_held_cpu_ids);
	_cleanup_free_ char *name = out_text(c->name);
	char v[64];
	size_t i;

	printf("%s%s%s (%s)\n", out_colour_start(ctl->colour, OUT_BOLD), name, out_colour_end(ctl->colour, OUT_BOLD),
	       origin_name(c));
	printf("  %" PRIu32 " cgroup%s; owns %zu CPU%s%s%s; holds %zu%s%s\n", c->member_cgroups,
	       c->member_cgroups == 1 ? "" : "s", c->n_owned_cpu_ids, c->n_owned_cpu_ids == 1 ? "" : "s",
	       *owned ? ": " : "", owned, c->n_held_cpu_ids, *held ? ": " : "", held);
	if (c->guarantee_cpus && c->guarantee_cpus->value != c->effective_guarantee_cpus)
		printf("  guarantee in effect: %" PRIu32 " (the sum of all was scaled to the CPUs there are)\n",
		       c->effective_guarantee_cpus);
	show_conditions(ctl, c->conditions, c->n_conditions, "  ");
	printf("\n");
	for (i = 0; i < class_nr_keys; i++) {
		out_cell(t, OUT_PLAIN, "%s", class_keys[i].yaml);
		out_cell(t, OUT_PLAIN, "%s", class_message_value(c, class_keys[i].field, v, sizeof(v)));
		out_cell(t, OUT_PLAIN, "%s", class_message_origin(c, &class_keys[i]));
		out_cell(t, OUT_PLAIN, "%s", class_keys[i].help);
	}
	out_table_print(t, !ctl->cli.no_headers, "  ", stdout);
}

int cmd_class_show(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__SchedClass *reply = NULL;
	Schedd__V1alpha1__GetClassRequest request = SCHEDD__V1ALPHA1__GET_CLASS_REQUEST__INIT;
	enum ctl_exit code;

	request.class_name = (char *)ctl->cli.args[0];
	code = ctl_call(ctl, "GetClass", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	if (ctl->cli.format == CLI_NAME)
		show_name(reply->name);
	else
		show_class(ctl, reply);
	return CTL_DONE;
}

/* ---------- changes ---------- */

/* "class web created", or only the name with -o name */
static int report_change(const struct ctl *ctl, const Schedd__V1alpha1__SchedClass *c, const char *what)
{
	_cleanup_free_ char *name = out_text(c->name);

	if (ctl_print_json(ctl, &c->base))
		return CTL_DONE;
	if (ctl->cli.format == CLI_NAME)
		show_name(c->name);
	else
		printf("class %s %s%s\n", name, cli_flag(&ctl->cli, "dry-run") ? "would be " : "", what);
	return CTL_DONE;
}

static int upsert(struct ctl *ctl, bool create)
{
	_cleanup_message_ Schedd__V1alpha1__SchedClass *reply = NULL;
	Schedd__V1alpha1__UpsertClassRequest request = SCHEDD__V1ALPHA1__UPSERT_CLASS_REQUEST__INIT;
	Schedd__V1alpha1__Change change;
	struct class_message m;
	enum ctl_exit code;
	char error[512];

	if (class_message_parse(&m, ctl->cli.args[0], ctl->cli.args + 1, ctl->cli.nr_args - 1, error, sizeof(error)) <
	    0)
		return ctl_fail(CTL_USAGE, "%s", error);
	request.change = show_fill_change(ctl, &change);
	request.sched_class = &m.message;
	/* Without a mask the daemon takes what is present, and nothing that is reset is. */
	if (m.reset)
		request.update_mask = &m.mask;
	request.must_not_exist = create;
	request.must_exist = !create;
	request.persistent = cli_flag(&ctl->cli, "persistent");
	code = ctl_call(ctl, "UpsertClass", &request.base, &reply);
	return code != CTL_DONE ? (int)code : report_change(ctl, reply, create ? "created" : "updated");
}

int cmd_class_create(struct ctl *ctl)
{
	return upsert(ctl, true);
}

int cmd_class_update(struct ctl *ctl)
{
	return upsert(ctl, false);
}

int cmd_class_revert(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__SchedClass *reply = NULL;
	Schedd__V1alpha1__RevertClassRequest request = SCHEDD__V1ALPHA1__REVERT_CLASS_REQUEST__INIT;
	Schedd__V1alpha1__Change change;
	enum ctl_exit code;

	request.change = show_fill_change(ctl, &change);
	request.class_name = (char *)ctl->cli.args[0];
	code = ctl_call(ctl, "RevertClass", &request.base, &reply);
	return code != CTL_DONE ? (int)code : report_change(ctl, reply, "reverted to its configuration");
}

int cmd_class_delete(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__DeleteClassResponse *reply = NULL;
	Schedd__V1alpha1__DeleteClassRequest request = SCHEDD__V1ALPHA1__DELETE_CLASS_REQUEST__INIT;
	_cleanup_free_ char *name = out_text(ctl->cli.args[0]);
	Schedd__V1alpha1__Change change;
	bool dry_run = cli_flag(&ctl->cli, "dry-run");
	char what[160];
	enum ctl_exit code;

	snprintf(what, sizeof(what), "delete the class %.64s and its settings", name);
	code = dry_run ? CTL_DONE : ctl_confirm(ctl, what);
	if (code != CTL_DONE)
		return code;
	request.change = show_fill_change(ctl, &change);
	request.class_name = (char *)ctl->cli.args[0];
	code = ctl_call(ctl, "DeleteClass", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	if (ctl->cli.format == CLI_NAME)
		show_name(ctl->cli.args[0]);
	else
		printf("class %s %sdeleted\n", name, dry_run ? "would be " : "");
	return CTL_DONE;
}
