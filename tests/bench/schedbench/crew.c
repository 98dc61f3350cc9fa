/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crew.c - children: made, waited for, ended; none is left behind */
#include "tests/bench/schedbench/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/place.h"

enum { POLL_NS = 1000000000 };

/* For the signal handler: the one crew there is. */
static struct crew *volatile live;

static void kill_all(struct crew *c)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->members[i].pid > 0)
			kill(c->members[i].pid, SIGKILL);
	for (uint32_t i = 0; i < c->nr; i++) {
		if (c->members[i].pid > 0)
			waitpid(c->members[i].pid, NULL, 0);
		c->members[i].pid = 0;
	}
}

static void interrupted(int number)
{
	if (live)
		kill_all(live);
	_exit(128 + number);
}

void crew_catch_signals(void)
{
	struct sigaction action = { .sa_handler = interrupted };

	sigfillset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

int crew_init(struct crew *c, const struct bench *b, uint32_t cap)
{
	*c = (struct crew){ .bench = b, .cap = cap };
	c->members = place_shared(cap * sizeof(*c->members));
	if (!c->members)
		return result_error(b->result, -ENOMEM, "no shared memory for %u processes: %s", cap, strerror(errno));
	live = c;
	return 0;
}

void crew_give_up(struct member *self, int error, const char *what)
{
	snprintf(self->error, sizeof(self->error), "%s: %s", what, strerror(error < 0 ? -error : error));
	_exit(1);
}

static _Noreturn void child(struct member *self, const struct bench_env *env, pid_t parent, member_fn run, void *arg)
{
	const char *dir = env->cgroups[self->role];
	char what[160];
	int r;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	r = dir ? place_join_cgroup(dir) : 0;
	if (r < 0) {
		snprintf(what, sizeof(what),
			 "cannot join the cgroup %s (is it a cgroup v2 directory that we may write to?)", dir);
		crew_give_up(self, r, what);
	}
	r = env->ext_policy ? place_ext_policy() : 0;
	if (r < 0)
		crew_give_up(self, r,
			     "cannot set the policy SCHED_EXT (does this kernel have it? --policy leave does without)");
	place_quiet();
	run(self, arg);
	_exit(1);
}

int crew_add(struct crew *c, enum role role, const char *name, member_fn run, void *arg)
{
	struct member *m = &c->members[c->nr];
	pid_t parent = getpid(), pid;
	sigset_t all, before;

	if (c->nr == c->cap)
		return result_error(c->bench->result, -E2BIG, "more processes than the %u planned", c->cap);
	snprintf(m->name, sizeof(m->name), "%s", name);
	m->role = role;
	fsem_init(&m->ready, UINT32_MAX >> 1, 0, NULL, 0);
	fsem_init(&m->start, UINT32_MAX >> 1, 0, NULL, 0);
	/* A signal between here and the child's own handlers would end its siblings twice. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0) {
		live = NULL;
		sigprocmask(SIG_SETMASK, &before, NULL);
		child(m, c->bench->env, parent, run, arg);
	}
	if (pid > 0) {
		m->pid = pid;
		c->nr++;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? result_error(c->bench->result, -errno, "cannot start '%s': %s", name, strerror(errno)) : 0;
}

/* None of them ends by itself: one that did is an error. */
static int look_after(struct crew *c)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		struct member *m = &c->members[i];
		int status;

		if (m->pid <= 0 || waitpid(m->pid, &status, WNOHANG) != m->pid)
			continue;
		m->pid = 0;
		if (m->error[0])
			return result_error(c->bench->result, -ECHILD, "process '%s': %s", m->name, m->error);
		if (WIFSIGNALED(status))
			return result_error(c->bench->result, -ECHILD, "process '%s' was killed by signal %d (%s)",
					    m->name, WTERMSIG(status), strsignal(WTERMSIG(status)));
		return result_error(c->bench->result, -ECHILD, "process '%s' ended with status %d", m->name,
				    WEXITSTATUS(status));
	}
	return 0;
}

int crew_wait_one(struct crew *c, struct member *m)
{
	while (fsem_consume_timed(&m->ready, 1, POLL_NS) < 0) {
		int r = look_after(c);

		if (r < 0)
			return r;
	}
	return 0;
}

int crew_wait(struct crew *c)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		int r = crew_wait_one(c, &c->members[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

void crew_start_one(struct member *m, uint64_t iters)
{
	atomic_store(&m->iters, iters);
	fsem_produce(&m->start, 1);
}

void crew_start(struct crew *c, uint64_t iters)
{
	for (uint32_t i = 0; i < c->nr; i++)
		crew_start_one(&c->members[i], iters);
}

static void nap(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

int crew_sleep(struct crew *c, uint64_t ns)
{
	uint64_t until_ns = sample_now_ns() + ns;

	for (uint64_t now_ns; (now_ns = sample_now_ns()) < until_ns;) {
		int r = look_after(c);

		if (r < 0)
			return r;
		nap(until_ns - now_ns < POLL_NS ? until_ns - now_ns : POLL_NS);
	}
	return look_after(c);
}

int crew_wait_until(struct crew *c, bool (*condition)(void *arg), void *arg, double limit_s)
{
	uint64_t until_ns = sample_now_ns() + (uint64_t)(limit_s * 1e9);

	while (!condition(arg)) {
		int r = sample_now_ns() < until_ns ? look_after(c) : -ETIMEDOUT;

		if (r < 0)
			return r;
		nap(1000000);
	}
	return 0;
}

uint64_t crew_cpu_ns(const struct member *m)
{
	clockid_t clock;

	return m->pid > 0 && clock_getcpuclockid(m->pid, &clock) == 0 ? sample_clock_ns(clock) : 0;
}

void crew_end(struct crew *c)
{
	if (!c->members)
		return;
	kill_all(c);
	live = NULL;
	place_unshare(c->members, c->cap * sizeof(*c->members));
	c->members = NULL;
}

uint64_t crew_next(struct member *self)
{
	fsem_produce(&self->ready, 1);
	fsem_consume(&self->start, 1);
	return atomic_exchange(&self->iters, 0);
}
