/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_stream.h - one WatchEvents: the state as it is, then what happens, and bookmarks in the silence
 *
 * Gives one event at a time to whoever has room for one, and keeps nothing but
 * how far it came.  Pure: the model, the ring and the time go in.  Loop thread only.
 */
#ifndef SCHEDD_EVENT_STREAM_H
#define SCHEDD_EVENT_STREAM_H

#include "daemon/events.h"
#include "daemon/state.h"

struct event_times { /* of one moment */
	uint64_t monotonic_ns, realtime_ns, boottime_ns;
};

/*
 * -ESTALE: the epoch is not this one; -ERANGE: that sequence is too old, or
 * still to come; -ENOSPC: 64 are open; -ENOMEM.  state and ev must outlive it.
 */
int event_stream_new(const struct state *state, struct events *ev, const struct command_watch *watch,
		     struct event_stream **ret_stream);
void event_stream_free(struct event_stream *st);

/*
 * The next event; false: none until something is appended or CLOCK_MONOTONIC is
 * at *ret_again_ns, when a bookmark is due.
 */
bool event_stream_next(struct event_stream *st, const struct event_times *now, struct event *ret_event,
		       uint64_t *ret_again_ns);

#endif
