/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc.h - what the kernel counts of a process with one thread */
#ifndef SCHEDBENCH_PROC_H
#define SCHEDBENCH_PROC_H

#include <stdint.h>
#include <sys/types.h>

/* CPU time, exactly (/proc/PID/schedstat); -errno of reading, -EBADMSG. */
int proc_cpu_ns(pid_t pid, uint64_t *ret_ns);

/* CPU time as user and system ticks of the clock (/proc/PID/stat), in ns; the same errors. */
int proc_cpu_tick_ns(pid_t pid, uint64_t *ret_ns);

/* Times that it changed CPUs (/proc/PID/sched); -ENOENT: a kernel without scheduler debugging. */
int proc_migrations(pid_t pid, uint64_t *ret_migrations);

#endif
