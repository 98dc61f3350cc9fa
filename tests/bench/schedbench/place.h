/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.h - where a process or thread runs, and what must not disturb its measuring */
#ifndef SCHEDBENCH_PLACE_H
#define SCHEDBENCH_PLACE_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

/* Moves the calling process into the cgroup v2 directory; -errno. */
int place_join_cgroup(const char *dir);

/* The calling thread's policy becomes SCHED_EXT; -errno. */
int place_ext_policy(void);

/* pid 0: the calling thread.  -errno. */
int place_pin(pid_t pid, uint32_t cpu);

/* Page faults and the 50 us of timer slack are not what is measured.  As far as we may. */
void place_quiet(void);

/* A thread with a small stack: locked memory counts all of it.  -errno. */
int place_thread(pthread_t *ret_thread, void *(*run)(void *), void *arg);

/* Memory that children share; NULL when there is none. */
void *place_shared(size_t size);
void place_unshare(void *p, size_t size); /* NULL is fine */

#endif
