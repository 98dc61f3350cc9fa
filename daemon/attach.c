/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attach.c - when to be attached to the kernel, and what to do when it throws us out */
#include "daemon/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"

static const uint64_t second_ns = 1000000000ull;
static const uint64_t backoff_s[ATTACH_EJECTIONS_MAX] = { 1, 5, 30 };

static const char *const state_names[NR_ATTACH_STATES] = {
	[ATTACH_STARTING] = "starting",       [ATTACH_DETACHED] = "detached", [ATTACH_ATTACHED] = "attached",
	[ATTACH_BACKOFF] = "backoff",         [ATTACH_HELD] = "held",         [ATTACH_DEGRADED] = "degraded",
	[ATTACH_BLOCKED] = "blocked",         [ATTACH_UNSUPPORTED] = "unsupported",
	[ATTACH_STOPPING] = "stopping",       [ATTACH_OBSERVING] = "observing",
};

const char *attach_state_name(enum attach_state state)
{
	return state < NR_ATTACH_STATES ? state_names[state] : "unknown";
}

static void set_state(struct attach *a, enum attach_state state, const char *reason)
{
	a->state = state;
	snprintf(a->reason, sizeof(a->reason), "%s", reason);
}

static void hold(struct attach *a, const char *reason, const char *message, uint64_t realtime_ns)
{
	snprintf(a->hold.reason, sizeof(a->hold.reason), "%s", reason);
	snprintf(a->hold.message, sizeof(a->hold.message), "%s", message);
	a->hold.since_realtime_ns = realtime_ns;
	a->hold.until_boottime_ns = 0;
	a->hold_changed = true;
}

void attach_init(struct attach *a, enum schedd_mode configured, const struct store_hold *stored)
{
	*a = (struct attach){ .state = ATTACH_STARTING, .configured = configured, .supported = true };
	if (stored)
		a->hold = *stored;
}

enum schedd_mode attach_mode(const struct attach *a)
{
	enum schedd_mode mode;

	if (a->hold.reason[0])
		return MODE_DETACHED;
	if (a->hold.wanted_mode[0] && mode_parse(a->hold.wanted_mode, &mode) == 0)
		return mode;
	return a->configured;
}

bool attach_is_paused(const struct attach *a)
{
	return attach_mode(a) == MODE_PAUSED;
}

void attach_set_configured(struct attach *a, enum schedd_mode mode)
{
	a->configured = mode;
}

void attach_set_supported(struct attach *a, bool supported, const char *reason)
{
	a->supported = supported;
	if (!supported)
		set_state(a, ATTACH_UNSUPPORTED, reason);
}

void attach_set_wanted(struct attach *a, bool wanted, uint64_t now_ns)
{
	if (a->wanted && !wanted)
		a->unwanted_since_ns = now_ns;
	if (wanted)
		a->unwanted_since_ns = 0;
	a->wanted = wanted;
}

static void name_mode(char *dst, size_t size, enum schedd_mode mode)
{
	snprintf(dst, size, "%s", mode_name(mode));
}

static const char *attached_reason(const struct attach *a)
{
	switch (attach_mode(a)) {
	case MODE_ACTIVE:
		return "mode active";
	case MODE_PAUSED:
		return "mode paused: every CPU keeps its owner";
	default:
		return "a cgroup has a class, or there is a lease";
	}
}

/* Attached or observing: there is something to take down before anything else is put up. */
static bool is_in_place(enum attach_state state)
{
	return state == ATTACH_ATTACHED || state == ATTACH_OBSERVING;
}

/* The answer to the call that names a mode goes out before the mode is reached. */
static void explain_way(struct attach *a, enum schedd_mode mode)
{
	enum attach_state state = is_in_place(a->state) ? a->state : ATTACH_DETACHED;

	if (mode == MODE_OBSERVE && state != ATTACH_OBSERVING)
		set_state(a, state, "observing next");
	else if ((mode == MODE_ACTIVE || mode == MODE_PAUSED) && state == ATTACH_ATTACHED)
		set_state(a, state, attached_reason(a));
	else if (mode == MODE_ACTIVE || mode == MODE_PAUSED)
		set_state(a, state, "attaching");
	else if (!is_in_place(state))
		set_state(a, state, "");
}

