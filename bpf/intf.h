/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intf.h - the contract between the BPF scheduler and user space
 *
 * Only plain fixed-width types: the same bytes are read by the BPF object, by
 * the daemon and by tests.  Every block says who writes it; the other side
 * only reads.  A change of any layout here must raise SCHEDD_INTF_VERSION, so
 * that a daemon never adopts maps that an older object wrote.
 */
#ifndef SCHEDD_BPF_INTF_H
#define SCHEDD_BPF_INTF_H

#ifndef __bpf__
#include <stdint.h>
typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;
typedef int64_t s64;
typedef int32_t s32;
#endif

#define SCHEDD_INTF_VERSION 3

/* Limits.  A class index is 0..15, a CPU number 0..1023, an LLC index 0..63. */
#define SCHEDD_MAX_CLASSES 16
#define SCHEDD_MAX_CPUS 1024
#define SCHEDD_MAX_LLCS 64

/* Index of the three built-in classes.  normal is 0, so that zeroed memory means normal. */
enum schedd_builtin {
	SCHEDD_CLASS_NORMAL = 0,
	SCHEDD_CLASS_LATENCY_CRITICAL = 1,
	SCHEDD_CLASS_BEST_EFFORT = 2,
	SCHEDD_NR_BUILTIN = 3,
};

/* Kinds in rising rank; the numbers are those of SchedClass.Kind in scheduler.proto. */
enum schedd_kind {
	SCHEDD_KIND_NONE = 0,
	SCHEDD_KIND_BEST_EFFORT = 1,
	SCHEDD_KIND_NORMAL = 2,
	SCHEDD_KIND_LATENCY_CRITICAL = 3,
	SCHEDD_NR_KINDS = 4,
};

enum schedd_class_flag {
	SCHEDD_CLASS_USED = 1 << 0,          /* the slot holds a class */
	SCHEDD_CLASS_LEND_NEVER = 1 << 1,    /* its idle CPUs are lent to nobody */
	SCHEDD_CLASS_EXCLUSIVE_SMT = 1 << 2, /* best-effort leaves the sibling of its threads */
};

/* The order of tasks within a class.  vtime is 0, so that zeroed memory means vtime. */
enum schedd_policy {
	SCHEDD_POLICY_VTIME = 0,
	SCHEDD_POLICY_FIFO = 1,
	SCHEDD_POLICY_ROUND_ROBIN = 2,
	SCHEDD_POLICY_DEADLINE = 3,
	SCHEDD_POLICY_INTERACTIVE = 4,
	SCHEDD_NR_POLICIES = 5,
};

/* What BPF knows of a class.  Writer: user space, through the program set_class. */
struct schedd_class_conf {
	u32 kind;           /* enum schedd_kind */
	u32 flags;          /* enum schedd_class_flag */
	u64 slice_ns;       /* 0: the default of the kind */
	u64 quantum_ns;     /* 0, or the turn of a task while others of its kind wait: 100 us to 1 s */
	u32 weight;         /* 1..10000, 100 is the default */
	u32 guarantee_cpus; /* effective, after scaling */
	u32 burst_cpus;     /* most CPUs the class may hold at once */
	u32 policy;         /* enum schedd_policy */
};

/*
 * Wake-up latency histogram: bucket 0 counts up to 2^10 ns, bucket i up to
 * 2^(10+i) ns, bucket 20 up to 2^30 ns, bucket 21 everything above.  Not
 * cumulative: the exposition adds them up.
 */
#define SCHEDD_LAT_FIRST_SHIFT 10
#define SCHEDD_LAT_BUCKETS 22

/*
 * Per CPU and class, cumulative since the object was loaded.  Writer: BPF, on
 * that CPU.  The first line is what the allocator reads every interval.
 */
struct schedd_class_stats {
	u64 enqueued;         /* put into a queue; less dequeued, over all CPUs: waiting now */
	u64 dequeued;         /* left a queue, here or from another CPU's queue */
	u64 started;          /* starts after a wait of any length */
	u64 queue_delay_ns;   /* their sum: from runnable to running, every kind of start */
	u64 cpu_ns;           /* ran on this CPU */
	u64 wakeups;          /* samples in the histogram */
	u64 wakeup_ns;        /* their sum: from runnable to running after a wake-up */
	s64 nr_runnable;      /* add over all CPUs: queued or running now */
	u64 borrowed_ns;      /* part of cpu_ns while another class owned the CPU */
	u64 lent_ns;          /* others ran here while this class owned the CPU */
	u64 wakeup_hist[SCHEDD_LAT_BUCKETS];
	u64 preemptions;      /* took this CPU by the reflex */
	u64 preempted;        /* lost this CPU to the reflex */
	u64 floor_served;     /* floor slices */
	u64 affinity_misses;  /* could not use the class queue: affinity or pinning */
	u64 dispatch_direct;  /* started through the local queue at wake-up */
	u64 dispatch_class;   /* taken from a class queue */
	u64 dispatch_percpu;  /* taken from a per-CPU queue */
	u64 dispatch_kept;    /* went on running at the end of a slice */
};

