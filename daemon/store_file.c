/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_file.c - a small file that is either whole or set aside */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* renameat2, asprintf */
#endif
#include "daemon/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/cleanup.h"

enum {
	STORE_VERSION = 1,
	STORE_MAX_BYTES = 64 << 20,       /* the most that 4096 assignments with the longest paths can need */
	STORE_MAX_ASIDE = 100,
};

static const char checksum_name[] = "checksum fnv1a64 ";
enum { CHECKSUM_LINE_BYTES = sizeof(checksum_name) - 1 + 16 + 1 };

static uint64_t checksum(const char *data, size_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static int write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int make_text(const char *kind, const char *body, size_t size, char **ret_text, size_t *ret_size)
{
	_cleanup_free_ char *text = NULL;
	char last[CHECKSUM_LINE_BYTES + 1];
	int head;

	if (size > STORE_MAX_BYTES - 256)
		return -EFBIG;
	text = malloc(size + 256);
	if (!text)
		return -ENOMEM;
	head = snprintf(text, 128, "%s %d\n", kind, STORE_VERSION);
	memcpy(text + head, body, size);
	size += (size_t)head;
	snprintf(last, sizeof(last), "%s%016" PRIx64 "\n", checksum_name, checksum(text, size));
	memcpy(text + size, last, CHECKSUM_LINE_BYTES);
	*ret_text = TAKE_PTR(text);
	*ret_size = size + CHECKSUM_LINE_BYTES;
	return 0;
}

static int write_temporary(int dir_fd, const char *name, const char *text, size_t size)
{
	_cleanup_close_ int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, text, size);
	if (r < 0)
		return r;
	/* Before the rename: else a power cut can leave the new name with no content. */
	return fsync(fd) < 0 ? -errno : 0;
}

static int replace(int dir_fd, const char *name, const char *text, size_t size)
{
	char temporary[64];
	int r;

	snprintf(temporary, sizeof(temporary), ".%s.new", name);
	/* Left by a process that died while it wrote. */
	if (unlinkat(dir_fd, temporary, 0) < 0 && errno != ENOENT)
		return -errno;
	r = write_temporary(dir_fd, temporary, text, size);
	if (r == 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(dir_fd, temporary, 0);
		return r;
	}
	return fsync(dir_fd) < 0 ? -errno : 0;
}

int store_file_write_plain(const char *dir, const char *name, const char *text, size_t size)
{
	_cleanup_close_ int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir_fd < 0 ? -errno : replace(dir_fd, name, text, size);
}

int store_file_write(const char *dir, const char *name, const char *kind, const char *body, size_t size)
{
	_cleanup_free_ char *text = NULL;
	int r = make_text(kind, body, size, &text, &size);

	return r < 0 ? r : store_file_write_plain(dir, name, text, size);
}

/* -EUCLEAN: not a file we could have written. */
static int read_all(int dir_fd, const char *name, char **ret_text, size_t *ret_size)
{
	_cleanup_close_ int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_free_ char *text = NULL;
	size_t size = 0, max;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return errno == ELOOP ? -EUCLEAN : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > STORE_MAX_BYTES)
		return -EUCLEAN;
	max = (size_t)st.st_size;
	text = malloc(max + 1);
	if (!text)
		return -ENOMEM;
	while (size < max) {
		n = read(fd, text + size, max - size);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		if (n > 0)
			size += (size_t)n;
	}
	text[size] = '\0';
	*ret_text = TAKE_PTR(text);
	*ret_size = size;
	return 0;
}

/* Cuts header and checksum off; -EUCLEAN when either is not as written by this version. */
static int unwrap(char *text, size_t size, const char *kind, char **ret_body)
{
	char head[128], last[CHECKSUM_LINE_BYTES + 1];
	size_t n;

	n = (size_t)snprintf(head, sizeof(head), "%s %d\n", kind, STORE_VERSION);
	if (size < n + CHECKSUM_LINE_BYTES || memchr(text, '\0', size))
		return -EUCLEAN;
	size -= CHECKSUM_LINE_BYTES;
	snprintf(last, sizeof(last), "%s%016" PRIx64 "\n", checksum_name, checksum(text, size));
	if (memcmp(text + size, last, CHECKSUM_LINE_BYTES) || memcmp(text, head, n) || text[size - 1] != '\n')
		return -EUCLEAN;
	text[size] = '\0';
	*ret_body = strdup(text + n);
	return *ret_body ? 0 : -ENOMEM;
}

int store_file_read(const char *dir, const char *name, const char *kind, char **ret_body, char **ret_aside)
{
	_cleanup_close_ int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int r;

	if (dir_fd < 0)
		return -errno;
	r = read_all(dir_fd, name, &text, &size);
	if (r == 0)
		r = unwrap(text, size, kind, ret_body);
	return r == -EUCLEAN ? store_file_set_aside(dir, name, ret_aside) : r;
}

/* An older damaged file is evidence too, so it is not replaced while there are names left. */
static int rename_aside(int dir_fd, const char *name, char *aside, size_t size)
{
	int i;

	for (i = 1; i <= STORE_MAX_ASIDE; i++) {
		if (i == 1)
			snprintf(aside, size, "%s.damaged", name);
		else
			snprintf(aside, size, "%s.damaged-%d", name, i);
		if (renameat2(dir_fd, name, dir_fd, aside, i < STORE_MAX_ASIDE ? RENAME_NOREPLACE : 0) == 0)
			return fsync(dir_fd) < 0 ? -errno : 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int store_file_set_aside(const char *dir, const char *name, char **ret_aside)
{
	_cleanup_close_ int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char aside[64];
	char *path;
	int r;

	if (dir_fd < 0)
		return -errno;
	r = rename_aside(dir_fd, name, aside, sizeof(aside));
	if (r < 0)
		return r;
	if (asprintf(&path, "%s/%s", dir, aside) < 0)
		return -ENOMEM;
	*ret_aside = path;
	return -EUCLEAN;
}
