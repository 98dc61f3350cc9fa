/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.h - priority and memory of our own threads (operations.md, own threads) */
#ifndef SCHEDD_THREADS_H
#define SCHEDD_THREADS_H

/*
 * Makes the calling thread SCHED_RR 1 with reset on fork and locks memory.
 * Call it after gRPC has made its threads: those must stay ordinary tasks.
 * Not permitted is a warning, not a failure.
 */
void threads_privilege_self(void);
/* The priority alone; memory is locked for all threads by then. */
void threads_prioritise_self(const char *who);

/*
 * For the seconds that the verifier may take: as a real-time task it would keep
 * everybody else off this CPU, so it is an ordinary task of nice -20.  Only while our own scheduler is not in
 * force; threads_restore_self() ends it.
 */
void threads_yield_self(void);
void threads_restore_self(void);

/* Blocks the signals the loop reads; before any thread is made, so that all inherit it. */
int threads_block_signals(void);

#endif
