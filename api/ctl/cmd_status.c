// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_status.c - schedctl status, is-active, mode */
#include <inttypes.h>
#include <string.h>

#include "api/ctl/client.h"
#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/out.h"
#include "api/ctl/show.h"
#include "daemon/base/cleanup.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

static const struct out_column class_columns[] = {
	{ "CLASS", false, false },    { "OWNED", true, false },	  { "HELD", true, false },
	{ "GUARANTEE", true, false }, { "CGROUPS", true, false }, { "OWNED-CPUS", false, true },
	{ "HELD-CPUS", false, true }, { NULL, false, false },
};

static enum out_colour state_colour(const Schedd__V1alpha1__NodeStatus *s)
{
	if (!s->healthy)
		return OUT_RED;
	if (!strcmp(s->state, "attached"))
		return OUT_GREEN;
	return !strcmp(s->state, "detached") || !strcmp(s->state, "observing") ? OUT_PLAIN : OUT_YELLOW;
}

static uint64_t span_ns(const Google__Protobuf__Duration *d)
{
	return d && d->seconds >= 0 ? (uint64_t)d->seconds * 1000000000 + (uint64_t)d->nanos : 0;
}

/* One labelled line, as systemctl aligns them; text comes from the daemon. */
static void line(const char *label, const char *text)
{
	_cleanup_free_ char *safe = out_text(text);

	printf("%12s: %s\n", label, safe);
}

static void show_mode_and_state(const struct ctl *ctl, const Schedd__V1alpha1__NodeStatus *s)
{
	_cleanup_free_ char *mode = out_text(s->mode), *state = out_text(s->state),
			    *reason = out_text(s->state_reason);
	_cleanup_free_ char *hold = out_text(s->hold_reason);
	enum out_colour colour = state_colour(s);
	char when[64];

	printf("%s*%s schedd - latency classes for cgroups\n", out_colour_start(ctl->colour, colour),
	       out_colour_end(ctl->colour, colour));
	if (s->hold_until_time && !*hold)
		printf("%12s: %s until %s\n", "Mode", mode, out_time(when, sizeof(when), s->hold_until_time->seconds));
	else
		line("Mode", mode);
	printf("%12s: %s%s%s%s%s\n", "State", out_colour_start(ctl->colour, colour), state,
	       out_colour_end(ctl->colour, colour), s->healthy ? "" : ", degraded", s->ready ? "" : ", not ready");
	if (*reason)
		line("Why", reason);
	if (!*hold)
		return;
	if (s->hold_until_time)
		printf("%12s: %s%s%s until %s\n", "Hold", out_colour_start(ctl->colour, OUT_YELLOW), hold,
		       out_colour_end(ctl->colour, OUT_YELLOW),
		       out_time(when, sizeof(when), s->hold_until_time->seconds));
	else
		printf("%12s: %s%s%s until `schedctl mode' names another mode, or a reboot\n", "Hold",
		       out_colour_start(ctl->colour, OUT_YELLOW), hold, out_colour_end(ctl->colour, OUT_YELLOW));
}

static void show_identity(const struct ctl *ctl, const Schedd__V1alpha1__NodeStatus *s)
{
	_cleanup_free_ char *version = out_text(s->version), *revision = out_text(s->revision),
			    *hash = out_text(s->bpf_hash);
	_cleanup_free_ char *kernel = out_text(s->kernel), *epoch = out_text(s->epoch);
	bool wide = ctl->cli.format == CLI_WIDE;
	char up[32], attached[32];

	printf("%12s: %s (%s), up %s\n", "Daemon", version, revision,
	       out_span(up, sizeof(up), span_ns(s->uptime_duration)));
	printf("%12s: %.*s\n", "BPF object", wide ? 1000 : 12, hash);
	printf("%12s: %s, %" PRIu32 " CPU%s online\n", "Kernel", kernel, s->online_cpus,
	       s->online_cpus == 1 ? "" : "s");
	printf("%12s: %s", "Attached",
	       span_ns(s->attached_duration) ? out_span(attached, sizeof(attached), span_ns(s->attached_duration)) :
					       "never since the start");
	if (s->ejections)
		printf("; %staken off by the kernel %" PRIu64 " time%s%s", out_colour_start(ctl->colour, OUT_YELLOW),
		       s->ejections, s->ejections == 1 ? "" : "s", out_colour_end(ctl->colour, OUT_YELLOW));
	printf("\n%12s: %" PRIu32 "\n", "Cgroups", s->managed_cgroups);
	printf("%12s: configuration %" PRIu64 ", plan %" PRIu64 ", epoch %.*s\n", "Generations", s->config_generation,
	       s->plan_generation, wide ? 1000 : 8, epoch);
}

