/* SPDX-License-Identifier: GPL-2.0 */
/*
 * main.bpf.c - the schedd scheduler: classes of cgroups, ranked, with a reflex
 *
 * The idea.  Every cgroup has a class, every class a kind: latency-critical
 * above normal above best-effort.  A CPU serves the highest kind that waits,
 * and within a kind the task with the least key, a virtual time.  That alone is not
 * enough: a slice ends on the tick, so work that wakes up while something of a
 * lower kind runs would wait for milliseconds.  Hence the reflex: whoever wakes
 * up looks for an idle CPU, else for one that runs a lower kind, and takes it
 * under that CPU's run queue lock, by an insert at the head of its local queue
 * that also ends the running slice.  There is no message to wait for and no
 * poll: the decision is made where the task wakes up.
 *
 * A worked example.  Two CPUs, each busy with best-effort work; CPU 0 gets an
 * interrupt that wakes four latency-critical threads.  The first finds no idle
 * CPU, sees the record of CPU 1 (best-effort, nothing pending) and is put there;
 * CPU 1's record now says pending.  The second finds CPU 0 and takes it the same
 * way.  For the third there is no victim left.  It goes to the queue of its
 * class and is counted as waiting, and so is the fourth.  CPU 1 has finished the
 * first thread after 1 ms and takes the third from the queue, because dispatch
 * serves ranks strictly: the best-effort task that was taken off waits at the
 * head of its queue with what was left of its slice.  When the fourth is done,
 * it goes on where it was.
 *
 * One rule holds it together: whatever the reflex may take a CPU from, dispatch
 * ranks below the waiter; whatever dispatch puts first never looks takeable.
 * So what goes first out of turn - kernel threads, a floor, the owner of a CPU
 * below its guarantee - runs with the rank AWAY.  Without the rule the reflex
 * and dispatch undo each other for ever.
 *
 * Floors.  While a higher kind runs, the lower ones earn five per cent of that
 * time, per CPU.  Who has earned a floor slice and waits is served first, once.
 * So kubelet and sshd stay alive under a full latency-critical load, and a
 * best-effort task that holds a lock gets on with it.  An owner goes before
 * classes that do not rank below it; those earn the same while it runs, for
 * among them may be a task that can run nowhere else.
 *
 * Within a class a policy gives each task a key, and the least is served first.
 * All keys are virtual times of one domain per kind and LLC, so a class in order
 * of arrival competes with one by deadline.  policy.h has the table.
 *
 * Where it does badly.  Slices end on the tick.  Only floor runs, turns (a class
 * with a quantum) and preemptions that were put off for a waker have a timer;
 * where the kernel has none for us (PREEMPT_RT) a floor slice of half a
 * millisecond takes up to one tick from latency-critical work.  LLCs are
 * balanced only when a CPU runs out of work, so two full LLCs of unequal length
 * stay unequal.  Work of one kind that wakes up on a machine full of the same
 * kind gains less than with the kernel's own scheduler, which has
 * high-resolution slices.
 */
#include "bpf/sched.bpf.h"

char _license[] SEC("license") = "GPL";

/* One translation unit: helpers inline, and trusted pointers stay trusted. */
#include "bpf/stats.bpf.c"
#include "bpf/policy.bpf.c"
#include "bpf/turn.bpf.c"
#include "bpf/class.bpf.c"
#include "bpf/cores.bpf.c"
#include "bpf/floor.bpf.c"
#include "bpf/queue.bpf.c"
#include "bpf/first.bpf.c"
#include "bpf/observe.bpf.c"

/* Settles the account of the running task up to now; it goes on or stops after this. */
static __always_inline void charge(struct task_ctx *t, u32 cpu, struct schedd_cpu_state *state,
				   struct schedd_cpu_stats *stats, u64 now)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	u64 ran = schedd_delta(now, c->run_start, MAX_DELTA_NS);
	u64 kthread = c->kthread_ns;
	u32 owner = owner_of(cpu, state);

	t->vtime += schedd_vtime_step(ran, t->weight);
	t->active_ns += ran;
	c->run_start = now;
	c->run_vtime = t->vtime;
	stats_ran(stats, owner, t->class_idx, ran);
	guest_charge(c, owner, t, ran);
	floor_charge(c, c->first_run ? SCHEDD_NR_KINDS : t->kind, ran, c->floor_run);
	if (c->first_run)
		kthread += ran * (100 - kthread_share_pct) / 100;
	else
		kthread -= kthread < ran * kthread_share_pct / 100 ? kthread :
								    ran * kthread_share_pct / 100;
	c->kthread_ns = kthread < 20 * NSEC_PER_MSEC ? kthread : 20 * NSEC_PER_MSEC;
}

