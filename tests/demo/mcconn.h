/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mcconn.h - one pipelined connection to memcached, text protocol, multi-key gets */
#ifndef DEMO_MCCONN_H
#define DEMO_MCCONN_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	MC_KEYS = 1000,		/* stored before the run */
	MC_KEY_BYTES = 10,	/* "key:000042": every reply has the same length */
	MC_MAX_GET = 64,	/* keys in one request */
	MC_MAX_VALUE = 4096,
	MC_STORE_AT_ONCE = 16,
	MC_PENDING = 8192,	/* power of two; requests on the way on one connection */
	MC_OUT_BYTES = 65536,
};

struct mc_shape {
	unsigned int keys_per_get;
	unsigned int value_bytes;
};

struct mc_conn {
	int fd;
	int dead;			/* -errno that ended it, or 0 */
	unsigned int head, tail;	/* of pending: answered, sent */
	uint64_t intended_ns[MC_PENDING];
	unsigned int reply_seen;	/* bytes of the reply at head that have arrived */
	unsigned int out_len;
	char out[MC_OUT_BYTES];
};

typedef void (*mc_reply_fn)(void *arg, uint64_t intended_ns, int ok);

static inline unsigned int mc_pending(const struct mc_conn *c)
{
	return c->tail - c->head;
}

static inline unsigned int mc_reply_bytes(const struct mc_shape *s)
{
	unsigned int header = snprintf(NULL, 0, "VALUE key:%06u 0 %u\r\n", 0u, s->value_bytes);

	return s->keys_per_get * (header + s->value_bytes + 2) + strlen("END\r\n");
}

/* `where` is a path (starts with '/') or a TCP port on the loopback address. Returns fd or -errno. */
static inline int mc_open(const char *where)
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

/* Blocking; only before the run. Sixteen at a time: a busy machine takes long for each turn. */
static inline int mc_store_all(int fd, unsigned int value_bytes)
{
	static char buf[MC_STORE_AT_ONCE * (MC_MAX_VALUE + 64)];
	static const char stored[] = "STORED\r\n";
	ssize_t n, reply_bytes = sizeof(stored) - 1;

	for (unsigned int key = 0; key < MC_KEYS;) {
		unsigned int first = key, len = 0;

		for (; key < MC_KEYS && key < first + MC_STORE_AT_ONCE; key++) {
			len += snprintf(buf + len, 64, "set key:%06u 0 0 %u\r\n", key, value_bytes);
			memset(buf + len, 'a' + key % 26, value_bytes);
			memcpy(buf + len + value_bytes, "\r\n", 2);
			len += value_bytes + 2;
		}
		if (send(fd, buf, len, MSG_NOSIGNAL) != (ssize_t)len)
			return -EIO;
		for (; first < key; first++) {
			n = recv(fd, buf, reply_bytes, MSG_WAITALL);
			if (n < 0)
				return -errno;
			if (n != reply_bytes || memcmp(buf, stored, reply_bytes))
				return -EPROTO;
		}
	}
	return 0;
}

static inline void mc_flush(struct mc_conn *c)
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

static inline uint32_t mc_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Queues one request and sends what the socket takes. -ENOBUFS: the connection is too far behind. */
static inline int mc_request(struct mc_conn *c, const struct mc_shape *s, uint64_t *seed, uint64_t intended_ns)
{
	char *p = c->out + c->out_len;
	uint32_t key;

	if (c->dead)
		return c->dead;
	if (mc_pending(c) == MC_PENDING || c->out_len + 8 + s->keys_per_get * (MC_KEY_BYTES + 1) > MC_OUT_BYTES)
		return -ENOBUFS;
	memcpy(p, "get", 3);
	p += 3;
	for (unsigned int i = 0; i < s->keys_per_get; i++) {
		memcpy(p, " key:", 5);
		key = mc_random(seed) % MC_KEYS;
		for (int d = MC_KEY_BYTES; d > 4; d--, key /= 10)
			p[d] = '0' + key % 10;
		p += MC_KEY_BYTES + 1;
	}
	memcpy(p, "\r\n", 2);
	c->out_len = p + 2 - c->out;
	c->intended_ns[c->tail++ % MC_PENDING] = intended_ns;
	mc_flush(c);
	return 0;
}

/*
 * Replies have one length, so bytes are counted, not parsed: the client shares the
 * machine with what it measures. Begin and end of each are checked; one that does not
 * fit leaves the stream out of step, so it ends the connection.
 */
static inline int mc_take(struct mc_conn *c, unsigned int reply_bytes, const char *buf, size_t len,
			  mc_reply_fn reply, void *arg)
{
	static const char end[] = "\r\nEND\r\n";
	unsigned int n;

	while (len) {
		if (c->head == c->tail)
			return -EPROTO;
		n = reply_bytes - c->reply_seen;
		if (!c->reply_seen && *buf != 'V')
			return -EPROTO;
		if (len < n) {
			c->reply_seen += len;
			return 0;
		}
		if (n >= sizeof(end) - 1 && memcmp(buf + n - (sizeof(end) - 1), end, sizeof(end) - 1))
			return -EPROTO;
		if (buf[n - 1] != '\n')
			return -EPROTO;
		reply(arg, c->intended_ns[c->head++ % MC_PENDING], 1);
		c->reply_seen = 0;
		buf += n;
		len -= n;
	}
	return 0;
}

static inline void mc_receive(struct mc_conn *c, unsigned int reply_bytes, mc_reply_fn reply, void *arg)
{
	static char buf[65536];
	ssize_t n;
	int r;

	n = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	r = n > 0 ? mc_take(c, reply_bytes, buf, n, reply, arg) : n ? -errno : -ECONNRESET;
	if (r < 0)
		c->dead = r;
}

/* What a dead connection still owed is failed, once. */
static inline void mc_fail_pending(struct mc_conn *c, mc_reply_fn reply, void *arg)
{
	while (c->head != c->tail)
		reply(arg, c->intended_ns[c->head++ % MC_PENDING], 0);
}

#endif
