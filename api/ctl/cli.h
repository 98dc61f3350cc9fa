/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli.h - the command line: tables of commands and options, parsing, help
 *
 * Pure: nothing here talks to the daemon or exits.  --help, the completion
 * table and the man page check are all made from the same tables.
 */
#ifndef SCHEDD_CTL_CLI_H
#define SCHEDD_CTL_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes, in schedctl(1). */
enum ctl_exit {
	CTL_DONE = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
	CTL_UNREACHABLE = 3,
	CTL_NOT_PERMITTED = 4,
	CTL_NOT_FOUND = 5,
	CTL_CONFLICT = 6,
	CTL_REFUSED = 7,
};

enum cli_format {
	CLI_TABLE = 1 << 0,
	CLI_WIDE = 1 << 1,
	CLI_JSON = 1 << 2,
	CLI_NAME = 1 << 3,
	CLI_ALL = (1 << 4) - 1,
};

enum { CLI_MAX_OPTIONS = 16, CLI_MAX_ARGS = 64, CLI_MAX_REPEATS = 32 };

struct cli_option {
	const char *name;      /* without "--" */
	char letter;           /* 0 = none */
	const char *value;     /* "DURATION"; NULL = a flag; "NAME..." = may be given several times */
	const char *help;
	bool unsupported;      /* known, refused as not supported yet, not in the help */
};

struct ctl;

struct cli_command {
	const char *noun;
	const char *verb;      /* NULL: the noun stands alone */
	const char *arguments; /* for the help: "TARGET CLASS" */
	const char *help;
	unsigned int min_args, max_args;
	unsigned int formats;  /* mask of enum cli_format */
	const struct cli_option *options; /* ends with a NULL name; may be NULL */
	int (*run)(struct ctl *ctl); /* returns enum ctl_exit */
};

struct cli {                   /* what was typed */
	const struct cli_command *command;
	const char *noun;      /* also set when only `NOUN --help' was asked */
	const char *values[CLI_MAX_OPTIONS]; /* as command->options; flags have "" */
	struct {
		const struct cli_option *option;
		const char *value;
	} repeats[CLI_MAX_REPEATS]; /* of options that may be given several times, in their order */
	unsigned int nr_repeats;
	const char *args[CLI_MAX_ARGS];
	unsigned int nr_args;
	enum cli_format format;
	bool no_headers, help, version;
	const char *socket;    /* NULL = default */
	uint64_t timeout_ns;
};

extern const struct cli_option cli_global_options[];

/* commands ends with a NULL noun.  0, or -EINVAL with one sentence in error. */
int cli_parse(const struct cli_command *commands, int argc, char *const *argv, struct cli *ret, char *error,
	      size_t error_size);

/* The value of an option of the command that was typed, "" for a flag, NULL when absent. */
const char *cli_value(const struct cli *cli, const char *name);
/* The n-th value, from 0, of an option that may be given several times; NULL behind the last. */
const char *cli_repeat(const struct cli *cli, const char *name, unsigned int n);
static inline bool cli_flag(const struct cli *cli, const char *name)
{
	return cli_value(cli, name) != NULL;
}

/* `schedctl --help', `schedctl NOUN --help' or `schedctl NOUN VERB --help', whichever was asked. */
void cli_help(const struct cli_command *commands, const struct cli *cli, FILE *out);

/* The closest of candidates (NULL-terminated) within a third of its letters, or NULL. */
const char *cli_nearest(const char *word, const char *const *candidates);

#endif
