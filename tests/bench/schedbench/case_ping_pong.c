/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * case_ping_pong.c - ping_pong: what waking the other one costs, by how far it is
 *
 * Levels: same_hyperthread (one logical CPU), same_core (its hyperthreads),
 * same_complex (two cores of one last-level cache), same_node (two caches of one
 * node), unpinned.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/bench/sample.h"
#include "tests/bench/schedbench/cases.h"
#include "tests/bench/schedbench/params.h"
#include "tests/bench/schedbench/place.h"

enum { SLOTS = 256, WAITS = 1024 };

const struct param ping_pong_params[] = {
	{ "rounds", "round trips at each level", 5000, 10, 10000000, true },
	PARAM_CPU,
	{ 0 },
};

static const struct level {
	const char *name, *missing;
	enum nearness nearness; /* NR_NEAR: not pinned */
} levels[] = {
	{ "same_hyperthread", "", NEAR_SAME_CPU },
	{ "same_core", "no core has two of the CPUs", NEAR_CORE },
	{ "same_complex", "no last-level cache has two of the cores", NEAR_LLC },
	{ "same_node", "no node has two last-level caches", NEAR_NODE },
	{ "unpinned", "", NR_NEAR },
};

struct player {
	struct fsem *mine, *other; /* produce the first, consume the second, or the other way round */
	int32_t cpu;
	bool first;
};

struct table {
	struct fsem sems[2];
	uint64_t waits_ns[2 * WAITS]; /* one after the other: both make one series */
	struct player players[2];
};

static void player_member(struct member *self, void *arg)
{
	struct player *p = arg;
	int r = p->cpu < 0 ? 0 : place_pin(0, (uint32_t)p->cpu);

	if (r < 0)
		crew_give_up(self, r, "cannot pin to its CPU");
	for (;;)
		for (uint64_t n = crew_next(self); n; n--) {
			if (p->first)
				fsem_produce(p->mine, 1);
			fsem_consume(p->other, 1);
			if (!p->first)
				fsem_produce(p->mine, 1);
		}
}

static void report(const struct level *level, struct table *t, uint64_t rounds, uint64_t elapsed_ns, struct result *r)
{
	const struct reservoir *a = &t->sems[0].waits, *b = &t->sems[1].waits;
	char prefix[32];

	memmove(t->waits_ns + a->n, b->ns, b->n * sizeof(*b->ns));
	snprintf(prefix, sizeof(prefix), "%s_", level->name);
	result_series(r, prefix, t->waits_ns, a->n + b->n);
	result_metric(r, (double)elapsed_ns / 1e3 / (double)rounds, "%sround_trip_us", prefix);
}

static int play(const struct bench *b, const struct level *level, struct table *t, struct crew *c)
{
	uint64_t rounds = param_count(b, "rounds"), begin_ns;
	int r = crew_init(c, b, 2);

	for (int i = 0; i < 2 && r == 0; i++) {
		char name[48];

		snprintf(name, sizeof(name), "%s %s", level->name, i ? "second" : "first");
		fsem_init(&t->sems[i], 1, SLOTS, t->waits_ns + i * WAITS, WAITS);
		t->players[i].mine = &t->sems[i];
		t->players[i].other = &t->sems[!i];
		t->players[i].first = i == 0;
		r = crew_add(c, ROLE_NORMAL, name, player_member, &t->players[i]);
	}
	r = r < 0 ? r : crew_wait(c);
	begin_ns = sample_now_ns();
	r = r < 0 ? r : case_batch(c, rounds);
	if (r == 0)
		report(level, t, rounds, sample_now_ns() - begin_ns, b->result);
	return r;
}

/* -ENOENT: this machine has no such pair. */
static int choose_cpus(const struct bench *b, const struct level *level, struct table *t)
{
	uint32_t first, second;
	int r;

	t->players[0].cpu = t->players[1].cpu = -1;
	if (level->nearness == NR_NEAR)
		return 0;
	r = level->nearness == NEAR_SAME_CPU ? param_cpu(b, &first) : 0;
	second = first;
	if (r == 0 && level->nearness != NEAR_SAME_CPU)
		r = machine_pair(b->env->machine, level->nearness, &first, &second);
	if (r < 0)
		return r;
	t->players[0].cpu = (int32_t)first;
	t->players[1].cpu = (int32_t)second;
	return 0;
}

int ping_pong_run(const struct bench *b)
{
	struct table *t = place_shared(sizeof(*t));
	int r = 0;

	if (!t)
		return result_error(b->result, -ENOMEM, "no shared memory");
	for (size_t i = 0; i < ARRAY_SIZE(levels) && r == 0; i++) {
		struct crew c = { 0 };

		r = choose_cpus(b, &levels[i], t);
		if (r == -ENOENT) {
			result_note(b->result, "%s skipped: %s", levels[i].name, levels[i].missing);
			r = 0;
			continue;
		}
		r = r < 0 ? r : play(b, &levels[i], t, &c);
		crew_end(&c);
	}
	place_unshare(t, sizeof(*t));
	return r;
}
