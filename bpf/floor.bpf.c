/* SPDX-License-Identifier: GPL-2.0 */
/*
 * floor.bpf.c - what lower kinds are owed while higher ones run, and how long a floor run lasts
 *
 * The kernel ends slices on the tick, which is up to 4 ms for a floor run of
 * half a millisecond, taken from latency-critical work.  So a floor run has a
 * timer of its CPU.  It is armed for floor runs only, some hundred times a
 * second at most: arming one with interrupts off costs about as much as a switch.
 */

struct floor_timer {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCHEDD_MAX_CPUS);
	__type(key, u32);
	__type(value, struct floor_timer);
} floor_timers SEC(".maps");

/*
 * Latency-critical work has left no pause for a while.  Only then do normal
 * tasks get their floor in small pieces: a burst must not be cut in two.
 */
static __always_inline bool is_saturated(struct cpu_ctx *c, u64 now)
{
	return c->saturated_since &&
	       schedd_delta(now, c->saturated_since, MAX_DELTA_NS) >= FLOOR_STREAK_NS;
}

static __always_inline bool floor_owed(struct cpu_ctx *c, u32 kind, u64 now)
{
	s64 debt = c->debt_ns[kind & KIND_MASK];

	return debt >= (s64)floor_slice_ns ||
	       (kind == SCHEDD_KIND_NORMAL && debt >= (s64)(floor_slice_ns / 4) &&
		is_saturated(c, now));
}

static __always_inline bool waited_for_floor(struct cpu_ctx *c, struct llc_ctx *l, u32 kind, u64 now)
{
	u64 since;

	kind &= KIND_MASK;
	since = c->waiting[kind] ? c->waiting_since[kind] : l->waiting_since[kind];
	return schedd_delta(now, since, MAX_DELTA_NS) >= floor_wait_ns;
}

/* The kind is owed a floor run and has waited for it. */
static __always_inline bool floor_due(struct cpu_ctx *c, struct llc_ctx *l, u32 kind, u64 now)
{
	return kind_waits(c, l, kind) && floor_owed(c, kind, now) && waited_for_floor(c, l, kind, now);
}

/*
 * A normal task that wakes up under latency-critical saturation, with credit:
 * it need not wait for the tick.
 */
static __always_inline bool floor_wake(struct cpu_ctx *c, u32 kind, u64 now)
{
	return kind == SCHEDD_KIND_NORMAL && is_saturated(c, now) && floor_owed(c, kind, now);
}

/* Only what runs by its rank ends a saturation, not what went before the rest. */
static __always_inline void note_saturation(struct cpu_ctx *c, u32 rank, u64 now)
{
	if (rank != SCHEDD_RANK_LATENCY_CRITICAL) {
		if (rank != SCHEDD_RANK_AWAY)
			c->saturated_since = 0;
	} else if (!c->saturated_since) {
		c->saturated_since = now;
	}
}

/*
 * Debts of the kinds below: a share of the time for which they were outranked.
 * Credit for two slices is kept while nobody waits, so that a task that wakes
 * rarely under a full load need not first save up for its turn.
 */
static __always_inline s64 floor_debt(s64 debt, u32 kind, u32 ran_kind, u64 ran_ns, bool floor_run)
{
	s64 owed = ran_ns * floor_ppm / 1000000, cap = 2 * floor_slice_ns;
	s64 least = floor_run ? -(s64)FLOOR_DEBIT_NS : 0;

	if (kind < ran_kind)
		return debt + owed < cap ? debt + owed : cap;
	if (kind > ran_kind || (!floor_run && debt <= 0))
		return debt;
	debt -= ran_ns;
	return debt > least ? debt : least;
}

static __always_inline void floor_charge(struct cpu_ctx *c, u32 kind, u64 ran_ns, bool floor_run)
{
	s64 *normal = &c->debt_ns[SCHEDD_KIND_NORMAL];
	s64 *best_effort = &c->debt_ns[SCHEDD_KIND_BEST_EFFORT];

	*normal = floor_debt(*normal, SCHEDD_KIND_NORMAL, kind, ran_ns, floor_run);
	*best_effort = floor_debt(*best_effort, SCHEDD_KIND_BEST_EFFORT, kind, ran_ns, floor_run);
}

/* The same for those that an owner goes before although it does not outrank them. */
static __always_inline void guest_charge(struct cpu_ctx *c, u32 owner, struct task_ctx *t, u64 ran_ns)
{
	s64 *debt = c->guest_debt_ns;

	if (!owner || c->first_run)
		return;
	if (owner == t->class_idx + 1U) {
		debt[SCHEDD_KIND_BEST_EFFORT] = floor_debt(debt[SCHEDD_KIND_BEST_EFFORT], 0, 1, ran_ns, false);
		debt[SCHEDD_KIND_NORMAL] = floor_debt(debt[SCHEDD_KIND_NORMAL], 0, 1, ran_ns, false);
		debt[SCHEDD_KIND_LATENCY_CRITICAL] =
			floor_debt(debt[SCHEDD_KIND_LATENCY_CRITICAL], 0, 1, ran_ns, false);
	} else {
		debt += t->kind & KIND_MASK;
		*debt = floor_debt(*debt, 0, 0, ran_ns, c->floor_run);
	}
}

/* On the CPU itself.  What it ends is looked at again: something else may have started. */
static int floor_over(void *map, u32 *cpu, struct floor_timer *t)
{
	struct cpu_ctx *c = cpu_ctx_of(*cpu);
	u64 now = scx_bpf_now();

	if (c->floor_run && schedd_delta(now, c->run_begin, MAX_DELTA_NS) + FLOOR_SLACK_NS >= floor_slice_ns)
		scx_bpf_kick_cpu(*cpu, SCX_KICK_PREEMPT);
	return 0;
}

static __always_inline void floor_started(u32 cpu)
{
	struct floor_timer *t;

	if (!use_timers)
		return;
	t = bpf_map_lookup_elem(&floor_timers, &cpu);
	if (t)
		bpf_timer_start(&t->timer, floor_slice_ns, BPF_F_TIMER_CPU_PIN);
}

static __always_inline s32 create_timers(void)
{
	u32 i;

	if (!use_timers)
		return 0;
	bpf_for(i, 0, nr_cpus) {
		struct floor_timer *t = bpf_map_lookup_elem(&floor_timers, &i);
		s32 err;

		if (!t)
			return -EINVAL;
		err = bpf_timer_init(&t->timer, &floor_timers, CLOCK_MONOTONIC);
		if (err)
			return err;
		bpf_timer_set_callback(&t->timer, floor_over);
	}
	return 0;
}
