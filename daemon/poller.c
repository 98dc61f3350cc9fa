/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poller.c - one interval of the allocator: signals in, plan out; and what the loop sees of it */
#include "daemon/poller.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/poller_private.h"

_Static_assert(sizeof(struct poller_limits) % 8 == 0, "a seqlock copies words");
_Static_assert(sizeof(struct poller_status) % 8 == 0, "a seqlock copies words");

/* Counters that move without a plan: often enough for whoever scrapes them. */
static const uint64_t tell_every_ns = 100000000ull;

static uint64_t now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

uint64_t poller_now_ns(void)
{
	return now_of(CLOCK_MONOTONIC);
}

bool poller_ring_put(struct poller_ring *ring, const struct poller_move *move)
{
	uint32_t at = ring->written;

	if (at - __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE) >= POLLER_MAX_MOVES)
		return false;
	ring->moves[at % POLLER_MAX_MOVES] = *move;
	__atomic_store_n(&ring->written, at + 1, __ATOMIC_RELEASE);
	return true;
}

size_t poller_ring_take(struct poller_ring *ring, struct poller_move *ret_moves, size_t max)
{
	uint32_t at = ring->taken, end = __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE);
	size_t n = 0;

	for (; at != end && n < max; at++)
		ret_moves[n++] = ring->moves[at % POLLER_MAX_MOVES];
	__atomic_store_n(&ring->taken, at, __ATOMIC_RELEASE);
	return n;
}

static uint32_t used_classes(const struct alloc_limits *limits)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
		used |= (uint32_t)limits->classes[i].used << i;
	return used;
}

static void measure(struct poller *p, uint64_t now_ns)
{
	struct demand_input in = {
		.now_ns = now_ns,
		.nr_llcs = p->topo.nr_llcs ? p->topo.nr_llcs : 1,
		.used = used_classes(&p->limits.alloc),
		.counters = (const struct demand_counters(*)[SCHEDD_MAX_CLASSES])p->signals.counters,
	};

	memcpy(in.congestion_ns, p->limits.congestion_ns, sizeof(in.congestion_ns));
	p->kernel.read_signals(p->kernel.ctx, in.used, &p->signals);
	demand_update(&p->demand, &in, p->demands);
}

/* Only for these could another plan be of use. */
static uint32_t growers(const struct poller_limits *limits)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		const struct alloc_class *c = &limits->alloc.classes[i];

		all |= (uint32_t)(c->used && c->burst_cpus > c->guarantee_cpus) << i;
	}
	return limits->policy->by_demand && !limits->frozen ? all : 0;
}

/* Torn means that the loop is writing right now: the next interval has them whole. */
static void take_limits(struct poller *p)
{
	uint32_t sequence = __atomic_load_n(&p->limits_lock.sequence, __ATOMIC_ACQUIRE);

	if (p->limits.policy && sequence == p->limits_sequence)
		return;
	if (!seqlock_read(&p->limits_lock, &p->incoming, &p->shared_limits, sizeof(p->incoming)))
		return;
	p->limits = p->incoming;
	p->limits_sequence = sequence;
	p->growers = growers(&p->limits);
}

/* After an interval that was late or slept through, no class is charged with more than a second. */
static void count_congestion(struct poller *p, uint64_t now_ns)
{
	uint64_t span_ns = p->stepped_at_ns ? now_ns - p->stepped_at_ns : 0;

	if (span_ns > 1000000000ull)
		span_ns = 1000000000ull;
	p->status.congested = 0;
	for (size_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		p->status.mean_delay_ns[i] = p->demands[i].mean_delay_ns;
		if (!p->demands[i].congested)
			continue;
		p->status.congested |= UINT64_C(1) << i;
		p->status.congested_ns[i] += span_ns;
	}
	p->stepped_at_ns = now_ns;
}

static void tell_moves(struct poller *p, const struct schedd_plan *before, const struct alloc_result *result,
		       uint64_t took_ns)
{
	const struct schedd_plan *now = &p->memory.plan;

	for (uint32_t cpu = 0; cpu < now->nr_cpus; cpu++) {
		uint8_t from = cpu < before->nr_cpus ? before->owner[cpu] : 0, to = now->owner[cpu];
		struct poller_move move = {
			.realtime_ns = p->status.apply_realtime_ns,
			.plan_generation = now->generation,
			.took_ns = took_ns < UINT32_MAX ? (uint32_t)took_ns : UINT32_MAX,
			.cpu = (uint16_t)cpu,
			.from = from,
			.to = to,
			.trigger = (uint8_t)(to ? result->trigger[to - 1] : from ? result->trigger[from - 1] : 0),
			.dry = p->limits.dry,
		};

		if (from != to && !poller_ring_put(&p->ring, &move))
			p->status.moves_lost++;
	}
}

