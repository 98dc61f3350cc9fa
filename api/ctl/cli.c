// SPDX-License-Identifier: GPL-2.0-or-later
/* cli.c - the command line: tables of commands and options, parsing, help */
#include "api/ctl/cli.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

enum { NEAREST_MAX = 40, DEFAULT_TIMEOUT_S = 30 };

const struct cli_option cli_global_options[] = {
	{ "output", 'o', "FORMAT", "table, wide, json or name (default: table)", false },
	{ "no-headers", 0, NULL, "tables without the line of headings", false },
	{ "socket", 0, "PATH", "where schedd listens (default: $SCHEDD_SOCKET or /run/schedd/schedd.sock)", false },
	{ "timeout", 0, "DURATION", "longest time to wait for the answer (default: 30s)", false },
	{ "help", 'h', NULL, "this help; after a command, the help of that command", false },
	{ "version", 0, NULL, "the version of schedctl", false },
	{ "address", 0, "HOST:PORT", "", true },
	{ "cert", 0, "FILE", "", true },
	{ "key", 0, "FILE", "", true },
	{ "cacert", 0, "FILE", "", true },
	{ NULL, 0, NULL, NULL, false },
};

static const struct cli_option no_options[] = { { NULL, 0, NULL, NULL, false } };

struct parse {
	const struct cli_command *commands;
	struct cli *cli;
	char *error;
	size_t error_size;
};

__attribute__((format(printf, 2, 3))) static int parse_fail(struct parse *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->error, p->error_size, format, args);
	va_end(args);
	return -EINVAL;
}

/* ---------- nearest word ---------- */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edits between two words; two neighbours that changed places count as one edit. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t rows[3][NEAREST_MAX + 1], la = strlen(a), lb = strlen(b), i, j;

	if (la > NEAREST_MAX || lb > NEAREST_MAX)
		return la + lb;
	for (j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (i = 1; i <= la; i++) {
		size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];

		now[0] = i;
		for (j = 1; j <= lb; j++) {
			now[j] = min3(before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    older[j - 2] + 1 < now[j])
				now[j] = older[j - 2] + 1;
		}
	}
	return rows[la % 3][lb];
}

const char *cli_nearest(const char *word, const char *const *candidates)
{
	size_t best_distance = SIZE_MAX, i;
	const char *best = NULL;

	for (i = 0; candidates[i]; i++) {
		size_t d = edit_distance(word, candidates[i]);

		if (*word && !strncmp(word, candidates[i], strlen(word)))
			d = 0;
		if (d < best_distance && d <= (strlen(candidates[i]) + 2) / 3) {
			best_distance = d;
			best = candidates[i];
		}
	}
	return best;
}

static int fail_unknown(struct parse *p, const char *what, const char *word, const char *const *candidates,
			const char *more)
{
	const char *nearest = cli_nearest(word, candidates);
	char shown[128];

	str_escape(shown, sizeof(shown), word);
	if (nearest)
		return parse_fail(p, "unknown %s `%s'; did you mean `%s'?", what, shown, nearest);
	return parse_fail(p, "unknown %s `%s'; see `schedctl %s--help'", what, shown, more);
}

/* ---------- finding commands and options ---------- */

static const struct cli_command *find_command(const struct cli_command *c, const char *noun, const char *verb)
{
	for (; c->noun; c++)
		if (!strcmp(c->noun, noun) && (verb ? c->verb && !strcmp(c->verb, verb) : !c->verb))
			return c;
	return NULL;
}

static bool is_noun(const struct cli_command *c, const char *word)
{
	for (; c->noun; c++)
		if (!strcmp(c->noun, word))
			return true;
	return false;
}

/* `schedctl list' is a verb that lost its noun. */
static int fail_no_noun(struct parse *p, const char *word, const char *const *nouns)
{
	const struct cli_command *c;

	for (c = p->commands; c->noun; c++)
		if (c->verb && !strcmp(c->verb, word))
			return parse_fail(p, "unknown command `%s'; did you mean `%s %s'?", word, c->noun, c->verb);
	return fail_unknown(p, "command", word, nouns, "");
}

