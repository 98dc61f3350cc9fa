/* SPDX-License-Identifier: GPL-2.0 */
/*
 * queue.bpf.c - where a waiting task is, and which one a CPU takes next
 *
 * A queue is counted before a task is put into it and uncounted when the task
 * starts, so "counted" may be early or late but never hides a waiting task.
 * All queues are ordered by a virtual time, the policy's key; one domain per kind and LLC.
 */

/* The BPF prologue may have disabled migration of the current task itself. */
static __always_inline bool migration_disabled(struct task_struct *p)
{
	u32 depth = p->migration_disabled;

	return depth > 1 || (depth == 1 && p != bpf_get_current_task_btf());
}

static __always_inline bool is_pinned(struct task_struct *p)
{
	return p->nr_cpus_allowed == 1 || migration_disabled(p);
}

/* May the task run on every CPU of the LLC?  Only such tasks enter a class queue. */
static __noinline bool covers_llc(struct task_struct *p, u32 llc)
{
	struct llc_ctx *l = llc_ctx_of(llc);
	u32 n = l->nr_cpus, i;

	if ((u32)p->nr_cpus_allowed < n)
		return false;
	bpf_for(i, 0, n) {
		if (!bpf_cpumask_test_cpu(cpu_order[(l->first_cpu + i) & CPU_MASK], p->cpus_ptr))
			return false;
	}
	return true;
}

static __always_inline void count_waiting(struct schedd_cpu_stats *stats, struct task_ctx *t,
					  u32 place, u32 where, u64 now)
{
	u32 kind = t->kind & KIND_MASK, class_idx = t->class_idx & CLASS_MASK;
	struct llc_ctx *l = llc_ctx_of(where);
	struct cpu_ctx *c = cpu_ctx_of(where);

	class_stats(stats, class_idx)->enqueued++;
	t->place = place;
	t->where = where;
	t->queued_class = class_idx;
	t->queued_kind = kind;
	if (place == PLACE_CLASS) {
		__sync_fetch_and_add(&l->waiting[class_idx], 1);
		if (!__sync_fetch_and_add(&l->waiting_kind[kind], 1))
			l->waiting_since[kind] = now;
	} else if (place == PLACE_CPU) {
		__sync_fetch_and_add(&c->waiting_class[class_idx], 1);
		if (!__sync_fetch_and_add(&c->waiting[kind], 1))
			c->waiting_since[kind] = now;
	} else {
		__sync_fetch_and_add(&l->kthreads, 1);
	}
}

static __always_inline void uncount_waiting(struct schedd_cpu_stats *stats, struct task_ctx *t)
{
	u32 kind = t->queued_kind & KIND_MASK, class_idx = t->queued_class & CLASS_MASK;
	struct llc_ctx *l = llc_ctx_of(t->where);
	struct cpu_ctx *c = cpu_ctx_of(t->where);

	if (t->place == PLACE_NONE)
		return;
	class_stats(stats, class_idx)->dequeued++;
	if (t->place == PLACE_CLASS) {
		__sync_fetch_and_sub(&l->waiting[class_idx], 1);
		__sync_fetch_and_sub(&l->waiting_kind[kind], 1);
	} else if (t->place == PLACE_CPU) {
		__sync_fetch_and_sub(&c->waiting[kind], 1);
		__sync_fetch_and_sub(&c->waiting_class[class_idx], 1);
	} else {
		__sync_fetch_and_sub(&l->kthreads, 1);
	}
	t->place = PLACE_NONE;
}

/* Brings the virtual time into the domain of the queue and inside its bounds. */
static __always_inline void settle_vtime(struct task_ctx *t, u32 llc)
{
	u32 kind = t->kind & KIND_MASK;
	u64 clock = llc_ctx_of(llc)->vclock[kind];

	if (t->dom_kind != kind || t->dom_llc != llc) {
		u64 old = llc_ctx_of(t->dom_llc)->vclock[t->dom_kind & KIND_MASK];

		t->vtime = t->dom_kind ? clock + (t->vtime - old) : clock;
		t->dom_kind = kind;
		t->dom_llc = llc;
	}
	t->vtime = schedd_vtime_clamp(t->vtime, clock, credit_of(t), MAX_LAG_NS);
}

