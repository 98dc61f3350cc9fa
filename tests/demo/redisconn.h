/* SPDX-License-Identifier: GPL-2.0-or-later */
/* redisconn.h - one pipelined connection to redis that asks what two sets have in common */
#ifndef DEMO_REDISCONN_H
#define DEMO_REDISCONN_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	RC_SETS = 8,		/* filled before the run */
	RC_MAX_MEMBERS = 1000000,
	RC_FILL_AT_ONCE = 500,	/* members in one command */
	RC_PENDING = 8192,	/* power of two; requests on the way on one connection */
	RC_REQUEST_BYTES = 64,
	RC_OUT_BYTES = 65536,
};

struct redis_conn {
	int fd;
	int dead;			/* -errno that ended it, or 0 */
	unsigned int head, tail;	/* of pending: answered, sent */
	uint64_t intended_ns[RC_PENDING];
	unsigned int line_seen;		/* bytes of the reply at head that have arrived */
	unsigned int out_len;
	char out[RC_OUT_BYTES];
};

typedef void (*redis_reply_fn)(void *arg, uint64_t intended_ns, int ok);

static inline unsigned int redis_pending(const struct redis_conn *c)
{
	return c->tail - c->head;
}

static inline uint32_t redis_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* `where` is a path (starts with '/') or a TCP port on the loopback address. Returns fd or -errno. */
static inline int redis_open(const char *where)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(atoi(where)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int local = *where == '/', one = 1, fd, r;

	fd = socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", where);
	r = local ? connect(fd, (struct sockaddr *)&un, sizeof(un))
		  : connect(fd, (struct sockaddr *)&in, sizeof(in));
	if (r < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	if (!local)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* Blocking: one command, one line of answer that must begin with `want`. */
static inline int redis_command(int fd, const char *command, size_t len, char want)
{
	char line[128];
	ssize_t n;

	if (send(fd, command, len, MSG_NOSIGNAL) != (ssize_t)len)
		return -EIO;
	for (size_t have = 0; have < sizeof(line); have += n) {
		n = recv(fd, line + have, sizeof(line) - have, 0);
		if (n <= 0)
			return n ? -errno : -ECONNRESET;
		if (line[0] != want)
			return -EPROTO;
		if (line[have + n - 1] == '\n')
			return 0;
	}
	return -EPROTO;
}

/* The same sets in every run; two of them share about 40 % of their members. */
static inline int redis_fill(int fd, unsigned int members)
{
	static char buf[RC_FILL_AT_ONCE * 12 + RC_REQUEST_BYTES];
	uint64_t seed = 1;
	int r = redis_command(fd, "FLUSHALL\r\n", 10, '+');

	for (unsigned int set = 0; set < RC_SETS && r == 0; set++) {
		for (unsigned int done = 0; done < members && r == 0;) {
			int len = sprintf(buf, "SADD tag:%u", set);

			for (int i = 0; i < RC_FILL_AT_ONCE && done < members; i++, done++)
				len += sprintf(buf + len, " %u", redis_random(&seed) % (2 * members));
			len += sprintf(buf + len, "\r\n");
			r = redis_command(fd, buf, len, ':');
		}
	}
	return r;
}

static inline void redis_flush(struct redis_conn *c)
{
	ssize_t n;

	while (c->out_len && !c->dead) {
		n = send(c->fd, c->out, c->out_len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0) {
			if (errno != EAGAIN && errno != EINTR)
				c->dead = -errno;
			return;
		}
		c->out_len -= n;
		memmove(c->out, c->out + n, c->out_len);
	}
}

/* Queues one request and sends what the socket takes. -ENOBUFS: the connection is too far behind. */
static inline int redis_request(struct redis_conn *c, uint64_t *seed, uint64_t intended_ns)
{
	unsigned int a = redis_random(seed) % RC_SETS, b = (a + 1 + redis_random(seed) % (RC_SETS - 1)) % RC_SETS;

	if (c->dead)
		return c->dead;
	if (redis_pending(c) == RC_PENDING || c->out_len + RC_REQUEST_BYTES > RC_OUT_BYTES)
		return -ENOBUFS;
	c->out_len += snprintf(c->out + c->out_len, RC_REQUEST_BYTES, "SINTERCARD 2 tag:%u tag:%u\r\n", a, b);
	c->intended_ns[c->tail++ % RC_PENDING] = intended_ns;
	redis_flush(c);
	return 0;
}

/* Every reply is one line, ":NUMBER"; anything else is an error of the service. Unasked bytes are -EPROTO. */
static inline int redis_take(struct redis_conn *c, const char *buf, size_t len, redis_reply_fn reply, void *arg)
{
	for (size_t i = 0; i < len; i++) {
		if (c->head == c->tail)
			return -EPROTO;
		if (!c->line_seen++ && buf[i] != ':')
			return -EPROTO;
		if (buf[i] != '\n')
			continue;
		c->line_seen = 0;
		reply(arg, c->intended_ns[c->head++ % RC_PENDING], 1);
	}
	return 0;
}

static inline void redis_receive(struct redis_conn *c, redis_reply_fn reply, void *arg)
{
	char buf[4096];
	ssize_t n;
	int r;

	n = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	r = n > 0 ? redis_take(c, buf, n, reply, arg) : n ? -errno : -ECONNRESET;
	if (r < 0)
		c->dead = r;
}

/* What a dead connection still owed is failed, once. */
static inline void redis_fail_pending(struct redis_conn *c, redis_reply_fn reply, void *arg)
{
	while (c->head != c->tail)
		reply(arg, c->intended_ns[c->head++ % RC_PENDING], 0);
}

#endif
