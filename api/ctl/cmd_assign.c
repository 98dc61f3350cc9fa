// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_assign.c - schedctl class set, unset, get, assignments */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/out.h"
#include "api/ctl/show.h"
#include "api/ctl/target.h"
#include "daemon/base/cleanup.h"

static const char *lifetime_words(const Schedd__V1alpha1__Assignment *a)
{
	switch (a->lifetime) {
	case SCHEDD__V1ALPHA1__LIFETIME__LIFETIME_CGROUP:
		return "until the cgroup is gone";
	case SCHEDD__V1ALPHA1__LIFETIME__LIFETIME_RUNTIME:
		return "until reboot";
	case SCHEDD__V1ALPHA1__LIFETIME__LIFETIME_PERSISTENT:
		return "kept over reboots";
	default:
		return "-";
	}
}

static const char *state_words(const Schedd__V1alpha1__Assignment *a)
{
	switch (a->state) {
	case SCHEDD__V1ALPHA1__ASSIGNMENT__STATE__STATE_ACTIVE:
		return "active";
	case SCHEDD__V1ALPHA1__ASSIGNMENT__STATE__STATE_WAITING_FOR_TARGET:
		return "waiting for its target";
	case SCHEDD__V1ALPHA1__ASSIGNMENT__STATE__STATE_CAPPED:
		return "capped by a ceiling";
	default:
		return "-";
	}
}

/* ---------- set, unset ---------- */

static void print_affected(const struct ctl *ctl, const Schedd__V1alpha1__Assignment *a)
{
	size_t i;

	if (ctl->cli.format != CLI_WIDE)
		return;
	for (i = 0; i < a->n_affected; i++) {
		_cleanup_free_ char *path = out_path(a->affected[i]->cgroup_path),
				    *name = out_text(a->affected[i]->class_name);

		printf("  %s  %s\n", name, path);
	}
	if (a->affected_total > a->n_affected)
		printf("  and %zu more\n", a->affected_total - a->n_affected);
}

static void print_set(const struct ctl *ctl, const Schedd__V1alpha1__Assignment *a)
{
	_cleanup_free_ char *target = target_format(a->target), *name = out_text(a->class_name),
			    *id = out_text(a->assignment_id);
	char when[64];

	printf("%s: %s%s, ", target, cli_flag(&ctl->cli, "dry-run") ? "would be " : "", name);
	if (a->expire_time)
		printf("until %s", out_time(when, sizeof(when), a->expire_time->seconds));
	else
		printf("%s", lifetime_words(a));
	printf(" (%" PRIu32 " cgroup%s%s%s%s%s)\n", a->affected_total, a->affected_total == 1 ? "" : "s",
	       *id ? ", order " : "", id, a->state == SCHEDD__V1ALPHA1__ASSIGNMENT__STATE__STATE_ACTIVE ? "" : ", ",
	       a->state == SCHEDD__V1ALPHA1__ASSIGNMENT__STATE__STATE_ACTIVE ? "" : state_words(a));
	print_affected(ctl, a);
}

/* --self takes the place of TARGET, so CLASS moves to the front. */
static enum ctl_exit read_set_words(const struct ctl *ctl, struct target *target, const char **ret_class)
{
	bool self = cli_flag(&ctl->cli, "self");

	if (self && ctl->cli.nr_args == 2)
		return show_read_target(ctl, ctl->cli.args[0], target);
	if (!self && ctl->cli.nr_args == 1)
		return ctl_fail(CTL_USAGE,
				"a CLASS is missing: schedctl class set %s CLASS; `schedctl class list' shows them",
				ctl->cli.args[0]);
	*ret_class = ctl->cli.args[self ? 0 : 1];
	return show_read_target(ctl, self ? NULL : ctl->cli.args[0], target);
}

