/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched.bpf.h - contexts, maps and load-time values that only BPF sees
 */
#ifndef SCHEDD_BPF_SCHED_BPF_H
#define SCHEDD_BPF_SCHED_BPF_H

#include "bpf/kernel.h"
#include "bpf/intf.h"
#include "bpf/policy.h"
#include "bpf/sched_math.h"

#define CPU_MASK (SCHEDD_MAX_CPUS - 1)
#define LLC_MASK (SCHEDD_MAX_LLCS - 1)
#define CLASS_MASK (SCHEDD_MAX_CLASSES - 1)
#define KIND_MASK (SCHEDD_NR_KINDS - 1)

#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL

#define MAX_DELTA_NS NSEC_PER_SEC             /* longest believable time difference */
#define MIN_REST_NS (100 * NSEC_PER_USEC)     /* less than this is not worth resuming */
#define FRONT_BIAS_NS (60 * NSEC_PER_SEC)     /* puts a preempted task before the others */
#define MAX_LAG_NS (100 * NSEC_PER_MSEC)      /* farthest a task falls behind its domain */
#define FLOOR_DEBIT_NS (8 * NSEC_PER_MSEC)    /* a floor run costs at most this in advance */
#define FLOOR_SLACK_NS (20 * NSEC_PER_USEC)   /* a timer that fires so early has fired for this run */
#define SELF_KICK_GAP_NS NSEC_PER_MSEC        /* one correction per CPU and gap: no livelock */
#define LEND_VALVE_NS NSEC_PER_SEC            /* "never lent" gives way to starvation */
#define FLOOR_STREAK_NS (10 * NSEC_PER_MSEC)  /* higher kinds without a pause: saturation */
#define MAX_IDLE_RETRIES 3

enum queue_place {
	PLACE_NONE,
	PLACE_CLASS,   /* queue of the class in LLC where */
	PLACE_CPU,     /* queue of the kind on CPU where */
	PLACE_KTHREAD, /* queue of kernel threads of LLC where */
};

enum task_flag {
	TASK_YIELDED = 1 << 0,
	TASK_FIRST = 1 << 1,   /* a kernel thread whose next run ranks above every class */
	TASK_SYNC = 1 << 2,    /* its waker is about to sleep */
	TASK_CLASSED = 1 << 3, /* class_idx has been looked up */
	TASK_FLOOR = 1 << 4,   /* its next run is a floor run */
};

/* Of a task.  Serialised by the lock of the run queue the task is on. */
struct task_ctx {
	u64 vtime;      /* in the domain dom */
	u64 queued_at;  /* became runnable, or was queued again; 0 = running */
	u64 woken_at;   /* woke up and has not run since; 0 = no */
	u64 waking_at;  /* mode observe: its waker began; serialised by the wake-up itself */
	u64 granted_ns; /* slice of the current run */
	u64 rest_ns;    /* what was left of it when the task was taken off */
	u64 cgroup_id;  /* for which class_idx was found */
	u64 slept_at;   /* 0 = not known */
	u64 active_ns;  /* ran since it woke up */
	u32 run_us;     /* decayed: active_ns at the end of it */
	u32 sleep_us;   /* decayed: the sleep before it */
	u32 weight;
	u16 class_idx;
	u16 where;      /* LLC or CPU of the queue that it was counted in */
	u8 kind;
	u8 flags;
	u8 place;       /* enum queue_place it was counted in */
	u8 queued_class; /* and the class it was counted under */
	u8 queued_kind;
	u8 counted_class; /* class + 1 in nr_runnable, 0 = not counted */
	u8 dom_kind;
	u8 dom_llc;
};

/* A queue and the virtual time of its first task. */
struct pick {
	u64 dsq;
	u64 vtime;
};

