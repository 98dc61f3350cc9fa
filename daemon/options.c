/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - the command line of the daemon */
#include "daemon/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "bpf_hash.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "version.h"

static const char *const default_dirs[] = { "/usr/lib/schedd", "/run/schedd", "/etc/schedd" };
static const char *const levels[] = { "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug" };

enum { OPT_CONFIG = 256, OPT_STATE_DIR, OPT_RUNTIME_DIR, OPT_SOCKET, OPT_LOG_LEVEL, OPT_PROBE, OPT_VERSION };

static const struct option long_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "state-dir", required_argument, NULL, OPT_STATE_DIR },
	{ "runtime-dir", required_argument, NULL, OPT_RUNTIME_DIR },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "log-level", required_argument, NULL, OPT_LOG_LEVEL },
	{ "probe", no_argument, NULL, OPT_PROBE },
	{ 0 },
};

static void print_help(void)
{
	printf("schedd [OPTION]...\n\n"
	       "Schedules latency-critical, normal and best-effort cgroups with sched_ext.\n\n"
	       "  -h, --help            show this help\n"
	       "      --version         show version, revision and the hash of the BPF object\n"
	       "      --config DIR      read schedd.yaml and conf.d/ from DIR instead of the default\n"
	       "                        directories; may be repeated, later ones win\n"
	       "      --state-dir DIR   what survives a restart (default /var/lib/schedd)\n"
	       "      --runtime-dir DIR what survives until reboot (default /run/schedd)\n"
	       "      --socket PATH     where schedctl connects (default RUNTIME-DIR/schedd.sock)\n"
	       "      --log-level LEVEL emerg, alert, crit, err, warning, notice, info or debug\n"
	       "      --probe           say what this kernel offers, load the scheduler without\n"
	       "                        attaching it, and exit: 0 usable, 78 not\n\n"
	       "schedd(8), schedd.yaml(5), schedctl(1)\n");
}

static int parse_level(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (strcmp(text, levels[i]) == 0) {
			log_set_level((int)i);
			return 0;
		}
	return log_error_errno(EINVAL, "--log-level %s: allowed are emerg, alert, crit, err, warning, notice, info, debug",
			       text);
}

static int add_config_dir(struct options *o, const char *dir)
{
	if (o->nr_config_dirs == OPTIONS_MAX_CONFIG_DIRS)
		return log_error_errno(E2BIG, "--config %s: at most %d directories", dir, OPTIONS_MAX_CONFIG_DIRS);
	o->config_dirs[o->nr_config_dirs++] = dir;
	return 0;
}

static int parse_one(struct options *o, int c)
{
	switch (c) {
	case 'h':
		print_help();
		return 1;
	case OPT_VERSION:
		printf("schedd %s (%s), BPF object %s\n", SCHEDD_VERSION, SCHEDD_REVISION, SCHEDD_BPF_HASH);
		return 1;
	case OPT_CONFIG:
		return add_config_dir(o, optarg);
	case OPT_STATE_DIR:
		o->state_dir = optarg;
		return 0;
	case OPT_RUNTIME_DIR:
		o->runtime_dir = optarg;
		return 0;
	case OPT_SOCKET:
		o->socket_path = optarg;
		return 0;
	case OPT_LOG_LEVEL:
		return parse_level(optarg);
	case OPT_PROBE:
		o->probe = true;
		return 0;
	default:
		return -EINVAL; /* getopt said what is wrong */
	}
}

static int set_defaults(struct options *o)
{
	int n;

	if (!o->nr_config_dirs)
		for (size_t i = 0; i < ARRAY_SIZE(default_dirs); i++)
			o->config_dirs[o->nr_config_dirs++] = default_dirs[i];
	if (o->socket_path)
		return 0;
	n = snprintf(o->socket_default, sizeof(o->socket_default), "%s/schedd.sock", o->runtime_dir);
	if (n < 0 || (size_t)n >= sizeof(o->socket_default))
		return log_error_errno(ENAMETOOLONG, "--runtime-dir %s", o->runtime_dir);
	o->socket_path = o->socket_default;
	return 0;
}

int options_parse(int argc, char **argv, struct options *ret_options)
{
	struct options *o = ret_options;
	int c, r;

	*o = (struct options){ .state_dir = "/var/lib/schedd", .runtime_dir = "/run/schedd" };
	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		r = parse_one(o, c);
		if (r)
			return r;
	}
	if (optind < argc)
		return log_error_errno(EINVAL, "unexpected argument '%s'; --help lists the options", argv[optind]);
	return set_defaults(o);
}
