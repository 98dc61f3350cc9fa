/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_watch.c - begins a WatchEvents: the reply of this call is a stream */
#include <errno.h>
#include <inttypes.h>

#include "daemon/command_private.h"
#include "daemon/event_stream.h"

static enum command_status fail_epoch(struct call *c)
{
	return reply_fail(c->reply, COMMAND_OUT_OF_RANGE, REASON(EVENTS_GONE),
			  "epoch %s is not that of this run of the daemon (%s): it was restarted, and what happened before is "
			  "not kept; begin anew, with send_initial_state or without --since",
			  reply_shown(c->reply, c->cmd->watch.epoch), events_epoch(c->env->events));
}

static enum command_status fail_sequence(struct call *c)
{
	const struct events *ev = c->env->events;
	uint64_t after = c->cmd->watch.after_sequence;

	if (after > events_last(ev))
		return reply_fail(c->reply, COMMAND_OUT_OF_RANGE, REASON(EVENTS_GONE),
				  "after_sequence %" PRIu64 " is still to come: the last event is %" PRIu64
				  "; give the sequence of an event that was seen", after, events_last(ev));
	return reply_fail(c->reply, COMMAND_OUT_OF_RANGE, REASON(EVENTS_GONE),
			  "the events after %" PRIu64 " are no longer kept, only those after %" PRIu64
			  "; begin anew, with send_initial_state or without --since", after, events_oldest(ev));
}

enum command_status run_watch_events(struct call *c)
{
	int r = -EOPNOTSUPP;

	if (c->env->events)
		r = event_stream_new(c->env->state, c->env->events, &c->cmd->watch, &c->reply->stream);
	switch (r) {
	case 0:
		return COMMAND_OK;
	case -ESTALE:
		return fail_epoch(c);
	case -ERANGE:
		return fail_sequence(c);
	case -ENOSPC:
		return reply_fail(c->reply, COMMAND_RESOURCE_EXHAUSTED, REASON(TOO_MANY_WATCHERS),
				  "%d watches of events are open, the most there can be; end one of them", EVENT_READERS_MAX);
	case -EOPNOTSUPP:
		return reply_fail(c->reply, COMMAND_UNIMPLEMENTED, REASON(NOT_SUPPORTED_YET), "no events are kept");
	default:
		return reply_no_memory(c->reply);
	}
}
