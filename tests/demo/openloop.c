// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * openloop.c - redis client that sends at fixed times, whatever the service does
 *
 * A client that waits for one reply before it sends the next request leaves out
 * exactly the requests that would have waited longest. Here the times to send are
 * drawn before the run, and latency counts from that time to the reply: delay of
 * the client itself, queueing in sockets and the service's own time are all in it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "clock.h"
#include "hist.h"
#include "redisconn.h"

enum {
	MAX_CONNS = 64,
	TIMEOUT_NS = 2000000000,	/* a reply later than this is lost to its user */
	MAX_REQUESTS = 50000000,
};

struct options {
	const char *where;
	unsigned int conns;
	unsigned int members;		/* of each set: the work in one request */
	double rate;			/* requests per second; 0: closed loop */
	double warmup_s, seconds;
	int constant;
	uint64_t seed;
	uint64_t start_ns;		/* of the measured part */
};

struct client {
	const struct options *opt;
	int epoll_fd;
	struct redis_conn *conns;
	uint64_t set_seed;
	uint64_t *send_ns;		/* the schedule */
	unsigned int nr_send, next, first_measured;
	uint64_t now_ns;		/* when the replies being taken were read */
	uint64_t end_ns;
	uint64_t errors, timeouts, answered;
	struct hist latency;
};

static double random_unit(uint64_t *seed)
{
	return (redis_random(seed) + 0.5) / (UINT64_C(1) << 31);
}

/* Exponential with mean 1 by comparisons only (von Neumann, 1951): no mathematics library, same on every machine. */
static double random_exponential(uint64_t *seed)
{
	for (double whole = 0;; whole++) {
		double first = random_unit(seed), last = first, u;
		int run = 1;

		while ((u = random_unit(seed)) < last) {
			last = u;
			run++;
		}
		if (run & 1)
			return whole + first;
	}
}

static int schedule_draw(struct client *cl)
{
	const struct options *o = cl->opt;
	double gap_ns = NSEC_PER_SEC / o->rate, at = 0, span = (o->warmup_s + o->seconds) * NSEC_PER_SEC;
	uint64_t begin = o->start_ns - (uint64_t)(o->warmup_s * NSEC_PER_SEC), seed = o->seed;
	size_t cap = o->rate * (o->warmup_s + o->seconds) * 1.5 + 1000;

	if (cap > MAX_REQUESTS)
		return -E2BIG;
	cl->send_ns = malloc(cap * sizeof(*cl->send_ns));
	if (!cl->send_ns)
		return -ENOMEM;
	while (cl->nr_send < cap) {
		at += gap_ns * (o->constant ? 1 : random_exponential(&seed));
		if (at >= span)
			break;
		if (begin + (uint64_t)at < o->start_ns)
			cl->first_measured++;
		cl->send_ns[cl->nr_send++] = begin + (uint64_t)at;
	}
	return 0;
}

/* The reply to a request, or the news that there will be none. */
static void client_reply(void *arg, uint64_t intended_ns, int ok)
{
	struct client *cl = arg;
	uint64_t latency_ns = cl->now_ns - intended_ns;

	if (intended_ns < cl->opt->start_ns)
		return;
	if (!ok) {
		cl->errors++;
		return;
	}
	if (latency_ns > TIMEOUT_NS)
		cl->timeouts++;
	else
		cl->answered++;
	hist_add(&cl->latency, latency_ns);
}

static void client_drop(struct client *cl, struct redis_conn *c)
{
	fprintf(stderr, "openloop: connection lost: %s\n", strerror(-c->dead));
	redis_fail_pending(c, client_reply, cl);
	close(c->fd);
	c->fd = -1;
}

static int client_watch(struct client *cl, struct redis_conn *c, int op)
{
	struct epoll_event ev = { .events = EPOLLIN | (c->out_len ? EPOLLOUT : 0), .data.ptr = c };

	return epoll_ctl(cl->epoll_fd, op, c->fd, &ev) < 0 ? -errno : 0;
}

static int client_open(struct client *cl)
{
	const struct options *o = cl->opt;
	int r;

	cl->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	cl->conns = calloc(o->conns, sizeof(*cl->conns));
	if (cl->epoll_fd < 0 || !cl->conns)
		return -ENOMEM;
	for (unsigned int i = 0; i < o->conns; i++) {
		struct redis_conn *c = &cl->conns[i];

		c->fd = redis_open(o->where);
		if (c->fd < 0)
			return c->fd;
	}
	r = redis_fill(cl->conns[0].fd, o->members);
	for (unsigned int i = 0; i < o->conns && r == 0; i++)
		r = client_watch(cl, &cl->conns[i], EPOLL_CTL_ADD);
	return r;
}