/* One value of the mmapable array map "cpu_stats".  Writer: BPF, on that CPU. */
struct schedd_cpu_stats {
	struct schedd_class_stats class[SCHEDD_MAX_CLASSES];
	u64 reflex_lost;      /* a victim was refused under its lock */
	u64 tick_rescues;     /* a lower rank ran while a higher one waited; must stay near 0 */
	u64 class_misses;     /* no class storage found for a task's cgroup */
	u64 kthread_direct;   /* kernel threads and the daemon's own put first */
	u64 kthread_demoted;  /* kernel threads above their share, ranked with normal */
	u64 alive_lost;       /* times the alive word was found stale */
	u64 task_misses;      /* mode observe: no memory for the record of a task */
	u64 spare[1];
};

enum schedd_rank {        /* what runs on a CPU, rising */
	SCHEDD_RANK_IDLE = 0,
	SCHEDD_RANK_BEST_EFFORT = 1,
	SCHEDD_RANK_NORMAL = 2,
	SCHEDD_RANK_LATENCY_CRITICAL = 3,
	SCHEDD_RANK_AWAY = 4, /* kernel thread, real-time task, floor run, unknown */
};

/*
 * The record of a CPU: one cache line, value of the mmapable array map
 * "cpu_state".  Writer: BPF with that CPU's rq lock held, except owner (apply_plan).
 */
struct schedd_cpu_state {
	u32 rank;             /* enum schedd_rank */
	u32 class_idx;        /* of the running task, valid for rank 1..3 */
	u32 pending;          /* a reflex insert is on its way to this CPU */
	u32 owner;            /* class index + 1, 0 = nobody */
	u64 owner_generation; /* plan generation that set owner */
	u64 run_seq;          /* counts task starts */
	u32 holder;           /* class index + 1 of the last task that started, whatever its rank; 0 = idle */
	u32 pad;
	u64 spare[3];
} __attribute__((aligned(64)));

/* The plan, value 0 of the mmapable array map "plan".  Writer: user space, then the program apply_plan. */
struct schedd_plan {
	u64 generation;
	u32 nr_cpus;
	u32 pad;
	u8 owner[SCHEDD_MAX_CPUS];  /* class index + 1, 0 = nobody */
};

/*
 * Topology of a CPU, values of the array "cpu_topo" in .rodata, set between
 * open and load.  hotplug_seq is read before the topology, so a change in
 * between makes the kernel ask for a restart instead of going unnoticed.
 */
struct schedd_cpu_topo {
	u16 llc;              /* dense LLC index, below SCHEDD_MAX_LLCS */
	u16 sibling;          /* the SMT sibling, or the CPU itself */
	u16 online;           /* 1 when online at load */
	u16 pad;
};

/* SEC("syscall") programs get one of these as their context; result is 0 or -errno. */
struct schedd_set_class_args {
	u32 class_idx;
	s32 ret_result;
	struct schedd_class_conf conf;
};

struct schedd_apply_plan_args {
	u64 ret_generation;
	s32 ret_result;
	u32 ret_kicked;       /* CPUs that were interrupted */
};

/* The round trip: BPF answers with its view, proving that it runs. */
struct schedd_ping_args {
	u64 cookie;
	u64 ret_cookie;       /* cookie + 1 */
	u64 ret_now_ns;       /* scx_bpf_now() / monotonic */
	u64 ret_plan_generation;
	u32 ret_intf_version;
	u32 pad;
};

/*
 * The caller is the daemon, and with polls the thread that polls.  BPF looks at
 * the caller itself: in a container's pid namespace user space knows other numbers.
 */
struct schedd_introduce_args {
	u32 polls;
	s32 ret_result;
};

/*
 * Words both sides share, value 0 of the mmapable array map "shared".
 * alive_ns: writer user space, CLOCK_MONOTONIC of the last sign of life; BPF
 * falls back to a static split by guarantee when it is older than alive_max_ns
 * while need_alive is 1.
 */
struct schedd_shared {
	u64 alive_ns;
	u64 alive_max_ns;     /* writer: user space; 0 = never judged */
	u32 need_alive;       /* writer: user space; 1 while the allocator's timer should run */
	u32 fallback_active;  /* writer: BPF; 1 while the alive word is stale */
	u64 plan_generation;  /* writer: BPF, last applied */
	u32 wake_classes;     /* the allocator sleeps until a task of these is queued, a bit each; who queues it clears and wakes */
	u32 poller_tid;       /* writer: BPF, at schedd_introduce; the allocator thread while it polls, 0 = none */
	u64 spare[2];
};

/*
 * Why the scheduler ended, value 0 of the mmapable array map "exit_record".
 * Writer: BPF, in ops.exit.  kind is the kernel's enum scx_exit_kind; 0 means
 * that it has not ended.
 */
#define SCHEDD_EXIT_REASON_LEN 128
#define SCHEDD_EXIT_MSG_LEN 1024
#define SCHEDD_EXIT_DUMP_LEN 32768 /* the kernel's own default for ops.exit_dump_len */
struct schedd_exit_record {
	u32 kind;
	u32 pad;
	s64 exit_code;
	char reason[SCHEDD_EXIT_REASON_LEN];
	char msg[SCHEDD_EXIT_MSG_LEN];
	char dump[SCHEDD_EXIT_DUMP_LEN]; /* what every CPU and waiting task was at, after an error */
};

/* Value of the cgroup storage map "cgroup_class". */
struct schedd_cgroup_class {
	u32 class_idx;
	u32 pad;
};


#ifndef __bpf__
_Static_assert(sizeof(struct schedd_cpu_state) == 64, "one cache line per CPU");
_Static_assert(sizeof(struct schedd_cpu_stats) % 64 == 0, "no false sharing between CPUs");
#endif

#endif
