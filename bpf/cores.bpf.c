/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cores.bpf.c - who owns and who holds each CPU: reflex, lending, plans
 *
 * The record of a CPU (struct schedd_cpu_state) is exact for whoever holds
 * that CPU's run queue lock, and a hint for everybody else.  Decisions that
 * take a CPU from somebody are made under the lock; the search for a victim
 * before it may be wrong and is then refused.
 */

/* Without a plan, or with a stale one, ownership is what the guarantees alone say. */
static __always_inline u32 owner_of(u32 cpu, struct schedd_cpu_state *state)
{
	struct schedd_shared *words = shared_words();

	if (words && (words->fallback_active || !words->plan_generation))
		return static_owner[cpu & CPU_MASK];
	return state->owner;
}

/* CPUs that the class holds now, one counter per LLC. */
static __always_inline u32 cpus_held(u32 class_idx)
{
	u32 held = 0, i;

	if (nr_llcs == 1)
		return llc_ctx_of(0)->held[class_idx & CLASS_MASK];
	bpf_for(i, 0, nr_llcs)
		held += llc_ctx_of(i)->held[class_idx & CLASS_MASK];
	return held;
}

static __always_inline bool within_burst(u32 class_idx)
{
	u32 burst = conf_of(class_idx)->burst_cpus;

	return burst >= nr_cpus || cpus_held(class_idx) < burst;
}

static __always_inline bool above_guarantee(u32 class_idx)
{
	u32 guarantee = conf_of(class_idx)->guarantee_cpus;

	return !guarantee || cpus_held(class_idx) > guarantee;
}

static __always_inline bool sibling_is_exclusive(u32 cpu, u32 class_idx)
{
	u32 sibling = cpu_topo[cpu & CPU_MASK].sibling;
	struct schedd_cpu_state *state;

	if (sibling == cpu)
		return false;
	state = state_of(sibling);
	return state && state->rank >= SCHEDD_RANK_BEST_EFFORT &&
	       state->rank <= SCHEDD_RANK_LATENCY_CRITICAL && state->class_idx != class_idx &&
	       (conf_of(state->class_idx)->flags & SCHEDD_CLASS_EXCLUSIVE_SMT);
}

/* May this class use the CPU when it is free?  Tasks that can go nowhere else are not asked. */
static __always_inline bool may_borrow(u32 cpu, struct schedd_cpu_state *state, u32 class_idx,
				       u32 kind)
{
	u32 owner;

	if (!lending_restricted)
		return true;
	owner = owner_of(cpu, state);
	if (owner && owner != class_idx + 1 &&
	    (conf_of(owner - 1)->flags & SCHEDD_CLASS_LEND_NEVER))
		return false;
	return kind > SCHEDD_KIND_BEST_EFFORT || !sibling_is_exclusive(cpu, class_idx);
}

/* May the reflex take the CPU from what runs there?  True only if dispatch would agree. */
static __always_inline bool may_preempt(struct schedd_cpu_state *state, u32 kind)
{
	u32 rank = state->rank;

	return !reflex_off && rank > SCHEDD_RANK_IDLE && rank < kind && above_guarantee(state->class_idx);
}

/*
 * A CPU of the class's own, while it holds less than its guarantee: whatever
 * else runs there is a guest, and dispatch serves the owner first.
 */
static __always_inline bool may_reclaim(u32 cpu, struct schedd_cpu_state *state, u32 class_idx)
{
	u32 rank = state->rank, guarantee = conf_of(class_idx)->guarantee_cpus;

	return guarantee && rank > SCHEDD_RANK_IDLE && rank < SCHEDD_RANK_AWAY &&
	       state->class_idx != class_idx && owner_of(cpu, state) == class_idx + 1 &&
	       cpus_held(class_idx) < guarantee;
}

/* In an interrupt the running task is not the one who wakes. */
static __always_inline bool in_interrupt(void)
{
	struct pt_regs **regs;

	if (!bpf_ksym_exists(&__irq_regs))
		return false;
	regs = bpf_this_cpu_ptr(&__irq_regs);
	return *regs != NULL;
}

/*
 * In one class only the policy's key decides, with a margin, so that a service's
 * CPU-bound thread does not make its own request threads wait for a tick.
 */
