/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_config.c - the configuration put in force, whole or not at all */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/daemon_private.h"

/* NULL without memory. */
static char *error_line(const struct config_error *e)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	config_error_print(e, f);
	fclose(f);
	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

static void log_errors(const struct config *c)
{
	for (size_t i = 0; i < c->nr_errors; i++) {
		_cleanup_free_ char *text = error_line(&c->errors[i]);

		log_error("%s", text ?: "out of memory while describing an error");
	}
}

static void free_rules(struct cgroup_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(rules[i].cgroup_glob);
		free(rules[i].class_name);
		free(rules[i].origin);
	}
	free(rules);
}

/* The model keeps rules beyond the life of the parsed files. */
static struct cgroup_rule *copy_rules(const struct config *c)
{
	struct cgroup_rule *rules = calloc(c->nr_rules + 1, sizeof(*rules));

	for (size_t i = 0; rules && i < c->nr_rules; i++) {
		rules[i].cgroup_glob = strdup(c->rules[i].cgroup_glob);
		rules[i].class_name = strdup(c->rules[i].class_name);
		rules[i].origin = strdup(c->rules[i].origin);
		if (!rules[i].cgroup_glob || !rules[i].class_name || !rules[i].origin) {
			free_rules(rules, c->nr_rules);
			return NULL;
		}
	}
	return rules;
}

static int config_to_model(struct daemon *d, const struct config *c, char *error, size_t error_size)
{
	struct cgroup_rule *rules = copy_rules(c);
	int r;

	if (!rules) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	r = state_set_config(d->state, c->classes, c->nr_classes, rules, c->nr_rules, error, error_size);
	if (r < 0) {
		free_rules(rules, c->nr_rules);
		return r;
	}
	d->state->lease_max = c->lease_max;
	d->state->lease_ttl_max_ns = c->lease_ttl_max_ns;
	return 0;
}

static void config_in_force(struct daemon *d)
{
	d->config_ok = true;
	d->config_success_realtime_ns = clock_ns(CLOCK_REALTIME);
	daemon_set_condition(d, CONDITION_CONFIG_CURRENT, 1, "Loaded", "%s", "");
}

int daemon_load_config(struct daemon *d)
{
	const struct config_paths paths = { d->options.config_dirs, d->options.nr_config_dirs };
	char error[256];
	int r;

	r = config_load(&paths, d->topo.nr_online, &d->config);
	if (r < 0) {
		if (d->config)
			log_errors(d->config);
		return log_error_errno(r, "the configuration is refused; `schedctl config verify` checks it");
	}
	r = config_to_model(d, d->config, error, sizeof(error));
	if (r < 0)
		return log_error_errno(r, "the configuration is refused: %s", error);
	config_in_force(d);
	return 0;
}

static void copy_errors(struct reply *reply, const struct config *c)
{
	reply->config.errors = arena_array(&reply->arena, struct config_error_view, c->nr_errors);
	for (size_t i = 0; reply->config.errors && i < c->nr_errors; i++) {
		const struct config_error *e = &c->errors[i];

		reply->config.errors[i] = (struct config_error_view){
			.file = arena_strdup(&reply->arena, e->file),
			.key = arena_strdup(&reply->arena, e->key),
			.value = arena_strdup(&reply->arena, e->value),
			.message = arena_strdup(&reply->arena, e->message),
			.line = e->line,
			.column = e->column,
		};
		reply->config.nr_errors = i + 1;
	}
}

static void add_error(struct reply *reply, const char *message)
{
	reply->config.errors = arena_new(&reply->arena, struct config_error_view);
	if (!reply->config.errors)
		return;
	*reply->config.errors = (struct config_error_view){ .file = "", .key = "", .value = "",
							    .message = arena_strdup(&reply->arena, message) };
	reply->config.nr_errors = 1;
}

static void announce_refusal(struct daemon *d, const struct config *c, const char *message)
{
	_cleanup_free_ char *text = NULL;

	if (!message && c && c->nr_errors)
		text = error_line(&c->errors[0]);
	daemon_announce_config(d, message ?: text ?: "the files cannot be read");
}

