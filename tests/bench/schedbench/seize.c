/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seize.c - who runs where at once, as the workers themselves see it */
#include "tests/bench/schedbench/seize.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/place.h"
#include "tests/bench/schedbench/spin.h"

static const uint64_t at_once_ns = 1000000;
const uint64_t seize_give_up_ns = 10000000000ull;

struct seen {
	_Atomic uint64_t at_ns;
	_Atomic uint32_t cpu;
	char pad[52];
};

struct seize {
	uint32_t nr_cpus, nr_workers;
	_Atomic uint32_t round;
	_Atomic uint64_t end_ns;                      /* of the burst */
	_Atomic uint32_t reached;                     /* most workers seen at once in this round */
	_Atomic uint64_t reached_ns[SEIZE_MAX_CPUS];  /* 0 = not yet */
	_Atomic uint64_t back_ns[SEIZE_MAX_CPUS];     /* first best-effort loop after an end */
	struct seen workers[SEIZE_MAX_CPUS];
};

struct seize *seize_create(uint32_t nr_cpus, uint32_t nr_workers)
{
	struct seize *s = place_shared(sizeof(*s));

	if (s) {
		s->nr_cpus = nr_cpus;
		s->nr_workers = nr_workers;
	}
	return s;
}

size_t seize_size(void)
{
	return sizeof(struct seize);
}

void seize_best_effort(struct seize *s)
{
	for (;;) {
		uint64_t end_ns = atomic_load(&s->end_ns), now_ns;
		unsigned int cpu = 0;

		spin_loop();
		getcpu(&cpu, NULL);
		now_ns = sample_now_ns();
		/* Only the first after an end, which one from before the burst is not. */
		if (end_ns && now_ns > end_ns && cpu < SEIZE_MAX_CPUS && atomic_load(&s->back_ns[cpu]) <= end_ns)
			atomic_store(&s->back_ns[cpu], now_ns);
	}
}

static uint32_t running_at_once(const struct seize *s, uint64_t now_ns)
{
	uint64_t cpus = 0;

	for (uint32_t i = 0; i < s->nr_workers; i++)
		if (atomic_load(&s->workers[i].at_ns) + at_once_ns >= now_ns)
			cpus |= 1ull << (atomic_load(&s->workers[i].cpu) % SEIZE_MAX_CPUS);
	return (uint32_t)__builtin_popcountll(cpus);
}

/* Several may see the same at once: the first one's time counts. */
static void note_reached(struct seize *s, uint64_t now_ns)
{
	uint32_t count = running_at_once(s, now_ns), before = atomic_load(&s->reached);

	for (uint32_t k = before; k < count; k++) {
		uint64_t none = 0;

		atomic_compare_exchange_strong(&s->reached_ns[k], &none, now_ns);
	}
	while (before < count && !atomic_compare_exchange_weak(&s->reached, &before, count))
		;
}

static void burst(struct seize *s, struct seen *self)
{
	uint64_t end_ns = atomic_load(&s->end_ns), now_ns = sample_now_ns();
	unsigned int cpu = 0;

	for (; now_ns < end_ns; now_ns = sample_now_ns()) {
		getcpu(&cpu, NULL);
		atomic_store(&self->cpu, cpu);
		atomic_store(&self->at_ns, now_ns);
		if (atomic_load(&s->reached) < s->nr_workers)
			note_reached(s, now_ns);
	}
}

void seize_worker(struct seize *s, uint32_t self)
{
	for (uint32_t seen = 0;; seen = atomic_load(&s->round)) {
		while (atomic_load(&s->round) == seen)
			syscall(SYS_futex, &s->round, FUTEX_WAIT, seen, NULL, NULL, 0);
		burst(s, &s->workers[self]);
	}
}

static uint64_t last_back(const struct seize *s, uint64_t end_ns)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		uint64_t at_ns = atomic_load(&s->back_ns[i]);

		if (at_ns <= end_ns)
			return 0;
		last = at_ns > last ? at_ns : last;
	}
	return last;
}

void seize_one_round(struct seize *s, uint64_t burst_ns, struct seize_round *ret_round)
{
	uint64_t start_ns = sample_now_ns(), end_ns = start_ns + burst_ns, back_ns;

	atomic_store(&s->reached, 0);
	for (uint32_t i = 0; i < s->nr_workers; i++) {
		atomic_store(&s->reached_ns[i], 0);
		atomic_store(&s->workers[i].at_ns, 0);
	}
	atomic_store(&s->end_ns, end_ns);
	atomic_fetch_add(&s->round, 1);
	syscall(SYS_futex, &s->round, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	while (!(back_ns = last_back(s, end_ns)) && sample_now_ns() < end_ns + seize_give_up_ns)
		usleep(2000);
	memset(ret_round, 0, sizeof(*ret_round));
	for (uint32_t i = 0; i < s->nr_workers; i++) {
		uint64_t at_ns = atomic_load(&s->reached_ns[i]);

		ret_round->reached_ns[i] = at_ns ? at_ns - start_ns : 0;
	}
	ret_round->back_ns = back_ns ? back_ns - end_ns : 0;
}
