/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demand.c - counter deltas -> congestion and demand per class
 *
 * Shenango's rule, exact on counters: a queue is congested when something that
 * was in it at the previous update still is, that is, when more tasks wait now
 * than came since (dequeued now < enqueued then).  One number per LLC is not
 * enough for that: a task may be enqueued in one LLC and taken by another.
 * Steals never change the sum over all LLCs, so an LLC that seems to hold less
 * than nothing has robbed others, and the longest queue is taken for the robbed one.
 */
#include "daemon/demand.h"

#include <math.h>
#include <string.h>

/* As scx_layered's; shorter ones make the average follow single requests. */
static const double half_life_ns = 100e6;

static uint64_t advanced(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static uint32_t clamp_u32(double value)
{
	return value >= UINT32_MAX ? UINT32_MAX : (uint32_t)(value + 0.5);
}

/* One class during one update. */
struct update {
	const struct demand *d;
	const struct demand_input *in;
	unsigned int class_idx;
	bool known;                        /* there are previous counters */
	bool enqueued_again, dequeued_again; /* that counter began again in some LLC */
	int64_t waiting[SCHEDD_MAX_LLCS];  /* below 0 only while a sum over CPUs was read in mid-change */
};

static const struct demand_counters *counters_now(const struct update *u, uint32_t llc)
{
	return &u->in->counters[llc][u->class_idx];
}

static const struct demand_counters *counters_then(const struct update *u, uint32_t llc)
{
	return &u->d->previous[llc][u->class_idx];
}

static void look_for_restarts(struct update *u)
{
	for (uint32_t llc = 0; u->known && llc < u->in->nr_llcs; llc++) {
		const struct demand_counters *now = counters_now(u, llc), *then = counters_then(u, llc);

		u->enqueued_again |= now->enqueued < then->enqueued;
		u->dequeued_again |= now->dequeued < then->dequeued;
	}
}

static uint32_t longest_queue(const struct update *u)
{
	uint32_t longest = 0;

	for (uint32_t llc = 1; llc < u->in->nr_llcs; llc++)
		if (u->waiting[llc] > u->waiting[longest])
			longest = llc;
	return longest;
}

static void settle_steals(struct update *u, int64_t *stolen)
{
	for (uint32_t llc = 0; llc < u->in->nr_llcs; llc++) {
		while (u->waiting[llc] < 0) {
			uint32_t from = longest_queue(u);
			int64_t count = -u->waiting[llc];

			if (u->waiting[from] <= 0)
				return;
			if (count > u->waiting[from])
				count = u->waiting[from];
			u->waiting[llc] += count;
			stolen[llc] -= count;
			u->waiting[from] -= count;
			stolen[from] += count;
		}
	}
}

/*
 * Two counters that began together, as a new object's do, still differ by what
 * waits.  One alone says nothing of the other: from here on as if nothing waited.
 */
static void count_waiting(struct update *u, int64_t *stolen)
{
	bool restarted = u->enqueued_again || u->dequeued_again;
	bool comparable = u->enqueued_again == u->dequeued_again;

	if (!u->known || restarted)
		memset(stolen, 0, sizeof(*stolen) * SCHEDD_MAX_LLCS);
	for (uint32_t llc = 0; llc < u->in->nr_llcs; llc++) {
		const struct demand_counters *now = counters_now(u, llc);

		u->waiting[llc] = (int64_t)(now->enqueued - now->dequeued) - stolen[llc];
		if (comparable)
			continue;
		stolen[llc] = u->waiting[llc];
		u->waiting[llc] = 0;
	}
	settle_steals(u, stolen);
}

static bool llc_is_congested(const struct update *u, uint32_t llc)
{
	const struct demand_counters *now = counters_now(u, llc), *then = counters_then(u, llc);
	uint64_t threshold_ns = u->in->congestion_ns[u->class_idx], started;

	if (!u->enqueued_again && !u->dequeued_again && u->waiting[llc] > 0 &&
	    (uint64_t)u->waiting[llc] > now->enqueued - then->enqueued)
		return true;
	started = advanced(now->started, then->started);
	return threshold_ns && started && advanced(now->queue_delay_ns, then->queue_delay_ns) / started > threshold_ns;
}

/* Where the mean over all LLCs is too long, that of one of them is: it needs no rule of its own. */
static void fill_congestion(const struct update *u, struct demand_class *r)
{
	uint64_t started = 0, delay_ns = 0;
	int64_t waiting = 0;

	for (uint32_t llc = 0; llc < u->in->nr_llcs; llc++) {
		waiting += u->waiting[llc];
		if (!u->known)
			continue;
		if (llc_is_congested(u, llc))
			r->congested_llcs |= 1ULL << llc;
		started += advanced(counters_now(u, llc)->started, counters_then(u, llc)->started);
		delay_ns += advanced(counters_now(u, llc)->queue_delay_ns, counters_then(u, llc)->queue_delay_ns);
	}
	r->congested = r->congested_llcs != 0;
	r->queued = waiting > 0 ? clamp_u32((double)waiting) : 0;
	r->mean_delay_ns = started ? delay_ns / started : 0;
}

/*
 * CPU time is charged when a task stops or at a tick, so one short interval has
 * nothing and the next has milliseconds.  The weight grows with the length of the
 * interval, so a lump moves the average as much as the same time in small pieces.
 */
static void fill_utilisation(const struct update *u, double span_ns, double *average, struct demand_class *r)
{
	double running = 0;

	for (uint32_t llc = 0; u->known && llc < u->in->nr_llcs; llc++)
		running += (double)advanced(counters_now(u, llc)->cpu_ns, counters_then(u, llc)->cpu_ns);
	if (u->known) {
		running = running * 1000 / span_ns;
		*average += (1 - exp2(-span_ns / half_life_ns)) * (running - *average);
	} else {
		*average = 0;
	}
	r->running_mcpu = clamp_u32(running);
	r->utilisation_mcpu = clamp_u32(*average);
}

static void update_class(struct demand *d, const struct demand_input *in, unsigned int i, struct demand_class *r)
{
	struct update u = {
		.d = d,
		.in = in,
		.class_idx = i,
		.known = d->used >> i & 1,
	};

	look_for_restarts(&u);
	count_waiting(&u, d->stolen[i]);
	fill_congestion(&u, r);
	fill_utilisation(&u, (double)(in->now_ns - d->at_ns), &d->utilisation_mcpu[i], r);
	for (uint32_t llc = 0; llc < in->nr_llcs; llc++)
		d->previous[llc][i] = in->counters[llc][i];
}

void demand_update(struct demand *d, const struct demand_input *in, struct demand_class ret_classes[SCHEDD_MAX_CLASSES])
{
	memset(ret_classes, 0, sizeof(*ret_classes) * SCHEDD_MAX_CLASSES);
	if (!d->at_ns || d->nr_llcs != in->nr_llcs)
		d->used = 0;
	else if (in->now_ns <= d->at_ns)
		return;
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (in->used >> i & 1)
			update_class(d, in, i, &ret_classes[i]);
	d->at_ns = in->now_ns;
	d->nr_llcs = in->nr_llcs;
	d->used = in->used;
}
