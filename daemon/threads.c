/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.c - priority and memory of our own threads (operations.md, own threads) */
#include "daemon/threads.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "daemon/base/log.h"

void threads_privilege_self(void)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	/* A page fault in the loop would wait for a kernel thread that our own scheduler runs. */
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) < 0)
		log_warning_errno(errno, "cannot lock memory; under memory pressure answers may be slow");
	/* For the moments without real-time priority, see threads_yield_self(). */
	setpriority(PRIO_PROCESS, 0, -20);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	threads_prioritise_self("the loop");
}

void threads_prioritise_self(const char *who)
{
	const struct sched_param priority = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority) < 0)
		log_warning_errno(errno, "cannot make %s SCHED_RR 1 (CAP_SYS_NICE); under full load it may be late", who);
}

void threads_yield_self(void)
{
	const struct sched_param none = { 0 };

	sched_setscheduler(0, SCHED_OTHER, &none);
}

void threads_restore_self(void)
{
	const struct sched_param priority = { .sched_priority = 1 };

	/* Not permitted was said at the start. */
	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority);
}

int threads_block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	return 0;
}
