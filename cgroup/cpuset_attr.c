/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuset_attr.c - which CPUs a cgroup's tasks may use, and whether it has any tasks, from its files */
#include "cgroup/cpuset_attr.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cgroup/mount.h"
#include "daemon/base/cleanup.h"

/* whole: -E2BIG when it does not fit; otherwise the beginning is enough. */
static int read_file(int dir, const char *name, bool whole, char *dst, size_t size)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, dst + used, size - 1 - used);
		if (n < 0)
			return -errno;
		used += (size_t)n;
	} while (whole && n > 0 && used < size - 1);
	if (whole && n > 0)
		return -E2BIG;
	dst[used] = '\0';
	return 0;
}

/* "root", or "root invalid (CPUs are not exclusive)". */
static enum cgroup_partition parse_partition(const char *text)
{
	if (strstr(text, " invalid"))
		return CGROUP_PARTITION_INVALID;
	if (strncmp(text, "root", strlen("root")) == 0)
		return CGROUP_PARTITION_ROOT;
	if (strncmp(text, "isolated", strlen("isolated")) == 0)
		return CGROUP_PARTITION_ISOLATED;
	return CGROUP_PARTITION_MEMBER;
}

static int read_partition(int dir, enum cgroup_partition *ret_partition)
{
	char text[128];
	int r = read_file(dir, "cpuset.cpus.partition", false, text, sizeof(text));

	if (r == 0)
		*ret_partition = parse_partition(text);
	else if (r == -ENOENT)
		*ret_partition = CGROUP_PARTITION_MEMBER; /* the root */
	else
		return r;
	return 0;
}

static int read_cpus(int dir, const struct cgroup_cpuset *parent, struct cgroup_cpuset *c)
{
	char text[CPUSET_TEXT_BYTES];
	int r = read_file(dir, "cpuset.cpus.effective", true, text, sizeof(text));

	if (r == -ENOENT) {
		/* The controller is not enabled here, then it has no other files either. */
		if (parent)
			c->effective = parent->effective;
		else
			cpuset_fill(&c->effective);
		return 0;
	}
	if (r == 0)
		r = cpuset_parse(text, &c->effective);
	return r < 0 ? r : read_partition(dir, &c->partition);
}

static int read_tasks(int dir, bool leaf, struct cgroup_cpuset *c)
{
	char text[512];
	int r = read_file(dir, "cgroup.events", false, text, sizeof(text));

	if (r < 0)
		return r;
	c->populated = strstr(text, "populated 1");
	c->has_tasks = c->populated;
	if (!c->populated || leaf)
		return 0;
	/* The tasks that populate it may all be further down; cgroup.procs cannot be read in a threaded cgroup. */
	r = read_file(dir, "cgroup.threads", false, text, sizeof(text));
	if (r == 0)
		c->has_tasks = text[0];
	return r;
}

int cgroup_cpuset_read(int mount_fd, const char *path, uint64_t id, const struct cgroup_cpuset *parent, bool leaf,
		       struct cgroup_cpuset *ret_cpuset)
{
	struct cgroup_cpuset c = { .populated = true, .has_tasks = true };
	_cleanup_close_ int dir = -1;
	struct stat st;
	int r = cgroup_open_dir(mount_fd, path, &dir, &st);

	if (r < 0)
		return r;
	if (st.st_ino != id)
		return -ESTALE;
	r = read_cpus(dir, parent, &c);
	/* The root has no cgroup.events; any other has, so a cgroup that vanished meanwhile is noticed here. */
	if (r == 0 && parent)
		r = read_tasks(dir, leaf, &c);
	if (r < 0)
		return r;
	*ret_cpuset = c;
	return 0;
}

bool cgroup_cpuset_equal(const struct cgroup_cpuset *a, const struct cgroup_cpuset *b)
{
	return a->partition == b->partition && a->has_tasks == b->has_tasks &&
	       cpuset_equal(&a->effective, &b->effective);
}