/* A plan that the kernel refused is told again at each interval: it would be in force nowhere but here. */
static bool apply(struct poller *p)
{
	int r = p->limits.dry ? 0 : p->kernel.apply(p->kernel.ctx, &p->memory.plan);

	if (r < 0 && !p->failed)
		log_error_errno(r, "cannot apply plan %llu; trying again at every interval",
				(unsigned long long)p->memory.plan.generation);
	p->failed = r < 0;
	if (r < 0) {
		p->status.apply_failures++;
		return false;
	}
	if (!p->limits.dry)
		p->status.plans_applied++;
	p->status.apply_realtime_ns = now_of(CLOCK_REALTIME);
	return true;
}

static void tell_loop(struct poller *p, bool news)
{
	uint64_t one = 1;

	p->told_at_ns = p->stepped_at_ns;
	seqlock_write(&p->status_lock, &p->shared_status, &p->status, sizeof(p->status));
	if (news && write(p->event_fd, &one, sizeof(one)) < 0)
		log_debug("the loop has not read the last news yet");
}

/* A CPU above a guarantee has to be watched until it is given back. */
static bool has_surplus(const struct poller *p, const struct alloc_result *result)
{
	for (size_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (p->limits.alloc.classes[i].used && result->owned[i] > p->limits.alloc.classes[i].guarantee_cpus)
			return true;
	return false;
}

static bool growers_wait(const struct poller *p)
{
	for (uint32_t left = p->growers; left; left &= left - 1)
		if (p->demands[__builtin_ctz(left)].queued)
			return true;
	return false;
}

/* Those for which another plan could be of use now, a bit each. */
static uint32_t congested_growers(const struct poller *p)
{
	uint32_t congested = 0;

	for (uint32_t left = p->growers; left; left &= left - 1)
		if (p->demands[__builtin_ctz(left)].congested)
			congested |= left & -left;
	return congested;
}

static bool somebody_runs(const struct poller *p)
{
	for (uint32_t cpu = 0; cpu < p->topo.nr_possible; cpu++)
		if (p->signals.holder[cpu])
			return true;
	return false;
}

/*
 * Most intervals end here: nothing that has happened could make another plan.
 * Where all is taken, the same classes asking again get the same answer, until
 * a CPU that changed hands lately may change again.
 */
static bool plan_stands(const struct poller *p, uint64_t now_ns)
{
	uint32_t congested = congested_growers(p);

	if (p->failed || p->surplus || p->limits.policy->by_time ||
	    p->status.limits_generation != p->limits.alloc.generation)
		return false;
	return !congested || (congested == p->refused && now_ns - p->refused_at_ns < p->limits.alloc.dwell_ns);
}

static void make_plan(struct poller *p, uint64_t now_ns)
{
	struct schedd_plan before = p->memory.plan;
	struct alloc_result result;
	struct alloc_input in = {
		.topo = &p->topo,
		.limits = &p->limits.alloc,
		.holder = p->signals.holder,
		.demand = p->demands,
		.policy = p->limits.policy,
		.now_ns = now_ns,
		.frozen = p->limits.frozen,
	};
	bool followed, in_force = true;

	alloc_plan(&in, &p->memory, &result);
	memcpy(p->status.unmet_cpus, result.unmet, sizeof(p->status.unmet_cpus));
	p->surplus = has_surplus(p, &result);
	p->refused = result.changed ? 0 : congested_growers(p);
	p->refused_at_ns = now_ns;
	if (result.changed || p->failed)
		in_force = apply(p);
	if (result.changed) {
		uint64_t took_ns = poller_now_ns() - now_ns;

		p->status.plan = p->memory.plan;
		p->status.plan_ns_sum += took_ns;
		p->status.plan_count++;
		tell_moves(p, &before, &result, took_ns);
	}
	followed = in_force && p->status.limits_generation != p->limits.alloc.generation;
	if (followed) {
		p->status.limits_generation = p->limits.alloc.generation;
		p->status.model_generation = p->limits.model_generation;
	}
	tell_loop(p, followed || (result.changed && __atomic_load_n(&p->notify, __ATOMIC_RELAXED)));
}

/*
 * Nobody waits: whoever is queued first wakes us, and what is owned above a
 * guarantee is looked at when it may be given back, not before.  Who waits in
 * vain waits for that too, or for other limits; the others wake us as before, and
 * the counters go on.
 */
static struct poller_next next_step(const struct poller *p)
{
	uint64_t interval_ns = p->limits.interval_ns, dwell_ns = p->limits.alloc.dwell_ns;

	if (p->failed)
		return (struct poller_next){ interval_ns, 0 };
	if (p->limits.policy->by_time)
		return somebody_runs(p) ? (struct poller_next){ interval_ns, 0 } :
					  (struct poller_next){ UINT64_MAX, p->growers };
	if (dwell_ns < interval_ns)
		dwell_ns = interval_ns;
	if (!growers_wait(p))
		return (struct poller_next){ p->surplus ? dwell_ns : UINT64_MAX, p->growers };
	if (p->refused && !(congested_growers(p) & ~p->refused) && interval_ns < tell_every_ns)
		return (struct poller_next){ p->surplus ? dwell_ns : tell_every_ns, p->growers & ~p->refused };
	return (struct poller_next){ interval_ns, 0 };
}

struct poller_next poller_step(struct poller *p, uint64_t now_ns)
{
	take_limits(p);
	measure(p, now_ns);
	count_congestion(p, now_ns);
	if (!plan_stands(p, now_ns))
		make_plan(p, now_ns);
	else if (now_ns - p->told_at_ns > tell_every_ns)
		tell_loop(p, false);
	return next_step(p);
}

int poller_new(const struct poller_options *o, const struct poller_kernel *kernel, struct poller **ret_poller)
{
	struct poller *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->kernel = *kernel;
	p->topo = *o->topo;
	p->poll_cpu = o->poll_cpu;
	p->shared_limits = *o->limits;
	p->memory.plan.generation = p->status.plan.generation = o->plan_generation;
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake_fd < 0 || p->event_fd < 0) {
		int r = -errno;

		poller_free(p);
		return r;
	}
	poller_step(p, poller_now_ns());
	*ret_poller = p;
	return 0;
}