static __always_inline u64 next_slice(struct task_ctx *t)
{
	return t->rest_ns ?: class_slice_ns(t->class_idx);
}

/*
 * Something waits that the allocator could help: it must look.  It sets the word
 * and then looks once more itself, and the count is raised before this is read,
 * so one of the two sees the other.  Whoever clears the word wakes, all others
 * pass by.
 */
static __always_inline void wake_allocator(u32 class_idx)
{
	struct schedd_shared *words = shared_words();
	u64 nothing = 0;
	u32 classes;

	if (!words)
		return;
	classes = words->wake_classes;
	if (classes >> (class_idx & CLASS_MASK) & 1 &&
	    __sync_val_compare_and_swap(&words->wake_classes, classes, 0) == classes)
		bpf_ringbuf_output(&allocator_wakeups, &nothing, sizeof(nothing),
				   BPF_RB_FORCE_WAKEUP);
}

/*
 * Goes before those that only wait for their turn: what was taken off in the middle
 * of a slice, so that a lock holder waits once; and what wakes up with so much credit
 * that it would have preempted that task, had a kernel thread not just done so.
 */
static __always_inline bool goes_to_front(struct task_ctx *t)
{
	u64 clock = llc_ctx_of(t->dom_llc)->vclock[t->dom_kind & KIND_MASK];

	return t->rest_ns || (t->woken_at && traits_of(t->class_idx)->preempts &&
			      schedd_vtime_before(t->vtime + wakeup_gran_ns, clock));
}

static __always_inline void put_in_queue(struct task_struct *p, struct task_ctx *t,
					 struct schedd_cpu_stats *stats, u32 cpu, u64 now,
					 u64 enq_flags)
{
	u32 llc = llc_of(cpu), place = PLACE_CLASS, where = llc;
	u64 dsq, key = key_for_queue(t, llc);

	if (is_pinned(p) || ((u32)p->nr_cpus_allowed < nr_cpus && !covers_llc(p, llc))) {
		place = PLACE_CPU;
		where = cpu;
		class_stats(stats, t->class_idx)->affinity_misses++;
	}
	dsq = place == PLACE_CLASS ? schedd_dsq_id(SCHEDD_DSQ_CLASS, t->class_idx, llc) :
				     schedd_dsq_id(SCHEDD_DSQ_CPU, t->kind, cpu);
	if (goes_to_front(t))
		key -= FRONT_BIAS_NS;
	count_waiting(stats, t, place, where, now);
	wake_allocator(t->class_idx);
	t->granted_ns = next_slice(t);
	kernel_insert_vtime(p, dsq, t->granted_ns, key, enq_flags);
}

/* Key of the first task of a queue; false when it is empty. */
static __noinline bool queue_head(u64 dsq, struct pick *ret_head)
{
	struct task_struct *p;
	bool found = false;

	/* peek is older than this name, but returned stale pointers until both existed. */
	if (bpf_ksym_exists(scx_bpf_dsq_peek) &&
	    bpf_ksym_exists(scx_bpf_dsq_move_to_local___v2___compat)) {
		p = scx_bpf_dsq_peek(dsq);
		if (!p)
			return false;
		ret_head->vtime = p->scx.dsq_vtime;
		ret_head->dsq = dsq;
		return true;
	}
	bpf_for_each(scx_dsq, p, dsq, 0) {
		ret_head->vtime = p->scx.dsq_vtime;
		ret_head->dsq = dsq;
		found = true;
		break;
	}
	return found;
}

/*
 * Candidates live in the context of the CPU, not on the stack: the verifier
 * would follow every combination of values on the stack through the loop.
 */
static __always_inline void pick_offer(struct cpu_ctx *c, u64 dsq)
{
	if (!queue_head(dsq, &c->offer))
		return;
	if (!c->best.dsq || schedd_vtime_before(c->offer.vtime, c->best.vtime))
		c->best = c->offer;
}

/* May the class take one more CPU from its queue in this dispatch? */
static __always_inline bool class_may_run(u32 cpu, struct schedd_cpu_state *state, u32 class_idx,
					  u32 kind)
{
	return (cpu_ctx_of(cpu)->held_class == class_idx + 1 || within_burst(class_idx)) &&
	       may_borrow(cpu, state, class_idx, kind);
}

