/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_lease.c - which CPUs of a plan are whose by lease, and how far each lease is */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "daemon/lease.h"
#include "tests/unit/state_setup.h"

enum { N = SCHEDD_CLASS_NORMAL + 1, L = SCHEDD_CLASS_LATENCY_CRITICAL + 1, B = SCHEDD_CLASS_BEST_EFFORT + 1 };

/* A lease that arrived at 1000 and ends late. */
static struct state_lease *grant(struct state *s, const char *class_name, uint32_t cpus)
{
	struct state_lease l = { .requested_cpus = cpus, .arrive_boottime_ns = 1000, .expire_boottime_ns = 1000000 },
			   *stored;

	strcpy(l.class_name, class_name);
	assert_int_equal(state_add_lease(s, &l, &stored), 0);
	return stored;
}

static void expect_cpus(const struct state *s, const struct lease_owners *plan, size_t index, const char *wanted)
{
	uint32_t cpus[SCHEDD_MAX_CPUS], n = lease_cpus(s, plan, &s->leases[index], cpus);
	char text[256] = "";

	for (uint32_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? " " : "", cpus[i]);
	if (strcmp(text, wanted) != 0)
		fail_msg("lease %zu has CPUs `%s', expected `%s'", index, text, wanted);
}

/* ---------- which CPUs ---------- */

static void test_cpus_beyond_the_guarantee_in_order_of_age(void **state)
{
	struct state *s = *state;
	const uint8_t owner[CPUS] = { N, L, L, B, L, L, L, 0 };
	const struct lease_owners plan = { .owner = owner, .nr_cpus = CPUS };

	assert_int_equal(upsert(s, "latency-critical", CLASS_FIELD_GUARANTEE, 0, 2), 0);
	grant(s, "latency-critical", 2);
	grant(s, "best-effort", 1);
	grant(s, "latency-critical", 1);
	expect_cpus(s, &plan, 0, "4 5");
	expect_cpus(s, &plan, 1, "3");
	expect_cpus(s, &plan, 2, "6");
	state_remove_lease(s, 0);
	expect_cpus(s, &plan, 0, "3");
	expect_cpus(s, &plan, 1, "4");
}

static void test_a_plan_that_is_not_there_yet(void **state)
{
	struct state *s = *state;
	const uint8_t owner[CPUS] = { N, L, N, N, N, N, N, N };
	const struct lease_owners plan = { .owner = owner, .nr_cpus = CPUS }, none = { .owner = owner };
	struct state_lease *l = grant(s, "latency-critical", 2);
	uint32_t cpus[SCHEDD_MAX_CPUS];

	expect_cpus(s, &plan, 0, "1");
	assert_int_equal(lease_cpus(s, &none, l, cpus), 0);
}

static void test_a_numa_node_is_preferred(void **state)
{
	struct state *s = *state;
	static struct topo topo = { .nr_possible = CPUS };
	const uint8_t owner[CPUS] = { N, L, L, L, L, L, N, N };
	const struct lease_owners plan = { .owner = owner, .nr_cpus = CPUS, .topo = &topo };
	struct state_lease *l;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		topo.cpus[cpu].node = cpu >= 4;
	assert_int_equal(upsert(s, "latency-critical", CLASS_FIELD_GUARANTEE, 0, 1), 0);
	grant(s, "latency-critical", 1);
	l = grant(s, "latency-critical", 3);
	l->has_numa_node = true;
	l->numa_node = 1;
	expect_cpus(s, &plan, 1, "3 4 5");
	expect_cpus(s, &plan, 0, "2");
	l->numa_node = 0;
	expect_cpus(s, &plan, 1, "1 2 3");
	/* The guarantee keeps a CPU, the older lease one: the count is never above what there is. */
	expect_cpus(s, &plan, 0, "5");
}

static void test_scaled_guarantees_keep_leases_first(void **state)
{
	struct state *s = *state;
	const uint8_t owner[CPUS] = { L, L, L, B, B, B, B, B };
	const struct lease_owners plan = { .owner = owner, .nr_cpus = CPUS };

	assert_int_equal(upsert(s, "latency-critical", CLASS_FIELD_GUARANTEE, 0, 1), 0);
	grant(s, "latency-critical", 3);
	assert_int_equal(upsert(s, "best-effort", CLASS_FIELD_GUARANTEE, 0, 8), 0);
	assert_int_equal(s->classes[SCHEDD_CLASS_LATENCY_CRITICAL].effective_guarantee_cpus, 3);
	expect_cpus(s, &plan, 0, "0 1 2");
}

