/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_parse.h - what the metrics server reads: its address from the config, Accept from a client.  Pure. */
#ifndef SCHEDD_HTTP_PARSE_H
#define SCHEDD_HTTP_PARSE_H

#include <sys/socket.h>

#include "daemon/metrics.h"

struct http_address {
	struct sockaddr_storage sockaddr;
	socklen_t size;
	bool any;                 /* no host was given: all addresses of both families */
};

/* Numbers and "localhost" only, so that nothing here waits for a name server.  -EINVAL. */
int http_parse_listen(const char *listen, struct http_address *ret_address);

/* OpenMetrics only for a client that names it with a higher q; NULL or nonsense gives text. */
enum metrics_format http_choose_format(const char *accept);

#endif