/* Something waits although nobody lends to it for so long that it would end in a stall. */
static __always_inline bool valve_open(struct llc_ctx *l, u32 kind, u64 now)
{
	return schedd_delta(now, l->waiting_since[kind & KIND_MASK], 60 * NSEC_PER_SEC) >
	       LEND_VALVE_NS;
}

enum pick_flag {
	PICK_FORCED = 1 << 0, /* a floor: burst limits and lending do not count */
	PICK_GUESTS = 1 << 1, /* everybody but the owner of the CPU */
};

/* Offers the class queues of the kind, the owner's alone if it waits and no floor is due. */
static __noinline void offer_classes(u32 cpu, u32 kind, u32 flags)
{
	struct schedd_cpu_state *state = state_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	u32 llc = llc_of(cpu), owner, i;
	struct llc_ctx *l = llc_ctx_of(llc);

	if (!state)
		return;
	owner = owner_of(cpu, state);
	if (!(flags & PICK_FORCED) && owner && class_has_kind(owner - 1, kind) &&
	    l->waiting[(owner - 1) & CLASS_MASK] && class_may_run(cpu, state, owner - 1, kind)) {
		pick_offer(c, schedd_dsq_id(SCHEDD_DSQ_CLASS, owner - 1, llc));
		return;
	}
	bpf_for(i, 0, SCHEDD_MAX_CLASSES) {
		if (!l->waiting[i & CLASS_MASK] || !class_has_kind(i, kind) ||
		    ((flags & PICK_GUESTS) && i + 1 == owner))
			continue;
		if ((flags & PICK_FORCED) || class_may_run(cpu, state, i, kind))
			pick_offer(c, schedd_dsq_id(SCHEDD_DSQ_CLASS, i, llc));
	}
}

/* The queue of this kind that this CPU should serve, in c->best; best.dsq 0 = none. */
static __noinline void pick_queue(u32 cpu, u32 kind, u32 flags)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));

	kind &= KIND_MASK;
	c->best.dsq = 0;
	if (c->waiting[kind])
		pick_offer(c, schedd_dsq_id(SCHEDD_DSQ_CPU, kind, cpu));
	if (!l->waiting_kind[kind])
		return;
	if (lending_restricted && valve_open(l, kind, scx_bpf_now()))
		flags |= PICK_FORCED;
	offer_classes(cpu, kind, flags);
}

/* Any class queue of the kind in this LLC, in any order: the second try, and stealing. */
static __noinline bool take_any_class(u32 cpu, u32 llc, u32 kind, bool forced)
{
	struct schedd_cpu_state *state = state_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc);
	u32 i;

	if (!state || !l->waiting_kind[kind & KIND_MASK])
		return false;
	bpf_for(i, 0, SCHEDD_MAX_CLASSES) {
		if (!l->waiting[i & CLASS_MASK] || !class_has_kind(i, kind) ||
		    (!forced && !class_may_run(cpu, state, i, kind)))
			continue;
		if (kernel_move_to_local(schedd_dsq_id(SCHEDD_DSQ_CLASS, i, llc)))
			return true;
	}
	return false;
}

/* The only queue of the kind that has anything, when that takes no comparison; else 0. */
static __always_inline u64 sole_queue(u32 cpu, u32 kind)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	u32 sole = sole_class[kind & KIND_MASK];

	if (c->waiting[kind & KIND_MASK])
		return l->waiting_kind[kind & KIND_MASK] ? 0 :
							   schedd_dsq_id(SCHEDD_DSQ_CPU, kind, cpu);
	if (!sole || lending_restricted || bursts_limited)
		return 0;
	return schedd_dsq_id(SCHEDD_DSQ_CLASS, sole - 1, llc_of(cpu));
}

enum take_result {
	TAKE_NONE,
	TAKE_MOVED,
	TAKE_PREV,
};

/*
 * Serves one kind.  prev_t is the task that runs now when it could go on and is
 * of this kind: it competes by its key, for it is in no queue.
 */
