/* SPDX-License-Identifier: GPL-2.0 */
/*
 * policy.bpf.c - the order within a class, and turns shorter than a tick
 *
 * What the policies are is in policy.h.  A queue of a CPU holds all classes of a
 * kind, and heads of queues are compared across classes: so every policy gives
 * keys near the clock of the same domain, and who runs pays in virtual time.  A
 * class in order of arrival does too: its keys only never fall, which is what
 * keeps the order.
 */

static __always_inline const struct schedd_policy_traits *traits_of(u32 class_idx)
{
	return &schedd_policies[conf_of(class_idx)->policy & (SCHEDD_POLICY_ROWS - 1)];
}

static __always_inline u64 class_slice_ns(u32 class_idx)
{
	struct schedd_class_conf *conf = conf_of(class_idx);

	return conf->slice_ns ?: kind_slice_ns[conf->kind & KIND_MASK];
}

static __always_inline u64 wanted_share(struct task_ctx *t)
{
	return schedd_habit_share(t->run_us, t->sleep_us, t->active_ns);
}

/* A task wakes up: how long it slept is known now. */
static __always_inline void note_wakeup(struct task_ctx *t, u64 now)
{
	if (!traits_of(t->class_idx)->request || !t->slept_at)
		return;
	t->sleep_us = schedd_habit_update(t->sleep_us, schedd_delta(now, t->slept_at, MAX_DELTA_NS));
	t->slept_at = 0;
}

/* A task sleeps: how long it ran is known now. */
static __always_inline void note_sleep(struct task_ctx *t, u64 now)
{
	if (traits_of(t->class_idx)->request) {
		t->run_us = schedd_habit_update(t->run_us, t->active_ns);
		t->slept_at = now;
	}
	t->active_ns = 0;
}

static __always_inline u64 request_of(struct task_ctx *t)
{
	return schedd_policy_request(traits_of(t->class_idx), t->run_us, t->active_ns,
				     class_slice_ns(t->class_idx), t->weight);
}

/* Without remembering it: what the task would be queued with if it were. */
static __always_inline u64 key_of(struct task_ctx *t, u32 llc)
{
	u64 last;

	if (!traits_of(t->class_idx)->arrival)
		return t->vtime + request_of(t);
	last = llc_ctx_of(llc)->last_key[t->class_idx & CLASS_MASK];
	return schedd_vtime_before(t->vtime, last) ? last : t->vtime;
}

/* Two CPUs may write the last key at once; then two tasks change places, once. */
static __always_inline u64 key_for_queue(struct task_ctx *t, u32 llc)
{
	u64 key = key_of(t, llc);

	if (traits_of(t->class_idx)->arrival) {
		llc_ctx_of(llc)->last_key[t->class_idx & CLASS_MASK] = key;
		t->vtime = key;
	}
	return key;
}

static __always_inline u64 credit_of(struct task_ctx *t)
{
	const struct schedd_policy_traits *traits = traits_of(t->class_idx);
	u64 slice_ns = class_slice_ns(t->class_idx);

	return traits->habits ? schedd_policy_credit(traits, wanted_share(t), slice_ns) : slice_ns;
}

/* By how much the key must be earlier than that of a running task of the class; 0 = it never is. */
static __always_inline u64 preemption_gran(struct task_ctx *t)
{
	const struct schedd_policy_traits *traits = traits_of(t->class_idx);

	if (!traits->preempts)
		return 0;
	return traits->habits ? schedd_policy_gran(traits, wanted_share(t), wakeup_gran_ns) : wakeup_gran_ns;
}

struct turn_timer {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCHEDD_MAX_CPUS);
	__type(key, u32);
	__type(value, struct turn_timer);
} turn_timers SEC(".maps");

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
 * The kernel ends slices on the tick, a turn may be shorter.  The timer re-arms
 * itself while there is somebody to take turns with, and is never armed per
 * switch: with interrupts off that costs about as much as the switch.
 */
static int turn_timer_fired(void *map, u32 *cpu, struct turn_timer *t)
{
	struct cpu_ctx *c = cpu_ctx_of(*cpu);
	u64 quantum_ns = c->quantum_ns, ran;

	if (c->spared) {
		c->spared = 0;
		scx_bpf_kick_cpu(*cpu, SCX_KICK_PREEMPT);
	}
	if (!quantum_ns || !kind_waits(c, llc_ctx_of(llc_of(*cpu)), c->held_kind)) {
		c->turn_armed = 0;
		return 0;
	}
	ran = schedd_delta(scx_bpf_now(), c->run_begin, MAX_DELTA_NS);
	if (ran + FLOOR_SLACK_NS >= quantum_ns) {
		c->turn_over = 1;
		scx_bpf_kick_cpu(*cpu, SCX_KICK_PREEMPT);
		ran = 0;
	}
	bpf_timer_start(&t->timer, quantum_ns - ran, BPF_F_TIMER_CPU_PIN);
	return 0;
}

/* On the CPU itself. */
static __noinline void arm_timer(u32 cpu, u64 ns)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct turn_timer *t;

	if (!use_timers || c->turn_armed)
		return;
	t = bpf_map_lookup_elem(&turn_timers, &cpu);
	if (!t)
		return;
	c->turn_armed = 1;
	bpf_timer_start(&t->timer, ns, BPF_F_TIMER_CPU_PIN);
}

/* Somebody takes turns with the running task. */
static __always_inline void arm_turn(u32 cpu, struct cpu_ctx *c)
{
	if (c->quantum_ns)
		arm_timer(cpu, c->quantum_ns);
}

static __always_inline void turn_started(u32 cpu, struct cpu_ctx *c, struct llc_ctx *l, struct task_ctx *t)
{
	c->turn_over = 0;
	c->spared = 0;
	c->run_request = request_of(t);
	c->quantum_ns = conf_of(t->class_idx)->quantum_ns;
	if (c->quantum_ns && !c->turn_armed && kind_waits(c, l, t->kind))
		arm_turn(cpu, c);
}

/* Where there is no timer, and before it is armed, a turn ends on the tick. */
static __always_inline bool turn_ends_on_tick(u32 cpu, struct cpu_ctx *c, struct llc_ctx *l, u32 kind, u64 now)
{
	if (!c->quantum_ns || !kind_waits(c, l, kind))
		return false;
	arm_turn(cpu, c);
	if (schedd_delta(now, c->run_begin, MAX_DELTA_NS) < c->quantum_ns)
		return false;
	c->turn_over = 1;
	return true;
}

static __always_inline s32 create_turn_timers(void)
{
	u32 i;

	if (!use_timers)
		return 0;
	bpf_for(i, 0, nr_cpus) {
		struct turn_timer *t = bpf_map_lookup_elem(&turn_timers, &i);
		s32 err;

		if (!t)
			return -EINVAL;
		err = bpf_timer_init(&t->timer, &turn_timers, CLOCK_MONOTONIC);
		if (err)
			return err;
		bpf_timer_set_callback(&t->timer, turn_timer_fired);
	}
	return 0;
}
