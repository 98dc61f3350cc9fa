// SPDX-License-Identifier: GPL-2.0-or-later
/* test_sim.c - the simulator's own parts: what theory says of them, and that a seed repeats */
#include "ahead.h"
#include "contest.h"
#include "hardware.h"
#include "timers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define MS UINT64_C(1000000)

static void assert_near(double got, double want, double share)
{
	if (fabs(got - want) <= share * want)
		return;
	fail_msg("%g, but %g within %g %% is expected", got, want, 100 * share);
}

/* Any change of these values is a change of every published figure. */
static void test_random_numbers_are_those_of_splitmix64(void **state)
{
	struct rng r = { 0 };

	(void)state;
	assert_true(rng_next(&r) == UINT64_C(0xe220a8397b1dcdaf));
	assert_true(rng_next(&r) == UINT64_C(0x6e789e6aa1b965f4));
	assert_true(rng_next(&r) == UINT64_C(0x06c45d188009454f));
}

static void test_streams_of_a_seed_differ_and_repeat(void **state)
{
	struct rng a, again, other_stream, other_seed;

	(void)state;
	rng_seed(&a, 7, 1);
	rng_seed(&again, 7, 1);
	rng_seed(&other_stream, 7, 2);
	rng_seed(&other_seed, 8, 1);
	assert_true(a.state == again.state);
	assert_true(a.state != other_stream.state);
	assert_true(a.state != other_seed.state);
}

static void test_exponential_has_mean_and_variance_one(void **state)
{
	double sum = 0, squares = 0;
	enum { N = 200000 };
	struct rng r;

	(void)state;
	rng_seed(&r, 1, 1);
	for (int i = 0; i < N; i++) {
		double x = rng_exponential(&r);

		sum += x;
		squares += x * x;
	}
	assert_near(sum / N, 1, 0.02);
	assert_near(squares / N - sum / N * sum / N, 1, 0.03);
}

static void test_service_times_have_the_stated_mean(void **state)
{
	static const struct load_spec specs[] = {
		{ .service = LOAD_CONSTANT, .service_ns = 4000, .busy_mcpu = 1000 },
		{ .service = LOAD_EXPONENTIAL, .service_ns = 4000, .busy_mcpu = 1000 },
		{ .service = LOAD_BIMODAL,
		  .service_ns = 4000,
		  .longest_ns = 400000,
		  .long_ppm = 50000,
		  .busy_mcpu = 1000 },
		{ .service = LOAD_PARETO, .service_ns = 2000, .longest_ns = 200000, .busy_mcpu = 1000 },
	};
	enum { N = 200000 };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		double sum = 0;
		uint64_t at_ns, service_ns;
		struct load l;

		load_init(&l, &specs[i], 1, i);
		for (int n = 0; n < N; n++) {
			load_next(&l, &at_ns, &service_ns);
			sum += (double)service_ns;
		}
		assert_near(sum / N, (double)load_mean_service_ns(&specs[i]), 0.03);
		/* One CPU's worth is offered. */
		assert_near(sum, (double)at_ns, 0.03);
	}
}

/* 19 ms at the base rate and 1 ms at ten times it are 1.45 times the base rate. */
static void test_bursts_add_what_they_say(void **state)
{
	struct load_spec spec = { .service_ns = 1000,
				  .busy_mcpu = 1000,
				  .burst_factor = 10,
				  .period_ns = 20 * MS,
				  .burst_ns = 1 * MS,
				  .jitter_ns = 1 * MS };

	(void)state;
	for (int random = 0; random < 2; random++) {
		uint64_t at_ns = 0, service_ns, nr = 0;
		struct load l;

		spec.random = random;
		load_init(&l, &spec, 1, 1);
		for (; at_ns < 10000 * MS; nr++)
			load_next(&l, &at_ns, &service_ns);
		assert_near((double)nr, 1.45 * 10000 * MS / 1000, random ? 0.05 : 0.01);
		assert_near((double)l.nr_bursts, 500, random ? 0.15 : 0.005);
	}
}

static void test_timers_come_in_order_and_can_move(void **state)
{
	static struct timers t;
	uint64_t last_ns = 0, set = 0;
	struct rng r = { 3 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t cpu = (uint32_t)(rng_next(&r) % SCHEDD_MAX_CPUS);

		if (rng_next(&r) % 4)
			timers_set(&t, cpu, rng_next(&r) % 1000);
		else
			timers_clear(&t, cpu);
	}
	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++)
		set += t.place[cpu] != 0;
	assert_int_equal(t.nr, set);
	while (t.nr) {
		assert_true(timers_next_ns(&t) >= last_ns);
		last_ns = timers_next_ns(&t);
		timers_clear(&t, t.heap[0]);
	}
	assert_true(timers_next_ns(&t) == UINT64_MAX);
}