static int take_word(struct parse *p, const char *word)
{
	struct cli *cli = p->cli;
	const char *candidates[64];
	const struct cli_command *c;
	char more[64];
	size_t n = 0;

	if (cli->command) {
		if (cli->nr_args == cli->command->max_args || cli->nr_args == CLI_MAX_ARGS)
			return parse_fail(p, "`schedctl %s%s%s' takes no more than %u argument%s: `%s' is too much",
					  cli->noun, cli->command->verb ? " " : "",
					  cli->command->verb ? cli->command->verb : "", cli->command->max_args,
					  cli->command->max_args == 1 ? "" : "s", word);
		cli->args[cli->nr_args++] = word;
		return 0;
	}
	if (!cli->noun) {
		for (c = p->commands; c->noun; c++)
			if (!n || strcmp(candidates[n - 1], c->noun))
				candidates[n++] = c->noun;
		candidates[n] = NULL;
		if (!is_noun(p->commands, word))
			return fail_no_noun(p, word, candidates);
		cli->noun = word;
		cli->command = find_command(p->commands, word, NULL);
		return 0;
	}
	cli->command = find_command(p->commands, cli->noun, word);
	if (cli->command)
		return 0;
	for (c = p->commands; c->noun; c++)
		if (!strcmp(c->noun, cli->noun))
			candidates[n++] = c->verb;
	candidates[n] = NULL;
	snprintf(more, sizeof(more), "%s ", cli->noun);
	return fail_unknown(p, "verb", word, candidates, more);
}

static const struct cli_option *find_option(const struct cli_option *o, const char *name, size_t length, char letter)
{
	for (; o->name; o++)
		if (letter ? o->letter == letter : strlen(o->name) == length && !memcmp(o->name, name, length))
			return o;
	return NULL;
}

static const struct cli_option *command_options(const struct cli *cli)
{
	return cli->command && cli->command->options ? cli->command->options : no_options;
}

static int set_format(struct parse *p, const char *value)
{
	static const struct {
		const char *name;
		enum cli_format format;
	} formats[] = { { "table", CLI_TABLE }, { "wide", CLI_WIDE }, { "json", CLI_JSON }, { "name", CLI_NAME } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(value, formats[i].name)) {
			p->cli->format = formats[i].format;
			return 0;
		}
	return parse_fail(p, "unknown output format `%s': use table, wide, json or name", value);
}

static int set_global(struct parse *p, const struct cli_option *o, const char *value)
{
	struct cli *cli = p->cli;

	if (o->unsupported)
		return parse_fail(p, "--%s is not supported yet: schedctl speaks to the local daemon only (--socket)",
				  o->name);
	if (!strcmp(o->name, "output"))
		return set_format(p, value);
	if (!strcmp(o->name, "timeout")) {
		if (str_parse_duration_ns(value, &cli->timeout_ns) < 0 || !cli->timeout_ns)
			return parse_fail(
				p, "--timeout: `%s' is no duration above 0; write one such as 500ms, 10s or 1min",
				value);
		return 0;
	}
	if (!strcmp(o->name, "socket"))
		cli->socket = value;
	else if (!strcmp(o->name, "no-headers"))
		cli->no_headers = true;
	else if (!strcmp(o->name, "help"))
		cli->help = true;
	else
		cli->version = true;
	return 0;
}

static bool may_repeat(const struct cli_option *o)
{
	size_t n = o->value ? strlen(o->value) : 0;

	return n > 3 && strcmp(o->value + n - 3, "...") == 0;
}

static int add_repeat(struct parse *p, const struct cli_option *o, const char *value)
{
	struct cli *cli = p->cli;

	if (cli->nr_repeats == CLI_MAX_REPEATS)
		return parse_fail(p, "--%s was given too often: at most %d options may be repeated", o->name, CLI_MAX_REPEATS);
	cli->repeats[cli->nr_repeats].option = o;
	cli->repeats[cli->nr_repeats++].value = value;
	return 0;
}

static int set_option(struct parse *p, const struct cli_option *o, const char *value)
{
	const struct cli_option *own = command_options(p->cli);

	if (o >= cli_global_options && o < cli_global_options + ARRAY_SIZE(cli_global_options))
		return set_global(p, o, value);
	if (may_repeat(o))
		return add_repeat(p, o, value);
	if (p->cli->values[o - own])
		return parse_fail(p, "--%s was given twice", o->name);
	p->cli->values[o - own] = value;
	return 0;
}

