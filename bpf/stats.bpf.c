/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stats.bpf.c - counters, wake-up latency histograms, and the dump after an error
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
		s->started++;
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

static __always_inline void dump_line(char *fmt, u64 *data, u32 size)
{
	scx_bpf_dump_bstr(fmt, data, size);
}

void SCHEDD_OPS(dump_cpu, struct scx_dump_ctx *dctx, s32 cpu, bool idle)
{
	static char fmt[] = "schedd: rank=%llu class=%llu pending=%llu owner=%llu waiting be=%llu "
			    "normal=%llu lc=%llu debt be=%lld normal=%lld";
	struct schedd_cpu_state *state = state_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	u64 data[9];

	if (!state || idle)
		return;
	data[0] = state->rank;
	data[1] = state->class_idx;
	data[2] = state->pending;
	data[3] = state->owner;
	data[4] = c->waiting[SCHEDD_KIND_BEST_EFFORT];
	data[5] = c->waiting[SCHEDD_KIND_NORMAL];
	data[6] = c->waiting[SCHEDD_KIND_LATENCY_CRITICAL];
	data[7] = c->debt_ns[SCHEDD_KIND_BEST_EFFORT];
	data[8] = c->debt_ns[SCHEDD_KIND_NORMAL];
	dump_line(fmt, data, sizeof(data));
}

void SCHEDD_OPS(dump_task, struct scx_dump_ctx *dctx, struct task_struct *p)
{
	static char fmt[] = "schedd: class=%llu kind=%llu place=%llu where=%llu vtime=%llu clock=%llu";
	struct task_ctx *t = task_ctx_of(p);
	u64 data[6];

	if (!t)
		return;
	data[0] = t->class_idx;
	data[1] = t->kind;
	data[2] = t->place;
	data[3] = t->where;
	data[4] = t->vtime;
	data[5] = llc_ctx_of(t->dom_llc)->vclock[t->dom_kind & KIND_MASK];
	dump_line(fmt, data, sizeof(data));
}
