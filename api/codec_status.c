/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_status.c - what went wrong, as google.rpc.Status for the trailing metadata */
#include <string.h>

#include "api/codec_private.h"
#include "google/protobuf/any.pb-c.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"

enum { RETRY_DELAY_NS = 100000000, VIOLATIONS_MAX = 32, DESCRIPTION_MAX = 256, DETAILS_MAX = 3 };

#define TYPE_PREFIX "type.googleapis.com/"

char *codec_message_cut(char *dst, size_t size, const char *text)
{
	size_t n = strnlen(text, size);

	if (n == size) {
		n = size - 1;
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(dst, text, n);
	dst[n] = '\0';
	return dst;
}

static void add_detail(struct encoder *e, Google__Rpc__Status *status, const ProtobufCMessage *message)
{
	Google__Protobuf__Any *any = encode_message(e, &google__protobuf__any__descriptor);
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *bytes = arena_alloc(&e->arena, size + 1);
	char *url = arena_printf(&e->arena, TYPE_PREFIX "%s", message->descriptor->name);

	if (!bytes || !url) {
		e->failed = true;
		return;
	}
	protobuf_c_message_pack(message, bytes);
	any->type_url = url;
	any->value.data = bytes;
	any->value.len = size;
	status->details[status->n_details++] = any;
}

static void add_info(struct encoder *e, Google__Rpc__Status *status, const struct reply *reply)
{
	Google__Rpc__ErrorInfo *info = encode_message(e, &google__rpc__error_info__descriptor);

	info->reason = encode_text(e, reply->error_reason);
	info->domain = encode_text(e, "schedd.io");
	add_detail(e, status, &info->base);
}

static void add_retry(struct encoder *e, Google__Rpc__Status *status)
{
	Google__Rpc__RetryInfo *retry = encode_message(e, &google__rpc__retry_info__descriptor);

	retry->retry_delay = encode_duration(e, RETRY_DELAY_NS);
	add_detail(e, status, &retry->base);
}

/* As many as fit: a client drops a reply whose metadata is too long, and with it everything we say. */
static void add_violations(struct encoder *e, Google__Rpc__Status *status, const struct reply *reply)
{
	Google__Rpc__BadRequest *bad = encode_message(e, &google__rpc__bad_request__descriptor);
	size_t used = protobuf_c_message_get_packed_size(&status->base) + 128, n, i;
	char cut[DESCRIPTION_MAX];

	n = reply->nr_details < VIOLATIONS_MAX ? reply->nr_details : VIOLATIONS_MAX;
	bad->field_violations =
		encode_messages(e, &google__rpc__bad_request__field_violation__descriptor, n, &n);
	for (i = 0; i < n; i++) {
		Google__Rpc__BadRequest__FieldViolation *violation = bad->field_violations[i];

		codec_message_cut(cut, sizeof(cut), reply->details[i].field ? reply->details[i].field : "");
		violation->field = encode_text(e, cut);
		codec_message_cut(cut, sizeof(cut), reply->details[i].description ? reply->details[i].description : "");
		violation->description = encode_text(e, cut);
		used += protobuf_c_message_get_packed_size(&violation->base) + 4;
		if (used > CODEC_STATUS_MAX)
			break;
	}
	bad->n_field_violations = i;
	add_detail(e, status, &bad->base);
}

int codec_status_encode(const struct reply *reply, uint8_t **ret_bytes, size_t *ret_size)
{
	struct encoder e = {};
	Google__Rpc__Status *status = encode_message(&e, &google__rpc__status__descriptor);
	Google__Protobuf__Any *details[DETAILS_MAX];
	char text[CODEC_MESSAGE_MAX];

	status->code = (int32_t)reply->status;
	status->message = encode_text(&e, codec_message_cut(text, sizeof(text), reply->message ? reply->message : ""));
	status->details = details;
	add_info(&e, status, reply);
	if (reply->status == COMMAND_UNAVAILABLE)
		add_retry(&e, status);
	if (reply->nr_details)
		add_violations(&e, status, reply);
	return encode_finish(&e, &status->base, ret_bytes, ret_size);
}
