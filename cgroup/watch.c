/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.c - keeps a cgroup_tree true: a scan at start, inotify afterwards
 *
 * An event is only a hint about one name: what is there now decides, so late,
 * doubled and reordered events do no harm.  All work is in one queue of small
 * steps, so that a storm of cgroups never holds the loop.
 */
#include "cgroup/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "cgroup/idmap.h"
#include "cgroup/mount.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"

enum {
	WATCH_NONE = -1,      /* cgroup_node.watch_descriptor: not asked for yet */
	WATCH_REFUSED = -2,   /* counted in stats.unwatched */
	WATCH_RESCAN_S = 5,   /* while something is unwatched */
	WATCH_BUFFER_BYTES = 16384,
};

#define NS_PER_S UINT64_C(1000000000)
#define WATCH_MASK (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MODIFY | IN_ONLYDIR)

/* Nodes are named by id: a step may wait while its node goes away. */
struct step {
	uint64_t id;
	char *name; /* look at this child of id; NULL: watch and read the directory id */
	bool deep;  /* a rescan: read the known children too */
};

struct cgroup_watch {
	int mount_fd, inotify_fd, timer_fd, epoll_fd;
	dev_t dev;
	struct cgroup_tree *tree;
	const struct cgroup_watch_ops *ops;
	void *ctx;
	struct cgroup_watch_stats stats;
	struct idmap by_descriptor;
	struct step *steps;         /* steps[first..first + nr) */
	size_t first_step, nr_steps, room_steps;
	uint32_t mark;
	bool scanned;               /* the first scan is done */
	bool overflowed;            /* events were lost: rescan as soon as the queue is done */
	bool rescan_wanted;         /* something did not work out: rescan when the timer says so */
	uint64_t rescan_at_ns;      /* CLOCK_MONOTONIC; 0 = none is due */
	bool limit_logged;
	size_t at_event, end_events;
	char events[WATCH_BUFFER_BYTES] __attribute__((aligned(8)));
};

/* ---------- the queue ---------- */

static int grow_steps(struct cgroup_watch *w)
{
	size_t room = w->room_steps ? w->room_steps * 2 : 64;
	struct step *bigger;

	if (w->first_step) {
		memmove(w->steps, w->steps + w->first_step, w->nr_steps * sizeof(*w->steps));
		w->first_step = 0;
		/* Only when that freed a good part: else each push would move everything. */
		if (w->nr_steps * 2 <= w->room_steps)
			return 0;
	}
	bigger = reallocarray(w->steps, room, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	w->steps = bigger;
	w->room_steps = room;
	return 0;
}

/* A step that is lost for want of memory is made good by a rescan. */
static void push_step(struct cgroup_watch *w, uint64_t id, const char *name, bool deep)
{
	char *own_name = name ? strdup(name) : NULL;

	if ((name && !own_name) || (w->first_step + w->nr_steps == w->room_steps && grow_steps(w) < 0)) {
		free(own_name);
		w->rescan_wanted = true;
		return;
	}
	w->steps[w->first_step + w->nr_steps++] = (struct step){ id, own_name, deep };
}

static struct step pop_step(struct cgroup_watch *w)
{
	struct step s = w->steps[w->first_step++];

	if (--w->nr_steps == 0)
		w->first_step = 0;
	return s;
}

/* ---------- nodes in and out ---------- */

static void unwatch(struct cgroup_watch *w, struct cgroup_node *node)
{
	if (node->watch_descriptor >= 0) {
		idmap_take(&w->by_descriptor, (uint64_t)node->watch_descriptor);
		/* Fails when the kernel ended it itself, because the directory is gone. */
		inotify_rm_watch(w->inotify_fd, node->watch_descriptor);
	}
	if (node->watch_descriptor == WATCH_REFUSED)
		w->stats.unwatched--;
	node->watch_descriptor = WATCH_NONE;
}

/* Children first, without recursion. */
static void drop_subtree(struct cgroup_watch *w, struct cgroup_node *top)
{
	struct cgroup_node *at = top, *parent;
	bool last;

	do {
		while (at->first_child)
			at = at->first_child;
		parent = at->parent;
		last = at == top;
		w->ops->removing(w->ctx, at);
		unwatch(w, at);
		cgroup_tree_remove(w->tree, at);
		w->stats.removed += w->scanned;
		at = parent;
	} while (!last);
}

/* Before the first scan is done, whoever wants to know reads everything after it. */
static void report_written(struct cgroup_watch *w, struct cgroup_node *node, enum cgroup_file file)
{
	if (w->ops->written && w->scanned)
		w->ops->written(w->ctx, node, file);
}

static bool is_above(const struct cgroup_node *node, const struct cgroup_node *below)
{
	while (below && below != node)
		below = below->parent;
	return below;
}

static void add_node(struct cgroup_watch *w, struct cgroup_node *parent, const char *name, uint64_t id)
{
	struct cgroup_node *other = cgroup_tree_find_id(w->tree, id), *node;

	/* Renamed, or the number of a removed directory was given again: the event of the old place is on its way. */
	if (other && !is_above(other, parent))
		drop_subtree(w, other);
	if (cgroup_tree_add(w->tree, parent, name, id, &node) < 0) {
		w->rescan_wanted = true;
		return;
	}
	w->stats.created += w->scanned;
	w->ops->added(w->ctx, node);
	push_step(w, id, NULL, false);
}

/* ---------- reading what is there ---------- */

/* The directory of a node; -ESTALE: another one has its place. */
static int open_node(struct cgroup_watch *w, const struct cgroup_node *node, int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	struct stat st;
	int r = cgroup_node_path(node, path, sizeof(path));

	if (r < 0)
		return r;
	r = cgroup_open_dir(w->mount_fd, path, &fd, &st);
	if (r < 0)
		return r;
	if (st.st_ino != node->id || st.st_dev != w->dev)
		return -ESTALE;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* 0 when name is no directory of ours, else its id. */
static uint64_t child_id(struct cgroup_watch *w, int dir_fd, const char *name)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) || st.st_dev != w->dev)
		return 0;
	return st.st_ino;
}