s32 SCHEDD_OPS(select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	s32 this_cpu = bpf_get_smp_processor_id(), cpu;
	struct task_ctx *t = task_ctx_of(p);
	bool idle = false;

	if (!t || prev_cpu < 0 || prev_cpu >= SCHEDD_MAX_CPUS)
		return prev_cpu;
	t->flags &= ~TASK_SYNC;
	if (!lending_restricted) {
		cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);
		if (idle) {
			if (cpu == this_cpu && (wake_flags & SCX_WAKE_SYNC))
				t->flags |= TASK_SYNC;
			return cpu;
		}
		class_refresh(p, t, NULL);
	} else {
		class_refresh(p, t, NULL);
		cpu = claim_idle(p, prev_cpu, t->class_idx, t->kind);
		if (cpu >= 0)
			return cpu;
	}
	cpu = pick_victim(p, prev_cpu, t->class_idx, t->kind);
	if (cpu >= 0)
		return cpu;
	/* The waker's run queue needs no remote lock, and the waker often sleeps soon. */
	if (llc_of(this_cpu) == llc_of(prev_cpu) &&
	    ((u32)p->nr_cpus_allowed >= nr_cpus || covers_llc(p, llc_of(this_cpu))))
		return this_cpu;
	return prev_cpu;
}

/*
 * May p wait in the local queue for the running task to stop?  That spares a
 * queue and a dispatch where nothing is lost by it: p can go nowhere else, or
 * its waker is about to sleep, and nobody is passed over.
 */
static __always_inline bool may_follow(struct task_struct *p, struct task_ctx *t, u32 cpu,
				       struct schedd_cpu_state *state, u64 enq_flags)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));

	return (enq_flags & ENQ_WAKEUP) && state->rank == t->kind && !c->behind && !l->kthreads &&
	       ((t->flags & TASK_SYNC) || is_pinned(p)) && !kind_waits(c, l, t->kind) &&
	       !higher_waits(cpu, t->kind);
}

enum take_how {
	CPU_REFUSED,
	CPU_FREE,
	CPU_PREEMPT,
	CPU_FOLLOW,
};

/* What the record, exact under the lock, allows this task to do. */
static __always_inline u32 judge_cpu(struct task_struct *p, struct task_ctx *t, u32 cpu,
				     struct schedd_cpu_state *state, u64 now, u64 enq_flags)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);

	if (state->rank == SCHEDD_RANK_IDLE)
		return is_pinned(p) || (within_burst(t->class_idx) &&
					may_borrow(cpu, state, t->class_idx, t->kind)) ?
			       CPU_FREE :
			       CPU_REFUSED;
	if ((may_preempt(state, t->kind) && within_burst(t->class_idx)) ||
	    may_reclaim(cpu, state, t->class_idx))
		return CPU_PREEMPT;
	if (state->rank == SCHEDD_RANK_LATENCY_CRITICAL && floor_wake(c, t->kind, now)) {
		t->flags |= TASK_FLOOR;
		return CPU_PREEMPT;
	}
	if (!(t->flags & TASK_SYNC) && may_preempt_own_class(cpu, state, t, now))
		return CPU_PREEMPT;
	return may_follow(p, t, cpu, state, enq_flags) ? CPU_FOLLOW : CPU_REFUSED;
}

/* Starts p on this CPU at once, or right after the running task. */
static __always_inline bool take_cpu(struct task_struct *p, struct task_ctx *t, u32 cpu,
				     struct schedd_cpu_state *state,
				     struct schedd_cpu_stats *stats, u64 now, u64 enq_flags)
{
	struct schedd_class_stats *s = class_stats(stats, t->class_idx);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	u32 how;