static void client_send(struct client *cl, struct redis_conn *c, uint64_t intended_ns)
{
	unsigned int had = c->out_len;
	int r = c->fd < 0 ? -ENOTCONN : redis_request(c, &cl->set_seed, intended_ns);

	if (r < 0)
		client_reply(cl, intended_ns, 0);
	else if (!had != !c->out_len)
		client_watch(cl, c, EPOLL_CTL_MOD);
	if (c->fd >= 0 && c->dead)
		client_drop(cl, c);
}

static void client_event(struct client *cl, struct redis_conn *c, uint32_t events)
{
	if (c->fd < 0)
		return;
	if (events & EPOLLOUT) {
		redis_flush(c);
		if (!c->out_len)
			client_watch(cl, c, EPOLL_CTL_MOD);
	}
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		redis_receive(c, client_reply, cl);
	if (c->dead)
		client_drop(cl, c);
}

static void client_wait(struct client *cl, uint64_t until_ns)
{
	struct epoll_event ev[MAX_CONNS];
	uint64_t now = clock_now_ns();
	struct timespec ts = clock_timespec(until_ns > now ? until_ns - now : 0);
	int n = epoll_pwait2(cl->epoll_fd, ev, MAX_CONNS, &ts, NULL);

	cl->now_ns = clock_now_ns();
	for (int i = 0; i < n; i++)
		client_event(cl, ev[i].data.ptr, ev[i].events);
}

static unsigned int client_pending(const struct client *cl)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < cl->opt->conns; i++)
		n += redis_pending(&cl->conns[i]);
	return n;
}

/* Requests without an answer count with the time they have waited: leaving them out would flatter the tail. */
static void client_expire(struct client *cl)
{
	cl->now_ns = clock_now_ns();
	for (unsigned int i = 0; i < cl->opt->conns; i++) {
		struct redis_conn *c = &cl->conns[i];

		for (; c->head != c->tail; c->head++) {
			uint64_t intended_ns = c->intended_ns[c->head % RC_PENDING];

			if (intended_ns < cl->opt->start_ns)
				continue;
			cl->timeouts++;
			hist_add(&cl->latency, cl->now_ns - intended_ns);
		}
	}
}

static void run_open(struct client *cl)
{
	uint64_t deadline_ns = cl->end_ns + TIMEOUT_NS;
	unsigned int turn = 0;

	while (cl->next < cl->nr_send || client_pending(cl)) {
		uint64_t now = clock_now_ns(), until_ns = deadline_ns;

		if (now >= deadline_ns)
			break;
		while (cl->next < cl->nr_send && cl->send_ns[cl->next] <= now)
			client_send(cl, &cl->conns[turn++ % cl->opt->conns], cl->send_ns[cl->next++]);
		if (cl->next < cl->nr_send)
			until_ns = cl->send_ns[cl->next];
		client_wait(cl, until_ns);
	}
	client_expire(cl);
}

/* What the service does alone: each connection sends again as soon as it was answered. */
static void run_closed(struct client *cl)
{
	for (uint64_t now; (now = clock_now_ns()) < cl->end_ns;) {
		for (unsigned int i = 0; i < cl->opt->conns; i++)
			if (!redis_pending(&cl->conns[i]))
				client_send(cl, &cl->conns[i], now);
		client_wait(cl, cl->end_ns);
	}
}

static void print_result(const struct client *cl)
{
	const struct options *o = cl->opt;
	const struct hist *h = &cl->latency;

	printf("requests=%u errors=%llu timeouts=%llu rate=%.0f p50_us=%.1f p99_us=%.1f p999_us=%.1f max_us=%.1f seed=%llu\n",
	       o->rate > 0 ? cl->nr_send - cl->first_measured : (unsigned int)cl->answered,
	       (unsigned long long)cl->errors, (unsigned long long)cl->timeouts, cl->answered / o->seconds,
	       hist_quantile(h, 500000) / 1e3, hist_quantile(h, 990000) / 1e3, hist_quantile(h, 999000) / 1e3,
	       h->max_ns / 1e3, (unsigned long long)o->seed);
}

