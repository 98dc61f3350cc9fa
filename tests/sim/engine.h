/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine.h - virtual time: CPUs, requests, best-effort, and a planner that says who owns what
 *
 * The model.  Each service has one FIFO queue, its owned CPUs serve nothing
 * else.  A request that finds no CPU of its own ready waits; an owned CPU without
 * a request is lent to best-effort at once, and called back when requests wait:
 * reclaim_ns later it takes the first of the queue.  A CPU that a plan gives to a
 * service serves nobody for move_ns (5.9 us is what Shenango measured for a
 * reallocation, NSDI'19), then is as any owned CPU.  A request that runs on a CPU
 * that a plan takes away goes back to the front of its queue with what is left of
 * it.  CPUs of the pool and those of others serve best-effort, of which there is
 * always enough.  With the reflex a service whose requests wait also calls CPUs
 * that it does not own, inside reach and burst, and gives them back when nothing
 * waits.
 *
 * A planner is asked at its interval, reads the signals of that instant and is
 * obeyed at that instant.
 *
 * Not modelled: the time a plan takes to compute, and to apply; cache and NUMA
 * distance; an SMT thread is a full CPU and exclusive_smt does not exist; time
 * slices inside a class (a long request keeps its CPU); kernel work; queues per
 * LLC (there is one queue, but requests are counted in turn in the LLCs in which
 * the service owns CPUs, so that the signals look as the daemon sees them).
 * Where the model had to be unfair it is so to best-effort: the whole of
 * reclaim_ns and move_ns is lost to it.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ahead.h"
#include "daemon/alloc.h"
#include "daemon/demand.h"
#include "queue.h"
#include "tests/demo/hist.h"
#include "timers.h"

enum { ENGINE_MAX_SERVICES = 4 };

struct engine;

/* Says who owns what.  Embedded in what it needs to remember. */
struct planner {
	uint64_t interval_ns;
	uint64_t sees_ns;   /* how far ahead it knows arrivals; 0 = a planner of this world */
	/* ret_owner: class index + 1 or 0 per CPU, valid until the next call.  Negative ends the run. */
	int (*plan)(struct planner *p, const struct engine *e, const uint8_t **ret_owner);
};

enum cpu_state {
	CPU_AWAY,     /* not part of the game: a poller's */
	CPU_BATCH,    /* best-effort runs */
	CPU_SERVES,   /* a request runs */
	CPU_CALLED,   /* best-effort is being taken off: requests wait */
	CPU_MOVES,    /* has got another owner */
	CPU_READY,    /* kept idle: only who sees ahead knows that it pays */
};

struct engine_cpu {
	enum cpu_state state;
	uint32_t class_idx;         /* whom SERVES and CALLED are for */
	uint64_t since_ns;
	struct request request;
};

struct engine_service {
	uint32_t class_idx;
	uint32_t burst_cpus;
	struct alloc_cpus reach;
	struct ahead ahead;
	uint32_t nr_announced;      /* of ahead: CPUs were called for them */
	struct queue waiting;
	struct alloc_cpus lent, ready;  /* of its own CPUs */
	uint32_t nr_serving, nr_called, nr_ready, nr_owned;
	uint32_t owned_in[SCHEDD_MAX_LLCS];
	uint64_t llcs;              /* those with owned_in */
	uint32_t last_llc;          /* that counted a request */
	/* What is measured, of requests that arrived after the warm-up. */
	struct hist delay;          /* arrival to first start; at the end, of those that still wait, until then */
	uint64_t delay_sum_ns;
	uint64_t owned_ns, owned_since_ns;
};

/* CPU time of one class in one LLC that is not in the counters yet. */
struct engine_usage {
	uint32_t running;
	uint64_t since_sum_ns;
};

struct engine_costs {
	uint64_t reclaim_ns, move_ns;
	bool reflex;
};

struct engine_totals {
	uint64_t batch_ns, service_ns, moves;
};

struct engine {
	const struct topo *topo;
	struct planner *planner;
	struct engine_costs costs;
	uint64_t now_ns, next_plan_ns, warmup_ns, end_ns;
	bool measuring;
	uint8_t owner[SCHEDD_MAX_CPUS];
	uint8_t holder[SCHEDD_MAX_CPUS];    /* as the daemon reads it: class index + 1 of what runs */
	struct engine_cpu cpus[SCHEDD_MAX_CPUS];
	struct timers timers;
	struct alloc_cpus batch;            /* CPUs on which best-effort runs */
	struct queue batch_waiting;
	struct engine_service services[ENGINE_MAX_SERVICES];
	uint32_t nr_services;
	uint8_t service_of[SCHEDD_MAX_CLASSES];  /* index + 1; 0 = no service */
	struct demand_counters counters[SCHEDD_MAX_LLCS][SCHEDD_MAX_CLASSES];
	struct engine_usage usage[SCHEDD_MAX_LLCS][SCHEDD_MAX_CLASSES];
	uint64_t nr_moves;                  /* CPUs that got another owner */
	struct engine_totals before, measured;
};

/* All CPUs serve best-effort and are owned by nobody.  topo and planner outlive the engine. */
void engine_init(struct engine *e, const struct topo *topo, struct planner *planner, const struct engine_costs *costs);
void engine_fini(struct engine *e);

/* Before the run; the spec outlives the engine.  At most ENGINE_MAX_SERVICES, one per class. */
void engine_add_service(struct engine *e, uint32_t class_idx, const struct alloc_class *limits,
			const struct load_spec *spec, uint64_t seed);

/* Before the run: the CPU is nobody's, best-effort included. */
void engine_take_cpu_away(struct engine *e, uint32_t cpu);

/* 0, or what the planner returned.  Measures from warmup_ns to end_ns. */
int engine_run(struct engine *e, uint64_t warmup_ns, uint64_t end_ns);

/* The counters as the daemon would read them now; rows of LLCs that the machine has. */
void engine_read_counters(const struct engine *e, struct demand_counters (*ret)[SCHEDD_MAX_CLASSES]);

/* NULL: owned by nobody or by best-effort. */
static inline struct engine_service *engine_owner(struct engine *e, uint32_t cpu)
{
	uint8_t owner = e->owner[cpu];

	return owner && e->service_of[owner - 1] ? &e->services[e->service_of[owner - 1] - 1] : NULL;
}

#endif
