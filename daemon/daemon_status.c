/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_status.c - what the daemon says of itself: status, conditions, plan, classes */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bpf_hash.h"
#include "daemon/base/cleanup.h"
#include "daemon/daemon_private.h"
#include "version.h"

static const char *const condition_names[NR_CONDITIONS] = {
	[CONDITION_ATTACHED] = "Attached",
	[CONDITION_GUARANTEES_MET] = "GuaranteesMet",
	[CONDITION_CPU_MAX_ENFORCED] = "CpuMaxEnforced",
	[CONDITION_CONFIG_CURRENT] = "ConfigCurrent",
	[CONDITION_STATE_STORED] = "StateStored",
};

void daemon_set_condition(struct daemon *d, enum condition_type type, int status, const char *reason,
			  const char *format, ...)
{
	struct condition *c = &d->conditions[type];
	va_list ap;

	if (c->status != status)
		c->since_realtime_ns = clock_ns(CLOCK_REALTIME);
	c->status = status;
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
	va_start(ap, format);
	vsnprintf(c->message, sizeof(c->message), format, ap);
	va_end(ap);
}

static const char *attach_reason(enum attach_state state)
{
	static const char *const reasons[NR_ATTACH_STATES] = {
		[ATTACH_STARTING] = "Starting",       [ATTACH_DETACHED] = "NotWanted",
		[ATTACH_ATTACHED] = "Attached",       [ATTACH_BACKOFF] = "Ejected",
		[ATTACH_HELD] = "Held",               [ATTACH_DEGRADED] = "Degraded",
		[ATTACH_BLOCKED] = "OtherScheduler",  [ATTACH_UNSUPPORTED] = "Unsupported",
		[ATTACH_STOPPING] = "Stopping",       [ATTACH_OBSERVING] = "Observing",
	};

	return reasons[state];
}

void daemon_update_conditions(struct daemon *d)
{
	daemon_set_condition(d, CONDITION_ATTACHED, d->attach.state == ATTACH_ATTACHED ? 1 : 2,
			     attach_reason(d->attach.state), "%s", d->attach.reason);
	if (d->state->guarantees_scaled)
		daemon_set_condition(d, CONDITION_GUARANTEES_MET, 2, "Scaled",
				     "the guarantees add up to more than the %u online CPUs and were scaled down",
				     d->topo.nr_online);
	else
		daemon_set_condition(d, CONDITION_GUARANTEES_MET, 1, "Met", "%s", "");
	if (d->attach.state == ATTACH_ATTACHED && d->cpu_limits_unenforced)
		daemon_set_condition(d, CONDITION_CPU_MAX_ENFORCED, 2, "NotEnforced",
				     "%u cgroups have a cpu.max that is not enforced while schedd is attached",
				     d->cpu_limits_unenforced);
	else
		daemon_set_condition(d, CONDITION_CPU_MAX_ENFORCED, 1, "Enforced", "%s", "");
}

static void fill_conditions(struct daemon *d, struct reply *reply)
{
	struct status_view *v = &reply->node;

	v->conditions = arena_array(&reply->arena, struct condition_view, NR_CONDITIONS);
	for (size_t i = 0; v->conditions && i < NR_CONDITIONS; i++) {
		const struct condition *c = &d->conditions[i];

		v->conditions[v->nr_conditions++] = (struct condition_view){
			.type = condition_names[i],
			.reason = arena_strdup(&reply->arena, c->reason),
			.message = arena_strdup(&reply->arena, c->message),
			.status = c->status ?: 3,
			.last_transition_realtime_ns = c->since_realtime_ns,
		};
	}
}

static void fill_features(struct daemon *d, struct reply *reply)
{
	struct status_view *v = &reply->node;

	v->features = arena_array(&reply->arena, struct feature_view, d->probe.nr_features);
	for (size_t i = 0; v->features && i < d->probe.nr_features; i++) {
		const struct sched_feature *f = &d->probe.features[i];

		v->features[v->nr_features++] = (struct feature_view){ f->name, f->detail, f->present };
	}
}

