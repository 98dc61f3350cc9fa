/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_parse.c - what the metrics server reads: its address from the config, Accept from a client */
#include "daemon/http_parse.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/str.h"

/* "host:port", "[v6]:port" or ":port": where each begins; a bare v6 address is ambiguous and refused. */
static int split_listen(const char *listen, char *ret_host, size_t size, const char **ret_port)
{
	const char *start = listen, *end, *colon;
	size_t length;

	if (listen[0] == '[') {
		start++;
		end = strchr(start, ']');
		if (!end || end == start || end[1] != ':' || !memchr(start, ':', (size_t)(end - start)))
			return -EINVAL;
		colon = end + 1;
	} else {
		end = colon = strchr(listen, ':');
		if (!colon || strchr(colon + 1, ':'))
			return -EINVAL;
	}
	length = (size_t)(end - start);
	if (length >= size)
		return -EINVAL;
	memcpy(ret_host, start, length);
	ret_host[length] = '\0';
	*ret_port = colon + 1;
	return 0;
}

int http_parse_listen(const char *listen, struct http_address *ret_address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE };
	struct http_address address = {};
	struct addrinfo *info = NULL;
	const char *port, *name;
	uint64_t number;
	char host[64];

	if (split_listen(listen, host, sizeof(host), &port) < 0 || str_parse_u64(port, UINT16_MAX, &number) < 0)
		return -EINVAL;
	name = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
	address.any = !host[0];
	/* inet_aton's short forms ("1", "0x7f.1") are a typo more often than meant. */
	hints.ai_family = address.any || listen[0] == '[' ? AF_INET6 : AF_INET;
	if (hints.ai_family == AF_INET && strspn(name, "0123456789.") != strlen(name))
		return -EINVAL;
	if (getaddrinfo(address.any ? NULL : name, port, &hints, &info) != 0)
		return -EINVAL;
	memcpy(&address.sockaddr, info->ai_addr, info->ai_addrlen);
	address.size = info->ai_addrlen;
	freeaddrinfo(info);
	*ret_address = address;
	return 0;
}

/* A piece of a header, not terminated. */
struct piece {
	const char *text;
	size_t length;
};

/* Cuts the next piece off at separator, without the blanks around it; quotes hide separators. */
static bool next_piece(struct piece *rest, char separator, struct piece *ret_piece)
{
	struct piece p = { rest->text, 0 };
	bool quoted = false;
	size_t i = 0;

	if (!rest->length)
		return false;
	for (; i < rest->length && (quoted || rest->text[i] != separator); i++)
		if (rest->text[i] == '"')
			quoted = !quoted;
	p.length = i;
	i += i < rest->length;
	rest->text += i;
	rest->length -= i;
	while (p.length && isspace((unsigned char)p.text[0]))
		p.text++, p.length--;
	while (p.length && isspace((unsigned char)p.text[p.length - 1]))
		p.length--;
	*ret_piece = p;
	return true;
}

static bool piece_is(const struct piece *p, const char *text)
{
	return p->length == strlen(text) && strncasecmp(p->text, text, p->length) == 0;
}

/* Thousandths; "0", "1", "0.5", "1.000".  What is none counts as 0: not wanted. */
static unsigned int parse_q(const struct piece *p)
{
	unsigned int q, scale = 100;

	if (!p->length || (p->text[0] != '0' && p->text[0] != '1') || (p->length > 1 && p->text[1] != '.'))
		return 0;
	q = (unsigned int)(p->text[0] - '0') * 1000;
	for (size_t i = 2; i < p->length; i++, scale /= 10) {
		if (!isdigit((unsigned char)p->text[i]))
			return 0;
		q += (unsigned int)(p->text[i] - '0') * scale;
	}
	return q > 1000 ? 1000 : q;
}

/* The q with which one media range wants type in version; 0 when it does not speak of it. */
static unsigned int range_wants(struct piece range, const char *type, const char *version)
{
	unsigned int q = 1000;
	struct piece p, name;

	if (!next_piece(&range, ';', &p) || !piece_is(&p, type))
		return 0;
	while (next_piece(&range, ';', &p)) {
		if (!next_piece(&p, '=', &name))
			continue;
		while (p.length && isspace((unsigned char)p.text[0]))
			p.text++, p.length--;
		if (p.length >= 2 && p.text[0] == '"' && p.text[p.length - 1] == '"')
			p.text++, p.length -= 2;
		if (piece_is(&name, "q"))
			q = parse_q(&p);
		else if (piece_is(&name, "version") && !piece_is(&p, version))
			return 0;
	}
	return q;
}

static unsigned int accept_wants(const char *accept, const char *type, const char *version)
{
	struct piece rest = { accept, strlen(accept) }, range;
	unsigned int best = 0, q;

	while (next_piece(&rest, ',', &range)) {
		q = range_wants(range, type, version);
		best = q > best ? q : best;
	}
	return best;
}

enum metrics_format http_choose_format(const char *accept)
{
	if (!accept)
		return METRICS_TEXT;
	return accept_wants(accept, "application/openmetrics-text", "1.0.0") > accept_wants(accept, "text/plain", "0.0.4") ?
		       METRICS_OPENMETRICS :
		       METRICS_TEXT;
}
