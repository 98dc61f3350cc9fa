/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_alloc.c - the allocator thread as the loop sees it: limits out, plan and moves in */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/daemon_private.h"

/* A class that grew keeps a CPU for so many intervals at least: giving it back and asking again costs both sides. */
static const uint64_t dwell_intervals = 10;

static void read_signals(void *ctx, uint32_t used, struct poller_signals *ret_signals)
{
	sched_read_signals(ctx, used, ret_signals->counters, ret_signals->holder);
}

static int apply(void *ctx, const struct schedd_plan *plan)
{
	return sched_apply_plan(ctx, plan);
}

static void alive(void *ctx, uint64_t now_ns, bool need_alive)
{
	sched_alive(ctx, now_ns, need_alive);
}

static void set_asleep(void *ctx, uint32_t wake_classes)
{
	sched_set_asleep(ctx, wake_classes);
}

static void drain_wakeups(void *ctx)
{
	sched_drain_wakeups(ctx);
}

static int set_poller(void *ctx, bool polls)
{
	return sched_set_poller(ctx, polls);
}

_Static_assert(sizeof(struct alloc_cpus) == sizeof(struct cpuset), "both are a bit per CPU");

static uint32_t populated_classes(const struct daemon *d)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
		all |= (uint32_t)(d->state->classes[i].used && d->state->classes[i].member_cgroups) << i;
	return all;
}

/*
 * Who has the highest rank on a CPU is not decided by its owner, and the reflex
 * gives a burst its CPUs without one.  So owning more than a guarantee is worth
 * something only against other classes of one's own kind, or where nobody may
 * borrow; else it would be churn.  The policy that measures use knows no reflex.
 */
static bool may_grow(const struct daemon *d, const struct state_class *c)
{
	unsigned int rivals = 0;

	if (alloc_policy_find(d->config->policy)->by_time)
		return true;
	if (c->effective.lend == CLASS_LEND_NEVER || c->effective.exclusive_smt)
		return true;
	for (uint32_t left = populated_classes(d); left; left &= left - 1) {
		const struct state_class *other = &d->state->classes[__builtin_ctz(left)];

		rivals += other != c && other->effective.kind == c->effective.kind;
	}
	return rivals && c->effective.kind > SCHEDD_KIND_BEST_EFFORT;
}

static void fill_class(const struct daemon *d, const struct state_class *c, struct alloc_class *ret_class)
{
	*ret_class = (struct alloc_class){
		.used = c->used,
		.kind = c->effective.kind,
		.guarantee_cpus = c->effective_guarantee_cpus,
		.burst_cpus = may_grow(d, c) ? c->effective_burst_cpus : c->effective_guarantee_cpus,
		.weight = c->effective.weight,
		.exclusive_smt = c->effective.exclusive_smt,
		.lend_never = c->effective.lend == CLASS_LEND_NEVER,
	};
}

static uint64_t congestion_ns(const struct daemon *d, const struct state_class *c)
{
	bool own = (c->config.set | c->override.set) & CLASS_FIELD_CONGESTION;

	return own || c->effective.kind != SCHEDD_KIND_LATENCY_CRITICAL ? c->effective.congestion_ns :
									  d->config->congestion_ns;
}

static void fill_limits(struct daemon *d, struct poller_limits *l)
{
	daemon_refresh_reach(d);
	d->reach_unplanned = false;
	d->frozen_told = attach_is_paused(&d->attach);
	d->populated_told = populated_classes(d);
	*l = (struct poller_limits){
		.alloc = {
			.park_ns = d->config->park_ns,
			.dwell_ns = dwell_intervals * d->config->interval_ns,
			.step = 1,
			.generation = ++d->limits_generation,
		},
		.interval_ns = d->config->interval_ns,
		.policy = alloc_policy_find(d->config->policy),
		.model_generation = d->state->limits_generation,
		.frozen = attach_is_paused(&d->attach),
		.dry = attach_mode(&d->attach) == MODE_OBSERVE,
	};
	for (size_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		if (!d->state->classes[i].used)
			continue;
		fill_class(d, &d->state->classes[i], &l->alloc.classes[i]);
		memcpy(&l->alloc.classes[i].reach, &d->reach.classes[i], sizeof(l->alloc.classes[i].reach));
		l->congestion_ns[i] = congestion_ns(d, &d->state->classes[i]);
	}
	memcpy(l->alloc.private_owner, d->reach.private_class, sizeof(l->alloc.private_owner));
	memcpy(&l->alloc.excluded, &d->reach.isolated, sizeof(l->alloc.excluded));
	for (uint32_t cpu = 0; cpu < d->topo.nr_possible; cpu++)
		if (!d->topo.cpus[cpu].online || (int)cpu == d->poll_cpu)
			alloc_cpus_add(&l->alloc.excluded, cpu);
}

static const char *class_name(const struct daemon *d, uint8_t class_plus_1)
{
	return class_plus_1 ? d->state->classes[class_plus_1 - 1].name : "";
}

