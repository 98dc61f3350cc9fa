/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_private.h - connections, calls and the queue between the files of the server; loop thread unless said */
#ifndef SCHEDD_API_SERVER_PRIVATE_H
#define SCHEDD_API_SERVER_PRIVATE_H

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <pthread.h>
#include <stdatomic.h>

#include "api/health.h"
#include "api/reason.h"
#include "api/reflection.h"
#include "api/server.h"

enum {
	SERVER_ACCEPTS_PER_TURN = 16,
	SERVER_COMMANDS_PER_TURN = 64,
	SERVER_TAGS_PER_TURN = 256,
	SERVER_CONNS_MAX = 256,
	SERVER_CONNS_PER_UID = 64,
	SERVER_STREAMS_PER_CONN = 64,
	SERVER_STREAMS_MAX = 64,           /* health watches and reflection streams, all together */
	SERVER_QUEUE_MAX = 512,            /* commands that wait; those who only view may fill half of it */
	SERVER_WAITING_MAX = 256,          /* answers that wait for what was ordered */
	SERVER_MESSAGE_MAX = 256 * 1024,
	SERVER_METADATA_MAX = 8192,
	SERVER_IDLE_MS = 300000,           /* a connection without a call */
	SERVER_HALF_OPEN_US = 10000000,    /* a connection on which no call began */
	SERVER_RECEIVE_US = 10000000,      /* a call whose request does not come */
	SERVER_REFLECT_US = 60000000,      /* a reflection stream on which nothing is asked */
	SERVER_SECOND_LOOK_US = 500000,           /* before a half-open connection is closed */
	SERVER_QUEUE_WAIT_S = 5,           /* the queue thread's longest sleep */
	SERVER_ANSWER_EARLY_US = 10000,    /* before a deadline, so that our words come before the client's own */
	SERVER_WATCH_WINDOW_US = 10000,    /* events to all readers together: that many in that time */
	SERVER_WATCH_PER_WINDOW = 100,
};

/* What the completion queue gives back.  One is never in flight twice. */
struct tag {
	void (*fn)(struct tag *tag, bool ok);
	struct tag *next;
	bool ok;
};

/* RPC_WATCH is a command whose reply is a stream. */
enum rpc_kind { RPC_UNKNOWN, RPC_COMMAND, RPC_WATCH, RPC_HEALTH_CHECK, RPC_HEALTH_LIST, RPC_HEALTH_WATCH, RPC_REFLECTION };

struct conn {
	struct api_server *server;
	struct conn *prev, *next;
	grpc_server *grpc;
	struct command_caller caller;
	/* Ours beside the descriptor that gRPC owns: tells of the peer's end, and can cut the connection. */
	int fd;
	sd_event_source *hangup, *timer;
	struct rpc *rpcs;                  /* begun and not freed */
	unsigned int refs;                 /* 1 until gRPC's server is destroyed + armed request + calls */
	bool begun;                        /* a call came */
	bool looked_again;                 /* the half-open timer fired once */
	bool closing;
	struct tag t_shutdown;
};

struct rpc {
	struct conn *conn;
	struct rpc *prev, *next;           /* of the connection */
	struct rpc *queue_next;
	struct rpc *wait_prev, *wait_next;
	bool waiting;                      /* run, and answered later: */
	struct command_wait wait;
	uint64_t wait_until_us;            /* UINT64_MAX = no deadline */
	enum rpc_kind kind;
	enum command_type type;            /* RPC_COMMAND, RPC_WATCH */
	grpc_call *call;
	grpc_call_details details;
	grpc_metadata_array metadata;
	grpc_byte_buffer *request;
	unsigned int refs;                 /* 1 until the status is sent + batches in flight */
	int cancelled;
	bool closed;                       /* gRPC says that it is over */
	bool greeted;                      /* initial metadata is sent */
	bool sending, receiving;
	bool answered;                     /* the status is on its way: nothing more to say */
	bool counted_stream;
	uint64_t begin_us, deadline_us;    /* CLOCK_MONOTONIC; deadline UINT64_MAX = none */
	uint64_t receive_until_us;         /* 0 = not waiting for the client */
	enum health_service service;
	enum health_state sent_state;
	struct event_stream *stream;       /* RPC_WATCH, from its run to its status */
	struct tag t_new, t_close, t_receive, t_send, t_status;
};

