/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.c - the ring of events: appended once, read by position */
#include "daemon/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/str.h"

enum { EPOCH_MAX = 16, DEFAULT_TYPES = ~(1 << EVENT_PREEMPTION) };

struct events {
	char epoch[EPOCH_MAX + 1];
	uint64_t last;
	struct event_reader *readers[EVENT_READERS_MAX];
	uint32_t nr_readers;
	uint64_t dropped;
	void (*wake)(void *ctx);
	void *wake_ctx;
	struct event ring[EVENTS_RING];    /* the event of sequence n is at n % EVENTS_RING */
};

int events_new(const char *epoch, struct events **ret_events)
{
	/* Not touched before it is used: pages of a ring that never fills cost nothing. */
	struct events *ev = calloc(1, sizeof(*ev));
	int r;

	if (!ev)
		return -ENOMEM;
	r = str_copy(ev->epoch, sizeof(ev->epoch), epoch);
	if (r < 0) {
		free(ev);
		return r;
	}
	*ret_events = ev;
	return 0;
}

void events_free(struct events *ev)
{
	free(ev);
}

const char *events_epoch(const struct events *ev)
{
	return ev->epoch;
}

uint64_t events_last(const struct events *ev)
{
	return ev->last;
}

uint64_t events_oldest(const struct events *ev)
{
	return ev->last > EVENTS_KEPT ? ev->last - EVENTS_KEPT : 0;
}

void events_get_stats(const struct events *ev, struct events_stats *ret_stats)
{
	*ret_stats = (struct events_stats){ .readers = ev->nr_readers, .dropped = ev->dropped };
}

void events_set_wake(struct events *ev, void (*wake)(void *ctx), void *ctx)
{
	ev->wake = wake;
	ev->wake_ctx = ctx;
}

/* ---------- filter ---------- */

static bool names_class(const struct event_filter *f, const struct event *e)
{
	if (!f->nr_class_names)
		return true;
	for (size_t i = 0; i < f->nr_class_names; i++)
		if (strcmp(f->class_names[i], e->class_name) == 0 || strcmp(f->class_names[i], e->from_class_name) == 0)
			return true;
	return false;
}

static bool matches(const struct event_filter *f, const struct event *e)
{
	uint32_t types = f->types ? f->types : (uint32_t)DEFAULT_TYPES;

	return types & 1u << e->type && names_class(f, e);
}

/* ---------- append ---------- */

static struct event *slot_of(struct events *ev, uint64_t sequence)
{
	return &ev->ring[sequence % EVENTS_RING];
}

/*
 * A reader that has seen all but does not want this one is past it at once, even
 * while a message to it is on its way: a filter that lets little through never
 * falls behind because of what it leaves out.
 */
static bool pass_over(struct events *ev, const struct event *e)
{
	bool wanted = false;

	for (uint32_t i = 0; i < ev->nr_readers; i++) {
		struct event_reader *reader = ev->readers[i];

		if (reader->position + 1 == e->sequence && !matches(&reader->filter, e))
			reader->position = e->sequence;
		wanted |= reader->position < e->sequence;
	}
	return wanted;
}

void events_append(struct events *ev, const struct event *e)
{
	struct event *slot = slot_of(ev, ++ev->last);

	*slot = *e;
	slot->sequence = ev->last;
	slot->epoch = ev->epoch;
	if (pass_over(ev, slot) && ev->wake)
		ev->wake(ev->wake_ctx);
}

static void copy_name(char dst[CLASS_NAME_MAX + 1], const char *name)
{
	if (str_copy(dst, CLASS_NAME_MAX + 1, name) < 0)
		dst[0] = '\0';
}

void events_append_reallocation(struct events *ev, uint64_t realtime_ns, const char *from_class, const char *to_class,
				const struct event_reallocation *r)
{
	struct event e = {
		.realtime_ns = realtime_ns,
		.type = EVENT_REALLOCATION,
		.cause.source = EVENT_FROM_ALLOCATOR,
		.reallocation = *r,
	};

	copy_name(e.class_name, to_class);
	copy_name(e.from_class_name, from_class);
	events_append(ev, &e);
}

void event_set_text(char dst[EVENT_TEXT_MAX + 1], const char *text)
{
	static const char more[] = "...";
	size_t n = strnlen(text, EVENT_TEXT_MAX + 1);

	if (n <= EVENT_TEXT_MAX) {
		memcpy(dst, text, n + 1);
		return;
	}
	n = EVENT_TEXT_MAX - (sizeof(more) - 1);
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	memcpy(dst, text, n);
	memcpy(dst + n, more, sizeof(more));
}

/* ---------- readers ---------- */

int events_open(struct events *ev, const struct event_filter *filter, uint64_t after_sequence,
		struct event_reader *ret_reader)
{
	if (after_sequence > ev->last || after_sequence < events_oldest(ev))
		return -ERANGE;
	if (ev->nr_readers == EVENT_READERS_MAX)
		return -ENOSPC;
	*ret_reader = (struct event_reader){ .filter = *filter, .position = after_sequence, .history_end = ev->last };
	ev->readers[ev->nr_readers++] = ret_reader;
	return 0;
}

void events_close(struct events *ev, struct event_reader *reader)
{
	for (uint32_t i = 0; i < ev->nr_readers; i++)
		if (ev->readers[i] == reader) {
			ev->readers[i] = ev->readers[--ev->nr_readers];
			return;
		}
}

static bool fell_behind(const struct events *ev, const struct event_reader *reader)
{
	uint64_t seen = reader->position > reader->history_end ? reader->position : reader->history_end;

	return ev->last - seen > EVENTS_ALLOWANCE;
}

static void drop(struct events *ev, struct event_reader *reader, struct event *ret_event)
{
	uint64_t first = reader->position + 1;

	reader->position = ev->last - EVENTS_RESTART;
	ev->dropped += reader->position - first + 1;
	*ret_event = (struct event){
		.epoch = ev->epoch,
		.sequence = reader->position,
		.type = EVENT_DROPPED,
		.dropped = { .first_sequence = first, .last_sequence = reader->position },
	};
}

bool events_next(struct events *ev, struct event_reader *reader, struct event *ret_event)
{
	if (fell_behind(ev, reader)) {
		drop(ev, reader, ret_event);
		return true;
	}
	while (reader->position < ev->last) {
		const struct event *e = slot_of(ev, ++reader->position);

		if (matches(&reader->filter, e)) {
			*ret_event = *e;
			return true;
		}
	}
	return false;
}
