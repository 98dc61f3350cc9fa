/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hogs.c - endless loops as members of a crew */
#include "tests/bench/schedbench/hogs.h"

#include <errno.h>
#include <stdio.h>

#include "tests/bench/sample.h"
#include "tests/bench/schedbench/place.h"

/* Under emulation with every CPU taken. */
static const double start_limit_s = 60;

static void hog_member(struct member *self, void *arg)
{
	struct hog *hog = arg;

	crew_next(self);
	hog->last_ns = sample_now_ns();
	spin_hog(hog);
}

int hogs_add(struct hogs *h, struct crew *crew, enum role role, uint32_t nr)
{
	static const char *const roles[] = { "lc spinner", "lc2 spinner", "spinner", "be hog" };

	*h = (struct hogs){ .crew = crew, .first = crew->nr, .nr = nr };
	if (!nr)
		return 0;
	h->hogs = place_shared(nr * sizeof(*h->hogs));
	if (!h->hogs)
		return result_error(crew->bench->result, -ENOMEM, "no shared memory for %u hogs", nr);
	for (uint32_t i = 0; i < nr; i++) {
		char name[32];
		int r;

		snprintf(name, sizeof(name), "%s %u", roles[role], i);
		r = crew_add(crew, role, name, hog_member, &h->hogs[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool all_ran(void *arg)
{
	const struct hogs *h = arg;

	for (uint32_t i = 0; i < h->nr; i++)
		if (!atomic_load(&h->hogs[i].loops))
			return false;
	return true;
}

int hogs_go(struct hogs *h, bool wait)
{
	struct member *members = h->crew->members + h->first;
	int r = 0;

	for (uint32_t i = 0; i < h->nr && r == 0; i++)
		r = crew_wait_one(h->crew, &members[i]);
	for (uint32_t i = 0; i < h->nr && r == 0; i++)
		crew_start_one(&members[i], 1);
	if (r == 0 && wait)
		r = crew_wait_until(h->crew, all_ran, h, start_limit_s);
	if (r == -ETIMEDOUT)
		result_error(h->crew->bench->result, r, "a hog of %u did not run for %.0f s after its start", h->nr,
			     start_limit_s);
	return r;
}

static uint64_t loops(const struct hogs *h)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < h->nr; i++)
		sum += atomic_load(&h->hogs[i].loops);
	return sum;
}

static uint64_t cpu_ns(const struct hogs *h)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < h->nr; i++)
		sum += crew_cpu_ns(&h->crew->members[h->first + i]);
	return sum;
}

void hogs_begin(struct hogs *h)
{
	h->begin_loops = loops(h);
	h->begin_cpu_ns = cpu_ns(h);
	h->begin_ns = sample_now_ns();
}

struct hogs_done hogs_measure(const struct hogs *h)
{
	double elapsed_s = (double)(sample_now_ns() - h->begin_ns) / 1e9;

	return (struct hogs_done){
		.elapsed_s = elapsed_s,
		.cpu_s = (double)(cpu_ns(h) - h->begin_cpu_ns) / 1e9,
		.loops_per_s = elapsed_s > 0 ? (double)(loops(h) - h->begin_loops) / elapsed_s : 0,
	};
}

void hogs_report(const struct hogs *h, const struct hogs_done *done, const char *prefix)
{
	struct result *r = h->crew->bench->result;

	if (!h->nr)
		return;
	result_metric(r, done->loops_per_s, "%sloops_per_s", prefix);
	result_metric(r, done->cpu_s, "%scpu_s", prefix);
	result_metric(r, done->elapsed_s, "%selapsed_s", prefix);
}

void hogs_free(struct hogs *h)
{
	place_unshare(h->hogs, h->nr * sizeof(*h->hogs));
	h->hogs = NULL;
}
