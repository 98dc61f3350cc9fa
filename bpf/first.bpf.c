/* SPDX-License-Identifier: GPL-2.0 */
/*
 * first.bpf.c - who goes before every class: kernel threads and the daemon's own, within bounds
 */

/*
 * Of the daemon, those that are not real-time are gRPC's.  An order for more CPUs
 * goes through them, and must not wait behind the load that it is about.
 */
static __always_inline bool goes_first(struct task_struct *p)
{
	return (p->flags & PF_KTHREAD) ? !p->cgroups->dfl_cgrp->level :
					 own_tgid && p->tgid == own_tgid;
}

/*
 * Kernel threads of the root cgroup rank above every class, and so do the
 * daemon's own, but only from a wake-up until they have run for
 * kthread_slice_ns: some compute for long.  What a real-time task interrupts
 * meanwhile goes on as it was; the kernel may hand it back to us for that.
 */
static __always_inline bool enqueue_kthread(struct task_struct *p, struct task_ctx *t, u32 cpu,
					    struct schedd_cpu_state *state,
					    struct schedd_cpu_stats *stats, u64 now,
					    u64 enq_flags)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	bool pinned = is_pinned(p), above = state->rank < SCHEDD_RANK_AWAY || c->owner_run;
	bool resumes = (t->flags & TASK_FIRST) && (enq_flags & ENQ_REENQ);

	t->flags &= ~TASK_FIRST;
	if ((!(enq_flags & ENQ_WAKEUP) && !resumes) || !goes_first(p))
		return false;
	if (!pinned && c->kthread_ns > 10 * NSEC_PER_MSEC) {
		stats->kthread_demoted++;
		return false;
	}
	stats->kthread_direct++;
	t->flags |= TASK_FIRST;
	t->granted_ns = kthread_slice_ns;
	if (pinned || (above && !state->pending && !(enq_flags & ENQ_REENQ))) {
		if (above && state->rank != SCHEDD_RANK_IDLE)
			enq_flags |= ENQ_PREEMPT;
		if (!pinned && !c->behind && ENQ_HAS_IMMED)
			enq_flags |= ENQ_IMMED;
		kernel_insert(p, SCX_DSQ_LOCAL, t->granted_ns, enq_flags);
		return true;
	}
	count_waiting(stats, t, PLACE_KTHREAD, llc_of(cpu), now);
	kernel_insert_vtime(p, schedd_dsq_id(SCHEDD_DSQ_KTHREAD, 0, llc_of(cpu)), t->granted_ns,
			    now, enq_flags);
	find_a_cpu(p, t, cpu, state);
	return true;
}

/*
 * A task with time left is only put by the kernel, for a real-time task.  It would
 * go on when that sleeps, whoever has been woken meanwhile.  Without a slice it is
 * handed back to us instead: other CPUs may take it, and dispatch is asked again.
 */
static __always_inline void interrupted(struct task_struct *p, struct task_ctx *t, struct cpu_ctx *c,
					u32 cpu)
{
	if (c->first_run)
		t->flags |= TASK_FIRST;
	else if (cpu != poll_cpu)
		p->scx.slice = 0;
}
