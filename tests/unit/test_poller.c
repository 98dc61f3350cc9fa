/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_poller.c - intervals against a fake kernel: what is applied, told and counted, and when the next one is due */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/poller_private.h"

enum { LC = SCHEDD_CLASS_LATENCY_CRITICAL, BE = SCHEDD_CLASS_BEST_EFFORT, NR_CPUS = 4, WAIT_MS = 10000 };

static const uint64_t ms = 1000000;

struct fake {
	struct poller_signals signals;
	int result;                /* of apply() */
	unsigned int applied;
	uint32_t asleep;           /* classes that wake, as last set; written by the thread */
	struct poller_kernel kernel;
	struct poller_limits limits;
	struct topo topo;
	struct poller *poller;
	uint64_t now_ns;
};

static void fake_read(void *ctx, uint32_t used, struct poller_signals *ret)
{
	const struct fake *f = ctx;

	(void)used;
	*ret = f->signals;
}

static int fake_apply(void *ctx, const struct schedd_plan *plan)
{
	struct fake *f = ctx;

	(void)plan;
	f->applied++;
	return f->result;
}

static void fake_alive(void *ctx, uint64_t now_ns, bool need_alive)
{
	(void)ctx;
	(void)now_ns;
	(void)need_alive;
}

static void fake_set_asleep(void *ctx, uint32_t wake_classes)
{
	__atomic_store_n(&((struct fake *)ctx)->asleep, wake_classes, __ATOMIC_RELEASE);
}

static void fake_drain(void *ctx)
{
	uint64_t n;

	while (read(((struct fake *)ctx)->kernel.wake_fd, &n, sizeof(n)) > 0)
		;
}

static void add_class(struct fake *f, unsigned int i, uint32_t kind, uint32_t guarantee, uint32_t burst)
{
	struct alloc_class *c = &f->limits.alloc.classes[i];

	*c = (struct alloc_class){ .used = true, .kind = kind, .guarantee_cpus = guarantee, .burst_cpus = burst };
	memset(&c->reach, 0xff, sizeof(c->reach));
}

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	f->topo.nr_possible = f->topo.nr_online = f->topo.nr_cores = NR_CPUS;
	f->topo.nr_llcs = f->topo.nr_nodes = 1;
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		f->topo.cpus[cpu] = (struct topo_cpu){ .possible = true, .online = true, .core = cpu, .sibling = cpu };
	add_class(f, SCHEDD_CLASS_NORMAL, SCHEDD_KIND_NORMAL, 0, 0);
	add_class(f, LC, SCHEDD_KIND_LATENCY_CRITICAL, 1, NR_CPUS);
	add_class(f, BE, SCHEDD_KIND_BEST_EFFORT, 0, 0);
	f->limits.policy = &policy_shenango;
	f->limits.interval_ns = ms;
	f->limits.alloc.step = 1;
	f->limits.alloc.park_ns = 1;
	f->limits.alloc.dwell_ns = 10 * ms;
	f->limits.alloc.generation = f->limits.model_generation = 1;
	f->kernel = (struct poller_kernel){ fake_read, fake_apply, fake_alive, fake_set_asleep, fake_drain, NULL,
					    eventfd(0, EFD_NONBLOCK), f };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fake *f = *state;

	poller_free(f->poller);
	close(f->kernel.wake_fd);
	free(f);
	return 0;
}

static void start(struct fake *f)
{
	const struct poller_options o = { &f->topo, &f->limits, 41, POLLER_NO_CPU };

	assert_int_equal(poller_new(&o, &f->kernel, &f->poller), 0);
	f->now_ns = poller_now_ns();
}

static struct poller_next step(struct fake *f)
{
	f->now_ns += ms;
	return poller_step(f->poller, f->now_ns);
}

/* As many as that wait, and none of them gets a CPU: congested from the second interval on. */
static void queue(struct fake *f, unsigned int class_idx, uint64_t n)
{
	f->signals.counters[0][class_idx].enqueued += n;
}

