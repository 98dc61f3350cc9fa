/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http.c - /metrics, /healthz, /readyz and a status page over libmicrohttpd inside the loop
 *
 * Nobody is authenticated here, so everything a client can hold is bounded: the
 * number of connections, their memory, and the life of each, whatever it
 * sends or fails to read.
 */
#include "daemon/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/http_parse.h"

enum {
	MAX_CONNECTIONS = 32,
	MAX_CONNECTIONS_PER_ADDRESS = 16,
	CONNECTION_BYTES = 16384,
	LIFE_S = 10,
	REASON_BYTES = 256,
};

static const uint64_t RENDER_INTERVAL_US = 1000000, NEVER_US = UINT64_MAX;

struct http_connection {
	TAILQ_ENTRY(http_connection) entry;
	int fd;
	uint64_t end_us;
};

struct http_snapshot {
	struct MHD_Response *response; /* counted by libmicrohttpd: a slow reader keeps an old one alive */
	uint64_t made_us;
};

struct http {
	sd_event *event;
	sd_event_source *io, *timer;
	struct MHD_Daemon *mhd;
	const struct http_ops *ops;
	void *ctx;
	struct http_snapshot snapshots[METRICS_OPENMETRICS + 1];
	TAILQ_HEAD(, http_connection) connections; /* oldest first */
};

static uint64_t now_us(const struct http *h)
{
	uint64_t now = 0;

	sd_event_now(h->event, CLOCK_MONOTONIC, &now);
	return now;
}

/* ---------- responses ---------- */

static const char TYPE_PLAIN[] = "text/plain; charset=utf-8";
static const char TYPE_HTML[] = "text/html; charset=utf-8";

/* text is taken, also on failure. */
static struct MHD_Response *response_new(const char *type, char *text, size_t size)
{
	static const char *const headers[][2] = {
		/* Each scrape connects anew: a connection that is kept open could not be told from an attack. */
		{ MHD_HTTP_HEADER_CONNECTION, "close" },
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
		{ MHD_HTTP_HEADER_VARY, "Accept" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; "
					     "frame-ancestors 'none'" },
	};
	struct MHD_Response *response = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);

	if (!response) {
		free(text);
		return NULL;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	return response;
}

static enum MHD_Result reply_text(struct MHD_Connection *c, unsigned int status, const char *type, const char *text)
{
	char *copy = strdup(text);
	struct MHD_Response *response;
	enum MHD_Result result;

	if (!copy)
		return MHD_NO;
	response = response_new(type, copy, strlen(text));
	if (!response)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return result;
}

static int snapshot_refresh(struct http *h, enum metrics_format format)
{
	static const char *const types[] = {
		[METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	};
	struct http_snapshot *s = &h->snapshots[format];
	struct MHD_Response *response;
	uint64_t now = now_us(h);
	char *text = NULL;
	size_t size = 0;
	int r;

	if (s->response && now < s->made_us + RENDER_INTERVAL_US)
		return 0;
	r = h->ops->metrics(h->ctx, format, &text, &size);
	if (r < 0)
		return r;
	response = response_new(types[format], text, size);
	if (!response)
		return -ENOMEM;
	if (s->response)
		MHD_destroy_response(s->response);
	s->response = response;
	s->made_us = now;
	return 0;
}

static enum MHD_Result serve_metrics(struct http *h, struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	enum metrics_format format = http_choose_format(accept);
	char text[128];
	int r;

	r = snapshot_refresh(h, format);
	if (r < 0) {
		snprintf(text, sizeof(text), "the metrics could not be rendered: %s\n", strerrordesc_np(-r) ?: "unknown error");
		return reply_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, TYPE_PLAIN, text);
	}
	return MHD_queue_response(c, MHD_HTTP_OK, h->snapshots[format].response);
}

typedef bool (*probe_fn)(void *ctx, char *text, size_t size);

/* One line, whatever the reason holds. */
static bool probe(struct http *h, probe_fn fn, char *ret_line, size_t size)
{
	char text[REASON_BYTES] = "";
	bool good = fn(h->ctx, text, sizeof(text));

	str_escape(ret_line, size, text);
	return good;
}

