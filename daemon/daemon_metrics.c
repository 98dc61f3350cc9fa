/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_metrics.c - one snapshot of everything that is counted, rendered */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpf_hash.h"
#include "daemon/base/cleanup.h"
#include "daemon/daemon_private.h"
#include "version.h"

static const char *const kernel_events_path = "/sys/kernel/sched_ext/root/events";

/* Lines of "NAME VALUE"; the kernel's own list, so what is new there shows up by itself. */
static void read_kernel_events(struct daemon *d, struct metrics_snapshot *m)
{
	_cleanup_fclose_ FILE *f = fopen(kernel_events_path, "re");
	unsigned long long value;

	while (f && m->nr_kernel_events < DAEMON_MAX_KERNEL_EVENTS) {
		char *name = d->kernel_event_names[m->nr_kernel_events];

		if (fscanf(f, "%47s %llu", name, &value) != 2)
			break;
		m->kernel_event_names[m->nr_kernel_events] = name;
		m->kernel_events[m->nr_kernel_events++] = value;
	}
}

/* Orders that name a class: calls that have found their cgroup, and rules. */
static void count_decisions(const struct daemon *d, struct metrics_snapshot *m)
{
	for (size_t i = 0; i < d->state->nr_assignments; i++) {
		int slot = state_find_class(d->state, d->state->assignments[i].class_name);

		if (slot >= 0 && d->state->assignments[i].cgroup_id)
			m->classes[slot].assignments_call++;
	}
	for (size_t i = 0; i < d->state->nr_rules; i++) {
		int slot = state_find_class(d->state, d->state->rules[i].class_name);

		if (slot >= 0)
			m->classes[slot].assignments_config++;
	}
}

static void count_leases(const struct daemon *d, struct metrics_snapshot *m)
{
	for (size_t i = 0; i < d->state->nr_leases; i++) {
		int slot = state_find_class(d->state, d->state->leases[i].class_name);

		if (slot >= 0)
			m->classes[slot].leases++;
	}
	memcpy(m->lease_requests, d->lease_requests, sizeof(m->lease_requests));
}

static void fill_latency(struct metrics_class *c, enum metrics_scheduler by, const struct schedd_class_stats *s)
{
	c->wakeups[by].sum_ns = s->wakeup_ns;
	memcpy(c->wakeups[by].hist, s->wakeup_hist, sizeof(c->wakeups[by].hist));
}

static void fill_classes(struct daemon *d, struct metrics_snapshot *m)
{
	struct schedd_cpu_stats stats[NR_METRICS_SCHEDULERS], sum = { 0 };

	daemon_stats(d, stats);
	for (size_t by = 0; by < NR_METRICS_SCHEDULERS; by++)
		daemon_add_stats(&sum, &stats[by]);
	for (unsigned int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		const struct state_class *c = &d->state->classes[i];
		struct metrics_class *out = &m->classes[i];

		if (!c->used)
			continue;
		*out = (struct metrics_class){
			.used = true,
			.name = c->name,
			.sum = sum.class[i],
			.guarantee_cpus = c->effective_guarantee_cpus,
			.burst_cpus = c->effective_burst_cpus,
			.guarantee_unmet_cpus = c->asked_guarantee_cpus - c->effective_guarantee_cpus +
						d->alloc.unmet_cpus[i],
			.leased_cpus = c->leased_cpus,
			.would_reallocate = d->would_reallocate[i],
			.congested_seconds = (double)(d->congested_ns_base[i] + d->alloc.congested_ns[i]) / 1e9,
			.cgroups = c->member_cgroups,
		};
		memcpy(out->reallocations, d->reallocations[i], sizeof(out->reallocations));
		for (size_t by = 0; by < NR_METRICS_SCHEDULERS; by++)
			fill_latency(out, by, &stats[by].class[i]);
	}
	for (uint32_t cpu = 0; d->sched && cpu < d->topo.nr_possible; cpu++) {
		struct schedd_cpu_state s;

		sched_read_cpu(d->sched, cpu, &s);
		if (d->alloc.plan.owner[cpu])
			m->classes[d->alloc.plan.owner[cpu] - 1].owned_cpus++;
		if (s.holder && s.holder <= SCHEDD_MAX_CLASSES)
			m->classes[s.holder - 1].held_cpus++;
	}
	m->cpu_sum = sum;
	count_decisions(d, m);
	count_leases(d, m);
}

