// SPDX-License-Identifier: GPL-2.0-or-later
/* contest.c - one scenario under one contender: what was measured, and how contenders compare */
#include <errno.h>

#include "contest.h"
#include "daemon/base/cleanup.h"
#include "oracle.h"
#include "planner.h"

static const struct {
	const char *name;
	const struct alloc_policy *policy;  /* NULL: the oracle */
	uint64_t interval_ns;               /* 0: the scenario's, by polling */
	bool no_average;
} contenders[NR_CONTENDERS] = {
	[CONTENDER_SHENANGO] = { "shenango-poll", &policy_shenango, 0 },
	[CONTENDER_SHENANGO_TIMER] = { "shenango-1ms", &policy_shenango, 1000000 },
	[CONTENDER_STATIC] = { "static", &policy_static, 1000000 },
	[CONTENDER_UTILISATION_100MS] = { "utilisation-100ms", &policy_utilisation, 100000000 },
	[CONTENDER_UTILISATION_1MS] = { "utilisation-1ms", &policy_utilisation, 1000000 },
	[CONTENDER_USAGE_1MS] = { "usage-1ms", &policy_utilisation, 1000000, true },
	[CONTENDER_ORACLE] = { "oracle", NULL, 0 },
};

const struct contest_options contest_defaults = {
	.seed = 1,
	.costs = { .reclaim_ns = 2000, .move_ns = 6000 },
	.congestion_ns = 10000,
	.park_ns = 50000,
	.dwell_ns = 50000,
};

const char *contender_name(enum contender c)
{
	return contenders[c].name;
}

struct match {
	struct topo topo;
	struct alloc_limits limits;
	struct oracle oracle;
	struct alloc_planner planner;
	struct engine engine;
};

static uint64_t either(uint64_t overrule, uint64_t otherwise)
{
	return overrule ? overrule : otherwise;
}

static void match_fini(struct match **m)
{
	if (*m)
		engine_fini(&(*m)->engine);
	free(*m);
}

static void match_init(struct match *m, const struct scenario *s, enum contender c, const struct contest_options *o)
{
	bool polls = contenders[c].policy && !contenders[c].interval_ns;
	uint64_t interval_ns = either(contenders[c].interval_ns, either(o->interval_ns, s->interval_ns));
	uint32_t last_cpu = s->hardware.nr_cpus - 1;
	struct planner *planner = &m->planner.base;

	hardware_build(&s->hardware, &m->topo);
	scenario_limits(s, &m->limits);
	m->limits.step = (uint32_t)either(o->step, s->step);
	m->limits.park_ns = o->park_ns;
	m->limits.dwell_ns = o->dwell_ns;
	if (polls)
		alloc_cpus_add(&m->limits.excluded, last_cpu);
	if (contenders[c].policy) {
		alloc_planner_init(&m->planner, &m->topo, contenders[c].policy, &m->limits, interval_ns,
				   o->congestion_ns);
		m->planner.no_average = contenders[c].no_average;
	} else {
		oracle_init(&m->oracle, &m->limits, &o->costs);
		planner = &m->oracle.base;
	}
	engine_init(&m->engine, &m->topo, planner, &o->costs);
	if (polls)
		engine_take_cpu_away(&m->engine, last_cpu);
	for (uint32_t i = 0; i < scenario_nr_services(s); i++) {
		uint32_t class_idx = scenario_class_idx(i);

		engine_add_service(&m->engine, class_idx, &m->limits.classes[class_idx], &s->services[i].load, o->seed);
	}
}

static struct outcome_service service_outcome(const struct engine_service *s, uint64_t measured_ns)
{
	return (struct outcome_service){
		.requests = s->delay.count,
		.mean_ns = s->delay.count ? s->delay_sum_ns / s->delay.count : 0,
		.p50_ns = hist_quantile(&s->delay, 500000),
		.p99_ns = hist_quantile(&s->delay, 990000),
		.p999_ns = hist_quantile(&s->delay, 999000),
		.max_ns = s->delay.max_ns,
		.owned_mcpu = (uint32_t)(s->owned_ns * 1000 / measured_ns),
	};
}

int contest_run(const struct scenario *s, enum contender c, const struct contest_options *o, struct outcome *ret)
{
	_cleanup_(match_fini) struct match *m = calloc(1, sizeof(*m));
	uint64_t warmup_ns = either(o->warmup_ns, s->warmup_ns), measured_ns = either(o->measured_ns, s->measured_ns);
	uint64_t available_ns = s->hardware.nr_cpus * measured_ns;
	int r;

	if (!m)
		return -ENOMEM;
	match_init(m, s, c, o);
	r = engine_run(&m->engine, warmup_ns, warmup_ns + measured_ns);
	if (r < 0)
		return r;
	*ret = (struct outcome){
		.batch_ppm = (uint32_t)(m->engine.measured.batch_ns * 1000 /
					((available_ns - m->engine.measured.service_ns) / 1000)),
		.moves_per_s = m->engine.measured.moves * 1000000 / (measured_ns / 1000),
	};
	for (uint32_t i = 0; i < m->engine.nr_services; i++)
		ret->services[i] = service_outcome(&m->engine.services[i], measured_ns);
	return 0;
}

static int64_t closed_ppm(const uint64_t ns[NR_CONTENDERS], enum contender c)
{
	uint64_t worst = ns[CONTENDER_STATIC];

	for (enum contender i = CONTENDER_UTILISATION_100MS; i <= CONTENDER_USAGE_1MS; i++)
		if (ns[i] > worst)
			worst = ns[i];
	if (worst <= ns[CONTENDER_ORACLE])
		return INT64_MIN;
	return ((int64_t)worst - (int64_t)ns[c]) * 1000000 / ((int64_t)worst - (int64_t)ns[CONTENDER_ORACLE]);
}

int64_t contest_closed_p99_ppm(const struct outcome all[NR_CONTENDERS], uint32_t service, enum contender c)
{
	uint64_t ns[NR_CONTENDERS];

	for (int i = 0; i < NR_CONTENDERS; i++)
		ns[i] = all[i].services[service].p99_ns;
	return closed_ppm(ns, c);
}

int64_t contest_closed_p999_ppm(const struct outcome all[NR_CONTENDERS], uint32_t service, enum contender c)
{
	uint64_t ns[NR_CONTENDERS];

	for (int i = 0; i < NR_CONTENDERS; i++)
		ns[i] = all[i].services[service].p999_ns;
	return closed_ppm(ns, c);
}

void contest_judge(const struct outcome all[NR_CONTENDERS], struct target ret_targets[NR_TARGETS])
{
	const struct outcome *slow = &all[CONTENDER_UTILISATION_100MS], *fast = &all[CONTENDER_UTILISATION_1MS];
	const struct outcome *o = &all[CONTENDER_SHENANGO];
	double p999 = (double)o->services[0].p999_ns, batch = o->batch_ppm;

	ret_targets[0] = (struct target){ "p99.9 against utilisation at 100 ms", 1.0 / 20, true,
					  p999 / (double)slow->services[0].p999_ns };
	ret_targets[1] = (struct target){ "p99.9 against utilisation at 1 ms", 1.0 / 3, true,
					  p999 / (double)fast->services[0].p999_ns };
	ret_targets[2] = (struct target){ "best-effort share against utilisation at 100 ms", 0.95, false,
					  batch / slow->batch_ppm };
	ret_targets[3] = (struct target){ "best-effort share against utilisation at 1 ms", 0.95, false,
					  batch / fast->batch_ppm };
}
