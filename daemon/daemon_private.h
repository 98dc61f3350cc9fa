/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_private.h - struct daemon, and what its files call of each other */
#ifndef SCHEDD_DAEMON_PRIVATE_H
#define SCHEDD_DAEMON_PRIVATE_H

#include <systemd/sd-event.h>

#include "api/server.h"
#include "cgroup/watch.h"
#include "daemon/alloc.h"
#include "daemon/announce.h"
#include "daemon/attach.h"
#include "daemon/command_env.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/http.h"
#include "daemon/lease.h"
#include "daemon/metrics.h"
#include "daemon/poller.h"
#include "daemon/reach.h"
#include "daemon/sched.h"
#include "daemon/store.h"

enum condition_type {
	CONDITION_ATTACHED,
	CONDITION_GUARANTEES_MET,
	CONDITION_CPU_MAX_ENFORCED,
	CONDITION_CONFIG_CURRENT,
	CONDITION_STATE_STORED,
	NR_CONDITIONS,
};

struct condition {
	int status;               /* 0 not set yet, 1 true, 2 false, 3 unknown */
	char reason[48];
	char message[256];
	uint64_t since_realtime_ns;
};

enum { DAEMON_MAX_KERNEL_EVENTS = 16 };

struct daemon {
	struct options options;
	sd_event *event;
	sd_event_source *reconsider;      /* once, after the answers to commands */
	sd_event_source *deadline;        /* attach policy and expiries */
	sd_event_source *exit_poll;       /* only while attached or observing */
	sd_event_source *watchdog;
	sd_event_source *lease_tell;      /* once, when leases moved: answers that wait */
	sd_event_source *lease_look;      /* only while answers wait */
	int lock_fd;
	char boot_id[STORE_BOOT_ID_MAX + 1];
	char epoch[17];
	char kernel[65];
	int exit_code;

	struct config *config;
	struct state *state;
	struct topo topo;
	struct cgroup_tree *tree;         /* also state->tree */
	struct cgroup_watch *watch;
	char cgroup_mount[256];
	bool scanned;

	struct reach reach;
	bool reach_stale;                 /* something that it is computed from changed */
	bool reach_unplanned;             /* it changed, and no plan was made of it yet */
	TAILQ_HEAD(, cgroup_node) reread; /* cgroups whose cpuset may have moved */
	uint64_t reread_since_us;         /* CLOCK_MONOTONIC: the oldest of these */
	sd_event_source *reread_timer, *audit_timer;
	uint64_t audit_id;                /* the cgroup that was audited last */

	struct attach attach;
	struct sched_probe probe;
	struct sched *sched;              /* NULL while nothing is loaded */
	struct poller *poller;            /* NULL while nothing is loaded */
	sd_event_source *plan_event;
	struct poller_status alloc;       /* as last told by the allocator thread */
	uint64_t limits_generation;       /* of the limits last told to it */
	bool frozen_told;                 /* and whether owners were to stay */
	uint32_t populated_told;          /* and which classes had cgroups, a bit each */
	int poll_cpu;                     /* of what is loaded; POLLER_NO_CPU = on a timer */
	uint64_t hotplug_seq;             /* as the object was loaded */
	struct schedd_cpu_stats stats_base[NR_METRICS_SCHEDULERS]; /* of objects that are gone: counters never fall */

	struct events *events;
	struct announce announce;
	struct event_cause cause;         /* of what happens now: a call while it is run, else the daemon itself */
	enum attach_state state_announced;

	struct command_env env;
	struct api_server *api;
	struct http *http;

	struct condition conditions[NR_CONDITIONS];
	uint32_t cpu_limits_unenforced;
	bool attached_once;
	bool ready_sent;
	char status_sent[256];

	uint64_t start_ns;                /* CLOCK_MONOTONIC */
	uint64_t attached_since_ns, attached_total_ns;
	uint64_t ejections[4];            /* stall, error, sysrq, other */
	/* Of allocator threads that have ended: counters never fall. */
	uint64_t plans_applied_base, plan_ns_base, plan_count_base, congested_ns_base[SCHEDD_MAX_CLASSES];
	uint64_t reallocations[SCHEDD_MAX_CLASSES][2][NR_ALLOC_TRIGGERS]; /* gained, lost */
	uint64_t reallocation_ns_sum, reallocation_count;
	uint64_t would_reallocate[SCHEDD_MAX_CLASSES]; /* mode observe */
	uint64_t state_writes, state_write_failures, render_ns;
	uint64_t lease_revision_told;
	uint64_t lease_requests[NR_LEASE_RESULTS];
	uint64_t config_success_realtime_ns;
	bool config_ok;

	uint64_t queue_turns_seen, queue_turns_at_ns; /* of the watchdog rule */
	uint64_t pinged_at_ns;
	bool allocator_answered;
	char kernel_event_names[DAEMON_MAX_KERNEL_EVENTS][48];
};

uint64_t clock_ns(int clock);             /* CLOCK_* */

/* daemon_sched.c: attach policy carried out, classes, plan */
void daemon_reconsider(struct daemon *d); /* after any change: expiries, attach or detach, timers, status */
int daemon_apply_classes(struct daemon *d);
void daemon_stats(struct daemon *d, struct schedd_cpu_stats ret_by[NR_METRICS_SCHEDULERS]);
void daemon_add_stats(struct schedd_cpu_stats *sum, const struct schedd_cpu_stats *add);
void daemon_save_hold(struct daemon *d);
void daemon_stop_sched(struct daemon *d);

