/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - the last events, and readers of them
 *
 * One ring for all readers: a reader is a filter and a position, so memory does
 * not depend on how many there are or how slowly they read.  Every event has a
 * sequence; a reader sees all that its filter lets through, or is told which it
 * does not see.  Pure: no clock, no I/O.  Loop thread only.
 */
#ifndef SCHEDD_EVENTS_H
#define SCHEDD_EVENTS_H

#include "daemon/command_event.h"

enum {
	/* How far behind a reader may begin, and how much more it may fall back: together the ring, so what a
	 * reader has a right to is never overwritten. */
	EVENTS_KEPT = 3072,
	EVENTS_ALLOWANCE = 1024,
	EVENTS_RING = EVENTS_KEPT + EVENTS_ALLOWANCE,
	/* Where one that fell behind goes on: room to breathe before it happens again. */
	EVENTS_RESTART = EVENTS_ALLOWANCE / 2,
};

struct events;

struct event_reader {
	struct event_filter filter;
	uint64_t position;         /* all up to this sequence was given or left out by the filter */
	uint64_t history_end;      /* what was there when it began: not counted as falling behind */
};

struct events_stats {
	uint32_t readers;
	uint64_t dropped;          /* events that readers were told they will not see, summed over readers */
};

/* epoch is copied. */
int events_new(const char *epoch, struct events **ret_events);
void events_free(struct events *ev); /* readers must be closed */

const char *events_epoch(const struct events *ev);
uint64_t events_last(const struct events *ev); /* sequence of the newest, 0 = none yet */
uint64_t events_oldest(const struct events *ev); /* the lowest sequence after which one can begin to read */
void events_get_stats(const struct events *ev, struct events_stats *ret_stats);

/* Called when a reader has something to read; from within events_append(). */
void events_set_wake(struct events *ev, void (*wake)(void *ctx), void *ctx);

/* Copies *e and gives it the next sequence. */
void events_append(struct events *ev, const struct event *e);

/* A CPU changed its owner: the cheap way; names may be "" for nobody, trigger is a constant. */
void events_append_reallocation(struct events *ev, uint64_t realtime_ns, const char *from_class, const char *to_class,
				const struct event_reallocation *r);

/* Copies text into an event's; what is too long is cut at a character's end and ends with "...". */
void event_set_text(char dst[EVENT_TEXT_MAX + 1], const char *text);

/* Begins after that sequence.  -ERANGE: too old, or still to come; -ENOSPC: 64 readers are open. */
int events_open(struct events *ev, const struct event_filter *filter, uint64_t after_sequence,
		struct event_reader *ret_reader); /* stays where it is until it is closed */
void events_close(struct events *ev, struct event_reader *reader);

/* The next event for this reader, or one DROPPED (without a time); false: it has seen all. */
bool events_next(struct events *ev, struct event_reader *reader, struct event *ret_event);

#endif