static __always_inline bool may_preempt_own_class(u32 cpu, struct schedd_cpu_state *state,
						  struct task_ctx *t, u64 now)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	u64 ran, running, gran;

	if (state->class_idx != t->class_idx ||
	    (state->rank != t->kind && !(state->rank == SCHEDD_RANK_AWAY && c->owner_run)))
		return false;
	gran = preemption_gran(t);
	if (!gran)
		return false;
	ran = schedd_delta(now, c->run_start, MAX_DELTA_NS);
	running = c->run_vtime + c->run_request + schedd_vtime_step(ran, c->run_weight);
	if (!schedd_vtime_before(t->vtime + request_of(t) + gran, running))
		return false;
	/*
	 * Whoever wakes several must get to the last of them: ended by the first,
	 * it would wait for that one's whole run before it wakes the second.
	 */
	ran = schedd_delta(now, c->run_begin, MAX_DELTA_NS);
	if (cpu != bpf_get_smp_processor_id() || ran >= wakeup_gran_ns || in_interrupt())
		return true;
	c->spared = 1;
	arm_timer(cpu, wakeup_gran_ns - ran);
	return false;
}

/* The same as waiting_kind, less the classes that hold as many CPUs as they may. */
static __noinline bool kind_waits_within_burst(u32 cpu, u32 kind)
{
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	u32 i;

	bpf_for(i, 0, SCHEDD_MAX_CLASSES) {
		if (l->waiting[i & CLASS_MASK] && class_has_kind(i, kind) && within_burst(i))
			return true;
	}
	return false;
}

/* Does somebody of a kind above wait where this CPU would serve it? */
static __always_inline bool higher_waits(u32 cpu, u32 kind)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));

	if (kind < SCHEDD_KIND_LATENCY_CRITICAL) {
		if (c->waiting[SCHEDD_KIND_LATENCY_CRITICAL])
			return true;
		if (l->waiting_kind[SCHEDD_KIND_LATENCY_CRITICAL] &&
		    (!bursts_limited || kind_waits_within_burst(cpu, SCHEDD_KIND_LATENCY_CRITICAL)))
			return true;
	}
	if (kind < SCHEDD_KIND_NORMAL) {
		if (c->waiting[SCHEDD_KIND_NORMAL])
			return true;
		if (l->waiting_kind[SCHEDD_KIND_NORMAL] &&
		    (!bursts_limited || kind_waits_within_burst(cpu, SCHEDD_KIND_NORMAL)))
			return true;
	}
	return false;
}

/*
 * How good a victim the CPU is: 0 = none, 3 = best-effort and no SMT sibling
 * that works for a latency-critical class.  Best-effort before normal.
 */
static __always_inline u32 victim_score(u32 cpu, u32 kind)
{
	struct schedd_cpu_state *state = state_of(cpu), *other;
	u32 sibling;

	if (!state || cpu == poll_cpu || state->pending || !may_preempt(state, kind))
		return 0;
	if (state->rank != SCHEDD_RANK_BEST_EFFORT)
		return 1;
	sibling = cpu_topo[cpu & CPU_MASK].sibling;
	if (sibling == cpu)
		return 3;
	other = state_of(sibling);
	return other && other->rank == SCHEDD_RANK_LATENCY_CRITICAL ? 2 : 3;
}

/* The counters outlive the records a little, so zero means none, and more means look. */
static __always_inline bool llc_has_victims(struct llc_ctx *l, u32 kind)
{
	return l->held_kind[SCHEDD_KIND_BEST_EFFORT] ||
	       (kind > SCHEDD_KIND_NORMAL && l->held_kind[SCHEDD_KIND_NORMAL]);
}

