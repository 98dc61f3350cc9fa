/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemon_socket.c - one schedd per runtime directory, and the socket it listens on */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/file.h"
#include "daemon/base/log.h"
#include "daemon/daemon_private.h"

int daemon_lock(struct daemon *d, int *ret_exit_code)
{
	char path[PATH_MAX];
	int r;

	*ret_exit_code = 1;
	r = dir_make(d->options.runtime_dir, 0755);
	if (r < 0)
		return log_error_errno(r, "cannot make the runtime directory %s; are you root?", d->options.runtime_dir);
	r = dir_make(d->options.state_dir, 0700);
	if (r < 0)
		return log_error_errno(r, "cannot make the state directory %s; are you root?", d->options.state_dir);
	snprintf(path, sizeof(path), "%s/lock", d->options.runtime_dir);
	d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock_fd < 0)
		return log_error_errno(errno, "cannot open %s", path);
	if (flock(d->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return log_error_errno(errno, "cannot lock %s", path);
	*ret_exit_code = EXIT_OTHER_SCHEDULER;
	return log_error_errno(EBUSY, "another schedd runs with %s; `systemctl status schedd` shows it, --runtime-dir names "
				      "another directory", d->options.runtime_dir);
}

static int set_rights(const char *path, const struct config *c)
{
	struct group *group = c->group && c->group[0] ? getgrnam(c->group) : NULL;

	if (c->group && c->group[0] && !group)
		log_debug("there is no group %s: the socket is root's alone", c->group);
	if (group && chown(path, 0, group->gr_gid) < 0)
		return -errno;
	return chmod(path, c->socket_mode) < 0 ? -errno : 0;
}

static int listen_at(struct daemon *d, int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = d->options.socket_path;
	_cleanup_close_ int fd = -1;
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return log_error_errno(ENAMETOOLONG, "--socket %s: at most %zu bytes", path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return log_error_errno(errno, "cannot make a socket");
	/* We hold the lock, so whoever left this file is gone. */
	if (unlink(path) < 0 && errno != ENOENT)
		return log_error_errno(errno, "cannot remove the old socket %s", path);
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(mask);
	if (r == 0)
		r = set_rights(path, d->config);
	if (r == 0 && listen(fd, 128) < 0)
		r = -errno;
	if (r < 0)
		return log_error_errno(r, "cannot listen on %s", path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int daemon_open_socket(struct daemon *d, int *ret_fd)
{
	int n = sd_listen_fds(1);

	for (int i = 0; i < n; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		if (sd_is_socket(fd, AF_UNIX, SOCK_STREAM, 1) > 0) {
			if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
				return log_error_errno(errno, "cannot use the socket from systemd");
			*ret_fd = fd;
			return 0;
		}
	}
	return listen_at(d, ret_fd);
}
