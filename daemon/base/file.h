/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - small files read whole, and formatted paths.  Thread-safe. */
#ifndef SCHEDD_BASE_FILE_H
#define SCHEDD_BASE_FILE_H

#include <stddef.h>

/* First line without its newline; -ENAMETOOLONG when it does not fit, -errno of opening or reading. */
int file_read_line(const char *path, char *dst, size_t size);

/* Makes the directory and its parents (mode for the last one, 0755 above); an existing one is fine. */
int dir_make(const char *path, unsigned int mode);

#endif
