/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc.h - (topology, limits, reach, demand, what CPUs do, previous plan) -> plan.  Pure: no clock, file, map or allocation. */
#ifndef SCHEDD_ALLOC_H
#define SCHEDD_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/intf.h"
#include "daemon/alloc_cpus.h"
#include "daemon/demand.h"
#include "daemon/topo.h"

/* Limits of a class.  Changed by the loop; constant during a plan. */
struct alloc_class {
	bool used;
	uint32_t kind;             /* enum schedd_kind */
	uint32_t guarantee_cpus;   /* after scaling, leases included */
	uint32_t burst_cpus;       /* most CPUs it may own; a guarantee above it is unmet */
	uint32_t weight;
	bool exclusive_smt;        /* no other class owns a thread of its cores; its other threads may be in the pool */
	bool lend_never;
	struct alloc_cpus reach;   /* CPUs that cpusets and affinity let it use */
};

struct alloc_limits {
	struct alloc_class classes[SCHEDD_MAX_CLASSES];
	struct alloc_cpus excluded;                /* offline, isolated, the poller's: owned by nobody */
	uint8_t private_owner[SCHEDD_MAX_CPUS];    /* class + 1: exactly one cgroup subtree may use the CPU, it is not exchangeable; 0 = common */
	uint64_t park_ns;          /* a CPU above the guarantee that its owner leaves unused so long goes back to the pool */
	uint64_t dwell_ns;         /* a CPU that changed its owner keeps it at least so long, changed limits and guarantees apart */
	uint32_t step;             /* CPUs that a congested class gains per interval, at least 1 */
	uint64_t generation;       /* of the limits: copied into the result */
};

/* What a plan remembers for the next one.  Zeroed = no plan yet. */
struct alloc_memory {
	struct schedd_plan plan;                   /* the previous plan; nr_cpus 0 = none */
	uint64_t owned_since_ns[SCHEDD_MAX_CPUS];
	uint64_t unused_since_ns[SCHEDD_MAX_CPUS]; /* the owner is not on it since; 0 = it is */
	uint8_t last_owner[SCHEDD_MAX_CPUS];       /* who had it before: caches may still be warm */
	uint32_t guarantee_cpus[SCHEDD_MAX_CLASSES]; /* when it falls, as a lease ends, the CPUs go back at once */
	uint32_t parked_cpus[SCHEDD_MAX_CLASSES];  /* for the policy, of now: unused for park_ns and owned for dwell_ns */
};

struct alloc_input {
	const struct topo *topo;
	const struct alloc_limits *limits;
	const uint8_t *holder;                     /* [nr_possible] class + 1, 0 = idle or not ours */
	const struct demand_class *demand;         /* [SCHEDD_MAX_CLASSES] */
	const struct alloc_policy *policy;
	uint64_t now_ns;
	bool frozen;               /* mode paused: owners stay, limits, guarantees and leases that ended apart */
};

enum alloc_trigger {
	ALLOC_TRIGGER_NONE,
	ALLOC_TRIGGER_LIMITS,      /* guarantee, burst limit, reach, or the CPU itself */
	ALLOC_TRIGGER_CONGESTION,
	ALLOC_TRIGGER_PARK,
	ALLOC_TRIGGER_UTILISATION,
	NR_ALLOC_TRIGGERS,
};
const char *alloc_trigger_name(enum alloc_trigger trigger); /* "congestion", ... */

/* All by class index. */
struct alloc_result {
	bool changed;              /* the plan in memory is new; otherwise nothing is to be applied */
	uint32_t gained[SCHEDD_MAX_CLASSES], lost[SCHEDD_MAX_CLASSES]; /* CPUs */
	enum alloc_trigger trigger[SCHEDD_MAX_CLASSES]; /* of its change: whose CPU went to another class has that one's */
	uint32_t owned[SCHEDD_MAX_CLASSES];
	uint32_t unmet[SCHEDD_MAX_CLASSES];   /* CPUs of the guarantee that reach, burst or the machine make impossible */
	uint64_t limits_generation;
};

/*
 * Policies say how many CPUs each class should own; alloc_plan() keeps them
 * inside guarantee and burst and chooses which ones.  ret_want starts as owned.
 * To want fewer with ALLOC_TRIGGER_PARK gives back only what is parked.
 */
struct alloc_policy {
	const char *name;
	bool by_demand;            /* wants change while somebody is congested or owns more than is guaranteed, not else */
	bool by_time;              /* wants change with time alone */
	void (*want)(const struct alloc_input *in, const struct alloc_memory *m, const uint32_t owned[SCHEDD_MAX_CLASSES],
		     uint32_t ret_want[SCHEDD_MAX_CLASSES], enum alloc_trigger ret_trigger[SCHEDD_MAX_CLASSES]);
};
extern const struct alloc_policy policy_shenango, policy_static, policy_utilisation;
const struct alloc_policy *alloc_policy_find(const char *name); /* NULL: no such policy */

/*
 * Computes the next plan into m->plan (generation + 1 when it changed).  Owner 0
 * is the pool: CPUs that no class is guaranteed or needs; by rank they serve everybody.
 * Guarantees come first, latency-critical ones before others where not all are possible;
 * they yield only so that each class has one CPU in its reach that is not kept from it
 * by lend_never.  A private CPU counts for its class, above the burst limit too.
 */
void alloc_plan(const struct alloc_input *in, struct alloc_memory *m, struct alloc_result *ret);

#endif
