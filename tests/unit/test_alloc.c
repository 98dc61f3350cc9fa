/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_alloc.c - the static split: worked examples, and what must hold on random machines */
#include "daemon/alloc.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { LC = SCHEDD_CLASS_LATENCY_CRITICAL, BE = SCHEDD_CLASS_BEST_EFFORT, NORMAL = SCHEDD_CLASS_NORMAL, WEB = 3 };

struct machine {
	struct topo topo;
	struct alloc_input in;
	struct schedd_plan plan;
	bool changed;
};

/* Threads of a core are nr_cores apart, as Intel numbers them; LLCs hold equal runs of cores. */
static void machine_build(struct machine *m, uint32_t nr_cores, uint32_t threads, uint32_t nr_llcs)
{
	memset(m, 0, sizeof(*m));
	m->topo.nr_possible = m->topo.nr_online = nr_cores * threads;
	m->topo.nr_cores = nr_cores;
	m->topo.nr_llcs = nr_llcs;
	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++)
		m->topo.cpus[cpu] = (struct topo_cpu){
			.possible = true,
			.online = true,
			.core = cpu % nr_cores,
			.llc = cpu % nr_cores * nr_llcs / nr_cores,
			.sibling = (cpu + nr_cores) % m->topo.nr_possible,
		};
	m->in.topo = &m->topo;
	m->in.classes[NORMAL] = (struct alloc_class){ .used = true, .kind = SCHEDD_KIND_NORMAL };
	m->in.classes[LC] = (struct alloc_class){ .used = true, .kind = SCHEDD_KIND_LATENCY_CRITICAL };
	m->in.classes[BE] = (struct alloc_class){ .used = true, .kind = SCHEDD_KIND_BEST_EFFORT };
}

static struct machine *machine_new(uint32_t nr_cores, uint32_t threads, uint32_t nr_llcs)
{
	struct machine *m = malloc(sizeof(*m));

	machine_build(m, nr_cores, threads, nr_llcs);
	return m;
}

static void machine_plan(struct machine *m)
{
	alloc_plan(&m->in, &m->plan, &m->changed);
}

/* The plan of now becomes the previous one. */
static void machine_replan(struct machine *m)
{
	struct schedd_plan previous = m->plan;

	m->in.previous = &previous;
	machine_plan(m);
	m->in.previous = NULL;
}

static uint32_t count_owned(const struct schedd_plan *p, unsigned int class_idx)
{
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++)
		count += p->owner[cpu] == class_idx + 1;
	return count;
}

/* Cores of which the class has some threads but not all. */
static uint32_t count_broken_cores(const struct machine *m, unsigned int class_idx)
{
	uint32_t own[SCHEDD_MAX_CPUS] = {}, all[SCHEDD_MAX_CPUS] = {}, broken = 0;

	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++) {
		all[m->topo.cpus[cpu].core] += m->topo.cpus[cpu].online;
		own[m->topo.cpus[cpu].core] += m->plan.owner[cpu] == class_idx + 1;
	}
	for (uint32_t core = 0; core < SCHEDD_MAX_CPUS; core++)
		broken += own[core] && own[core] != all[core];
	return broken;
}

static uint32_t count_llcs(const struct machine *m, unsigned int class_idx)
{
	bool used[SCHEDD_MAX_LLCS] = {};
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++)
		if (m->plan.owner[cpu] == class_idx + 1)
			used[m->topo.cpus[cpu].llc] = true;
	for (uint32_t llc = 0; llc < SCHEDD_MAX_LLCS; llc++)
		count += used[llc];
	return count;
}

static void test_without_guarantees_all_is_normal(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	machine_plan(m);
	assert_int_equal(count_owned(&m->plan, NORMAL), 4);
	assert_int_equal(m->plan.nr_cpus, 4);
	assert_true(m->changed);
	free(m);
}

static void test_the_first_core_is_given_last(void **state)
{
	struct machine *m = machine_new(2, 1, 1);

	(void)state;
	m->in.classes[LC].guarantee_cpus = 1;
	machine_plan(m);
	assert_int_equal(m->plan.owner[0], NORMAL + 1);
	assert_int_equal(m->plan.owner[1], LC + 1);
	m->in.classes[LC].guarantee_cpus = 2;
	machine_plan(m);
	assert_int_equal(count_owned(&m->plan, LC), 2);
	free(m);
}

static void test_one_cpu(void **state)
{
	struct machine *m = machine_new(1, 1, 1);

	(void)state;
	machine_plan(m);
	assert_int_equal(m->plan.owner[0], NORMAL + 1);
	m->in.classes[LC].guarantee_cpus = 1;
	machine_plan(m);
	assert_int_equal(m->plan.owner[0], LC + 1);
	free(m);
}

static void test_whole_cores_of_one_llc(void **state)
{
	struct machine *m = machine_new(16, 2, 4);

	(void)state;
	m->in.classes[LC].guarantee_cpus = 6;
	machine_plan(m);
	assert_int_equal(count_owned(&m->plan, LC), 6);
	assert_int_equal(count_broken_cores(m, LC), 0);
	assert_int_equal(count_llcs(m, LC), 1);
	free(m);
}

