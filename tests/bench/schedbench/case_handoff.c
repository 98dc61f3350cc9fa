/* SPDX-License-Identifier: GPL-2.0-or-later */
/* case_handoff.c - handoff: from a futex wake to the other thread running, nothing else to do */
#include <errno.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/cases.h"
#include "tests/bench/schedbench/params.h"
#include "tests/bench/schedbench/place.h"

enum { MAX_SAMPLES = 1000000, SLOTS = 2, MAX_FUTILE = 10 };

const struct param handoff_params[] = {
	{ "samples", "wake-ups that count", 2000, 1, MAX_SAMPLES, true },
	{ "gap_us", "sleep before each", 1000, 1, 1000000, true },
	{ 0 },
};

/* samples_ns follows it in shared memory. */
struct handoff {
	struct fsem there, back;
	uint64_t gap_ns;
	uint32_t samples;
	uint64_t tries;
	uint64_t samples_ns[];
};

static void *sleeper(void *arg)
{
	struct handoff *h = arg;

	for (;;) {
		fsem_consume(&h->there, 1);
		fsem_produce(&h->back, 1);
	}
	return NULL;
}

/* Who was not asleep in time gave no sample; that is not for ever. */
static void waker_member(struct member *self, void *arg)
{
	struct handoff *h = arg;
	struct timespec gap = { (time_t)(h->gap_ns / 1000000000), (long)(h->gap_ns % 1000000000) };
	pthread_t thread;
	int r = place_thread(&thread, sleeper, h);

	if (r < 0)
		crew_give_up(self, r, "cannot start its thread");
	for (;;) {
		crew_next(self);
		for (h->tries = 0; h->there.waits.n < h->samples && h->tries < MAX_FUTILE * (uint64_t)h->samples;
		     h->tries++) {
			nanosleep(&gap, NULL);
			fsem_produce(&h->there, 1);
			fsem_consume(&h->back, 1);
		}
	}
}

static int run_crew(const struct bench *b, struct handoff *h, struct crew *c)
{
	int r = crew_init(c, b, 1);

	r = r < 0 ? r : crew_add(c, ROLE_NORMAL, "waker", waker_member, h);
	r = r < 0 ? r : crew_wait(c);
	r = r < 0 ? r : case_batch(c, 1);
	if (r < 0)
		return r;
	if (h->there.waits.n < h->samples)
		return result_error(b->result, -ENODATA,
				    "only %u of %llu wake-ups found the thread asleep: set a longer gap_us",
				    h->there.waits.n, (unsigned long long)h->tries);
	result_series(b->result, "", h->samples_ns, h->samples);
	result_metric(b->result, (double)h->tries, "tries");
	return 0;
}

int handoff_run(const struct bench *b)
{
	uint32_t samples = param_count(b, "samples");
	size_t size = sizeof(struct handoff) + samples * sizeof(uint64_t);
	struct handoff *h = place_shared(size);
	struct crew c = { 0 };
	int r;

	if (!h)
		return result_error(b->result, -ENOMEM, "no memory for %u samples", samples);
	h->gap_ns = param_ns(b, "gap_us");
	h->samples = samples;
	fsem_init(&h->there, 1, SLOTS, h->samples_ns, samples);
	fsem_init(&h->back, 1, 0, NULL, 0);
	r = run_crew(b, h, &c);
	crew_end(&c);
	place_unshare(h, size);
	return r;
}
