/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peer.c - who is at the other end of a unix socket, and the role that follows */
#include "api/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* SO_PEERCRED holds the primary group only; the others have a call of their own. */
static bool in_groups(int fd, gid_t gid)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t size = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0 || errno != ERANGE)
		return false;
	groups = malloc(size);
	if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == gid)
			return true;
	return false;
}

/* Kernel 6.5; -1 before that, or when the peer is gone. */
static int peer_pidfd(int fd)
{
	socklen_t size = sizeof(int);
	int pidfd = -1;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) < 0)
		return -1;
	fcntl(pidfd, F_SETFD, FD_CLOEXEC);
	return pidfd;
}

/* Believed only if the process still is afterwards: then the number was not reused in between. */
static void read_comm(pid_t pid, int pidfd, char *comm, size_t size)
{
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };
	char path[64], raw[64] = "";
	_cleanup_fclose_ FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f || !fgets(raw, sizeof(raw), f))
		return;
	raw[strcspn(raw, "\n")] = '\0';
	if (pidfd >= 0 && poll(&ended, 1, 0) > 0)
		return;
	str_escape(comm, size, raw);
}

int peer_read(int fd, gid_t admin, struct command_caller *ret_caller)
{
	struct command_caller caller = { .role = ROLE_VIEW, .pidfd = -1 };
	socklen_t size = sizeof(struct ucred);
	struct ucred cred;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
		return -errno;
	caller.uid = cred.uid;
	caller.pid = cred.pid;
	if (cred.uid == 0)
		caller.role = ROLE_ADMIN;
	else if (admin != (gid_t)-1 && (cred.gid == admin || in_groups(fd, admin)))
		caller.role = ROLE_ADMIN;
	caller.pidfd = peer_pidfd(fd);
	read_comm(cred.pid, caller.pidfd, caller.comm, sizeof(caller.comm));
	*ret_caller = caller;
	return 0;
}