int poller_start(struct poller *p)
{
	int r = -pthread_create(&p->thread, NULL, poller_thread, p);

	p->started = r == 0;
	return r;
}

static void wake(struct poller *p)
{
	uint64_t one = 1;

	/* In poll mode the thread looks at the word, in timer mode it sleeps on the descriptor. */
	__atomic_store_n(&p->woken, 1, __ATOMIC_RELEASE);
	if (write(p->wake_fd, &one, sizeof(one)) < 0)
		log_debug("the allocator thread is awake already");
}

void poller_free(struct poller *p)
{
	if (!p)
		return;
	if (p->started) {
		__atomic_store_n(&p->stop, 1, __ATOMIC_RELEASE);
		wake(p);
		pthread_join(p->thread, NULL);
	}
	if (p->wake_fd >= 0)
		close(p->wake_fd);
	if (p->event_fd >= 0)
		close(p->event_fd);
	free(p);
}

void poller_set_limits(struct poller *p, const struct poller_limits *limits)
{
	seqlock_write(&p->limits_lock, &p->shared_limits, limits, sizeof(*limits));
	wake(p);
}

void poller_get_status(struct poller *p, struct poller_status *ret_status)
{
	/* Both threads have one real-time priority: on one CPU the writer goes on only if the reader lets it. */
	while (!seqlock_read(&p->status_lock, ret_status, &p->shared_status, sizeof(*ret_status)))
		sched_yield();
}

int poller_event_fd(const struct poller *p)
{
	return p->event_fd;
}

void poller_set_notify(struct poller *p, bool every_plan)
{
	__atomic_store_n(&p->notify, every_plan, __ATOMIC_RELAXED);
}

void poller_drain_events(struct poller *p)
{
	uint64_t n;

	while (read(p->event_fd, &n, sizeof(n)) > 0)
		;
}

size_t poller_take_moves(struct poller *p, struct poller_move *ret_moves, size_t max)
{
	return poller_ring_take(&p->ring, ret_moves, max);
}

bool poller_ping(struct poller *p)
{
	bool answered = __atomic_load_n(&p->pongs, __ATOMIC_ACQUIRE) == p->pings;

	/* A question that still stands is not replaced: a slow thread would always answer the one before. */
	if (answered)
		__atomic_store_n(&p->pings, p->pings + 1, __ATOMIC_RELEASE);
	wake(p);
	return answered;
}
