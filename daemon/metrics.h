/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.h - one table of metrics -> exposition text
 *
 * The caller fills a snapshot; rendering is pure.  Both formats come from the
 * same table and snapshot, so they always have the same samples.
 */
#ifndef SCHEDD_METRICS_H
#define SCHEDD_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/intf.h"
#include "daemon/alloc.h"
#include "daemon/command.h"

enum metrics_format { METRICS_TEXT, METRICS_OPENMETRICS };

enum lease_result {
	LEASE_RESULT_GRANTED,
	LEASE_RESULT_PARTIAL,
	LEASE_RESULT_REFUSED,
	LEASE_RESULT_RENEWED,
	LEASE_RESULT_RELEASED,
	NR_LEASE_RESULTS,
};

/* Who scheduled when a wake-up was measured: ours, or in mode observe whoever else. */
enum metrics_scheduler { METRICS_SCHEDD, METRICS_KERNEL, NR_METRICS_SCHEDULERS };

struct metrics_latency {
	uint64_t hist[SCHEDD_LAT_BUCKETS];
	uint64_t sum_ns;
};

struct metrics_class {
	bool used;
	const char *name;
	struct schedd_class_stats sum;    /* over all CPUs, whoever scheduled */
	struct metrics_latency wakeups[NR_METRICS_SCHEDULERS];
	uint32_t owned_cpus, held_cpus, guarantee_cpus, burst_cpus, guarantee_unmet_cpus;
	uint32_t leases, leased_cpus;
	uint64_t reallocations[2][NR_ALLOC_TRIGGERS]; /* gained, lost */
	uint64_t would_reallocate;
	double congested_seconds;
	uint32_t cgroups;
	uint32_t assignments_call, assignments_config; /* cgroups decided by that source */
};

struct metrics_method {                   /* one per RPC, and one per status code seen */
	uint64_t requests;
	uint64_t failures[17];            /* by gRPC status code */
};

struct metrics_snapshot {
	const char *version, *revision, *bpf_hash, *kernel;
	const char *state;                /* status_view.state */
	const char *mode;
	const char *hold_reason;          /* "" = none */
	double attached_seconds, detached_seconds;
	uint64_t ejections[4];            /* stall, error, sysrq, other */
	uint64_t kernel_events[16];
	const char *kernel_event_names[16];
	size_t nr_kernel_events;
	struct metrics_class classes[SCHEDD_MAX_CLASSES];
	struct schedd_cpu_stats cpu_sum;  /* only the fields behind class[] */
	uint32_t cpu_limits_unenforced_cgroups;
	uint64_t plans_applied, plan_generation;
	double plan_duration_sum_seconds;
	uint64_t plan_duration_count;
	uint64_t lease_requests[NR_LEASE_RESULTS];
	double reallocation_sum_seconds;
	uint64_t reallocation_count;
	uint64_t cgroup_created, cgroup_removed, cgroup_events_lost, rescans, cgroups_unwatched;
	bool config_ok;
	double config_success_timestamp_seconds;
	uint64_t state_writes, state_write_failures;
	struct metrics_method methods[NR_COMMANDS];
	double request_seconds_sum;
	uint64_t request_seconds_count;
	uint32_t command_queue_length, connections;
	uint64_t connections_refused_total, connections_refused_per_uid;
	uint64_t connections_refused_idle;
	uint32_t event_watchers;
	uint64_t events_dropped;
	double render_seconds;            /* of the previous render */
	/* process_* */
	double process_cpu_seconds, process_start_time_seconds;
	uint64_t process_resident_bytes, process_virtual_bytes, process_open_fds, process_max_fds, process_threads;
};

int metrics_render(const struct metrics_snapshot *m, enum metrics_format format, FILE *out);

/* The list of families, for schedd-metrics.7 and its test. */
struct metrics_family {
	const char *name;   /* without _total and _info */
	const char *type;   /* counter, gauge, histogram, summary, info */
	const char *unit;   /* "seconds", "bytes", "cpus", "" */
	const char *labels; /* "class,limit" or "" */
	const char *help;
};
extern const struct metrics_family metrics_families[];
extern const size_t metrics_nr_families;

/* Fills process_* from /proc/self. */
void metrics_read_process(struct metrics_snapshot *m);

#endif