/* daemon_alloc.c: the allocator thread */
int daemon_poll_cpu(const struct daemon *d); /* that the configuration names and that is usable */
int daemon_start_alloc(struct daemon *d); /* the BPF object is loaded; the first plan is in force when it returns */
void daemon_stop_alloc(struct daemon *d);
void daemon_reach_changed(struct daemon *d); /* d->reach is another than that of the last plan */
void daemon_apply_plan(struct daemon *d); /* limits, mode or configuration changed: the thread follows */
void daemon_follow_limits(struct daemon *d); /* if the mode or who has members is not what was told */
void daemon_take_plan(struct daemon *d);  /* what the thread has done since */

/*
 * daemon_lease.c: how far leases are.  To be called whenever a plan was applied, or
 * computed from new limits without a change: d->alloc.plan and .model_generation
 * say which one is in force.  Answers that wait are told in a later turn.
 */
void daemon_leases_progress(struct daemon *d);
void daemon_leases_watch(struct daemon *d); /* somebody waits: look again soon */
int daemon_start_leases(struct daemon *d);
bool daemon_resume(void *ctx, const struct command_wait *wait, bool deadline_passed, struct reply *reply);
struct lease_owners daemon_plan_owners(const struct daemon *d); /* none while not attached */
int daemon_can_lease(void *ctx, char *error, size_t error_size);
void daemon_update_leases(void *ctx);
void daemon_fill_lease(void *ctx, const struct state_lease *lease, struct lease_view *view, struct reply *reply);
void daemon_count_lease_request(struct daemon *d, const struct command *cmd, const struct reply *reply);

/* daemon_cgroup.c: the tree, classification, limits */
int daemon_start_cgroups(struct daemon *d);
int daemon_apply_cgroup(struct daemon *d, struct cgroup_node *node);
void daemon_classify(struct daemon *d, struct cgroup_node *node);
void daemon_apply_all_cgroups(struct daemon *d);
void daemon_count_limits(struct daemon *d);

/* daemon_reach.c: the CPUs that cpusets let each class use */
int daemon_start_reach(struct daemon *d);  /* after the first classification: reads every cgroup */
void daemon_stop_reach(struct daemon *d);
void daemon_cgroup_written(struct daemon *d, struct cgroup_node *node, enum cgroup_file file);
void daemon_reread_cpuset(struct daemon *d, struct cgroup_node *node);  /* soon; NULL is none */
void daemon_forget_cpuset(struct daemon *d, struct cgroup_node *node);  /* it leaves the tree */
void daemon_class_moved(struct daemon *d, const struct cgroup_node *node); /* its class_idx changed */
void daemon_refresh_reach(struct daemon *d); /* before d->reach is used for a plan */

/* daemon_events.c: what readers of events are told; after the change is in force */
int daemon_start_events(struct daemon *d);   /* after the first scan */
void daemon_begin_cause(struct daemon *d, const struct command *cmd);
void daemon_end_cause(struct daemon *d);
void daemon_announce(struct daemon *d);      /* classes and decisions that differ from what was announced */
void daemon_announce_leases(struct daemon *d);
void daemon_announce_cgroup(struct daemon *d, struct cgroup_node *node);
void daemon_announce_state(struct daemon *d, const struct sched_exit *e); /* NULL: not the kernel's doing */
void daemon_announce_config(struct daemon *d, const char *error);         /* NULL: accepted */
bool daemon_next_event(void *ctx, struct event_stream *stream, struct event *ret_event, uint64_t *ret_again_us);
void daemon_close_events(void *ctx, struct event_stream *stream);

/* daemon_command.c: what commands may touch */
void daemon_start_commands(struct daemon *d);
int daemon_save_state(struct daemon *d);

/* daemon_config.c: load, reload, put in force */
int daemon_load_config(struct daemon *d); /* at start */
int daemon_reload_config(struct daemon *d, struct reply *reply); /* reply NULL: SIGHUP */
void daemon_fill_config(struct daemon *d, struct reply *reply);
int daemon_start_http(struct daemon *d, const char *listen, struct http **ret_http);

/* daemon_socket.c: the lock and the listening socket */
int daemon_lock(struct daemon *d, int *ret_exit_code);
int daemon_open_socket(struct daemon *d, int *ret_fd);

/* daemon_notify.c: the service manager */
int daemon_start_watchdog(struct daemon *d);
bool daemon_is_healthy(struct daemon *d, char *text, size_t size);
bool daemon_is_ready(const struct daemon *d, char *text, size_t size);
void daemon_notify_status(struct daemon *d);

/* daemon_status.c: views */
void daemon_set_condition(struct daemon *d, enum condition_type type, int status, const char *reason,
			  const char *format, ...) __attribute__((format(printf, 5, 6)));
void daemon_update_conditions(struct daemon *d);
void daemon_fill_status(void *ctx, struct reply *reply);
void daemon_fill_plan(void *ctx, bool full, struct reply *reply);
void daemon_fill_class(void *ctx, unsigned int class_idx, struct class_view *view, struct reply *reply);

/* daemon_metrics.c: the snapshot */
int daemon_render_metrics(void *ctx, enum metrics_format format, char **ret_text, size_t *ret_size);

#endif