static uint64_t until_realtime(const struct daemon *d)
{
	uint64_t until_ns = d->attach.hold.until_boottime_ns, now_ns = clock_ns(CLOCK_BOOTTIME);

	return until_ns ? clock_ns(CLOCK_REALTIME) + (until_ns > now_ns ? until_ns - now_ns : 0) : 0;
}

static void fill_identity(struct daemon *d, struct status_view *v)
{
	v->epoch = d->epoch;
	v->version = SCHEDD_VERSION;
	v->revision = SCHEDD_REVISION;
	v->bpf_hash = SCHEDD_BPF_HASH;
	v->kernel = d->kernel;
	v->online_cpus = d->topo.nr_online;
	v->uptime_ns = clock_ns(CLOCK_MONOTONIC) - d->start_ns;
}

static void fill_classes(struct daemon *d, struct reply *reply)
{
	struct status_view *v = &reply->node;

	v->classes = arena_array(&reply->arena, struct class_view, SCHEDD_MAX_CLASSES);
	for (unsigned int i = 0; v->classes && i < SCHEDD_MAX_CLASSES; i++) {
		const struct state_class *c = &d->state->classes[i];
		struct class_view *view;

		if (!c->used)
			continue;
		view = &v->classes[v->nr_classes++];
		*view = (struct class_view){
			.name = arena_strdup(&reply->arena, c->name),
			.settings = c->effective,
			.own_fields = c->config.set | c->override.set,
			.overridden_fields = c->override.set,
			.origin = c->origin,
			.etag = "",
			.member_cgroups = c->member_cgroups,
			.effective_guarantee_cpus = c->effective_guarantee_cpus,
		};
		daemon_fill_class(d, i, view, reply);
	}
}

void daemon_fill_status(void *ctx, struct reply *reply)
{
	struct daemon *d = ctx;
	struct status_view *v = &reply->node;
	char text[256];

	/* A reply may be filled twice, before and after a change. */
	*v = (struct status_view){ 0 };
	daemon_update_conditions(d);
	fill_identity(d, v);
	v->mode = mode_name(attach_mode(&d->attach));
	v->state = attach_state_name(d->attach.state);
	v->state_reason = arena_strdup(&reply->arena, d->attach.reason);
	v->hold_reason = arena_strdup(&reply->arena, d->attach.hold.reason);
	v->hold_until_realtime_ns = until_realtime(d);
	v->config_generation = d->state->config_generation;
	v->plan_generation = d->alloc.plan.generation;
	v->managed_cgroups = (uint32_t)cgroup_tree_size(d->tree);
	v->cpu_limits_unenforced_cgroups = d->attach.state == ATTACH_ATTACHED ? d->cpu_limits_unenforced : 0;
	v->ejections = d->attach.hold.ejections_total;
	v->attached_ns = d->attached_total_ns;
	if (d->attached_since_ns)
		v->attached_ns += clock_ns(CLOCK_MONOTONIC) - d->attached_since_ns;
	v->detached_ns = v->uptime_ns - v->attached_ns;
	v->ready = daemon_is_ready(d, text, sizeof(text));
	v->healthy = v->ready && d->attach.state != ATTACH_BLOCKED && d->attach.state != ATTACH_UNSUPPORTED &&
		     d->config_ok && d->conditions[CONDITION_STATE_STORED].status != 2;
	fill_conditions(d, reply);
	fill_features(d, reply);
	fill_classes(d, reply);
}

/* Class index + 1 of what runs on a CPU now, 0 = idle. */
static uint32_t holder_of(const struct daemon *d, uint32_t cpu)
{
	struct schedd_cpu_state s;

	if (!d->sched)
		return 0;
	sched_read_cpu(d->sched, cpu, &s);
	return s.holder <= SCHEDD_MAX_CLASSES ? s.holder : 0;
}

