/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocbench.c - what one alloc_plan() and one demand_update() cost
 *
 * allocbench [-c CPUS] [-k CLASSES] [-n PLANS]
 *
 * A machine of CPUS logical CPUs, two threads a core, 16 CPUs an LLC, and CLASSES
 * classes whose guarantees are half of it.  A line per case:
 *
 *   first       the first plan, from nothing
 *   unchanged   nobody is congested, nothing is parked
 *   churn       every interval a third of the classes is congested, and CPUs fall idle
 *   saturated   all are congested, and nobody has anything to give
 *   exclusive   churn, four classes with exclusive_smt
 *   lend_never  churn, four classes with lend never
 *   utilisation churn, policy utilisation
 *   demand_update  counters of all classes in all LLCs
 *
 * changed is the share of plans that were new, moved the CPUs that changed hands in
 * one (counted where they went and where they came from).  Cgroups do not enter: a
 * plan knows only classes.
 *
 * Measured, 512 CPUs, 16 classes, three runs of 20,000 on an AMD EPYC guest whose two
 * CPUs were busy with other work at the time (load 4.5), gcc 14 -O2, p50 and p99 in us:
 *
 *   unchanged  7.1-9.5  19-32       exclusive    13.7-18.2  37-98
 *   churn     13.8-15.3 37-69       lend_never   14.7-18.8  40-96
 *   saturated  9.3-11.4 23-81       utilisation  43-47     134-178 (80 moves each)
 *   first       100-112             demand_update 4.9-7.5   8-65
 *
 * On two CPUs with three classes a plan takes 1.2, an update 0.7.
 */
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/alloc.h"
#include "tests/bench/sample.h"

struct bench {
	struct topo topo;
	struct alloc_limits limits;
	struct alloc_memory memory;
	struct alloc_input in;
	uint8_t holder[SCHEDD_MAX_CPUS];
	struct demand_class demand[SCHEDD_MAX_CLASSES];
	uint64_t seed;
	long nr_plans, nr_changed, nr_moved;
	uint64_t *samples;
};

static uint32_t below(struct bench *b, uint32_t limit)
{
	b->seed ^= b->seed << 13, b->seed ^= b->seed >> 7, b->seed ^= b->seed << 17;
	return (uint32_t)((b->seed >> 11) % limit);
}

static void build(struct bench *b, uint32_t nr_cpus, uint32_t nr_classes, const struct alloc_policy *policy)
{
	uint32_t nr_cores = (nr_cpus + 1) / 2;

	memset(&b->topo, 0, sizeof(b->topo));
	memset(&b->limits, 0, sizeof(b->limits));
	memset(&b->memory, 0, sizeof(b->memory));
	memset(b->holder, 0, sizeof(b->holder));
	memset(b->demand, 0, sizeof(b->demand));
	b->topo.nr_possible = b->topo.nr_online = nr_cpus;
	b->topo.nr_cores = nr_cores;
	b->topo.nr_llcs = (nr_cores + 7) / 8;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		b->topo.cpus[cpu] = (struct topo_cpu){
			.possible = true,
			.online = true,
			.core = cpu % nr_cores,
			.llc = cpu % nr_cores / 8,
			.node = cpu % nr_cores * 2 / nr_cores,
			.sibling = (cpu + nr_cores) % nr_cpus,
		};
	for (uint32_t i = 0; i < nr_classes; i++) {
		struct alloc_class *c = &b->limits.classes[i];

		*c = (struct alloc_class){
			.used = true,
			.kind = 1 + i % 3,
			.guarantee_cpus = nr_cpus / 2 / nr_classes,
			.burst_cpus = nr_cpus,
			.weight = 100,
		};
		memset(&c->reach, 0xff, sizeof(c->reach));
	}
	b->limits.park_ns = 20000;
	b->limits.dwell_ns = 50000;
	b->limits.step = 1;
	b->in = (struct alloc_input){
		.topo = &b->topo,
		.limits = &b->limits,
		.holder = b->holder,
		.demand = b->demand,
		.policy = policy,
		.now_ns = 1000000000,
	};
	b->nr_changed = b->nr_moved = 0;
}

/* A third is congested; owners are on two thirds of their CPUs, guests and nobody on the rest. */
static void churn(struct bench *b, uint32_t nr_classes)
{
	for (uint32_t i = 0; i < nr_classes; i++) {
		b->demand[i].congested = below(b, 3) == 0;
		b->demand[i].congested_llcs = b->demand[i].congested ? 1ULL << below(b, b->topo.nr_llcs) : 0;
		b->demand[i].utilisation_mcpu = below(b, b->topo.nr_possible * 1500 / nr_classes);
	}
	for (uint32_t k = 0; k < b->topo.nr_possible / 8; k++) {
		uint32_t cpu = below(b, b->topo.nr_possible);

		b->holder[cpu] = below(b, 3) ? b->memory.plan.owner[cpu] : (uint8_t)below(b, nr_classes + 1);
	}
}

static void plan(struct bench *b, long sample)
{
	struct alloc_result result;
	uint64_t begin;

	b->in.now_ns += 5000;
	begin = sample_now_ns();
	alloc_plan(&b->in, &b->memory, &result);
	b->samples[sample] = sample_now_ns() - begin;
	b->nr_changed += result.changed;
	for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++)
		b->nr_moved += result.gained[i] + result.lost[i];
}

