/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stats.bpf.c - counters and wake-up latency histograms
 *
 * Each block belongs to one CPU and is written with that CPU's run queue
 * locked, so plain additions are exact.  What was added under one class is
 * taken back under the same class, whatever the task's class is by then.
 */

static __always_inline struct schedd_class_stats *class_stats(struct schedd_cpu_stats *stats,
							       u32 class_idx)
{
	return &stats->class[class_idx & CLASS_MASK];
}

static __always_inline void stats_runnable(struct schedd_cpu_stats *stats, struct task_ctx *t)
{
	if (t->counted_class == t->class_idx + 1)
		return;
	if (t->counted_class)
		class_stats(stats, t->counted_class - 1)->nr_runnable--;
	class_stats(stats, t->class_idx)->nr_runnable++;
	t->counted_class = t->class_idx + 1;
}

static __always_inline void stats_quiescent(struct schedd_cpu_stats *stats, struct task_ctx *t)
{
	if (!t->counted_class)
		return;
	class_stats(stats, t->counted_class - 1)->nr_runnable--;
	t->counted_class = 0;
}

static __always_inline void stats_dispatched(struct schedd_cpu_stats *stats, struct task_ctx *t)
{
	if (t->place == PLACE_CLASS)
		class_stats(stats, t->class_idx)->dispatch_class++;
	else if (t->place == PLACE_CPU)
		class_stats(stats, t->class_idx)->dispatch_percpu++;
}

static __always_inline void stats_started(struct schedd_cpu_stats *stats, struct task_ctx *t,
					  u64 now)
{
	struct schedd_class_stats *s = class_stats(stats, t->class_idx);

	if (t->queued_at) {
		s->queue_delay_ns += schedd_delta(now, t->queued_at, 60 * NSEC_PER_SEC);
		t->queued_at = 0;
	}
	if (t->woken_at) {
		u64 ns = schedd_delta(now, t->woken_at, 60 * NSEC_PER_SEC);
		u32 bucket = schedd_lat_bucket(ns);

		s->wakeups++;
		s->wakeup_ns += ns;
		if (bucket < SCHEDD_LAT_BUCKETS)
			s->wakeup_hist[bucket]++;
		t->woken_at = 0;
	}
}

static __always_inline void stats_ran(struct schedd_cpu_stats *stats, u32 owner, u32 class_idx,
				      u64 ran_ns)
{
	class_stats(stats, class_idx)->cpu_ns += ran_ns;
	if (owner && owner != class_idx + 1) {
		class_stats(stats, class_idx)->borrowed_ns += ran_ns;
		class_stats(stats, owner - 1)->lent_ns += ran_ns;
	}
}