static void take_move(struct daemon *d, const struct poller_move *m)
{
	const struct event_reallocation event = {
		.cpu = m->cpu,
		.trigger = alloc_trigger_name((enum alloc_trigger)m->trigger),
		.took_ns = m->took_ns,
		.plan_generation = m->plan_generation,
	};

	if (m->trigger >= NR_ALLOC_TRIGGERS)
		return;
	if (m->dry) {
		if (m->to)
			d->would_reallocate[m->to - 1]++;
		return;
	}
	if (m->to)
		d->reallocations[m->to - 1][0][m->trigger]++;
	if (m->from)
		d->reallocations[m->from - 1][1][m->trigger]++;
	d->reallocation_ns_sum += m->took_ns;
	d->reallocation_count++;
	events_append_reallocation(d->events, m->realtime_ns, class_name(d, m->from), class_name(d, m->to), &event);
}

/* As often as the status is taken: a burst between two looks shows in the counters, not here. */
static void tell_congestion(struct daemon *d, uint64_t before)
{
	for (uint64_t left = before ^ d->alloc.congested; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		struct event e = {
			.realtime_ns = clock_ns(CLOCK_REALTIME),
			.type = EVENT_CONGESTION,
			.cause = { .source = EVENT_FROM_ALLOCATOR },
			.congestion = {
				.began = d->alloc.congested >> i & 1,
				.oldest_wait_ns = d->alloc.mean_delay_ns[i],
			},
		};

		memcpy(e.class_name, d->state->classes[i].name, sizeof(e.class_name));
		events_append(d->events, &e);
	}
}

void daemon_take_plan(struct daemon *d)
{
	uint64_t generation = d->alloc.plan.generation, congested = d->alloc.congested, lost = d->alloc.moves_lost;
	struct poller_move moves[64];
	struct events_stats readers;
	size_t n;

	if (!d->poller)
		return;
	poller_drain_events(d->poller);
	poller_get_status(d->poller, &d->alloc);
	/* What would be is counted; nobody owns a CPU that we do not schedule. */
	if (attach_mode(&d->attach) == MODE_OBSERVE)
		d->alloc.plan = (struct schedd_plan){ .generation = generation };
	while ((n = poller_take_moves(d->poller, moves, ARRAY_SIZE(moves))) > 0)
		for (size_t i = 0; i < n; i++)
			take_move(d, &moves[i]);
	if (d->alloc.moves_lost > lost)
		log_warning("%llu CPUs changed their owner too fast to be counted and told",
			    (unsigned long long)(d->alloc.moves_lost - lost));
	tell_congestion(d, congested);
	/* Whoever reads events wants each plan when it is made; else the counters can wait. */
	events_get_stats(d->events, &readers);
	poller_set_notify(d->poller, readers.readers > 0);
}

static int on_plan(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	daemon_take_plan(userdata);
	daemon_leases_progress(userdata);
	return 0;
}

/* A poll CPU that is not there would leave the allocator standing still: the timer does it instead. */
int daemon_poll_cpu(const struct daemon *d)
{
	int cpu = d->config->poll_cpu;

	if (cpu == POLLER_NO_CPU)
		return cpu;
	if ((uint32_t)cpu < d->topo.nr_possible && d->topo.cpus[cpu].online && d->topo.nr_online > 1)
		return cpu;
	log_warning("allocator.poll_cpu %d is not an online CPU beside which another one is left; stepping on a timer instead",
		    cpu);
	return POLLER_NO_CPU;
}

int daemon_start_alloc(struct daemon *d)
{
	struct poller_limits limits;
	struct poller_options o = { .topo = &d->topo, .limits = &limits, .plan_generation = d->alloc.plan.generation };
	struct poller_kernel kernel = {
		.read_signals = read_signals,
		.apply = apply,
		.alive = alive,
		.set_asleep = set_asleep,
		.drain_wakeups = drain_wakeups,
		.set_poller = set_poller,
		.wake_fd = sched_wake_fd(d->sched),
		.ctx = d->sched,
	};
	int r;

	o.poll_cpu = d->poll_cpu;
	fill_limits(d, &limits);
	r = poller_new(&o, &kernel, &d->poller);
	if (r == 0)
		r = sd_event_add_io(d->event, &d->plan_event, poller_event_fd(d->poller), EPOLLIN, on_plan, d);
	if (r == 0)
		r = poller_start(d->poller);
	if (r < 0)
		return log_error_errno(r, "cannot start the allocator thread");
	daemon_take_plan(d);
	return d->alloc.apply_failures ? -EIO : 0;
}

void daemon_stop_alloc(struct daemon *d)
{
	if (!d->poller)
		return;
	daemon_take_plan(d);
	d->plan_event = sd_event_source_unref(d->plan_event);
	poller_free(d->poller);
	d->poller = NULL;
	d->plans_applied_base += d->alloc.plans_applied;
	d->plan_ns_base += d->alloc.plan_ns_sum;
	d->plan_count_base += d->alloc.plan_count;
	for (size_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
		d->congested_ns_base[i] += d->alloc.congested_ns[i];
	/* Nobody owns anything now; the generation never falls. */
	d->alloc = (struct poller_status){ .plan.generation = d->alloc.plan.generation };
}

void daemon_apply_plan(struct daemon *d)
{
	struct poller_limits limits;

	if (!d->poller)
		return;
	fill_limits(d, &limits);
	poller_set_limits(d->poller, &limits);
}

void daemon_follow_limits(struct daemon *d)
{
	if (attach_is_paused(&d->attach) != d->frozen_told || populated_classes(d) != d->populated_told)
		daemon_apply_plan(d);
}

void daemon_reach_changed(struct daemon *d)
{
	daemon_apply_plan(d);
}