static __noinline s32 victim_in_llc(struct task_struct *p, u32 llc, u32 kind)
{
	struct llc_ctx *l = llc_ctx_of(llc);
	u32 n = l->nr_cpus, best_score = 0, i;
	s32 best = -1;

	if (!llc_has_victims(l, kind))
		return -1;
	bpf_for(i, 0, n) {
		u32 cpu = cpu_order[(l->first_cpu + i) & CPU_MASK];
		u32 score = victim_score(cpu, kind);

		if (score <= best_score || !bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
			continue;
		best = cpu;
		best_score = score;
		if (score == 3)
			break;
	}
	return best;
}

static __noinline s32 reclaim_in_llc(struct task_struct *p, u32 llc, u32 class_idx)
{
	struct llc_ctx *l = llc_ctx_of(llc);
	u32 n = l->nr_cpus, i;

	bpf_for(i, 0, n) {
		u32 cpu = cpu_order[(l->first_cpu + i) & CPU_MASK];
		struct schedd_cpu_state *state = state_of(cpu);

		if (state && cpu != poll_cpu && !state->pending && may_reclaim(cpu, state, class_idx) &&
		    bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
			return cpu;
	}
	return -1;
}

static __always_inline s32 pick_reclaim(struct task_struct *p, s32 prev_cpu, u32 class_idx)
{
	u32 home = llc_of(prev_cpu), i;
	s32 cpu;

	if (!conf_of(class_idx)->guarantee_cpus)
		return -1;
	cpu = reclaim_in_llc(p, home, class_idx);
	bpf_for(i, 0, nr_llcs) {
		if (cpu >= 0)
			break;
		if (i != home)
			cpu = reclaim_in_llc(p, i, class_idx);
	}
	return cpu;
}

/* A CPU that the reflex may take for p, the LLC of prev_cpu first; -1 if there is none. */
static __always_inline s32 pick_victim(struct task_struct *p, s32 prev_cpu, u32 class_idx,
				       u32 kind)
{
	u32 home = llc_of(prev_cpu), i;
	s32 cpu;

	cpu = pick_reclaim(p, prev_cpu, class_idx);
	if (cpu >= 0)
		return cpu;
	if (kind <= SCHEDD_KIND_BEST_EFFORT || !within_burst(class_idx))
		return -1;
	if (victim_score(prev_cpu, kind) == 3 && bpf_cpumask_test_cpu(prev_cpu, p->cpus_ptr))
		return prev_cpu;
	cpu = victim_in_llc(p, home, kind);
	if (cpu >= 0 || nr_llcs == 1)
		return cpu;
	bpf_for(i, 0, nr_llcs) {
		if (i == home)
			continue;
		cpu = victim_in_llc(p, i, kind);
		if (cpu >= 0)
			return cpu;
	}
	return -1;
}

static __noinline s32 idle_in_llc(struct task_struct *p, u32 llc, u32 class_idx, u32 kind)
{
	struct llc_ctx *l = llc_ctx_of(llc);
	u32 n = l->nr_cpus, i;

	bpf_for(i, 0, n) {
		u32 cpu = cpu_order[(l->first_cpu + i) & CPU_MASK];
		struct schedd_cpu_state *state = state_of(cpu);

		if (!state || state->rank != SCHEDD_RANK_IDLE ||
		    !may_borrow(cpu, state, class_idx, kind) ||
		    !bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
			continue;
		if (scx_bpf_test_and_clear_cpu_idle(cpu))
			return cpu;
	}
	return -1;
}

/* Claims an idle CPU for p, -1 if there is none. */
static __always_inline s32 claim_idle(struct task_struct *p, s32 prev_cpu, u32 class_idx, u32 kind)
{
	u32 home = llc_of(prev_cpu), i;
	s32 cpu;

	if (!lending_restricted)
		return scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	cpu = idle_in_llc(p, home, class_idx, kind);
	bpf_for(i, 0, nr_llcs) {
		if (cpu >= 0)
			break;
		if (i != home)
			cpu = idle_in_llc(p, i, class_idx, kind);
	}
	return cpu;
}

/* Is this CPU the task's own class's, which holds no more than its guarantee? */
static __always_inline bool runs_as_owner(u32 cpu, struct schedd_cpu_state *state,
					  struct task_ctx *t)
{
	u32 guarantee = conf_of(t->class_idx)->guarantee_cpus;

	return guarantee && owner_of(cpu, state) == t->class_idx + 1U &&
	       cpus_held(t->class_idx) <= guarantee;
}

/* Moves the held counters from what the CPU ran before; class 0 = nobody. */
static __always_inline void hold_cpu(u32 cpu, u32 class_plus_1, u32 kind)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct llc_ctx *l = llc_ctx_of(llc_of(cpu));
	u32 before = c->held_class, before_kind = c->held_kind;
	struct schedd_cpu_state *state;

	if (before == class_plus_1 && before_kind == kind)
		return;
	state = state_of(cpu);
	if (state)
		state->holder = class_plus_1;
	if (before) {
		__sync_fetch_and_sub(&l->held[(before - 1) & CLASS_MASK], 1);
		__sync_fetch_and_sub(&l->held_kind[before_kind & KIND_MASK], 1);
	}
	if (class_plus_1) {
		__sync_fetch_and_add(&l->held[(class_plus_1 - 1) & CLASS_MASK], 1);
		__sync_fetch_and_add(&l->held_kind[kind & KIND_MASK], 1);
	}
	c->held_class = class_plus_1;
	c->held_kind = kind;

	/* Best-effort work may have stayed off the sibling of an exclusive class that is now gone. */
	if (before && lending_restricted &&
	    (conf_of(before - 1)->flags & SCHEDD_CLASS_EXCLUSIVE_SMT)) {
		u32 sibling = cpu_topo[cpu & CPU_MASK].sibling;

		if (sibling != cpu && sibling < nr_cpus)
			scx_bpf_kick_cpu(sibling, SCX_KICK_IDLE);
	}
}

/* A class that wants whole cores has started here: best-effort work must leave the sibling. */
static __always_inline void clear_sibling(u32 cpu, u32 class_idx)
{
	u32 sibling = cpu_topo[cpu & CPU_MASK].sibling;
	struct schedd_cpu_state *state;

	if (!lending_restricted || sibling == cpu || sibling >= nr_cpus ||
	    !(conf_of(class_idx)->flags & SCHEDD_CLASS_EXCLUSIVE_SMT))
		return;
	state = state_of(sibling);
	if (state && state->rank == SCHEDD_RANK_BEST_EFFORT && state->class_idx != class_idx)
		scx_bpf_kick_cpu(sibling, SCX_KICK_PREEMPT);
}

/* While user space should be alive and is not, ownership is what the guarantees alone say. */
static __always_inline void judge_alive(struct schedd_cpu_stats *stats)
{
	struct schedd_shared *words = shared_words();
	u64 now;
	bool stale;

	if (!words || !words->alive_max_ns)
		return;
	now = bpf_ktime_get_ns();
	stale = words->need_alive &&
		schedd_delta(now, words->alive_ns, 3600 * NSEC_PER_SEC) > words->alive_max_ns;
	if (stale == !!words->fallback_active)
		return;
	words->fallback_active = stale;
	if (stale)
		stats->alive_lost++;
}

/* Full speed for latency-critical work; else a quarter more than the CPU was busy lately. */
static __always_inline void update_cpuperf(u32 cpu, struct cpu_ctx *c, u64 now, bool busy)
{
	u64 span = schedd_delta(now, c->perf_at, MAX_DELTA_NS);
	u32 target;

	if (!set_cpuperf)
		return;
	if (busy)
		c->busy_ns += schedd_delta(now, c->busy_since, span);
	c->busy_since = now;
	if (span < 10 * NSEC_PER_MSEC)
		return;
	target = c->busy_ns >= span ? 1024 : c->busy_ns * 1024 / span;
	target += target / 4;
	if (target > 1024 || c->held_kind == SCHEDD_KIND_LATENCY_CRITICAL)
		target = 1024;
	if (target < c->perf && target + c->perf / 8 < c->perf)
		target = c->perf - c->perf / 8;
	c->perf_at = now;
	c->busy_ns = 0;
	if (target == c->perf)
		return;
	c->perf = target;
	scx_bpf_cpuperf_set(cpu, target);
}

static __always_inline bool plan_kick(u32 cpu, struct schedd_cpu_state *state, u32 owner)
{
	if (state->rank == SCHEDD_RANK_IDLE)
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
	else if (owner && state->rank != SCHEDD_RANK_AWAY && state->class_idx + 1 != owner)
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
	else
		return false;
	return true;
}

/*
 * Preemptible, so readers may see half of a plan; each word of a record is
 * right on its own, and the generation is told only when all are written.
 */
SEC("syscall")
int schedd_apply_plan(struct schedd_apply_plan_args *args)
{
	struct schedd_shared *words = shared_words();
	u32 zero = 0, kicked = 0, n, i;
	struct schedd_plan *next;

	args->ret_result = -EINVAL;
	args->ret_kicked = 0;
	next = bpf_map_lookup_elem(&plan, &zero);
	if (!next || !words)
		return 0;
	n = next->nr_cpus;
	if (n > nr_cpus || n > SCHEDD_MAX_CPUS)
		return 0;
	bpf_for(i, 0, n) {
		u8 owner = next->owner[i & CPU_MASK];

		if (owner > SCHEDD_MAX_CLASSES || (owner && !class_used(owner - 1)))
			return 0;
	}
	bpf_for(i, 0, n) {
		struct schedd_cpu_state *state = state_of(i);
		u32 owner = next->owner[i & CPU_MASK];

		if (!state || owner > SCHEDD_MAX_CLASSES)
			continue;
		state->owner_generation = next->generation;
		if (state->owner == owner)
			continue;
		state->owner = owner;
		if (attached && cpu_topo[i & CPU_MASK].online && plan_kick(i, state, owner))
			kicked++;
	}
	words->plan_generation = next->generation;
	args->ret_generation = next->generation;
	args->ret_kicked = kicked;
	args->ret_result = 0;
	return 0;
}

/* CPUs sorted by LLC, so that a search walks neighbours first without a mask. */
static __noinline void sort_cpus(void)
{
	u32 llc, cpu;

	/* In memory, not on the stack: the verifier would follow every value of it. */
	sorted_cpus = 0;
	bpf_for(llc, 0, nr_llcs) {
		struct llc_ctx *l = llc_ctx_of(llc);

		l->first_cpu = sorted_cpus;
		bpf_for(cpu, 0, nr_cpus) {
			if (llc_of(cpu) != llc || !cpu_topo[cpu & CPU_MASK].online)
				continue;
			cpu_order[sorted_cpus & CPU_MASK] = cpu;
			sorted_cpus++;
		}
		l->nr_cpus = sorted_cpus - l->first_cpu;
	}
}