static void test_an_odd_thread_does_not_break_the_core_of_another_class(void **state)
{
	struct machine *m = machine_new(4, 2, 1);

	(void)state;
	m->in.classes[LC].guarantee_cpus = 3;
	m->in.classes[WEB] = (struct alloc_class){ .used = true, .kind = SCHEDD_KIND_LATENCY_CRITICAL, .guarantee_cpus = 4 };
	machine_plan(m);
	assert_int_equal(count_owned(&m->plan, LC), 3);
	assert_int_equal(count_broken_cores(m, LC), 1);
	assert_int_equal(count_owned(&m->plan, WEB), 4);
	assert_int_equal(count_broken_cores(m, WEB), 0);
	free(m);
}

static void test_two_services_are_at_home_in_two_llcs(void **state)
{
	struct machine *m = machine_new(16, 1, 2);

	(void)state;
	m->in.classes[LC].guarantee_cpus = 6;
	m->in.classes[WEB] = (struct alloc_class){ .used = true, .kind = SCHEDD_KIND_LATENCY_CRITICAL, .guarantee_cpus = 5 };
	machine_plan(m);
	assert_int_equal(count_llcs(m, LC), 1);
	assert_int_equal(count_llcs(m, WEB), 1);
	free(m);
}

static void test_growing_keeps_and_completes(void **state)
{
	struct machine *m = machine_new(8, 2, 2);
	struct schedd_plan before;

	(void)state;
	m->in.classes[LC].guarantee_cpus = 3;
	machine_plan(m);
	before = m->plan;
	m->in.classes[LC].guarantee_cpus = 4;
	machine_replan(m);
	assert_true(m->changed);
	assert_int_equal(count_owned(&m->plan, LC), 4);
	assert_int_equal(count_broken_cores(m, LC), 0);
	for (uint32_t cpu = 0; cpu < 16; cpu++)
		if (before.owner[cpu] == LC + 1)
			assert_int_equal(m->plan.owner[cpu], LC + 1);
	free(m);
}

static void test_shrinking_gives_up_the_broken_core_first(void **state)
{
	struct machine *m = machine_new(8, 2, 1);

	(void)state;
	m->in.classes[LC].guarantee_cpus = 5;
	machine_plan(m);
	m->in.classes[LC].guarantee_cpus = 4;
	machine_replan(m);
	assert_int_equal(count_owned(&m->plan, LC), 4);
	assert_int_equal(count_broken_cores(m, LC), 0);
	free(m);
}

static void test_the_cpus_of_a_deleted_class_are_normal_again(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->in.classes[WEB] = (struct alloc_class){ .used = true, .kind = SCHEDD_KIND_LATENCY_CRITICAL, .guarantee_cpus = 2 };
	machine_plan(m);
	assert_int_equal(count_owned(&m->plan, WEB), 2);
	m->in.classes[WEB].used = false;
	machine_replan(m);
	assert_int_equal(count_owned(&m->plan, NORMAL), 4);
	free(m);
}

static void test_the_generation_is_left_to_the_caller(void **state)
{
	struct machine *m = machine_new(2, 1, 1);

	(void)state;
	machine_plan(m);
	assert_int_equal(m->plan.generation, 0);
	m->plan.generation = 41;
	machine_replan(m);
	assert_int_equal(m->plan.generation, 41);
	assert_false(m->changed);
	free(m);
}

static void test_too_large_a_sum_is_cut_not_trusted(void **state)
{
	struct machine *m = machine_new(4, 1, 1);

	(void)state;
	m->in.classes[LC].guarantee_cpus = 3;
	m->in.classes[BE].guarantee_cpus = UINT32_MAX;
	machine_plan(m);
	assert_int_equal(count_owned(&m->plan, LC), 3);
	assert_int_equal(count_owned(&m->plan, BE), 1);
	free(m);
}

/* ---------- random machines ---------- */

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
	return *seed >> 11;
}

static void random_offline(struct machine *m, uint64_t *seed)
{
	uint32_t one_in = 2 + (uint32_t)(next_random(seed) % 20);

	m->topo.nr_online = 0;
	for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++) {
		m->topo.cpus[cpu].online = cpu == 0 || next_random(seed) % one_in;
		m->topo.nr_online += m->topo.cpus[cpu].online;
	}
}

/* As state_scale_guarantees() leaves them: the sum is at most the online CPUs. */
static void random_guarantees(struct machine *m, uint64_t *seed)
{
	uint32_t left = m->topo.nr_online;

	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		struct alloc_class *c = &m->in.classes[i];

		if (i >= SCHEDD_NR_BUILTIN) {
			c->used = next_random(seed) % 2;
			c->kind = 1 + (uint32_t)(next_random(seed) % 3);
		}
		c->guarantee_cpus = next_random(seed) % 3 ? (uint32_t)(next_random(seed) % (left / 2 + 1)) : 0;
		if (!c->used)
			continue;
		left -= c->guarantee_cpus;
	}
}

