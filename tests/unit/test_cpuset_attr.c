// SPDX-License-Identifier: GPL-2.0-or-later
/* test_cpuset_attr.c - cpuset files of cgroups read from fake trees, whole, odd or vanishing */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "cgroup/cpuset_attr.h"
#include "daemon/base/cleanup.h"

struct fixture {
	char dir[64];
	int fd;
	struct cgroup_cpuset root, c;
};

static void put(const struct fixture *f, const char *name, const char *text)
{
	int fd = openat(f->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail_msg("write %s: %s", name, strerror(errno));
	close(fd);
}

static uint64_t id_of(const struct fixture *f, const char *path)
{
	struct stat st;

	return fstatat(f->fd, path[1] ? path + 1 : ".", &st, 0) < 0 ? 0 : st.st_ino;
}

static int read_cgroup(struct fixture *f, const char *path, bool leaf)
{
	return cgroup_cpuset_read(f->fd, path, id_of(f, path), path[1] ? &f->root : NULL, leaf, &f->c);
}

/* The root with every CPU of a machine of 8, and /a, which is populated and has nothing else. */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/test_cpuset.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = f;
	put(f, "cpuset.cpus.effective", "0-7\n");
	if (mkdirat(f->fd, "a", 0700) < 0 || read_cgroup(f, "/", false) < 0)
		return -1;
	f->root = f->c;
	put(f, "a/cgroup.events", "populated 1\nfrozen 0\n");
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close(f->fd);
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static void expect_cpus(const struct fixture *f, const char *list)
{
	char text[CPUSET_TEXT_BYTES];

	assert_int_equal(cpuset_format(&f->c.effective, text, sizeof(text)), 0);
	assert_string_equal(text, list);
}

static void test_the_root(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_cgroup(f, "/", false), 0);
	expect_cpus(f, "0-7");
	assert_true(f->c.populated && f->c.has_tasks);
	assert_int_equal(f->c.partition, CGROUP_PARTITION_MEMBER);
	/* No cpuset controller in this tree: no limit. */
	assert_int_equal(unlinkat(f->fd, "cpuset.cpus.effective", 0), 0);
	assert_int_equal(read_cgroup(f, "/", false), 0);
	assert_int_equal(cpuset_count(&f->c.effective), CPUSET_MAX_CPUS);
}

static void test_effective_cpus(void **state)
{
	struct fixture *f = *state;

	/* The controller is not enabled for it. */
	assert_int_equal(read_cgroup(f, "/a", true), 0);
	expect_cpus(f, "0-7");
	put(f, "a/cpuset.cpus.effective", "2,4-5\n");
	assert_int_equal(read_cgroup(f, "/a", true), 0);
	expect_cpus(f, "2,4-5");
	/* The answer of a partition that gave all of them away. */
	put(f, "a/cpuset.cpus.effective", "\n");
	assert_int_equal(read_cgroup(f, "/a", true), 0);
	expect_cpus(f, "");
}

static void test_the_longest_list(void **state)
{
	char text[CPUSET_TEXT_BYTES];
	struct fixture *f = *state;
	struct cpuset s = {};

	for (uint32_t cpu = 0; cpu < CPUSET_MAX_CPUS; cpu++)
		if (cpu % 3)
			cpuset_add(&s, cpu);
	assert_int_equal(cpuset_format(&s, text, sizeof(text)), 0);
	put(f, "a/cpuset.cpus.effective", text);
	assert_int_equal(read_cgroup(f, "/a", true), 0);
	assert_true(cpuset_equal(&f->c.effective, &s));
}

static void test_partitions(void **state)
{
	static const struct {
		const char *text;
		enum cgroup_partition partition;
	} cases[] = {
		{ "member\n", CGROUP_PARTITION_MEMBER },
		{ "root\n", CGROUP_PARTITION_ROOT },
		{ "isolated\n", CGROUP_PARTITION_ISOLATED },
		{ "root invalid\n", CGROUP_PARTITION_INVALID },
		{ "root invalid (Parent is not a partition root)\n", CGROUP_PARTITION_INVALID },
		{ "isolated invalid (Cpu list in cpuset.cpus not exclusive)\n", CGROUP_PARTITION_INVALID },
		{ "", CGROUP_PARTITION_MEMBER },
		{ "something new\n", CGROUP_PARTITION_MEMBER },
	};
	struct fixture *f = *state;

	put(f, "a/cpuset.cpus.effective", "1\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put(f, "a/cpuset.cpus.partition", cases[i].text);
		assert_int_equal(read_cgroup(f, "/a", true), 0);
		if (f->c.partition != cases[i].partition)
			fail_msg("'%s' was read as %d", cases[i].text, (int)f->c.partition);
	}
}

