/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_stream.c - the state piece by piece, then the ring, then bookmarks */
#include "daemon/event_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/announce.h"

struct event_stream {
	const struct state *state;
	struct events *ev;
	struct event_reader reader;
	unsigned int part;         /* of the initial state, see parts[] */
	int slot;                  /* the next class */
	char last_id[STATE_ID_MAX + 1]; /* of the last assignment */
	char last_lease_id[STATE_ID_MAX + 1];
	struct event_times now;    /* of the call that is under way */
	bool marked;               /* the reader knows a sequence to resume from */
	uint64_t bookmark_ns;      /* longest silence */
	uint64_t said_ns;          /* when the last event was given */
};

/* ---------- the state as it is ---------- */

static bool filter_names(const struct event_filter *f, const char *class_name)
{
	for (size_t i = 0; i < f->nr_class_names; i++)
		if (strcmp(f->class_names[i], class_name) == 0)
			return true;
	return !f->nr_class_names;
}

static bool filter_has(const struct event_filter *f, enum event_type type)
{
	return !f->types || f->types & 1u << type;
}

static bool next_class(struct event_stream *st, struct event *ret_event)
{
	while (filter_has(&st->reader.filter, EVENT_CLASS_CHANGED) && st->slot < SCHEDD_MAX_CLASSES) {
		const struct state_class *c = &st->state->classes[st->slot++];

		if (!c->used || !filter_names(&st->reader.filter, c->name))
			continue;
		announce_fill_class(st->state, c, ret_event);
		return true;
	}
	return false;
}

/* By id, not by place: the list may change between two messages. */
static const struct state_assignment *assignment_after(const struct event_stream *st)
{
	const struct state_assignment *best = NULL;

	for (size_t i = 0; i < st->state->nr_assignments; i++) {
		const struct state_assignment *a = &st->state->assignments[i];

		if (strcmp(a->id, st->last_id) > 0 && filter_names(&st->reader.filter, a->class_name) &&
		    (!best || strcmp(a->id, best->id) < 0))
			best = a;
	}
	return best;
}

static bool next_assignment(struct event_stream *st, struct event *ret_event)
{
	const struct state_assignment *a;

	if (!filter_has(&st->reader.filter, EVENT_DECISION_CHANGED))
		return false;
	a = assignment_after(st);
	if (!a)
		return false;
	memcpy(st->last_id, a->id, sizeof(st->last_id));
	announce_fill_assignment(st->state, a, ret_event);
	return true;
}

/* By id too; the ids of leases and assignments are not compared: each part starts from the first. */
static const struct state_lease *lease_after(const struct event_stream *st)
{
	const struct state_lease *best = NULL;

	for (size_t i = 0; i < st->state->nr_leases; i++) {
		const struct state_lease *l = &st->state->leases[i];

		if (strcmp(l->id, st->last_lease_id) > 0 && filter_names(&st->reader.filter, l->class_name) &&
		    (!best || strcmp(l->id, best->id) < 0))
			best = l;
	}
	return best;
}

static bool next_lease(struct event_stream *st, struct event *ret_event)
{
	const struct state_lease *l;

	if (!filter_has(&st->reader.filter, EVENT_LEASE_CHANGED))
		return false;
	l = lease_after(st);
	if (!l)
		return false;
	memcpy(st->last_lease_id, l->id, sizeof(st->last_lease_id));
	announce_fill_lease(l, st->now.realtime_ns, st->now.boottime_ns, ret_event);
	return true;
}

static bool (*const parts[])(struct event_stream *st, struct event *ret_event) = {
	next_class, next_assignment, next_lease,
};

enum { NR_PARTS = sizeof(parts) / sizeof(parts[0]), AFTER_PARTS = NR_PARTS + 1 };

/* Behind the last part comes one event that says so. */
static bool next_of_state(struct event_stream *st, struct event *ret_event)
{
	*ret_event = (struct event){ .epoch = events_epoch(st->ev), .sequence = st->reader.position };
	for (; st->part < NR_PARTS; st->part++)
		if (parts[st->part](st, ret_event))
			return true;
	if (st->part == AFTER_PARTS)
		return false;
	st->part = AFTER_PARTS;
	st->marked = true;
	ret_event->type = EVENT_INITIAL_STATE_END;
	return true;
}

/* ---------- what happens ---------- */

static bool next_bookmark(struct event_stream *st, uint64_t now_ns, struct event *ret_event)
{
	bool caught_up = st->reader.position >= st->reader.history_end;

	/* The first one says that the past is over, however much happens meanwhile. */
	if (!caught_up || (st->marked && now_ns - st->said_ns < st->bookmark_ns))
		return false;
	st->marked = true;
	*ret_event = (struct event){ .epoch = events_epoch(st->ev), .sequence = st->reader.position,
				     .type = EVENT_BOOKMARK };
	return true;
}

static bool next_event(struct event_stream *st, uint64_t now_ns, struct event *ret_event)
{
	if (next_of_state(st, ret_event))
		return true;
	if (!st->marked && next_bookmark(st, now_ns, ret_event))
		return true;
	return events_next(st->ev, &st->reader, ret_event) || next_bookmark(st, now_ns, ret_event);
}

bool event_stream_next(struct event_stream *st, const struct event_times *now, struct event *ret_event,
		       uint64_t *ret_again_ns)
{
	st->now = *now;
	if (!next_event(st, now->monotonic_ns, ret_event)) {
		*ret_again_ns = st->said_ns + st->bookmark_ns;
		return false;
	}
	st->said_ns = now->monotonic_ns;
	/* Happens now: it is about this reader. */
	if (ret_event->type <= EVENT_DROPPED)
		ret_event->realtime_ns = now->realtime_ns;
	return true;
}

/* ---------- begin and end ---------- */

static int begin_after(struct events *ev, const struct command_watch *watch, uint64_t *ret_sequence)
{
	if (!watch->has_after)
		*ret_sequence = events_last(ev);
	else if (!watch->epoch[0])
		*ret_sequence = events_oldest(ev);
	else if (strcmp(watch->epoch, events_epoch(ev)) != 0)
		return -ESTALE;
	else
		*ret_sequence = watch->after_sequence;
	return 0;
}

int event_stream_new(const struct state *state, struct events *ev, const struct command_watch *watch,
		     struct event_stream **ret_stream)
{
	struct event_stream *st;
	uint64_t after;
	int r;

	r = begin_after(ev, watch, &after);
	if (r < 0)
		return r;
	st = calloc(1, sizeof(*st));
	if (!st)
		return -ENOMEM;
	st->state = state;
	st->ev = ev;
	st->bookmark_ns = watch->bookmark_ns;
	st->part = watch->initial_state ? 0 : AFTER_PARTS;
	r = events_open(ev, &watch->filter, after, &st->reader);
	if (r < 0) {
		free(st);
		return r;
	}
	*ret_stream = st;
	return 0;
}

void event_stream_free(struct event_stream *st)
{
	if (!st)
		return;
	events_close(st->ev, &st->reader);
	free(st);
}