int cmd_class_set(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__Assignment *reply = NULL;
	Schedd__V1alpha1__SetClassRequest request = SCHEDD__V1ALPHA1__SET_CLASS_REQUEST__INIT;
	Google__Protobuf__Duration ttl = GOOGLE__PROTOBUF__DURATION__INIT;
	Schedd__V1alpha1__Change change;
	const char *class_name = NULL;
	struct target target;
	enum ctl_exit code;
	uint64_t ns = 0;
	bool given;

	code = read_set_words(ctl, &target, &class_name);
	if (code == CTL_DONE)
		code = ctl_duration_option(ctl, "ttl", &ns, &given);
	if (code == CTL_DONE && cli_flag(&ctl->cli, "subtree") && cli_flag(&ctl->cli, "force") &&
	    !cli_flag(&ctl->cli, "dry-run"))
		code = ctl_confirm(ctl, "change the class of a protected cgroup and of everything below it");
	if (code != CTL_DONE)
		return code;
	if (given) {
		ttl.seconds = (int64_t)(ns / 1000000000);
		ttl.nanos = (int32_t)(ns % 1000000000);
		request.ttl = &ttl;
	}
	request.change = show_fill_change(ctl, &change);
	request.target = &target.message;
	request.class_name = (char *)class_name;
	if (cli_flag(&ctl->cli, "persistent"))
		request.lifetime = SCHEDD__V1ALPHA1__LIFETIME__LIFETIME_PERSISTENT;
	request.whole_subtree = cli_flag(&ctl->cli, "subtree");
	request.accept_shared_cgroup = cli_flag(&ctl->cli, "whole-cgroup");
	request.force_protected = cli_flag(&ctl->cli, "force");
	code = ctl_call(ctl, "SetClass", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	if (ctl->cli.format == CLI_NAME)
		show_name(reply->assignment_id);
	else
		print_set(ctl, reply);
	return CTL_DONE;
}

static void print_unset(const struct ctl *ctl, const Schedd__V1alpha1__Assignment *a)
{
	_cleanup_free_ char *target = target_format(a->target), *name = out_text(a->class_name);

	printf("%s: %s %s", target,
	       cli_flag(&ctl->cli, "dry-run") ? "would no longer be ordered to be" : "no longer ordered to be", name);
	if (a->n_affected) {
		_cleanup_free_ char *now = out_text(a->affected[0]->class_name);

		printf("; now %s", now);
	}
	printf("\n");
	print_affected(ctl, a);
}

int cmd_class_unset(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__Assignment *reply = NULL;
	Schedd__V1alpha1__UnsetClassRequest request = SCHEDD__V1ALPHA1__UNSET_CLASS_REQUEST__INIT;
	const char *id = cli_value(&ctl->cli, "id");
	Schedd__V1alpha1__Change change;
	struct target target;
	enum ctl_exit code;

	if (id && (ctl->cli.nr_args || cli_flag(&ctl->cli, "self")))
		return ctl_fail(CTL_USAGE, "--id stands instead of a TARGET: drop one of the two");
	if (id) {
		request.assignment_id = (char *)id;
	} else {
		code = show_read_target(ctl, ctl->cli.nr_args ? ctl->cli.args[0] : NULL, &target);
		if (code != CTL_DONE)
			return code;
		request.target = &target.message;
	}
	request.change = show_fill_change(ctl, &change);
	code = ctl_call(ctl, "UnsetClass", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	if (ctl->cli.format == CLI_NAME)
		show_name(reply->assignment_id);
	else
		print_unset(ctl, reply);
	return CTL_DONE;
}

/* ---------- get ---------- */

/* "config: cgroup=/batch.slice/ ** wants best-effort (/etc/schedd/schedd.yaml:4)" */
static void print_reason(const char *label, const Schedd__V1alpha1__Decision__Reason *r, uint64_t cgroup_id)
{
	_cleanup_free_ char *source = out_text(r->source), *key = out_text(r->key), *value = out_path(r->value);
	_cleanup_free_ char *rule = out_text(r->rule), *name = out_text(r->class_name);

	printf("%14s: %s", label, source);
	if (*key)
		printf(", %s%s%s", key, *value ? "=" : "", value);
	if (*name)
		printf(" -> %s", name);
	if (*rule)
		printf(" (%s)", rule);
	if (r->at_cgroup_id && r->at_cgroup_id != cgroup_id)
		printf(", said at cgroup-id:%" PRIu64, r->at_cgroup_id);
	printf("\n");
}

static void print_explained(const struct ctl *ctl, const Schedd__V1alpha1__Decision *d)
{
	_cleanup_free_ char *path = out_path(d->cgroup_path), *name = out_text(d->class_name),
			    *cap = out_text(d->capped_by);
	size_t i;

	printf("%s%s%s (cgroup-id:%" PRIu64 ")\n%14s: %s\n", out_colour_start(ctl->colour, OUT_BOLD), path,
	       out_colour_end(ctl->colour, OUT_BOLD), d->cgroup_id, "Class", name);
	if (d->winner)
		print_reason("Decided by", d->winner, d->cgroup_id);
	for (i = 0; i < d->n_overridden; i++)
		print_reason("Overridden", d->overridden[i], d->cgroup_id);
	printf("%14s: %s\n", "Ceiling", *cap ? cap : "none");
}

static void print_decision(const struct ctl *ctl, const Schedd__V1alpha1__Decision *d)
{
	_cleanup_free_ char *path = out_path(d->cgroup_path), *name = out_text(d->class_name);
	_cleanup_free_ char *source = out_text(d->winner ? d->winner->source : "");

	if (ctl->cli.format == CLI_NAME)
		puts(name);
	else if (cli_flag(&ctl->cli, "explain") || ctl->cli.format == CLI_WIDE)
		print_explained(ctl, d);
	else
		printf("%s: %s%s%s%s\n", path, name, *source ? " (" : "", source, *source ? ")" : "");
}

int cmd_class_get(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__ExplainTargetResponse *reply = NULL;
	Schedd__V1alpha1__ExplainTargetRequest request = SCHEDD__V1ALPHA1__EXPLAIN_TARGET_REQUEST__INIT;
	struct target target;
	enum ctl_exit code;
	size_t i;

	code = show_read_target(ctl, ctl->cli.nr_args ? ctl->cli.args[0] : NULL, &target);
	if (code != CTL_DONE)
		return code;
	request.target = &target.message;
	code = ctl_call(ctl, "ExplainTarget", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	for (i = 0; i < reply->n_decisions; i++)
		print_decision(ctl, reply->decisions[i]);
	return CTL_DONE;
}

/* ---------- assignments ---------- */

static const struct out_column assignment_columns[] = {
	{ "ID", false, false },	    { "TARGET", false, false }, { "CLASS", false, false },
	{ "STATE", false, false },  { "LASTS", false, false },	{ "BY", false, false },
	{ "CREATED", false, true }, { "REASON", false, true },	{ NULL, false, false },
};

static void assignment_row(struct out_table *t, const Schedd__V1alpha1__Assignment *a)
{
	_cleanup_free_ char *target = target_format(a->target);
	enum out_colour colour =
		a->state == SCHEDD__V1ALPHA1__ASSIGNMENT__STATE__STATE_ACTIVE ? OUT_PLAIN : OUT_YELLOW;
	char when[64];

	out_cell(t, OUT_PLAIN, "%s", a->assignment_id);
	out_cell(t, OUT_PLAIN, "%s", target);
	out_cell(t, OUT_PLAIN, "%s", a->class_name);
	out_cell(t, colour, "%s", state_words(a));
	if (a->expire_time)
		out_cell(t, OUT_PLAIN, "until %s", out_time(when, sizeof(when), a->expire_time->seconds));
	else
		out_cell(t, OUT_PLAIN, "%s", lifetime_words(a));
	if (a->actor && a->actor->uid)
		out_cell(t, OUT_PLAIN, "uid %" PRIu32 "%s%s", a->actor->uid->value, *a->actor->comm ? ", " : "",
			 a->actor->comm);
	else
		out_cell(t, OUT_PLAIN, "%s", a->actor ? a->actor->source : "");
	out_cell(t, OUT_PLAIN, "%s", a->create_time ? out_time(when, sizeof(when), a->create_time->seconds) : "");
	out_cell(t, OUT_PLAIN, "%s", a->reason);
}

int cmd_class_assignments(struct ctl *ctl)
{
	_cleanup_(out_table_freep) struct out_table *t = NULL;
	_cleanup_message_ Schedd__V1alpha1__ListAssignmentsResponse *reply = NULL;
	Schedd__V1alpha1__ListAssignmentsRequest request = SCHEDD__V1ALPHA1__LIST_ASSIGNMENTS_REQUEST__INIT;
	const char *class_name = cli_value(&ctl->cli, "class");
	enum ctl_exit code;
	size_t i;

	if (class_name)
		request.class_name = (char *)class_name;
	code = ctl_call_all_pages(ctl, "ListAssignments", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	t = out_table_new(assignment_columns, ctl->cli.format == CLI_WIDE, ctl->colour);
	for (i = 0; i < reply->n_assignments; i++) {
		if (ctl->cli.format == CLI_NAME)
			show_name(reply->assignments[i]->assignment_id);
		else
			assignment_row(t, reply->assignments[i]);
	}
	if (ctl->cli.format != CLI_NAME && out_table_rows(t))
		out_table_print(t, !ctl->cli.no_headers, "", stdout);
	else if (ctl->cli.format != CLI_NAME)
		fprintf(stderr, "no assignments%s%s\n", class_name ? " of class " : "", class_name ? class_name : "");
	return CTL_DONE;
}
