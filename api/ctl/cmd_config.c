// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_config.c - schedctl config show, cat, verify, reload */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/out.h"
#include "api/ctl/show.h"
#include "daemon/base/cleanup.h"
#include "daemon/config.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

static void config_freep(struct config **c)
{
	if (*c)
		config_free(*c);
}

static uint32_t online_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (uint32_t)n;
}

/* Line by line: the newlines of a file stay, all other control characters are escaped. */
static void print_lines(char *text)
{
	char *next, *tab;

	for (; *text; text = next) {
		_cleanup_free_ char *safe = NULL;

		next = text + strcspn(text, "\n");
		if (*next)
			*next++ = '\0';
		while ((tab = strchr(text, '\t')))
			*tab = ' ';
		safe = out_text(text);
		puts(safe);
	}
}

/* ---------- show ---------- */

int cmd_config_show(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__GetConfigResponse *reply = NULL;
	Schedd__V1alpha1__GetConfigRequest request = SCHEDD__V1ALPHA1__GET_CONFIG_REQUEST__INIT;
	enum ctl_exit code;

	code = ctl_call(ctl, "GetConfig", &request.base, &reply);
	if (code == CTL_DONE && !ctl_print_json(ctl, &reply->base) && *reply->yaml)
		print_lines(reply->yaml);
	return code;
}

/* ---------- cat ---------- */

static enum ctl_exit cat_file(const struct ctl *ctl, const char *path, bool first)
{
	_cleanup_free_ char *name = out_text(path), *line = NULL;
	_cleanup_fclose_ FILE *f = NULL;
	size_t size = 0;

	if (ctl->cli.format == CLI_NAME) {
		puts(name);
		return CTL_DONE;
	}
	printf("%s%s# %s%s\n", first ? "" : "\n", out_colour_start(ctl->colour, OUT_BOLD), name,
	       out_colour_end(ctl->colour, OUT_BOLD));
	f = fopen(path, "re");
	if (!f)
		return ctl_fail(errno == EACCES ? CTL_NOT_PERMITTED : CTL_FAILED, "cannot read %s: %s", path,
				strerror(errno));
	while (getline(&line, &size, f) > 0)
		print_lines(line);
	return CTL_DONE;
}

static enum ctl_exit cat_files(const struct ctl *ctl, const char *const *files, size_t nr_files)
{
	enum ctl_exit code = CTL_DONE, one;
	size_t i;

	for (i = 0; i < nr_files; i++) {
		one = cat_file(ctl, files[i], i == 0);
		if (one != CTL_DONE)
			code = one;
	}
	if (!nr_files)
		fprintf(stderr, "no configuration files: the defaults hold\n");
	return code;
}

/* The daemon knows which files it read; without one the usual places are searched. */
int cmd_config_cat(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__GetConfigResponse *reply = NULL;
	Schedd__V1alpha1__GetConfigRequest request = SCHEDD__V1ALPHA1__GET_CONFIG_REQUEST__INIT;
	_cleanup_(config_freep) struct config *config = NULL;
	struct ctl_problem problem;
	int r;

	if (ctl_try(ctl, &schedd__v1alpha1__scheduler__descriptor, "GetConfig", &request.base, &reply, &problem) ==
	    CTL_DONE)
		return cat_files(ctl, (const char *const *)reply->files, reply->n_files);
	r = config_load(NULL, online_cpus(), &config);
	if (!config)
		return ctl_fail(CTL_FAILED, "cannot search for configuration files: %s", strerror(-r));
	return cat_files(ctl, config->files, config->nr_files);
}

/* ---------- verify ---------- */

