/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_alloc_property.c - what must hold of every plan, on random machines, limits, loads and sequences
 *
 * SEED=N in the environment repeats a run; every failure prints the seed of its machine.
 */
#include "tests/unit/alloc_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 300, STEPS = 12, US = 1000 };

struct run {
	struct machine m;
	struct alloc_memory before;
	uint64_t seed;          /* as it is now */
	uint64_t seed_of_machine;
	unsigned int step;
};

#define must(r, condition) \
	do { \
		if (!(condition)) \
			print_error("# SEED=%llu, step %u, %u CPUs\n", (unsigned long long)(r)->seed_of_machine, \
				    (r)->step, (r)->m.topo.nr_possible); \
		assert_true(condition); \
	} while (0)

/* ---------- random machines ---------- */

static bool one_in(struct run *r, uint32_t n)
{
	return random_below(&r->seed, n) == 0;
}

static void random_reach(struct run *r, struct alloc_class *c)
{
	uint32_t n = r->m.topo.nr_possible, first = random_below(&r->seed, n), length = 1 + random_below(&r->seed, n);

	memset(&c->reach, 0xff, sizeof(c->reach));
	if (!one_in(r, 3))
		return;
	memset(&c->reach, 0, sizeof(c->reach));
	if (one_in(r, 2)) {
		for (uint32_t i = 0; i < length; i++)
			alloc_cpus_add(&c->reach, (first + i) % n);
		return;
	}
	for (uint32_t cpu = 0; cpu < n; cpu++)
		if (one_in(r, 3))
			alloc_cpus_add(&c->reach, cpu);
}

static void random_class(struct run *r, unsigned int i)
{
	struct alloc_class *c = &r->m.limits.classes[i];
	uint32_t n = r->m.topo.nr_possible;

	if (i >= SCHEDD_NR_BUILTIN) {
		c->used = one_in(r, 2);
		c->kind = 1 + random_below(&r->seed, 3);
	}
	c->guarantee_cpus = one_in(r, 3) ? 0 : random_below(&r->seed, n / (one_in(r, 4) ? 1 : 6) + 1);
	c->burst_cpus = one_in(r, 2) ? n : random_below(&r->seed, n + 1);
	if (c->burst_cpus < c->guarantee_cpus && !one_in(r, 10))
		c->burst_cpus = c->guarantee_cpus;
	c->exclusive_smt = one_in(r, 6);
	random_reach(r, c);
}

/* kubelet's static policy and partitions take a private CPU out of everybody else's reach. */
static void random_private(struct run *r)
{
	uint32_t n = r->m.topo.nr_possible, count = one_in(r, 3) ? random_below(&r->seed, n / 4 + 1) : 0;

	memset(r->m.limits.private_owner, 0, sizeof(r->m.limits.private_owner));
	while (count--) {
		uint32_t cpu = random_below(&r->seed, n), class_idx = random_below(&r->seed, SCHEDD_MAX_CLASSES);

		r->m.limits.private_owner[cpu] = (uint8_t)(class_idx + 1);
		for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++)
			if (i != class_idx && !one_in(r, 20))
				alloc_cpus_del(&r->m.limits.classes[i].reach, cpu);
	}
}

static void random_limits(struct run *r, bool lend_never)
{
	memset(&r->m.limits.excluded, 0, sizeof(r->m.limits.excluded));
	for (uint32_t cpu = 0; cpu < r->m.topo.nr_possible; cpu++) {
		r->m.topo.cpus[cpu].online = !one_in(r, 30);
		if (one_in(r, 40) || !r->m.topo.cpus[cpu].online)
			alloc_cpus_add(&r->m.limits.excluded, cpu);
	}
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		random_class(r, i);
		r->m.limits.classes[i].lend_never = lend_never && one_in(r, 3);
	}
	random_private(r);
	r->m.limits.park_ns = random_below(&r->seed, 20) * US;
	r->m.limits.dwell_ns = random_below(&r->seed, 40) * US;
	r->m.limits.step = 1 + random_below(&r->seed, 3);
	r->m.limits.generation++;
}