static int fail_unknown_option(struct parse *p, const char *word, size_t length)
{
	const char *candidates[CLI_MAX_OPTIONS + ARRAY_SIZE(cli_global_options) + 1];
	const struct cli_command *c;
	const struct cli_option *o;
	char name[128], what[192];
	size_t n = 0;

	snprintf(name, sizeof(name), "%.*s", (int)(length < 100 ? length : 100), word);
	if (!p->cli->command)
		for (c = p->commands; c->noun; c++)
			if (c->options && find_option(c->options, name, strlen(name), 0))
				return parse_fail(p, "--%s belongs to `%s%s%s' and must follow it", name, c->noun,
						  c->verb ? " " : "", c->verb ? c->verb : "");
	for (o = command_options(p->cli); o->name; o++)
		candidates[n++] = o->name;
	for (o = cli_global_options; o->name; o++)
		if (!o->unsupported)
			candidates[n++] = o->name;
	candidates[n] = NULL;
	if (cli_nearest(name, candidates))
		return parse_fail(p, "unknown option `--%s'; did you mean `--%s'?", name,
				  cli_nearest(name, candidates));
	str_escape(what, sizeof(what), name);
	return parse_fail(p, "unknown option `--%s'; see `schedctl %s%s%s%s--help'", what,
			  p->cli->noun ? p->cli->noun : "", p->cli->noun ? " " : "",
			  p->cli->command && p->cli->command->verb ? p->cli->command->verb : "",
			  p->cli->command && p->cli->command->verb ? " " : "");
}

/* One of --name, --name=value, --name value.  *i is moved over a value that was used. */
static int take_long(struct parse *p, const char *word, int argc, char *const *argv, int *i)
{
	size_t length = strcspn(word, "=");
	const struct cli_option *o = find_option(command_options(p->cli), word, length, 0);

	if (!o)
		o = find_option(cli_global_options, word, length, 0);
	if (!o)
		return fail_unknown_option(p, word, length);
	if (!o->value)
		return word[length] ? parse_fail(p, "--%s takes no value", o->name) : set_option(p, o, "");
	if (word[length])
		return set_option(p, o, word + length + 1);
	if (*i + 1 == argc)
		return parse_fail(p, "--%s needs a value: --%s %s", o->name, o->name, o->value);
	return set_option(p, o, argv[++*i]);
}

