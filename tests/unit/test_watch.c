// SPDX-License-Identifier: GPL-2.0-or-later
/* test_watch.c - a tree of directories followed with real inotify: nothing missed, nothing left behind */
#include "tests/unit/watch_fixture.h"

static void test_first_scan_has_parents_first(void **state)
{
	struct fixture *f = *state;

	make(f, "a");
	make(f, "a/b");
	make(f, "a/b/c");
	assert_int_equal(cgroup_watch_scan(f->watch), 0);
	assert_string_equal(f->trace, "+/ +/a +/a/b +/a/b/c");
	assert_int_equal(cgroup_watch_get_stats(f->watch)->created, 0);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->rescans, 0);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->unwatched, 0);
	assert_false(readable(f, 0));
	expect_same(f);
}

static void test_events_are_followed(void **state)
{
	struct fixture *f = *state;

	scan(f);
	make(f, "a");
	assert_true(readable(f, 1000));
	settle(f);
	make(f, "a/b");
	settle(f);
	assert_string_equal(f->trace, "+/a +/a/b");
	unmake(f, "a/b");
	unmake(f, "a");
	settle(f);
	assert_string_equal(f->trace, "+/a +/a/b -/a/b -/a");
	assert_int_equal(cgroup_watch_get_stats(f->watch)->created, 2);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->removed, 2);
	assert_false(readable(f, 0));
	expect_same(f);
}

/* The watch of "a" comes after "a/b/c" was made: no event ever names those. */
static void test_children_made_before_the_watch(void **state)
{
	struct fixture *f = *state;

	scan(f);
	make(f, "a");
	make(f, "a/b");
	make(f, "a/b/c");
	settle(f);
	assert_string_equal(f->trace, "+/a +/a/b +/a/b/c");
	expect_same(f);
}

static void test_removed_before_the_event_was_read(void **state)
{
	struct fixture *f = *state;

	scan(f);
	make(f, "a");
	make(f, "a/b");
	unmake(f, "a/b");
	unmake(f, "a");
	settle(f);
	assert_string_equal(f->trace, "");
	expect_same(f);
}

static void test_same_name_again_is_another_cgroup(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	make(f, "a");
	scan(f);
	before = cgroup_tree_find_path(f->tree, "/a")->id;
	make(f, "keep"); /* so that the number is not simply given again */
	unmake(f, "a");
	make(f, "a");
	settle(f);
	expect_same(f);
	if (cgroup_tree_find_path(f->tree, "/a")->id != before)
		assert_non_null(strstr(f->trace, "-/a"));
}

/* As when a file system gives the number of a removed directory to a new one elsewhere. */
static void test_id_that_moved_is_one_cgroup(void **state)
{
	struct fixture *f = *state;

	make(f, "a");
	make(f, "a/x");
	make(f, "b");
	scan(f);
	/* The event about the new place is looked at before the one about the old. */
	move(f, "a/x", "b/y");
	check_child(f->watch, cgroup_tree_find_path(f->tree, "/b"), "y");
	assert_string_equal(f->trace, "-/a/x +/b/y");
	settle(f);
	expect_same(f);
}

static void test_renames(void **state)
{
	struct fixture *f = *state;

	make(f, "a");
	make(f, "a/x");
	make(f, "a/x/deep");
	make(f, "b");
	scan(f);
	move(f, "a/x", "b/y");
	settle(f);
	expect_same(f);
	move(f, "b", "c");
	settle(f);
	expect_same(f);
	/* Directories that moved are still watched. */
	make(f, "c/y/deep/new");
	settle(f);
	expect_same(f);
	unmake(f, "c/y/deep/new");
	settle(f);
	expect_same(f);
}

