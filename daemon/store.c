/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store.c - the boot id and the hold file */
#include "daemon/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/store_file.h"

static const char hold_name[] = "hold";
static const char hold_kind[] = "schedd-hold";

int store_read_boot_id(char ret_boot_id[STORE_BOOT_ID_MAX + 1])
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[STORE_BOOT_ID_MAX + 2];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!*text)
		return -EIO;
	return str_copy(ret_boot_id, STORE_BOOT_ID_MAX + 1, text);
}

static int close_stream(FILE *out)
{
	bool failed = ferror(out);

	return fclose(out) == 0 && !failed ? 0 : -ENOMEM;
}

static void put_hold(FILE *out, const struct store_hold *h, const char *boot_id)
{
	fputs("hold", out);
	store_put_text(out, "boot", boot_id);
	store_put_text(out, "reason", h->reason);
	store_put_text(out, "message", h->message);
	store_put_u64(out, "since", h->since_realtime_ns);
	store_put_u64(out, "until", h->until_boottime_ns);
	store_put_text(out, "wanted", h->wanted_mode);
	store_put_text(out, "return", h->return_mode);
	store_put_u64(out, "ejection0", h->ejection_boottime_ns[0]);
	store_put_u64(out, "ejection1", h->ejection_boottime_ns[1]);
	store_put_u64(out, "ejection2", h->ejection_boottime_ns[2]);
	store_put_u64(out, "ejections", h->ejections_total);
	fputc('\n', out);
}

int store_save_hold(const char *dir, const struct store_hold *h, const char *boot_id)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out;
	int r;

	/* Others find the socket here, so it is open to them, unlike the state directory. */
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return -errno;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	put_hold(out, h, boot_id);
	r = close_stream(out);
	return r < 0 ? r : store_file_write(dir, hold_name, hold_kind, text, size);
}

static int get_hold(struct store_record *rec, struct store_hold *h, char *boot_id, size_t size)
{
	int r = 0;

	if (strcmp(rec->type, "hold"))
		return -EUCLEAN;
	r |= store_record_get_text(rec, "boot", boot_id, size);
	r |= store_record_get_text(rec, "reason", h->reason, sizeof(h->reason));
	r |= store_record_get_text(rec, "message", h->message, sizeof(h->message));
	r |= store_record_get_u64(rec, "since", UINT64_MAX, &h->since_realtime_ns);
	r |= store_record_get_u64(rec, "until", UINT64_MAX, &h->until_boottime_ns);
	r |= store_record_get_text(rec, "wanted", h->wanted_mode, sizeof(h->wanted_mode));
	r |= store_record_get_text(rec, "return", h->return_mode, sizeof(h->return_mode));
	r |= store_record_get_u64(rec, "ejection0", UINT64_MAX, &h->ejection_boottime_ns[0]);
	r |= store_record_get_u64(rec, "ejection1", UINT64_MAX, &h->ejection_boottime_ns[1]);
	r |= store_record_get_u64(rec, "ejection2", UINT64_MAX, &h->ejection_boottime_ns[2]);
	r |= store_record_get_u64(rec, "ejections", UINT64_MAX, &h->ejections_total);
	r |= store_record_check_all_read(rec);
	return r ? -EUCLEAN : 0;
}

int store_load_hold(const char *dir, const char *boot_id, struct store_hold *ret_hold, char **ret_aside)
{
	char stored_boot[STORE_BOOT_ID_MAX + 1];
	_cleanup_free_ char *body = NULL;
	struct store_hold hold = { 0 };
	struct store_record rec;
	char *end;
	int r;

	r = store_file_read(dir, hold_name, hold_kind, &body, ret_aside);
	if (r < 0)
		return r;
	end = strchr(body, '\n');
	if (!end || end[1])
		return store_file_set_aside(dir, hold_name, ret_aside);
	*end = '\0';
	r = store_record_parse(body, &rec);
	if (r == 0)
		r = get_hold(&rec, &hold, stored_boot, sizeof(stored_boot));
	if (r < 0)
		return store_file_set_aside(dir, hold_name, ret_aside);
	/* Holds survive a restart of the daemon, not a reboot. */
	if (strcmp(stored_boot, boot_id))
		return -ENOENT;
	*ret_hold = hold;
	return 0;
}