/* Of a CPU.  Written with its lock held; others read waiting, held_class. */
struct cpu_ctx {
	u64 run_start;    /* start of what has not been charged yet */
	u64 run_begin;    /* start of the current run */
	u64 run_vtime;    /* virtual time of the running task at run_start */
	u64 run_request;  /* what its key was ahead of that when it started */
	u64 prev_key;     /* of the dispatch that is under way: the key of what ran until now */
	u64 quantum_ns;   /* turn of the running task, 0 = none */
	u32 turn_armed;   /* the timer of turns runs */
	u32 turn_over;    /* the running task has had its turn */
	u32 spared;       /* the running task woke somebody who may preempt it, a little later */
	u32 run_weight;
	u32 first_run;    /* a kernel thread above every class runs */
	u32 floor_kind;   /* kind that dispatch chose because of its floor, 0 = none */
	u32 floor_run;    /* such a choice is running */
	u32 owner_run;    /* the owner runs within its guarantee */
	u32 held_class;   /* class + 1 that held[] counts for this CPU */
	u32 held_kind;
	u32 behind;       /* one task waits in the local queue for the running one to stop */
	u32 idle_retries;
	s64 debt_ns[SCHEDD_NR_KINDS];
	s64 guest_debt_ns[SCHEDD_NR_KINDS]; /* what the owner owes others of its kind, and higher kinds */
	u64 waiting_since[SCHEDD_NR_KINDS];
	u64 kthread_ns;   /* decaying time of kernel threads that went first */
	u64 last_self_kick;
	u64 saturated_since; /* latency-critical work without a pause, floors apart; 0 = no */
	u64 busy_since;
	u64 busy_ns;
	u64 perf_at;
	u32 perf;
	struct pick best;  /* of the dispatch that is under way */
	struct pick offer;
	u32 waiting[SCHEDD_NR_KINDS]; /* in the queues of this CPU; atomic */
	u32 waiting_class[SCHEDD_MAX_CLASSES]; /* the same by class */
} __attribute__((aligned(64)));

/* Of a last-level cache.  Counters are atomic. */
struct llc_ctx {
	u64 vclock[SCHEDD_NR_KINDS]; /* one domain of virtual time per kind */
	u64 waiting_since[SCHEDD_NR_KINDS];
	u64 last_key[SCHEDD_MAX_CLASSES]; /* of classes in order of arrival */
	u32 first_cpu; /* index into cpu_order */
	u32 nr_cpus;
	u32 kthreads __attribute__((aligned(64)));
	u32 waiting_kind[SCHEDD_NR_KINDS];  /* in class queues */
	u32 waiting[SCHEDD_MAX_CLASSES];
	u32 held_kind[SCHEDD_NR_KINDS] __attribute__((aligned(64))); /* CPUs that run it */
	u32 held[SCHEDD_MAX_CLASSES];
} __attribute__((aligned(64)));

/* Set by user space between open and load; the defaults let the object verify on its own. */
const volatile u32 nr_cpus = 1;
const volatile u32 nr_llcs = 1;
const volatile struct schedd_cpu_topo cpu_topo[SCHEDD_MAX_CPUS] = {};
const volatile u64 kind_slice_ns[SCHEDD_NR_KINDS] = {
	[SCHEDD_KIND_BEST_EFFORT] = 20 * NSEC_PER_MSEC,
	[SCHEDD_KIND_NORMAL] = 3 * NSEC_PER_MSEC,
	[SCHEDD_KIND_LATENCY_CRITICAL] = 3 * NSEC_PER_MSEC,
};
const volatile u32 floor_ppm = 50000;
const volatile u64 floor_slice_ns = 500 * NSEC_PER_USEC;
const volatile u64 floor_wait_ns = 2 * NSEC_PER_MSEC;
const volatile u64 kthread_slice_ns = 2 * NSEC_PER_MSEC;
const volatile u64 wakeup_gran_ns = 1 * NSEC_PER_MSEC;
const volatile u32 kthread_share_pct = 50;
const volatile u32 set_cpuperf = 1;
const volatile u32 poll_cpu = SCHEDD_MAX_CPUS; /* of the polling allocator; none by default */
const volatile u32 use_timers = 1; /* 0 where the kernel refuses them: PREEMPT_RT */
const volatile u32 reflex_off = 0; /* for comparisons: CPUs change hands by the plan alone */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCHEDD_MAX_CPUS);
	__type(key, u32);
	__type(value, struct schedd_cpu_stats);
} cpu_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SCHEDD_MAX_CPUS);
	__type(key, u32);
	__type(value, struct schedd_cpu_state);
} cpu_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct schedd_plan);
} plan SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct schedd_shared);
} shared SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct schedd_exit_record);
} exit_record SEC(".maps");

/* Carries nothing but the wake-up of the allocator. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} allocator_wakeups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGRP_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct schedd_cgroup_class);
} cgroup_class SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_ctx);
} task_ctxs SEC(".maps");

/*
 * What set_class told, and what follows from it.  Static keeps a variable out
 * of the skeleton; the flags would be narrowed to a byte by that, and then differ
 * from their BTF.
 */
