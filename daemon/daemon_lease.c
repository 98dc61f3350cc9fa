/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_lease.c - how far leases are, answers that wait for them, and what was asked */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "daemon/daemon_private.h"

/* Nobody tells when a task of the class comes to a CPU; each look costs a few reads of mapped memory. */
static const uint64_t look_us = 1000;

static bool is_attached(const struct daemon *d)
{
	return d->sched && sched_is_attached(d->sched);
}

struct lease_owners daemon_plan_owners(const struct daemon *d)
{
	return (struct lease_owners){
		.owner = d->alloc.plan.owner,
		.nr_cpus = is_attached(d) ? d->alloc.plan.nr_cpus : 0,
		.topo = &d->topo,
	};
}

static void read_holders(const struct daemon *d, uint8_t *ret_holder, uint32_t nr_cpus)
{
	struct schedd_cpu_state s;

	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		sched_read_cpu(d->sched, cpu, &s);
		if (s.rank == SCHEDD_RANK_IDLE)
			ret_holder[cpu] = 0;
		else
			ret_holder[cpu] = s.holder && s.holder <= SCHEDD_MAX_CLASSES ? (uint8_t)s.holder : LEASE_HOLDER_OTHER;
	}
}

static void read_waiting(const struct daemon *d, uint32_t *ret_waiting)
{
	struct schedd_cpu_stats sum = { 0 };

	sched_read_stats(d->sched, &sum);
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		int64_t waiting = (int64_t)(sum.class[i].enqueued - sum.class[i].dequeued);

		ret_waiting[i] = waiting > 0 ? (uint32_t)waiting : 0;
	}
}

void daemon_leases_watch(struct daemon *d)
{
	if (!is_attached(d)) /* attaching looks by itself */
		return;
	sd_event_source_set_time_relative(d->lease_look, look_us);
	sd_event_source_set_enabled(d->lease_look, SD_EVENT_ONESHOT);
}

void daemon_leases_progress(struct daemon *d)
{
	uint8_t holder[SCHEDD_MAX_CPUS] = { 0 };
	uint32_t waiting[SCHEDD_MAX_CLASSES] = { 0 };
	struct lease_input in = {
		.plan = daemon_plan_owners(d),
		.plan_generation = d->alloc.plan.generation,
		.limits_generation = d->alloc.model_generation,
		.holder = holder,
		.waiting = waiting,
		.boottime_ns = clock_ns(CLOCK_BOOTTIME),
	};

	if (in.plan.nr_cpus && lease_wants_holders(d->state)) {
		read_holders(d, holder, in.plan.nr_cpus);
		read_waiting(d, waiting);
	}
	lease_progress(d->state, &in);
	if (d->state->lease_revision != d->lease_revision_told) {
		d->lease_revision_told = d->state->lease_revision;
		sd_event_source_set_enabled(d->lease_tell, SD_EVENT_ONESHOT);
	}
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;

	(void)source;
	(void)usec;
	daemon_leases_progress(d);
	if (api_server_nr_waiting(d->api))
		daemon_leases_watch(d);
	return 0;
}

/* Not where it was noticed: that may be within a change which is undone. */
static int on_tell(sd_event_source *source, void *userdata)
{
	struct daemon *d = userdata;

	(void)source;
	daemon_announce_leases(d);
	if (!d->api)
		return 0;
	api_server_resume(d->api);
	if (api_server_nr_waiting(d->api))
		daemon_leases_watch(d);
	return 0;
}

int daemon_start_leases(struct daemon *d)
{
	int r = sd_event_add_defer(d->event, &d->lease_tell, on_tell, d);

	if (r >= 0)
		r = sd_event_source_set_enabled(d->lease_tell, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(d->event, &d->lease_look, CLOCK_MONOTONIC, UINT64_MAX, 100, on_look, d);
	return r < 0 ? r : sd_event_source_set_enabled(d->lease_look, SD_EVENT_OFF);
}

bool daemon_resume(void *ctx, const struct command_wait *wait, bool deadline_passed, struct reply *reply)
{
	struct daemon *d = ctx;

	return command_resume(&d->env, wait, deadline_passed, reply);
}

/* ---------- for commands ---------- */

int daemon_can_lease(void *ctx, char *error, size_t error_size)
{
	const struct daemon *d = ctx;
	enum schedd_mode mode = attach_mode(&d->attach);

	if (!d->attach.supported) {
		snprintf(error, error_size, "this machine gives no CPUs: %s", d->attach.reason);
		return -EOPNOTSUPP;
	}
	if (d->attach.hold.reason[0]) {
		snprintf(error, error_size,
			 "schedd is held detached (%s) and gives no CPUs; `schedctl mode auto` ends that",
			 d->attach.hold.message);
		return -EPERM;
	}
	if (mode != MODE_AUTO && mode != MODE_ACTIVE) {
		snprintf(error, error_size, "in mode %s no CPUs are given; `schedctl mode` names another one",
			 mode_name(mode));
		return -EPERM;
	}
	if (d->attach.state != ATTACH_DEGRADED && d->attach.state != ATTACH_BLOCKED)
		return 0;
	snprintf(error, error_size, "schedd is not attached and gives no CPUs: %s", d->attach.reason);
	return -EPERM;
}

void daemon_update_leases(void *ctx)
{
	daemon_leases_progress(ctx);
}

void daemon_fill_lease(void *ctx, const struct state_lease *lease, struct lease_view *view, struct reply *reply)
{
	const struct daemon *d = ctx;
	struct lease_owners owners = daemon_plan_owners(d);
	uint32_t cpus[SCHEDD_MAX_CPUS], n = lease_cpus(d->state, &owners, lease, cpus);

	view->cpu_ids = arena_array(&reply->arena, uint32_t, n + 1);
	for (uint32_t i = 0; view->cpu_ids && i < n; i++)
		view->cpu_ids[view->nr_cpu_ids++] = cpus[i];
}

void daemon_count_lease_request(struct daemon *d, const struct command *cmd, const struct reply *reply)
{
	enum lease_result result;

	if (cmd->type < COMMAND_GRANT_CORES || cmd->type > COMMAND_RELEASE_LEASE || cmd->change.validate_only)
		return;
	if (reply->status != COMMAND_OK)
		result = LEASE_RESULT_REFUSED;
	else if (cmd->type == COMMAND_RENEW_LEASE)
		result = LEASE_RESULT_RENEWED;
	else if (cmd->type == COMMAND_RELEASE_LEASE)
		result = LEASE_RESULT_RELEASED;
	else
		result = reply->nr_leases && reply->leases[0].state == LEASE_PARTIAL ? LEASE_RESULT_PARTIAL :
										       LEASE_RESULT_GRANTED;
	d->lease_requests[result]++;
}