	if (state->rank == SCHEDD_RANK_AWAY && !c->owner_run)
		return false;
	if (state->pending) {
		stats->reflex_lost++;
		return false;
	}
	how = judge_cpu(p, t, cpu, state, now, enq_flags);
	if (how == CPU_REFUSED)
		return false;
	s->dispatch_direct++;
	t->granted_ns = next_slice(t);
	if (how == CPU_FOLLOW) {
		c->behind = 1;
	} else {
		state->pending = 1;
		/* With company in the local queue the kernel would hand an IMMED task back. */
		if (ENQ_HAS_IMMED && !c->behind)
			enq_flags |= ENQ_IMMED;
	}
	if (how == CPU_PREEMPT) {
		enq_flags |= ENQ_PREEMPT;
		s->preemptions++;
		class_stats(stats, state->class_idx)->preempted++;
	}
	kernel_insert(p, SCX_DSQ_LOCAL, t->granted_ns, enq_flags);
	return true;
}

void SCHEDD_OPS(enqueue, struct task_struct *p, u64 enq_flags)
{
	u32 cpu = scx_bpf_task_cpu(p);
	struct schedd_cpu_state *state = state_of(cpu);
	struct schedd_cpu_stats *stats = stats_of(cpu);
	struct task_ctx *t = task_ctx_of(p);
	u64 now = scx_bpf_now();

	if (!t || !state || !stats) {
		kernel_insert(p, SCX_DSQ_GLOBAL, kind_slice_ns[SCHEDD_KIND_NORMAL], enq_flags);
		return;
	}
	class_refresh(p, t, stats);
	uncount_waiting(stats, t);
	stats_runnable(stats, t);
	if (is_poller(p, cpu)) {
		kernel_insert(p, SCX_DSQ_LOCAL, SCX_SLICE_INF, enq_flags);
		return;
	}
	t->queued_at = now;
	if (enq_flags & ENQ_WAKEUP) {
		t->woken_at = now;
		t->rest_ns = 0;
		note_wakeup(t, now);
	}
	settle_vtime(t, llc_of(cpu));
	if (enqueue_kthread(p, t, cpu, state, stats, now, enq_flags))
		return;
	if (!(enq_flags & ENQ_REENQ) && take_cpu(p, t, cpu, state, stats, now, enq_flags))
		return;
	put_in_queue(p, t, stats, cpu, now, enq_flags);
	find_a_cpu(p, t, cpu, state);
	if (cpu == bpf_get_smp_processor_id() && state->rank == t->kind)
		arm_turn(cpu, cpu_ctx_of(cpu));
}

/* prev goes on; the record must say what dispatch has just ranked it as. */
static __always_inline void keep_running(struct task_struct *prev, struct task_ctx *t, u32 cpu,
					 struct schedd_cpu_state *state,
					 struct schedd_cpu_stats *stats, u64 now, bool floor_run)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);

	c->floor_run = floor_run;
	if (floor_run)
		floor_started(cpu);
	c->first_run = 0;
	c->run_begin = now;
	c->run_weight = t->weight;
	turn_started(cpu, c, llc_ctx_of(llc_of(cpu)), t);
	t->flags &= ~(TASK_FIRST | TASK_FLOOR | TASK_YIELDED);
	t->granted_ns = class_slice_ns(t->class_idx);
	prev->scx.slice = t->granted_ns;
	state->class_idx = t->class_idx;
	hold_cpu(cpu, t->class_idx + 1, t->kind);
	c->owner_run = !floor_run && runs_as_owner(cpu, state, t);
	state->rank = floor_run || c->owner_run ? SCHEDD_RANK_AWAY : t->kind;
	note_saturation(c, state->rank, now);
	class_stats(stats, t->class_idx)->dispatch_kept++;
	if (floor_run)
		class_stats(stats, t->class_idx)->floor_served++;
}

