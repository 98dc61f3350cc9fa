/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched.h - the BPF scheduler as the daemon sees it: probe, load, attach, apply, read
 *
 * sched.c is the only includer of the skeleton.  Loop thread only, but for what is said to
 * be the allocator thread's.
 */
#ifndef SCHEDD_SCHED_H
#define SCHEDD_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/intf.h"
#include "daemon/demand.h"
#include "daemon/topo.h"

struct sched;

/* What the kernel offers; nothing is loaded for it. */
struct sched_feature {
	const char *name;      /* "sched_ext", "btf", "dsq_peek", ... */
	const char *detail;    /* what it is for, or what to do without it */
	bool present, required;
};

enum { SCHED_MAX_FEATURES = 24 };

struct sched_probe {
	struct sched_feature features[SCHED_MAX_FEATURES];
	size_t nr_features;
	bool supported;        /* every required one is there */
	char missing[256];     /* one sentence when not */
	char other[64];        /* ops name of another scheduler that is loaded, "" = none */
};
void sched_probe(struct sched_probe *ret_probe);

enum sched_exit_kind {
	SCHED_EXIT_NONE,       /* still attached, or never was */
	SCHED_EXIT_DETACHED,   /* we did it */
	SCHED_EXIT_RESTART,    /* hotplug: attach again at once */
	SCHED_EXIT_SYSRQ,
	SCHED_EXIT_STALL,
	SCHED_EXIT_ERROR,
};

struct sched_exit {
	enum sched_exit_kind kind;
	uint64_t code;
	char reason[128];
	char message[1024];
};

struct sched_options {
	uint64_t timeout_ms;   /* the kernel's watchdog; 0 = 30 s */
	uint64_t alive_max_ns; /* 0 = never judged */
	int poll_cpu;          /* of the polling allocator: nothing else runs there but what must; -1 = none */
	bool reflex_off;       /* for comparisons only: CPUs change hands by the plan alone */
};

/* Opens, sets and loads; attaches nothing.  -EOPNOTSUPP with text when the kernel refuses. */
int sched_load(const struct topo *topo, uint64_t hotplug_seq, const struct sched_options *o, struct sched **ret_sched,
	       char *error, size_t error_size);
void sched_free(struct sched *s); /* detaches first */

/* -EBUSY: another scheduler is loaded, its name in error. */
int sched_attach(struct sched *s, char *error, size_t error_size);
/*
 * Instead of attaching: what schedules this machine is measured into the same
 * counters and records, and nothing is changed.  Another scheduler may be loaded.
 */
int sched_observe(struct sched *s, char *error, size_t error_size);
void sched_detach(struct sched *s); /* ends either */
bool sched_is_attached(const struct sched *s);
bool sched_is_observing(const struct sched *s);
/* Reads the exit record; kind NONE while running. */
void sched_get_exit(const struct sched *s, struct sched_exit *ret_exit);
/* What the kernel wrote down about CPUs and tasks when it removed us; NUL-terminated, valid until sched_free(). */
const char *sched_exit_dump(const struct sched *s);

int sched_set_class(struct sched *s, uint32_t class_idx, const struct schedd_class_conf *conf);
int sched_set_cgroup_class(struct sched *s, int cgroup_fd, uint32_t class_idx);
int sched_apply_plan(struct sched *s, const struct schedd_plan *plan);
int sched_ping(struct sched *s);           /* the round trip of the watchdog rule */
void sched_alive(struct sched *s, uint64_t now_ns, bool need_alive);

/*
 * For the allocator thread, beside the loop: what it reads is mapped memory, without a system call.
 * Of the classes in `used`: counters added up per LLC (ret_counters[llc][class]); of each CPU the class + 1 of what runs there,
 * 0 = idle.
 */
void sched_read_signals(const struct sched *s, uint32_t used,
			struct demand_counters ret_counters[][SCHEDD_MAX_CLASSES], uint8_t *ret_holder);
/* A task of one of these classes (a bit each) that is queued makes the descriptor readable, once; drain makes it unreadable. */
int sched_wake_fd(const struct sched *s);
void sched_set_asleep(struct sched *s, uint32_t wake_classes); /* 0 = awake */
void sched_drain_wakeups(struct sched *s);
/* The calling process is the daemon: its threads go first when they wake up, as kernel threads do. */
int sched_introduce(struct sched *s);
int sched_set_poller(struct sched *s, bool polls); /* by the thread that begins or ends to poll on poll_cpu */

/* Adds up all CPUs. */
void sched_read_stats(const struct sched *s, struct schedd_cpu_stats *ret_sum);
void sched_read_cpu(const struct sched *s, uint32_t cpu, struct schedd_cpu_state *ret_state);

/* Name of the scheduler that is loaded now, ours included; "" = none. */
void sched_read_other(char *ret_name, size_t size);

uint64_t sched_read_hotplug_seq(void);     /* 0 when there is none */
const char *sched_bpf_hash(void);
/* What the verifier went through to accept the object: attaching takes as long as this. */
uint64_t sched_verified_instructions(const struct sched *s);

#endif
