// SPDX-License-Identifier: GPL-2.0-or-later
/* test_mount.c - the cgroup2 mount found, paths opened without leaving it, attributes read */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cgroup/attr.h"
#include "cgroup/mount.h"
#include "daemon/base/cleanup.h"

struct fixture {
	char dir[64];
	int fd;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/test_mount.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = f;
	return f->fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[128];
	int r;

	close(f->fd);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->dir);
	r = system(command);
	free(f);
	return r;
}

static void write_file(const struct fixture *f, const char *name, const void *text, size_t n)
{
	int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	close(fd);
}

static int find(const struct fixture *f, const char *text, char *ret_path, size_t size)
{
	char name[128];

	write_file(f, "mountinfo", text, strlen(text));
	snprintf(name, sizeof(name), "%s/mountinfo", f->dir);
	return cgroup_mount_find(name, ret_path, size);
}

#define ROOT_LINE "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
#define V1_LINE "30 25 0:27 / /sys/fs/cgroup/cpu rw,nosuid shared:9 - cgroup cgroup rw,cpu\n"

static void test_mount_is_found(void **state)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ ROOT_LINE
		  "30 25 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
		  "/sys/fs/cgroup" },
		/* no optional field, several of them */
		{ "30 25 0:26 / /a rw - cgroup2 none rw\n", "/a" },
		{ "30 25 0:26 / /a rw shared:9 master:2 propagate_from:3 - cgroup2 none rw\n", "/a" },
		/* hybrid */
		{ ROOT_LINE V1_LINE "31 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n" V1_LINE,
		  "/sys/fs/cgroup/unified" },
		/* octal escapes: blank, tab, newline, backslash; what is none stays */
		{ "30 25 0:26 / /a\\040b\\011c\\012d\\134e\\999 rw - cgroup2 none rw\n", "/a b\tc\nd\\e\\999" },
		/* a part of the tree is not the tree; the first whole one wins */
		{ "30 25 0:26 /system.slice /part rw - cgroup2 none rw\n"
		  "31 25 0:26 / /first rw - cgroup2 none rw\n32 25 0:26 / /second rw - cgroup2 none rw\n",
		  "/first" },
		/* a mount point named like the type; no newline at the end */
		{ "29 25 0:25 / /cgroup2 rw - tmpfs cgroup2 rw\n30 25 0:26 / /x rw - cgroup2 none rw", "/x" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[256] = "";

		assert_int_equal(find(*state, cases[i].text, path, sizeof(path)), 0);
		assert_string_equal(path, cases[i].path);
	}
}

static void test_no_mount_says_which(void **state)
{
	char path[256] = "kept", name[128];
	const struct fixture *f = *state;

	assert_int_equal(find(f, ROOT_LINE, path, sizeof(path)), -ENOENT);
	assert_int_equal(find(f, ROOT_LINE V1_LINE, path, sizeof(path)), -ENXIO);
	assert_int_equal(find(f, "", path, sizeof(path)), -ENOENT);
	assert_int_equal(find(f, "30 25 0:26 /part /sys/fs/cgroup rw - cgroup2 none rw\n", path, sizeof(path)),
			 -ENOENT);
	assert_int_equal(find(f, "30 25 0:26 / /longer-than-that rw - cgroup2 none rw\n", path, 8), -ENAMETOOLONG);
	snprintf(name, sizeof(name), "%s/missing", f->dir);
	assert_int_equal(cgroup_mount_find(name, path, sizeof(path)), -ENOENT);
	assert_string_equal(path, "kept");
}

