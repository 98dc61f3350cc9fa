/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.h - the kernel surface that the scheduler depends on, declared by hand
 *
 * Only the fields, enum values and kfuncs that are used; CO-RE relocates them
 * when the object is loaded, so one object serves every kernel from 6.16 on.
 * What is newer than 6.16 is weak.  Where a kernel has both an old and a new
 * name, the new one is tried first: the old ones are marked for removal.
 */
#ifndef SCHEDD_BPF_KERNEL_H
#define SCHEDD_BPF_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define bool _Bool
#define true 1
#define false 0
#define NULL ((void *)0)

#define ENOMEM 12
#define EINVAL 22

enum bpf_map_type {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_MAP_TYPE_CGRP_STORAGE = 32,
};

#define BPF_F_NO_PREALLOC (1U << 0)
#define BPF_F_MMAPABLE (1U << 10)
#define BPF_LOCAL_STORAGE_GET_F_CREATE (1ULL << 0)
#define BPF_RB_FORCE_WAKEUP (1ULL << 1)

#define MAX_RT_PRIO 100 /* a priority below this is real-time, deadline or stop */
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

#define BPF_F_TIMER_CPU_PIN (1ULL << 1)
#define CLOCK_MONOTONIC 1

struct bpf_timer {
	__u64 opaque[2];
} __attribute__((aligned(8)));

struct bpf_iter_num {
	__u64 opaque[1];
} __attribute__((aligned(8)));

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cpumask {
	unsigned long bits[1];
};

struct kernfs_node {
	u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
	int level;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
	u64 dsq_vtime;
};

struct task_struct {
	unsigned int flags;
	unsigned int on_cpu; /* a byte in newer kernels: only unsigned loads are resized */
	int prio;
	int nr_cpus_allowed;
	const struct cpumask *cpus_ptr;
	unsigned short migration_disabled;
	struct sched_ext_entity scx;
	int pid;
	int tgid;
	struct css_set *cgroups;
	char comm[16];
};

struct scx_init_task_args {
	bool fork;
};

struct scx_exit_task_args {
	bool cancelled;
};

struct scx_cpu_release_args {
	struct task_struct *task;
};

enum scx_exit_kind {
	SCX_EXIT_NONE,
};

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	char *msg;
	char *dump;
};

struct scx_dump_ctx {
	enum scx_exit_kind kind;
};

struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*update_idle)(s32 cpu, bool idle);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*enable)(struct task_struct *p);
	void (*disable)(struct task_struct *p);
	void (*dump_cpu)(struct scx_dump_ctx *ctx, s32 cpu, bool idle);
	void (*dump_task)(struct scx_dump_ctx *ctx, struct task_struct *p);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	u32 dispatch_max_batch;
	u64 flags;
	u32 timeout_ms;
	u32 exit_dump_len;
	u64 hotplug_seq;
	char name[128];
};

#pragma clang attribute pop

/* SCX_TASK_QUEUED of the kernel's enum scx_ent_flags. */
#define SCX_TASK_QUEUED (1U << 0)

enum scx_dsq_id_flags {
	SCX_DSQ_GLOBAL = 0x8000000000000001ULL,
	SCX_DSQ_LOCAL = 0x8000000000000002ULL,
};

#define SCX_SLICE_INF (~0ULL) /* of the kernel's enum scx_public_consts: runs until something else is put first */

enum scx_ops_flags {
	SCX_OPS_KEEP_BUILTIN_IDLE = 1ULL << 0,
	SCX_OPS_ENQ_LAST = 1ULL << 1,
	SCX_OPS_ENQ_EXITING = 1ULL << 2,
	SCX_OPS_ENQ_MIGRATION_DISABLED = 1ULL << 4,
};

/* The values below are only placeholders: each use is relocated to the running kernel's. */
enum scx_enq_flags {
	SCX_ENQ_WAKEUP = 1ULL << 0,
	SCX_ENQ_PREEMPT = 1ULL << 32,
	SCX_ENQ_IMMED = 1ULL << 33,
	SCX_ENQ_REENQ = 1ULL << 40,
};

enum scx_kick_flags {
	SCX_KICK_IDLE = 1ULL << 0,
	SCX_KICK_PREEMPT = 1ULL << 1,
};

enum scx_wake_flags {
	SCX_WAKE_SYNC = 0x10,
};

