/* SPDX-License-Identifier: GPL-2.0-or-later */
/* converge.c - the size of the next batch, from what the last one took */
#include "tests/bench/schedbench/converge.h"

#include <errno.h>
#include <math.h>

enum { MAX_GROWTH = 100 };

static uint64_t next_iters(const struct converge *c, uint64_t iters, double elapsed_s)
{
	double wanted;

	if (elapsed_s >= c->min_s)
		return elapsed_s < c->max_s ? iters * 2 : iters;
	wanted = elapsed_s > 0 ? ceil((double)iters * c->min_s / elapsed_s) : INFINITY;
	if (wanted >= (double)iters * MAX_GROWTH)
		return iters * MAX_GROWTH;
	return wanted <= (double)iters ? iters + 1 : (uint64_t)wanted;
}

int converge_run(const struct converge *c, struct converge_end *ret_end)
{
	struct converge_end end = { 0 };

	for (uint64_t iters = 1; iters <= UINT64_MAX / MAX_GROWTH; iters = next_iters(c, iters, end.elapsed_s)) {
		uint64_t begin_ns = c->now_ns(c->arg);
		int r = c->measure(c->arg, iters, &end.metric);

		if (r < 0)
			return r;
		end.elapsed_s = (double)(c->now_ns(c->arg) - begin_ns) / 1e9;
		end.iters = iters;
		end.batches++;
		if (c->trace)
			fprintf(c->trace, "converge: iters=%llu, elapsed=%.3f s, metric=%.4f\n",
				(unsigned long long)iters, end.elapsed_s, end.metric);
		if (end.metric >= c->threshold && end.elapsed_s >= c->min_s) {
			end.value = end.metric;
			*ret_end = end;
			return 0;
		}
		if (end.elapsed_s > c->max_s) {
			*ret_end = end;
			return 0;
		}
	}
	return -ERANGE;
}
