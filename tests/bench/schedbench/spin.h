/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin.h - ways to compute: for a time, for CPU time, for ever */
#ifndef SCHEDBENCH_SPIN_H
#define SCHEDBENCH_SPIN_H

#include <stdatomic.h>
#include <stdint.h>

/* Where a spinner was last; shared with whoever looks at it. */
struct spinner {
	_Atomic uint32_t last_cpu;
	_Atomic uint64_t changed_ns; /* when it was first seen there */
};

/* Until that much time has passed, whether it ran or not. */
void spin_wall(struct spinner *s, uint64_t ns);

/* Until the calling thread has used that much CPU time. */
void spin_cpu(uint64_t ns);

struct hog {
	_Atomic uint64_t loops;
	_Atomic uint64_t gap_ns;  /* the longest time for which it did not run */
	_Atomic uint64_t last_ns; /* when it was last seen running; before the first time, when it was made */
	char pad[40];
};

/* About a thousand additions. */
void spin_loop(void);

_Noreturn void spin_hog(struct hog *self);

#endif