/* -q, -o json, -ojson, -qojson */
static int take_letters(struct parse *p, const char *word, int argc, char *const *argv, int *i)
{
	const struct cli_option *o;
	int r;

	for (; *word; word++) {
		o = find_option(command_options(p->cli), NULL, 0, *word);
		if (!o)
			o = find_option(cli_global_options, NULL, 0, *word);
		if (!o)
			return parse_fail(p, "unknown option `-%c'; see `schedctl --help'",
					  *word >= 0x20 && *word < 0x7f ? *word : '?');
		if (o->value) {
			if (word[1])
				return set_option(p, o, word + 1);
			if (*i + 1 == argc)
				return parse_fail(p, "-%c needs a value: -%c %s", o->letter, o->letter, o->value);
			return set_option(p, o, argv[++*i]);
		}
		r = set_option(p, o, "");
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_complete(struct parse *p)
{
	const struct cli *cli = p->cli;
	const struct cli_command *c = cli->command;
	const char *verb;

	if (cli->help || cli->version)
		return 0;
	if (!cli->noun)
		return parse_fail(
			p, "no command; `schedctl status' shows how schedd is, `schedctl --help' what else there is");
	if (!c)
		return parse_fail(p, "`%s' needs a verb; see `schedctl %s --help'", cli->noun, cli->noun);
	verb = c->verb ? c->verb : "";
	if (cli->nr_args < c->min_args)
		return parse_fail(p, "%s missing: schedctl %s%s%s %s",
				  c->min_args - cli->nr_args > 1 ? "arguments" : "an argument is", cli->noun,
				  *verb ? " " : "", verb, c->arguments);
	if (!(c->formats & cli->format))
		return parse_fail(p, "this output format (-o) does not exist for `%s%s%s'", cli->noun,
				  *verb ? " " : "", verb);
	return 0;
}

int cli_parse(const struct cli_command *commands, int argc, char *const *argv, struct cli *ret, char *error,
	      size_t error_size)
{
	struct cli cli = { .format = CLI_TABLE, .timeout_ns = DEFAULT_TIMEOUT_S * 1000000000ull };
	struct parse p = { commands, &cli, error, error_size };
	bool only_words = false;
	int i, r;

	for (i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (only_words || word[0] != '-' || !word[1])
			r = take_word(&p, word);
		else if (!strcmp(word, "--")) {
			only_words = true;
			r = 0;
		} else if (word[1] == '-')
			r = take_long(&p, word + 2, argc, argv, &i);
		else
			r = take_letters(&p, word + 1, argc, argv, &i);
		if (r < 0)
			return r;
	}
	r = check_complete(&p);
	if (r < 0)
		return r;
	*ret = cli;
	return 0;
}

const char *cli_value(const struct cli *cli, const char *name)
{
	const struct cli_option *options = command_options(cli);
	const struct cli_option *o = find_option(options, name, strlen(name), 0);

	assert(o); /* a command asked for an option that is not in its table */
	return o ? cli->values[o - options] : NULL;
}

const char *cli_repeat(const struct cli *cli, const char *name, unsigned int n)
{
	for (unsigned int i = 0; i < cli->nr_repeats; i++)
		if (strcmp(cli->repeats[i].option->name, name) == 0 && n-- == 0)
			return cli->repeats[i].value;
	return NULL;
}

/* ---------- help ---------- */

static void help_options(const struct cli_option *o, FILE *out)
{
	char left[64];

	for (; o->name; o++) {
		if (o->unsupported)
			continue;
		snprintf(left, sizeof(left), "%s%c%s--%s%s%s", o->letter ? "-" : " ", o->letter ? o->letter : ' ',
			 o->letter ? ", " : "  ", o->name, o->value ? " " : "", o->value ? o->value : "");
		fprintf(out, "  %-28s %s\n", left, o->help);
	}
}

static void help_command(const struct cli_command *c, FILE *out)
{
	fprintf(out, "Usage: schedctl %s%s%s%s%s%s\n\n%s\n", c->noun, c->verb ? " " : "", c->verb ? c->verb : "",
		c->arguments && *c->arguments ? " " : "", c->arguments ? c->arguments : "",
		c->options ? " [OPTION]..." : "", c->help);
	if (c->options) {
		fprintf(out, "\nOptions:\n");
		help_options(c->options, out);
	}
	fprintf(out, "\nGlobal options:\n");
	help_options(cli_global_options, out);
}

static void help_list(const struct cli_command *c, const char *noun, FILE *out)
{
	char left[128];

	for (; c->noun; c++) {
		if (noun && strcmp(c->noun, noun))
			continue;
		snprintf(left, sizeof(left), "%s%s%s%s%s", c->noun, c->verb ? " " : "", c->verb ? c->verb : "",
			 c->arguments && *c->arguments ? " " : "", c->arguments ? c->arguments : "");
		fprintf(out, "  %-34s %s\n", left, c->help);
	}
}

void cli_help(const struct cli_command *commands, const struct cli *cli, FILE *out)
{
	if (cli->command) {
		help_command(cli->command, out);
		return;
	}
	fprintf(out, "Usage: schedctl %s [OPTION]...\n\n", cli->noun ? cli->noun : "COMMAND");
	if (!cli->noun)
		fprintf(out, "Shows and changes how schedd schedules the cgroups of this machine.\n\n");
	fprintf(out, "Commands:\n");
	help_list(commands, cli->noun, out);
	fprintf(out, "\nTARGET is a cgroup path, a unit (nginx.service), unit:NAME, pod:NAMESPACE/NAME[/CONTAINER],\n"
		     "container:ID, pid:NUMBER, cgroup-id:NUMBER, or --self.  Details: man schedctl\n");
	fprintf(out, "\nGlobal options:\n");
	help_options(cli_global_options, out);
}