static enum MHD_Result serve_probe(struct http *h, struct MHD_Connection *c, probe_fn fn)
{
	char line[REASON_BYTES], text[REASON_BYTES + 1];
	bool good = probe(h, fn, line, sizeof(line));

	snprintf(text, sizeof(text), "%s\n", line);
	return reply_text(c, good ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, TYPE_PLAIN, text);
}

static enum MHD_Result serve_healthz(struct http *h, struct MHD_Connection *c)
{
	return serve_probe(h, c, h->ops->healthy);
}

static enum MHD_Result serve_readyz(struct http *h, struct MHD_Connection *c)
{
	return serve_probe(h, c, h->ops->ready);
}

static void put_html(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*text, out);
		}
}

static void put_probe_row(FILE *out, struct http *h, const char *path, probe_fn fn)
{
	char line[REASON_BYTES];
	bool good = probe(h, fn, line, sizeof(line));

	fprintf(out, "<tr><th><a href=\"%s\">%s</a></th><td>%s</td><td>", path, path, good ? "yes" : "NO");
	put_html(out, line);
	fputs("</td></tr>\n", out);
}

static enum MHD_Result serve_index(struct http *h, struct MHD_Connection *c)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return MHD_NO;
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>schedd</title></head><body>\n"
	      "<h1>schedd</h1>\n<table>\n",
	      out);
	put_probe_row(out, h, "/healthz", h->ops->healthy);
	put_probe_row(out, h, "/readyz", h->ops->ready);
	fputs("</table>\n<p><a href=\"/metrics\">/metrics</a>: schedd-metrics(7) explains each of them; "
	      "<code>schedctl status</code> says more.</p>\n</body></html>\n",
	      out);
	if (fclose(out) != 0)
		return MHD_NO;
	return reply_text(c, MHD_HTTP_OK, TYPE_HTML, text);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *url, const char *method,
				  const char *version, const char *upload, size_t *upload_size, void **request_ctx)
{
	static const struct {
		const char *path;
		enum MHD_Result (*serve)(struct http *h, struct MHD_Connection *c);
	} routes[] = {
		{ "/metrics", serve_metrics },
		{ "/healthz", serve_healthz },
		{ "/readyz", serve_readyz },
		{ "/", serve_index },
	};

	(void)version, (void)upload, (void)upload_size, (void)request_ctx;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (strcmp(url, routes[i].path) != 0)
			continue;
		if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
			return reply_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, TYPE_PLAIN, "only GET and HEAD are allowed\n");
		return routes[i].serve(cls, c);
	}
	return reply_text(c, MHD_HTTP_NOT_FOUND, TYPE_PLAIN, "there are /metrics, /healthz, /readyz and /\n");
}

/* ---------- connections and the loop ---------- */

static void on_connection(void *cls, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info;
	struct http_connection *connection = *context;
	struct http *h = cls;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (connection)
			TAILQ_REMOVE(&h->connections, connection, entry);
		free(connection);
		*context = NULL;
		return;
	}
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	connection = calloc(1, sizeof(*connection));
	*context = connection;
	if (!info || !connection) {
		/* Without a record it could stay for ever: end it now. */
		if (info)
			shutdown(info->connect_fd, SHUT_RDWR);
		free(connection);
		*context = NULL;
		return;
	}
	connection->fd = info->connect_fd;
	connection->end_us = now_us(h) + LIFE_S * 1000000ULL;
	TAILQ_INSERT_TAIL(&h->connections, connection, entry);
}

/* The library only measures silence; a client that sends a byte now and then would stay. */
static void end_old_connections(struct http *h)
{
	uint64_t now = now_us(h);
	struct http_connection *c;

	TAILQ_FOREACH(c, &h->connections, entry) {
		if (c->end_us > now)
			return;
		/* Closing is the library's: it sees the end of the stream and calls on_connection(). */
		shutdown(c->fd, SHUT_RDWR);
		c->end_us = NEVER_US;
	}
}

