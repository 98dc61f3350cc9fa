/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - the process schedd: options, then the daemon */
#include "daemon/daemon.h"
#include "daemon/options.h"

int main(int argc, char **argv)
{
	struct daemon *d = NULL;
	struct options o;
	int r, exit_code;

	r = options_parse(argc, argv, &o);
	if (r)
		return r < 0;
	if (o.probe)
		return daemon_probe();
	r = daemon_new(&o, &d, &exit_code);
	if (r < 0)
		return exit_code;
	exit_code = daemon_run(d);
	daemon_free(d);
	return exit_code;
}
