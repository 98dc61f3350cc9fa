/* SPDX-License-Identifier: GPL-2.0-or-later */
/* health.h - the messages of grpc.health.v1: bytes in, bytes out */
#ifndef SCHEDD_API_HEALTH_H
#define SCHEDD_API_HEALTH_H

#include <stddef.h>
#include <stdint.h>

enum health_service { HEALTH_OVERALL, HEALTH_SCHEDULER, HEALTH_OTHER };

/* Numbers of HealthCheckResponse.ServingStatus. */
enum health_state { HEALTH_UNSET = 0, HEALTH_SERVING = 1, HEALTH_NOT_SERVING = 2, HEALTH_SERVICE_UNKNOWN = 3 };

/* -EINVAL: not a HealthCheckRequest; -E2BIG: too much of one. */
int health_request_decode(const void *bytes, size_t size, enum health_service *ret_service);

/* -ENOMEM; free with free(). */
int health_response_encode(enum health_state state, uint8_t **ret_bytes, size_t *ret_size);
int health_list_encode(enum health_state overall, enum health_state scheduler, uint8_t **ret_bytes, size_t *ret_size);

#endif