static uint32_t owned(struct fake *f, unsigned int class_idx)
{
	struct poller_status s;
	uint32_t n = 0;

	poller_get_status(f->poller, &s);
	for (uint32_t cpu = 0; cpu < s.plan.nr_cpus; cpu++)
		n += s.plan.owner[cpu] == class_idx + 1;
	return n;
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static void test_the_first_plan_is_in_force_at_once(void **state)
{
	struct fake *f = *state;
	struct poller_status s;

	start(f);
	poller_get_status(f->poller, &s);
	assert_int_equal(f->applied, 1);
	assert_int_equal(s.plan.generation, 42);
	assert_int_equal(s.limits_generation, 1);
	assert_int_equal(owned(f, LC), 1);
	assert_true(readable(poller_event_fd(f->poller)));
}

static void test_an_unchanged_plan_applies_nothing_and_lets_the_thread_sleep(void **state)
{
	struct fake *f = *state;
	struct poller_next next;

	start(f);
	queue(f, BE, 5);
	for (int i = 0; i < 100; i++)
		next = step(f);
	assert_int_equal(f->applied, 1);
	assert_int_equal(next.in_ns, UINT64_MAX);
	assert_int_equal(next.wake_classes, 1U << LC);
}

static void test_a_congested_class_gets_a_cpu_and_gives_it_back(void **state)
{
	struct fake *f = *state;
	struct poller_move moves[16];

	start(f);
	assert_int_equal(poller_take_moves(f->poller, moves, 16), 1);
	assert_int_equal(moves[0].trigger, ALLOC_TRIGGER_LIMITS);
	queue(f, LC, 1);
	step(f);
	assert_int_equal(step(f).in_ns, ms);
	assert_int_equal(owned(f, LC), 2);
	assert_int_equal(poller_take_moves(f->poller, moves, 16), 1);
	assert_int_equal(moves[0].to, LC + 1);
	assert_int_equal(moves[0].trigger, ALLOC_TRIGGER_CONGESTION);
	f->signals.counters[0][LC].dequeued += 1;
	assert_int_equal(step(f).in_ns, f->limits.alloc.dwell_ns);
	for (int i = 0; i < 20; i++)
		step(f);
	assert_int_equal(owned(f, LC), 1);
	assert_int_equal(poller_take_moves(f->poller, moves, 16), 1);
	assert_int_equal(moves[0].from, LC + 1);
	assert_int_equal(moves[0].trigger, ALLOC_TRIGGER_PARK);
}

static void test_who_waits_in_vain_is_asked_about_less_often(void **state)
{
	struct fake *f = *state;
	struct poller_next next;

	f->limits.alloc.classes[LC].guarantee_cpus = NR_CPUS - 1;
	add_class(f, 3, SCHEDD_KIND_LATENCY_CRITICAL, 1, NR_CPUS);
	start(f);
	queue(f, LC, 1);
	step(f);
	next = step(f);
	assert_int_equal(next.in_ns, 100 * ms);
	assert_int_equal(next.wake_classes, 1U << 3);
	assert_int_equal(f->applied, 1);
}

static void test_a_plan_that_the_kernel_refused_is_told_again(void **state)
{
	struct fake *f = *state;
	struct poller_status s;

	f->result = -EIO;
	start(f);
	poller_get_status(f->poller, &s);
	assert_int_equal(s.apply_failures, 1);
	assert_int_equal(s.limits_generation, 0);
	assert_int_equal(step(f).in_ns, ms);
	f->result = 0;
	step(f);
	poller_get_status(f->poller, &s);
	assert_int_equal(f->applied, 3);
	assert_int_equal(s.limits_generation, 1);
	assert_int_equal(step(f).in_ns, UINT64_MAX);
}

static void test_a_dry_run_counts_and_applies_nothing(void **state)
{
	struct fake *f = *state;
	struct poller_move move;

	f->limits.dry = true;
	start(f);
	assert_int_equal(f->applied, 0);
	assert_int_equal(poller_take_moves(f->poller, &move, 1), 1);
	assert_true(move.dry);
}

static void test_frozen_owners_stay(void **state)
{
	struct fake *f = *state;
	struct poller_next next;

	f->limits.frozen = true;
	start(f);
	queue(f, LC, 1);
	step(f);
	next = step(f);
	assert_int_equal(owned(f, LC), 1);
	assert_int_equal(next.in_ns, UINT64_MAX);
	assert_int_equal(next.wake_classes, 0);
}

static void test_a_full_ring_loses_moves_and_counts_them(void **state)
{
	struct fake *f = *state;
	struct poller_move moves[64];
	struct poller_status s;
	size_t n, sum = 0;

	start(f);
	for (int i = 0; i < POLLER_MAX_MOVES; i++) {
		f->limits.alloc.classes[LC].guarantee_cpus = i % 2 ? 1 : 2;
		f->limits.alloc.generation++;
		poller_set_limits(f->poller, &f->limits);
		step(f);
	}
	poller_get_status(f->poller, &s);
	while ((n = poller_take_moves(f->poller, moves, 64)) > 0)
		sum += n;
	assert_int_equal(sum, POLLER_MAX_MOVES);
	assert_int_equal(s.moves_lost, 1);
}

/* ---------- the thread ---------- */

static void wait_until(bool (*holds)(struct fake *f), struct fake *f, const char *what)
{
	for (int i = 0; i < WAIT_MS; i++) {
		if (holds(f))
			return;
		poll(NULL, 0, 1);
	}
	fail_msg("waited 10 s in vain: %s", what);
}

static bool sleeps(struct fake *f)
{
	return __atomic_load_n(&f->asleep, __ATOMIC_ACQUIRE) == 1U << LC;
}

static bool follows(struct fake *f)
{
	struct poller_status s;

	poller_get_status(f->poller, &s);
	return s.limits_generation == f->limits.alloc.generation;
}

static bool answers(struct fake *f)
{
	return poller_ping(f->poller);
}

static void test_the_thread_sleeps_and_limits_wake_it(void **state)
{
	struct fake *f = *state;

	start(f);
	assert_int_equal(poller_start(f->poller), 0);
	wait_until(sleeps, f, "the thread sleeps");
	f->limits.alloc.classes[LC].guarantee_cpus = 3;
	f->limits.alloc.generation++;
	poller_set_limits(f->poller, &f->limits);
	wait_until(follows, f, "new limits are followed");
	assert_int_equal(owned(f, LC), 3);
	poller_ping(f->poller);
	wait_until(answers, f, "the thread gives a sign of life");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_first_plan_is_in_force_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_unchanged_plan_applies_nothing_and_lets_the_thread_sleep, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_congested_class_gets_a_cpu_and_gives_it_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_waits_in_vain_is_asked_about_less_often, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_plan_that_the_kernel_refused_is_told_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_dry_run_counts_and_applies_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_frozen_owners_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_full_ring_loses_moves_and_counts_them, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_thread_sleeps_and_limits_wake_it, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
