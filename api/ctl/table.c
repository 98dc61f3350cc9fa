// SPDX-License-Identifier: GPL-2.0-or-later
/* table.c - every command of schedctl with its options */
#include "api/ctl/table.h"

#include "api/ctl/commands.h"
#include "daemon/base/cleanup.h"

#define END { NULL, 0, NULL, NULL, false }
#define SELF { "self", 0, NULL, "the cgroup of schedctl itself, instead of a TARGET", false }
#define DRY_RUN { "dry-run", 0, NULL, "check everything, say what would be, change nothing", false }
#define REASON_TEXT { "reason", 0, "TEXT", "why, for the journal (at most 256 bytes)", false }
#define YES { "yes", 'y', NULL, "do not ask", false }
#define PERSISTENT { "persistent", 0, NULL, "keep it over reboots", false }

static const struct cli_option is_active_options[] = {
	{ "quiet", 'q', NULL, "print nothing", false },
	END,
};

static const struct cli_option mode_options[] = {
	{ "for", 0, "DURATION", "return to the mode before after that time", false },
	DRY_RUN, REASON_TEXT, YES, END,
};

static const struct cli_option events_options[] = {
	{ "follow", 'f', NULL, "go on until interrupted", false },
	{ "type", 0, "TYPE...", "only that kind, such as state-changed; may be repeated", false },
	{ "class", 0, "NAME...", "only what is about that class; may be repeated", false },
	{ "since", 0, "EPOCH:SEQUENCE", "only what came after that event", false },
	END,
};

static const struct cli_option set_options[] = {
	{ "ttl", 0, "DURATION", "take it back after that time", false },
	PERSISTENT,
	{ "subtree", 0, NULL, "everything below the target too, over nearer and weaker decisions", false },
	{ "whole-cgroup", 0, NULL, "with pid: or --self: the other processes of the cgroup too", false },
	{ "force", 0, NULL, "also a protected cgroup (/, init.scope, sshd, kubelet, schedd itself)", false },
	SELF, DRY_RUN, REASON_TEXT, YES, END,
};

static const struct cli_option unset_options[] = {
	{ "id", 0, "ASSIGNMENT", "the order with that id, instead of a TARGET", false },
	SELF, DRY_RUN, REASON_TEXT, END,
};

static const struct cli_option get_options[] = {
	{ "explain", 0, NULL, "who decided, what was overridden, which ceiling", false },
	SELF, END,
};

static const struct cli_option filter_options[] = {
	{ "class", 0, "NAME", "only those in that class", false },
	END,
};

static const struct cli_option change_options[] = { PERSISTENT, DRY_RUN, REASON_TEXT, END };
static const struct cli_option revert_options[] = { DRY_RUN, REASON_TEXT, END };
static const struct cli_option delete_options[] = { DRY_RUN, REASON_TEXT, YES, END };

static const struct cli_option cgroup_list_options[] = {
	{ "class", 0, "NAME", "only those in that class", false },
	{ "tree", 0, NULL, "indented by parent", false },
	END,
};

static const struct cli_option reload_options[] = { DRY_RUN, REASON_TEXT, END };

#define LEASE_TTL { "ttl", 0, "DURATION", "how long from now on; required", false }
#define LEASE_MIN { "min", 0, "N", "fewer will do, down to N (default: all or nothing)", false }
#define LEASE_WAIT { "wait", 0, "STATE", "wait until accepted, owned (default) or running", false }
#define REQUEST_ID { "request-id", 0, "UUID", "the same order again has its effect once", false }
#define EXPECT_GENERATION { "expect-generation", 0, "N", "refuse when anything was changed since generation N", false }

static const struct cli_option grant_options[] = {
	LEASE_TTL, LEASE_MIN, LEASE_WAIT,
	{ "numa", 0, "NODE", "preferably CPUs of that NUMA node", false },
	REQUEST_ID, EXPECT_GENERATION, DRY_RUN, REASON_TEXT, END,
};

static const struct cli_option reassign_options[] = {
	{ "from", 0, "CLASS", "the class that gives CPUs; required", false },
	{ "to", 0, "CLASS", "the class that gets them; required", false },
	LEASE_TTL, LEASE_MIN, LEASE_WAIT, REQUEST_ID, EXPECT_GENERATION, DRY_RUN, REASON_TEXT, END,
};

static const struct cli_option renew_options[] = {
	LEASE_TTL, REQUEST_ID, EXPECT_GENERATION, DRY_RUN, REASON_TEXT, END,
};

static const struct cli_option release_options[] = {
	{ "ignore-missing", 0, NULL, "a lease that is not there is no error", false },
	REQUEST_ID, EXPECT_GENERATION, DRY_RUN, REASON_TEXT, END,
};

