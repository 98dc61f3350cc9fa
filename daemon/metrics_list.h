/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics_list.h - every metric family, once
 *
 * SCALAR: one sample, a value of the snapshot `m`.
 * CLASS:  one sample per class `c` that exists, label class.
 * CUSTOM: emit_NAME() in metrics.c writes the samples.
 *
 * Names are without _total (counter) and _info (info): both follow from the
 * type.  Help has no quote, backslash or newline, so it needs no escaping.
 * Columns: name, type, unit, [labels,] help, [value].
 */
#ifndef SCHEDD_METRICS_LIST_H
#define SCHEDD_METRICS_LIST_H

/* clang-format off */
#define METRICS_LIST(SCALAR, CLASS, CUSTOM) \
CUSTOM(schedd_build, info, "", "version,revision,bpf_hash,kernel", \
	"Versions of the daemon, of its BPF object and of the running kernel.") \
CUSTOM(schedd_scheduler_state, gauge, "", "state", \
	"1 for the state that the scheduler is in, 0 for all others.") \
CUSTOM(schedd_mode, gauge, "", "mode", \
	"1 for the mode that is wanted, 0 for all others.") \
CUSTOM(schedd_hold, gauge, "", "reason", \
	"1 for the reason that keeps the scheduler detached against its mode, 0 for all others.") \
SCALAR(schedd_attached_seconds, counter, "seconds", \
	"Time since the start of the daemon with the scheduler attached.", m->attached_seconds) \
SCALAR(schedd_detached_seconds, counter, "seconds", \
	"Time since the start of the daemon without the scheduler attached.", m->detached_seconds) \
CUSTOM(schedd_scheduler_ejections, counter, "", "reason", \
	"Times the kernel removed the scheduler, by reason.") \
CUSTOM(schedd_kernel_events, counter, "", "event", \
	"Events counted inside the kernel since the scheduler was loaded: by sched_ext (SCX_EV_*) and by its BPF object.") \
CLASS(schedd_class_owned_cpus, gauge, "cpus", \
	"CPUs that the plan gives to the class.", c->owned_cpus) \
CLASS(schedd_class_held_cpus, gauge, "cpus", \
	"CPUs on which a task of the class is running now.", c->held_cpus) \
CUSTOM(schedd_class_limit_cpus, gauge, "cpus", "class,limit", \
	"Limits of the class, leases included, after scaling to the machine: guarantee and burst.") \
CLASS(schedd_class_leased_cpus, gauge, "cpus", \
	"CPUs that leases give to the class on top of its guarantee.", c->leased_cpus) \
CLASS(schedd_leases, gauge, "", \
	"Leases of CPUs for the class.", c->leases) \
CUSTOM(schedd_lease_requests, counter, "", "result", \
	"Calls that ordered, renewed or gave back CPUs, by result.") \
CLASS(schedd_guarantee_unmet_cpus, gauge, "cpus", \
	"CPUs by which the guarantee in force is below the one that was asked for, leases included.", \
	c->guarantee_unmet_cpus) \
CLASS(schedd_class_cpu_seconds, counter, "seconds", \
	"CPU time used by tasks of the class.", ns_to_s(c->sum.cpu_ns)) \
CLASS(schedd_class_borrowed_cpu_seconds, counter, "seconds", \
	"Part of the CPU time of the class that it used on CPUs of other classes.", ns_to_s(c->sum.borrowed_ns)) \
CLASS(schedd_class_lent_cpu_seconds, counter, "seconds", \
	"CPU time that other classes used on CPUs of this class.", ns_to_s(c->sum.lent_ns)) \
CUSTOM(schedd_class_wakeup_latency_seconds, histogram, "seconds", "class,scheduler", \
	"Time from runnable to running after a wake-up; by schedd, or by the kernel as measured in mode observe.") \
CLASS(schedd_class_queue_delay_seconds, counter, "seconds", \
	"Time that runnable tasks of the class waited for a CPU, after a wake-up or otherwise.", \
	ns_to_s(c->sum.queue_delay_ns)) \
CLASS(schedd_class_runnable_tasks, gauge, "", \
	"Tasks of the class that run or wait for a CPU.", at_least_zero(c->sum.nr_runnable)) \
CLASS(schedd_class_cgroups, gauge, "", \
	"Cgroups whose tasks are in the class.", c->cgroups) \
CUSTOM(schedd_class_assignments, gauge, "", "class,source", \
	"Orders that name the class: calls whose cgroup is there (call), and rules of the configuration (config).") \
SCALAR(schedd_cpu_limits_unenforced_cgroups, gauge, "", \
	"Cgroups with a cpu.max that is not enforced while the scheduler is attached.", \
	m->cpu_limits_unenforced_cgroups) \
CLASS(schedd_preemptions, counter, "", \
	"Times a task of the class took a CPU from a lower class at its wake-up.", c->sum.preemptions) \