static void random_machine(struct run *r)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 6, 16, 24, 64, 128, 256 };
	uint32_t nr_cores = sizes[random_below(&r->seed, sizeof(sizes) / sizeof(sizes[0]))];
	uint32_t threads = 1U << random_below(&r->seed, 3);
	uint32_t most_llcs = nr_cores < SCHEDD_MAX_LLCS ? nr_cores : SCHEDD_MAX_LLCS;

	r->seed_of_machine = r->seed;
	r->step = 0;
	machine_build(&r->m, nr_cores, threads, 1 + random_below(&r->seed, most_llcs));
}

static void random_load(struct run *r)
{
	uint32_t nr_llcs = r->m.topo.nr_llcs;

	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		struct demand_class *d = &r->m.demand[i];

		d->congested = one_in(r, 3);
		d->congested_llcs = d->congested && one_in(r, 2) ? 1ULL << random_below(&r->seed, nr_llcs) : 0;
		d->utilisation_mcpu = random_below(&r->seed, r->m.topo.nr_possible * 300);
		d->queued = random_below(&r->seed, 3);
	}
	for (uint32_t cpu = 0; cpu < r->m.topo.nr_possible; cpu++)
		r->m.holder[cpu] = one_in(r, 2) ? r->m.memory.plan.owner[cpu] :
						  (uint8_t)random_below(&r->seed, SCHEDD_MAX_CLASSES + 1);
	r->m.in.now_ns += 5 * US;
}

static void random_policy(struct run *r)
{
	static const struct alloc_policy *const policies[] = { &policy_shenango, &policy_shenango, &policy_static,
							       &policy_utilisation };

	r->m.in.policy = policies[random_below(&r->seed, 4)];
}

/* ---------- what must hold ---------- */

static bool is_usable(const struct run *r, uint32_t cpu)
{
	return r->m.topo.cpus[cpu].online && !alloc_cpus_has(&r->m.limits.excluded, cpu);
}

static uint32_t nr_private(const struct run *r, unsigned int class_idx)
{
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < r->m.topo.nr_possible; cpu++)
		count += is_usable(r, cpu) && r->m.limits.private_owner[cpu] == class_idx + 1;
	return count;
}

static uint32_t wanted(const struct run *r, unsigned int class_idx)
{
	const struct alloc_class *c = &r->m.limits.classes[class_idx];

	if (!c->used)
		return 0;
	return c->guarantee_cpus < c->burst_cpus ? c->guarantee_cpus : c->burst_cpus;
}

static void check_owners(const struct run *r)
{
	const struct alloc_limits *l = &r->m.limits;

	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++) {
		uint8_t owner = r->m.memory.plan.owner[cpu], private_to = l->private_owner[cpu];

		if (cpu >= r->m.topo.nr_possible || !is_usable(r, cpu)) {
			must(r, owner == POOL);
		} else if (private_to) {
			must(r, owner == (l->classes[private_to - 1].used ? private_to : POOL));
		} else if (owner != POOL) {
			must(r, owner <= SCHEDD_MAX_CLASSES && l->classes[owner - 1].used);
			must(r, alloc_cpus_has(&l->classes[owner - 1].reach, cpu));
		}
	}
}

static void check_counts(const struct run *r)
{
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint32_t owned = machine_owned(&r->m, i), burst = r->m.limits.classes[i].burst_cpus;
		uint32_t guarantee = r->m.limits.classes[i].used ? r->m.limits.classes[i].guarantee_cpus : 0;
		uint32_t gained = 0, lost = 0;

		for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++) {
			bool had = r->before.plan.owner[cpu] == i + 1, has = r->m.memory.plan.owner[cpu] == i + 1;

			gained += has && !had;
			lost += had && !has;
		}
		must(r, r->m.result.owned[i] == owned);
		must(r, r->m.result.unmet[i] == (guarantee > owned ? guarantee - owned : 0));
		must(r, r->m.result.gained[i] == gained && r->m.result.lost[i] == lost);
		must(r, (r->m.result.trigger[i] != ALLOC_TRIGGER_NONE) == (gained || lost));
		must(r, owned <= burst || owned == nr_private(r, i));
	}
}

