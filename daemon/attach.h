/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attach.h - when to be attached to the kernel, and what to do when it throws us out
 *
 * Pure: events and `now` go in, an action and the time of the next look come
 * out.  Modes and holds are those of operations.md; the exit policy is the table
 * in scheduler.md: back-off of 1, 5 and 30 s, the third ejection within ten
 * minutes is a hold.  Times are CLOCK_BOOTTIME, so that suspend counts.
 */
#ifndef SCHEDD_ATTACH_H
#define SCHEDD_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/command.h"
#include "daemon/sched.h"
#include "daemon/store.h"

enum attach_state {
	ATTACH_STARTING,
	ATTACH_DETACHED,     /* nothing asks for it, or mode detached in the configuration */
	ATTACH_ATTACHED,
	ATTACH_OBSERVING,    /* measures the scheduler in force, changes nothing */
	ATTACH_BACKOFF,      /* thrown out, will try again */
	ATTACH_HELD,         /* SysRq-S or mode detached: until another mode is named */
	ATTACH_DEGRADED,     /* thrown out three times, or refused by the kernel */
	ATTACH_BLOCKED,      /* another scheduler is loaded */
	ATTACH_UNSUPPORTED,  /* this kernel cannot do it */
	ATTACH_STOPPING,
	NR_ATTACH_STATES,
};
const char *attach_state_name(enum attach_state state);

/* Detach ends observing too; what comes instead is the next action. */
enum attach_action { ATTACH_NOTHING, ATTACH_DO_ATTACH, ATTACH_DO_DETACH, ATTACH_DO_OBSERVE };

enum {
	ATTACH_LINGER_S = 60,         /* auto: detached so long after the last class */
	ATTACH_BLOCKED_RETRY_S = 5,   /* another scheduler is loaded: look again */
	ATTACH_EJECTIONS_MAX = 3,
	ATTACH_EJECTIONS_WINDOW_S = 600,
};

struct attach {
	enum attach_state state;
	char reason[256];             /* why, one sentence */
	enum schedd_mode configured;
	struct store_hold hold;       /* what is written to the runtime directory */
	bool hold_changed;            /* to be saved before anything else happens */
	bool supported;
	bool wanted;                  /* a class or a lease asks for it */
	bool observe_refused;         /* by the kernel: not asked again until a mode is named */
	uint64_t unwanted_since_ns;   /* 0 = still wanted, or never was */
	uint64_t retry_at_ns;
};

/* hold comes from store_load_hold(), zeroed when there was none. */
void attach_init(struct attach *a, enum schedd_mode configured, const struct store_hold *hold);

/* The mode in force: a hold beats a call, a call beats the configuration. */
enum schedd_mode attach_mode(const struct attach *a);

/* Mode paused: attached as in mode active, but every CPU keeps its owner. */
bool attach_is_paused(const struct attach *a);

void attach_set_configured(struct attach *a, enum schedd_mode mode);
void attach_set_supported(struct attach *a, bool supported, const char *reason);
void attach_set_wanted(struct attach *a, bool wanted, uint64_t now_ns);

/* A call named a mode; for_ns 0 = without end.  Ends any hold.  Detached is a hold. */
void attach_set_mode(struct attach *a, enum schedd_mode mode, uint64_t for_ns, uint64_t now_ns, uint64_t realtime_ns);

/* The result of ATTACH_DO_ATTACH: 0, -EBUSY (another scheduler) or the kernel's refusal. */
void attach_done(struct attach *a, int result, const char *error, uint64_t now_ns);

/* The result of ATTACH_DO_OBSERVE: 0 or the kernel's refusal. */
void attach_observed(struct attach *a, int result, const char *error);

/* The kernel removed us. */
void attach_exited(struct attach *a, const struct sched_exit *e, uint64_t now_ns, uint64_t realtime_ns);

/* What to do now; *ret_next_ns is when to ask again, 0 = only after an event. */
enum attach_action attach_step(struct attach *a, uint64_t now_ns, uint64_t *ret_next_ns);

#endif
