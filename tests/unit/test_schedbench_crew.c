/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_schedbench_crew.c - processes of a test: rounds, deaths that are named, none left behind */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/schedbench/crew.h"
#include "tests/bench/schedbench/hogs.h"
#include "tests/bench/schedbench/place.h"

static struct machine machine = { .nr_cpus = 1 };
static struct bench_env env = { .machine = &machine };
static struct result result;
static struct bench bench = { .env = &env, .result = &result };

static int setup(void **state)
{
	(void)state;
	memset(env.cgroups, 0, sizeof(env.cgroups));
	result_init(&result, false);
	return 0;
}

static void add_member(struct member *self, void *arg)
{
	_Atomic uint64_t *sum = arg;

	for (;;)
		atomic_fetch_add(sum, crew_next(self));
}

static void test_rounds_are_done_once_by_each(void **state)
{
	_Atomic uint64_t *sum = place_shared(sizeof(*sum));
	struct crew c;

	(void)state;
	assert_non_null(sum);
	assert_int_equal(crew_init(&c, &bench, 3), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(crew_add(&c, ROLE_NORMAL, "adder", add_member, (void *)sum), 0);
	assert_int_equal(crew_wait(&c), 0);
	for (uint64_t round = 1; round <= 50; round++) {
		crew_start(&c, round);
		assert_int_equal(crew_wait(&c), 0);
		assert_int_equal(atomic_load(sum), 3 * round * (round + 1) / 2);
	}
	crew_end(&c);
	crew_end(&c);
	place_unshare((void *)sum, sizeof(*sum));
	assert_int_equal(result.status, STATUS_DONE);
}

static void killed_member(struct member *self, void *arg)
{
	(void)arg;
	crew_next(self);
	raise(SIGKILL);
}

static void test_a_death_is_an_error_that_names_it(void **state)
{
	struct crew c;

	(void)state;
	assert_int_equal(crew_init(&c, &bench, 1), 0);
	assert_int_equal(crew_add(&c, ROLE_NORMAL, "poor fellow", killed_member, NULL), 0);
	assert_int_equal(crew_wait(&c), 0);
	crew_start(&c, 1);
	assert_int_equal(crew_wait(&c), -ECHILD);
	crew_end(&c);
	assert_int_equal(result.status, STATUS_ERROR);
	assert_non_null(strstr(result.reason, "'poor fellow' was killed by signal 9"));
}

static void hopeless_member(struct member *self, void *arg)
{
	(void)arg;
	crew_give_up(self, -ENOSPC, "cannot start its thread");
}

static void test_one_that_gives_up_says_why(void **state)
{
	struct crew c;

	(void)state;
	assert_int_equal(crew_init(&c, &bench, 1), 0);
	assert_int_equal(crew_add(&c, ROLE_NORMAL, "hopeless", hopeless_member, NULL), 0);
	assert_int_equal(crew_wait(&c), -ECHILD);
	crew_end(&c);
	assert_non_null(strstr(result.reason, "'hopeless': cannot start its thread: No space left"));
}

static void test_a_cgroup_that_is_none_is_named(void **state)
{
	struct crew c;

	(void)state;
	env.cgroups[ROLE_BE] = "/nowhere/at/all";
	assert_int_equal(crew_init(&c, &bench, 1), 0);
	assert_int_equal(crew_add(&c, ROLE_BE, "be hog 0", add_member, NULL), 0);
	assert_int_equal(crew_wait(&c), -ECHILD);
	crew_end(&c);
	assert_non_null(strstr(result.reason, "'be hog 0': cannot join the cgroup /nowhere/at/all"));
}

static void test_more_than_planned_are_refused(void **state)
{
	struct crew c;

	(void)state;
	assert_int_equal(crew_init(&c, &bench, 1), 0);
	assert_int_equal(crew_add(&c, ROLE_NORMAL, "one", hopeless_member, NULL), 0);
	assert_int_equal(crew_add(&c, ROLE_NORMAL, "two", hopeless_member, NULL), -E2BIG);
	crew_end(&c);
}

static void test_hogs_run_and_are_gone_afterwards(void **state)
{
	struct hogs_done done;
	struct hogs h;
	struct crew c;
	pid_t pids[3];

	(void)state;
	assert_int_equal(crew_init(&c, &bench, 3), 0);
	assert_int_equal(hogs_add(&h, &c, ROLE_BE, 3), 0);
	assert_int_equal(hogs_go(&h, true), 0);
	for (int i = 0; i < 3; i++) {
		pids[i] = c.members[i].pid;
		assert_true(atomic_load(&h.hogs[i].loops) > 0);
		assert_true(crew_cpu_ns(&c.members[i]) > 0);
	}
	h.begin_ns = h.begin_cpu_ns = h.begin_loops = 0;
	done = hogs_measure(&h);
	assert_true(done.cpu_s > 0 && done.loops_per_s > 0);
	crew_end(&c);
	hogs_free(&h);
	for (int i = 0; i < 3; i++)
		assert_int_equal(kill(pids[i], 0), -1);
}

static void interrupted_parent(int to_parent)
{
	struct crew c;
	struct hogs h;

	crew_catch_signals();
	if (crew_init(&c, &bench, 2) < 0 || hogs_add(&h, &c, ROLE_BE, 2) < 0 || hogs_go(&h, true) < 0)
		_exit(1);
	for (int i = 0; i < 2; i++)
		if (write(to_parent, &c.members[i].pid, sizeof(pid_t)) != sizeof(pid_t))
			_exit(1);
	for (;;)
		pause();
}

static void test_an_interrupt_leaves_nobody(void **state)
{
	int to[2], status;
	pid_t parent, kids[2];

	(void)state;
	assert_int_equal(pipe(to), 0);
	parent = fork();
	if (parent == 0)
		interrupted_parent(to[1]);
	assert_int_equal(read(to[0], &kids[0], sizeof(pid_t)), sizeof(pid_t));
	assert_int_equal(read(to[0], &kids[1], sizeof(pid_t)), sizeof(pid_t));
	kill(parent, SIGINT);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
	/* It had waited for them. */
	assert_int_equal(kill(kids[0], 0), -1);
	assert_int_equal(kill(kids[1], 0), -1);
	close(to[0]);
	close(to[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rounds_are_done_once_by_each, setup),
		cmocka_unit_test_setup(test_a_death_is_an_error_that_names_it, setup),
		cmocka_unit_test_setup(test_one_that_gives_up_says_why, setup),
		cmocka_unit_test_setup(test_a_cgroup_that_is_none_is_named, setup),
		cmocka_unit_test_setup(test_more_than_planned_are_refused, setup),
		cmocka_unit_test_setup(test_hogs_run_and_are_gone_afterwards, setup),
		cmocka_unit_test_setup(test_an_interrupt_leaves_nobody, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