static int arm_timer(struct http *h)
{
	uint64_t next_us = NEVER_US;
	struct http_connection *c;
	uint64_t wait_ms;
	int r;

	TAILQ_FOREACH(c, &h->connections, entry)
		if (c->end_us < next_us)
			next_us = c->end_us;
	/* 0 also means input that was read already: the descriptor would not tell of it again. */
	if (MHD_get_timeout64(h->mhd, &wait_ms) == MHD_YES && now_us(h) + wait_ms * 1000 < next_us)
		next_us = now_us(h) + wait_ms * 1000;
	if (next_us == NEVER_US)
		return sd_event_source_set_enabled(h->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time(h->timer, next_us);
	return r < 0 ? r : sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
}

static int turn(struct http *h)
{
	end_old_connections(h);
	MHD_run(h->mhd);
	return arm_timer(h);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source, (void)fd, (void)events;
	return turn(userdata);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source, (void)usec;
	return turn(userdata);
}

/* ---------- start and end ---------- */

static int open_socket(const struct http_address *a, int *ret_fd)
{
	int v6only = !a->any, one = 1, family = a->sockaddr.ss_family;
	_cleanup_close_ int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0)
		return -errno;
	if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only)) < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&a->sockaddr, a->size) < 0 || listen(fd, MAX_CONNECTIONS) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int open_listen(const char *listen, int *ret_fd)
{
	struct http_address address;
	int r;

	r = http_parse_listen(listen, &address);
	if (r < 0)
		return r;
	r = open_socket(&address, ret_fd);
	/* All addresses on a machine without IPv6: those of IPv4. */
	if (address.any && (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)) {
		in_port_t port = ((struct sockaddr_in6 *)&address.sockaddr)->sin6_port;

		address.sockaddr = (struct sockaddr_storage){};
		*(struct sockaddr_in *)&address.sockaddr = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
		address.size = sizeof(struct sockaddr_in);
		r = open_socket(&address, ret_fd);
	}
	return r;
}

static int start_mhd(struct http *h, int listen_fd)
{
	/* If this fails, listen_fd belongs to the library all the same. */
	h->mhd = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_THREAD_SAFETY, 0, NULL, NULL, on_request, h,
				  MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listen_fd,
				  MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS,
				  MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS_PER_ADDRESS,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				  MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)LIFE_S,
				  MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
				  MHD_OPTION_END);
	return h->mhd ? 0 : -ENOMEM;
}

static int watch_mhd(struct http *h)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	int r;

	if (!info)
		return -EOPNOTSUPP;
	r = sd_event_add_io(h->event, &h->io, info->epoll_fd, EPOLLIN, on_io, h);
	if (r < 0)
		return r;
	r = sd_event_add_time(h->event, &h->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, h);
	if (r < 0)
		return r;
	/* Metrics never delay what the scheduler or a caller waits for. */
	r = sd_event_source_set_priority(h->io, SD_EVENT_PRIORITY_NORMAL + 10);
	if (r < 0)
		return r;
	r = sd_event_source_set_priority(h->timer, SD_EVENT_PRIORITY_NORMAL + 10);
	return r < 0 ? r : arm_timer(h);
}

static void http_cleanup(struct http **h)
{
	http_free(*h);
}

int http_new(sd_event *event, const char *listen, const struct http_ops *ops, void *ctx, struct http **ret_http)
{
	_cleanup_(http_cleanup) struct http *h = calloc(1, sizeof(*h));
	int listen_fd, r;

	if (!h)
		return -ENOMEM;
	TAILQ_INIT(&h->connections);
	h->event = sd_event_ref(event);
	h->ops = ops;
	h->ctx = ctx;
	r = open_listen(listen, &listen_fd);
	if (r < 0)
		return r;
	r = start_mhd(h, listen_fd);
	if (r < 0)
		return r;
	r = watch_mhd(h);
	if (r < 0)
		return r;
	*ret_http = TAKE_PTR(h);
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	sd_event_source_disable_unref(h->io);
	sd_event_source_disable_unref(h->timer);
	if (h->mhd)
		MHD_stop_daemon(h->mhd);
	for (size_t i = 0; i < ARRAY_SIZE(h->snapshots); i++)
		if (h->snapshots[i].response)
			MHD_destroy_response(h->snapshots[i].response);
	sd_event_unref(h->event);
	free(h);
}