void SCHEDD_OPS(dispatch, s32 cpu, struct task_struct *prev)
{
	struct schedd_cpu_state *state = state_of(cpu);
	struct schedd_cpu_stats *stats = stats_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	struct task_ctx *prev_t = NULL;
	u32 prev_kind = 0, taken;
	u64 now = scx_bpf_now();

	if (!state || !stats)
		return;
	state->pending = 0;
	c->behind = 0;
	c->floor_kind = 0;
	if (prev && (prev->scx.flags & SCX_TASK_QUEUED)) {
		prev_t = task_ctx_of(prev);
		if (prev_t) {
			charge(prev_t, cpu, state, stats, now);
			class_refresh(prev, prev_t, stats);
			prev_kind = prev_t->kind;
			c->prev_key = key_of(prev_t, llc_of(cpu));
		}
	}
	if (cpu == poll_cpu) {
		if (take_beside_poller(cpu) == TAKE_NONE && prev && is_poller(prev, cpu))
			prev->scx.slice = SCX_SLICE_INF;
		return;
	}
	if (l->kthreads &&
	    kernel_move_to_local(schedd_dsq_id(SCHEDD_DSQ_KTHREAD, 0, llc_of(cpu))))
		return;
	taken = take_next(cpu, state, prev_kind, prev_t, now);
	if (taken == TAKE_PREV && prev && prev_t)
		keep_running(prev, prev_t, cpu, state, stats, now, c->floor_kind != 0);
}

/* After hold_cpu(), which counts this CPU. */
static __always_inline u32 rank_of_run(struct task_ctx *t, u32 cpu, struct schedd_cpu_state *state)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);

	c->first_run = !!(t->flags & TASK_FIRST);
	c->floor_run = (t->flags & TASK_FLOOR) || (c->floor_kind && c->floor_kind == t->kind);
	c->owner_run = !c->first_run && !c->floor_run && runs_as_owner(cpu, state, t);
	return c->first_run || c->floor_run || c->owner_run ? SCHEDD_RANK_AWAY : t->kind;
}

void SCHEDD_OPS(running, struct task_struct *p)
{
	u32 cpu = scx_bpf_task_cpu(p);
	struct schedd_cpu_state *state = state_of(cpu);
	struct schedd_cpu_stats *stats = stats_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	struct task_ctx *t = task_ctx_of(p);
	u64 now = scx_bpf_now(), *clock;

	if (!t || !state || !stats)
		return;
	state->pending = 0;
	stats_dispatched(stats, t);
	uncount_waiting(stats, t);
	stats_runnable(stats, t);
	stats_started(stats, t, now);
	c->run_start = c->run_begin = now;
	c->run_vtime = t->vtime;
	c->run_weight = t->weight;
	turn_started(cpu, c, l, t);
	c->idle_retries = 0;
	c->behind = 0;
	clock = &l->vclock[t->kind & KIND_MASK];
	if (schedd_vtime_before(*clock, t->vtime))
		*clock = t->vtime;
	state->class_idx = t->class_idx;
	hold_cpu(cpu, t->class_idx + 1, t->kind);
	state->rank = rank_of_run(t, cpu, state);
	note_saturation(c, state->rank, now);
	if (c->floor_run) {
		class_stats(stats, t->class_idx)->floor_served++;
		floor_started(cpu);
	}
	c->floor_kind = 0;
	clear_sibling(cpu, t->class_idx);
	/*
	 * A full barrier: whoever queues something counts it and then looks at
	 * records; here the record is written and then the counts are read.  One
	 * of the two sees the other.
	 */
	__sync_fetch_and_add(&state->run_seq, 1);
	if (state->rank != SCHEDD_RANK_AWAY && may_preempt(state, SCHEDD_RANK_AWAY) &&
	    higher_waits(cpu, t->kind) &&
	    schedd_delta(now, c->last_self_kick, MAX_DELTA_NS) > SELF_KICK_GAP_NS) {
		c->last_self_kick = now;
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
	}
}

