/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.c - cgroup, policy, affinity, memory of a measuring process */
#include "tests/bench/schedbench/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"

enum { STACK_BYTES = 128 * 1024 };

#ifndef SCHED_EXT
#define SCHED_EXT 7 /* the C library's headers do not have it yet */
#endif

int place_join_cgroup(const char *dir)
{
	char path[PATH_MAX], pid[16];
	_cleanup_close_ int fd = -1;
	int len = snprintf(pid, sizeof(pid), "%d", (int)getpid());

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, pid, (size_t)len) < 0)
		return -errno;
	return 0;
}

int place_ext_policy(void)
{
	struct sched_param param = { .sched_priority = 0 };

	return sched_setscheduler(0, SCHED_EXT, &param) < 0 ? -errno : 0;
}

int place_pin(pid_t pid, uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set) < 0 ? -errno : 0;
}

void place_quiet(void)
{
	mlockall(MCL_CURRENT | MCL_FUTURE);
	prctl(PR_SET_TIMERSLACK, 1);
}

int place_thread(pthread_t *ret_thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(ret_thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -r;
}

void *place_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void place_unshare(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}
