/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_http_parse.c - listen addresses and Accept headers, also nonsense */
#include "daemon/http_parse.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <arpa/inet.h>
#include <cmocka.h>

#include "daemon/base/cleanup.h"

static const char PROMETHEUS_2[] = "application/openmetrics-text;version=1.0.0;q=0.5,"
				   "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
static const char PROMETHEUS_3[] =
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"
	"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
	"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";

static const struct {
	const char *accept;
	enum metrics_format format;
} accepts[] = {
	{ NULL, METRICS_TEXT },
	{ "", METRICS_TEXT },
	{ "*/*", METRICS_TEXT },
	{ "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", METRICS_TEXT },
	{ PROMETHEUS_2, METRICS_OPENMETRICS },
	{ PROMETHEUS_3, METRICS_OPENMETRICS },
	{ "application/openmetrics-text", METRICS_OPENMETRICS },
	{ "application/openmetrics-text; version=\"1.0.0\"", METRICS_OPENMETRICS },
	{ "Application/OpenMetrics-Text ; Version=1.0.0 ; Q=0.1", METRICS_OPENMETRICS },
	{ "application/openmetrics-text; version=0.0.1", METRICS_TEXT },
	{ "application/openmetrics-text; version=2.0.0", METRICS_TEXT },
	{ "application/openmetrics-text; q=0", METRICS_TEXT },
	{ "application/openmetrics-text; q=0.000", METRICS_TEXT },
	{ "application/openmetrics-text; q=nonsense", METRICS_TEXT },
	{ "application/openmetrics-text; q=0.5, text/plain; q=0.6", METRICS_TEXT },
	{ "application/openmetrics-text; q=0.6, text/plain; q=0.5", METRICS_OPENMETRICS },
	{ "application/openmetrics-text, text/plain", METRICS_TEXT },
	{ "text/plain; version=0.0.4; q=0.1, application/openmetrics-text; version=1.0.0; q=0.101", METRICS_OPENMETRICS },
	{ "text/plain; note=\"a,b;q=1\"; q=0.1, application/openmetrics-text; q=0.2", METRICS_OPENMETRICS },
	{ ",,;;q=1,application/openmetrics-text", METRICS_OPENMETRICS },
	{ "application/openmetrics-textual", METRICS_TEXT },
};

static void test_accept(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(accepts); i++)
		if (http_choose_format(accepts[i].accept) != accepts[i].format)
			fail_msg("wrong format for: %s", accepts[i].accept);
}

static const struct {
	const char *listen, *host; /* host NULL: refused; "*": any */
	unsigned int port;
} listens[] = {
	{ "127.0.0.1:9770", "127.0.0.1", 9770 },
	{ "localhost:1", "127.0.0.1", 1 },
	{ "0.0.0.0:80", "0.0.0.0", 80 },
	{ "[::1]:9770", "::1", 9770 },
	{ "[::]:65535", "::", 65535 },
	{ "[fe80::1%lo]:9770", "fe80::1", 9770 },
	{ ":9770", "*", 9770 },
	{ ":0", "*", 0 },
	{ "", NULL, 0 },
	{ ":", NULL, 0 },
	{ "9770", NULL, 0 },
	{ "127.0.0.1", NULL, 0 },
	{ "127.0.0.1:", NULL, 0 },
	{ "127.0.0.1:65536", NULL, 0 },
	{ "127.0.0.1:-1", NULL, 0 },
	{ "127.0.0.1:+1", NULL, 0 },
	{ "127.0.0.1: 1", NULL, 0 },
	{ "127.0.0.1:1 ", NULL, 0 },
	{ "127.0.0.1:http", NULL, 0 },
	{ "127.0.0.1:1:2", NULL, 0 },
	{ "256.0.0.1:1", NULL, 0 },
	{ "0x7f.1:1", NULL, 0 },
	{ "::1:9770", NULL, 0 },
	{ "[::1]", NULL, 0 },
	{ "[::1]9770", NULL, 0 },
	{ "[::1", NULL, 0 },
	{ "[]:9770", NULL, 0 },
	{ "[127.0.0.1]:9770", NULL, 0 },
	{ "[::1%nothing-like-this]:9770", NULL, 0 },
	{ "example.org:9770", NULL, 0 },
	{ "unix:/run/x", NULL, 0 },
};

static void check_address(const char *listen, const char *host, unsigned int port, const struct http_address *a)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&a->sockaddr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&a->sockaddr;
	bool v6 = a->sockaddr.ss_family == AF_INET6;
	char text[INET6_ADDRSTRLEN];

	if (ntohs(v6 ? in6->sin6_port : in->sin_port) != port)
		fail_msg("%s: wrong port", listen);
	inet_ntop(a->sockaddr.ss_family, v6 ? (const void *)&in6->sin6_addr : &in->sin_addr, text, sizeof(text));
	if (a->any != (strcmp(host, "*") == 0) || (!a->any && strcmp(text, host) != 0))
		fail_msg("%s: became %s", listen, text);
}

static void test_listen(void **state)
{
	struct http_address a;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(listens); i++) {
		int r = http_parse_listen(listens[i].listen, &a);

		if (r != (listens[i].host ? 0 : -EINVAL))
			fail_msg("%s: returned %d", listens[i].listen, r);
		if (listens[i].host)
			check_address(listens[i].listen, listens[i].host, listens[i].port, &a);
	}
}

static void test_listen_leaves_the_result_alone_on_failure(void **state)
{
	struct http_address a, before;

	(void)state;
	memset(&a, 0x5a, sizeof(a));
	memcpy(&before, &a, sizeof(a));
	for (size_t i = 0; i < ARRAY_SIZE(listens); i++)
		if (!listens[i].host)
			http_parse_listen(listens[i].listen, &a);
	assert_memory_equal(&a, &before, sizeof(a));
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
	return *seed;
}

/* Some bytes changed, cut or doubled; on the heap, so that a sanitizer sees a byte too far. */
static char *mutate(const char *text, uint64_t *seed)
{
	static const char bytes[] = "\",;=:[]% \t*/q01.9\x80\xff";
	size_t length = strlen(text), from = length ? next_random(seed) % length : 0;
	char *s = malloc(2 * length + 1);

	memcpy(s, text, length);
	if (next_random(seed) % 4 == 0)
		length = from;
	else if (next_random(seed) % 4 == 0)
		memcpy(s + length, text + from, length - from), length += length - from;
	for (unsigned int n = (unsigned int)(next_random(seed) % 4); n && length; n--)
		s[next_random(seed) % length] = bytes[next_random(seed) % (sizeof(bytes) - 1)];
	s[length] = '\0';
	return realloc(s, length + 1);
}

static void test_mutated_input(void **state)
{
	uint64_t seed = 88172645463325252ULL;

	(void)state;
	print_message("# seed %llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 20000; i++) {
		const char *accept = accepts[next_random(&seed) % ARRAY_SIZE(accepts)].accept;
		_cleanup_free_ char *a = mutate(accept ?: "", &seed);
		_cleanup_free_ char *l = mutate(listens[next_random(&seed) % ARRAY_SIZE(listens)].listen, &seed);
		struct http_address address;
		int r = http_parse_listen(l, &address);

		assert_true(r == 0 || r == -EINVAL);
		assert_true(http_choose_format(a) <= METRICS_OPENMETRICS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_listen),
		cmocka_unit_test(test_listen_leaves_the_result_alone_on_failure),
		cmocka_unit_test(test_mutated_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
