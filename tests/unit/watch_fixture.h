/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_fixture.h - watch.c itself on a tree of directories of its own, what it reports noted, its limit of watches made small */
#ifndef SCHEDD_TEST_WATCH_FIXTURE_H
#define SCHEDD_TEST_WATCH_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <cmocka.h>

/* The kernel's limit of watches, made small: counts down, 0 = used up, negative = none. */
static int watches_left = -1;

static inline int limited_add_watch(int fd, const char *path, uint32_t mask)
{
	if (watches_left == 0) {
		errno = ENOSPC;
		return -1;
	}
	watches_left -= watches_left > 0;
	return inotify_add_watch(fd, path, mask);
}

#define inotify_add_watch limited_add_watch
#include "cgroup/watch.c"
#undef inotify_add_watch

#include <ftw.h>
#include <poll.h>
#include <time.h>

enum { DEADLINE_S = 20 };

struct fixture {
	char dir[64];
	struct cgroup_tree *tree;
	struct cgroup_watch *watch;
	size_t added, removing;
	bool order_broken; /* a parent came after its child or went before it */
	size_t written;
	bool trace_written;
	char trace[256]; /* "+/a +/a/b -/a/b C/a", cut when full */
};

static inline void trace(struct fixture *f, char sign, const struct cgroup_node *n)
{
	char path[PATH_MAX];
	size_t used = strlen(f->trace);

	assert_int_equal(cgroup_node_path(n, path, sizeof(path)), 0);
	snprintf(f->trace + used, sizeof(f->trace) - used, "%s%c%.200s", used ? " " : "", sign, path);
}

static inline void on_added(void *ctx, struct cgroup_node *n)
{
	struct fixture *f = ctx;

	f->added++;
	f->order_broken |= cgroup_tree_find_id(f->tree, n->id) != n;
	trace(f, '+', n);
}

static inline void on_removing(void *ctx, struct cgroup_node *n)
{
	struct fixture *f = ctx;

	f->removing++;
	f->order_broken |= n->first_child || cgroup_tree_find_id(f->tree, n->id) != n;
	trace(f, '-', n);
}

/* "C/a": by the letter what was written in /a. */
static inline void on_written(void *ctx, struct cgroup_node *n, enum cgroup_file file)
{
	static const char letters[] = {
		[CGROUP_FILE_ANY] = '?',
		[CGROUP_FILE_CPUS] = 'C',
		[CGROUP_FILE_CONTROLLERS] = 'S',
		[CGROUP_FILE_TASKS] = 'T',
	};
	struct fixture *f = ctx;

	f->written++;
	f->order_broken |= cgroup_tree_find_id(f->tree, n->id) != n;
	if (f->trace_written)
		trace(f, letters[file], n);
}

static const struct cgroup_watch_ops ops = { on_added, on_removing, on_written };

static inline void make(const struct fixture *f, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	if (mkdir(path, 0700) < 0)
		fail_msg("mkdir %s: %s", path, strerror(errno));
}

static inline void unmake(const struct fixture *f, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	if (rmdir(path) < 0)
		fail_msg("rmdir %s: %s", path, strerror(errno));
}

static inline void move(const struct fixture *f, const char *from, const char *to)
{
	char a[PATH_MAX], b[PATH_MAX];

	snprintf(a, sizeof(a), "%s/%s", f->dir, from);
	snprintf(b, sizeof(b), "%s/%s", f->dir, to);
	assert_int_equal(rename(a, b), 0);
}

static inline void write_file(const struct fixture *f, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail_msg("write %s: %s", path, strerror(errno));
	close(fd);
}

static inline int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	watches_left = -1;
	strcpy(f->dir, "/tmp/test_watch.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->tree = cgroup_tree_new();
	*state = f;
	return cgroup_watch_new(f->dir, f->tree, &ops, f, &f->watch);
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;

	cgroup_watch_free(f->watch);
	cgroup_tree_free(f->tree);
	nftw(f->dir, remove_one, 64, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static inline void scan(struct fixture *f)
{
	assert_int_equal(cgroup_watch_scan(f->watch), 0);
	f->added = f->removing = f->written = 0;
	f->trace[0] = '\0';
}

/* Handles what there is; the descriptor must be readable as long as something is left. */
static inline void settle(struct fixture *f)
{
	bool more = true;

	while (more)
		assert_int_equal(cgroup_watch_process(f->watch, 64, &more), 0);
}

static inline bool readable(const struct fixture *f, int timeout_ms)
{
	struct pollfd p = { .fd = cgroup_watch_fd(f->watch), .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0;
}

/* Until the condition holds; the events come through the descriptor only. */
#define WAIT_FOR(f, condition)                                                           \
	do {                                                                             \
		time_t end_ = time(NULL) + DEADLINE_S;                                   \
		while (!(condition)) {                                                   \
			if (time(NULL) > end_)                                           \
				fail_msg("not within %d s: %s", DEADLINE_S, #condition); \
			if (readable(f, 100))                                            \
				settle(f);                                               \
		}                                                                        \
	} while (0)

/* ---------- the tree and the directories must be the same ---------- */

struct compare {
	struct fixture *f;
	size_t seen;
	char wrong[512];
};
static struct compare *comparing; /* nftw() has no context */

static inline int compare_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	const char *below = path + strlen(comparing->f->dir);
	struct cgroup_node *n;

	(void)ftw;
	if (flag != FTW_D)
		return 0;
	comparing->seen++;
	n = cgroup_tree_find_path(comparing->f->tree, *below ? below : "/");
	if (n && n->id == st->st_ino)
		return 0;
	snprintf(comparing->wrong, sizeof(comparing->wrong), "%.300s %s", *below ? below : "/",
		 n ? "has another id" : "is missing");
	return 1;
}

static inline bool same(struct fixture *f)
{
	struct compare c = { .f = f };

	comparing = &c;
	nftw(f->dir, compare_one, 64, FTW_PHYS);
	return !c.wrong[0] && c.seen == cgroup_tree_size(f->tree);
}

static inline void expect_same(struct fixture *f)
{
	struct compare c = { .f = f };

	assert_false(f->order_broken);
	comparing = &c;
	nftw(f->dir, compare_one, 64, FTW_PHYS);
	if (c.wrong[0])
		fail_msg("%s", c.wrong);
	if (c.seen != cgroup_tree_size(f->tree))
		fail_msg("%zu directories, %zu nodes", c.seen, cgroup_tree_size(f->tree));
}

/* As if the seconds had passed. */
static inline void make_rescan_due(struct fixture *f)
{
	assert_int_not_equal(f->watch->rescan_at_ns, 0);
	f->watch->rescan_at_ns = now_ns();
	set_timer(f->watch, false);
	assert_true(readable(f, 1000));
}

#define WATCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
