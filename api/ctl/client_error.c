// SPDX-License-Identifier: GPL-2.0-or-later
/* client_error.c - grpc-status-details-bin: reason, fields at fault, when to try again */
#include <stdlib.h>
#include <string.h>

#include "api/ctl/client.h"
#include "daemon/base/cleanup.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"

static ProtobufCMessage *unpack_any(const Google__Protobuf__Any *any, const ProtobufCMessageDescriptor *type)
{
	const char *slash = any->type_url ? strrchr(any->type_url, '/') : NULL;

	if (!slash || strcmp(slash + 1, type->name) != 0)
		return NULL;
	return protobuf_c_message_unpack(type, NULL, any->value.len, any->value.data);
}

static void add_details(const Google__Rpc__BadRequest *bad, struct client_error *e)
{
	struct client_detail *grown;
	size_t i;

	grown = reallocarray(e->details, e->nr_details + bad->n_field_violations + 1, sizeof(*grown));
	if (!grown)
		return;
	e->details = grown;
	for (i = 0; i < bad->n_field_violations; i++) {
		e->details[e->nr_details].field = strdup(bad->field_violations[i]->field);
		e->details[e->nr_details++].description = strdup(bad->field_violations[i]->description);
	}
}

static void read_any(const Google__Protobuf__Any *any, struct client_error *e)
{
	ProtobufCMessage *m;

	m = unpack_any(any, &google__rpc__error_info__descriptor);
	if (m) {
		free(e->reason);
		e->reason = strdup(((Google__Rpc__ErrorInfo *)m)->reason);
		protobuf_c_message_free_unpacked(m, NULL);
		return;
	}
	m = unpack_any(any, &google__rpc__bad_request__descriptor);
	if (m) {
		add_details((Google__Rpc__BadRequest *)m, e);
		protobuf_c_message_free_unpacked(m, NULL);
		return;
	}
	m = unpack_any(any, &google__rpc__retry_info__descriptor);
	if (m) {
		const Google__Protobuf__Duration *delay = ((Google__Rpc__RetryInfo *)m)->retry_delay;

		if (delay && delay->seconds >= 0 && delay->seconds < 86400 && delay->nanos >= 0)
			e->retry_ns = (uint64_t)delay->seconds * 1000000000u + (uint64_t)delay->nanos;
		protobuf_c_message_free_unpacked(m, NULL);
	}
}

void client_read_details(const uint8_t *data, size_t length, struct client_error *ret_error)
{
	Google__Rpc__Status *status = google__rpc__status__unpack(NULL, length, data);
	size_t i;

	if (!status)
		return;
	for (i = 0; i < status->n_details; i++)
		read_any(status->details[i], ret_error);
	google__rpc__status__free_unpacked(status, NULL);
}

void client_error_free(struct client_error *e)
{
	size_t i;

	for (i = 0; i < e->nr_details; i++) {
		free(e->details[i].field);
		free(e->details[i].description);
	}
	free(e->details);
	free(e->message);
	free(e->reason);
	*e = (struct client_error){ 0 };
}
