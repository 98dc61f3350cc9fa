/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - messages to standard error, with <N> priorities when it is the journal */
#include "daemon/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "daemon/base/cleanup.h"

enum { LOG_LINE_MAX = 2048, LOG_FIELDS_MAX = 12 };

static int log_level = LOG_INFO;

void log_set_level(int level)
{
	__atomic_store_n(&log_level, level, __ATOMIC_RELAXED);
}

int log_get_level(void)
{
	return __atomic_load_n(&log_level, __ATOMIC_RELAXED);
}

/* JOURNAL_STREAM names the device and inode of our stderr only if systemd made it. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
	       (unsigned long long)st.st_dev == dev && (unsigned long long)st.st_ino == ino;
}

/* One write per line, so that lines of two threads never mix. */
static void write_line(int level, int err, const char *text)
{
	char line[LOG_LINE_MAX + 160];
	int n;

	n = stderr_is_journal() ? snprintf(line, sizeof(line), "<%d>", level) :
				  snprintf(line, sizeof(line), "schedd: ");
	n += snprintf(line + n, sizeof(line) - (size_t)n, "%s", text);
	if (err)
		n += snprintf(line + n, sizeof(line) - (size_t)n, ": %s", strerrordesc_np(err) ?: "unknown error");
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return; /* nobody listens: there is nowhere to say so */
}

int log_full(int level, int err, const char *format, ...)
{
	int saved_errno = errno;
	char text[LOG_LINE_MAX];
	va_list ap;

	err = abs(err);
	if (level <= log_get_level()) {
		va_start(ap, format);
		vsnprintf(text, sizeof(text), format, ap);
		va_end(ap);
		write_line(level, err, text);
	}
	errno = saved_errno;
	return -err;
}

static bool send_to_journal(int level, const char *message_id, const char *const *fields, const char *text)
{
	_cleanup_free_ char *message = NULL, *id = NULL;
	char priority[] = "PRIORITY=0";
	struct iovec iov[LOG_FIELDS_MAX + 3];
	int n = 0;

	if (asprintf(&message, "MESSAGE=%s", text) < 0) {
		message = NULL;
		return false;
	}
	if (asprintf(&id, "MESSAGE_ID=%s", message_id) < 0) {
		id = NULL;
		return false;
	}
	priority[sizeof(priority) - 2] = (char)('0' + level);
	iov[n++] = (struct iovec){ message, strlen(message) };
	iov[n++] = (struct iovec){ id, strlen(id) };
	iov[n++] = (struct iovec){ priority, strlen(priority) };
	for (; fields && *fields && n < (int)ARRAY_SIZE(iov); fields++)
		iov[n++] = (struct iovec){ (void *)*fields, strlen(*fields) };
	return sd_journal_sendv(iov, n) == 0;
}

void log_event(int level, const char *message_id, const char *const *fields, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	va_list ap;

	if (level > log_get_level())
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (stderr_is_journal() && send_to_journal(level, message_id, fields, text))
		return;
	write_line(level, 0, text);
}
