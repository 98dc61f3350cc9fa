// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor.c - what this machine has and lacks, read from files below a root */
#include "api/ctl/doctor.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup/mount.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/file.h"

#define OPS_NAME "schedd" /* of struct sched_ext_ops in bpf/ */

enum { FLOOR_MAJOR = 6, FLOOR_MINOR = 16 };

void doctor_add(struct doctor *d, const char *name, enum doctor_result result, const char *advice, const char *format,
		...)
{
	struct doctor_check *c;
	va_list args;

	if (result == DOCTOR_MISSING)
		d->failed = true;
	if (d->nr_checks == DOCTOR_MAX_CHECKS)
		return;
	c = &d->checks[d->nr_checks++];
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->result = result;
	snprintf(c->advice, sizeof(c->advice), "%s", advice);
	va_start(args, format);
	vsnprintf(c->found, sizeof(c->found), format, args);
	va_end(args);
}

static int read_below(const char *root, const char *file, char *dst, size_t size)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", root, file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return file_read_line(path, dst, size);
}

static bool exists_below(const char *root, const char *file)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s%s", root, file) < (int)sizeof(path) && access(path, F_OK) == 0;
}

/* ---------- kernel ---------- */

static void check_release(struct doctor *d, const char *release)
{
	int major = 0, minor = 0;

	if (sscanf(release, "%d.%d", &major, &minor) == 2 &&
	    (major > FLOOR_MAJOR || (major == FLOOR_MAJOR && minor >= FLOOR_MINOR)))
		doctor_add(d, "kernel", DOCTOR_OK, "", "%s", release);
	else
		doctor_add(d, "kernel", DOCTOR_MISSING,
			   "boot a kernel from 6.16 on (Debian 13: linux-image from trixie-backports)",
			   "%s is older than 6.16", release);
}

static void check_sched_ext(struct doctor *d, const char *root)
{
	char state[64] = "", ops[64] = "";

	if (read_below(root, "/sys/kernel/sched_ext/state", state, sizeof(state)) < 0) {
		doctor_add(d, "sched_ext", DOCTOR_MISSING,
			   "boot a kernel that was built with CONFIG_SCHED_CLASS_EXT=y",
			   "not in this kernel: there is no /sys/kernel/sched_ext");
		return;
	}
	(void)read_below(root, "/sys/kernel/sched_ext/root/ops", ops, sizeof(ops));
	if (!strcmp(state, "disabled"))
		doctor_add(d, "sched_ext", DOCTOR_OK, "", "present, no scheduler is loaded");
	else if (!strncmp(ops, OPS_NAME, strlen(OPS_NAME)))
		doctor_add(d, "sched_ext", DOCTOR_OK, "", "present, %s is %s", ops, state);
	else
		doctor_add(
			d, "sched_ext", DOCTOR_MISSING,
			"the kernel takes one scheduler at a time: stop the other one (often `systemctl stop scx`); "
			"mode observe measures it meanwhile",
			"another scheduler is %s: %s", state, *ops ? ops : "without a name");
}

void doctor_check_kernel(struct doctor *d, const char *root, const char *release)
{
	check_release(d, release);
	check_sched_ext(d, root);
	if (exists_below(root, "/sys/kernel/btf/vmlinux"))
		doctor_add(d, "BTF", DOCTOR_OK, "", "present");
	else
		doctor_add(d, "BTF", DOCTOR_MISSING, "boot a kernel that was built with CONFIG_DEBUG_INFO_BTF=y",
			   "there is no /sys/kernel/btf/vmlinux");
}

/* ---------- cgroups ---------- */

/* "cpuset cpu io" holds "cpu" as a word. */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	const char *at;

	for (at = strstr(list, word); at; at = strstr(at + 1, word))
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

static void check_controllers(struct doctor *d, const char *root, const char *mount)
{
	char file[PATH_MAX], list[512] = "";

	if (snprintf(file, sizeof(file), "%s/cgroup.controllers", mount) >= (int)sizeof(file))
		return;
	if (read_below(root, file, list, sizeof(list)) < 0)
		doctor_add(d, "controllers", DOCTOR_NOTE, "", "%s cannot be read", file);
	else if (has_word(list, "cpu"))
		doctor_add(d, "controllers", DOCTOR_OK, "", "cpu is in the cgroup2 tree");
	else
		doctor_add(d, "controllers", DOCTOR_NOTE,
			   "classes work without it; cgroups of a v1 cpu hierarchy are not followed",
			   "cpu is not in the cgroup2 tree (hybrid set-up)");
}

void doctor_check_cgroup(struct doctor *d, const char *root)
{
	char mountinfo[PATH_MAX], mount[PATH_MAX];
	int r = -ENAMETOOLONG;

	if (snprintf(mountinfo, sizeof(mountinfo), "%s/proc/self/mountinfo", root) < (int)sizeof(mountinfo))
		r = cgroup_mount_find(mountinfo, mount, sizeof(mount));
	if (r == -ENXIO)
		doctor_add(d, "cgroup2", DOCTOR_MISSING,
			   "boot with systemd.unified_cgroup_hierarchy=1, or mount a cgroup2 tree beside it",
			   "only cgroup v1 is mounted");
	else if (r == -ENOENT)
		doctor_add(d, "cgroup2", DOCTOR_MISSING, "mount -t cgroup2 none /sys/fs/cgroup", "not mounted");
	else if (r < 0)
		doctor_add(d, "cgroup2", DOCTOR_MISSING, "", "cannot read /proc/self/mountinfo: %s", strerror(-r));
	if (r < 0)
		return;
	doctor_add(d, "cgroup2", DOCTOR_OK, "", "mounted at %s", mount);
	check_controllers(d, root, mount);
}

/* ---------- socket ---------- */

void doctor_check_socket(struct doctor *d, const char *path)
{
	const struct group *group;
	struct stat st;
	char who[128] = "root";

	if (stat(path, &st) < 0) {
		doctor_add(d, "socket", DOCTOR_MISSING,
			   errno == EACCES ? "become root to look"
					   : "start the daemon: systemctl enable --now schedd",
			   "%s: %s", path, strerror(errno));
		return;
	}
	if (!S_ISSOCK(st.st_mode)) {
		doctor_add(d, "socket", DOCTOR_MISSING, "remove it and restart schedd", "%s is not a socket", path);
		return;
	}
	group = st.st_gid ? getgrgid(st.st_gid) : NULL;
	if ((st.st_mode & 0006) == 0006)
		snprintf(who, sizeof(who), "everybody");
	else if ((st.st_mode & 0060) == 0060 && st.st_gid)
		snprintf(who, sizeof(who), "root and group %s", group ? group->gr_name : "without a name");
	if (access(path, R_OK | W_OK) == 0)
		doctor_add(d, "socket", DOCTOR_OK, "", "%s, for %s", path, who);
	else
		doctor_add(d, "socket", DOCTOR_NOTE, "become root, or a member of that group",
			   "%s is for %s, and you are not", path, who);
}