enum { TEXT = CLI_TABLE | CLI_WIDE, TEXT_JSON = TEXT | CLI_JSON };

/* Verbs of one noun stand together: the help and the suggestions rely on it. */
const struct cli_command ctl_commands[] = {
	{ "status", NULL, "",
	  "how schedd is: mode, state, classes, conditions; exit 0 healthy, 1 degraded, 3 unreachable",
	  0, 0, TEXT_JSON, NULL, cmd_status },
	{ "is-active", NULL, "",
	  "whether schedd's scheduler runs this machine; exit 0 or 3",
	  0, 0, TEXT, is_active_options, cmd_is_active },
	{ "version", NULL, "",
	  "versions of schedctl and of the daemon",
	  0, 0, TEXT_JSON, NULL, cmd_version },
	{ "doctor", NULL, "",
	  "what this machine has and lacks for schedd, and what to do",
	  0, 0, TEXT_JSON, NULL, cmd_doctor },
	{ "health", NULL, "[SERVICE]",
	  "ask the health service; exit 0 when it says SERVING",
	  0, 1, TEXT_JSON, NULL, cmd_health },
	{ "mode", NULL, "[MODE]",
	  "show the mode or change it: auto, active, observe, paused, detached",
	  0, 1, TEXT_JSON, mode_options, cmd_mode },
	{ "events", NULL, "",
	  "what happened lately, and with -f what happens",
	  0, 0, TEXT_JSON, events_options, cmd_events },
	{ "class", "set", "TARGET CLASS",
	  "put a cgroup and what is below it into a class",
	  1, 2, CLI_ALL, set_options, cmd_class_set },
	{ "class", "unset", "TARGET",
	  "take that back: configuration or parent decide again",
	  0, 1, CLI_ALL, unset_options, cmd_class_unset },
	{ "class", "get", "TARGET",
	  "the class a cgroup has",
	  0, 1, CLI_ALL, get_options, cmd_class_get },
	{ "class", "list", "",
	  "all classes",
	  0, 0, CLI_ALL, NULL, cmd_class_list },
	{ "class", "show", "NAME",
	  "one class: each key, and where its value comes from",
	  1, 1, CLI_ALL, NULL, cmd_class_show },
	{ "class", "create", "NAME KEY=VALUE...",
	  "a new class",
	  1, CLI_MAX_ARGS, CLI_ALL, change_options, cmd_class_create },
	{ "class", "update", "NAME KEY=VALUE...",
	  "change keys of a class; KEY= goes back to the default",
	  2, CLI_MAX_ARGS, CLI_ALL, change_options, cmd_class_update },
	{ "class", "revert", "NAME",
	  "drop what calls changed over the configuration",
	  1, 1, CLI_ALL, revert_options, cmd_class_revert },
	{ "class", "delete", "NAME",
	  "delete a class that nothing uses",
	  1, 1, CLI_ALL, delete_options, cmd_class_delete },
	{ "class", "assignments", "",
	  "the orders that `class set' gave",
	  0, 0, CLI_ALL, filter_options, cmd_class_assignments },
	{ "cgroup", "list", "",
	  "the cgroups and their classes",
	  0, 0, CLI_ALL, cgroup_list_options, cmd_cgroup_list },
	{ "cores", "show", "",
	  "who owns and who holds each CPU",
	  0, 0, TEXT_JSON, NULL, cmd_cores_show },
	{ "cores", "grant", "CLASS N",
	  "N more CPUs for a class, for a while",
	  2, 2, CLI_ALL, grant_options, cmd_cores_grant },
	{ "cores", "reassign", "N",
	  "N CPUs of one class for another one, for a while",
	  1, 1, CLI_ALL, reassign_options, cmd_cores_reassign },
	{ "cores", "leases", "[CLASS]",
	  "what was granted and reassigned and has not ended",
	  0, 1, CLI_ALL, NULL, cmd_cores_leases },
	{ "cores", "renew", "LEASE",
	  "another end for a lease",
	  1, 1, CLI_ALL, renew_options, cmd_cores_renew },
	{ "cores", "release", "LEASE",
	  "end a lease now",
	  1, 1, CLI_ALL, release_options, cmd_cores_release },
	{ "config", "show", "",
	  "the configuration in effect",
	  0, 0, TEXT_JSON, NULL, cmd_config_show },
	{ "config", "cat", "",
	  "the configuration files, with their names",
	  0, 0, TEXT | CLI_NAME, NULL, cmd_config_cat },
	{ "config", "verify", "[PATH]",
	  "check configuration files; needs neither daemon nor root",
	  0, 1, TEXT_JSON, NULL, cmd_config_verify },
	{ "config", "reload", "",
	  "let schedd read its configuration again, all or nothing",
	  0, 0, TEXT_JSON, reload_options, cmd_config_reload },
	{ NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL },
};