CLASS(schedd_affinity_misses, counter, "", \
	"Times a task of the class could not use the queue of its class because of its CPU affinity.", \
	c->sum.affinity_misses) \
CUSTOM(schedd_dispatches, counter, "", "class,path", \
	"Task starts by the way the task came to its CPU: direct, class, percpu or kept.") \
CLASS(schedd_floor_served, counter, "", \
	"Slices given to the class by its floor while higher classes wanted the CPU.", c->sum.floor_served) \
SCALAR(schedd_plans_applied, counter, "", \
	"Plans that changed the owner of a CPU and were applied.", m->plans_applied) \
SCALAR(schedd_plan_generation, gauge, "", \
	"Generation of the plan in force.", m->plan_generation) \
CUSTOM(schedd_plan_duration_seconds, summary, "seconds", "", \
	"Time from reading the signals to a changed plan in force.") \
CUSTOM(schedd_core_reallocations, counter, "", "class,direction,trigger", \
	"CPUs that changed their owner: gained or lost by the class, and what made the plan change.") \
CUSTOM(schedd_core_reallocation_latency_seconds, summary, "seconds", "", \
	"Time from reading the signal to the new owner in force, once per CPU.") \
CLASS(schedd_would_reallocate, counter, "", \
	"CPUs that the class would have gained in mode observe, where plans are only computed.", c->would_reallocate) \
CLASS(schedd_class_congested_seconds, counter, "seconds", \
	"Time during which the class wanted more CPUs: tasks still waited after an interval, or waited too long.", \
	c->congested_seconds) \
CUSTOM(schedd_cgroup_events, counter, "", "kind", \
	"Cgroups seen to be created or removed.") \
SCALAR(schedd_cgroup_events_lost, counter, "", \
	"Times the queue of cgroup events overflowed; each is followed by a rescan.", m->cgroup_events_lost) \
SCALAR(schedd_cgroups_unwatched, gauge, "", \
	"Cgroups without a watch for new children, because the kernel refused one.", m->cgroups_unwatched) \
SCALAR(schedd_rescans, counter, "", \
	"Scans of the whole cgroup tree.", m->rescans) \
SCALAR(schedd_config_last_reload_successful, gauge, "", \
	"1 if the last reading of the configuration was accepted, else 0.", m->config_ok) \
SCALAR(schedd_config_last_reload_success_timestamp_seconds, gauge, "seconds", \
	"Unix time of the last reading of the configuration that was accepted.", m->config_success_timestamp_seconds) \
SCALAR(schedd_state_writes, counter, "", \
	"Attempts to write the state file.", m->state_writes) \
SCALAR(schedd_state_write_failures, counter, "", \
	"Attempts to write the state file that failed.", m->state_write_failures) \
CUSTOM(schedd_grpc_requests, counter, "", "method", \
	"Calls received, by method.") \
CUSTOM(schedd_grpc_request_failures, counter, "", "method,code", \
	"Calls answered with a status other than OK; codes other than INTERNAL appear once seen.") \
CUSTOM(schedd_grpc_request_duration_seconds, summary, "seconds", "", \
	"Time from a call to its answer.") \
SCALAR(schedd_command_queue_length, gauge, "", \
	"Calls that wait for the loop.", m->command_queue_length) \
SCALAR(schedd_connections, gauge, "", \
	"Open connections to the API.", m->connections) \
CUSTOM(schedd_connections_refused, counter, "", "reason", \
	"Connections to the API that were refused or closed: too many in all, too many of one user, idle too long.") \
SCALAR(schedd_event_watchers, gauge, "", \
	"Open calls of WatchEvents.", m->event_watchers) \
SCALAR(schedd_events_dropped, counter, "", \
	"Events that a watcher was too slow to be sent, summed over watchers.", m->events_dropped) \
SCALAR(schedd_metrics_render_duration_seconds, gauge, "seconds", \
	"Time that the previous rendering of these metrics took.", m->render_seconds) \
SCALAR(process_cpu_seconds, counter, "seconds", \
	"User and system CPU time of the daemon.", m->process_cpu_seconds) \
SCALAR(process_start_time_seconds, gauge, "seconds", \
	"Unix time at which the daemon started.", m->process_start_time_seconds) \
SCALAR(process_resident_memory_bytes, gauge, "bytes", \
	"Resident memory of the daemon.", m->process_resident_bytes) \
SCALAR(process_virtual_memory_bytes, gauge, "bytes", \
	"Virtual memory of the daemon.", m->process_virtual_bytes) \
SCALAR(process_open_fds, gauge, "", \
	"File descriptors that the daemon has open.", m->process_open_fds) \
SCALAR(process_max_fds, gauge, "", \
	"File descriptors that the daemon may have open.", m->process_max_fds) \
SCALAR(process_threads, gauge, "", \
	"Threads of the daemon.", m->process_threads)
/* clang-format on */

#endif