static __noinline u32 take_kind(u32 cpu, u32 kind, u32 flags, struct task_ctx *prev_t)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	u64 sole;

	if (!kind_waits(c, llc_ctx_of(llc_of(cpu)), kind))
		return TAKE_NONE;
	sole = prev_t && prev_t->kind == kind ? 0 : sole_queue(cpu, kind);
	if (sole && kernel_move_to_local(sole))
		return TAKE_MOVED;
	pick_queue(cpu, kind, flags);
	if (!c->best.dsq)
		return TAKE_NONE;
	if (prev_t && prev_t->kind == kind && !(prev_t->flags & TASK_YIELDED) &&
	    schedd_vtime_before(c->prev_key, c->best.vtime))
		return TAKE_PREV;
	if (kernel_move_to_local(c->best.dsq))
		return TAKE_MOVED;
	/* The head was gone, or may not run here: an empty hand is no reason to idle. */
	if (kernel_move_to_local(schedd_dsq_id(SCHEDD_DSQ_CPU, kind, cpu)) ||
	    take_any_class(cpu, llc_of(cpu), kind, flags & PICK_FORCED))
		return TAKE_MOVED;
	return TAKE_NONE;
}

static __noinline bool take_from_other_llcs(u32 cpu, u32 kind)
{
	u32 home = llc_of(cpu), i;

	bpf_for(i, 1, nr_llcs) {
		u32 llc = home + i < nr_llcs ? home + i : home + i - nr_llcs;

		if (take_any_class(cpu, llc, kind, false))
			return true;
	}
	return false;
}

/* Before idling: tasks that wait at another CPU of this LLC but may also run here. */
static __noinline bool take_from_other_cpus(u32 cpu, u32 llc)
{
	struct llc_ctx *l = llc_ctx_of(llc);
	u32 n = l->nr_cpus, i;
	u32 k;

	bpf_for(k, 0, SCHEDD_KIND_LATENCY_CRITICAL) {
		u32 kind = (SCHEDD_KIND_LATENCY_CRITICAL - k) & KIND_MASK;

		bpf_for(i, 0, n) {
			u32 other = cpu_order[(l->first_cpu + i) & CPU_MASK];

			if (other != cpu && cpu_ctx_of(other)->waiting[kind] &&
			    kernel_move_to_local(schedd_dsq_id(SCHEDD_DSQ_CPU, kind, other)))
				return true;
		}
	}
	return false;
}

/* A kind whose floor is due goes before the higher ones that wait. */
static __noinline u32 take_floor(u32 cpu, u32 kind, u32 prev_kind, struct task_ctx *prev_t, u64 now)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	u32 taken;

	if (!floor_due(c, l, kind, now))
		return TAKE_NONE;
	if (prev_kind <= kind && !higher_waits(cpu, kind))
		return TAKE_NONE;
	taken = take_kind(cpu, kind, PICK_FORCED, prev_t);
	if (taken != TAKE_NONE)
		c->floor_kind = kind;
	return taken;
}

/* Does anybody but the owner wait here with this kind? */
static __always_inline bool guests_wait(struct cpu_ctx *c, struct llc_ctx *l, u32 kind, u32 owner)
{
	u32 class_idx = (owner - 1) & CLASS_MASK, own = 0, own_pinned = 0;

	kind &= KIND_MASK;
	if (class_has_kind(class_idx, kind)) {
		own = l->waiting[class_idx];
		own_pinned = c->waiting_class[class_idx];
	}
	return c->waiting[kind] > own_pinned || l->waiting_kind[kind] > own;
}

/*
 * The owner of a CPU goes before everybody whom it does not outrank anyway: before
 * other classes of its kind, and before higher kinds.  They must not starve, above
 * all not what can run on this CPU alone: a few microseconds inside of a BPF
 * program are enough to be such a task.
 */
static __noinline u32 take_guest(u32 cpu, u32 owner, u32 kind, u64 now)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	u32 taken;

	kind &= KIND_MASK;
	if (kind < conf_of(owner - 1)->kind ||
	    c->guest_debt_ns[kind] < (s64)floor_slice_ns || !guests_wait(c, l, kind, owner) ||
	    !waited_for_floor(c, l, kind, now))
		return TAKE_NONE;
	taken = take_kind(cpu, kind, PICK_FORCED | PICK_GUESTS, NULL);
	if (taken != TAKE_NONE)
		c->floor_kind = kind;
	return taken;
}