void attach_set_mode(struct attach *a, enum schedd_mode mode, uint64_t for_ns, uint64_t now_ns, uint64_t realtime_ns)
{
	enum schedd_mode before = attach_mode(a);
	bool had_hold = a->hold.reason[0];

	a->hold.reason[0] = a->hold.message[0] = a->hold.return_mode[0] = '\0';
	a->hold.since_realtime_ns = a->hold.until_boottime_ns = 0;
	memset(a->hold.ejection_boottime_ns, 0, sizeof(a->hold.ejection_boottime_ns));
	if (for_ns && !had_hold)
		name_mode(a->hold.return_mode, sizeof(a->hold.return_mode), before);
	if (mode == MODE_DETACHED) {
		hold(a, "mode-detached", "mode detached was ordered", realtime_ns);
		/* Where a hold with an end goes back to: what was in force, never the hold itself. */
		a->hold.wanted_mode[0] = '\0';
	} else {
		name_mode(a->hold.wanted_mode, sizeof(a->hold.wanted_mode), mode);
	}
	if (for_ns)
		a->hold.until_boottime_ns = now_ns + for_ns;
	a->hold_changed = true;
	a->retry_at_ns = 0;
	a->observe_refused = false;
	if (a->state != ATTACH_STARTING && a->supported)
		explain_way(a, mode);
}

void attach_done(struct attach *a, int result, const char *error, uint64_t now_ns)
{
	a->observe_refused = false;
	if (result == 0) {
		a->retry_at_ns = 0;
		set_state(a, ATTACH_ATTACHED, attached_reason(a));
	} else if (result == -EBUSY) {
		a->retry_at_ns = now_ns + ATTACH_BLOCKED_RETRY_S * second_ns;
		set_state(a, ATTACH_BLOCKED, error);
	} else {
		set_state(a, ATTACH_DEGRADED, error);
	}
}

void attach_observed(struct attach *a, int result, const char *error)
{
	a->observe_refused = result < 0;
	if (result < 0)
		set_state(a, ATTACH_DEGRADED, error);
	else
		set_state(a, ATTACH_OBSERVING, "mode observe: what schedules here is measured, nothing is changed");
}

static unsigned int count_recent_ejections(struct attach *a, uint64_t now_ns)
{
	uint64_t *at = a->hold.ejection_boottime_ns;
	unsigned int n = 0;

	for (size_t i = 0; i < ATTACH_EJECTIONS_MAX; i++)
		n += at[i] && now_ns - at[i] < ATTACH_EJECTIONS_WINDOW_S * second_ns;
	return n;
}

static void ejected(struct attach *a, const struct sched_exit *e, uint64_t now_ns, uint64_t realtime_ns)
{
	uint64_t *at = a->hold.ejection_boottime_ns;
	char text[300];
	unsigned int n;

	memmove(at + 1, at, sizeof(*at) * (ATTACH_EJECTIONS_MAX - 1));
	at[0] = now_ns;
	a->hold.ejections_total++;
	a->hold_changed = true;
	n = count_recent_ejections(a, now_ns);
	snprintf(text, sizeof(text), "the kernel removed the scheduler: %.120s (%.100s)", e->reason, e->message);
	if (n >= ATTACH_EJECTIONS_MAX) {
		hold(a, "ejections", text, realtime_ns);
		set_state(a, ATTACH_DEGRADED, text);
		return;
	}
	a->retry_at_ns = now_ns + backoff_s[n ? n - 1 : 0] * second_ns;
	set_state(a, ATTACH_BACKOFF, text);
}

void attach_exited(struct attach *a, const struct sched_exit *e, uint64_t now_ns, uint64_t realtime_ns)
{
	switch (e->kind) {
	case SCHED_EXIT_NONE:
	case SCHED_EXIT_DETACHED:
		set_state(a, ATTACH_DETACHED, "");
		break;
	case SCHED_EXIT_RESTART:
		a->retry_at_ns = 0;
		set_state(a, ATTACH_DETACHED, "CPUs came or went: attaching again");
		break;
	case SCHED_EXIT_SYSRQ:
		hold(a, "sysrq", "SysRq-S was pressed", realtime_ns);
		set_state(a, ATTACH_HELD, "SysRq-S was pressed; `schedctl mode auto` attaches again");
		break;
	case SCHED_EXIT_STALL:
	case SCHED_EXIT_ERROR:
		ejected(a, e, now_ns, realtime_ns);
		break;
	}
}

