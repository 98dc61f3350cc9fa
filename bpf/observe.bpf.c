/* SPDX-License-Identifier: GPL-2.0 */
/*
 * observe.bpf.c - mode observe: whatever schedules this machine, measured per class
 *
 * Tracepoint programs, attached in that mode only and instead of our scheduler.
 * They fill the records and counters that ours fills, so that readers need not
 * know the difference, and do nothing else: another scheduler may be in force.
 *
 * Wake-ups and switches come with the lock of the task's run queue held, so
 * plain additions to its CPU's block are exact here too.  Tasks that were there
 * before are met in any state: each event sets right what it finds.
 */

/* Counted and on its way: who waits, waits in the kernel's own queues. */
static __always_inline void stats_enqueued(struct schedd_cpu_stats *stats, struct task_ctx *t)
{
	class_stats(stats, t->class_idx)->enqueued++;
	t->queued_class = t->class_idx;
}

static __always_inline void stats_dequeued(struct schedd_cpu_stats *stats, struct task_ctx *t)
{
	class_stats(stats, t->queued_class)->dequeued++;
}

/* Ours never sees them; the priority is the one in force, so a boosted task is one for that time. */
static __always_inline bool observe_is_realtime(struct task_struct *p)
{
	return p->prio < MAX_RT_PRIO;
}

/* Made at the first event: no memory under the lock is no fault, the next event tries again. */
static __always_inline struct task_ctx *observe_ctx(struct task_struct *p,
						    struct schedd_cpu_stats *stats)
{
	struct task_ctx *t;

	t = bpf_task_storage_get(&task_ctxs, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		stats->task_misses++;
	return t;
}

static __always_inline void observe_queued(struct task_struct *p, struct task_ctx *t,
					   struct schedd_cpu_stats *stats, u64 since)
{
	if (t->queued_at)
		stats_dequeued(stats, t);
	class_refresh(p, t, stats);
	stats_runnable(stats, t);
	stats_enqueued(stats, t);
	wake_allocator(t->class_idx);
	t->queued_at = since;
}

static __always_inline void observe_gone(struct task_ctx *t, struct schedd_cpu_stats *stats)
{
	if (t->queued_at)
		stats_dequeued(stats, t);
	stats_quiescent(stats, t);
	t->queued_at = 0;
	t->woken_at = 0;
}

/* Nobody owns a CPU that we do not schedule, so nothing is borrowed. */
static __always_inline void observe_charge(struct cpu_ctx *c, struct schedd_cpu_state *state,
					   struct schedd_cpu_stats *stats, u64 now)
{
	/* One CPU's clock; and while nothing switches, the timer below is all that charges. */
	if (c->run_start)
		stats_ran(stats, 0, state->class_idx,
			  schedd_delta(now, c->run_start, 3600 * NSEC_PER_SEC));
	c->run_start = now;
}

/* A wake-up begins with its waker: the way to an idle CPU in another cache is part of it. */
SEC("tp_btf/sched_waking")
int BPF_PROG(schedd_observe_waking, struct task_struct *p)
{
	struct task_ctx *t = task_ctx_of(p);

	/* No run queue is locked yet, so this word is all that may be written. */
	if (t)
		t->waking_at = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(schedd_observe_wakeup, struct task_struct *p)
{
	struct schedd_cpu_stats *stats = stats_of(scx_bpf_task_cpu(p));
	struct task_ctx *t;
	u64 since;

	if (!stats || observe_is_realtime(p))
		return 0;
	t = observe_ctx(p, stats);
	if (!t)
		return 0;
	since = t->waking_at ?: bpf_ktime_get_ns();
	t->waking_at = 0;
	/* Awake all along: it had not left its CPU yet, or was taken off it on its way to sleep. */
	if (p->on_cpu || t->queued_at)
		return 0;
	observe_queued(p, t, stats, since);
	t->woken_at = since;
	return 0;
}

/* A start, but no wake-up: our scheduler does not count it as one either. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(schedd_observe_wakeup_new, struct task_struct *p)
{
	struct schedd_cpu_stats *stats = stats_of(scx_bpf_task_cpu(p));
	struct task_ctx *t;

	if (!stats || observe_is_realtime(p))
		return 0;
	t = observe_ctx(p, stats);
	if (t)
		observe_queued(p, t, stats, bpf_ktime_get_ns());
	return 0;
}

static __always_inline void observe_stop(struct task_struct *p, struct schedd_cpu_stats *stats,
					 bool runnable, u64 now)
{
	struct task_ctx *t;

	if (!p->pid)
		return;
	if (observe_is_realtime(p))
		runnable = false;
	t = runnable ? observe_ctx(p, stats) : task_ctx_of(p);
	if (!t)
		return;
	if (!runnable) {
		observe_gone(t, stats);
		return;
	}
	t->woken_at = 0;
	observe_queued(p, t, stats, now);
}

/* The rank of what runs on the CPU from now on. */
static __always_inline u32 observe_start(struct task_struct *p, struct cpu_ctx *c,
					 struct schedd_cpu_state *state,
					 struct schedd_cpu_stats *stats, u64 now)
{
	bool realtime = observe_is_realtime(p);
	struct task_ctx *t;

	c->run_start = 0;
	state->holder = 0;
	if (!p->pid)
		return SCHEDD_RANK_IDLE;
	t = realtime ? task_ctx_of(p) : observe_ctx(p, stats);
	if (!t)
		return SCHEDD_RANK_AWAY;
	if (realtime) {
		/* It may have become one while it waited. */
		observe_gone(t, stats);
		return SCHEDD_RANK_AWAY;
	}
	if (!t->counted_class)
		class_refresh(p, t, stats);
	if (t->queued_at)
		stats_dequeued(stats, t);
	stats_runnable(stats, t);
	stats_started(stats, t, now);
	state->class_idx = t->class_idx;
	state->holder = t->class_idx + 1;
	c->run_start = now;
	return t->kind;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(schedd_observe_switch, bool preempt, struct task_struct *prev,
	     struct task_struct *next, unsigned int prev_state)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct schedd_cpu_state *state = state_of(cpu);
	struct schedd_cpu_stats *stats = stats_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	u64 now = bpf_ktime_get_ns();

	if (!state || !stats)
		return 0;
	observe_charge(c, state, stats, now);
	observe_stop(prev, stats, preempt || !prev_state, now);
	state->rank = observe_start(next, c, state, stats, now);
	state->run_seq++;
	return 0;
}

/*
 * A task that runs alone is not switched for seconds, while our scheduler
 * charges it on every tick.  Timers expire with interrupts off, or at least with
 * no switch before this returns, so a charge is not torn.
 */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(schedd_observe_timer)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct schedd_cpu_state *state;
	struct schedd_cpu_stats *stats;
	u64 now;

	if (!c->run_start)
		return 0;
	now = bpf_ktime_get_ns();
	if (schedd_delta(now, c->run_start, MAX_DELTA_NS) < NSEC_PER_MSEC)
		return 0;
	state = state_of(cpu);
	stats = stats_of(cpu);
	if (state && stats)
		observe_charge(c, state, stats, now);
	return 0;
}
