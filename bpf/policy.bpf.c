/* SPDX-License-Identifier: GPL-2.0 */
/*
 * policy.bpf.c - the order within a class
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
