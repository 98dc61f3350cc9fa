/* SPDX-License-Identifier: GPL-2.0 */
/*
 * class.bpf.c - which class a task is in
 *
 * The class belongs to the cgroup on the default hierarchy and is looked up
 * where it is needed, so a move of a process needs no detection: not every
 * move is reported for every thread, and a fork sees the root cgroup first.
 */

static __always_inline bool class_used(u32 class_idx)
{
	return class_idx < SCHEDD_MAX_CLASSES &&
	       (conf_of(class_idx)->flags & SCHEDD_CLASS_USED);
}

/*
 * The slow way: no storage on this cgroup.  It was made before the object was
 * loaded, or an older kernel refused the lookup while this CPU was inside
 * another storage operation, so a miss proves nothing about the class.
 */
static __noinline u32 class_from_ancestors(struct cgroup *cgrp, struct schedd_cpu_stats *stats)
{
	int level = cgrp->level, i;

	bpf_for(i, 1, 64) {
		struct schedd_cgroup_class *found;
		struct cgroup *ancestor;
		u32 class_idx;

		if (i > level)
			break;
		ancestor = bpf_cgroup_ancestor(cgrp, level - i);
		if (!ancestor)
			break;
		found = bpf_cgrp_storage_get(&cgroup_class, ancestor, NULL, 0);
		class_idx = found ? found->class_idx : SCHEDD_MAX_CLASSES;
		bpf_cgroup_release(ancestor);
		if (class_used(class_idx))
			return class_idx;
	}
	if (level && stats)
		stats->class_misses++;
	return SCHEDD_CLASS_NORMAL;
}

static __always_inline u32 class_lookup(struct task_struct *p, struct task_ctx *t,
					struct schedd_cpu_stats *stats)
{
	struct schedd_cgroup_class *found;
	struct cgroup *cgrp;
	u64 id;

	/* An exiting task has already left its cgroup for the root. */
	if ((p->flags & PF_EXITING) && (t->flags & TASK_CLASSED))
		return t->class_idx;

	cgrp = p->cgroups->dfl_cgrp;
	found = bpf_cgrp_storage_get(&cgroup_class, cgrp, NULL, 0);
	if (found) {
		u32 class_idx = found->class_idx;

		return class_used(class_idx) ? class_idx : SCHEDD_CLASS_NORMAL;
	}

	id = cgrp->kn->id;
	if (!(t->flags & TASK_CLASSED) || t->cgroup_id != id) {
		t->cgroup_id = id;
		return class_from_ancestors(cgrp, stats);
	}
	return class_used(t->class_idx) ? t->class_idx : SCHEDD_CLASS_NORMAL;
}

static __always_inline void class_refresh(struct task_struct *p, struct task_ctx *t,
					  struct schedd_cpu_stats *stats)
{
	u32 class_idx = class_lookup(p, t, stats);
	struct schedd_class_conf *conf = conf_of(class_idx);

	t->class_idx = class_idx;
	t->kind = conf->kind & KIND_MASK;
	t->weight = schedd_weight(traits_of(class_idx)->arrival ? 100 : p->scx.weight, conf->weight);
	t->flags |= TASK_CLASSED;
}

/*
 * A new cgroup has its parent's class before any task can enter it.  Optional:
 * without it the walk over the ancestors gives the same answer, only dearer.
 */
SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(schedd_cgroup_mkdir, struct cgroup *cgrp, const char *path)
{
	struct schedd_cgroup_class inherited = {}, *found;
	struct cgroup *parent;

	if (cgrp->root->hierarchy_id || !cgrp->level)
		return 0;
	parent = bpf_cgroup_ancestor(cgrp, cgrp->level - 1);
	if (!parent)
		return 0;
	found = bpf_cgrp_storage_get(&cgroup_class, parent, NULL, 0);
	if (found)
		inherited = *found;
	bpf_cgroup_release(parent);
	if (found)
		bpf_cgrp_storage_get(&cgroup_class, cgrp, &inherited,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

static __always_inline int class_conf_check(const struct schedd_class_conf *conf)
{
	if (conf->kind < SCHEDD_KIND_BEST_EFFORT || conf->kind > SCHEDD_KIND_LATENCY_CRITICAL)
		return -EINVAL;
	if (conf->weight < 1 || conf->weight > 10000)
		return -EINVAL;
	if (conf->slice_ns > NSEC_PER_SEC || (conf->slice_ns && conf->slice_ns < MIN_REST_NS))
		return -EINVAL;
	if (conf->policy >= SCHEDD_NR_POLICIES ||
	    (conf->quantum_ns && (conf->quantum_ns < MIN_REST_NS || conf->quantum_ns > NSEC_PER_SEC)))
		return -EINVAL;
	if (conf->guarantee_cpus > SCHEDD_MAX_CPUS || conf->burst_cpus > SCHEDD_MAX_CPUS)
		return -EINVAL;
	return 0;
}

/* What follows from all classes together; readers may see it half done, which costs one wrong pick. */
static __noinline void class_derive(void)
{
	u32 masks[SCHEDD_NR_KINDS] = {};
	u32 restricted = 0, limited = 0, next = 0, i;

	bpf_for(i, 0, SCHEDD_MAX_CLASSES) {
		struct schedd_class_conf *conf = conf_of(i);

		if (!(conf->flags & SCHEDD_CLASS_USED))
			continue;
		masks[conf->kind & KIND_MASK] |= 1U << i;
		if (conf->flags & (SCHEDD_CLASS_LEND_NEVER | SCHEDD_CLASS_EXCLUSIVE_SMT))
			restricted = 1;
		if (conf->burst_cpus < nr_cpus)
			limited = 1;
	}
	bpf_for(i, 0, SCHEDD_NR_KINDS) {
		u32 mask = masks[i & KIND_MASK];

		kind_classes[i & KIND_MASK] = mask;
		sole_class[i & KIND_MASK] = mask && !(mask & (mask - 1)) ? schedd_log2(mask) + 1 : 0;
	}
	lending_restricted = restricted;
	bursts_limited = limited;

	bpf_for(i, 0, SCHEDD_MAX_CLASSES) {
		u32 n = conf_of(i)->flags & SCHEDD_CLASS_USED ? conf_of(i)->guarantee_cpus : 0, k;

		bpf_for(k, 0, SCHEDD_MAX_CPUS) {
			if (k >= n || next >= nr_cpus || next >= SCHEDD_MAX_CPUS)
				break;
			static_owner[cpu_order[next & CPU_MASK] & CPU_MASK] = i + 1;
			next++;
		}
	}
	bpf_for(i, 0, SCHEDD_MAX_CPUS) {
		if (next >= nr_cpus || next >= SCHEDD_MAX_CPUS)
			break;
		static_owner[cpu_order[next & CPU_MASK] & CPU_MASK] = 0;
		next++;
	}
}

SEC("syscall")
int schedd_set_class(struct schedd_set_class_args *args)
{
	u32 class_idx = args->class_idx;
	struct schedd_class_conf conf = args->conf;

	args->ret_result = -EINVAL;
	if (class_idx >= SCHEDD_MAX_CLASSES)
		return 0;
	if (conf.flags & SCHEDD_CLASS_USED) {
		args->ret_result = class_conf_check(&conf);
		if (args->ret_result)
			return 0;
	} else if (class_idx < SCHEDD_NR_BUILTIN) {
		return 0;
	} else {
		/* Tasks that still carry the index find normal's values, never garbage. */
		conf = *conf_of(SCHEDD_CLASS_NORMAL);
		conf.flags &= ~SCHEDD_CLASS_USED;
	}
	*conf_of(class_idx) = conf;
	class_derive();
	args->ret_result = 0;
	return 0;
}