static void test_a_queue_keeps_its_order_while_it_grows(void **state)
{
	struct queue q = {};
	uint64_t in = 0, out = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 7; i++)
			queue_push(&q, &(struct request){ .arrived_ns = in++ });
		for (int i = 0; i < 3; i++)
			assert_int_equal(queue_pop(&q).arrived_ns, out++);
	}
	queue_push_front(&q, &(struct request){ .arrived_ns = 99999 });
	assert_int_equal(queue_pop(&q).arrived_ns, 99999);
	while (q.nr)
		assert_int_equal(queue_pop(&q).arrived_ns, out++);
	assert_int_equal(out, in);
	free(q.ring);
}

/* Arrivals read far ahead are the ones that come, and no more are in service than by hand. */
static void test_reading_ahead_changes_nothing(void **state)
{
	static const struct load_spec spec = { .service = LOAD_EXPONENTIAL, .service_ns = 1000, .busy_mcpu = 5000 };
	struct ahead far, near;

	(void)state;
	ahead_init(&far, &spec, 1, 1);
	ahead_init(&near, &spec, 1, 1);
	for (int i = 0; i < 5000; i++) {
		uint64_t at_ns = ahead_at(&near, 0)->at_ns;

		ahead_fill(&far, at_ns + 300000);
		assert_true(far.nr > 2);
		assert_memory_equal(ahead_at(&far, 0), ahead_at(&near, 0), sizeof(struct arrival));
		assert_true(ahead_most(&far, at_ns) >= ahead_at(&far, 0)->in_service);
		ahead_pop(&far);
		ahead_pop(&near);
		ahead_fill(&near, at_ns);
	}
	ahead_fini(&far);
	ahead_fini(&near);
}

static void test_machines_have_the_stated_shape(void **state)
{
	static const struct hardware m = { .nr_cpus = 1024, .threads = 2, .nr_llcs = 16, .nr_nodes = 4 };
	static struct topo topo;
	uint32_t in_llc[SCHEDD_MAX_LLCS] = {};

	(void)state;
	hardware_build(&m, &topo);
	for (uint32_t cpu = 0; cpu < m.nr_cpus; cpu++) {
		const struct topo_cpu *c = &topo.cpus[cpu], *sibling = &topo.cpus[c->sibling];

		assert_true(c->sibling != cpu && sibling->sibling == cpu);
		assert_true(c->core == sibling->core && c->llc == sibling->llc && c->node == c->llc / 4);
		in_llc[c->llc]++;
	}
	for (uint32_t llc = 0; llc < 16; llc++)
		assert_int_equal(in_llc[llc], 64);
}

/* A planner that owns all for the one service: the engine is then a queue that theory knows. */
static uint8_t all_owned[SCHEDD_MAX_CPUS];

static int plan_all(struct planner *p, const struct engine *e, const uint8_t **ret_owner)
{
	(void)p;
	memset(all_owned, SCHEDD_CLASS_LATENCY_CRITICAL + 1, e->topo->nr_possible);
	*ret_owner = all_owned;
	return 0;
}

static double mean_delay_ns(uint32_t nr_cpus, enum load_service service, uint32_t busy_mcpu)
{
	const struct hardware hardware = { .nr_cpus = nr_cpus, .threads = 1, .nr_llcs = 1, .nr_nodes = 1 };
	const struct load_spec spec = { .service = service, .service_ns = 10000, .busy_mcpu = busy_mcpu };
	const struct alloc_class limits = { .used = true, .burst_cpus = nr_cpus };
	const struct engine_costs costs = {};
	struct planner planner = { .interval_ns = MS, .plan = plan_all };
	static struct engine e;
	static struct topo topo;
	double mean_ns;

	hardware_build(&hardware, &topo);
	engine_init(&e, &topo, &planner, &costs);
	engine_add_service(&e, SCHEDD_CLASS_LATENCY_CRITICAL, &limits, &spec, 1);
	assert_int_equal(engine_run(&e, 100 * MS, 4100 * MS), 0);
	mean_ns = (double)e.services[0].delay_sum_ns / (double)e.services[0].delay.count;
	/* No cost, so best-effort has exactly what the service leaves. */
	assert_near((double)e.measured.batch_ns, (double)(nr_cpus * 4000 * MS - e.measured.service_ns), 1e-9);
	engine_fini(&e);
	return mean_ns;
}

