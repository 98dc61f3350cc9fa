/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_page.c - page tokens of lists: kind, last id, checksum */
#include <stdio.h>
#include <string.h>

#include "daemon/base/str.h"
#include "daemon/command_private.h"

enum { CHECKSUM_DIGITS = 8 };

static uint32_t checksum(const char *s, size_t n)
{
	uint32_t h = UINT32_C(0x811c9dc5);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * UINT32_C(0x01000193);
	return h;
}

const char *page_token(struct reply *reply, char kind, const char *last_id)
{
	char body[64];
	int n = snprintf(body, sizeof(body), "%c%s", kind, last_id);

	return arena_printf(&reply->arena, "%s%08x", body, checksum(body, (size_t)n)) ?: "";
}

static bool token_is_ours(const char *token, size_t n, char kind)
{
	char sum[CHECKSUM_DIGITS + 1];

	if (n <= CHECKSUM_DIGITS + 1 || token[0] != kind)
		return false;
	n -= CHECKSUM_DIGITS;
	snprintf(sum, sizeof(sum), "%08x", checksum(token, n));
	return strcmp(sum, token + n) == 0;
}

enum command_status page_start(struct call *c, char kind, char *ret_last_id, size_t size)
{
	const char *token = c->cmd->page_token ?: "";
	size_t n = strlen(token);

	if (!n) {
		ret_last_id[0] = '\0';
		return COMMAND_OK;
	}
	if (!token_is_ours(token, n, kind) || n - CHECKSUM_DIGITS > size)
		return reply_fail(c->reply, COMMAND_INVALID_ARGUMENT, REASON(INVALID_PAGE_TOKEN),
				  "page_token `%s' is not one that %s gave; start again without a token",
				  reply_shown(c->reply, token), command_name(c->cmd->type));
	memcpy(ret_last_id, token + 1, n - CHECKSUM_DIGITS - 1);
	ret_last_id[n - CHECKSUM_DIGITS - 1] = '\0';
	return COMMAND_OK;
}
