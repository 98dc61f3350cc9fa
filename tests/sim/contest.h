/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contest.h - one scenario under one contender: what was measured, and how contenders compare */
#ifndef SIM_CONTEST_H
#define SIM_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario.h"

enum contender {
	CONTENDER_SHENANGO,        /* polling, at the scenario's interval; the poller's CPU is lost */
	CONTENDER_SHENANGO_TIMER,  /* the daemon's default: a timer, 1 ms */
	CONTENDER_STATIC,
	CONTENDER_UTILISATION_100MS,
	CONTENDER_UTILISATION_1MS,
	CONTENDER_USAGE_1MS,       /* the same policy on the CPU time of the last interval alone, without an average */
	CONTENDER_ORACLE,
	NR_CONTENDERS,
};

const char *contender_name(enum contender c);

/* The same for all contenders of a contest. */
struct contest_options {
	uint64_t seed;
	struct engine_costs costs;
	uint64_t congestion_ns, park_ns, dwell_ns;
	/* Overrule the scenario's where they are not 0. */
	uint64_t interval_ns, warmup_ns, measured_ns;
	uint32_t step;
};

extern const struct contest_options contest_defaults;

/* Long enough for the slow baseline to have seen three of its intervals. */
#define CONTEST_QUICK_WARMUP_NS UINT64_C(300000000)
#define CONTEST_QUICK_MEASURED_NS UINT64_C(200000000)

struct outcome_service {
	uint64_t requests;
	uint64_t mean_ns, p50_ns, p99_ns, p999_ns, max_ns;  /* from arrival to start; quantiles within 0.4 % */
	uint32_t owned_mcpu;                                 /* on average, in thousandths of a CPU */
};

struct outcome {
	struct outcome_service services[ENGINE_MAX_SERVICES];
	uint32_t batch_ppm;   /* best-effort's CPU time, of all that services did not use */
	uint64_t moves_per_s; /* CPUs that got another owner */
};

/* 0; -EPROTO: a plan broke a rule, which was said on stderr; -ENOMEM. */
int contest_run(const struct scenario *s, enum contender c, const struct contest_options *o, struct outcome *ret);

/*
 * Of the distance between the worst of the baselines (static, utilisation,
 * usage) and the oracle, how much the contender closes, in ppm; negative when it is worse.
 * INT64_MIN: there is no distance.
 */
int64_t contest_closed_p99_ppm(const struct outcome all[NR_CONTENDERS], uint32_t service, enum contender c);
int64_t contest_closed_p999_ppm(const struct outcome all[NR_CONTENDERS], uint32_t service, enum contender c);

/* What the headline must reach. */
struct target {
	const char *what;
	double limit;
	bool at_most;         /* else at least */
	double value;
};

enum { NR_TARGETS = 4 };
void contest_judge(const struct outcome all[NR_CONTENDERS], struct target ret_targets[NR_TARGETS]);

static inline bool target_met(const struct target *t)
{
	return t->at_most ? t->value <= t->limit : t->value >= t->limit;
}

#endif
