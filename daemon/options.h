/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - the command line of the daemon */
#ifndef SCHEDD_OPTIONS_H
#define SCHEDD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { OPTIONS_MAX_CONFIG_DIRS = 8 };

struct options {
	const char *config_dirs[OPTIONS_MAX_CONFIG_DIRS]; /* in rising precedence */
	size_t nr_config_dirs;
	const char *state_dir, *runtime_dir, *socket_path;
	char socket_default[256];
	bool probe;
};

/* 0: go on; 1: done, exit 0 (help, version was printed); -EINVAL: said on stderr, exit 1. */
int options_parse(int argc, char **argv, struct options *ret_options);

#endif
