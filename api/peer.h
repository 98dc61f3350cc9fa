/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peer.h - who is at the other end of a unix socket, and the role that follows */
#ifndef SCHEDD_API_PEER_H
#define SCHEDD_API_PEER_H

#include <sys/types.h>

#include "daemon/command.h"

/*
 * As of connect(): a peer that changes its user later, or passes the socket on,
 * keeps what it had.  admin: members are admin beside root; (gid_t)-1 = none.
 * ret_caller->pidfd is the caller's to close.
 */
int peer_read(int fd, gid_t admin, struct command_caller *ret_caller);

#endif
