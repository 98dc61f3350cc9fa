/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * poller_thread.c - when the allocator steps: on a timer, asleep, or without a pause
 *
 * Timer mode: one step per interval while a class that could grow waits;
 * otherwise asleep until a task is queued, limits change or a CPU may be given
 * back.  The order of going to sleep: tell BPF, then look once more, then
 * wait.  A task that is queued in between is seen either by the look or by the
 * wake-up.  Poll mode: on a CPU of its own, without a system call between steps.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/poller_private.h"
#include "daemon/threads.h"

static bool stopping(const struct poller *p)
{
	return __atomic_load_n(&p->stop, __ATOMIC_ACQUIRE);
}

/* Before the step that follows it, so that what was published before the wake-up is seen by that step. */
static void take_wakeup(struct poller *p)
{
	uint64_t n;

	__atomic_store_n(&p->woken, 0, __ATOMIC_RELAXED);
	while (read(p->wake_fd, &n, sizeof(n)) > 0)
		;
}

static void pong(struct poller *p)
{
	__atomic_store_n(&p->pongs, __atomic_load_n(&p->pings, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

/* True: a task was queued. */
static bool wait_for_work(struct poller *p, uint64_t in_ns, bool by_queue)
{
	struct pollfd fds[] = {
		{ .fd = p->wake_fd, .events = POLLIN },
		{ .fd = by_queue ? p->kernel.wake_fd : -1, .events = POLLIN },
	};
	struct timespec t = { (time_t)(in_ns / 1000000000ull), (long)(in_ns % 1000000000ull) };

	ppoll(fds, 2, in_ns == UINT64_MAX ? NULL : &t, NULL);
	if (fds[0].revents)
		take_wakeup(p);
	return fds[1].revents;
}

static void sleep_until_needed(struct poller *p, struct poller_next next)
{
	struct poller_next again;
	bool queued = true;

	p->kernel.set_asleep(p->kernel.ctx, next.wake_classes);
	/* Queued between the last step and the word: nobody will wake us for it. */
	again = poller_step(p, poller_now_ns());
	if (again.in_ns == next.in_ns && again.wake_classes == next.wake_classes) {
		/* It sleeps for longer than the alive word may be old. */
		p->kernel.alive(p->kernel.ctx, poller_now_ns(), false);
		queued = wait_for_work(p, again.in_ns, true);
	}
	p->kernel.set_asleep(p->kernel.ctx, 0);
	p->kernel.drain_wakeups(p->kernel.ctx);
	/* What was queued just now has not waited yet; the reflex has seen to it, and most of it is gone by then. */
	if (queued)
		wait_for_work(p, p->limits.interval_ns, false);
}

static void run_timer(struct poller *p)
{
	uint64_t next_ns = poller_now_ns();

	while (!stopping(p)) {
		uint64_t now_ns = poller_now_ns();
		struct poller_next next;

		pong(p);
		p->kernel.alive(p->kernel.ctx, now_ns, true);
		next = poller_step(p, now_ns);
		if (next.in_ns > p->limits.interval_ns) {
			sleep_until_needed(p, next);
			next_ns = poller_now_ns();
			continue;
		}
		/* Late steps are left out: a step sees all that happened since the last one. */
		next_ns += next.in_ns;
		now_ns = poller_now_ns();
		if (next_ns < now_ns)
			next_ns = now_ns + next.in_ns;
		wait_for_work(p, next_ns - now_ns, false);
	}
}

static void run_polling(struct poller *p)
{
	uint64_t next_ns = poller_now_ns();

	p->kernel.set_poller(p->kernel.ctx, true);
	while (!stopping(p)) {
		uint64_t now_ns = poller_now_ns();

		if (now_ns < next_ns && !__atomic_load_n(&p->woken, __ATOMIC_ACQUIRE)) {
			__builtin_ia32_pause();
			continue;
		}
		if (__atomic_load_n(&p->woken, __ATOMIC_ACQUIRE))
			take_wakeup(p);
		pong(p);
		p->kernel.alive(p->kernel.ctx, now_ns, true);
		poller_step(p, now_ns);
		next_ns = now_ns + p->limits.interval_ns;
	}
	p->kernel.set_poller(p->kernel.ctx, false);
}

static bool move_to_poll_cpu(const struct poller *p)
{
	cpu_set_t *set = CPU_ALLOC(SCHEDD_MAX_CPUS);
	size_t size = CPU_ALLOC_SIZE(SCHEDD_MAX_CPUS);
	int r = -ENOMEM;

	if (set) {
		CPU_ZERO_S(size, set);
		CPU_SET_S((size_t)p->poll_cpu, size, set);
		r = sched_setaffinity(0, size, set) < 0 ? -errno : 0;
		CPU_FREE(set);
	}
	if (r < 0)
		log_warning_errno(r, "allocator.poll_cpu %d: the thread cannot go there; stepping on a timer instead",
				  p->poll_cpu);
	return r == 0;
}

void *poller_thread(void *poller)
{
	struct poller *p = poller;

	pthread_setname_np(pthread_self(), "schedd-alloc");
	/* Polling in real time would starve its CPU until the kernel removes the scheduler. */
	if (p->poll_cpu != POLLER_NO_CPU && move_to_poll_cpu(p)) {
		run_polling(p);
	} else {
		threads_prioritise_self("the allocator thread");
		run_timer(p);
	}
	p->kernel.alive(p->kernel.ctx, poller_now_ns(), false);
	return NULL;
}