void SCHEDD_OPS(stopping, struct task_struct *p, bool runnable)
{
	u32 cpu = scx_bpf_task_cpu(p);
	struct schedd_cpu_state *state = state_of(cpu);
	struct schedd_cpu_stats *stats = stats_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct task_ctx *t = task_ctx_of(p);
	u64 now = scx_bpf_now(), ran;

	if (!t || !state || !stats)
		return;
	charge(t, cpu, state, stats, now);
	ran = schedd_delta(now, c->run_begin, MAX_DELTA_NS);
	t->rest_ns = 0;
	if (runnable && !c->turn_over && !(t->flags & (TASK_YIELDED | TASK_FIRST)) &&
	    t->granted_ns > ran + MIN_REST_NS)
		t->rest_ns = t->granted_ns - ran;
	t->flags &= ~(TASK_YIELDED | TASK_FIRST | TASK_FLOOR);
	if (runnable && p->scx.slice)
		interrupted(p, t, c, cpu);
	if (!runnable) {
		note_sleep(t, now);
		stats_quiescent(stats, t);
	}
	c->quantum_ns = 0;
	c->first_run = 0;
	c->floor_run = 0;
	c->owner_run = 0;
	/* Until something else starts, the CPU may be with a real-time task. */
	state->rank = SCHEDD_RANK_AWAY;
}

void SCHEDD_OPS(tick, struct task_struct *p)
{
	u32 cpu = scx_bpf_task_cpu(p);
	struct schedd_cpu_state *state = state_of(cpu);
	struct schedd_cpu_stats *stats = stats_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	struct task_ctx *t = task_ctx_of(p);
	u64 now = scx_bpf_now();
	u32 kind;

	if (!t || !state || !stats)
		return;
	judge_alive(stats);
	update_cpuperf(cpu, c, now, true);
	if (c->first_run)
		return;
	if (c->floor_run) {
		if (schedd_delta(now, c->run_begin, MAX_DELTA_NS) >= floor_slice_ns)
			p->scx.slice = 0;
		return;
	}
	if (state->rank == SCHEDD_RANK_AWAY)
		return;
	if (cpu == poll_cpu) {
		if (pinned_waits(cpu))
			p->scx.slice = 0;
		return;
	}
	kind = t->kind;
	charge(t, cpu, state, stats, now);
	if (!reflex_off && higher_waits(cpu, kind) && above_guarantee(t->class_idx)) {
		stats->tick_rescues++;
		p->scx.slice = 0;
	} else if (turn_ends_on_tick(cpu, c, l, kind, now) || l->kthreads ||
		   owner_waits(cpu, state) ||
		   (kind > SCHEDD_KIND_NORMAL && floor_due(c, l, SCHEDD_KIND_NORMAL, now)) ||
		   (kind > SCHEDD_KIND_BEST_EFFORT &&
		    floor_due(c, l, SCHEDD_KIND_BEST_EFFORT, now))) {
		p->scx.slice = 0;
	}
}

bool SCHEDD_OPS(yield, struct task_struct *from, struct task_struct *to)
{
	struct task_ctx *t = task_ctx_of(from);

	if (to)
		return false;
	if (t)
		t->flags |= TASK_YIELDED;
	from->scx.slice = 0;
	return false;
}

void SCHEDD_OPS(update_idle, s32 cpu, bool idle)
{
	struct schedd_cpu_state *state = state_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	u64 now = scx_bpf_now();

	if (!state)
		return;
	state->pending = 0;
	c->behind = 0;
	update_cpuperf(cpu, c, now, !idle ? false : true);
	if (!idle) {
		state->rank = SCHEDD_RANK_AWAY;
		return;
	}
	state->rank = SCHEDD_RANK_IDLE;
	hold_cpu(cpu, 0, 0);
	note_saturation(c, SCHEDD_RANK_IDLE, now);
	/* The same barrier as in running. */
	__sync_fetch_and_add(&state->run_seq, 1);
	if ((l->kthreads || higher_waits(cpu, SCHEDD_KIND_NONE) ||
	     kind_waits(c, l, SCHEDD_KIND_BEST_EFFORT)) &&
	    c->idle_retries < MAX_IDLE_RETRIES) {
		c->idle_retries++;
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
	}
}

/* Before the kernel could re-enqueue by itself (ENQ_IMMED); user space unsets it elsewhere. */
void SCHEDD_OPS(cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	struct schedd_cpu_state *state = state_of(cpu);

	if (state) {
		state->rank = SCHEDD_RANK_AWAY;
		state->pending = 0;
	}
	if (bpf_ksym_exists(scx_bpf_reenqueue_local))
		scx_bpf_reenqueue_local();
}

s32 SCHEDD_OPS_SLEEPABLE(init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	return bpf_task_storage_get(&task_ctxs, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE) ? 0 :
											   -ENOMEM;
}

