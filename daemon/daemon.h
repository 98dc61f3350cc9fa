/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon.h - the process: everything is owned by one struct and driven by one loop */
#ifndef SCHEDD_DAEMON_H
#define SCHEDD_DAEMON_H

#include "daemon/options.h"

struct daemon;

enum {
	EXIT_OTHER_SCHEDULER = 2, /* another schedd, or another sched_ext scheduler: restarting does not help */
	EXIT_UNSUPPORTED = 78,    /* EX_CONFIG: this kernel cannot do it */
};

/* On failure the reason was logged and *ret_exit_code is what to exit with. */
int daemon_new(const struct options *o, struct daemon **ret_daemon, int *ret_exit_code);
/* Until SIGTERM or SIGINT; the exit code. */
int daemon_run(struct daemon *d);
void daemon_free(struct daemon *d);

/* --probe: prints what the kernel offers and loads the BPF object; the exit code. */
int daemon_probe(void);

#endif
