/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc.c - fields of files below /proc/PID */
#include "tests/bench/schedbench/proc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/file.h"

int proc_cpu_ns(pid_t pid, uint64_t *ret_ns)
{
	char path[64], line[160];
	unsigned long long ns;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	r = file_read_line(path, line, sizeof(line));
	if (r < 0)
		return r;
	if (sscanf(line, "%llu", &ns) != 1)
		return -EBADMSG;
	*ret_ns = ns;
	return 0;
}

int proc_cpu_tick_ns(pid_t pid, uint64_t *ret_ns)
{
	unsigned long long user, system;
	char path[64], line[1024];
	const char *rest;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	r = file_read_line(path, line, sizeof(line));
	if (r < 0)
		return r;
	/* The name before it may hold anything. */
	rest = strrchr(line, ')');
	if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
		return -EBADMSG;
	*ret_ns = (user + system) * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
	return 0;
}

int proc_migrations(pid_t pid, uint64_t *ret_migrations)
{
	char path[64], line[256];
	unsigned long long n;
	_cleanup_fclose_ FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/sched", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, "se.nr_migrations", 16) == 0 && sscanf(line, "se.nr_migrations : %llu", &n) == 1) {
			*ret_migrations = n;
			return 0;
		}
	return -EBADMSG;
}
