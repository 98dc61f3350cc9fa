// SPDX-License-Identifier: GPL-2.0-or-later
/* test_ctl_doctor.c - what schedctl doctor sees on made-up machines */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <ftw.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "api/ctl/doctor.c"

static char root[PATH_MAX];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/ctl-doctor-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *file, const char *text)
{
	char path[PATH_MAX + 64], *slash;
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, file);
	slash = strrchr(path, '/');
	*slash = '\0';
	assert_int_equal(dir_make(path, 0755), 0);
	*slash = '/';
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const struct doctor_check *find(const struct doctor *d, const char *name)
{
	size_t i;

	for (i = 0; i < d->nr_checks; i++)
		if (!strcmp(d->checks[i].name, name))
			return &d->checks[i];
	fail_msg("no check `%s'", name);
	return NULL;
}

static void expect(const struct doctor *d, const char *name, enum doctor_result result, const char *part)
{
	const struct doctor_check *c = find(d, name);

	if (c->result != result || !strstr(c->found, part))
		fail_msg("%s: result %d, `%s'", name, c->result, c->found);
	if (result == DOCTOR_MISSING && !*c->advice)
		fail_msg("%s: nothing to do is named", name);
}

static void test_a_good_kernel(void **state)
{
	struct doctor d = { 0 };

	(void)state;
	put("/sys/kernel/sched_ext/state", "disabled\n");
	put("/sys/kernel/btf/vmlinux", "x");
	doctor_check_kernel(&d, root, "6.16.12+deb14-amd64");
	expect(&d, "kernel", DOCTOR_OK, "6.16.12");
	expect(&d, "sched_ext", DOCTOR_OK, "no scheduler");
	expect(&d, "BTF", DOCTOR_OK, "present");
	assert_false(d.failed);
}

static void test_a_kernel_with_nothing(void **state)
{
	struct doctor d = { 0 };

	(void)state;
	doctor_check_kernel(&d, root, "6.1.0-42-amd64");
	expect(&d, "kernel", DOCTOR_MISSING, "older than 6.16");
	expect(&d, "sched_ext", DOCTOR_MISSING, "not in this kernel");
	expect(&d, "BTF", DOCTOR_MISSING, "vmlinux");
	assert_true(d.failed);
}

static void test_releases(void **state)
{
	static const char *const old[] = { "5.19.0", "6.15.9", "6.9", "", "abc" };
	static const char *const good[] = { "6.16", "6.17.1", "7.0.0-rc1", "10.0" };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(old); i++) {
		struct doctor d = { 0 };

		check_release(&d, old[i]);
		if (!d.failed)
			fail_msg("`%s' was taken for new enough", old[i]);
	}
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		struct doctor d = { 0 };

		check_release(&d, good[i]);
		if (d.failed)
			fail_msg("`%s' was taken for too old", good[i]);
	}
}

static void test_who_is_loaded(void **state)
{
	struct doctor ours = { 0 }, other = { 0 };

	(void)state;
	put("/sys/kernel/sched_ext/state", "enabled\n");
	put("/sys/kernel/sched_ext/root/ops", "schedd\n");
	check_sched_ext(&ours, root);
	expect(&ours, "sched_ext", DOCTOR_OK, "schedd is enabled");
	put("/sys/kernel/sched_ext/root/ops", "lavd\n");
	check_sched_ext(&other, root);
	expect(&other, "sched_ext", DOCTOR_MISSING, "lavd");
}

static void test_cgroups(void **state)
{
	struct doctor pure = { 0 }, hybrid = { 0 }, v1 = { 0 }, none = { 0 };

	(void)state;
	put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io\n");
	doctor_check_cgroup(&pure, root);
	expect(&pure, "cgroup2", DOCTOR_OK, "/sys/fs/cgroup");
	expect(&pure, "controllers", DOCTOR_OK, "cpu");
	put("/sys/fs/cgroup/cgroup.controllers", "cpuset io\n");
	doctor_check_cgroup(&hybrid, root);
	expect(&hybrid, "controllers", DOCTOR_NOTE, "hybrid");
	assert_false(hybrid.failed);
	put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
	doctor_check_cgroup(&v1, root);
	expect(&v1, "cgroup2", DOCTOR_MISSING, "v1");
	put("/proc/self/mountinfo", "30 23 0:26 / / rw - ext4 /dev/vda rw\n");
	doctor_check_cgroup(&none, root);
	expect(&none, "cgroup2", DOCTOR_MISSING, "not mounted");
}

static void test_sockets(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct doctor absent = { 0 }, file = { 0 }, there = { 0 };
	int fd;

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "%.60s/s.sock", root);
	doctor_check_socket(&absent, address.sun_path);
	expect(&absent, "socket", DOCTOR_MISSING, "No such file");
	put("/file", "");
	snprintf(address.sun_path, sizeof(address.sun_path), "%.60s/file", root);
	doctor_check_socket(&file, address.sun_path);
	expect(&file, "socket", DOCTOR_MISSING, "not a socket");
	snprintf(address.sun_path, sizeof(address.sun_path), "%.60s/s.sock", root);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	chmod(address.sun_path, 0666);
	doctor_check_socket(&there, address.sun_path);
	expect(&there, "socket", DOCTOR_OK, "everybody");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_good_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_kernel_with_nothing, setup, teardown),
		cmocka_unit_test(test_releases),
		cmocka_unit_test_setup_teardown(test_who_is_loaded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cgroups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sockets, setup, teardown),
	};

	return cmocka_run_group_tests_name("ctl_doctor", tests, NULL, NULL);
}