static void test_files_are_no_cgroups(void **state)
{
	struct fixture *f = *state;
	char path[128];
	FILE *file;

	scan(f);
	snprintf(path, sizeof(path), "%s/cgroup.procs", f->dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/link", f->dir);
	assert_int_equal(symlink("/", path), 0);
	settle(f);
	assert_string_equal(f->trace, "");
	expect_same(f);
	unlink(path);
}

static void test_odd_names(void **state)
{
	static const char *const names[] = { "\x01\x1b[31m", "with blank", "\xff\xfe", "a\\x2db", "..." };
	struct fixture *f = *state;

	scan(f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		make(f, names[i]);
	settle(f);
	assert_int_equal(f->added, ARRAY_SIZE(names));
	expect_same(f);
}

static void test_a_turn_is_bounded(void **state)
{
	enum { DIRS = 300, TURN = 7 };
	struct fixture *f = *state;
	size_t turns = 0;
	bool more = true;
	char name[16];

	scan(f);
	for (int i = 0; i < DIRS; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		make(f, name);
	}
	for (; more; turns++) {
		size_t before = f->added;

		/* The loop needs no memory of `more`: what is left keeps the descriptor readable. */
		assert_true(readable(f, 1000));
		assert_int_equal(cgroup_watch_process(f->watch, TURN, &more), 0);
		assert_true(f->added - before <= TURN);
	}
	assert_int_equal(f->added, DIRS);
	assert_true(turns >= DIRS / TURN);
	assert_false(readable(f, 0));
	expect_same(f);
}

/* More events than the kernel keeps (fs.inotify.max_queued_events is 16384 by default). */
static void test_overflow_is_rescanned(void **state)
{
	struct fixture *f = *state;
	unsigned long max = 16384;
	FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
	char name[32];

	if (file && fscanf(file, "%lu", &max) != 1)
		max = 16384;
	if (file)
		fclose(file);
	if (max > 100000)
		skip();
	make(f, "gone");
	make(f, "gone/below");
	scan(f);
	for (unsigned long i = 0; i < max + 10; i++) {
		snprintf(name, sizeof(name), "d%lu", i % 50);
		/* Different names in turn, else the kernel folds equal events. */
		make(f, name);
		if (i < max)
			unmake(f, name);
	}
	unmake(f, "gone/below");
	unmake(f, "gone");
	make(f, "new");
	make(f, "new/below");
	settle(f);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->lost_events, 1);
	assert_true(cgroup_watch_get_stats(f->watch)->rescans >= 1);
	expect_same(f);
	assert_null(cgroup_tree_find_path(f->tree, "/gone"));
	assert_non_null(cgroup_tree_find_path(f->tree, "/new/below"));
}

static void test_limit_of_watches(void **state)
{
	struct fixture *f = *state;
	uint64_t due;

	log_set_level(LOG_CRIT);
	make(f, "a");
	make(f, "b");
	make(f, "c");
	watches_left = 2; /* the root and one more */
	scan(f);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->unwatched, 2);
	due = f->watch->rescan_at_ns;
	assert_true(due > now_ns());
	/* Events do not put it off. */
	make(f, "seen");
	settle(f);
	assert_int_equal(f->watch->rescan_at_ns, due);
	/* No event for two of these: the rescan finds them. */
	make(f, "a/x");
	make(f, "b/x");
	make(f, "c/x");
	make_rescan_due(f);
	WAIT_FOR(f, same(f));
	assert_true(cgroup_watch_get_stats(f->watch)->rescans >= 1);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->lost_events, 0);
	unmake(f, "a/x");
	unmake(f, "b/x");
	unmake(f, "c/x");
	make_rescan_due(f);
	WAIT_FOR(f, same(f));
	/* The limit was raised: watches again, and no more rescans. */
	watches_left = -1;
	make_rescan_due(f);
	WAIT_FOR(f, cgroup_watch_get_stats(f->watch)->unwatched == 0);
	make(f, "a/y");
	make(f, "c/y");
	settle(f);
	expect_same(f);
	assert_int_equal(f->watch->rescan_at_ns, 0);
	assert_false(readable(f, 0));
	log_set_level(LOG_INFO);
}

static void test_removed_directories_are_not_counted_as_unwatched(void **state)
{
	struct fixture *f = *state;

	log_set_level(LOG_CRIT);
	make(f, "a");
	make(f, "a/b");
	watches_left = 1;
	scan(f);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->unwatched, 2);
	unmake(f, "a/b");
	unmake(f, "a");
	settle(f);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->unwatched, 0);
	expect_same(f);
	log_set_level(LOG_INFO);
}

static void test_ten_thousand_directories(void **state)
{
	enum { DIRS = 10000 };
	struct fixture *f = *state;
	char name[32];

	for (int i = 0; i < DIRS; i++) {
		snprintf(name, sizeof(name), i % 100 ? "d%d/e%d" : "d%d", i / 100, i);
		make(f, name);
	}
	assert_int_equal(cgroup_watch_scan(f->watch), 0);
	assert_int_equal(cgroup_tree_size(f->tree), DIRS + 1);
	expect_same(f);
	assert_int_equal(cgroup_watch_scan(f->watch), 0);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->created, 0);
	assert_int_equal(cgroup_watch_get_stats(f->watch)->rescans, 1);
	for (int i = DIRS - 1; i >= 0; i--) {
		snprintf(name, sizeof(name), i % 100 ? "d%d/e%d" : "d%d", i / 100, i);
		unmake(f, name);
	}
	settle(f);
	assert_int_equal(cgroup_tree_size(f->tree), 1);
	expect_same(f);
}