static int refuse(struct daemon *d, struct reply *reply, const struct config *c, const char *message)
{
	d->config_ok = false;
	if (c)
		log_errors(c);
	log_error("the new configuration is refused, the old one stays in force%s%s", message ? ": " : "", message ?: "");
	announce_refusal(d, c, message);
	daemon_set_condition(d, CONDITION_CONFIG_CURRENT, 2, "ReloadRefused",
			     "the files on disk are refused; `schedctl config verify` says why");
	if (reply && c)
		copy_errors(reply, c);
	else if (reply)
		add_error(reply, message);
	return -EINVAL;
}

/* From one address to all of them is the same port: then the old listener must go first, and comes back on failure. */
static int listen_anew(struct daemon *d, const char *listen, struct http **ret_http)
{
	int r = daemon_start_http(d, listen, ret_http);

	if (r != -EADDRINUSE || !d->http)
		return r;
	http_free(d->http);
	d->http = NULL;
	r = daemon_start_http(d, listen, ret_http);
	if (r < 0)
		daemon_start_http(d, d->config->metrics_listen, &d->http);
	return r;
}

/* What can fail for outside reasons comes first; what cannot be undone comes last. */
static int put_in_force(struct daemon *d, struct config *c, char *error, size_t error_size)
{
	bool listen_changed = strcmp(c->metrics_listen, d->config->metrics_listen) != 0;
	struct http *http = NULL;
	int r = 0;

	if (listen_changed)
		r = listen_anew(d, c->metrics_listen, &http);
	if (r < 0) {
		snprintf(error, error_size, "metrics.listen %s: %s", c->metrics_listen, strerror(-r));
		return r;
	}
	r = config_to_model(d, c, error, error_size);
	if (r < 0) {
		http_free(http);
		if (listen_changed && !d->http)
			daemon_start_http(d, d->config->metrics_listen, &d->http);
		return r;
	}
	if (listen_changed) {
		http_free(d->http);
		d->http = http;
	}
	config_free(d->config);
	d->config = c;
	return 0;
}

static void apply_new(struct daemon *d)
{
	config_in_force(d);
	attach_set_configured(&d->attach, d->config->mode);
	state_scale_guarantees(d->state);
	daemon_classify(d, cgroup_tree_root(d->tree));
	daemon_apply_classes(d);
	daemon_apply_plan(d);
	daemon_leases_progress(d);
	daemon_save_state(d);
	log_event(LOG_NOTICE, LOG_ID_CONFIG, NULL, "the configuration was reloaded from %zu files", d->config->nr_files);
	daemon_announce_config(d, NULL);
	daemon_announce(d);
}

static int reload(struct daemon *d, struct reply *reply)
{
	const struct config_paths paths = { d->options.config_dirs, d->options.nr_config_dirs };
	struct config *c = NULL;
	char error[256] = "";
	int r;

	r = config_load(&paths, d->topo.nr_online, &c);
	if (r < 0) {
		r = refuse(d, reply, c, c ? NULL : strerror(-r));
		config_free(c);
		return r;
	}
	r = put_in_force(d, c, error, sizeof(error));
	if (r < 0) {
		config_free(c);
		return refuse(d, reply, NULL, error);
	}
	apply_new(d);
	if (reply) {
		daemon_fill_config(d, reply);
		reply->config.reload_accepted = true;
	}
	return 0;
}

int daemon_reload_config(struct daemon *d, struct reply *reply)
{
	int r;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(clock_ns(CLOCK_MONOTONIC) / 1000));
	r = reload(d, reply);
	daemon_reconsider(d);
	sd_notify(0, "READY=1");
	return r;
}

void daemon_fill_config(struct daemon *d, struct reply *reply)
{
	struct config_view *v = &reply->config;

	v->yaml = config_to_yaml(d->config, &reply->arena) ?: "";
	v->files = arena_array(&reply->arena, const char *, d->config->nr_files + 1);
	for (size_t i = 0; v->files && i < d->config->nr_files; i++) {
		v->files[i] = arena_strdup(&reply->arena, d->config->files[i]);
		v->nr_files = i + 1;
	}
}
