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
	uint32_t nr_llcs;
	bool known;                          /* there are previous counters */
	bool enqueued_again, dequeued_again; /* that counter began again in some LLC */
	uint64_t came[SCHEDD_MAX_LLCS];      /* enqueued since the previous update */
	int64_t waiting[SCHEDD_MAX_LLCS];    /* below 0 only while a sum over CPUs was read in mid-change */
	uint64_t slow_llcs;                  /* where the mean delay is too long */
	uint64_t started, queue_delay_ns, cpu_ns; /* since the previous update, over all LLCs */
};

static bool is_slow(uint64_t delay_ns, uint64_t started, uint64_t threshold_ns)
{
	uint64_t most_ns;

	return threshold_ns && started && !__builtin_mul_overflow(started, threshold_ns, &most_ns) && delay_ns > most_ns;
}

static void collect(struct update *u, uint32_t llc, const struct demand_counters *now, struct demand_counters *previous,
		    uint64_t threshold_ns)
{
	struct demand_counters then = *previous;
	uint64_t started, delay_ns;

	*previous = *now;
	u->waiting[llc] = (int64_t)(now->enqueued - now->dequeued);
	if (!u->known)
		return;
	u->enqueued_again |= now->enqueued < then.enqueued;
	u->dequeued_again |= now->dequeued < then.dequeued;
	u->came[llc] = advanced(now->enqueued, then.enqueued);
	started = advanced(now->started, then.started);
	delay_ns = advanced(now->queue_delay_ns, then.queue_delay_ns);
	u->started += started;
	u->queue_delay_ns += delay_ns;
	u->cpu_ns += advanced(now->cpu_ns, then.cpu_ns);
	if (is_slow(delay_ns, started, threshold_ns))
		u->slow_llcs |= 1ULL << llc;
}

static uint32_t longest_queue(const struct update *u)
{
	uint32_t longest = 0;

	for (uint32_t llc = 1; llc < u->nr_llcs; llc++)
		if (u->waiting[llc] > u->waiting[longest])
			longest = llc;
	return longest;
}

static void settle_steals(struct update *u, int64_t *stolen)
{
	for (uint32_t llc = 0; llc < u->nr_llcs; llc++) {
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
	for (uint32_t llc = 0; llc < u->nr_llcs; llc++) {
		u->waiting[llc] -= stolen[llc];
		if (comparable)
			continue;
		stolen[llc] = u->waiting[llc];
		u->waiting[llc] = 0;
	}
	settle_steals(u, stolen);
}

/* Where the mean over all LLCs is too long, that of one of them is: it needs no rule of its own. */
static void fill_congestion(const struct update *u, struct demand_class *r)
{
	bool queues_known = u->known && !u->enqueued_again && !u->dequeued_again;
	int64_t waiting = 0;

	r->congested_llcs = u->slow_llcs;
	for (uint32_t llc = 0; llc < u->nr_llcs; llc++) {
		waiting += u->waiting[llc];
		if (queues_known && u->waiting[llc] > 0 && (uint64_t)u->waiting[llc] > u->came[llc])
			r->congested_llcs |= 1ULL << llc;
	}
	r->congested = r->congested_llcs != 0;
	r->queued = waiting > 0 ? clamp_u32((double)waiting) : 0;
	r->mean_delay_ns = u->started ? u->queue_delay_ns / u->started : 0;
}

/*
 * CPU time is charged when a task stops or at a tick, so one short interval has
 * nothing and the next has milliseconds.  The weight grows with the length of the
 * interval, so a lump moves the average as much as the same time in small pieces.
 */
static void fill_utilisation(const struct update *u, double span_ns, double weight, double *average, struct demand_class *r)
{
	double running_mcpu = u->known ? (double)u->cpu_ns * 1000 / span_ns : 0;

	*average = u->known ? *average + weight * (running_mcpu - *average) : 0;
	r->running_mcpu = clamp_u32(running_mcpu);
	r->utilisation_mcpu = clamp_u32(*average);
}

void demand_update(struct demand *d, const struct demand_input *in, struct demand_class ret_classes[SCHEDD_MAX_CLASSES])
{
	double span_ns, weight;

	memset(ret_classes, 0, sizeof(*ret_classes) * SCHEDD_MAX_CLASSES);
	if (!d->at_ns || d->nr_llcs != in->nr_llcs)
		d->used = 0;
	else if (in->now_ns <= d->at_ns)
		return;
	span_ns = (double)(in->now_ns - d->at_ns);
	weight = 1 - exp2(-span_ns / half_life_ns);
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		struct update u = { .nr_llcs = in->nr_llcs, .known = d->used >> i & 1 };

		if (!(in->used >> i & 1))
			continue;
		for (uint32_t llc = 0; llc < in->nr_llcs; llc++)
			collect(&u, llc, &in->counters[llc][i], &d->previous[llc][i], in->congestion_ns[i]);
		count_waiting(&u, d->stolen[i]);
		fill_congestion(&u, &ret_classes[i]);
		fill_utilisation(&u, span_ns, weight, &d->utilisation_mcpu[i], &ret_classes[i]);
	}
	d->at_ns = in->now_ns;
	d->nr_llcs = in->nr_llcs;
	d->used = in->used;
}
