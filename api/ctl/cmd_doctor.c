// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_doctor.c - schedctl doctor */
#include <string.h>
#include <sys/utsname.h>

#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/doctor.h"
#include "api/ctl/json.h"
#include "api/ctl/out.h"
#include "daemon/base/cleanup.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

static const char *const result_words[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_NOTE] = "note",
	[DOCTOR_MISSING] = "missing",
};

static const struct out_column columns[] = {
	{ "CHECK", false, false },
	{ "RESULT", false, false },
	{ "FOUND", false, false },
	{ NULL, false, false },
};

/* Features that the daemon could see from inside; those it can do without are notes. */
static void check_daemon(struct ctl *ctl, struct doctor *d)
{
	_cleanup_message_ Schedd__V1alpha1__NodeStatus *s = NULL;
	Schedd__V1alpha1__GetStatusRequest request = SCHEDD__V1ALPHA1__GET_STATUS_REQUEST__INIT;
	struct ctl_problem problem;
	char name[sizeof(d->checks[0].name)];
	size_t i;

	if (ctl_try(ctl, &schedd__v1alpha1__scheduler__descriptor, "GetStatus", &request.base, &s, &problem) !=
	    CTL_DONE) {
		doctor_add(d, "daemon", DOCTOR_MISSING, "", "%s", problem.text);
		return;
	}
	doctor_add(d, "daemon", s->healthy ? DOCTOR_OK : DOCTOR_MISSING,
		   s->healthy ? "" : "`schedctl status' says more", "%s, mode %s, %s%s%s", s->version, s->mode,
		   s->state, *s->state_reason ? ": " : "", s->state_reason);
	for (i = 0; i < s->n_features; i++) {
		if (!strcmp(s->features[i]->name, "sched_ext") || !strcmp(s->features[i]->name, "btf"))
			continue; /* looked at already */
		snprintf(name, sizeof(name), "%s", s->features[i]->name);
		if (s->features[i]->present)
			doctor_add(d, name, DOCTOR_OK, "", "present");
		else
			doctor_add(d, name, DOCTOR_NOTE, s->features[i]->detail, "not in this kernel");
	}
}

static void print_text(const struct ctl *ctl, const struct doctor *d)
{
	static const enum out_colour colours[] = {
		[DOCTOR_OK] = OUT_GREEN,
		[DOCTOR_NOTE] = OUT_YELLOW,
		[DOCTOR_MISSING] = OUT_RED,
	};
	_cleanup_(out_table_freep) struct out_table *t = out_table_new(columns, false, ctl->colour);
	size_t i;

	for (i = 0; i < d->nr_checks; i++) {
		const struct doctor_check *c = &d->checks[i];

		out_cell(t, OUT_PLAIN, "%s", c->name);
		out_cell(t, colours[c->result], "%s", result_words[c->result]);
		out_cell(t, OUT_PLAIN, "%s%s%s", c->found, *c->advice ? "; " : "", c->advice);
	}
	out_table_print(t, !ctl->cli.no_headers, "", stdout);
}

static void print_json(const struct doctor *d)
{
	size_t i;

	printf("{\n  \"ok\": %s,\n  \"checks\": [", d->failed ? "false" : "true");
	for (i = 0; i < d->nr_checks; i++) {
		const struct doctor_check *c = &d->checks[i];

		printf("%s\n    {\n      \"name\": ", i ? "," : "");
		json_print_string(c->name, stdout);
		printf(",\n      \"result\": ");
		json_print_string(result_words[c->result], stdout);
		printf(",\n      \"found\": ");
		json_print_string(c->found, stdout);
		printf(",\n      \"advice\": ");
		json_print_string(c->advice, stdout);
		printf("\n    }");
	}
	printf("\n  ]\n}\n");
}

int cmd_doctor(struct ctl *ctl)
{
	struct utsname names = { 0 };
	struct doctor d = { 0 };

	uname(&names);
	doctor_check_kernel(&d, "", names.release);
	doctor_check_cgroup(&d, "");
	doctor_check_socket(&d, ctl_socket_path(ctl));
	check_daemon(ctl, &d);
	if (ctl->cli.format == CLI_JSON)
		print_json(&d);
	else
		print_text(ctl, &d);
	return d.failed ? CTL_FAILED : CTL_DONE;
}