/* The same message as a reload answers, so that -o json looks the same for both. */
static int print_errors_json(const struct ctl *ctl, const struct config *c)
{
	Schedd__V1alpha1__ReloadConfigResponse reply = SCHEDD__V1ALPHA1__RELOAD_CONFIG_RESPONSE__INIT;
	_cleanup_free_ Schedd__V1alpha1__ConfigError *errors = calloc(c->nr_errors + 1, sizeof(*errors));
	_cleanup_free_ Schedd__V1alpha1__ConfigError **list = calloc(c->nr_errors + 1, sizeof(*list));
	size_t i;

	if (!errors || !list)
		return -ENOMEM;
	for (i = 0; i < c->nr_errors; i++) {
		schedd__v1alpha1__config_error__init(&errors[i]);
		errors[i].file = (char *)c->errors[i].file;
		errors[i].line = c->errors[i].line;
		errors[i].column = c->errors[i].column;
		errors[i].key = (char *)c->errors[i].key;
		errors[i].value = (char *)c->errors[i].value;
		errors[i].message = (char *)c->errors[i].message;
		list[i] = &errors[i];
	}
	reply.accepted = !c->nr_errors;
	reply.errors = list;
	reply.n_errors = c->nr_errors;
	reply.files = (char **)c->files;
	reply.n_files = c->nr_files;
	ctl_print_json(ctl, &reply.base);
	return 0;
}

int cmd_config_verify(struct ctl *ctl)
{
	_cleanup_(config_freep) struct config *c = NULL;
	size_t i;
	int r;

	r = ctl->cli.nr_args ? config_load_path(ctl->cli.args[0], online_cpus(), &c)
			     : config_load(NULL, online_cpus(), &c);
	if (!c)
		return ctl_fail(CTL_FAILED, "cannot read the configuration: %s", strerror(-r));
	if (ctl->cli.format == CLI_JSON) {
		if (print_errors_json(ctl, c) < 0)
			return ctl_fail(CTL_FAILED, "no memory for the list of errors");
		return r < 0 ? CTL_FAILED : CTL_DONE;
	}
	for (i = 0; i < c->nr_errors; i++)
		config_error_print(&c->errors[i], stderr);
	if (r < 0)
		return ctl_fail(CTL_FAILED, "the configuration is not valid: %zu error%s", c->nr_errors,
				c->nr_errors == 1 ? "" : "s");
	printf("valid: %zu file%s, %zu class%s, %zu rule%s\n", c->nr_files, c->nr_files == 1 ? "" : "s",
	       c->nr_classes, c->nr_classes == 1 ? "" : "es", c->nr_rules, c->nr_rules == 1 ? "" : "s");
	return CTL_DONE;
}

/* ---------- reload ---------- */

static void print_error(const Schedd__V1alpha1__ConfigError *e)
{
	struct config_error error = {
		.file = e->file,
		.key = e->key,
		.value = e->value,
		.message = e->message,
		.line = e->line,
		.column = e->column,
	};

	config_error_print(&error, stderr);
}

int cmd_config_reload(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__ReloadConfigResponse *reply = NULL;
	Schedd__V1alpha1__ReloadConfigRequest request = SCHEDD__V1ALPHA1__RELOAD_CONFIG_REQUEST__INIT;
	bool dry_run = cli_flag(&ctl->cli, "dry-run");
	Schedd__V1alpha1__Change change;
	enum ctl_exit code;
	size_t i;

	request.change = show_fill_change(ctl, &change);
	code = ctl_call(ctl, "ReloadConfig", &request.base, &reply);
	if (code != CTL_DONE)
		return code;
	if (ctl_print_json(ctl, &reply->base))
		return reply->accepted ? CTL_DONE : CTL_FAILED;
	for (i = 0; i < reply->n_errors; i++)
		print_error(reply->errors[i]);
	if (!reply->accepted)
		return ctl_fail(CTL_FAILED, "the configuration was refused and nothing has changed: %zu error%s",
				reply->n_errors, reply->n_errors == 1 ? "" : "s");
	printf("configuration %s: %zu file%s, generation %" PRIu64 "\n", dry_run ? "would be accepted" : "reloaded",
	       reply->n_files, reply->n_files == 1 ? "" : "s", reply->config_generation);
	return CTL_DONE;
}
