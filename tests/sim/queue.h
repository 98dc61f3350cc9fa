/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queue.h - what waits: a ring that grows, taken from the front */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct request {
	uint64_t arrived_ns;
	uint64_t queued_ns;   /* last put into a queue */
	uint64_t left_ns;     /* of its service */
	uint16_t llc;         /* whose queue counts it */
	bool started;         /* its queueing delay is known */
};

struct queue {
	struct request *ring; /* size entries, a power of two */
	uint32_t size, head, nr;
};

static inline void queue_grow(struct queue *q)
{
	uint32_t size = q->size ? 2 * q->size : 64;
	struct request *ring = malloc(size * sizeof(*ring));

	/* A simulation that cannot go on has no result to save. */
	if (!ring)
		abort();
	for (uint32_t i = 0; i < q->nr; i++)
		ring[i] = q->ring[(q->head + i) & (q->size - 1)];
	free(q->ring);
	*q = (struct queue){ .ring = ring, .size = size, .nr = q->nr };
}

static inline struct request *queue_push(struct queue *q, const struct request *r)
{
	if (q->nr == q->size)
		queue_grow(q);
	q->ring[(q->head + q->nr++) & (q->size - 1)] = *r;
	return &q->ring[(q->head + q->nr - 1) & (q->size - 1)];
}

static inline void queue_push_front(struct queue *q, const struct request *r)
{
	if (q->nr == q->size)
		queue_grow(q);
	q->head = (q->head - 1) & (q->size - 1);
	q->ring[q->head] = *r;
	q->nr++;
}

static inline struct request queue_pop(struct queue *q)
{
	struct request r = q->ring[q->head];

	q->head = (q->head + 1) & (q->size - 1);
	q->nr--;
	return r;
}

#endif
