/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - what outlives the process: the state file and the hold file
 *
 * Atomic replace with fsync of file and directory, a checksum over the content,
 * a format version, the boot id.  A damaged file is set aside as NAME.damaged
 * and reported, never trusted and never overwritten silently.
 */
#ifndef SCHEDD_STORE_H
#define SCHEDD_STORE_H

#include <stdint.h>

#include "daemon/state.h"

enum { STORE_BOOT_ID_MAX = 36 };

/*
 * "state" in dir (0700, file 0600; made when it is missing): API classes, overrides, assignments, leases,
 * request ids.  What is bound to a cgroup id or to this boot is dropped on load
 * when the boot id differs; LIFETIME_PERSISTENT stays.
 */
int store_save_state(const char *dir, const struct state *s, const char *boot_id);
/*
 * Applies the file to a state that has its configuration already, through the
 * same checks as a call.  0, -ENOENT (first start), -EUCLEAN (damaged, set
 * aside, *ret_aside names it, caller frees), -errno.  Entries that no longer
 * pass a check are skipped and counted in *ret_skipped.
 */
int store_load_state(const char *dir, struct state *s, const char *boot_id, uint64_t boottime_ns, uint32_t *ret_skipped,
		     char **ret_aside);

/* Which mode was named, and why we stay detached: "hold" in the runtime directory; gone at reboot. */
struct store_hold {
	char reason[64];                  /* "" = no hold; "sysrq", "mode-detached", "ejections" */
	char message[256];
	uint64_t since_realtime_ns;
	uint64_t until_boottime_ns;       /* end of the hold or of wanted_mode; 0 = until another mode is named */
	char wanted_mode[16];             /* the mode that a call named, "" = the configured one */
	char return_mode[16];             /* where to go at until_boottime_ns, "" = the configured one */
	uint64_t ejection_boottime_ns[3]; /* the last ejections, 0 = none */
	uint64_t ejections_total;
};
int store_save_hold(const char *dir, const struct store_hold *h, const char *boot_id);
int store_load_hold(const char *dir, const char *boot_id, struct store_hold *ret_hold, char **ret_aside);

int store_read_boot_id(char ret_boot_id[STORE_BOOT_ID_MAX + 1]);

#endif