static void random_machine(struct machine *m, uint64_t *seed)
{
	static const uint32_t sizes[] = { 1, 2, 4, 6, 16, 24, 64, 128, 256 };
	uint32_t nr_cores = sizes[next_random(seed) % (sizeof(sizes) / sizeof(sizes[0]))];
	uint32_t threads = 1U << next_random(seed) % 3;
	uint32_t nr_llcs = 1 + (uint32_t)(next_random(seed) % (nr_cores < 8 ? nr_cores : 8));

	machine_build(m, nr_cores, threads, nr_llcs);
	if (next_random(seed) % 2)
		random_offline(m, seed);
	random_guarantees(m, seed);
}

static void check_plan(const struct machine *m)
{
	uint32_t owned = 0;

	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++) {
		uint8_t owner = m->plan.owner[cpu];
		bool online = cpu < m->topo.nr_possible && m->topo.cpus[cpu].online;

		assert_true(online ? owner >= 1 && owner <= SCHEDD_MAX_CLASSES : owner == NOBODY);
		assert_true(!online || m->in.classes[owner - 1].used);
	}
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint32_t count = count_owned(&m->plan, i);

		owned += count;
		if (i == NORMAL)
			assert_true(count >= m->in.classes[i].guarantee_cpus);
		else
			assert_int_equal(count, m->in.classes[i].used ? m->in.classes[i].guarantee_cpus : 0);
	}
	assert_int_equal(owned, m->topo.nr_online);
}

/* No class loses a CPU while it is below its guarantee, so it keeps min(had, wants) of what is still online. */
static void check_kept(const struct machine *m, const struct schedd_plan *before)
{
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		uint32_t had = 0, kept = 0, wants = m->in.classes[i].used ? m->in.classes[i].guarantee_cpus : 0;

		for (uint32_t cpu = 0; cpu < m->topo.nr_possible; cpu++) {
			if (!m->topo.cpus[cpu].online || before->owner[cpu] != i + 1)
				continue;
			had++;
			kept += m->plan.owner[cpu] == i + 1;
		}
		if (i != NORMAL)
			assert_int_equal(kept, had < wants ? had : wants);
	}
}

static void test_what_must_hold(void **state)
{
	uint64_t seed = 88172645463325252ULL;
	struct machine *m = malloc(sizeof(*m));

	(void)state;
	for (unsigned int round = 0; round < 400; round++) {
		struct schedd_plan before, again;
		bool changed;

		if (round % 100 == 0)
			print_message("# round %u, seed %llu\n", round, (unsigned long long)seed);
		random_machine(m, &seed);
		machine_plan(m);
		check_plan(m);

		alloc_plan(&m->in, &again, &changed);
		assert_memory_equal(&m->plan, &again, sizeof(again)); /* equal input, equal output */
		machine_replan(m);
		assert_false(m->changed);
		assert_memory_equal(&m->plan, &again, sizeof(again));

		for (unsigned int step = 0; step < 4; step++) {
			before = m->plan;
			if (step == 2)
				random_offline(m, &seed);
			random_guarantees(m, &seed);
			machine_replan(m);
			check_plan(m);
			check_kept(m, &before);
			assert_int_equal(m->changed, memcmp(before.owner, m->plan.owner, sizeof(before.owner)) != 0);
		}
	}
	free(m);
}

/* From nothing, on a machine of equal cores: at most one broken core per class, and only when its number is odd. */
static void test_whole_cores_on_random_machines(void **state)
{
	uint64_t seed = 4101842887655102017ULL;
	struct machine *m = malloc(sizeof(*m));

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (unsigned int round = 0; round < 400; round++) {
		uint32_t nr_cores = 2 + (uint32_t)(next_random(&seed) % 127);

		machine_build(m, nr_cores, 2, 1 + (uint32_t)(next_random(&seed) % 2));
		random_guarantees(m, &seed);
		machine_plan(m);
		for (unsigned int i = 1; i < SCHEDD_MAX_CLASSES; i++)
			if (m->in.classes[i].used)
				assert_int_equal(count_broken_cores(m, i), m->in.classes[i].guarantee_cpus % 2);
	}
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_guarantees_all_is_normal),
		cmocka_unit_test(test_the_first_core_is_given_last),
		cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_whole_cores_of_one_llc),
		cmocka_unit_test(test_an_odd_thread_does_not_break_the_core_of_another_class),
		cmocka_unit_test(test_two_services_are_at_home_in_two_llcs),
		cmocka_unit_test(test_growing_keeps_and_completes),
		cmocka_unit_test(test_shrinking_gives_up_the_broken_core_first),
		cmocka_unit_test(test_the_cpus_of_a_deleted_class_are_normal_again),
		cmocka_unit_test(test_the_generation_is_left_to_the_caller),
		cmocka_unit_test(test_too_large_a_sum_is_cut_not_trusted),
		cmocka_unit_test(test_what_must_hold),
		cmocka_unit_test(test_whole_cores_on_random_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
