/* SPDX-License-Identifier: GPL-2.0-or-later */
/* health.c - the messages of grpc.health.v1: bytes in, bytes out */
#include "api/health.h"

#include <errno.h>
#include <string.h>

#include "api/codec_private.h"
#include "grpc/health/v1/health.pb-c.h"

#define SCHEDULER_SERVICE "schedd.v1alpha1.Scheduler"

int health_request_decode(const void *bytes, size_t size, enum health_service *ret_service)
{
	struct codec_memory memory = { .cap_bytes = CODEC_MEMORY_MAX };
	Grpc__Health__V1__HealthCheckRequest *m;

	m = codec_unpack(&memory, &grpc__health__v1__health_check_request__descriptor, bytes, size);
	if (!m)
		return memory.capped ? -E2BIG : -EINVAL;
	if (!*m->service)
		*ret_service = HEALTH_OVERALL;
	else
		*ret_service = strcmp(m->service, SCHEDULER_SERVICE) ? HEALTH_OTHER : HEALTH_SCHEDULER;
	codec_unpack_free(&memory, m);
	return 0;
}

static Grpc__Health__V1__HealthCheckResponse *encode_state(struct encoder *e, enum health_state state)
{
	Grpc__Health__V1__HealthCheckResponse *m =
		encode_message(e, &grpc__health__v1__health_check_response__descriptor);

	m->status = (Grpc__Health__V1__HealthCheckResponse__ServingStatus)state;
	return m;
}

int health_response_encode(enum health_state state, uint8_t **ret_bytes, size_t *ret_size)
{
	struct encoder e = {};

	return encode_finish(&e, &encode_state(&e, state)->base, ret_bytes, ret_size);
}

int health_list_encode(enum health_state overall, enum health_state scheduler, uint8_t **ret_bytes, size_t *ret_size)
{
	struct encoder e = {};
	Grpc__Health__V1__HealthListResponse *m =
		encode_message(&e, &grpc__health__v1__health_list_response__descriptor);

	m->statuses = encode_messages(&e, &grpc__health__v1__health_list_response__statuses_entry__descriptor, 2,
				      &m->n_statuses);
	for (size_t i = 0; i < m->n_statuses; i++) {
		m->statuses[i]->key = encode_text(&e, i == 0 ? "" : SCHEDULER_SERVICE);
		m->statuses[i]->value = encode_state(&e, i == 0 ? overall : scheduler);
	}
	return encode_finish(&e, &m->base, ret_bytes, ret_size);
}