static void report(struct bench *b, uint32_t nr_classes, const char *name)
{
	char text[96];

	snprintf(text, sizeof(text), "alloc_plan %s cpus=%u classes=%u changed=%.2f moved=%.1f", name, b->topo.nr_possible,
		 nr_classes, (double)b->nr_changed / (double)b->nr_plans, (double)b->nr_moved / (double)b->nr_plans);
	sample_print(text, b->samples, b->nr_plans);
}

static void run_first(struct bench *b, uint32_t nr_cpus, uint32_t nr_classes)
{
	build(b, nr_cpus, nr_classes, &policy_static);
	for (long i = 0; i < b->nr_plans; i++) {
		memset(&b->memory, 0, sizeof(b->memory));
		plan(b, i);
	}
	report(b, nr_classes, "first");
}

static void run_unchanged(struct bench *b, uint32_t nr_classes)
{
	b->in.policy = &policy_shenango;
	b->nr_changed = b->nr_moved = 0;
	for (long i = 0; i < b->nr_plans; i++)
		plan(b, i);
	report(b, nr_classes, "unchanged");
}

static void run_churn(struct bench *b, uint32_t nr_classes, const char *name)
{
	for (long i = 0; i < b->nr_plans; i++) {
		churn(b, nr_classes);
		plan(b, i);
	}
	report(b, nr_classes, name);
}

static void run_saturated(struct bench *b, uint32_t nr_cpus, uint32_t nr_classes)
{
	build(b, nr_cpus, nr_classes, &policy_shenango);
	for (uint32_t i = 0; i < nr_classes; i++)
		b->demand[i].congested = true;
	for (uint32_t i = 0; i < nr_cpus; i++)
		plan(b, 0);
	b->nr_changed = b->nr_moved = 0;
	for (long i = 0; i < b->nr_plans; i++)
		plan(b, i);
	report(b, nr_classes, "saturated");
}

static void run_demand(struct bench *b, uint32_t nr_classes)
{
	static struct demand_counters counters[SCHEDD_MAX_LLCS][SCHEDD_MAX_CLASSES];
	static struct demand demand;
	struct demand_input in = {
		.now_ns = 1000000000,
		.nr_llcs = b->topo.nr_llcs,
		.used = (1U << nr_classes) - 1,
		.counters = (const struct demand_counters (*)[SCHEDD_MAX_CLASSES])counters,
	};
	char text[96];

	for (long i = 0; i < b->nr_plans; i++) {
		uint64_t begin;

		for (uint32_t llc = 0; llc < in.nr_llcs; llc++)
			for (uint32_t k = 0; k < nr_classes; k++) {
				struct demand_counters *c = &counters[llc][k];
				struct demand_counters *other = &counters[below(b, in.nr_llcs)][k];
				uint32_t came = below(b, 3), left = (uint32_t)(c->enqueued - c->dequeued);

				if (left > 2)
					left = below(b, left);
				c->enqueued += came;
				/* One in 16 leaves by way of another LLC. */
				if (left && below(b, 16) == 0)
					other->dequeued += left;
				else
					c->dequeued += left;
				c->started += left;
				c->queue_delay_ns += left * 3000;
				c->cpu_ns += below(b, 5000);
			}
		in.now_ns += 5000;
		begin = sample_now_ns();
		demand_update(&demand, &in, b->demand);
		b->samples[i] = sample_now_ns() - begin;
	}
	snprintf(text, sizeof(text), "demand_update llcs=%u classes=%u", in.nr_llcs, nr_classes);
	sample_print(text, b->samples, b->nr_plans);
}

int main(int argc, char **argv)
{
	uint32_t nr_cpus = 512, nr_classes = SCHEDD_MAX_CLASSES;
	struct bench *b = calloc(1, sizeof(*b));
	int option;

	if (!b)
		return 1;
	b->seed = 88172645463325252ULL;
	b->nr_plans = 20000;
	while ((option = getopt(argc, argv, "c:k:n:")) != -1) {
		if (option == 'c')
			nr_cpus = (uint32_t)atoi(optarg);
		else if (option == 'k')
			nr_classes = (uint32_t)atoi(optarg);
		else if (option == 'n')
			b->nr_plans = atol(optarg);
		else
			return 2;
	}
	b->samples = b->nr_plans > 0 ? calloc((size_t)b->nr_plans, sizeof(*b->samples)) : NULL;
	if (!b->samples || nr_cpus < 2 || nr_cpus > SCHEDD_MAX_CPUS || nr_cpus % 2 || nr_classes < 1 ||
	    nr_classes > SCHEDD_MAX_CLASSES) {
		fprintf(stderr, "allocbench: -c is even, 2..%d; -k is 1..%d; -n is at least 1\n", SCHEDD_MAX_CPUS,
			SCHEDD_MAX_CLASSES);
		return 2;
	}
	run_first(b, nr_cpus, nr_classes);
	run_unchanged(b, nr_classes);
	build(b, nr_cpus, nr_classes, &policy_shenango);
	run_churn(b, nr_classes, "churn");
	run_saturated(b, nr_cpus, nr_classes);
	build(b, nr_cpus, nr_classes, &policy_shenango);
	for (uint32_t i = 0; i < nr_classes; i += 4)
		b->limits.classes[i].exclusive_smt = true;
	run_churn(b, nr_classes, "exclusive");
	build(b, nr_cpus, nr_classes, &policy_shenango);
	for (uint32_t i = 0; i < nr_classes; i += 4)
		b->limits.classes[i].lend_never = true;
	run_churn(b, nr_classes, "lend_never");
	build(b, nr_cpus, nr_classes, &policy_utilisation);
	run_churn(b, nr_classes, "utilisation");
	run_demand(b, nr_classes);
	free(b->samples);
	free(b);
	return 0;
}
