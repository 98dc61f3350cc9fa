// SPDX-License-Identifier: GPL-2.0-or-later
/* test_daemon_reach.c - cpusets followed in a loop of its own on a fake tree: what is read, when, and how many plans */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "cgroup/cpuset_attr.h"

static unsigned int nr_reads;

static int counted_read(int mount_fd, const char *path, uint64_t id, const struct cgroup_cpuset *parent, bool leaf,
			struct cgroup_cpuset *ret_cpuset)
{
	nr_reads++;
	return cgroup_cpuset_read(mount_fd, path, id, parent, leaf, ret_cpuset);
}

#define cgroup_cpuset_read counted_read
#include "daemon/daemon_reach.c"
#undef cgroup_cpuset_read

#include "daemon/base/cleanup.h"

enum { DEADLINE_S = 20 };

struct fixture {
	struct daemon d; /* first: the callbacks get it */
	char dir[64];
	struct cgroup_tree *tree;
	unsigned int nr_plans;
};

/* What the daemon's other files would do. */
uint64_t clock_ns(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

void daemon_reach_changed(struct daemon *d)
{
	((struct fixture *)d)->nr_plans++;
	d->reach_unplanned = false;
}

static void on_added(void *ctx, struct cgroup_node *node)
{
	(void)ctx;
	node->class_idx = node->parent ? node->parent->class_idx : SCHEDD_CLASS_NORMAL;
}

static void on_removing(void *ctx, struct cgroup_node *node)
{
	daemon_forget_cpuset(ctx, node);
}

static void on_written(void *ctx, struct cgroup_node *node, enum cgroup_file file)
{
	daemon_cgroup_written(ctx, node, file);
}

static const struct cgroup_watch_ops ops = { on_added, on_removing, on_written };

static int on_watch(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct daemon *d = userdata;
	bool more;

	(void)source, (void)fd, (void)events;
	return cgroup_watch_process(d->watch, 256, &more);
}

/* put(f, "a/cpuset.cpus", "1") */
static void put(const struct fixture *f, const char *name, const char *text)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail_msg("write %s: %s", path, strerror(errno));
	close(fd);
}

/* A cgroup with this effective cpuset, with or without tasks of its own. */
static void make(const struct fixture *f, const char *name, const char *cpus, bool tasks)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/cgroup.events", name);
	put(f, path, tasks ? "populated 1\n" : "populated 0\n");
	snprintf(path, sizeof(path), "%s/cgroup.threads", name);
	put(f, path, tasks ? "1\n" : "");
	snprintf(path, sizeof(path), "%s/cpuset.cpus.effective", name);
	put(f, path, cpus);
}

static struct cgroup_node *node_at(struct fixture *f, const char *path)
{
	struct cgroup_node *n = cgroup_tree_find_path(f->tree, path);

	if (!n)
		fail_msg("%s is not in the tree", path);
	return n;
}

/* Scanned, classified and read, as the daemon does at its start; below /lc all is latency-critical. */
static void start(struct fixture *f)
{
	struct cgroup_node *lc;

	assert_int_equal(cgroup_watch_scan(f->d.watch), 0);
	lc = cgroup_tree_find_path(f->tree, "/lc");
	for (struct cgroup_node *n = lc; n; n = cgroup_node_next(lc, n))
		n->class_idx = SCHEDD_CLASS_LATENCY_CRITICAL;
	assert_int_equal(sd_event_add_io(f->d.event, NULL, cgroup_watch_fd(f->d.watch), EPOLLIN, on_watch, f) < 0, 0);
	assert_int_equal(daemon_start_reach(&f->d), 0);
	f->d.reach_unplanned = false;
	nr_reads = 0;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/test_reach.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->tree = f->d.tree = cgroup_tree_new();
	f->d.topo.nr_possible = f->d.topo.nr_online = 4;
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		f->d.topo.cpus[cpu] = (struct topo_cpu){ .possible = true, .online = true };
	*state = f;
	put(f, "cpuset.cpus.effective", "0-3\n");
	return sd_event_new(&f->d.event) < 0 ? -1 : cgroup_watch_new(f->dir, f->tree, &ops, f, &f->d.watch);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	daemon_stop_reach(&f->d);
	sd_event_unref(f->d.event);
	cgroup_watch_free(f->d.watch);
	cgroup_tree_free(f->tree);
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static bool reaches(const struct fixture *f, uint8_t class_idx, const char *list)
{
	struct cpuset wanted;

	assert_int_equal(cpuset_parse(list, &wanted), 0);
	return cpuset_equal(&f->d.reach.classes[class_idx], &wanted);
}

static bool is_quiet(const struct fixture *f)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(f->d.reread_timer, &enabled);
	return enabled == SD_EVENT_OFF && TAILQ_EMPTY(&f->d.reread);
}

