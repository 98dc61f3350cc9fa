/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http.h - /metrics, /healthz, /readyz and a status page over libmicrohttpd inside the loop
 *
 * No thread: libmicrohttpd's epoll descriptor is watched by the sd-event loop.
 */
#ifndef SCHEDD_HTTP_H
#define SCHEDD_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

#include "daemon/metrics.h"

struct http;

struct http_ops {
	/* The text of one format, made at most once a second; malloc()ed, freed by http. -errno */
	int (*metrics)(void *ctx, enum metrics_format format, char **ret_text, size_t *ret_size);
	/* One line of reason in text. */
	bool (*healthy)(void *ctx, char *text, size_t size);
	bool (*ready)(void *ctx, char *text, size_t size);
};

/* listen as in the config: "127.0.0.1:9770", "[::1]:9770", ":9770". -EADDRINUSE, -EINVAL, -errno. */
int http_new(sd_event *event, const char *listen, const struct http_ops *ops, void *ctx, struct http **ret_http);
void http_free(struct http *h);

#endif