static void check_changed(const struct run *r)
{
	bool differs = r->before.plan.nr_cpus != r->m.memory.plan.nr_cpus ||
		       memcmp(r->before.plan.owner, r->m.memory.plan.owner, sizeof(r->before.plan.owner)) != 0;

	must(r, r->m.result.changed == differs);
	must(r, r->m.memory.plan.generation == r->before.plan.generation + differs);
	must(r, r->m.result.limits_generation == r->m.limits.generation);
	if (!differs)
		must(r, memcmp(&r->before.plan, &r->m.memory.plan, sizeof(r->before.plan)) == 0);
}

/* A CPU that is its own, in the pool, or lent when idle. */
static void check_access(const struct run *r)
{
	const struct alloc_limits *l = &r->m.limits;

	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		bool reaches = false, may_use = false;

		for (uint32_t cpu = 0; l->classes[i].used && cpu < r->m.topo.nr_possible; cpu++) {
			uint8_t owner = r->m.memory.plan.owner[cpu];

			if (!is_usable(r, cpu) || !alloc_cpus_has(&l->classes[i].reach, cpu))
				continue;
			reaches |= !l->private_owner[cpu];
			may_use |= owner == POOL || owner == i + 1 || !l->classes[owner - 1].lend_never;
		}
		must(r, may_use || !reaches);
	}
}

static void check_equal_output(struct run *r)
{
	struct alloc_memory again = r->before;
	struct alloc_result result;

	memset(&result, 0xa5, sizeof(result));
	alloc_plan(&r->m.in, &again, &result);
	must(r, memcmp(&again, &r->m.memory, sizeof(again)) == 0);
	must(r, result.changed == r->m.result.changed);
	must(r, memcmp(result.trigger, r->m.result.trigger, sizeof(result.trigger)) == 0);
}

static void plan(struct run *r)
{
	r->before = r->m.memory;
	machine_plan(&r->m);
	check_owners(r);
	check_counts(r);
	check_changed(r);
	check_access(r);
	check_equal_output(r);
	r->step++;
}

/* Limits are as they were: nobody's guarantee is taken, and owners of less than dwell_ns stay. */
static void check_calm(const struct run *r)
{
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint32_t had = 0, has = machine_owned(&r->m, i), want = wanted(r, i);

		for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++)
			had += r->before.plan.owner[cpu] == i + 1;
		must(r, has >= (had < want ? had : want));
	}
	for (uint32_t cpu = 0; cpu < r->m.topo.nr_possible; cpu++) {
		uint8_t owner = r->before.plan.owner[cpu];

		if (owner != POOL && r->m.memory.plan.owner[cpu] != owner)
			must(r, r->m.in.now_ns - r->before.owned_since_ns[cpu] >= r->m.limits.dwell_ns);
	}
}

static uint32_t count_shared_exclusive(const struct run *r)
{
	uint32_t count = 0;

	for (uint32_t a = 0; a < r->m.topo.nr_possible; a++) {
		uint8_t owner = r->m.memory.plan.owner[a];
		uint32_t cores = r->m.topo.nr_cores;

		if (owner == POOL || !r->m.limits.classes[owner - 1].exclusive_smt)
			continue;
		for (uint32_t b = a % cores; b < r->m.topo.nr_possible; b += cores)
			count += r->m.memory.plan.owner[b] != POOL && r->m.memory.plan.owner[b] != owner;
	}
	return count;
}

static void check_frozen(struct run *r)
{
	r->m.in.frozen = true;
	random_load(r);
	plan(r);
	must(r, !r->m.result.changed);
	r->m.in.frozen = false;
}

static void test_what_must_hold(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	(void)state;
	assert_non_null(r);
	r->seed = random_seed(88172645463325252ULL);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		random_machine(r);
		for (unsigned int change = 0; change < 3; change++) {
			uint32_t shared;

			random_limits(r, false);
			random_policy(r);
			random_load(r);
			plan(r);
			shared = count_shared_exclusive(r);
			for (unsigned int step = 0; step < STEPS; step++) {
				random_load(r);
				plan(r);
				check_calm(r);
				must(r, count_shared_exclusive(r) <= shared);
			}
			check_frozen(r);
		}
	}
	free(r);
}

