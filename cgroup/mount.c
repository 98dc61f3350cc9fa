/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mount.c - where cgroup2 is mounted, and safe ways from a path or a process to a cgroup id */
#include "cgroup/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

/* The kernel writes blank, tab, newline and backslash as \ooo; the result is never longer. */
static void unescape_octal(char *s)
{
	char *out = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

struct mount_line {
	const char *root, *path, *fs_type;
};

/* "36 35 98:0 /root /path options [tag...] - fs_type source options"; cuts the line in place. */
static bool parse_mount_line(char *line, struct mount_line *ret)
{
	char *fields[5], *save = NULL, *word;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!(fields[i] = strtok_r(i ? NULL : line, " \n", &save)))
			return false;
	while ((word = strtok_r(NULL, " \n", &save)) && strcmp(word, "-") != 0)
		;
	word = strtok_r(NULL, " \n", &save);
	if (!word)
		return false;
	unescape_octal(fields[3]);
	unescape_octal(fields[4]);
	*ret = (struct mount_line){ fields[3], fields[4], word };
	return true;
}

int cgroup_mount_find(const char *mountinfo, char *ret_path, size_t size)
{
	_cleanup_fclose_ FILE *f = fopen(mountinfo ?: "/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	bool v1 = false;
	size_t room = 0;

	if (!f)
		return -errno;
	while (getline(&line, &room, f) > 0) {
		struct mount_line m;

		if (!parse_mount_line(line, &m))
			continue;
		v1 |= strcmp(m.fs_type, "cgroup") == 0;
		/* A mount of a part of the tree would hide the rest from us. */
		if (strcmp(m.fs_type, "cgroup2") == 0 && strcmp(m.root, "/") == 0)
			return str_copy(ret_path, size, m.path);
	}
	if (ferror(f))
		return -EIO;
	return v1 ? -ENXIO : -ENOENT;
}

static int path_check(const char *path)
{
	size_t len = strlen(path);

	if (path[0] != '/' || len >= PATH_MAX)
		return -EINVAL;
	if (len == 1)
		return 0;
	while (*path) {
		size_t n = strcspn(++path, "/");

		if (n == 0 || n > NAME_MAX || (n == 1 && path[0] == '.') || (n == 2 && memcmp(path, "..", 2) == 0))
			return -EINVAL;
		path += n;
	}
	return 0;
}

int cgroup_open_dir(int mount_fd, const char *path, int *ret_fd, struct stat *ret_stat)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r = path_check(path);

	if (r < 0)
		return r;
	fd = (int)syscall(SYS_openat2, mount_fd, path[1] ? path + 1 : ".", &how, sizeof(how));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_stat = st;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

bool cgroup_fd_is_cgroup2(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

int cgroup_open(int mount_fd, const char *path, int *ret_fd, uint64_t *ret_id)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r = cgroup_open_dir(mount_fd, path, &fd, &st);

	if (r < 0)
		return r;
	if (!cgroup_fd_is_cgroup2(fd))
		return -EMEDIUMTYPE;
	/* On 64-bit kernels the inode number of a cgroup2 directory is the cgroup id, all 64 bits of it. */
	*ret_id = st.st_ino;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* line is "0::/path\n". */
static int take_path(char *line, char *ret_path, size_t size)
{
	char *path = line + strlen("0::");

	path[strcspn(path, "\n")] = '\0';
	/* Above the root of our cgroup namespace: no path that we could open. */
	if (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || !path[3]))
		return -EXDEV;
	return str_copy(ret_path, size, path);
}

int cgroup_of_pid(pid_t pid, char *ret_path, size_t size)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	char name[sizeof("/proc//cgroup") + 12];
	size_t room = 0;

	if (pid <= 0)
		return -ESRCH;
	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (getline(&line, &room, f) > 0)
		if (strncmp(line, "0::", 3) == 0)
			return take_path(line, ret_path, size);
	/* The process may end between the two calls. */
	return ferror(f) ? (errno ? -errno : -EIO) : -ENXIO;
}