static void test_tasks(void **state)
{
	static const struct {
		const char *events, *threads;
		bool leaf, populated, has_tasks;
	} cases[] = {
		{ "populated 0\nfrozen 0\n", "", true, false, false },
		{ "populated 1\nfrozen 0\n", "", true, true, true },   /* a leaf: they can be nowhere else */
		{ "populated 1\nfrozen 0\n", "", false, true, false }, /* all of them are further down */
		{ "populated 1\nfrozen 0\n", "17\n18\n", false, true, true },
		{ "frozen 1\npopulated 0\n", "", false, false, false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put(f, "a/cgroup.events", cases[i].events);
		put(f, "a/cgroup.threads", cases[i].threads);
		assert_int_equal(read_cgroup(f, "/a", cases[i].leaf), 0);
		if (f->c.populated != cases[i].populated || f->c.has_tasks != cases[i].has_tasks)
			fail_msg("case %zu: populated %d, tasks %d", i, f->c.populated, f->c.has_tasks);
	}
}

static void test_many_threads_are_not_all_read(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(100000);
	size_t n = 0;

	for (int i = 0; i < 10000; i++)
		n += (size_t)sprintf(text + n, "%d\n", 10000 + i);
	put(f, "a/cgroup.threads", text);
	free(text);
	assert_int_equal(read_cgroup(f, "/a", false), 0);
	assert_true(f->c.has_tasks);
}

static void test_one_that_vanished_is_said_so(void **state)
{
	struct fixture *f = *state;
	struct cgroup_cpuset before = f->c;
	uint64_t id = id_of(f, "/a");

	/* Between opening the directory and reading: then no file is left. */
	assert_int_equal(unlinkat(f->fd, "a/cgroup.events", 0), 0);
	assert_int_equal(read_cgroup(f, "/a", true), -ENOENT);
	/* Another one in its place. */
	assert_int_equal(cgroup_cpuset_read(f->fd, "/a", id + 1, &f->root, true, &f->c), -ESTALE);
	assert_int_equal(unlinkat(f->fd, "a", AT_REMOVEDIR), 0);
	assert_int_equal(cgroup_cpuset_read(f->fd, "/a", id, &f->root, true, &f->c), -ENOENT);
	assert_memory_equal(&before, &f->c, sizeof(before));
}

static void test_nonsense_leaves_the_result_alone(void **state)
{
	struct fixture *f = *state;
	struct cgroup_cpuset before = f->c;
	char *text = malloc(3 * CPUSET_TEXT_BYTES);

	put(f, "a/cpuset.cpus.effective", "0-3,x\n");
	assert_int_equal(read_cgroup(f, "/a", true), -EINVAL);
	put(f, "a/cpuset.cpus.effective", "0-5000\n");
	assert_int_equal(read_cgroup(f, "/a", true), -ERANGE);
	/* A beginning that is a list of its own must not be taken for the whole. */
	for (size_t i = 0; i < 3 * CPUSET_TEXT_BYTES - 1; i++)
		text[i] = i % 2 ? ',' : '1';
	text[3 * CPUSET_TEXT_BYTES - 1] = '\0';
	put(f, "a/cpuset.cpus.effective", text);
	free(text);
	assert_int_equal(read_cgroup(f, "/a", true), -E2BIG);
	assert_memory_equal(&before, &f->c, sizeof(before));
}

static void test_links_are_not_followed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(symlinkat("../cpuset.cpus.effective", f->fd, "a/cpuset.cpus.effective"), 0);
	assert_int_equal(read_cgroup(f, "/a", true), -ELOOP);
	assert_int_equal(symlinkat("a", f->fd, "link"), 0);
	assert_int_equal(read_cgroup(f, "/link", true), -ELOOP);
	assert_int_equal(cgroup_cpuset_read(f->fd, "/../a", 1, &f->root, true, &f->c), -EINVAL);
}

static void test_what_makes_two_equal(void **state)
{
	struct fixture *f = *state;
	struct cgroup_cpuset other = f->c;

	other.populated = !other.populated;
	assert_true(cgroup_cpuset_equal(&f->c, &other));
	other.has_tasks = !other.has_tasks;
	assert_false(cgroup_cpuset_equal(&f->c, &other));
	other = f->c;
	cpuset_add(&other.effective, 9);
	assert_false(cgroup_cpuset_equal(&f->c, &other));
	other = f->c;
	other.partition = CGROUP_PARTITION_ROOT;
	assert_false(cgroup_cpuset_equal(&f->c, &other));
}

#define ATTR_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ATTR_TEST(test_the_root),
		ATTR_TEST(test_effective_cpus),
		ATTR_TEST(test_the_longest_list),
		ATTR_TEST(test_partitions),
		ATTR_TEST(test_tasks),
		ATTR_TEST(test_many_threads_are_not_all_read),
		ATTR_TEST(test_one_that_vanished_is_said_so),
		ATTR_TEST(test_nonsense_leaves_the_result_alone),
		ATTR_TEST(test_links_are_not_followed),
		ATTR_TEST(test_what_makes_two_equal),
	};

	return cmocka_run_group_tests_name("cpuset_attr", tests, NULL, NULL);
}