/* No CPU twice, no lease above what it was granted, only CPUs of its class, and the guarantee is never touched. */
static void test_random_splits(void **state)
{
	unsigned int seed = 3, x = seed;
	static struct topo topo = { .nr_possible = 64 };

	(void)state;
	print_message("# seed %u\n", seed);
	for (int i = 0; i < 300; i++) {
		uint8_t owner[64];
		const struct lease_owners plan = { .owner = owner, .nr_cpus = 64, .topo = &topo };
		uint32_t owned[SCHEDD_MAX_CLASSES] = { 0 }, given[SCHEDD_MAX_CLASSES] = { 0 }, got[64] = { 0 };
		uint16_t split[SCHEDD_MAX_CPUS];
		struct state *s = NULL;

		assert_int_equal(state_new(64, &s), 0);
		upsert(s, "best-effort", CLASS_FIELD_GUARANTEE, 0, (uint32_t)rand_r(&x) % 8);
		for (uint32_t cpu = 0; cpu < 64; cpu++) {
			owner[cpu] = (uint8_t)(rand_r(&x) % 4);
			topo.cpus[cpu].node = (uint32_t)rand_r(&x) % 3;
			if (owner[cpu])
				owned[owner[cpu] - 1]++;
		}
		while (state_lease_room(s, "") && s->nr_leases < 20) {
			struct state_lease *l = grant(s, s->classes[rand_r(&x) % 3].name, 1);

			l->has_numa_node = rand_r(&x) % 2;
			l->numa_node = (uint32_t)rand_r(&x) % 3;
		}
		lease_split(s, &plan, split);
		for (uint32_t cpu = 0; cpu < 64; cpu++) {
			if (!split[cpu])
				continue;
			assert_true(split[cpu] <= s->nr_leases);
			assert_string_equal(s->leases[split[cpu] - 1].class_name, s->classes[owner[cpu] - 1].name);
			got[split[cpu] - 1]++;
			given[owner[cpu] - 1]++;
		}
		for (size_t k = 0; k < s->nr_leases; k++)
			assert_true(got[k] <= s->leases[k].granted_cpus);
		for (int k = 0; k < SCHEDD_NR_BUILTIN; k++) {
			uint32_t own = s->classes[k].effective_guarantee_cpus - s->classes[k].leased_cpus;
			uint32_t spare = owned[k] > own ? owned[k] - own : 0;

			assert_int_equal(given[k],
					 spare < s->classes[k].leased_cpus ? spare : s->classes[k].leased_cpus);
		}
		state_free(s);
	}
}

/* ---------- how far ---------- */

struct world {
	uint8_t owner[CPUS], holder[CPUS];
	uint32_t waiting[SCHEDD_MAX_CLASSES];
	struct lease_input in;
};

static void world_init(struct world *w, const struct state *s)
{
	*w = (struct world){ .owner = { N, L, L, N, N, N, N, N } };
	w->in = (struct lease_input){
		.plan = { .owner = w->owner, .nr_cpus = CPUS },
		.plan_generation = 5,
		.limits_generation = s->limits_generation,
		.holder = w->holder,
		.waiting = w->waiting,
		.boottime_ns = 3000,
	};
	for (int cpu = 0; cpu < CPUS; cpu++)
		w->holder[cpu] = B;
}

static void test_owned_and_running(void **state)
{
	struct state *s = *state;
	struct state_lease *l = grant(s, "latency-critical", 2);
	struct world w;
	uint64_t revision = s->lease_revision;

	world_init(&w, s);
	w.owner[2] = N;
	assert_false(lease_progress(s, &w.in));
	assert_false(lease_is_there(l, LEASE_WAIT_OWNED));
	assert_true(lease_is_there(l, LEASE_WAIT_ACCEPTED));
	assert_int_equal(s->lease_revision, revision);
	w.owner[2] = L;
	assert_true(lease_progress(s, &w.in));
	assert_true(lease_is_there(l, LEASE_WAIT_OWNED));
	assert_false(lease_is_there(l, LEASE_WAIT_RUNNING));
	assert_int_equal(l->owned_after_ns, 2000);
	assert_int_equal(l->plan_generation, 5);
	assert_true(s->lease_revision > revision);
	assert_true(lease_wants_holders(s));
	/* Each CPU counts once it ran the class, not all at one moment. */
	w.holder[1] = L;
	w.in.boottime_ns = 4000;
	assert_false(lease_progress(s, &w.in));
	w.holder[1] = B;
	w.holder[2] = L;
	w.in.boottime_ns = 5000;
	assert_true(lease_progress(s, &w.in));
	assert_true(lease_is_there(l, LEASE_WAIT_RUNNING));
	assert_int_equal(l->running_after_ns, 4000);
	assert_false(lease_wants_holders(s));
	/* And it stays so whatever runs next. */
	w.holder[2] = B;
	assert_false(lease_progress(s, &w.in));
	assert_true(l->is_running);
}