static void test_mutated_mountinfo(void **state)
{
	static const char good[] =
		ROOT_LINE V1_LINE "30 25 0:26 / /sys/fs/cg\\040roup rw shared:9 - cgroup2 cgroup2 rw\n";
	const struct fixture *f = *state;
	unsigned int seed = 4711, x = seed;
	char name[128];

	print_message("# seed %u\n", seed);
	snprintf(name, sizeof(name), "%s/mountinfo", f->dir);
	for (int i = 0; i < 5000; i++) {
		char text[sizeof(good)], path[32];
		size_t n = sizeof(good) - 1;

		memcpy(text, good, sizeof(good));
		for (int k = rand_r(&x) % 4; k >= 0; k--)
			text[rand_r(&x) % n] = rand_r(&x) % 2 ? " -\\/\n07"[rand_r(&x) % 7] : (char)rand_r(&x);
		write_file(f, "mountinfo", text, (size_t)rand_r(&x) % n);
		/* Whatever it answers, it answers, and within the room given. */
		cgroup_mount_find(name, path, 1 + (size_t)rand_r(&x) % sizeof(path));
	}
}

static void test_open_stays_below(void **state)
{
	static const char *const bad[] = {
		"", "a", "a/b", "//", "/a/", "/a//b", "/..", "/a/..", "/a/../b", "/.", "/./a"
	};
	const struct fixture *f = *state;
	struct stat st, want;
	char path[PATH_MAX + 8];
	int fd = -1;

	assert_int_equal(mkdirat(f->fd, "a", 0700), 0);
	assert_int_equal(mkdirat(f->fd, "a/b", 0700), 0);
	assert_int_equal(symlinkat("a", f->fd, "link"), 0);
	assert_int_equal(symlinkat("/etc", f->fd, "out"), 0);
	write_file(f, "file", "x", 1);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (cgroup_open_dir(f->fd, bad[i], &fd, &st) != -EINVAL)
			fail_msg("`%s' was not refused with EINVAL", bad[i]);
	assert_int_equal(cgroup_open_dir(f->fd, "/link", &fd, &st), -ELOOP);
	assert_int_equal(cgroup_open_dir(f->fd, "/link/b", &fd, &st), -ELOOP);
	assert_int_equal(cgroup_open_dir(f->fd, "/out", &fd, &st), -ELOOP);
	assert_int_equal(cgroup_open_dir(f->fd, "/file", &fd, &st), -ENOTDIR);
	assert_int_equal(cgroup_open_dir(f->fd, "/none", &fd, &st), -ENOENT);
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(cgroup_open_dir(f->fd, path, &fd, &st), -EINVAL);
	path[300] = '\0';
	assert_int_equal(cgroup_open_dir(f->fd, path, &fd, &st), -EINVAL);
	assert_int_equal(fd, -1);
	assert_int_equal(cgroup_open_dir(f->fd, "/a/b", &fd, &st), 0);
	assert_int_equal(fstatat(f->fd, "a/b", &want, 0), 0);
	assert_int_equal(st.st_ino, want.st_ino);
	close(fd);
	assert_int_equal(cgroup_open_dir(f->fd, "/", &fd, &st), 0);
	close(fd);
}

static void test_other_file_systems_are_refused(void **state)
{
	const struct fixture *f = *state;
	uint64_t id = 7;
	int fd = -1;

	assert_int_equal(cgroup_open(f->fd, "/", &fd, &id), -EMEDIUMTYPE);
	assert_int_equal(fd, -1);
	assert_int_equal(id, 7);
}

static void test_real_cgroup_of_ourselves(void **state)
{
	char mount[256], path[PATH_MAX], full[PATH_MAX + 256];
	_cleanup_close_ int mount_fd = -1, fd = -1;
	struct stat st;
	uint64_t id;
	bool limited;

	(void)state;
	if (cgroup_mount_find(NULL, mount, sizeof(mount)) < 0)
		skip(); /* no cgroup2 here: the VM tests have one */
	mount_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(mount_fd >= 0);
	assert_int_equal(cgroup_of_pid(getpid(), path, sizeof(path)), 0);
	assert_int_equal(cgroup_open(mount_fd, path, &fd, &id), 0);
	snprintf(full, sizeof(full), "%s%s", mount, path);
	assert_int_equal(stat(full, &st), 0);
	assert_int_equal(st.st_ino, id);
	assert_int_equal(cgroup_attr_cpu_limited(mount_fd, path, &limited), 0);
	assert_int_equal(cgroup_attr_read(mount_fd, "/", "cgroup.controllers", path, sizeof(path)), 0);
}

