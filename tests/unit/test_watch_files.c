// SPDX-License-Identifier: GPL-2.0-or-later
/* test_watch_files.c - writes to attribute files: those that matter are reported, all others cost a comparison */
#include "tests/unit/watch_fixture.h"

#include <signal.h>
#include <sys/wait.h>

static void test_writes_that_matter_are_reported(void **state)
{
	static const struct {
		const char *file, *trace;
	} cases[] = {
		{ "cpuset.cpus", "C/a" },            { "cpuset.cpus.partition", "C/a" },
		{ "cpuset.cpus.exclusive", "C/a" },  { "cgroup.subtree_control", "S/a" },
		{ "cgroup.procs", "T/a" },           { "cgroup.threads", "T/a" },
		{ "cgroup.events", "T/a" },          { "memory.max", "" },
		{ "cpu.max", "" },                   { "cpuset.mems", "" },
		{ "cpuset.cpus.effective", "" },     { "cgroup.kill", "" },
		{ "cpuset", "" },                    { "cpuset.cpus.", "" },
	};
	struct fixture *f = *state;
	char name[64];

	make(f, "a");
	scan(f);
	f->trace_written = true;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f->trace[0] = '\0';
		snprintf(name, sizeof(name), "a/%s", cases[i].file);
		write_file(f, name, "1");
		assert_true(readable(f, 1000));
		settle(f);
		if (strcmp(f->trace, cases[i].trace) != 0)
			fail_msg("a write to %s gave '%s'", name, f->trace);
	}
	assert_false(readable(f, 0));
	expect_same(f);
}

/* The kernel joins equal events that wait, and a turn takes what it is told to take. */
static void test_a_storm_of_writes_is_bounded(void **state)
{
	enum { WRITES = 1000, TURN = 16 };
	struct fixture *f = *state;
	bool more = true;

	make(f, "a");
	make(f, "b");
	write_file(f, "a/cpuset.cpus", "0");
	write_file(f, "b/cpuset.cpus", "0");
	scan(f);
	for (int i = 0; i < WRITES; i++)
		write_file(f, "a/cpuset.cpus", "1");
	settle(f);
	assert_int_equal(f->written, 1);
	f->written = 0;
	for (int i = 0; i < WRITES; i++)
		write_file(f, i % 2 ? "a/cpuset.cpus" : "b/cpuset.cpus", "1");
	while (more) {
		size_t before = f->written;

		assert_int_equal(cgroup_watch_process(f->watch, TURN, &more), 0);
		assert_in_range(f->written - before, 0, TURN);
	}
	assert_in_range(f->written, 2, WRITES);
	assert_int_equal(f->watch->nr_steps, 0);
}

/* What was written before the watch was there gave no event, so it is reported unseen. */
static void test_a_new_cgroup_is_reported_once(void **state)
{
	struct fixture *f = *state;

	make(f, "old");
	scan(f);
	f->trace_written = true;
	make(f, "a");
	write_file(f, "a/cpuset.cpus", "1");
	settle(f);
	assert_string_equal(f->trace, "+/a ?/a");
	assert_false(readable(f, 0));
}

static void test_without_a_watch_all_is_reported_at_every_rescan(void **state)
{
	struct fixture *f = *state;

	log_set_level(LOG_CRIT);
	make(f, "a");
	watches_left = 1; /* the root */
	scan(f);
	f->trace_written = true;
	write_file(f, "a/cpuset.cpus", "1");
	settle(f);
	assert_string_equal(f->trace, "");
	make_rescan_due(f);
	settle(f);
	assert_string_equal(f->trace, "?/a");
	log_set_level(LOG_INFO);
}

static void test_a_lost_event_is_reported_for_every_cgroup(void **state)
{
	const struct inotify_event lost = { .wd = -1, .mask = IN_Q_OVERFLOW };
	struct fixture *f = *state;

	make(f, "a");
	make(f, "a/b");
	scan(f);
	f->trace_written = true;
	on_event(f->watch, &lost);
	assert_string_equal(f->trace, "?/ ?/a ?/a/b");
	settle(f);
	expect_same(f);
}

/* A process in a cgroup of its own; it ends when it is told to. */
static pid_t start_in(const char *dir)
{
	char path[512], text[16];
	pid_t pid = fork();
	int fd;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	snprintf(text, sizeof(text), "%d", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		kill(pid, SIGKILL);
		fail_msg("write %s: %s", path, strerror(errno));
	}
	close(fd);
	return pid;
}

static void read_events(const char *dir)
{
	char path[512], text[64];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.events", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && read(fd, text, sizeof(text)) > 0);
	close(fd);
}

/* What the kernel does by itself: nobody writes when the last process ends.  Skipped where no cgroup may be made. */
static void test_a_real_cgroup_becomes_empty(void **state)
{
	struct fixture f = { .tree = cgroup_tree_new() };
	char mount[256], dir[320];
	pid_t pid;

	(void)state;
	watches_left = -1;
	if (cgroup_mount_find(NULL, mount, sizeof(mount)) < 0)
		strcpy(mount, "/none");
	snprintf(dir, sizeof(dir), "%s/schedd-test-files-%d", mount, (int)getpid());
	if (mkdir(dir, 0755) < 0) {
		cgroup_tree_free(f.tree);
		skip();
	}
	/* Only its own: others may come and go in the real tree. */
	assert_int_equal(cgroup_watch_new(dir, f.tree, &ops, &f, &f.watch), 0);
	assert_int_equal(cgroup_watch_scan(f.watch), 0);
	read_events(dir);
	pid = start_in(dir);
	WAIT_FOR(&f, f.written > 0);
	/* The kernel tells at most every 10 ms: when it is quiet for longer, what comes is about the end. */
	while (readable(&f, 50))
		settle(&f);
	f.written = 0;
	read_events(dir);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	WAIT_FOR(&f, f.written > 0);
	WAIT_FOR(&f, rmdir(dir) == 0 || errno == ENOENT);
	cgroup_watch_free(f.watch);
	cgroup_tree_free(f.tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_writes_that_matter_are_reported),
		WATCH_TEST(test_a_storm_of_writes_is_bounded),
		WATCH_TEST(test_a_new_cgroup_is_reported_once),
		WATCH_TEST(test_without_a_watch_all_is_reported_at_every_rescan),
		WATCH_TEST(test_a_lost_event_is_reported_for_every_cgroup),
		cmocka_unit_test(test_a_real_cgroup_becomes_empty),
	};

	return cmocka_run_group_tests_name("watch_files", tests, NULL, NULL);
}