/* M/M/1: rho / (1 - rho) service times; M/D/1: half of it. */
static void test_one_cpu_queues_as_theory_says(void **state)
{
	(void)state;
	assert_near(mean_delay_ns(1, LOAD_EXPONENTIAL, 500), 10000, 0.04);
	assert_near(mean_delay_ns(1, LOAD_EXPONENTIAL, 800), 40000, 0.06);
	assert_near(mean_delay_ns(1, LOAD_CONSTANT, 800), 20000, 0.05);
}

/* Erlang's C: how probable it is to wait with c CPUs and a erlangs. */
static double erlang_c(uint32_t c, double a)
{
	double blocked = 1;

	for (uint32_t i = 1; i <= c; i++)
		blocked = a * blocked / (i + a * blocked);
	return blocked / (1 - a / c * (1 - blocked));
}

static void test_many_cpus_queue_as_erlang_says(void **state)
{
	(void)state;
	assert_near(mean_delay_ns(4, LOAD_EXPONENTIAL, 3200), erlang_c(4, 3.2) * 10000 / (4 - 3.2), 0.05);
	assert_near(mean_delay_ns(16, LOAD_EXPONENTIAL, 14400), erlang_c(16, 14.4) * 10000 / (16 - 14.4), 0.08);
}

/* Nobody waits for less than the reclaim of a lent CPU, and best-effort pays for each. */
static void test_reclaim_costs_what_it_says(void **state)
{
	const struct hardware hardware = { .nr_cpus = 64, .threads = 1, .nr_llcs = 1, .nr_nodes = 1 };
	const struct load_spec spec = { .service_ns = 10000, .busy_mcpu = 1000 };
	const struct alloc_class limits = { .used = true, .burst_cpus = 64 };
	const struct engine_costs costs = { .reclaim_ns = 2000 };
	struct planner planner = { .interval_ns = MS, .plan = plan_all };
	static struct engine e;
	static struct topo topo;
	uint64_t lost_ns;

	(void)state;
	hardware_build(&hardware, &topo);
	engine_init(&e, &topo, &planner, &costs);
	engine_add_service(&e, SCHEDD_CLASS_LATENCY_CRITICAL, &limits, &spec, 1);
	assert_int_equal(engine_run(&e, 10 * MS, 110 * MS), 0);
	lost_ns = 64 * 100 * MS - e.measured.batch_ns - e.measured.service_ns;
	/* Now and then a CPU that ends its request takes the one that the called CPU was for. */
	assert_true(e.services[0].delay.max_ns <= 2000);
	assert_near((double)lost_ns, 2000.0 * (double)e.services[0].delay.count, 0.02);
	engine_fini(&e);
}

static struct contest_options short_contest(void)
{
	struct contest_options o = contest_defaults;

	o.warmup_ns = 5 * MS;
	o.measured_ns = 25 * MS;
	return o;
}

static void test_a_seed_repeats_and_another_does_not(void **state)
{
	struct contest_options o = short_contest();
	struct outcome first, again, other;

	(void)state;
	assert_int_equal(contest_run(&scenarios[0], CONTENDER_SHENANGO, &o, &first), 0);
	assert_int_equal(contest_run(&scenarios[0], CONTENDER_SHENANGO, &o, &again), 0);
	o.seed++;
	assert_int_equal(contest_run(&scenarios[0], CONTENDER_SHENANGO, &o, &other), 0);
	assert_memory_equal(&first, &again, sizeof(first));
	assert_memory_not_equal(&first, &other, sizeof(first));
}

/* Who sees ahead begins in time: only a full machine makes requests wait. */
static void test_the_oracle_hides_every_latency(void **state)
{
	struct contest_options o = short_contest();
	struct outcome outcome;

	(void)state;
	assert_int_equal(contest_run(&scenarios[0], CONTENDER_ORACLE, &o, &outcome), 0);
	assert_int_equal(outcome.services[0].p99_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_numbers_are_those_of_splitmix64),
		cmocka_unit_test(test_streams_of_a_seed_differ_and_repeat),
		cmocka_unit_test(test_exponential_has_mean_and_variance_one),
		cmocka_unit_test(test_service_times_have_the_stated_mean),
		cmocka_unit_test(test_bursts_add_what_they_say),
		cmocka_unit_test(test_timers_come_in_order_and_can_move),
		cmocka_unit_test(test_a_queue_keeps_its_order_while_it_grows),
		cmocka_unit_test(test_reading_ahead_changes_nothing),
		cmocka_unit_test(test_machines_have_the_stated_shape),
		cmocka_unit_test(test_one_cpu_queues_as_theory_says),
		cmocka_unit_test(test_many_cpus_queue_as_erlang_says),
		cmocka_unit_test(test_reclaim_costs_what_it_says),
		cmocka_unit_test(test_a_seed_repeats_and_another_does_not),
		cmocka_unit_test(test_the_oracle_hides_every_latency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