/* Whatever happens in whatever order, and with turns in between, both are the same in the end. */
static void test_random_storm(void **state)
{
	enum { STEPS = 4000 };
	struct fixture *f = *state;
	unsigned int seed = 31337, x = seed;
	bool more;

	print_message("# seed %u\n", seed);
	scan(f);
	for (int i = 0; i < STEPS; i++) {
		char path[PATH_MAX], to[PATH_MAX];
		size_t n = (size_t)snprintf(path, sizeof(path), "%s", f->dir);

		for (int k = rand_r(&x) % 4; k >= 0; k--)
			n += (size_t)sprintf(path + n, "/%c", 'a' + rand_r(&x) % 4);
		snprintf(to, sizeof(to), "%s/%c", f->dir, 'a' + rand_r(&x) % 4);
		switch (rand_r(&x) % 8) {
		case 0 ... 3:
			mkdir(path, 0700);
			break;
		case 4 ... 5:
			rmdir(path);
			break;
		case 6:
			if (rename(path, to) < 0)
				rmdir(path);
			break;
		default:
			assert_int_equal(cgroup_watch_process(f->watch, 1 + (unsigned int)rand_r(&x) % 20, &more), 0);
		}
		if (i % 500 == 499) {
			settle(f);
			expect_same(f);
		}
	}
	settle(f);
	expect_same(f);
}

static void test_no_such_mount(void **state)
{
	struct cgroup_tree *tree = cgroup_tree_new();
	struct cgroup_watch *w = NULL;

	(void)state;
	assert_int_equal(cgroup_watch_new("/no/such/directory", tree, &ops, NULL, &w), -ENOENT);
	assert_int_equal(cgroup_watch_new("/proc/self/mountinfo", tree, &ops, NULL, &w), -ENOTDIR);
	assert_null(w);
	cgroup_watch_free(NULL);
	cgroup_tree_free(tree);
}

/* The file system that it is for; skipped where no cgroup may be made. */
static void test_real_cgroups(void **state)
{
	struct fixture f = { .tree = cgroup_tree_new() };
	char mount[256], top[64], below[80], path[512];

	(void)state;
	watches_left = -1;
	snprintf(top, sizeof(top), "/schedd-test-watch-%d", (int)getpid());
	snprintf(below, sizeof(below), "%s/below", top);
	if (cgroup_mount_find(NULL, mount, sizeof(mount)) < 0)
		strcpy(mount, "/none");
	snprintf(f.dir, sizeof(f.dir), "%.60s", mount);
	snprintf(path, sizeof(path), "%s%s", mount, top);
	if (mkdir(path, 0755) < 0) {
		cgroup_tree_free(f.tree);
		skip();
	}
	assert_int_equal(cgroup_watch_new(mount, f.tree, &ops, &f, &f.watch), 0);
	assert_int_equal(cgroup_watch_scan(f.watch), 0);
	assert_non_null(cgroup_tree_find_path(f.tree, top));
	make(&f, below + 1);
	WAIT_FOR(&f, cgroup_tree_find_path(f.tree, below));
	unmake(&f, below + 1);
	WAIT_FOR(&f, !cgroup_tree_find_path(f.tree, below));
	unmake(&f, top + 1);
	WAIT_FOR(&f, !cgroup_tree_find_path(f.tree, top));
	assert_false(f.order_broken);
	cgroup_watch_free(f.watch);
	cgroup_tree_free(f.tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_first_scan_has_parents_first),
		WATCH_TEST(test_events_are_followed),
		WATCH_TEST(test_children_made_before_the_watch),
		WATCH_TEST(test_removed_before_the_event_was_read),
		WATCH_TEST(test_same_name_again_is_another_cgroup),
		WATCH_TEST(test_id_that_moved_is_one_cgroup),
		WATCH_TEST(test_renames),
		WATCH_TEST(test_files_are_no_cgroups),
		WATCH_TEST(test_odd_names),
		WATCH_TEST(test_a_turn_is_bounded),
		WATCH_TEST(test_overflow_is_rescanned),
		WATCH_TEST(test_limit_of_watches),
		WATCH_TEST(test_removed_directories_are_not_counted_as_unwatched),
		WATCH_TEST(test_ten_thousand_directories),
		WATCH_TEST(test_random_storm),
		cmocka_unit_test(test_real_cgroups),
		cmocka_unit_test(test_no_such_mount),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
