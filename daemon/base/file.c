/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.c - small files read whole, and formatted paths */
#include "daemon/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"

int file_read_line(const char *path, char *dst, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buffer[4096];
	ssize_t n;
	size_t len;

	if (fd < 0)
		return -errno;
	n = read(fd, buffer, sizeof(buffer) - 1);
	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	len = strcspn(buffer, "\n");
	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(dst, buffer, len);
	dst[len] = '\0';
	return 0;
}

int dir_make(const char *path, unsigned int mode)
{
	char part[PATH_MAX];
	struct stat st;

	if (strlen(path) >= sizeof(part))
		return -ENAMETOOLONG;
	strcpy(part, path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}