#define ENQ_WAKEUP bpf_core_enum_value(enum scx_enq_flags, SCX_ENQ_WAKEUP)
#define ENQ_PREEMPT bpf_core_enum_value(enum scx_enq_flags, SCX_ENQ_PREEMPT)
#define ENQ_REENQ bpf_core_enum_value(enum scx_enq_flags, SCX_ENQ_REENQ)
#define ENQ_HAS_IMMED bpf_core_enum_value_exists(enum scx_enq_flags, SCX_ENQ_IMMED)
#define ENQ_IMMED bpf_core_enum_value(enum scx_enq_flags, SCX_ENQ_IMMED)

struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id;
	u64 slice;
	u64 vtime;
	u64 enq_flags;
};

struct bpf_iter_scx_dsq {
	u64 opaque[6];
} __attribute__((aligned(8)));

/* In every kernel from 6.16 on. */
extern s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
extern s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags,
				  bool *is_idle) __ksym;
extern s32 scx_bpf_pick_idle_cpu(const struct cpumask *allowed, u64 flags) __ksym;
extern bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
extern s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
/* Per CPU: registers of what was interrupted, NULL outside of interrupts.  Not on every architecture. */
struct pt_regs {
	unsigned long ip;
} __attribute__((preserve_access_index));
extern struct pt_regs *const __irq_regs __ksym __weak;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
extern u64 scx_bpf_now(void) __ksym;
extern u32 scx_bpf_cpuperf_cap(s32 cpu) __ksym;
extern void scx_bpf_cpuperf_set(s32 cpu, u32 perf) __ksym;
extern void scx_bpf_dump_bstr(char *fmt, unsigned long long *data, u32 data__sz) __ksym;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym;
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
extern bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym;
extern struct cgroup *bpf_cgroup_ancestor(struct cgroup *cgrp, int level) __ksym;
extern void bpf_cgroup_release(struct cgroup *cgrp) __ksym;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;

/* New names; libbpf strips the last ___suffix of an extern, hence the second one. */
extern bool scx_bpf_dsq_insert___v2___compat(struct task_struct *p, u64 dsq_id, u64 slice,
					     u64 enq_flags) __ksym __weak;
extern bool __scx_bpf_dsq_insert_vtime(struct task_struct *p,
				       struct scx_bpf_dsq_insert_vtime_args *args) __ksym __weak;
extern bool scx_bpf_dsq_move_to_local___v2___compat(u64 dsq_id, u64 enq_flags) __ksym __weak;
extern struct task_struct *scx_bpf_dsq_peek(u64 dsq_id) __ksym __weak;

/* Old names of the same. */
extern void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice,
			       u64 enq_flags) __ksym __weak;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime,
				     u64 enq_flags) __ksym __weak;
extern bool scx_bpf_dsq_move_to_local(u64 dsq_id) __ksym __weak;
extern u32 scx_bpf_reenqueue_local(void) __ksym __weak;

static __always_inline void kernel_insert(struct task_struct *p, u64 dsq_id, u64 slice,
					  u64 enq_flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert___v2___compat))
		scx_bpf_dsq_insert___v2___compat(p, dsq_id, slice, enq_flags);
	else
		scx_bpf_dsq_insert(p, dsq_id, slice, enq_flags);
}

static __always_inline void kernel_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice,
						u64 vtime, u64 enq_flags)
{
	if (bpf_ksym_exists(__scx_bpf_dsq_insert_vtime)) {
		struct scx_bpf_dsq_insert_vtime_args args = {
			.dsq_id = dsq_id,
			.slice = slice,
			.vtime = vtime,
			.enq_flags = enq_flags,
		};

		__scx_bpf_dsq_insert_vtime(p, &args);
	} else {
		scx_bpf_dsq_insert_vtime(p, dsq_id, slice, vtime, enq_flags);
	}
}

static __always_inline bool kernel_move_to_local(u64 dsq_id)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move_to_local___v2___compat))
		return scx_bpf_dsq_move_to_local___v2___compat(dsq_id, 0);
	return scx_bpf_dsq_move_to_local(dsq_id);
}

#define SCHEDD_OPS(name, args...) \
	SEC("struct_ops/" #name)  \
	BPF_PROG(schedd_##name, ##args)
#define SCHEDD_OPS_SLEEPABLE(name, args...) \
	SEC("struct_ops.s/" #name)          \
	BPF_PROG(schedd_##name, ##args)

#endif