static int usage(void)
{
	fputs("usage: openloop --connect PORT|/SOCKET (--rate R | --calibrate) [options]\n"
	      "  --rate R            requests per second, whatever the service does\n"
	      "  --calibrate         no rate: as many as the service answers\n"
	      "  --start-at SECONDS  measured part starts then (seconds since the epoch; default: after the warm-up)\n"
	      "  --warmup S          sent before, not counted (1)\n"
	      "  --seconds S         measured part (8)\n"
	      "  --connections N     (8)\n"
	      "  --members N         of each set: a request asks how many two sets have in common (2000)\n"
	      "  --constant          equal gaps instead of a Poisson process\n"
	      "  --seed N            of arrivals and of the sets asked for (1)\n", stderr);
	return 2;
}

enum { OPT_CONNECT = 1, OPT_RATE, OPT_CALIBRATE, OPT_START, OPT_WARMUP, OPT_SECONDS, OPT_CONNS, OPT_MEMBERS,
       OPT_CONSTANT, OPT_SEED };

static int option_set(struct options *o, int c, const char *arg, const char **start_at)
{
	switch (c) {
	case OPT_CONNECT: o->where = arg; return 0;
	case OPT_RATE: o->rate = strtod(arg, NULL); return o->rate > 0 ? 0 : -EINVAL;
	case OPT_CALIBRATE: o->rate = 0; return 0;
	case OPT_START: *start_at = arg; return 0;
	case OPT_WARMUP: o->warmup_s = strtod(arg, NULL); return 0;
	case OPT_SECONDS: o->seconds = strtod(arg, NULL); return 0;
	case OPT_CONNS: o->conns = atoi(arg); return 0;
	case OPT_MEMBERS: o->members = atoi(arg); return 0;
	case OPT_CONSTANT: o->constant = 1; return 0;
	case OPT_SEED: o->seed = strtoull(arg, NULL, 0); return 0;
	default: return -EINVAL;
	}
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "connect", required_argument, NULL, OPT_CONNECT },
		{ "rate", required_argument, NULL, OPT_RATE },
		{ "calibrate", no_argument, NULL, OPT_CALIBRATE },
		{ "start-at", required_argument, NULL, OPT_START },
		{ "warmup", required_argument, NULL, OPT_WARMUP },
		{ "seconds", required_argument, NULL, OPT_SECONDS },
		{ "connections", required_argument, NULL, OPT_CONNS },
		{ "members", required_argument, NULL, OPT_MEMBERS },
		{ "constant", no_argument, NULL, OPT_CONSTANT },
		{ "seed", required_argument, NULL, OPT_SEED },
		{ 0 },
	};
	const char *start_at = NULL;
	int c;

	o->rate = -1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option_set(o, c, optarg, &start_at) < 0)
			return -EINVAL;
	if (optind != argc || !o->where || o->rate < 0 || o->seconds <= 0 || o->warmup_s < 0)
		return -EINVAL;
	if (o->conns < 1 || o->conns > MAX_CONNS || o->members < 1 || o->members > RC_MAX_MEMBERS)
		return -EINVAL;
	o->start_ns = start_at ? clock_mono_from_epoch(start_at) : 0;
	return 0;
}

int main(int argc, char **argv)
{
	struct options opt = { .conns = 8, .members = 2000, .warmup_s = 1, .seconds = 8, .seed = 1 };
	static struct client cl;
	int r;

	if (parse(argc, argv, &opt) < 0)
		return usage();
	cl.opt = &opt;
	cl.set_seed = opt.seed;
	prctl(PR_SET_TIMERSLACK, 1);
	r = client_open(&cl);
	if (r < 0) {
		fprintf(stderr, "openloop: cannot use redis at %s: %s\n", opt.where, strerror(-r));
		return 1;
	}
	if (!opt.start_ns)
		opt.start_ns = clock_now_ns() + (uint64_t)(opt.warmup_s * NSEC_PER_SEC);
	else if (clock_now_ns() + (uint64_t)(opt.warmup_s * NSEC_PER_SEC) > opt.start_ns) {
		fputs("openloop: the sets were not filled in time for --start-at: the machine is too slow or too busy\n", stderr);
		return 1;
	}
	cl.end_ns = opt.start_ns + (uint64_t)(opt.seconds * NSEC_PER_SEC);
	if (opt.rate > 0 && (r = schedule_draw(&cl)) < 0) {
		fprintf(stderr, "openloop: cannot draw the schedule: %s\n", strerror(-r));
		return 1;
	}
	if (mlockall(MCL_CURRENT) < 0)
		perror("openloop: memory stays unlocked, page faults may show in the tail");
	if (opt.rate > 0)
		run_open(&cl);
	else
		run_closed(&cl);
	print_result(&cl);
	return 0;
}
