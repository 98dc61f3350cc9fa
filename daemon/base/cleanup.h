/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cleanup.h - owned locals free themselves; ownership leaves only through TAKE_* */
#ifndef SCHEDD_BASE_CLEANUP_H
#define SCHEDD_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir)

#define TAKE_PTR(p)                          \
	({                                   \
		__typeof__(p) taken_ = (p);  \
		(p) = NULL;                  \
		taken_;                      \
	})
#define TAKE_FD(fd)                          \
	({                                   \
		int taken_ = (fd);           \
		(fd) = -1;                   \
		taken_;                      \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
