/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_util.c - names and roles of commands, names of modes, failing and freeing replies */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/command.h"
#include "daemon/command_reason.h"

static const struct {
	const char *name;
	enum command_role role;
} command_infos[] = {
	[COMMAND_GET_STATUS] = { "GetStatus", ROLE_VIEW },
	[COMMAND_SET_MODE] = { "SetMode", ROLE_ADMIN },
	[COMMAND_RELOAD_CONFIG] = { "ReloadConfig", ROLE_ADMIN },
	[COMMAND_GET_CONFIG] = { "GetConfig", ROLE_VIEW },
	[COMMAND_LIST_CLASSES] = { "ListClasses", ROLE_VIEW },
	[COMMAND_GET_CLASS] = { "GetClass", ROLE_VIEW },
	[COMMAND_UPSERT_CLASS] = { "UpsertClass", ROLE_ADMIN },
	[COMMAND_REVERT_CLASS] = { "RevertClass", ROLE_ADMIN },
	[COMMAND_DELETE_CLASS] = { "DeleteClass", ROLE_ADMIN },
	[COMMAND_SET_CLASS] = { "SetClass", ROLE_ASSIGN },
	[COMMAND_UNSET_CLASS] = { "UnsetClass", ROLE_ASSIGN },
	[COMMAND_LIST_ASSIGNMENTS] = { "ListAssignments", ROLE_VIEW },
	[COMMAND_EXPLAIN_TARGET] = { "ExplainTarget", ROLE_VIEW },
	[COMMAND_LIST_CGROUPS] = { "ListCgroups", ROLE_VIEW },
	[COMMAND_GET_PLAN] = { "GetPlan", ROLE_VIEW },
	[COMMAND_GRANT_CORES] = { "GrantCores", ROLE_ASSIGN },
	[COMMAND_REASSIGN_CORES] = { "ReassignCores", ROLE_ASSIGN },
	[COMMAND_RENEW_LEASE] = { "RenewLease", ROLE_ASSIGN },
	[COMMAND_RELEASE_LEASE] = { "ReleaseLease", ROLE_ASSIGN },
	[COMMAND_LIST_LEASES] = { "ListLeases", ROLE_VIEW },
	[COMMAND_WATCH_EVENTS] = { "WatchEvents", ROLE_VIEW },
};
_Static_assert(ARRAY_SIZE(command_infos) == NR_COMMANDS, "every command has a name and a role");

const struct command_reason_info command_reasons[NR_COMMAND_REASONS] = {
#define X(name, meaning) { #name, meaning },
	COMMAND_REASONS(X)
#undef X
};

static const char *const mode_names[] = {
	[MODE_UNSET] = "unset",     [MODE_AUTO] = "auto",     [MODE_ACTIVE] = "active",
	[MODE_OBSERVE] = "observe", [MODE_PAUSED] = "paused", [MODE_DETACHED] = "detached",
};
_Static_assert(ARRAY_SIZE(mode_names) == NR_MODES, "every mode has a name");

const char *command_name(enum command_type type)
{
	return (unsigned int)type < NR_COMMANDS ? command_infos[type].name : "unknown";
}

/* What we do not know needs the most. */
enum command_role command_needs_role(enum command_type type)
{
	return (unsigned int)type < NR_COMMANDS ? command_infos[type].role : ROLE_ADMIN;
}

const char *mode_name(enum schedd_mode mode)
{
	return (unsigned int)mode < NR_MODES ? mode_names[mode] : "unknown";
}

int mode_parse(const char *s, enum schedd_mode *ret_mode)
{
	for (int mode = MODE_AUTO; s && mode < NR_MODES; mode++) {
		if (strcmp(s, mode_names[mode]) == 0) {
			*ret_mode = mode;
			return 0;
		}
	}
	return -EINVAL;
}

/* A failed reply carries nothing but its error, whatever was filled before. */
static void drop_views(struct reply *reply)
{
	reply->nr_classes = 0;
	reply->nr_assignments = 0;
	reply->nr_decisions = 0;
	reply->nr_leases = 0;
	reply->wait.wait_for = LEASE_WAIT_NONE;
	reply->next_page_token = "";
}

enum command_status reply_fail(struct reply *reply, enum command_status status, const char *error_reason,
			       const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	drop_views(reply);
	reply->status = status;
	reply->error_reason = error_reason ?: "";
	reply->message = arena_strdup(&reply->arena, text) ?: "out of memory while describing an error";
	return status;
}

void reply_free(struct reply *reply)
{
	if (!reply)
		return;
	arena_free(&reply->arena);
	memset(reply, 0, sizeof(*reply));
}