static void test_what_must_hold_with_lend_never(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	(void)state;
	assert_non_null(r);
	r->seed = random_seed(4101842887655102017ULL);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		random_machine(r);
		for (unsigned int step = 0; step < STEPS; step++) {
			if (step % 4 == 0) {
				random_limits(r, true);
				random_policy(r);
			}
			random_load(r);
			plan(r);
		}
	}
	free(r);
}

/* ---------- guarantees, against another way to find out ---------- */

/* Matches one unit of the class with a CPU, moving others where that helps. */
static bool match(const struct run *r, unsigned int class_idx, uint8_t *matched, bool *seen)
{
	for (uint32_t cpu = 0; cpu < r->m.topo.nr_possible; cpu++) {
		if (seen[cpu] || !is_usable(r, cpu) || r->m.limits.private_owner[cpu] ||
		    !alloc_cpus_has(&r->m.limits.classes[class_idx].reach, cpu))
			continue;
		seen[cpu] = true;
		if (matched[cpu] && !match(r, matched[cpu] - 1U, matched, seen))
			continue;
		matched[cpu] = (uint8_t)(class_idx + 1);
		return true;
	}
	return false;
}

static uint32_t most_possible(const struct run *r)
{
	uint8_t matched[SCHEDD_MAX_CPUS] = {};
	uint32_t sum = 0;

	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint32_t own = nr_private(r, i), want = wanted(r, i);

		sum += own < want ? own : want;
		for (uint32_t unit = own; unit < want; unit++) {
			bool seen[SCHEDD_MAX_CPUS] = {};

			if (!match(r, i, matched, seen))
				break;
			sum++;
		}
	}
	return sum;
}

static void check_guarantees(const struct run *r)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint32_t owned = machine_owned(&r->m, i), want = wanted(r, i);

		sum += owned < want ? owned : want;
	}
	must(r, sum == most_possible(r));
}

static void test_guarantees_are_kept_whenever_possible(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	(void)state;
	assert_non_null(r);
	r->seed = random_seed(2305843009213693951ULL);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		random_machine(r);
		if (r->m.topo.nr_possible > 128)
			continue;
		for (unsigned int step = 0; step < STEPS; step++) {
			if (step % 3 == 0)
				random_limits(r, false);
			random_policy(r);
			random_load(r);
			plan(r);
			check_guarantees(r);
		}
	}
	free(r);
}

/*
 * With policy static and no dwell a plan is final: the next one is the same, whatever
 * CPUs do.  lend_never can forbid one way and leave another open, and which one is tried
 * depends on what CPUs do: there it may take some plans.
 */
static void test_a_static_plan_is_final(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	(void)state;
	assert_non_null(r);
	r->seed = random_seed(6364136223846793005ULL);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		bool lend_never = round % 2;

		random_machine(r);
		for (unsigned int step = 0; step < STEPS; step++) {
			random_limits(r, lend_never);
			r->m.limits.dwell_ns = 0;
			for (unsigned int i = 0; i < (lend_never ? 5 : 1); i++) {
				random_load(r);
				plan(r);
			}
			random_load(r);
			plan(r);
			must(r, !r->m.result.changed);
		}
	}
	free(r);
}

/* From nothing, on a machine of equal cores: at most one broken core per class, and only when its number is odd. */
static void test_whole_cores_from_nothing(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	(void)state;
	assert_non_null(r);
	r->seed = random_seed(1442695040888963407ULL);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint32_t nr_cores = 2 + random_below(&r->seed, 127), left = nr_cores * 2;

		r->seed_of_machine = r->seed;
		machine_build(&r->m, nr_cores, 2, 1 + random_below(&r->seed, 2));
		for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
			machine_class(&r->m, i, 1 + random_below(&r->seed, 3), random_below(&r->seed, left / 2 + 1));
			left -= r->m.limits.classes[i].guarantee_cpus;
		}
		plan(r);
		for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++)
			must(r, machine_broken_cores(&r->m, i) == r->m.limits.classes[i].guarantee_cpus % 2);
	}
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_must_hold),
		cmocka_unit_test(test_what_must_hold_with_lend_never),
		cmocka_unit_test(test_guarantees_are_kept_whenever_possible),
		cmocka_unit_test(test_a_static_plan_is_final),
		cmocka_unit_test(test_whole_cores_from_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
