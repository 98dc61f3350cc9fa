/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attr.c - attribute files of cgroups, through libcgroup where it reaches them
 *
 * libcgroup finds a file by the name of its controller and by the mounts it saw
 * at its start.  It has no way to files of the core ("cgroup.procs"), to a
 * tree that is not the mounted cgroup2, and when a controller is held by a v1
 * hierarchy it would read there: those are opened below our own descriptor.
 */
#include "cgroup/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <libcgroup.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroup/mount.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"

enum { ATTR_LINE_MAX = 512, CONTROLLER_NAME_MAX = 32 };

/* Its "fopen failed" is a cgroup without that controller or one that just vanished: no news. */
static void drop_message(void *userdata, int level, const char *format, va_list ap)
{
	(void)userdata;
	(void)level;
	(void)format;
	(void)ap;
}

/* libcgroup has one state for the whole process, so its start has one too. */
static bool libcgroup_ready;

static void libcgroup_start(void)
{
	int r;

	cgroup_set_logger(drop_message, CGROUP_LOG_ERROR, NULL);
	r = cgroup_init();
	libcgroup_ready = r == 0;
	if (r)
		log_debug("libcgroup cannot be used (%s); cgroup attributes are read directly", cgroup_strerror(r));
}

/* "cpu.max" -> "cpu", when libcgroup sees that controller in the cgroup2 tree. */
static bool libcgroup_reaches(int mount_fd, const char *name, char controller[CONTROLLER_NAME_MAX])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	enum cg_version_t version = CGROUP_UNK;
	size_t n = strcspn(name, ".");

	if (n >= CONTROLLER_NAME_MAX || !cgroup_fd_is_cgroup2(mount_fd))
		return false;
	memcpy(controller, name, n);
	controller[n] = '\0';
	pthread_once(&once, libcgroup_start);
	return libcgroup_ready && cgroup_get_controller_version(controller, &version) == 0 && version == CGROUP_V2;
}

static int take_line(const char *line, char *dst, size_t size)
{
	size_t n = strcspn(line, "\n");

	if (n >= size)
		return -ENAMETOOLONG;
	memcpy(dst, line, n);
	dst[n] = '\0';
	return 0;
}

static int read_by_libcgroup(const char *controller, const char *path, const char *name, char *dst, size_t size)
{
	char line[ATTR_LINE_MAX] = "";
	void *handle = NULL;
	int r = cgroup_read_value_begin(controller, path, name, &handle, line, sizeof(line));

	if (handle)
		cgroup_read_value_end(&handle);
	if (r == ECGOTHER)
		return cgroup_get_last_errno() > 0 ? -cgroup_get_last_errno() : -EIO;
	if (r && r != ECGEOF)
		return -EIO;
	return take_line(line, dst, size);
}

static int read_directly(int mount_fd, const char *path, const char *name, char *dst, size_t size)
{
	_cleanup_close_ int dir = -1, fd = -1;
	char line[ATTR_LINE_MAX];
	struct stat st;
	ssize_t n;
	int r = cgroup_open_dir(mount_fd, path, &dir, &st);

	if (r < 0)
		return r;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	n = read(fd, line, sizeof(line) - 1);
	if (n < 0)
		return -errno;
	line[n] = '\0';
	return take_line(line, dst, size);
}

int cgroup_attr_read(int mount_fd, const char *path, const char *name, char *dst, size_t size)
{
	char controller[CONTROLLER_NAME_MAX];

	if (!name[0] || name[0] == '.' || strchr(name, '/'))
		return -EINVAL;
	if (libcgroup_reaches(mount_fd, name, controller))
		return read_by_libcgroup(controller, path, name, dst, size);
	return read_directly(mount_fd, path, name, dst, size);
}

int cgroup_attr_cpu_limited(int mount_fd, const char *path, bool *ret_limited)
{
	char value[64] = "";
	int r = cgroup_attr_read(mount_fd, path, "cpu.max", value, sizeof(value));

	if (r == -ENOENT)
		value[0] = '\0';
	else if (r < 0)
		return r;
	/* "max 100000" or "20000 100000"; the file of an empty answer limits nothing. */
	*ret_limited = value[0] && strncmp(value, "max", 3) != 0;
	return 0;
}