/* Would one more CPU leave the owner of this one within its guarantee? */
static __always_inline bool owner_below_guarantee(u32 cpu, u32 owner)
{
	u32 class_idx = (owner - 1) & CLASS_MASK, guarantee = conf_of(class_idx)->guarantee_cpus;

	/* This CPU counts as held by what ran here last. */
	return owner && guarantee &&
	       cpus_held(class_idx) - (cpu_ctx_of(cpu)->held_class == owner) < guarantee;
}

static __always_inline bool owner_waits(u32 cpu, struct schedd_cpu_state *state)
{
	u32 owner = owner_of(cpu, state);

	return owner &&
	       (llc_ctx_of(llc_of(cpu))->waiting[(owner - 1) & CLASS_MASK] ||
		cpu_ctx_of(cpu)->waiting_class[(owner - 1) & CLASS_MASK]) &&
	       owner_below_guarantee(cpu, owner);
}

/*
 * The owner below its guarantee, before any rank.  What it runs already competes
 * by its key: it goes on unless the queue's head is before it.
 */
static __always_inline u32 take_owner(u32 cpu, u32 owner, struct task_ctx *prev_t)
{
	u32 llc = llc_of(cpu);
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	bool prev_is_owner = prev_t && prev_t->class_idx + 1U == owner &&
			     !(prev_t->flags & TASK_YIELDED);

	if (!owner_below_guarantee(cpu, owner))
		return TAKE_NONE;
	c->best.dsq = 0;
	if (llc_ctx_of(llc)->waiting[(owner - 1) & CLASS_MASK])
		pick_offer(c, schedd_dsq_id(SCHEDD_DSQ_CLASS, owner - 1, llc));
	/* Guests of this CPU's queue then compete too; alone they have take_guest(). */
	if (c->waiting_class[(owner - 1) & CLASS_MASK])
		pick_offer(c, schedd_dsq_id(SCHEDD_DSQ_CPU, conf_of(owner - 1)->kind, cpu));
	if (prev_is_owner && (!c->best.dsq || schedd_vtime_before(c->prev_key, c->best.vtime)))
		return TAKE_PREV;
	return c->best.dsq && kernel_move_to_local(c->best.dsq) ? TAKE_MOVED : TAKE_NONE;
}

/* What runs now goes on before its own kind in other LLCs, and before lower ranks. */
static __noinline u32 take_rank(u32 cpu, u32 kind, u32 prev_kind, struct task_ctx *prev_t)
{
	struct schedd_cpu_state *state = state_of(cpu);
	u32 taken = take_kind(cpu, kind, 0, prev_t);

	if (taken != TAKE_NONE || !state)
		return taken;
	if (prev_kind == kind && prev_t && may_borrow(cpu, state, prev_t->class_idx, kind))
		return TAKE_PREV;
	if (nr_llcs > 1 && take_from_other_llcs(cpu, kind))
		return TAKE_MOVED;
	return TAKE_NONE;
}

/*
 * The polling allocator never gives its CPU up by itself.  What can run nowhere
 * else is served before it, everything else stays away.
 */
static __always_inline bool is_poller(struct task_struct *p, u32 cpu)
{
	struct schedd_shared *words = cpu == poll_cpu ? shared_words() : NULL;

	return words && words->poller_tid && (u32)p->pid == words->poller_tid;
}

/* On the CPU itself: the local queue too, where a kernel thread may be behind the poller. */
static __always_inline bool pinned_waits(u32 cpu)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);

	return scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL) > 0 ||
	       c->waiting[SCHEDD_KIND_LATENCY_CRITICAL] || c->waiting[SCHEDD_KIND_NORMAL] ||
	       c->waiting[SCHEDD_KIND_BEST_EFFORT];
}

static __noinline u32 take_beside_poller(u32 cpu)
{
	if (kernel_move_to_local(schedd_dsq_id(SCHEDD_DSQ_CPU, SCHEDD_KIND_LATENCY_CRITICAL, cpu)) ||
	    kernel_move_to_local(schedd_dsq_id(SCHEDD_DSQ_CPU, SCHEDD_KIND_NORMAL, cpu)) ||
	    kernel_move_to_local(schedd_dsq_id(SCHEDD_DSQ_CPU, SCHEDD_KIND_BEST_EFFORT, cpu)))
		return TAKE_MOVED;
	return TAKE_NONE;
}