/* Runs the loop until the condition holds. */
#define WAIT_FOR(f, condition)                                                           \
	do {                                                                             \
		time_t end_ = time(NULL) + DEADLINE_S;                                   \
		while (!(condition)) {                                                   \
			if (time(NULL) > end_)                                           \
				fail_msg("not within %d s: %s", DEADLINE_S, #condition); \
			assert_true(sd_event_run((f)->d.event, 100000) >= 0);            \
		}                                                                        \
	} while (0)

/* ---------- tests ---------- */

static void test_read_at_the_start(void **state)
{
	struct fixture *f = *state;

	make(f, "lc", "1-2\n", false);
	make(f, "lc/a", "1\n", true);
	make(f, "other", "0-3\n", true);
	start(f);
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "1"));
	assert_true(reaches(f, SCHEDD_CLASS_NORMAL, "0-3"));
	assert_true(is_quiet(f));
}

static void test_a_write_is_followed(void **state)
{
	struct fixture *f = *state;

	make(f, "lc", "1\n", true);
	start(f);
	assert_int_equal(f->d.reach.private_class[1], SCHEDD_CLASS_LATENCY_CRITICAL + 1);
	put(f, "lc/cpuset.cpus.effective", "2-3\n");
	put(f, "lc/cpuset.cpus", "2-3\n");
	WAIT_FOR(f, f->nr_plans);
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "2-3"));
	assert_int_equal(f->d.reach.private_class[1], 0);
	assert_int_equal(f->d.reach.private_class[2], SCHEDD_CLASS_LATENCY_CRITICAL + 1);
	assert_int_equal(f->nr_plans, 1);
}

static void test_a_storm_is_one_plan(void **state)
{
	struct fixture *f = *state;
	char text[8];

	make(f, "lc", "1\n", true);
	start(f);
	for (int i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "%d\n", i % 3);
		put(f, "lc/cpuset.cpus.effective", text);
		put(f, "lc/cpuset.cpus", text);
		put(f, "lc/cpuset.cpus.partition", "member\n");
	}
	put(f, "lc/cpuset.cpus.effective", "3\n");
	put(f, "lc/cpuset.cpus", "3\n");
	WAIT_FOR(f, reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "3"));
	WAIT_FOR(f, is_quiet(f));
	assert_int_equal(f->nr_plans, 1);
	assert_int_equal(nr_reads, 2); /* itself and the root, once each */
}

static void test_what_changes_nothing_makes_no_plan(void **state)
{
	struct fixture *f = *state;

	make(f, "lc", "1\n", true);
	start(f);
	put(f, "lc/cpuset.cpus", "1\n");
	put(f, "lc/cgroup.procs", "17\n");
	WAIT_FOR(f, nr_reads == 2 && is_quiet(f));
	assert_int_equal(f->nr_plans, 0);
	/* Files that nobody asked about are not even a reason to read. */
	put(f, "lc/memory.high", "1\n");
	put(f, "lc/cpu.max", "1\n");
	put(f, "lc/cpuset.cpus", "1\n");
	WAIT_FOR(f, nr_reads == 4 && is_quiet(f));
}

static void test_reading_goes_on_where_something_moved(void **state)
{
	struct fixture *f = *state;

	make(f, "lc", "0-1\n", false);
	make(f, "lc/same", "1\n", false);
	make(f, "lc/same/below", "1\n", true);
	make(f, "lc/moves", "0-1\n", false);
	make(f, "lc/moves/below", "0-1\n", true);
	make(f, "aside", "0-3\n", true);
	start(f);
	put(f, "lc/cpuset.cpus.effective", "1-2\n");
	put(f, "lc/moves/cpuset.cpus.effective", "1-2\n");
	put(f, "lc/moves/below/cpuset.cpus.effective", "1-2\n");
	put(f, "lc/cpuset.cpus", "1-2\n");
	WAIT_FOR(f, f->nr_plans && is_quiet(f));
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "1-2"));
	assert_int_equal(f->nr_plans, 1);
	/* The root, lc, its two children, and the child of the one that moved. */
	assert_int_equal(nr_reads, 5);
}

static void test_controllers_move_the_children(void **state)
{
	struct fixture *f = *state;

	make(f, "lc", "0-3\n", false);
	make(f, "lc/a", "0-3\n", true);
	start(f);
	put(f, "lc/a/cpuset.cpus.effective", "2\n");
	put(f, "lc/cgroup.subtree_control", "+cpuset");
	WAIT_FOR(f, f->nr_plans);
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "2"));
	assert_int_equal(nr_reads, 1);
}

static void test_tasks_come_and_go(void **state)
{
	struct fixture *f = *state;

	make(f, "lc", "1\n", false);
	start(f);
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "0-3"));
	put(f, "lc/cgroup.events", "populated 1\n");
	WAIT_FOR(f, reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "1"));
	put(f, "lc/cgroup.events", "populated 0\n");
	WAIT_FOR(f, reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "0-3"));
	assert_int_equal(f->nr_plans, 2);
}