static void show_classes(const struct ctl *ctl, const Schedd__V1alpha1__NodeStatus *s)
{
	_cleanup_(out_table_freep) struct out_table *t =
		out_table_new(class_columns, ctl->cli.format == CLI_WIDE, ctl->colour);
	size_t i;

	for (i = 0; i < s->n_classes; i++) {
		const Schedd__V1alpha1__SchedClass *c = s->classes[i];
		_cleanup_free_ char *owned = out_cpu_list(c->owned_cpu_ids, c->n_owned_cpu_ids);
		_cleanup_free_ char *held = out_cpu_list(c->held_cpu_ids, c->n_held_cpu_ids);

		out_cell(t, OUT_PLAIN, "%s", c->name);
		out_cell(t, OUT_PLAIN, "%zu", c->n_owned_cpu_ids);
		out_cell(t, OUT_PLAIN, "%zu", c->n_held_cpu_ids);
		show_guarantee_cell(t, c);
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->member_cgroups);
		out_cell(t, OUT_PLAIN, "%s", owned);
		out_cell(t, OUT_PLAIN, "%s", held);
	}
	if (s->n_classes) {
		printf("\n");
		out_table_print(t, !ctl->cli.no_headers, "  ", stdout);
	}
}

/* Conditions of the node without the one whose sentence the line "Why" has already shown. */
static size_t other_conditions(const Schedd__V1alpha1__NodeStatus *s, Schedd__V1alpha1__Condition **ret_list)
{
	size_t n = 0, i;

	for (i = 0; i < s->n_conditions; i++)
		if (!*s->state_reason || strcmp(s->conditions[i]->message, s->state_reason) != 0)
			ret_list[n++] = s->conditions[i];
	return n;
}

static bool any_is_bad(Schedd__V1alpha1__Condition *const *conditions, size_t nr_conditions)
{
	size_t i;

	for (i = 0; i < nr_conditions; i++)
		if (show_condition_is_bad(conditions[i]))
			return true;
	return false;
}

static void show_unenforced_limits(const struct ctl *ctl, const Schedd__V1alpha1__NodeStatus *s)
{
	size_t i;

	for (i = 0; i < s->n_conditions; i++)
		if (!strcmp(s->conditions[i]->type, "CpuMaxEnforced") && show_condition_is_bad(s->conditions[i]))
			return; /* said with the conditions */
	if (s->cpu_limits_unenforced_cgroups)
		printf("  %s! cpu.max has no effect on %" PRIu32 " cgroup%s while schedd is attached%s\n",
		       out_colour_start(ctl->colour, OUT_YELLOW), s->cpu_limits_unenforced_cgroups,
		       s->cpu_limits_unenforced_cgroups == 1 ? "" : "s", out_colour_end(ctl->colour, OUT_YELLOW));
}

static void show_warnings(const struct ctl *ctl, const Schedd__V1alpha1__NodeStatus *s)
{
	_cleanup_free_ Schedd__V1alpha1__Condition **list = calloc(s->n_conditions + 1, sizeof(*list));
	size_t n = list ? other_conditions(s, list) : 0, i;
	bool any = s->cpu_limits_unenforced_cgroups > 0 || ctl->cli.format == CLI_WIDE || any_is_bad(list, n);

	for (i = 0; i < s->n_classes; i++)
		any |= any_is_bad(s->classes[i]->conditions, s->classes[i]->n_conditions);
	if (!any)
		return;
	printf("\n");
	show_conditions(ctl, list, n, "  ");
	for (i = 0; i < s->n_classes; i++) {
		_cleanup_free_ char *name = out_text(s->classes[i]->name), *indent = NULL;

		if (asprintf(&indent, "  %s: ", name) < 0)
			continue;
		show_conditions(ctl, s->classes[i]->conditions, s->classes[i]->n_conditions, indent);
	}
	show_unenforced_limits(ctl, s);
}