static void fill_api(const struct daemon *d, struct metrics_snapshot *m)
{
	struct api_server_stats api = { 0 };

	if (d->api)
		api_server_get_stats(d->api, &api);
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		m->methods[i].requests = api.methods[i].requests;
		memcpy(m->methods[i].failures, api.methods[i].failures, sizeof(m->methods[i].failures));
	}
	m->request_seconds_sum = api.request_seconds_sum;
	m->request_seconds_count = api.request_seconds_count;
	m->command_queue_length = api.queue_length;
	m->connections = api.connections;
	m->connections_refused_total = api.refused_total;
	m->connections_refused_per_uid = api.refused_per_uid;
	m->connections_refused_idle = api.closed_idle;
}

static void fill_events(const struct daemon *d, struct metrics_snapshot *m)
{
	struct events_stats stats;

	events_get_stats(d->events, &stats);
	m->event_watchers = stats.readers;
	m->events_dropped = stats.dropped;
}

static void fill_cgroups(const struct daemon *d, struct metrics_snapshot *m)
{
	const struct cgroup_watch_stats *w = cgroup_watch_get_stats(d->watch);

	m->cgroup_created = w->created;
	m->cgroup_removed = w->removed;
	m->cgroup_events_lost = w->lost_events;
	m->rescans = w->rescans;
	m->cgroups_unwatched = w->unwatched;
}

static void fill_daemon(const struct daemon *d, struct metrics_snapshot *m)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), attached_ns = d->attached_total_ns;

	if (d->attached_since_ns)
		attached_ns += now_ns - d->attached_since_ns;
	m->version = SCHEDD_VERSION;
	m->revision = SCHEDD_REVISION;
	m->bpf_hash = SCHEDD_BPF_HASH;
	m->kernel = d->kernel;
	m->state = attach_state_name(d->attach.state);
	m->mode = mode_name(attach_mode(&d->attach));
	m->hold_reason = d->attach.hold.reason;
	m->attached_seconds = (double)attached_ns / 1e9;
	m->detached_seconds = (double)(now_ns - d->start_ns - attached_ns) / 1e9;
	memcpy(m->ejections, d->ejections, sizeof(m->ejections));
	m->cpu_limits_unenforced_cgroups = d->attach.state == ATTACH_ATTACHED ? d->cpu_limits_unenforced : 0;
	m->plans_applied = d->plans_applied_base + d->alloc.plans_applied;
	m->plan_generation = d->alloc.plan.generation;
	m->plan_duration_sum_seconds = (double)(d->plan_ns_base + d->alloc.plan_ns_sum) / 1e9;
	m->plan_duration_count = d->plan_count_base + d->alloc.plan_count;
	m->reallocation_sum_seconds = (double)d->reallocation_ns_sum / 1e9;
	m->reallocation_count = d->reallocation_count;
	m->config_ok = d->config_ok;
	m->config_success_timestamp_seconds = (double)d->config_success_realtime_ns / 1e9;
	m->state_writes = d->state_writes;
	m->state_write_failures = d->state_write_failures;
	m->render_seconds = (double)d->render_ns / 1e9;
}

int daemon_render_metrics(void *ctx, enum metrics_format format, char **ret_text, size_t *ret_size)
{
	struct daemon *d = ctx;
	_cleanup_free_ struct metrics_snapshot *m = calloc(1, sizeof(*m));
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int r;

	if (!m)
		return -ENOMEM;
	daemon_take_plan(d);
	fill_daemon(d, m);
	fill_classes(d, m);
	fill_api(d, m);
	fill_events(d, m);
	fill_cgroups(d, m);
	read_kernel_events(d, m);
	metrics_read_process(m);
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	r = metrics_render(m, format, out);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (r < 0) {
		free(text);
		return r;
	}
	d->render_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	*ret_text = text;
	*ret_size = size;
	return 0;
}