/* The task enters or leaves; either way nothing may stay counted for it. */
static __always_inline void forget_counts(struct task_struct *p)
{
	struct schedd_cpu_stats *stats = stats_of(scx_bpf_task_cpu(p));
	struct task_ctx *t = task_ctx_of(p);

	if (!t || !stats)
		return;
	uncount_waiting(stats, t);
	stats_quiescent(stats, t);
	t->queued_at = 0;
	t->woken_at = 0;
	t->rest_ns = 0;
	t->slept_at = 0;
	t->active_ns = 0;
	t->flags = 0;
}

void SCHEDD_OPS(enable, struct task_struct *p)
{
	forget_counts(p);
}

void SCHEDD_OPS(disable, struct task_struct *p)
{
	forget_counts(p);
}

s32 SCHEDD_OPS_SLEEPABLE(init)
{
	s32 err;
	u32 i;

	if (nr_cpus > SCHEDD_MAX_CPUS || nr_llcs > SCHEDD_MAX_LLCS || !nr_cpus || !nr_llcs)
		return -EINVAL;
	sort_cpus();
	class_derive();
	bpf_for(i, 0, nr_cpus) {
		struct schedd_cpu_state *state = state_of(i);

		/* Unknown until the first callback of that CPU. */
		if (state)
			state->rank = SCHEDD_RANK_AWAY;
	}
	err = create_queues();
	if (!err)
		err = create_timers();
	if (!err)
		err = create_turn_timers();
	if (!err)
		attached = 1;
	return err;
}

void SCHEDD_OPS(exit, struct scx_exit_info *info)
{
	struct schedd_exit_record *record;
	u32 zero = 0;

	attached = 0;
	record = bpf_map_lookup_elem(&exit_record, &zero);
	if (!record)
		return;
	bpf_probe_read_kernel_str(record->reason, sizeof(record->reason), info->reason);
	bpf_probe_read_kernel_str(record->msg, sizeof(record->msg), info->msg);
	bpf_probe_read_kernel_str(record->dump, sizeof(record->dump), info->dump);
	record->exit_code = info->exit_code;
	/* Last: a reader polls kind. */
	record->kind = info->kind;
}

/* The round trip that user space asks for, with nothing that could act on another scheduler. */
SEC("syscall")
int schedd_ping(struct schedd_ping_args *args)
{
	struct schedd_shared *words = shared_words();

	args->ret_cookie = args->cookie + 1;
	args->ret_now_ns = bpf_ktime_get_ns();
	args->ret_plan_generation = words ? words->plan_generation : 0;
	args->ret_intf_version = SCHEDD_INTF_VERSION;
	return 0;
}

SEC("syscall")
int schedd_introduce(struct schedd_introduce_args *args)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct schedd_shared *words = shared_words();

	args->ret_result = -EINVAL;
	if (!words)
		return 0;
	own_tgid = self->tgid;
	words->poller_tid = args->polls ? self->pid : 0;
	args->ret_result = 0;
	return 0;
}

SEC(".struct_ops.link")
struct sched_ext_ops schedd_ops = {
	.select_cpu = (void *)schedd_select_cpu,
	.enqueue = (void *)schedd_enqueue,
	.dispatch = (void *)schedd_dispatch,
	.tick = (void *)schedd_tick,
	.running = (void *)schedd_running,
	.stopping = (void *)schedd_stopping,
	.yield = (void *)schedd_yield,
	.update_idle = (void *)schedd_update_idle,
	.cpu_release = (void *)schedd_cpu_release,
	.init_task = (void *)schedd_init_task,
	.enable = (void *)schedd_enable,
	.disable = (void *)schedd_disable,
	.dump_cpu = (void *)schedd_dump_cpu,
	.dump_task = (void *)schedd_dump_task,
	.init = (void *)schedd_init,
	.exit = (void *)schedd_exit,
	.flags = SCX_OPS_KEEP_BUILTIN_IDLE | SCX_OPS_ENQ_LAST | SCX_OPS_ENQ_EXITING |
		 SCX_OPS_ENQ_MIGRATION_DISABLED,
	.timeout_ms = 30000,
	.name = "schedd",
};
