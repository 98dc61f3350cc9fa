/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_private.h - struct daemon, and what its files call of each other */
#ifndef SCHEDD_DAEMON_PRIVATE_H
#define SCHEDD_DAEMON_PRIVATE_H

#include <systemd/sd-event.h>

#include "api/server.h"
#include "cgroup/watch.h"
#include "daemon/alloc.h"
#include "daemon/attach.h"
#include "daemon/command_env.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/http.h"
#include "daemon/metrics.h"
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

	struct attach attach;
	struct sched_probe probe;
	struct sched *sched;              /* NULL while nothing is loaded */
	struct schedd_plan plan;
	uint64_t plan_apply_realtime_ns;
	struct alloc_class planned[SCHEDD_MAX_CLASSES]; /* what the plan in force was made for */
	bool plan_frozen;                 /* mode paused kept a newer one from being applied */
	uint64_t hotplug_seq;             /* as the object was loaded */
	struct schedd_cpu_stats stats_base[NR_METRICS_SCHEDULERS]; /* of objects that are gone: counters never fall */

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
	uint64_t plans_applied, plan_ns_sum;
	uint64_t state_writes, state_write_failures, render_ns;
	uint64_t config_success_realtime_ns;
	bool config_ok;

	uint64_t queue_turns_seen, queue_turns_at_ns; /* of the watchdog rule */
	char kernel_event_names[DAEMON_MAX_KERNEL_EVENTS][48];
};

uint64_t clock_ns(int clock);             /* CLOCK_* */

/* daemon_sched.c: attach policy carried out, classes, plan */
void daemon_reconsider(struct daemon *d); /* after any change: expiries, attach or detach, timers, status */
int daemon_apply_classes(struct daemon *d);
int daemon_apply_plan(struct daemon *d);
void daemon_stats(struct daemon *d, struct schedd_cpu_stats ret_by[NR_METRICS_SCHEDULERS]);
void daemon_add_stats(struct schedd_cpu_stats *sum, const struct schedd_cpu_stats *add);
void daemon_save_hold(struct daemon *d);
void daemon_stop_sched(struct daemon *d);

/* daemon_cgroup.c: the tree, classification, limits */
int daemon_start_cgroups(struct daemon *d);
int daemon_apply_cgroup(struct daemon *d, struct cgroup_node *node);
void daemon_classify(struct daemon *d, struct cgroup_node *node);
void daemon_apply_all_cgroups(struct daemon *d);
void daemon_count_limits(struct daemon *d);

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