struct api_server {
	sd_event *event;
	const struct api_server_ops *ops;
	void *ctx;
	int listen_fd, wake_fd;
	sd_event_source *listen, *wake, *run, *resume;
	grpc_completion_queue *cq;
	grpc_server_credentials *credentials;
	struct reflection *reflection;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;              /* guards ready and ready_tail */
	struct tag *ready, **ready_tail;
	_Atomic uint64_t turns;
	struct conn *conns;
	uint32_t nr_conns, nr_rpcs, nr_streams;
	struct rpc *queue, **queue_tail;
	struct rpc *waiting;
	uint32_t nr_waiting;
	sd_event_source *wait_timer;
	struct rpc *watches[EVENT_READERS_MAX]; /* those with a stream */
	uint32_t nr_watches, watch_turn, watch_sent;
	uint64_t watch_window_us;
	sd_event_source *watch_serve, *watch_timer;
	bool stopping;
	uint64_t refusal_logged_us;
	/* The limits above; a test sets smaller ones. */
	uint32_t queue_max, waiting_max;
	uint64_t half_open_us, receive_us, reflect_us;
	struct api_server_stats stats;
};

uint64_t server_now_us(void);

/* server_queue.c; the first may be called from any thread. */
void server_push_tag(struct api_server *s, struct tag *tag, bool ok);
void server_handle_tags(struct api_server *s, unsigned int max);
int server_queue_start(struct api_server *s);
void server_queue_stop(struct api_server *s);

/* server_conn.c */
int server_accept_start(struct api_server *s);
void server_accept_stop(struct api_server *s);
void conn_close(struct conn *c, bool cut); /* cut: end its calls at once */
void conn_cut(struct conn *c);
void conn_unref(struct conn *c);
void conn_watch_receive(struct conn *c, uint64_t until_us);

/* server_rpc.c */
int rpc_arm(struct conn *c);
void rpc_unref(struct rpc *rpc);
void rpc_receive(struct rpc *rpc, uint64_t timeout_us);
void rpc_send(struct rpc *rpc, uint8_t *bytes, size_t size);      /* one message of a stream; bytes are taken */
void rpc_finish(struct rpc *rpc, uint8_t *bytes, size_t size);    /* OK, with the message unless NULL; taken */
void rpc_finish_status(struct rpc *rpc, const struct reply *reply);
void rpc_fail(struct rpc *rpc, enum command_status status, const char *reason, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The bytes of the request, once; NULL when there are none or no memory.  Free with free(). */
uint8_t *rpc_take_request(struct rpc *rpc, size_t *ret_size);

/* server_command.c */
void command_received(struct rpc *rpc);
void command_run_queue(struct api_server *s, unsigned int max);
void command_answer(struct rpc *rpc, struct reply *reply);

/* server_wait.c: calls that were run and are answered later */
int wait_start(struct api_server *s);
void wait_begin(struct rpc *rpc, const struct command_wait *wait);
void wait_closed(struct rpc *rpc); /* the client is gone */
void wait_stop(struct api_server *s); /* answers all */

/* server_stream.c: health and reflection */
void stream_received(struct rpc *rpc);
void stream_sent(struct rpc *rpc);
void stream_health_changed(struct api_server *s);

/* server_watch.c: streams of events */
int watch_start(struct api_server *s);
void watch_free(struct api_server *s);
void watch_begin(struct rpc *rpc, struct event_stream *stream); /* takes the stream */
void watch_sent(struct rpc *rpc);
void watch_closed(struct rpc *rpc);        /* the caller is gone, or the server stops */
void watch_wake(struct api_server *s);
void watch_stop(struct api_server *s);

static inline bool rpc_is_command(const struct rpc *rpc)
{
	return rpc->kind == RPC_COMMAND || rpc->kind == RPC_WATCH;
}

#define tag_owner(tag, type, member) ((type *)((char *)(tag) - offsetof(type, member)))

#endif
