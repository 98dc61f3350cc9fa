/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_fixture.h - a real gRPC server with a fake daemon behind it, and a client on the core API */
#ifndef SCHEDD_TEST_SERVER_FIXTURE_H
#define SCHEDD_TEST_SERVER_FIXTURE_H

#include "api/server_private.h"
#include "daemon/event_stream.h"
#include "google/rpc/status.pb-c.h"

enum { WAIT_MS = 10000, OTHER_UID = 65534 };

#define SCHEDULER "/schedd.v1alpha1.Scheduler/"

/* The server's loop runs in a thread of its own. */
struct fixture {
	char dir[64], path[96];
	pthread_t thread;
	struct api_server *server;
	sd_event *event;
	int stop_fd;
	struct state *model;           /* of the loop's thread, as the events */
	struct events *events;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* below: under the lock */
	bool started, hold;            /* hold: run() waits until it is false */
	unsigned int runs, holding;
	struct command_caller caller;
	bool pidfd_works;
	enum command_type type;
	char class_name[64];
	bool defer, there;             /* GrantCores waits until there, which resume() then finds */
	unsigned int resumes, deadlines;
	bool serving;
	gid_t admin;
	unsigned int to_append;        /* by the loop */
};

int server_setup(void **state);
int server_teardown(void **state);
int server_group_setup(void **state);    /* signals and gRPC, once for all tests */
int server_group_teardown(void **state);
void stop_server(struct fixture *f);
void set_hold(struct fixture *f, bool hold);
void wait_holding(struct fixture *f);
unsigned int runs_of(struct fixture *f);
void set_serving(struct fixture *f, bool serving);
void append_events(struct fixture *f, unsigned int n); /* done when it returns; each is some 300 bytes long */
void set_defer(struct fixture *f, bool defer);
void tell_waiting(struct fixture *f, bool there); /* the loop asks those that wait */
uint32_t waiting_of(struct fixture *f);
void wait_waiting(struct fixture *f, uint32_t wanted);

/* Until a number of the server is what it must become. */
void wait_stat(struct fixture *f, uint64_t (*get)(const struct api_server_stats *), uint64_t wanted);
uint64_t get_connections(const struct api_server_stats *s);

struct client {
	grpc_channel *channel;
	grpc_completion_queue *cq;
};

struct result {
	grpc_status_code code;
	char message[256];
	uint8_t *bytes;
	size_t size;
	bool has_message;
	Google__Rpc__Status *details;
};

/* A call in flight: its status, and one message at a time. */
struct call {
	struct client *client;
	grpc_call *call;
	grpc_metadata_array initial, trailing;
	grpc_status_code code;
	grpc_slice message;
	grpc_byte_buffer *received;
};

int connect_to(const char *path);
int connect_as(const char *path, uid_t uid, gid_t gid); /* -errno when this process may not */
bool ends(int fd);                                      /* the peer closes within the time a test may take */
void client_open(struct client *client, const struct fixture *f);
void client_open_fd(struct client *client, int fd, const grpc_arg *arg);
void client_close(struct client *client);

void call_begin(struct call *call, struct client *client, const char *method, int timeout_ms);
void call_send(struct call *call, const void *bytes, size_t size, bool end); /* bytes NULL: only the end */
bool call_receive(struct call *call, struct result *ret);                    /* false: the stream ended */
void call_end(struct call *call, struct result *ret);
void unary(struct client *client, const char *method, const void *bytes, size_t size, int timeout_ms,
	   struct result *ret);

void result_free(struct result *r);
void assert_status(const struct result *r, grpc_status_code code);
void assert_reason(const struct result *r, const char *reason);
Google__Protobuf__Any *find_detail(const struct result *r, const char *type);

#endif
