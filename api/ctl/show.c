// SPDX-License-Identifier: GPL-2.0-or-later
/* show.c - pieces that several commands share */
#include "api/ctl/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl/out.h"
#include "api/ctl/target.h"
#include "cgroup/mount.h"
#include "daemon/base/cleanup.h"

void show_name(const char *name)
{
	_cleanup_free_ char *text = out_text(name);

	puts(text);
}

/* Not attached because nothing asks for it is what the mode auto is about, and observing is an order. */
bool show_condition_is_bad(const Schedd__V1alpha1__Condition *c)
{
	return c->status != SCHEDD__V1ALPHA1__CONDITION__STATE__STATE_TRUE && strcmp(c->reason, "NotWanted") != 0 &&
	       strcmp(c->reason, "Observing") != 0;
}

static const char *state_word(Schedd__V1alpha1__Condition__State state)
{
	switch (state) {
	case SCHEDD__V1ALPHA1__CONDITION__STATE__STATE_TRUE:
		return "yes";
	case SCHEDD__V1ALPHA1__CONDITION__STATE__STATE_FALSE:
		return "no";
	default:
		return "unknown";
	}
}

void show_conditions(const struct ctl *ctl, Schedd__V1alpha1__Condition *const *conditions, size_t nr_conditions,
		     const char *indent)
{
	size_t i;

	for (i = 0; i < nr_conditions; i++) {
		const Schedd__V1alpha1__Condition *c = conditions[i];
		_cleanup_free_ char *type = out_text(c->type), *reason = out_text(c->reason),
				    *message = out_text(c->message);
		bool bad = show_condition_is_bad(c);
		enum out_colour colour = bad ? OUT_YELLOW : OUT_PLAIN;

		if (!bad && ctl->cli.format != CLI_WIDE)
			continue;
		printf("%s%s%c %s: %s%s", indent, out_colour_start(ctl->colour, colour), bad ? '!' : ' ', type,
		       state_word(c->status), out_colour_end(ctl->colour, colour));
		printf("%s%s%s%s%s\n", *reason ? " (" : "", reason, *reason ? ")" : "", *message ? ": " : "",
		       message);
	}
}

void show_guarantee_cell(struct out_table *t, const Schedd__V1alpha1__SchedClass *c)
{
	if (!c->guarantee_cpus)
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->effective_guarantee_cpus);
	else if (c->guarantee_cpus->value == c->effective_guarantee_cpus)
		out_cell(t, OUT_PLAIN, "%" PRIu32, c->guarantee_cpus->value);
	else
		out_cell(t, c->effective_guarantee_cpus < c->guarantee_cpus->value ? OUT_YELLOW : OUT_PLAIN,
			 "%" PRIu32 " (%" PRIu32 " now)", c->guarantee_cpus->value, c->effective_guarantee_cpus);
}

Schedd__V1alpha1__Change *show_fill_change(const struct ctl *ctl, Schedd__V1alpha1__Change *change)
{
	const char *reason = cli_value(&ctl->cli, "reason");

	schedd__v1alpha1__change__init(change);
	change->validate_only = cli_flag(&ctl->cli, "dry-run");
	if (reason)
		change->reason = (char *)reason;
	return change;
}

enum ctl_exit show_read_target(const struct ctl *ctl, const char *text, struct target *ret_target)
{
	bool self = cli_flag(&ctl->cli, "self");
	char mount[4096] = "/sys/fs/cgroup";
	char error[512];

	if (self && text)
		return ctl_fail(CTL_USAGE, "--self stands instead of a TARGET: drop one of the two");
	if (!self && !text)
		return ctl_fail(
			CTL_USAGE,
			"a TARGET is missing: a cgroup path, a unit such as nginx.service, pid:NUMBER, or --self");
	if (self) {
		target_set_self(ret_target);
		return CTL_DONE;
	}
	/* Without a cgroup2 mount here the usual place is as good a guess as any: the daemon has the last word. */
	(void)cgroup_mount_find(NULL, mount, sizeof(mount));
	if (target_parse(text, mount, ret_target, error, sizeof(error)) < 0)
		return ctl_fail(CTL_USAGE, "%s", error);
	return CTL_DONE;
}
