/* SPDX-License-Identifier: GPL-2.0 */
/*
 * turn.bpf.c - runs that end before the tick: turns of a class with a quantum, a preemption put off
 *
 * The kernel ends slices on the tick.  The timer of a CPU re-arms itself while
 * there is somebody to take turns with, and is never armed per switch: with
 * interrupts off that costs about as much as the switch.
 */

struct turn_timer {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCHEDD_MAX_CPUS);
	__type(key, u32);
	__type(value, struct turn_timer);
} turn_timers SEC(".maps");

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
	c->turn_armed = !bpf_timer_start(&t->timer, quantum_ns - ran, BPF_F_TIMER_CPU_PIN);
	return 0;
}

/* On the CPU itself.  With interrupts off the kernel allocates for it, and may refuse: then the tick is left. */
static __noinline void arm_timer(u32 cpu, u64 ns)
{
	struct cpu_ctx *c = cpu_ctx_of(cpu);
	struct turn_timer *t;

	if (!use_timers || c->turn_armed)
		return;
	t = bpf_map_lookup_elem(&turn_timers, &cpu);
	if (!t)
		return;
	c->turn_armed = !bpf_timer_start(&t->timer, ns, BPF_F_TIMER_CPU_PIN);
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
	if (c->quantum_ns && kind_waits(c, l, t->kind))
		arm_turn(cpu, c);
}

/* Where there is no timer, and before it is armed, the tick does its work. */
static __always_inline bool turn_ends_on_tick(u32 cpu, struct cpu_ctx *c, struct llc_ctx *l, u32 kind, u64 now)
{
	if (c->spared)
		return true;
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
