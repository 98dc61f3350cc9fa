/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_http.c - the metrics server over a real loopback socket, client and loop in one thread */
#include "daemon/http.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

enum { DEADLINE_MS = 5000 };

struct fixture {
	sd_event *event;
	struct http *http;
	uint16_t port;
	unsigned int renders[2];
	int metrics_result;
	bool healthy, ready;
	const char *reason;
	size_t metrics_bytes;      /* how long the text is padded */
};

static int fake_metrics(void *ctx, enum metrics_format format, char **ret_text, size_t *ret_size)
{
	struct fixture *f = ctx;
	size_t size = f->metrics_bytes > 64 ? f->metrics_bytes : 64;
	char *text;

	if (f->metrics_result < 0)
		return f->metrics_result;
	text = malloc(size);
	memset(text, '#', size);
	*ret_size = (size_t)snprintf(text, size, "%s %u\n", format == METRICS_TEXT ? "text" : "openmetrics",
				     ++f->renders[format]);
	if (f->metrics_bytes) {
		text[*ret_size] = '#';
		*ret_size = f->metrics_bytes;
	}
	*ret_text = text;
	return 0;
}

static bool fake_healthy(void *ctx, char *text, size_t size)
{
	struct fixture *f = ctx;

	snprintf(text, size, "%s", f->reason);
	return f->healthy;
}

static bool fake_ready(void *ctx, char *text, size_t size)
{
	struct fixture *f = ctx;

	snprintf(text, size, "%s", f->reason);
	return f->ready;
}

static const struct http_ops fake_ops = { fake_metrics, fake_healthy, fake_ready };

static uint16_t listening_port(const struct http *h)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_LISTEN_FD);
	struct sockaddr_in address;
	socklen_t size = sizeof(address);

	assert_int_equal(getsockname(info->listen_fd, (struct sockaddr *)&address, &size), 0);
	return ntohs(address.sin_port);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->reason = "all is well";
	f->healthy = f->ready = true;
	assert_int_equal(sd_event_new(&f->event), 0);
	assert_int_equal(http_new(f->event, "127.0.0.1:0", &fake_ops, f, &f->http), 0);
	f->port = listening_port(f->http);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	http_free(f->http);
	sd_event_unref(f->event);
	free(f);
	return 0;
}

static int client_connect(const struct fixture *f)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(f->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static uint64_t monotonic_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Runs the loop until the server has closed; what it sent, terminated. */
static char *client_read(struct fixture *f, int fd)
{
	uint64_t end = monotonic_ms() + DEADLINE_MS;
	size_t used = 0, size = 4096;
	char *text = malloc(size);

	for (;;) {
		ssize_t n = recv(fd, text + used, size - used - 1, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno == ECONNRESET))
			break;
		if (n > 0) {
			used += (size_t)n;
			if (size - used < 4096)
				text = realloc(text, size *= 2);
			continue;
		}
		if (monotonic_ms() > end)
			fail_msg("the server neither answered nor closed within %d ms", DEADLINE_MS);
		assert_true(sd_event_run(f->event, 10000) >= 0);
	}
	text[used] = '\0';
	return text;
}

static char *request(struct fixture *f, const char *text)
{
	_cleanup_close_ int fd = client_connect(f);

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	return client_read(f, fd);
}

static char *get(struct fixture *f, const char *path, const char *headers)
{
	char text[512];

	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, headers);
	return request(f, text);
}

static void assert_has(const char *text, const char *piece)
{
	if (!strstr(text, piece))
		fail_msg("missing: %s\nin: %s", piece, text);
}

static const char *body(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");

	assert_non_null(end);
	return end + 4;
}

