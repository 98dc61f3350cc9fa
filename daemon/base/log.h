/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - messages to standard error, with <N> priorities when it is the journal
 *
 * Thread-safe.  Lower functions return -errno; the one that decides logs, once:
 *   return log_error_errno(r, "cannot read %s", path);
 */
#ifndef SCHEDD_BASE_LOG_H
#define SCHEDD_BASE_LOG_H

#include <syslog.h>

/* Messages above this level (syslog numbers, default LOG_INFO) are dropped. */
void log_set_level(int level);
int log_get_level(void);

/* err is 0 or a positive or negative errno, whose text is appended; returns -|err|. */
int log_full(int level, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * An event with journal fields, so that a machine can find it: message_id is one
 * of the LOG_ID_* below; fields is a NULL-terminated list of "NAME=value"
 * strings, values may hold any byte but NUL.  Falls back to log_full().
 */
void log_event(int level, const char *message_id, const char *const *fields, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#define LOG_ID_ATTACHED "6d1d8d5b3d5c4f0bb1a2d53c7c0f4a01"
#define LOG_ID_DETACHED "6d1d8d5b3d5c4f0bb1a2d53c7c0f4a02"
#define LOG_ID_EJECTED "6d1d8d5b3d5c4f0bb1a2d53c7c0f4a03"
#define LOG_ID_CLASS_SET "6d1d8d5b3d5c4f0bb1a2d53c7c0f4a04"
#define LOG_ID_CONFIG "6d1d8d5b3d5c4f0bb1a2d53c7c0f4a05"
#define LOG_ID_MODE "6d1d8d5b3d5c4f0bb1a2d53c7c0f4a06"
#define LOG_ID_OBSERVING "6d1d8d5b3d5c4f0bb1a2d53c7c0f4a07"

#define log_debug(...) log_full(LOG_DEBUG, 0, __VA_ARGS__)
#define log_info(...) log_full(LOG_INFO, 0, __VA_ARGS__)
#define log_notice(...) log_full(LOG_NOTICE, 0, __VA_ARGS__)
#define log_warning(...) log_full(LOG_WARNING, 0, __VA_ARGS__)
#define log_error(...) log_full(LOG_ERR, 0, __VA_ARGS__)
#define log_warning_errno(err, ...) log_full(LOG_WARNING, err, __VA_ARGS__)
#define log_error_errno(err, ...) log_full(LOG_ERR, err, __VA_ARGS__)

#endif
