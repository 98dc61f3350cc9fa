// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_events.c - schedctl events */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/event_text.h"
#include "api/ctl/json.h"
#include "api/ctl/out.h"
#include "daemon/base/cleanup.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

/* Lines go out one by one, so columns cannot be as wide as their widest cell. */
enum { TIME_WIDTH = 23, SEQUENCE_WIDTH = 8, TYPE_WIDTH = 16, ACTOR_WIDTH = 18, REQUEST_WIDTH = 36 };

struct watch {
	Schedd__V1alpha1__WatchEventsRequest request;
	Google__Protobuf__UInt64Value after;
	Schedd__V1alpha1__Event__Type types[CLI_MAX_REPEATS];
	char *classes[CLI_MAX_REPEATS];
	char epoch[EVENT_EPOCH_MAX];
	const struct ctl *ctl;
	bool follow;
	bool headed;
};

/* ---------- the request ---------- */

static enum ctl_exit read_types(struct watch *w)
{
	const char *word;
	char error[256];

	for (unsigned int i = 0; (word = cli_repeat(&w->ctl->cli, "type", i)); i++)
		if (event_type_parse(word, &w->types[w->request.n_types++], error, sizeof(error)) < 0)
			return ctl_fail(CTL_USAGE, "%s", error);
	w->request.types = w->types;
	return CTL_DONE;
}

static enum ctl_exit read_since(struct watch *w)
{
	const char *since = cli_value(&w->ctl->cli, "since");

	/* Without it: all that is kept. */
	w->request.after_sequence = &w->after;
	if (!since)
		return CTL_DONE;
	if (event_position_parse(since, w->epoch, &w->after.value) < 0)
		return ctl_fail(CTL_USAGE,
				"--since: `%s' is not EPOCH:SEQUENCE; -o json shows both of every event", since);
	w->request.epoch = w->epoch;
	return CTL_DONE;
}

static enum ctl_exit read_options(struct watch *w)
{
	const char *name;
	enum ctl_exit code = read_types(w);

	for (unsigned int i = 0; (name = cli_repeat(&w->ctl->cli, "class", i)); i++)
		w->classes[w->request.n_class_names++] = (char *)name;
	w->request.class_names = w->classes;
	w->follow = cli_flag(&w->ctl->cli, "follow");
	return code == CTL_DONE ? read_since(w) : code;
}

/* ---------- the events ---------- */

static void print_line(const struct watch *w, enum out_colour colour, const char *time, const char *sequence,
		       const char *type, const char *actor, const char *request, const char *text)
{
	bool wide = w->ctl->cli.format == CLI_WIDE;

	printf("%s%-*s", out_colour_start(w->ctl->colour, colour), TIME_WIDTH, time);
	if (wide)
		printf("  %*s", SEQUENCE_WIDTH, sequence);
	printf("  %-*s  %-*s", TYPE_WIDTH, type, ACTOR_WIDTH, actor);
	if (wide)
		printf("  %-*s", REQUEST_WIDTH, request);
	printf("  %s%s\n", text, out_colour_end(w->ctl->colour, colour));
}

static bool is_trouble(const Schedd__V1alpha1__Event *e)
{
	return e->type == SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_DROPPED ||
	       (e->detail_case == SCHEDD__V1ALPHA1__EVENT__DETAIL_STATE_CHANGE && *e->state_change->exit_kind) ||
	       (e->detail_case == SCHEDD__V1ALPHA1__EVENT__DETAIL_CONFIG_CHANGE && !e->config_change->accepted);
}

static void print_event(struct watch *w, const Schedd__V1alpha1__Event *e)
{
	_cleanup_free_ char *text = event_text(e), *actor = event_actor(e), *request = out_text(e->request_id);
	char when[64] = "-", sequence[32], type[EVENT_TYPE_MAX];

	if (!w->headed && !w->ctl->cli.no_headers)
		print_line(w, OUT_BOLD, "TIME", "SEQUENCE", "TYPE", "BY", "REQUEST", "WHAT");
	w->headed = true;
	if (e->event_time)
		out_time(when, sizeof(when), e->event_time->seconds);
	snprintf(sequence, sizeof(sequence), "%" PRIu64, e->sequence);
	print_line(w, is_trouble(e) ? OUT_YELLOW : OUT_PLAIN, when, sequence, event_type_name(e->type, type), actor,
		   *request ? request : "-", text);
}

/* The first bookmark says that all there was has come. */
static bool each(void *ctx, const ProtobufCMessage *message)
{
	const Schedd__V1alpha1__Event *e = (const Schedd__V1alpha1__Event *)message;
	bool bookmark = e->type == SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_BOOKMARK;
	struct watch *w = ctx;

	if (w->ctl->cli.format == CLI_JSON)
		json_print_line(message, stdout);
	else if (!bookmark)
		print_event(w, e);
	/* Whoever reads this waits for each line; one that cannot be written is reported at the end. */
	return fflush(stdout) == 0 && (w->follow || !bookmark);
}

int cmd_events(struct ctl *ctl)
{
	struct watch w = { .request = SCHEDD__V1ALPHA1__WATCH_EVENTS_REQUEST__INIT,
			   .after = GOOGLE__PROTOBUF__UINT64_VALUE__INIT,
			   .ctl = ctl };
	enum ctl_exit code = read_options(&w);

	return code == CTL_DONE ? ctl_stream(ctl, "WatchEvents", &w.request.base, w.follow, each, &w) : code;
}
