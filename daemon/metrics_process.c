/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_process.c - the standard process_* values, from /proc/self */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/metrics.h"

static int read_file(const char *path, char *text, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	if (n < 0)
		return -1;
	text[n] = '\0';
	return 0;
}

/* Second of the boot in Unix time; the kernel keeps it in step with the clock. */
static double read_boot_time(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/stat", "re");
	_cleanup_free_ char *line = NULL;
	unsigned long long seconds;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0)
		if (sscanf(line, "btime %llu", &seconds) == 1)
			return (double)seconds;
	return 0;
}

static void read_stat(struct metrics_snapshot *m)
{
	unsigned long long user_ticks, system_ticks, threads, start_ticks, virtual_bytes, resident_pages;
	double ticks_per_s = (double)sysconf(_SC_CLK_TCK), boot = read_boot_time();
	char text[1024], *after_name;

	if (read_file("/proc/self/stat", text, sizeof(text)) < 0)
		return;
	/* The name in front may hold blanks and brackets: fields are counted from its end, at 3. */
	after_name = strrchr(text, ')');
	if (!after_name ||
	    sscanf(after_name + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %llu %*d %llu %llu %llu",
		   &user_ticks, &system_ticks, &threads, &start_ticks, &virtual_bytes, &resident_pages) != 6)
		return;
	m->process_cpu_seconds = (double)(user_ticks + system_ticks) / ticks_per_s;
	m->process_threads = threads;
	m->process_start_time_seconds = boot > 0 ? boot + (double)start_ticks / ticks_per_s : 0;
	m->process_virtual_bytes = virtual_bytes;
	m->process_resident_bytes = resident_pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static uint64_t count_fds(void)
{
	_cleanup_closedir_ DIR *d = opendir("/proc/self/fd");
	uint64_t count = 0;

	for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		count += e->d_name[0] != '.';
	return count ? count - 1 : 0; /* not the one that reads the directory */
}

void metrics_read_process(struct metrics_snapshot *m)
{
	struct rlimit limit;

	read_stat(m);
	m->process_open_fds = count_fds();
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		m->process_max_fds = limit.rlim_cur;
}