void daemon_fill_class(void *ctx, unsigned int class_idx, struct class_view *view, struct reply *reply)
{
	struct daemon *d = ctx;

	view->nr_owned_cpus = view->nr_held_cpus = 0;
	view->owned_cpus = arena_array(&reply->arena, uint32_t, d->topo.nr_possible);
	view->held_cpus = arena_array(&reply->arena, uint32_t, d->topo.nr_possible);
	if (!view->owned_cpus || !view->held_cpus)
		return;
	for (uint32_t cpu = 0; cpu < d->topo.nr_possible; cpu++) {
		if (d->alloc.plan.owner[cpu] == class_idx + 1)
			view->owned_cpus[view->nr_owned_cpus++] = cpu;
		if (holder_of(d, cpu) == class_idx + 1)
			view->held_cpus[view->nr_held_cpus++] = cpu;
	}
}

static const char *class_name_of(const struct daemon *d, struct reply *reply, uint32_t idx_plus_one)
{
	return idx_plus_one ? arena_strdup(&reply->arena, d->state->classes[idx_plus_one - 1].name) : "";
}

/* Plan.Exclusion: the strongest reason why a CPU is not exchanged between classes. */
static int exclusion_of(const struct daemon *d, uint32_t cpu)
{
	if (!d->topo.cpus[cpu].online)
		return 2;
	if (cpuset_has(&d->reach.isolated, cpu))
		return 6;
	return d->reach.private_class[cpu] ? 5 : 1;
}

static void fill_plan_cpus(struct daemon *d, struct reply *reply)
{
	struct lease_owners owners = daemon_plan_owners(d);
	struct plan_view *v = &reply->plan;
	uint16_t lease[SCHEDD_MAX_CPUS];

	lease_split(d->state, &owners, lease);
	v->cpus = arena_array(&reply->arena, struct plan_cpu_view, d->topo.nr_possible);
	for (uint32_t cpu = 0; v->cpus && cpu < d->topo.nr_possible; cpu++) {
		const struct topo_cpu *t = &d->topo.cpus[cpu];

		if (!t->possible)
			continue;
		v->cpus[v->nr_cpus++] = (struct plan_cpu_view){
			.cpu_id = cpu,
			.core_id = t->core,
			.llc_id = t->llc,
			.numa_node = t->node,
			.owner_class_name = class_name_of(d, reply, d->alloc.plan.owner[cpu]),
			.holder_class_name = class_name_of(d, reply, holder_of(d, cpu)),
			.exclusion = exclusion_of(d, cpu),
			.lease_id = lease[cpu] ? arena_strdup(&reply->arena, d->state->leases[lease[cpu] - 1].id) : "",
		};
	}
}

void daemon_fill_plan(void *ctx, bool full, struct reply *reply)
{
	struct daemon *d = ctx;
	struct plan_view *v = &reply->plan;

	daemon_take_plan(d);
	*v = (struct plan_view){ .policy = d->config->policy };
	v->apply_realtime_ns = d->alloc.apply_realtime_ns;
	fill_identity(d, &reply->node);
	reply->node.mode = mode_name(attach_mode(&d->attach));
	reply->node.plan_generation = d->alloc.plan.generation;
	reply->node.config_generation = d->state->config_generation;
	v->classes = arena_array(&reply->arena, struct plan_class_view, SCHEDD_MAX_CLASSES);
	for (uint32_t i = 0; v->classes && i < SCHEDD_MAX_CLASSES; i++) {
		struct class_view cpus = { 0 };

		if (!d->state->classes[i].used)
			continue;
		daemon_fill_class(d, i, &cpus, reply);
		v->classes[v->nr_classes++] = (struct plan_class_view){
			.class_name = class_name_of(d, reply, i + 1),
			.guarantee_cpus = d->state->classes[i].effective_guarantee_cpus,
			.leased_cpus = d->state->classes[i].leased_cpus,
			.owned_cpus = (uint32_t)cpus.nr_owned_cpus,
			.held_cpus = (uint32_t)cpus.nr_held_cpus,
			.reachable_cpus = cpuset_count(&d->reach.classes[i]),
		};
	}
	if (full)
		fill_plan_cpus(d, reply);
}