static void test_metrics_in_both_formats(void **state)
{
	_cleanup_free_ char *text = get(*state, "/metrics", "");
	_cleanup_free_ char *open = get(*state, "/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n");

	assert_has(text, "HTTP/1.1 200 OK\r\n");
	assert_has(text, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
	assert_string_equal(body(text), "text 1\n");
	assert_has(open, "HTTP/1.1 200 OK\r\n");
	assert_has(open, "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
	assert_string_equal(body(open), "openmetrics 1\n");
}

static void test_one_render_a_second(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *last = NULL;

	for (int i = 0; i < 20; i++)
		free(get(f, "/metrics", ""));
	assert_int_equal(f->renders[METRICS_TEXT], 1);
	f->http->snapshots[METRICS_TEXT].made_us -= RENDER_INTERVAL_US;
	last = get(f, "/metrics", "");
	assert_string_equal(body(last), "text 2\n");
}

static void test_a_failed_render_is_said(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *bad = NULL, *good = NULL;

	f->metrics_result = -ENOMEM;
	bad = get(f, "/metrics", "");
	assert_has(bad, "HTTP/1.1 500 ");
	assert_string_equal(body(bad), "the metrics could not be rendered: Cannot allocate memory\n");
	f->metrics_result = 0;
	good = get(f, "/metrics", "");
	assert_string_equal(body(good), "text 1\n");
}

static void test_head_has_no_body(void **state)
{
	_cleanup_free_ char *answer = request(*state, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");

	assert_has(answer, "HTTP/1.1 200 OK\r\n");
	assert_has(answer, "Content-Length: 7\r\n");
	assert_string_equal(body(answer), "");
}

static void test_probes(void **state)
{
	static const char *const paths[] = { "/healthz", "/readyz" };
	struct fixture *f = *state;

	for (int path = 0; path < 2; path++)
		for (int good = 0; good < 2; good++) {
			_cleanup_free_ char *answer = NULL;

			f->healthy = path == 0 ? good : !good;
			f->ready = path == 1 ? good : !good;
			f->reason = "attached\nand more";
			answer = get(f, paths[path], "");
			assert_has(answer, good ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 503 ");
			assert_has(answer, "Content-Type: text/plain; charset=utf-8\r\n");
			assert_string_equal(body(answer), "attached\\x0aand more\n");
		}
}

static void test_index_escapes_and_forbids_scripts(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *answer = NULL;

	f->reason = "<script>alert(\"&'\")</script>";
	answer = get(f, "/", "");
	assert_has(answer, "Content-Type: text/html; charset=utf-8\r\n");
	assert_has(answer, "Content-Security-Policy: default-src 'none';");
	assert_has(answer, "X-Content-Type-Options: nosniff\r\n");
	assert_has(answer, "&lt;script&gt;alert(&quot;&amp;&#39;&quot;)&lt;/script&gt;");
	assert_null(strstr(answer, "<script>"));
}

static void test_other_paths_and_methods(void **state)
{
	static const struct {
		const char *request, *status;
	} cases[] = {
		{ "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 " },
		{ "GET /metrics/ HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 " },
		{ "GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 " },
		{ "GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 " },
		{ "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 405 " },
		{ "DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 " },
		{ "OPTIONS /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 " },
		{ "GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *answer = request(*state, cases[i].request);

		if (strncmp(answer, cases[i].status, strlen(cases[i].status)) != 0)
			fail_msg("%s was answered with %.20s", cases[i].request, answer);
		if (strstr(cases[i].status, "405"))
			assert_has(answer, "Allow: GET, HEAD\r\n");
	}
}

static void test_large_headers_are_refused(void **state)
{
	char text[CONNECTION_BYTES + 1024], *end = text;
	_cleanup_free_ char *answer = NULL;

	end += sprintf(text, "GET /metrics HTTP/1.1\r\nHost: x\r\nX: ");
	memset(end, 'a', sizeof(text) - (size_t)(end - text) - 5);
	strcpy(text + sizeof(text) - 5, "\r\n\r\n");
	answer = request(*state, text);
	/* Told so, or cut off; but never served. */
	assert_null(strstr(answer, "HTTP/1.1 200"));
}

/* As if LIFE_S had passed for every connection. */
static void end_all(struct fixture *f)
{
	struct http_connection *c;

	TAILQ_FOREACH(c, &f->http->connections, entry)
		c->end_us = 1;
	assert_true(arm_timer(f->http) >= 0);
}

static void test_a_slow_sender_is_ended(void **state)
{
	struct fixture *f = *state;
	_cleanup_close_ int fd = client_connect(f);
	_cleanup_free_ char *answer = NULL;

	while (TAILQ_EMPTY(&f->http->connections))
		assert_true(sd_event_run(f->event, DEADLINE_MS * 1000) > 0);
	assert_int_equal(send(fd, "GET /met", 8, MSG_NOSIGNAL), 8);
	assert_true(sd_event_run(f->event, DEADLINE_MS * 1000) > 0);
	end_all(f);
	answer = client_read(f, fd);
	assert_string_equal(answer, "");
	assert_true(TAILQ_EMPTY(&f->http->connections));
}

static void test_a_slow_reader_is_ended(void **state)
{
	struct fixture *f = *state;
	_cleanup_close_ int fd = client_connect(f);
	uint64_t end = monotonic_ms() + DEADLINE_MS;
	int small = 4096;

	f->metrics_bytes = 64 << 20; /* more than all socket buffers */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(send(fd, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 35, MSG_NOSIGNAL), 35);
	while (!f->renders[METRICS_TEXT] && monotonic_ms() < end)
		assert_true(sd_event_run(f->event, 10000) >= 0);
	assert_int_equal(f->renders[METRICS_TEXT], 1);
	end_all(f);
	while (!TAILQ_EMPTY(&f->http->connections) && monotonic_ms() < end)
		assert_true(sd_event_run(f->event, 10000) >= 0);
	assert_true(TAILQ_EMPTY(&f->http->connections));
}

static void test_connections_are_limited_and_come_back(void **state)
{
	int fds[MAX_CONNECTIONS_PER_ADDRESS + 8];
	struct fixture *f = *state;
	_cleanup_free_ char *answer = NULL;
	const struct http_connection *c;
	unsigned int open = 0;
	uint64_t end = monotonic_ms() + DEADLINE_MS;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = client_connect(f);
	while (sd_event_run(f->event, 100000) > 0 && monotonic_ms() < end)
		;
	TAILQ_FOREACH(c, &f->http->connections, entry)
		open++;
	assert_int_equal(open, MAX_CONNECTIONS_PER_ADDRESS);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	while (!TAILQ_EMPTY(&f->http->connections) && monotonic_ms() < end)
		assert_true(sd_event_run(f->event, 10000) >= 0);
	answer = get(f, "/healthz", "");
	assert_has(answer, "HTTP/1.1 200 OK\r\n");
}

static void test_a_port_in_use(void **state)
{
	struct fixture *f = *state;
	struct http *second = NULL;
	char listen[32];

	snprintf(listen, sizeof(listen), "127.0.0.1:%u", f->port);
	assert_int_equal(http_new(f->event, listen, &fake_ops, f, &second), -EADDRINUSE);
	assert_int_equal(http_new(f->event, "127.0.0.1", &fake_ops, f, &second), -EINVAL);
	assert_int_equal(http_new(f->event, "192.0.2.1:0", &fake_ops, f, &second), -EADDRNOTAVAIL);
	assert_null(second);
}

static void test_all_addresses(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *answer = NULL;

	http_free(f->http);
	f->http = NULL;
	assert_int_equal(http_new(f->event, ":0", &fake_ops, f, &f->http), 0);
	f->port = listening_port(f->http); /* the port is at the same place in both families */
	answer = get(f, "/healthz", "");
	assert_has(answer, "HTTP/1.1 200 OK\r\n");
}

static void test_the_socket_is_free_again(void **state)
{
	struct fixture *f = *state;
	char listen[32];

	free(get(f, "/healthz", ""));
	http_free(f->http);
	f->http = NULL;
	snprintf(listen, sizeof(listen), "127.0.0.1:%u", f->port);
	assert_int_equal(http_new(f->event, listen, &fake_ops, f, &f->http), 0);
}

/* Whatever comes: an answer or an end, and the next client is served. */
static void test_mutated_requests(void **state)
{
	static const char base[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text; "
				   "version=1.0.0;q=0.5\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
	uint64_t seed = 88172645463325252ULL;
	struct fixture *f = *state;
	_cleanup_free_ char *answer = NULL;

	print_message("# seed %llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 2000; i++) {
		_cleanup_close_ int fd = client_connect(f);
		char text[sizeof(base)];
		size_t size = sizeof(base) - 1;

		memcpy(text, base, sizeof(base));
		for (unsigned int n = 0; n <= i % 5; n++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			text[seed % size] = (char)(seed >> 32);
			if (seed >> 60 == 0)
				size = 1 + seed % size;
		}
		assert_true(send(fd, text, size, MSG_NOSIGNAL) > 0);
		shutdown(fd, SHUT_WR);
		while (sd_event_run(f->event, 0) > 0)
			;
		end_all(f);
		free(client_read(f, fd));
	}
	answer = get(f, "/healthz", "");
	assert_has(answer, "HTTP/1.1 200 OK\r\n");
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_metrics_in_both_formats),
		test(test_one_render_a_second),
		test(test_a_failed_render_is_said),
		test(test_head_has_no_body),
		test(test_probes),
		test(test_index_escapes_and_forbids_scripts),
		test(test_other_paths_and_methods),
		test(test_large_headers_are_refused),
		test(test_a_slow_sender_is_ended),
		test(test_a_slow_reader_is_ended),
		test(test_connections_are_limited_and_come_back),
		test(test_a_port_in_use),
		test(test_all_addresses),
		test(test_the_socket_is_free_again),
		test(test_mutated_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