static void test_idle_and_nothing_waiting_is_free_for_it(void **state)
{
	struct state *s = *state;
	struct state_lease *l = grant(s, "latency-critical", 2);
	struct world w;

	world_init(&w, s);
	w.holder[1] = w.holder[2] = 0;
	w.waiting[L - 1] = 1;
	lease_progress(s, &w.in);
	assert_true(l->is_owned);
	assert_false(l->is_running);
	w.waiting[L - 1] = 0;
	w.waiting[B - 1] = 9;
	w.holder[2] = LEASE_HOLDER_OTHER;
	assert_false(lease_progress(s, &w.in));
	w.holder[2] = 0;
	assert_true(lease_progress(s, &w.in));
	assert_true(l->is_running);
}

static void test_a_plan_of_older_limits_does_not_count(void **state)
{
	struct state *s = *state;
	struct state_lease *l = grant(s, "latency-critical", 2);
	struct world w;

	world_init(&w, s);
	w.in.limits_generation = l->limits_generation - 1;
	assert_false(lease_progress(s, &w.in));
	w.in.limits_generation = l->limits_generation;
	assert_true(lease_progress(s, &w.in));
	assert_true(l->is_owned);
}

static void test_a_plan_may_exchange_cpus(void **state)
{
	struct state *s = *state;
	struct state_lease *l = grant(s, "latency-critical", 2);
	struct world w;

	world_init(&w, s);
	w.holder[1] = L;
	lease_progress(s, &w.in);
	/* CPU 1, which ran it, goes; 2 stays; 3 comes. */
	w.owner[1] = N;
	w.owner[3] = L;
	w.holder[2] = L;
	assert_false(lease_progress(s, &w.in));
	assert_true(l->is_owned);
	assert_false(l->is_running);
	w.holder[2] = B;
	w.holder[3] = L;
	assert_true(lease_progress(s, &w.in));
	assert_true(l->is_running);
	assert_int_equal(l->plan_generation, 5);
}

static void test_what_is_lost_begins_anew_and_keeps_its_times(void **state)
{
	struct state *s = *state;
	struct state_lease *l = grant(s, "latency-critical", 2);
	struct world w;

	world_init(&w, s);
	w.holder[1] = w.holder[2] = L;
	assert_true(lease_progress(s, &w.in));
	assert_true(l->is_running);
	w.in.plan.nr_cpus = 0;
	w.in.boottime_ns = 9000;
	assert_true(lease_progress(s, &w.in));
	assert_false(l->is_owned || l->is_running);
	assert_true(l->was_owned && l->was_running);
	w.in.plan.nr_cpus = CPUS;
	w.in.plan_generation = 8;
	w.holder[1] = w.holder[2] = B;
	assert_true(lease_progress(s, &w.in));
	assert_true(l->is_owned);
	assert_false(l->is_running);
	assert_int_equal(l->owned_after_ns, 2000);
	assert_int_equal(l->running_after_ns, 2000);
	assert_int_equal(l->plan_generation, 8);
}

static void test_fewer_than_requested(void **state)
{
	struct state *s = *state;
	struct state_lease l = {
		.requested_cpus = 20, .min_cpus = 1, .class_name = "latency-critical", .expire_boottime_ns = 1
	};
	struct world w;

	assert_int_equal(state_add_lease(s, &l, NULL), 0);
	assert_int_equal(s->leases[0].granted_cpus, CPUS - 1);
	world_init(&w, s);
	memset(w.owner + 1, L, CPUS - 1);
	assert_true(lease_progress(s, &w.in));
	assert_true(s->leases[0].is_owned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(test_cpus_beyond_the_guarantee_in_order_of_age),
		STATE_TEST(test_a_plan_that_is_not_there_yet),
		STATE_TEST(test_a_numa_node_is_preferred),
		STATE_TEST(test_scaled_guarantees_keep_leases_first),
		cmocka_unit_test(test_random_splits),
		STATE_TEST(test_owned_and_running),
		STATE_TEST(test_idle_and_nothing_waiting_is_free_for_it),
		STATE_TEST(test_a_plan_of_older_limits_does_not_count),
		STATE_TEST(test_a_plan_may_exchange_cpus),
		STATE_TEST(test_what_is_lost_begins_anew_and_keeps_its_times),
		STATE_TEST(test_fewer_than_requested),
	};

	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