/* A mode named with --for ends by itself. */
static void end_timed_mode(struct attach *a, uint64_t now_ns)
{
	if (!a->hold.until_boottime_ns || now_ns < a->hold.until_boottime_ns)
		return;
	a->hold.reason[0] = a->hold.message[0] = '\0';
	memcpy(a->hold.wanted_mode, a->hold.return_mode, sizeof(a->hold.wanted_mode));
	a->hold.return_mode[0] = '\0';
	a->hold.until_boottime_ns = a->hold.since_realtime_ns = 0;
	a->hold_changed = true;
	if (a->state == ATTACH_HELD)
		set_state(a, ATTACH_DETACHED, "");
}

static bool wants_attached(struct attach *a, uint64_t now_ns, uint64_t *ret_next_ns)
{
	switch (attach_mode(a)) {
	case MODE_ACTIVE:
	case MODE_PAUSED:
		return true;
	case MODE_AUTO:
		if (a->wanted)
			return true;
		if (a->state != ATTACH_ATTACHED || !a->unwanted_since_ns)
			return false;
		/* A service that restarts must not cost two switches of the scheduler. */
		*ret_next_ns = a->unwanted_since_ns + ATTACH_LINGER_S * second_ns;
		return now_ns < *ret_next_ns;
	default:
		return false;
	}
}

/* ATTACHED, OBSERVING or DETACHED: where the mode in force wants to be. */
static enum attach_state wanted_state(struct attach *a, uint64_t now_ns, uint64_t *ret_next_ns)
{
	if (attach_mode(a) == MODE_OBSERVE)
		return ATTACH_OBSERVING;
	return wants_attached(a, now_ns, ret_next_ns) ? ATTACH_ATTACHED : ATTACH_DETACHED;
}

static void earlier(uint64_t *next_ns, uint64_t at_ns)
{
	if (at_ns && (!*next_ns || at_ns < *next_ns))
		*next_ns = at_ns;
}

static void explain_detached(struct attach *a)
{
	if (a->hold.reason[0])
		set_state(a, strcmp(a->hold.reason, "ejections") == 0 ? ATTACH_DEGRADED : ATTACH_HELD,
			  a->hold.message);
	else if (attach_mode(a) == MODE_AUTO)
		set_state(a, ATTACH_DETACHED,
			  "no cgroup has a class other than normal, and there is no lease; `schedctl class set` starts it");
	else
		set_state(a, ATTACH_DETACHED, "mode detached in the configuration");
}

enum attach_action attach_step(struct attach *a, uint64_t now_ns, uint64_t *ret_next_ns)
{
	enum attach_state want;
	uint64_t next_ns = 0;

	end_timed_mode(a, now_ns);
	want = wanted_state(a, now_ns, &next_ns);
	earlier(&next_ns, a->hold.until_boottime_ns);
	*ret_next_ns = next_ns;
	if (a->state == ATTACH_UNSUPPORTED || a->state == ATTACH_STOPPING)
		return ATTACH_NOTHING;
	if (is_in_place(a->state)) {
		if (a->state != want)
			return ATTACH_DO_DETACH;
		if (want == ATTACH_ATTACHED)
			set_state(a, ATTACH_ATTACHED, attached_reason(a));
		return ATTACH_NOTHING;
	}
	if (want == ATTACH_DETACHED) {
		a->observe_refused = false;
		explain_detached(a);
		return ATTACH_NOTHING;
	}
	/* What the kernel did to our scheduler is no reason not to look at its own. */
	if (want == ATTACH_OBSERVING)
		return a->observe_refused ? ATTACH_NOTHING : ATTACH_DO_OBSERVE;
	if (a->state == ATTACH_DEGRADED && !a->observe_refused)
		return ATTACH_NOTHING;
	if (a->retry_at_ns > now_ns) {
		earlier(ret_next_ns, a->retry_at_ns);
		return ATTACH_NOTHING;
	}
	return ATTACH_DO_ATTACH;
}
