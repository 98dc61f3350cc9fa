/* SPDX-License-Identifier: GPL-2.0-or-later */
/* broadcast.c - sleepers on one futex word */
#include "tests/bench/schedbench/broadcast.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/spin.h"

enum { WARM_UP_ROUNDS = 5 };

struct hall {
	const struct broadcast *b;
	_Atomic uint32_t go, done;
	uint64_t done_at[BROADCAST_MAX_THREADS];
};

struct seat {
	struct hall *hall;
	uint32_t self;
	pthread_t thread;
};

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void *sleeper(void *arg)
{
	struct seat *seat = arg;
	struct hall *h = seat->hall;

	for (uint32_t round = 0;;) {
		while (atomic_load(&h->go) == round)
			futex(&h->go, FUTEX_WAIT, round);
		round = atomic_load(&h->go);
		if (round == UINT32_MAX)
			return NULL;
		spin_cpu(h->b->work_ns);
		h->done_at[seat->self] = sample_now_ns();
		if (atomic_fetch_add(&h->done, 1) + 1 == h->b->nr_threads)
			futex(&h->done, FUTEX_WAKE, 1);
	}
}

static uint64_t one_round(struct hall *h)
{
	uint64_t start, last = 0;
	uint32_t seen;

	atomic_store(&h->done, 0);
	start = sample_now_ns();
	atomic_fetch_add(&h->go, 1);
	futex(&h->go, FUTEX_WAKE, h->b->nr_threads);
	while ((seen = atomic_load(&h->done)) < h->b->nr_threads)
		futex(&h->done, FUTEX_WAIT, seen);
	for (uint32_t i = 0; i < h->b->nr_threads; i++)
		if (h->done_at[i] > last)
			last = h->done_at[i];
	return last - start;
}

int broadcast_run(const struct broadcast *b, uint64_t *took_ns)
{
	struct seat seats[BROADCAST_MAX_THREADS];
	struct hall hall = { .b = b };
	uint32_t made = 0;
	int r = 0;

	while (made < b->nr_threads && r == 0) {
		seats[made] = (struct seat){ .hall = &hall, .self = made };
		r = place_thread(&seats[made].thread, sleeper, &seats[made]);
		made += r == 0;
	}
	for (long i = -WARM_UP_ROUNDS; i < b->rounds && r == 0; i++) {
		uint64_t ns;

		usleep((useconds_t)b->gap_us);
		ns = one_round(&hall);
		if (i >= 0)
			took_ns[i] = ns;
	}
	atomic_store(&hall.go, UINT32_MAX);
	futex(&hall.go, FUTEX_WAKE, BROADCAST_MAX_THREADS);
	for (uint32_t i = 0; i < made; i++)
		pthread_join(seats[i].thread, NULL);
	return r;
}
