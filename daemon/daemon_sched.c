/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_sched.c - carries out the attach policy: load, attach, apply, notice the end */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/daemon_private.h"
#include "daemon/store_file.h"
#include "daemon/threads.h"

/*
 * The kernel tells nobody when it removes a scheduler; BPF writes a record into
 * mapped memory.  Looking at it four times a second costs no system call, and
 * the kernel's own scheduler runs meanwhile.
 */
static const uint64_t exit_poll_us = 250000;
static const uint64_t hotplug_poll_us = 1000000; /* observing: this one is a system call */

uint64_t clock_ns(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

void daemon_add_stats(struct schedd_cpu_stats *sum, const struct schedd_cpu_stats *add)
{
	const uint64_t *from = (const uint64_t *)add;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

/* An object either schedules or observes, all its life: its counters are of one scheduler. */
static enum metrics_scheduler measured_scheduler(const struct daemon *d)
{
	return sched_is_observing(d->sched) ? METRICS_KERNEL : METRICS_SCHEDD;
}

void daemon_stats(struct daemon *d, struct schedd_cpu_stats ret_by[NR_METRICS_SCHEDULERS])
{
	struct schedd_cpu_stats live;

	memcpy(ret_by, d->stats_base, sizeof(d->stats_base));
	if (!d->sched)
		return;
	sched_read_stats(d->sched, &live);
	daemon_add_stats(&ret_by[measured_scheduler(d)], &live);
}

static void keep_stats(struct daemon *d, enum metrics_scheduler by)
{
	struct schedd_cpu_stats sum = { 0 };

	sched_read_stats(d->sched, &sum);
	for (size_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		/* Nothing runs or waits in a removed scheduler. */
		sum.class[i].nr_runnable = 0;
		sum.class[i].dequeued = sum.class[i].enqueued;
	}
	daemon_add_stats(&d->stats_base[by], &sum);
}

static void unload(struct daemon *d)
{
	enum metrics_scheduler by;
	bool counted;

	if (!d->sched)
		return;
	by = measured_scheduler(d);
	counted = sched_is_attached(d->sched) || sched_is_observing(d->sched);
	if (d->attached_since_ns)
		d->attached_total_ns += clock_ns(CLOCK_MONOTONIC) - d->attached_since_ns;
	d->attached_since_ns = 0;
	sd_event_source_set_enabled(d->exit_poll, SD_EVENT_OFF);
	daemon_stop_alloc(d);
	sched_detach(d->sched);
	if (counted)
		keep_stats(d, by);
	sched_free(d->sched);
	d->sched = NULL;
	for (struct cgroup_node *n = cgroup_tree_root(d->tree); n; n = cgroup_node_next(cgroup_tree_root(d->tree), n))
		n->applied = false;
}

static void class_to_bpf(const struct state *s, const struct state_class *c, struct schedd_class_conf *ret_conf)
{
	uint32_t policy = SCHEDD_POLICY_VTIME;

	/* Checked when it was set. */
	class_policy_parse(c->effective.policy, &policy);
	*ret_conf = (struct schedd_class_conf){
		.kind = c->effective.kind,
		.flags = SCHEDD_CLASS_USED,
		.slice_ns = c->effective.slice_ns,
		.quantum_ns = c->effective.quantum_ns,
		.policy = policy,
		.weight = c->effective.weight,
		.guarantee_cpus = c->effective_guarantee_cpus,
		/* No limit is cheaper for BPF than one that is never reached. */
		.burst_cpus = c->effective_burst_cpus < s->nr_cpus ? c->effective_burst_cpus : SCHEDD_MAX_CPUS,
	};
	if (c->effective.lend == CLASS_LEND_NEVER)
		ret_conf->flags |= SCHEDD_CLASS_LEND_NEVER;
	if (c->effective.exclusive_smt)
		ret_conf->flags |= SCHEDD_CLASS_EXCLUSIVE_SMT;
}

int daemon_apply_classes(struct daemon *d)
{
	struct schedd_class_conf conf;
	int r, first = 0;

	if (!d->sched)
		return 0;
	for (uint32_t i = 0; i < SCHEDD_MAX_CLASSES; i++) {
		/* Told too: a deleted class must not live on in BPF. */
		if (d->state->classes[i].used)
			class_to_bpf(d->state, &d->state->classes[i], &conf);
		else
			conf = (struct schedd_class_conf){ 0 };
		r = sched_set_class(d->sched, i, &conf);
		if (r < 0 && !first)
			first = log_error_errno(r, "cannot tell BPF of class %s", d->state->classes[i].name);
	}
	return first;
}

static int load(struct daemon *d, char *error, size_t error_size)
{
	struct sched_options o = {
		.timeout_ms = d->config->watchdog_ns / 1000000,
		.alive_max_ns = d->config->alive_max_ns,
		/* For measurements of what the reflex is worth; not an option, since nobody is served by it. */
		.reflex_off = getenv("SCHEDD_TEST_REFLEX_OFF") != NULL,
	};
	int r;

	/* Read before the topology: a CPU that comes in between is then noticed by the kernel. */
	d->hotplug_seq = sched_read_hotplug_seq();
	r = topo_read("", &d->topo);
	if (r < 0) {
		snprintf(error, error_size, "cannot read the CPUs from /sys/devices/system/cpu: %s", strerror(-r));
		return r;
	}
	d->poll_cpu = o.poll_cpu = daemon_poll_cpu(d);
	/* Of what classes can be given: guarantees, leases and bursts are counted without the polling CPU. */
	d->state->nr_cpus = d->topo.nr_online - (d->poll_cpu != POLLER_NO_CPU);
	/* CPUs may have come or gone, and with them moved the cpusets: no event says so. */
	d->reach_stale = true;
	daemon_reread_cpuset(d, cgroup_tree_root(d->tree));
	d->state->nr_numa_nodes = d->topo.nr_nodes;
	state_scale_guarantees(d->state);
	r = sched_load(&d->topo, d->hotplug_seq, &o, &d->sched, error, error_size);
	if (r < 0)
		return r;
	r = sched_introduce(d->sched);
	if (r == 0)
		r = daemon_apply_classes(d);
	if (r == 0)
		daemon_apply_all_cgroups(d);
	if (r == 0)
		r = daemon_start_alloc(d);
	if (r < 0)
		snprintf(error, error_size, "the BPF scheduler refused its settings: %s", strerror(-r));
	return r;
}

/* As an ordinary task: what the verifier takes, it must not take from everybody else on this CPU. */
static int load_aside(struct daemon *d, char *error, size_t error_size)
{
	int r;

	threads_yield_self();
	r = load(d, error, error_size);
	threads_restore_self();
	return r;
}

static void start_exit_poll(struct daemon *d)
{
	sd_event_source_set_time(d->exit_poll, clock_ns(CLOCK_MONOTONIC) / 1000 + exit_poll_us);
	sd_event_source_set_enabled(d->exit_poll, SD_EVENT_ON);
}

/* Freshly loaded, not what the last mode left: nothing that another scheduler did is taken for ours. */
static void observe(struct daemon *d)
{
	char error[512] = "";
	int r = load_aside(d, error, sizeof(error));

	if (r == 0)
		r = sched_observe(d->sched, error, sizeof(error));
	if (r == 0) {
		start_exit_poll(d);
		log_event(LOG_NOTICE, LOG_ID_OBSERVING, NULL, "observing: what schedules here is measured per class");
	} else {
		unload(d);
		log_error_errno(r, "cannot observe: %s", error);
	}
	attach_observed(&d->attach, r, error);
}

static int load_and_attach(struct daemon *d, char *error, size_t error_size)
{
	char other[64];
	int r;

	sched_read_other(other, sizeof(other));
	if (other[0]) {
		snprintf(error, error_size, "the scheduler %s is loaded; stop it first", other);
		return -EBUSY;
	}
	r = load_aside(d, error, error_size);
	return r < 0 ? r : sched_attach(d->sched, error, error_size);
}

static void attach(struct daemon *d)
{
	char error[512] = "";
	int r = load_and_attach(d, error, sizeof(error));

	if (r == 0) {
		d->attached_since_ns = clock_ns(CLOCK_MONOTONIC);
		d->attached_once = true;
		daemon_count_limits(d);
		start_exit_poll(d);
		log_event(LOG_NOTICE, LOG_ID_ATTACHED, NULL, "attached: the scheduler %s is in force", sched_bpf_hash());
		daemon_leases_progress(d);
	} else {
		unload(d);
		log_error_errno(r, "cannot attach: %s", error);
	}
	attach_done(&d->attach, r, error, clock_ns(CLOCK_BOOTTIME));
}

static void take_down(struct daemon *d)
{
	bool attached = d->sched && sched_is_attached(d->sched), observing = d->sched && sched_is_observing(d->sched);

	unload(d);
	if (attached)
		log_event(LOG_NOTICE, LOG_ID_DETACHED, NULL, "detached: the kernel's own scheduler is in force");
	else if (observing)
		log_notice("no longer observing");
}

static void detach(struct daemon *d)
{
	take_down(d);
	attach_exited(&d->attach, &(struct sched_exit){ .kind = SCHED_EXIT_DETACHED }, clock_ns(CLOCK_BOOTTIME),
		      clock_ns(CLOCK_REALTIME));
}

void daemon_save_hold(struct daemon *d)
{
	int r;

	if (!d->attach.hold_changed)
		return;
	d->attach.hold_changed = false;
	r = store_save_hold(d->options.runtime_dir, &d->attach.hold, d->boot_id);
	if (r < 0)
		log_error_errno(r, "cannot write the hold to %s; it will not survive a restart", d->options.runtime_dir);
}

static void count_exit(struct daemon *d, const struct sched_exit *e)
{
	switch (e->kind) {
	case SCHED_EXIT_STALL:
		d->ejections[0]++;
		break;
	case SCHED_EXIT_ERROR:
		d->ejections[1]++;
		break;
	case SCHED_EXIT_SYSRQ:
		d->ejections[2]++;
		break;
	case SCHED_EXIT_RESTART:
		d->ejections[3]++;
		break;
	default:
		break;
	}
}

/* Of the last ejection only: the next one must not fill the disk. */
static void keep_dump(struct daemon *d, const struct sched_exit *e)
{
	const char *dump = sched_exit_dump(d->sched), *dir = d->options.state_dir;
	_cleanup_free_ char *text = NULL;
	int n, r;

	if (!*dump)
		return;
	n = asprintf(&text, "%s (%s)\n\n%s\n", e->reason, e->message, dump);
	r = n < 0 ? -ENOMEM : store_file_write_plain(dir, "ejection.dump", text, (size_t)n);
	if (r < 0)
		log_warning_errno(r, "cannot write the kernel's account of it to %s/ejection.dump", dir);
	else
		log_notice("the kernel's account of it is in %s/ejection.dump", dir);
}

static void notice_exit(struct daemon *d)
{
	struct sched_exit e;

	sched_get_exit(d->sched, &e);
	if (e.kind == SCHED_EXIT_NONE)
		return;
	count_exit(d, &e);
	attach_exited(&d->attach, &e, clock_ns(CLOCK_BOOTTIME), clock_ns(CLOCK_REALTIME));
	daemon_save_hold(d);
	log_event(e.kind == SCHED_EXIT_RESTART ? LOG_NOTICE : LOG_ERR, LOG_ID_EJECTED, NULL,
		  "the kernel removed the scheduler: %s (%s); %s", e.reason, e.message, d->attach.reason);
	if (e.kind == SCHED_EXIT_STALL || e.kind == SCHED_EXIT_ERROR)
		keep_dump(d, &e);
	daemon_announce_state(d, &e);
	unload(d);
	daemon_reconsider(d);
}

/* Asked of a scheduler by the kernel, but nobody asks an observer. */
static void notice_hotplug(struct daemon *d)
{
	struct sched_exit e = { .kind = SCHED_EXIT_RESTART };

	if (sched_read_hotplug_seq() == d->hotplug_seq)
		return;
	log_notice("CPUs came or went: observing anew");
	unload(d);
	attach_exited(&d->attach, &e, clock_ns(CLOCK_BOOTTIME), clock_ns(CLOCK_REALTIME));
	daemon_reconsider(d);
}

static int on_exit_poll(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon *d = userdata;
	bool observing = d->sched && sched_is_observing(d->sched);

	sd_event_source_set_time(source, usec + (observing ? hotplug_poll_us : exit_poll_us));
	sd_event_source_set_enabled(source, SD_EVENT_ON);
	/* The moves in the ring too: nobody is woken for each of them. */
	daemon_take_plan(d);
	if (observing)
		notice_hotplug(d);
	else if (d->sched)
		notice_exit(d);
	return 0;
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	daemon_reconsider(userdata);
	return 0;
}

static int arm_deadline(struct daemon *d, uint64_t at_ns)
{
	int r;

	if (!d->deadline) {
		/* Accuracy 0 would mean 250 ms to sd-event. */
		r = sd_event_add_time(d->event, &d->deadline, CLOCK_BOOTTIME, UINT64_MAX, 1000, on_deadline, d);
		if (r == 0)
			r = sd_event_add_time(d->event, &d->exit_poll, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_exit_poll, d);
		if (r < 0)
			return r;
		sd_event_source_set_enabled(d->exit_poll, SD_EVENT_OFF);
	}
	if (!at_ns)
		return sd_event_source_set_enabled(d->deadline, SD_EVENT_OFF);
	r = sd_event_source_set_time(d->deadline, at_ns / 1000 + 1);
	return r < 0 ? r : sd_event_source_set_enabled(d->deadline, SD_EVENT_ONESHOT);
}

static uint64_t step(struct daemon *d)
{
	enum attach_action action;
	uint64_t next_ns;

	/* Each action changes the state, so two turns settle it; the bound only guards against a fault here. */
	for (int i = 0; i < 4; i++) {
		action = attach_step(&d->attach, clock_ns(CLOCK_BOOTTIME), &next_ns);
		daemon_save_hold(d);
		if (action == ATTACH_NOTHING)
			break;
		if (action == ATTACH_DO_ATTACH)
			attach(d);
		else if (action == ATTACH_DO_OBSERVE)
			observe(d);
		else
			detach(d);
	}
	return next_ns;
}

void daemon_reconsider(struct daemon *d)
{
	uint64_t next_ns, expiry_ns;
	int r;

	r = arm_deadline(d, 0);
	if (r < 0) {
		log_error_errno(r, "cannot make a timer");
		return;
	}
	if (state_expire(d->state, clock_ns(CLOCK_BOOTTIME), &expiry_ns)) {
		daemon_classify(d, cgroup_tree_root(d->tree));
		daemon_announce(d);
		daemon_apply_classes(d);
		daemon_apply_plan(d);
		daemon_save_state(d);
	}
	attach_set_wanted(&d->attach, state_wants_scheduler(d->state), clock_ns(CLOCK_BOOTTIME));
	next_ns = step(d);
	daemon_announce_state(d, NULL);
	daemon_follow_limits(d);
	if (expiry_ns && (!next_ns || expiry_ns < next_ns))
		next_ns = expiry_ns;
	arm_deadline(d, next_ns);
	daemon_update_conditions(d);
	daemon_notify_status(d);
	if (d->api)
		api_server_health_changed(d->api);
}

void daemon_stop_sched(struct daemon *d)
{
	take_down(d);
	d->attach.state = ATTACH_STOPPING;
}