/* Makes the tree agree with the file system about one name, which must not be the node's own copy. */
static void check_child(struct cgroup_watch *w, struct cgroup_node *parent, const char *name)
{
	struct cgroup_node *child = cgroup_tree_find_child(w->tree, parent, name);
	_cleanup_close_ int fd = -1;
	uint64_t id;

	/* The parent went too: its own event, or the rescan that is on, removes it with all below. */
	if (open_node(w, parent, &fd) < 0)
		return;
	id = child_id(w, fd, name);
	if (child && child->id != id) {
		drop_subtree(w, child);
		child = NULL;
	}
	if (id && !child)
		add_node(w, parent, name, id);
}

static void refuse_watch(struct cgroup_watch *w, struct cgroup_node *node, int err)
{
	if (node->watch_descriptor != WATCH_REFUSED)
		w->stats.unwatched++;
	node->watch_descriptor = WATCH_REFUSED;
	if (w->limit_logged)
		return;
	w->limit_logged = true;
	log_warning_errno(err,
			  "no inotify watch for every cgroup: the tree is read again every %d s instead; raise "
			  "fs.inotify.max_user_watches and fs.inotify.max_user_instances",
			  WATCH_RESCAN_S);
}

static void add_watch(struct cgroup_watch *w, struct cgroup_node *node, int dir_fd)
{
	char link[sizeof("/proc/self/fd/") + 12];
	int descriptor;

	if (node->watch_descriptor >= 0)
		return;
	/* By descriptor: the very directory that is read next, whatever happens to its name. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
	descriptor = w->inotify_fd < 0 ? -1 : inotify_add_watch(w->inotify_fd, link, WATCH_MASK);
	if (descriptor < 0) {
		refuse_watch(w, node, w->inotify_fd < 0 ? EMFILE : errno);
		return;
	}
	if (idmap_put(&w->by_descriptor, (uint64_t)descriptor, node) < 0) {
		inotify_rm_watch(w->inotify_fd, descriptor);
		refuse_watch(w, node, ENOMEM);
		return;
	}
	if (node->watch_descriptor == WATCH_REFUSED)
		w->stats.unwatched--;
	node->watch_descriptor = descriptor;
}

/* Marks what is known and queues a look at what is not. */
static int read_entries(struct cgroup_watch *w, struct cgroup_node *node, DIR *dir)
{
	struct dirent *e;

	errno = 0;
	while ((e = readdir(dir))) {
		struct cgroup_node *child;

		if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) || strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0)
			continue;
		child = cgroup_tree_find_child(w->tree, node, e->d_name);
		if (child && child->id == child_id(w, dirfd(dir), e->d_name))
			child->scan_mark = w->mark;
		else
			push_step(w, node->id, e->d_name, false);
		errno = 0;
	}
	return -errno;
}

/* Only gone or replaced children are without the mark; the step that was queued for a replaced one adds the new. */
static void drop_unmarked(struct cgroup_watch *w, struct cgroup_node *node, bool deep)
{
	struct cgroup_node *child, *next;

	for (child = node->first_child; child; child = next) {
		next = child->next_sibling;
		if (child->scan_mark != w->mark)
			drop_subtree(w, child);
		else if (deep)
			push_step(w, child->id, NULL, true);
	}
}