int cmd_status(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__NodeStatus *s = NULL;
	Schedd__V1alpha1__GetStatusRequest request = SCHEDD__V1ALPHA1__GET_STATUS_REQUEST__INIT;
	enum ctl_exit code;

	code = ctl_call(ctl, "GetStatus", &request.base, &s);
	if (code != CTL_DONE)
		return code;
	if (!ctl_print_json(ctl, &s->base)) {
		show_mode_and_state(ctl, s);
		show_identity(ctl, s);
		show_classes(ctl, s);
		show_warnings(ctl, s);
	}
	return s->healthy ? CTL_DONE : CTL_FAILED;
}

int cmd_is_active(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__NodeStatus *s = NULL;
	Schedd__V1alpha1__GetStatusRequest request = SCHEDD__V1ALPHA1__GET_STATUS_REQUEST__INIT;
	bool quiet = cli_flag(&ctl->cli, "quiet");
	struct ctl_problem problem;
	enum ctl_exit code;

	code = ctl_try(ctl, &schedd__v1alpha1__scheduler__descriptor, "GetStatus", &request.base, &s, &problem);
	if (code != CTL_DONE) {
		if (!quiet)
			puts("unreachable");
		return CTL_UNREACHABLE;
	}
	if (!quiet)
		show_name(s->state);
	return !strcmp(s->state, "attached") ? CTL_DONE : CTL_UNREACHABLE;
}

/* ---------- mode ---------- */

static void print_mode(const struct ctl *ctl, const Schedd__V1alpha1__NodeStatus *s, bool would)
{
	_cleanup_free_ char *mode = out_text(s->mode), *state = out_text(s->state),
			    *reason = out_text(s->state_reason);
	char when[64];

	if (ctl->cli.nr_args)
		printf("%s%s", would ? "the mode would be " : "mode: ", mode);
	else
		printf("%s", mode);
	if (s->hold_until_time)
		printf(", until %s", out_time(when, sizeof(when), s->hold_until_time->seconds));
	if (!would)
		printf(" (%s%s%s)", state, *reason ? ": " : "", reason);
	printf("\n");
}

static int show_mode(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__NodeStatus *s = NULL;
	Schedd__V1alpha1__GetStatusRequest request = SCHEDD__V1ALPHA1__GET_STATUS_REQUEST__INIT;
	enum ctl_exit code;

	if (cli_flag(&ctl->cli, "for") || cli_flag(&ctl->cli, "dry-run") || cli_flag(&ctl->cli, "reason"))
		return ctl_fail(CTL_USAGE, "a MODE is missing: auto, active, observe, paused or detached");
	code = ctl_call(ctl, "GetStatus", &request.base, &s);
	if (code == CTL_DONE && !ctl_print_json(ctl, &s->base))
		print_mode(ctl, s, false);
	return code;
}

int cmd_mode(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__NodeStatus *s = NULL;
	Schedd__V1alpha1__SetModeRequest request = SCHEDD__V1ALPHA1__SET_MODE_REQUEST__INIT;
	Google__Protobuf__Duration hold_for = GOOGLE__PROTOBUF__DURATION__INIT;
	bool dry_run = cli_flag(&ctl->cli, "dry-run"), given;
	Schedd__V1alpha1__Change change;
	enum ctl_exit code;
	uint64_t ns = 0;

	if (!ctl->cli.nr_args)
		return show_mode(ctl);
	code = ctl_duration_option(ctl, "for", &ns, &given);
	if (code == CTL_DONE && !dry_run && !strcmp(ctl->cli.args[0], "detached"))
		code = ctl_confirm(
			ctl, given ? "take the scheduler off this machine"
				   : "take the scheduler off this machine until another mode is set or it reboots");
	if (code != CTL_DONE)
		return code;
	if (given) {
		hold_for.seconds = (int64_t)(ns / 1000000000);
		hold_for.nanos = (int32_t)(ns % 1000000000);
		request.hold_for = &hold_for;
	}
	request.change = show_fill_change(ctl, &change);
	request.mode = (char *)ctl->cli.args[0];
	code = ctl_call(ctl, "SetMode", &request.base, &s);
	if (code == CTL_DONE && !ctl_print_json(ctl, &s->base))
		print_mode(ctl, s, dry_run);
	return code;
}