static struct schedd_class_conf class_conf[SCHEDD_MAX_CLASSES] = {
	[SCHEDD_CLASS_NORMAL] = {
		.kind = SCHEDD_KIND_NORMAL,
		.flags = SCHEDD_CLASS_USED,
		.weight = 100,
		.burst_cpus = SCHEDD_MAX_CPUS,
	},
	[SCHEDD_CLASS_LATENCY_CRITICAL] = {
		.kind = SCHEDD_KIND_LATENCY_CRITICAL,
		.flags = SCHEDD_CLASS_USED,
		.weight = 100,
		.burst_cpus = SCHEDD_MAX_CPUS,
	},
	[SCHEDD_CLASS_BEST_EFFORT] = {
		.kind = SCHEDD_KIND_BEST_EFFORT,
		.flags = SCHEDD_CLASS_USED,
		.weight = 100,
		.burst_cpus = SCHEDD_MAX_CPUS,
	},
};
static u32 kind_classes[SCHEDD_NR_KINDS] = {
	[SCHEDD_KIND_BEST_EFFORT] = 1 << SCHEDD_CLASS_BEST_EFFORT,
	[SCHEDD_KIND_NORMAL] = 1 << SCHEDD_CLASS_NORMAL,
	[SCHEDD_KIND_LATENCY_CRITICAL] = 1 << SCHEDD_CLASS_LATENCY_CRITICAL,
};
static u8 sole_class[SCHEDD_NR_KINDS] = { /* class + 1 when the kind has only one, else 0 */
	[SCHEDD_KIND_BEST_EFFORT] = SCHEDD_CLASS_BEST_EFFORT + 1,
	[SCHEDD_KIND_NORMAL] = SCHEDD_CLASS_NORMAL + 1,
	[SCHEDD_KIND_LATENCY_CRITICAL] = SCHEDD_CLASS_LATENCY_CRITICAL + 1,
};
u32 lending_restricted; /* some class lends never or wants whole cores */
u32 bursts_limited;     /* some class may not hold every CPU */
u32 attached;
static int own_tgid;    /* of the daemon, 0 = not introduced */
u32 sorted_cpus;        /* length of cpu_order */

static struct cpu_ctx cpu_ctxs[SCHEDD_MAX_CPUS];
static struct llc_ctx llc_ctxs[SCHEDD_MAX_LLCS];
static u16 cpu_order[SCHEDD_MAX_CPUS];   /* CPUs sorted by LLC */
static u8 static_owner[SCHEDD_MAX_CPUS]; /* class + 1, used while the alive word is stale */

static __always_inline struct cpu_ctx *cpu_ctx_of(u32 cpu)
{
	return &cpu_ctxs[cpu & CPU_MASK];
}

static __always_inline u32 llc_of(u32 cpu)
{
	return cpu_topo[cpu & CPU_MASK].llc & LLC_MASK;
}

static __always_inline struct llc_ctx *llc_ctx_of(u32 llc)
{
	return &llc_ctxs[llc & LLC_MASK];
}

static __always_inline bool kind_waits(struct cpu_ctx *c, struct llc_ctx *l, u32 kind)
{
	return c->waiting[kind & KIND_MASK] || l->waiting_kind[kind & KIND_MASK];
}

static __always_inline struct schedd_class_conf *conf_of(u32 class_idx)
{
	return &class_conf[class_idx & CLASS_MASK];
}

/* The barrier keeps the mask in place: hoisted out of a loop it is lost on the verifier. */
static __always_inline u64 masked_index(u64 index, u64 mask)
{
	barrier_var(index);
	index &= mask;
	return index;
}

static __always_inline bool class_has_kind(u32 class_idx, u32 kind)
{
	return kind_classes[masked_index(kind, KIND_MASK)] >> (class_idx & CLASS_MASK) & 1;
}

static __always_inline struct schedd_cpu_state *state_of(u32 cpu)
{
	return bpf_map_lookup_elem(&cpu_state, &cpu);
}

static __always_inline struct schedd_cpu_stats *stats_of(u32 cpu)
{
	return bpf_map_lookup_elem(&cpu_stats, &cpu);
}

static __always_inline struct schedd_shared *shared_words(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&shared, &zero);
}

static __always_inline struct task_ctx *task_ctx_of(struct task_struct *p)
{
	return bpf_task_storage_get(&task_ctxs, p, NULL, 0);
}

#endif
