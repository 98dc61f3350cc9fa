/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_files.c - which configuration files count, in which order, and their bytes */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "daemon/base/cleanup.h"
#include "daemon/config_private.h"

struct dropin {
	const char *name, *path;
};

struct dropin_list {
	struct dropin *items;
	size_t nr;
};

static int report_errno(struct config_build *b, const char *path, int err, const char *what)
{
	struct config_place place = { .file = path };

	if (!b->read_error)
		b->read_error = -err;
	return config_report(b->config, &place, "", "", "cannot %s: %s", what, strerror(err));
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n > m && !strcmp(s + n - m, suffix);
}

/* A name seen before keeps its place in the order; the higher directory gives the file. */
static int dropin_add(struct config_build *b, struct dropin_list *list, const char *dir, const char *name)
{
	struct arena *arena = &b->config->arena;
	struct config_place place = { .file = dir };
	struct dropin item;
	size_t i;

	item.path = arena_printf(arena, "%s/%s", dir, name);
	item.name = item.path ? strrchr(item.path, '/') + 1 : NULL;
	if (!item.path)
		return -ENOMEM;
	for (i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].name, name)) {
			list->items[i] = item;
			return 0;
		}
	if (list->nr == CONFIG_MAX_DROPINS)
		return config_report(b->config, &place, "", name, "more than %d drop-ins", CONFIG_MAX_DROPINS);
	list->items[list->nr++] = item;
	return 0;
}

static int dropins_read_dir(struct config_build *b, struct dropin_list *list, const char *dir)
{
	struct config_place place = { .file = dir };
	_cleanup_closedir_ DIR *d = opendir(dir);
	struct dirent *e;
	int r = 0;

	if (!d)
		return errno == ENOENT ? 0 : report_errno(b, dir, errno, "read the directory");
	for (;;) {
		errno = 0;
		e = readdir(d);
		if (!e)
			return errno ? report_errno(b, dir, errno, "read the directory") : 0;
		/* Editors and ConfigMap volumes keep their own files behind a dot. */
		if (e->d_name[0] == '.')
			continue;
		if (has_suffix(e->d_name, ".yaml"))
			r = dropin_add(b, list, dir, e->d_name);
		else if (has_suffix(e->d_name, ".yml"))
			r = config_report(b->config, &place, "", e->d_name,
					  "would not be read: the name of a drop-in must end in .yaml; rename it");
		if (r < 0)
			return r;
	}
}

static int compare_dropins(const void *a, const void *b)
{
	return strcmp(((const struct dropin *)a)->name, ((const struct dropin *)b)->name);
}

/* schedd.yaml of the highest directory that has one; a link to /dev/null counts as having it. */
static int find_main(struct config_build *b, const struct config_paths *paths, const char **ret_path)
{
	struct stat st;
	char *path;
	size_t i;

	for (i = paths->nr_dirs; i-- > 0;) {
		path = arena_printf(&b->config->arena, "%s/schedd.yaml", paths->dirs[i]);
		if (!path)
			return -ENOMEM;
		if (lstat(path, &st) == 0) {
			*ret_path = path;
			return 0;
		}
		if (errno != ENOENT)
			return report_errno(b, path, errno, "look for the file");
	}
	return 0;
}

int config_files_find(struct config_build *b, const struct config_paths *paths, struct config_file_list *ret_list)
{
	_cleanup_free_ struct dropin *items = calloc(CONFIG_MAX_DROPINS, sizeof(*items));
	struct dropin_list list = { .items = items };
	const char *main_path = NULL;
	size_t i, n = 0;
	char *dir;
	int r;

	if (!items)
		return -ENOMEM;
	r = find_main(b, paths, &main_path);
	for (i = 0; r == 0 && i < paths->nr_dirs; i++) {
		dir = arena_printf(&b->config->arena, "%s/conf.d", paths->dirs[i]);
		r = dir ? dropins_read_dir(b, &list, dir) : -ENOMEM;
	}
	if (r < 0)
		return r;
	qsort(list.items, list.nr, sizeof(*list.items), compare_dropins);
	ret_list->paths = arena_array(&b->config->arena, const char *, list.nr + 1);
	if (!ret_list->paths)
		return -ENOMEM;
	if (main_path)
		ret_list->paths[n++] = main_path;
	for (i = 0; i < list.nr; i++)
		ret_list->paths[n++] = list.items[i].path;
	ret_list->nr_paths = n;
	return 0;
}

/* The whole file, or -errno; -EFBIG above the limit. */
static int read_all(int fd, char **ret_text, size_t *ret_size)
{
	_cleanup_free_ char *text = malloc(CONFIG_FILE_MAX_BYTES + 1);
	size_t size = 0;
	ssize_t n;

	if (!text)
		return -ENOMEM;
	do {
		n = read(fd, text + size, CONFIG_FILE_MAX_BYTES + 1 - size);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			size += (size_t)n;
		if (size > CONFIG_FILE_MAX_BYTES)
			return -EFBIG;
	} while (n);
	*ret_text = TAKE_PTR(text);
	*ret_size = size;
	return 0;
}

int config_files_read(struct config_build *b, const char *path, char **ret_text, size_t *ret_size)
{
	struct config_place place = { .file = path };
	/* Without O_NONBLOCK a FIFO would hang the start. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r;

	*ret_text = NULL;
	*ret_size = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return report_errno(b, path, errno, "open the file");
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return 0;
	if (S_ISDIR(st.st_mode))
		return report_errno(b, path, EISDIR, "read the file");
	if (!S_ISREG(st.st_mode))
		return config_report(b->config, &place, "", "", "not a regular file");
	r = read_all(fd, ret_text, ret_size);
	if (r == -EFBIG)
		return config_report(b->config, &place, "", "", "larger than %d bytes", CONFIG_FILE_MAX_BYTES);
	if (r == -ENOMEM || r == 0)
		return r;
	return report_errno(b, path, -r, "read the file");
}