/* Without the reflex a CPU serves its owner, then what it already serves, before any rank. */
static __noinline u32 take_by_owner(u32 cpu, u32 prev_kind, struct task_ctx *prev_t)
{
	struct schedd_cpu_state *state = state_of(cpu);
	u32 owner = state ? owner_of(cpu, state) : 0, taken = TAKE_NONE;

	if (owner && llc_ctx_of(llc_of(cpu))->waiting[(owner - 1) & CLASS_MASK])
		taken = take_rank(cpu, conf_of(owner - 1)->kind & KIND_MASK, prev_kind, prev_t);
	if (taken == TAKE_NONE && prev_kind)
		taken = take_rank(cpu, prev_kind & KIND_MASK, prev_kind, prev_t);
	return taken;
}

/* Debts first, then the owner's due, then strictly by rank, then the neighbours. */
static __always_inline u32 take_next(u32 cpu, struct schedd_cpu_state *state, u32 prev_kind,
				     struct task_ctx *prev_t, u64 now)
{
	u32 taken = take_floor(cpu, SCHEDD_KIND_NORMAL, prev_kind, prev_t, now);
	u32 owner = owner_of(cpu, state);

	if (taken == TAKE_NONE)
		taken = take_floor(cpu, SCHEDD_KIND_BEST_EFFORT, prev_kind, prev_t, now);
	if (taken == TAKE_NONE && owner && !reflex_off)
		taken = take_guest(cpu, owner, SCHEDD_KIND_LATENCY_CRITICAL, now);
	if (taken == TAKE_NONE && owner && !reflex_off)
		taken = take_guest(cpu, owner, SCHEDD_KIND_NORMAL, now);
	if (taken == TAKE_NONE && owner && !reflex_off)
		taken = take_guest(cpu, owner, SCHEDD_KIND_BEST_EFFORT, now);
	if (taken == TAKE_NONE && owner)
		taken = take_owner(cpu, owner, prev_t);
	if (taken == TAKE_NONE && reflex_off)
		taken = take_by_owner(cpu, prev_kind, prev_t);
	if (taken == TAKE_NONE)
		taken = take_rank(cpu, SCHEDD_KIND_LATENCY_CRITICAL, prev_kind, prev_t);
	if (taken == TAKE_NONE)
		taken = take_rank(cpu, SCHEDD_KIND_NORMAL, prev_kind, prev_t);
	if (taken == TAKE_NONE)
		taken = take_rank(cpu, SCHEDD_KIND_BEST_EFFORT, prev_kind, prev_t);
	if (taken == TAKE_NONE && take_from_other_cpus(cpu, llc_of(cpu)))
		taken = TAKE_MOVED;
	return taken;
}

/* After a task was queued: an idle CPU, or one that runs a lower kind, is told to look. */
static __always_inline void find_a_cpu(struct task_struct *p, struct task_ctx *t, u32 cpu,
				       struct schedd_cpu_state *state)
{
	s32 found;

	if (is_pinned(p)) {
		if (state->rank == SCHEDD_RANK_IDLE)
			scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
		return;
	}
	found = claim_idle(p, cpu, t->class_idx, t->kind);
	if (found >= 0) {
		scx_bpf_kick_cpu(found, SCX_KICK_IDLE);
		return;
	}
	found = pick_victim(p, cpu, t->class_idx, t->kind);
	if (found >= 0)
		scx_bpf_kick_cpu(found, SCX_KICK_PREEMPT);
}

static __noinline s32 create_queues(void)
{
	s32 err;
	u32 i, k;

	bpf_for(i, 0, nr_llcs) {
		err = scx_bpf_create_dsq(schedd_dsq_id(SCHEDD_DSQ_KTHREAD, 0, i), -1);
		if (err)
			return err;
		bpf_for(k, 0, SCHEDD_MAX_CLASSES) {
			err = scx_bpf_create_dsq(schedd_dsq_id(SCHEDD_DSQ_CLASS, k, i), -1);
			if (err)
				return err;
		}
	}
	bpf_for(i, 0, nr_cpus) {
		if (!cpu_topo[i & CPU_MASK].online)
			continue;
		bpf_for(k, SCHEDD_KIND_BEST_EFFORT, SCHEDD_NR_KINDS) {
			err = scx_bpf_create_dsq(schedd_dsq_id(SCHEDD_DSQ_CPU, k, i), -1);
			if (err)
				return err;
		}
	}
	return 0;
}
