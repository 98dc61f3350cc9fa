/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mount.h - where cgroup2 is mounted, and safe ways from a path or a process to a cgroup id */
#ifndef SCHEDD_CGROUP_MOUNT_H
#define SCHEDD_CGROUP_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Reads a mountinfo file (NULL = /proc/self/mountinfo), unescapes octal, and
 * returns the first cgroup2 mount whose root is "/".  -ENOENT: no cgroup2;
 * -ENXIO: cgroup v1 only (a v1 hierarchy is there, no v2).
 */
int cgroup_mount_find(const char *mountinfo, char *ret_path, size_t size);

/*
 * Opens path ("/a/b", relative to mount_fd) with openat2 beneath the mount, no
 * symlinks, and checks that it is a cgroup2 directory.  Returns a descriptor
 * (O_PATH is not enough for BPF: O_RDONLY|O_DIRECTORY) and the id.
 * -EINVAL: not absolute, "..", trailing "/", too long.  -EMEDIUMTYPE: another file system.
 * Control characters are let through: a container may name its cgroups so, and we
 * must reach them all; who takes a path from a caller refuses them.
 */
int cgroup_open(int mount_fd, const char *path, int *ret_fd, uint64_t *ret_id);

/* The same without the test of the file system: for callers that follow any tree of directories. */
int cgroup_open_dir(int mount_fd, const char *path, int *ret_fd, struct stat *ret_stat);
bool cgroup_fd_is_cgroup2(int fd);

/*
 * Path of the cgroup of a process, from /proc/PID/cgroup ("0::" line).  -ESRCH:
 * it is gone; -EXDEV: its cgroup is outside our cgroup namespace; -ENXIO: no cgroup2.
 */
int cgroup_of_pid(pid_t pid, char *ret_path, size_t size);

#endif