static int read_directory(struct cgroup_watch *w, struct cgroup_node *node, bool deep)
{
	_cleanup_closedir_ DIR *dir = NULL;
	bool watched = node->watch_descriptor >= 0;
	int fd = -1, r = open_node(w, node, &fd);

	if (r < 0) {
		if (node->parent)
			push_step(w, node->parent->id, node->name, false);
		return r;
	}
	/* The watch first: a child made before it is read below, one made after it gives an event. */
	add_watch(w, node, fd);
	/* Nor was there an event about files that were written before it. */
	if (!watched)
		report_written(w, node, CGROUP_FILE_ANY);
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	w->mark += w->mark == UINT32_MAX ? 2 : 1;
	r = read_entries(w, node, dir);
	/* A half-read directory proves nothing about what it did not name. */
	if (r == 0)
		drop_unmarked(w, node, deep);
	return r;
}

/* The result is that of the root: any other cgroup may vanish while we look. */
static int run_step(struct cgroup_watch *w)
{
	struct step s = pop_step(w);
	struct cgroup_node *node = cgroup_tree_find_id(w->tree, s.id);
	bool root = node && !node->parent;
	int r = 0;

	if (node && s.name)
		check_child(w, node, s.name);
	else if (node)
		r = read_directory(w, node, s.deep);
	free(s.name);
	return root ? r : 0;
}

static void start_rescan(struct cgroup_watch *w)
{
	w->overflowed = w->rescan_wanted = false;
	w->rescan_at_ns = 0;
	w->stats.rescans += w->scanned;
	push_step(w, cgroup_tree_root(w->tree)->id, NULL, true);
}

/* ---------- events ---------- */

/* The kernel took the watch away: the directory is gone, or everything was unmounted. */
static void on_watch_gone(struct cgroup_watch *w, struct cgroup_node *node)
{
	idmap_take(&w->by_descriptor, (uint64_t)node->watch_descriptor);
	node->watch_descriptor = WATCH_NONE;
	push_step(w, node->id, NULL, false);
}

static void on_overflow(struct cgroup_watch *w)
{
	struct cgroup_node *root = cgroup_tree_root(w->tree);

	w->stats.lost_events++;
	w->overflowed = true;
	for (struct cgroup_node *n = root; n; n = cgroup_node_next(root, n))
		report_written(w, n, CGROUP_FILE_ANY);
}