/* Through libcgroup where the cpu controller is in the cgroup2 tree; skipped where no cgroup may be made. */
static void test_real_cpu_limit(void **state)
{
	char mount[256], name[64], path[PATH_MAX], file[PATH_MAX + 16];
	_cleanup_close_ int mount_fd = -1, fd = -1;
	bool limited = true;
	int r;

	(void)state;
	snprintf(name, sizeof(name), "/schedd-test-attr-%d", (int)getpid());
	if (cgroup_mount_find(NULL, mount, sizeof(mount)) < 0)
		strcpy(mount, "/none");
	snprintf(path, sizeof(path), "%s%s", mount, name);
	if (mkdir(path, 0755) < 0)
		skip();
	mount_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = cgroup_attr_cpu_limited(mount_fd, name, &limited);
	assert_true(r == 0 && !limited);
	snprintf(file, sizeof(file), "%s/cpu.max", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		assert_int_equal(write(fd, "20000 100000", 12), 12);
		r = cgroup_attr_cpu_limited(mount_fd, name, &limited);
	}
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(r, 0);
	assert_int_equal(limited, fd >= 0);
	/* Gone: no limit either. */
	assert_int_equal(cgroup_attr_cpu_limited(mount_fd, name, &limited), 0);
	assert_false(limited);
}

static void test_processes_that_are_gone(void **state)
{
	char path[64] = "kept";
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(cgroup_of_pid(pid, path, sizeof(path)), -ESRCH);
	assert_int_equal(cgroup_of_pid(0, path, sizeof(path)), -ESRCH);
	assert_int_equal(cgroup_of_pid(-1, path, sizeof(path)), -ESRCH);
	assert_string_equal(path, "kept");
}

/* In a tree that is not a cgroup mount libcgroup cannot help: the direct way is what runs here. */
static void test_attributes(void **state)
{
	const struct fixture *f = *state;
	char value[16] = "kept";
	bool limited = true;

	assert_int_equal(mkdirat(f->fd, "g", 0700), 0);
	assert_int_equal(cgroup_attr_cpu_limited(f->fd, "/g", &limited), 0);
	assert_false(limited);
	write_file(f, "g/cpu.max", "max 100000\n", 11);
	assert_int_equal(cgroup_attr_cpu_limited(f->fd, "/g", &limited), 0);
	assert_false(limited);
	write_file(f, "g/cpu.max", "20000 100000\n", 13);
	assert_int_equal(cgroup_attr_cpu_limited(f->fd, "/g", &limited), 0);
	assert_true(limited);
	assert_int_equal(cgroup_attr_read(f->fd, "/g", "cpu.max", value, 4), -ENAMETOOLONG);
	assert_int_equal(cgroup_attr_read(f->fd, "/g", "../g/cpu.max", value, sizeof(value)), -EINVAL);
	assert_int_equal(cgroup_attr_read(f->fd, "/g", "", value, sizeof(value)), -EINVAL);
	assert_int_equal(cgroup_attr_read(f->fd, "/gone", "cpu.max", value, sizeof(value)), -ENOENT);
	assert_string_equal(value, "kept");
	assert_int_equal(cgroup_attr_read(f->fd, "/g", "cpu.max", value, sizeof(value)), 0);
	assert_string_equal(value, "20000 100000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mount_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_mount_says_which, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mutated_mountinfo, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_open_stays_below, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_file_systems_are_refused, set_up, tear_down),
		cmocka_unit_test(test_real_cgroup_of_ourselves),
		cmocka_unit_test(test_real_cpu_limit),
		cmocka_unit_test(test_processes_that_are_gone),
		cmocka_unit_test_setup_teardown(test_attributes, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("mount", tests, NULL, NULL);
}
