/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_fixture.h - a temporary tree of usr, run and etc for tests of the configuration */
#ifndef SCHEDD_TESTS_CONFIG_FIXTURE_H
#define SCHEDD_TESTS_CONFIG_FIXTURE_H

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
#include <unistd.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"
#include "daemon/config.h"

struct fixture {
	char root[64];
	char dir_names[3][80];
	const char *dirs[3];
	struct config_paths paths;
	struct config *config;
};

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int fixture_setup(void **state)
{
	static const char *const names[] = { "usr", "run", "etc" };
	struct fixture *f = calloc(1, sizeof(*f));
	char sub[96];
	size_t i;

	strcpy(f->root, "/tmp/schedd-config-XXXXXX");
	if (!mkdtemp(f->root))
		return -1;
	for (i = 0; i < 3; i++) {
		snprintf(f->dir_names[i], sizeof(f->dir_names[i]), "%s/%s", f->root, names[i]);
		snprintf(sub, sizeof(sub), "%s/conf.d", f->dir_names[i]);
		if (mkdir(f->dir_names[i], 0755) < 0 || mkdir(sub, 0755) < 0)
			return -1;
		f->dirs[i] = f->dir_names[i];
	}
	f->paths = (struct config_paths){ .dirs = f->dirs, .nr_dirs = 3 };
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	config_free(f->config);
	nftw(f->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static inline void put_bytes(struct fixture *f, const char *name, const char *text, size_t size)
{
	char path[160];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", f->root, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
}

static inline void put(struct fixture *f, const char *name, const char *text)
{
	put_bytes(f, name, text, strlen(text));
}

static inline int load_cpus(struct fixture *f, uint32_t nr_cpus)
{
	config_free(f->config);
	f->config = NULL;
	return config_load(&f->paths, nr_cpus, &f->config);
}

static inline int load(struct fixture *f)
{
	return load_cpus(f, 8);
}

/* All errors as printed, without the temporary directory. */
static inline char *errors_text(struct fixture *f)
{
	char *text = NULL, *at, *root;
	size_t size = 0, i;
	FILE *out = open_memstream(&text, &size);

	for (i = 0; f->config && i < f->config->nr_errors; i++)
		config_error_print(&f->config->errors[i], out);
	fclose(out);
	for (at = text; (root = strstr(at, f->root)); at = root)
		memmove(root, root + strlen(f->root) + 1, strlen(root + strlen(f->root) + 1) + 1);
	return text;
}

/* expected: every line as printed, nothing else. */
static inline void assert_errors(struct fixture *f, int r, const char *expected)
{
	_cleanup_free_ char *text = errors_text(f);

	if (strcmp(text, expected))
		fail_msg("errors are\n%s--- not\n%s---", text, expected);
	assert_int_equal(r, -EINVAL);
}

static inline void assert_loaded(struct fixture *f, int r)
{
	_cleanup_free_ char *text = errors_text(f);

	if (r < 0)
		fail_msg("refused with %d:\n%s", r, text);
}

#endif