static void test_new_and_removed_cgroups(void **state)
{
	struct fixture *f = *state;
	char path[128];

	make(f, "lc", "0-3\n", false);
	start(f);
	make(f, "lc/a", "1\n", true);
	WAIT_FOR(f, reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "1"));
	/* Gone while it waits to be read: nothing may look at it any more. */
	put(f, "lc/a/cpuset.cpus", "2\n");
	WAIT_FOR(f, node_at(f, "/lc/a")->reread.tqe_prev);
	snprintf(path, sizeof(path), "%s/lc/a", f->dir);
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	WAIT_FOR(f, !cgroup_tree_find_path(f->tree, "/lc/a"));
	WAIT_FOR(f, is_quiet(f));
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "0-3"));
}

static void test_a_class_that_changes_needs_no_reading(void **state)
{
	struct fixture *f = *state;
	struct cgroup_node *n;

	make(f, "lc", "1\n", true);
	start(f);
	n = node_at(f, "/lc");
	n->class_idx = SCHEDD_CLASS_BEST_EFFORT;
	daemon_class_moved(&f->d, n);
	WAIT_FOR(f, f->nr_plans);
	assert_true(reaches(f, SCHEDD_CLASS_BEST_EFFORT, "1"));
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "0-3"));
	assert_int_equal(nr_reads, 0);
	/* A plan that is made for another reason has the newest too, and then none is made for this one. */
	n->class_idx = SCHEDD_CLASS_LATENCY_CRITICAL;
	daemon_class_moved(&f->d, n);
	daemon_refresh_reach(&f->d);
	assert_true(f->d.reach_unplanned && reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "1"));
	f->d.reach_unplanned = false;
	WAIT_FOR(f, is_quiet(f));
	assert_int_equal(f->nr_plans, 1);
}

static void test_an_unreadable_cpuset_leaves_what_was_read(void **state)
{
	struct fixture *f = *state;

	make(f, "lc", "1\n", true);
	start(f);
	put(f, "lc/cpuset.cpus.effective", "what is this\n");
	put(f, "lc/cpuset.cpus", "2\n");
	WAIT_FOR(f, nr_reads == 2 && is_quiet(f));
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "1"));
}

/* What waits is more than a turn takes: the loop has its turn between, and the plan comes at the end. */
static void test_a_pass_is_done_in_turns(void **state)
{
	enum { CGROUPS = 3 * READS_PER_TURN };
	struct fixture *f = *state;
	char name[64];

	make(f, "lc", "0-3\n", false);
	for (int i = 0; i < CGROUPS; i++) {
		snprintf(name, sizeof(name), "lc/%d", i);
		make(f, name, "1\n", true);
	}
	start(f);
	for (int i = 0; i < CGROUPS; i++) {
		snprintf(name, sizeof(name), "lc/%d/cpuset.cpus.effective", i);
		put(f, name, "2\n");
	}
	reread_children(&f->d, node_at(f, "/lc"));
	on_pass(NULL, 0, f);
	assert_int_equal(nr_reads, READS_PER_TURN);
	assert_int_equal(f->nr_plans, 0);
	/* Long overdue, as when ever more comes in: then with what is read so far. */
	f->d.reread_since_us = now_us() - pass_max_us;
	on_pass(NULL, 0, f);
	assert_int_equal(f->nr_plans, 1);
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "1-2"));
	WAIT_FOR(f, is_quiet(f));
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "2"));
	assert_int_equal(nr_reads, CGROUPS);
}

static void test_the_audit_finds_what_no_event_told(void **state)
{
	enum { CGROUPS = 2 * AUDIT_CGROUPS };
	struct fixture *f = *state;
	char name[64];

	make(f, "lc", "0-3\n", false);
	for (int i = 0; i < CGROUPS; i++) {
		snprintf(name, sizeof(name), "lc/%d", i);
		make(f, name, "1\n", true);
	}
	start(f);
	for (int i = 0; i < CGROUPS; i++) {
		snprintf(name, sizeof(name), "lc/%d/cpuset.cpus.effective", i);
		put(f, name, "2\n");
	}
	for (int turn = 0; turn < 3; turn++) {
		nr_reads = 0;
		on_audit(f->d.audit_timer, now_us(), f);
		WAIT_FOR(f, is_quiet(f));
		assert_in_range(nr_reads, 1, AUDIT_CGROUPS + 1);
	}
	assert_true(reaches(f, SCHEDD_CLASS_LATENCY_CRITICAL, "2"));
}

#define FOLLOW_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FOLLOW_TEST(test_read_at_the_start),
		FOLLOW_TEST(test_a_write_is_followed),
		FOLLOW_TEST(test_a_storm_is_one_plan),
		FOLLOW_TEST(test_what_changes_nothing_makes_no_plan),
		FOLLOW_TEST(test_reading_goes_on_where_something_moved),
		FOLLOW_TEST(test_controllers_move_the_children),
		FOLLOW_TEST(test_tasks_come_and_go),
		FOLLOW_TEST(test_new_and_removed_cgroups),
		FOLLOW_TEST(test_a_class_that_changes_needs_no_reading),
		FOLLOW_TEST(test_an_unreadable_cpuset_leaves_what_was_read),
		FOLLOW_TEST(test_a_pass_is_done_in_turns),
		FOLLOW_TEST(test_the_audit_finds_what_no_event_told),
	};

	return cmocka_run_group_tests_name("daemon_reach", tests, NULL, NULL);
}