/* By name and at once: most writes are to files that nobody here asks about. */
static void on_modify(struct cgroup_watch *w, struct cgroup_node *node, const char *name)
{
	static const struct {
		const char *name;
		enum cgroup_file file;
	} files[] = {
		{ "cgroup.events", CGROUP_FILE_TASKS },           { "cgroup.procs", CGROUP_FILE_TASKS },
		{ "cgroup.threads", CGROUP_FILE_TASKS },          { "cgroup.subtree_control", CGROUP_FILE_CONTROLLERS },
		{ "cpuset.cpus", CGROUP_FILE_CPUS },              { "cpuset.cpus.exclusive", CGROUP_FILE_CPUS },
		{ "cpuset.cpus.partition", CGROUP_FILE_CPUS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strcmp(name, files[i].name) == 0)
			report_written(w, node, files[i].file);
}

static void on_event(struct cgroup_watch *w, const struct inotify_event *e)
{
	struct cgroup_node *node;

	if (e->mask & IN_Q_OVERFLOW) {
		on_overflow(w);
		return;
	}
	node = e->wd < 0 ? NULL : idmap_get(&w->by_descriptor, (uint64_t)e->wd);
	if (!node)
		return;
	if (e->mask & IN_IGNORED)
		on_watch_gone(w, node);
	else if (e->mask & IN_DELETE_SELF && node->parent)
		push_step(w, node->parent->id, node->name, false);
	else if (e->mask & IN_ISDIR && e->len)
		check_child(w, node, e->name);
	else if (e->mask & IN_MODIFY && e->len)
		on_modify(w, node, e->name);
}

static bool next_event(struct cgroup_watch *w)
{
	const struct inotify_event *e;

	if (w->at_event == w->end_events) {
		ssize_t n = w->inotify_fd < 0 ? 0 : read(w->inotify_fd, w->events, sizeof(w->events));

		w->at_event = w->end_events = 0;
		if (n <= 0)
			return false;
		w->end_events = (size_t)n;
	}
	e = (const struct inotify_event *)(w->events + w->at_event);
	w->at_event += sizeof(*e) + e->len;
	on_event(w, e);
	return true;
}

static bool events_left(const struct cgroup_watch *w)
{
	int bytes = 0;

	return w->at_event < w->end_events ||
	       (w->inotify_fd >= 0 && ioctl(w->inotify_fd, FIONREAD, &bytes) == 0 && bytes > 0);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/*
 * Work of our own makes the descriptor readable as events do.  A rescan keeps
 * its time whatever happens before: else steady events would put it off for ever.
 */
static void set_timer(struct cgroup_watch *w, bool more)
{
	struct itimerspec t = { 0 };
	bool wanted = w->stats.unwatched || w->rescan_wanted;

	if (!wanted)
		w->rescan_at_ns = 0;
	else if (!w->rescan_at_ns)
		w->rescan_at_ns = now_ns() + WATCH_RESCAN_S * NS_PER_S;
	if (more)
		t.it_value.tv_nsec = 1; /* long past: at once */
	else if (wanted)
		t.it_value =
			(struct timespec){ (time_t)(w->rescan_at_ns / NS_PER_S), (long)(w->rescan_at_ns % NS_PER_S) };
	timerfd_settime(w->timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
}

static bool rescan_is_due(struct cgroup_watch *w)
{
	uint64_t n;

	/* Read only to make it unreadable; what the timer was for says the clock. */
	if (read(w->timer_fd, &n, sizeof(n)) != sizeof(n) || w->nr_steps)
		return false;
	return w->rescan_at_ns && now_ns() >= w->rescan_at_ns;
}

int cgroup_watch_process(struct cgroup_watch *w, unsigned int max_events, bool *ret_more)
{
	bool event = true, more;
	int r = 0;

	if (rescan_is_due(w))
		start_rescan(w);
	/* In turns: neither a flood of events nor a long scan makes the other wait. */
	while (max_events && r == 0 && (event || w->nr_steps)) {
		event = next_event(w);
		max_events -= event;
		if (max_events && w->nr_steps) {
			r = run_step(w);
			max_events--;
		}
	}
	if (w->overflowed && !w->nr_steps)
		start_rescan(w);
	more = w->nr_steps || events_left(w);
	set_timer(w, more);
	if (r == 0)
		*ret_more = more;
	return r;
}

/* ---------- start and end ---------- */

static int add_root(struct cgroup_watch *w)
{
	struct cgroup_node *root;
	struct stat st;
	int r;

	if (fstat(w->mount_fd, &st) < 0)
		return -errno;
	r = cgroup_tree_add(w->tree, NULL, "", st.st_ino, &root);
	if (r < 0)
		return r;
	w->ops->added(w->ctx, root);
	return 0;
}

int cgroup_watch_scan(struct cgroup_watch *w)
{
	int r = cgroup_tree_root(w->tree) ? 0 : add_root(w);

	if (r < 0)
		return r;
	start_rescan(w);
	while (w->nr_steps && r == 0)
		r = run_step(w);
	if (r == 0 && w->rescan_wanted)
		r = -ENOMEM;
	if (r == 0)
		w->scanned = true;
	set_timer(w, w->nr_steps || events_left(w));
	return r;
}

static int watch_fd(struct cgroup_watch *w, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static int open_fds(struct cgroup_watch *w, const char *mount)
{
	struct stat st;
	int r;

	w->mount_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->mount_fd < 0 || fstat(w->mount_fd, &st) < 0)
		return -errno;
	w->dev = st.st_dev;
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0)
		return -errno;
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (w->timer_fd < 0)
		return -errno;
	r = watch_fd(w, w->timer_fd);
	if (r < 0)
		return r;
	/* The instances of the user are used up: rescans do, as they do without watches. */
	w->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->inotify_fd < 0)
		return errno == EMFILE ? 0 : -errno;
	return watch_fd(w, w->inotify_fd);
}

static void cleanup_watch(struct cgroup_watch **w)
{
	cgroup_watch_free(*w);
}

int cgroup_watch_new(const char *mount, struct cgroup_tree *tree, const struct cgroup_watch_ops *ops, void *ctx,
		     struct cgroup_watch **ret_watch)
{
	_cleanup_(cleanup_watch) struct cgroup_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->mount_fd = w->inotify_fd = w->timer_fd = w->epoll_fd = -1;
	w->tree = tree;
	w->ops = ops;
	w->ctx = ctx;
	r = open_fds(w, mount);
	if (r < 0)
		return r;
	*ret_watch = TAKE_PTR(w);
	return 0;
}

void cgroup_watch_free(struct cgroup_watch *w)
{
	if (!w)
		return;
	while (w->nr_steps)
		free(pop_step(w).name);
	free(w->steps);
	idmap_clear(&w->by_descriptor);
	cleanup_close(&w->mount_fd);
	cleanup_close(&w->inotify_fd);
	cleanup_close(&w->timer_fd);
	cleanup_close(&w->epoll_fd);
	free(w);
}

int cgroup_watch_fd(const struct cgroup_watch *w)
{
	return w->epoll_fd;
}

int cgroup_watch_mount_fd(const struct cgroup_watch *w)
{
	return w->mount_fd;
}

const struct cgroup_watch_stats *cgroup_watch_get_stats(const struct cgroup_watch *w)
{
	return &w->stats;
}
