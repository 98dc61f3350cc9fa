/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_fixture.c - a real gRPC server with a fake daemon behind it, and a client on the core API */
#include "tests/unit/server_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_posix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "google/rpc/error_details.pb-c.h"

/* ---------- the fake daemon, its loop in a thread ---------- */

/* As the command does; without anything to read the call is answered like any other. */
static void fake_watch(struct fixture *f, const struct command *cmd, struct reply *reply)
{
	int r = cmd->watch.bookmark_ns == UINT64_C(86400000000000) ?
			0 :
			event_stream_new(f->model, f->events, &cmd->watch, &reply->stream);

	if (r == -ENOSPC)
		reply_fail(reply, COMMAND_RESOURCE_EXHAUSTED, "TOO_MANY_WATCHERS", "64");
	else if (r < 0)
		reply_fail(reply, COMMAND_OUT_OF_RANGE, "EVENTS_GONE", "gone");
}

static bool fake_next_event(void *ctx, struct event_stream *stream, struct event *ret_event, uint64_t *ret_again_us)
{
	uint64_t again_ns = 0;

	(void)ctx;
	if (event_stream_next(stream, &(struct event_times){ server_now_us() * 1000, 1, 1 }, ret_event, &again_ns))
		return true;
	*ret_again_us = again_ns / 1000 + 1;
	return false;
}

static void fake_close_events(void *ctx, struct event_stream *stream)
{
	(void)ctx;
	event_stream_free(stream);
}

static void fake_wake(void *ctx)
{
	struct fixture *f = ctx;

	api_server_events_changed(f->server);
}

static void fake_run(void *ctx, const struct command *cmd, struct reply *reply)
{
	struct fixture *f = ctx;
	struct pollfd ended = { .fd = cmd->caller.pidfd, .events = POLLIN };

	pthread_mutex_lock(&f->lock);
	f->runs++;
	f->holding++;
	f->caller = cmd->caller;
	f->pidfd_works = cmd->caller.pidfd >= 0 && poll(&ended, 1, 0) == 0;
	f->type = cmd->type;
	snprintf(f->class_name, sizeof(f->class_name), "%s", cmd->class_name);
	pthread_cond_broadcast(&f->changed);
	while (f->hold)
		pthread_cond_wait(&f->changed, &f->lock);
	f->holding--;
	if (f->defer && cmd->type == COMMAND_GRANT_CORES)
		reply->wait = (struct command_wait){ cmd->wait_for, "L1" };
	pthread_mutex_unlock(&f->lock);
	if (cmd->type == COMMAND_WATCH_EVENTS)
		fake_watch(f, cmd, reply);
	reply->node.mode = "auto";
	reply->node.online_cpus = 42;
	if (cmd->type == COMMAND_GET_CLASS) {
		struct detail_view *details = arena_array(&reply->arena, struct detail_view, 1);

		details[0] = (struct detail_view){ "class_name", "web-1" };
		reply_fail(reply, COMMAND_NOT_FOUND, "CLASS_NOT_FOUND", "no class \"%s\"", cmd->class_name);
		reply->details = details;
		reply->nr_details = 1;
	}
}

static bool fake_resume(void *ctx, const struct command_wait *wait, bool deadline_passed, struct reply *reply)
{
	struct fixture *f = ctx;
	bool there;

	pthread_mutex_lock(&f->lock);
	f->resumes++;
	f->deadlines += deadline_passed;
	there = f->there;
	pthread_mutex_unlock(&f->lock);
	if (there) {
		reply->leases = arena_new(&reply->arena, struct lease_view);
		reply->leases->id = arena_strdup(&reply->arena, wait->lease_id);
		reply->nr_leases = 1;
	} else if (deadline_passed) {
		reply_fail(reply, COMMAND_DEADLINE_EXCEEDED, "WAIT_DEADLINE", "the lease %s exists", wait->lease_id);
	}
	return there || deadline_passed;
}

static bool fake_serving(void *ctx)
{
	struct fixture *f = ctx;
	bool serving;

	pthread_mutex_lock(&f->lock);
	serving = f->serving;
	pthread_mutex_unlock(&f->lock);
	return serving;
}

static gid_t fake_admin(void *ctx)
{
	struct fixture *f = ctx;
	gid_t admin;

	pthread_mutex_lock(&f->lock);
	admin = f->admin;
	pthread_mutex_unlock(&f->lock);
	return admin;
}

static const struct api_server_ops fake_ops = {
	.run = fake_run,
	.resume = fake_resume,
	.scheduler_serving = fake_serving,
	.admin_group = fake_admin,
	.next_event = fake_next_event,
	.close_events = fake_close_events,
};

static void append_wanted(struct fixture *f)
{
	struct event e = { .type = EVENT_STATE_CHANGED, .state = { .from = "attached", .to = "detached" } };

	memset(e.state.message, 'x', EVENT_TEXT_MAX);
	pthread_mutex_lock(&f->lock);
	for (; f->to_append; f->to_append--)
		events_append(f->events, &e);
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

static int on_command(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct fixture *f = userdata;
	uint64_t what;

	(void)revents;
	assert_int_equal(read(fd, &what, sizeof(what)), sizeof(what));
	if (what >= 1000)
		return sd_event_exit(sd_event_source_get_event(source), 0);
	if (what % 100)
		api_server_health_changed(f->server);
	if (what / 100)
		api_server_resume(f->server);
	append_wanted(f);
	return 0;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(listen(fd, 512), 0);
	return fd;
}

static void *loop_main(void *arg)
{
	struct fixture *f = arg;
	sd_event_source *source = NULL;

	assert_return_code(sd_event_new(&f->event), 0);
	assert_return_code(state_new(2, &f->model), 0);
	assert_return_code(events_new("00000000000000aa", &f->events), 0);
	events_set_wake(f->events, fake_wake, f);
	assert_return_code(sd_event_add_io(f->event, &source, f->stop_fd, EPOLLIN, on_command, f), 0);
	assert_return_code(api_server_new(f->event, listen_at(f->path), &fake_ops, f, &f->server), 0);
	pthread_mutex_lock(&f->lock);
	f->started = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	sd_event_loop(f->event);
	api_server_free(f->server, 1000);
	events_free(f->events);
	state_free(f->model);
	sd_event_source_disable_unref(source);
	sd_event_unref(f->event);
	return NULL;
}

int server_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/schedd-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(chmod(f->dir, 0755), 0);
	snprintf(f->path, sizeof(f->path), "%s/sock", f->dir);
	f->stop_fd = eventfd(0, EFD_CLOEXEC);
	f->serving = true;
	f->admin = (gid_t)-1;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	assert_int_equal(pthread_create(&f->thread, NULL, loop_main, f), 0);
	pthread_mutex_lock(&f->lock);
	while (!f->started)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
	*state = f;
	return 0;
}

void stop_server(struct fixture *f)
{
	const uint64_t stop = 1000;

	if (f->stop_fd < 0)
		return;
	assert_int_equal(write(f->stop_fd, &stop, sizeof(stop)), sizeof(stop));
	pthread_join(f->thread, NULL);
	close(f->stop_fd);
	f->stop_fd = -1;
}

int server_teardown(void **state)
{
	struct fixture *f = *state;

	stop_server(f);
	unlink(f->path);
	rmdir(f->dir);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->changed);
	free(f);
	return 0;
}

void set_hold(struct fixture *f, bool hold)
{
	pthread_mutex_lock(&f->lock);
	f->hold = hold;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

void wait_holding(struct fixture *f)
{
	pthread_mutex_lock(&f->lock);
	while (!f->holding)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

unsigned int runs_of(struct fixture *f)
{
	unsigned int runs;

	pthread_mutex_lock(&f->lock);
	runs = f->runs;
	pthread_mutex_unlock(&f->lock);
	return runs;
}

void set_serving(struct fixture *f, bool serving)
{
	const uint64_t changed = 1;

	pthread_mutex_lock(&f->lock);
	f->serving = serving;
	pthread_mutex_unlock(&f->lock);
	assert_int_equal(write(f->stop_fd, &changed, sizeof(changed)), sizeof(changed));
}

void append_events(struct fixture *f, unsigned int n)
{
	const uint64_t changed = 1;

	pthread_mutex_lock(&f->lock);
	f->to_append = n;
	assert_int_equal(write(f->stop_fd, &changed, sizeof(changed)), sizeof(changed));
	while (f->to_append)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

void set_defer(struct fixture *f, bool defer)
{
	pthread_mutex_lock(&f->lock);
	f->defer = defer;
	pthread_mutex_unlock(&f->lock);
}

void tell_waiting(struct fixture *f, bool there)
{
	const uint64_t resume = 100;

	pthread_mutex_lock(&f->lock);
	f->there = there;
	pthread_mutex_unlock(&f->lock);
	assert_int_equal(write(f->stop_fd, &resume, sizeof(resume)), sizeof(resume));
}

uint32_t waiting_of(struct fixture *f)
{
	return api_server_nr_waiting(f->server);
}

void wait_waiting(struct fixture *f, uint32_t wanted)
{
	for (int i = 0; i < WAIT_MS && waiting_of(f) != wanted; i++)
		poll(NULL, 0, 1);
	if (waiting_of(f) != wanted)
		fail_msg("waited 10 s for %u calls that wait, have %u", wanted, waiting_of(f));
}

/* ---------- the client ---------- */

int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* The credentials of a socket are those of the thread that connects: only its own are changed. */
int connect_as(const char *path, uid_t uid, gid_t gid)
{
	int fd;

	if (syscall(SYS_setresgid, -1, gid, -1) < 0 || syscall(SYS_setresuid, -1, uid, -1) < 0)
		return -errno;
	fd = connect_to(path);
	assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
	assert_int_equal(syscall(SYS_setresgid, -1, 0, -1), 0);
	return fd;
}

void client_open_fd(struct client *client, int fd, const grpc_arg *arg)
{
	grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
	grpc_channel_args args = { .num_args = arg ? 1 : 0, .args = (grpc_arg *)arg };

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	client->cq = grpc_completion_queue_create_for_pluck(NULL);
	client->channel = grpc_channel_create_from_fd("localhost", fd, credentials, &args);
	grpc_channel_credentials_release(credentials);
}

void client_open(struct client *client, const struct fixture *f)
{
	client_open_fd(client, connect_to(f->path), NULL);
}

void client_close(struct client *client)
{
	grpc_channel_destroy(client->channel);
	grpc_completion_queue_shutdown(client->cq);
	grpc_completion_queue_destroy(client->cq);
}

static gpr_timespec after_ms(int ms)
{
	return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

void call_begin(struct call *call, struct client *client, const char *method, int timeout_ms)
{
	grpc_slice name = grpc_slice_from_copied_string(method);
	grpc_op ops[3] = {};

	memset(call, 0, sizeof(*call));
	call->client = client;
	grpc_metadata_array_init(&call->initial);
	grpc_metadata_array_init(&call->trailing);
	call->message = grpc_empty_slice();
	call->call = grpc_channel_create_call(client->channel, NULL, GRPC_PROPAGATE_DEFAULTS, client->cq, name, NULL,
					      after_ms(timeout_ms), NULL);
	grpc_slice_unref(name);
	ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
	ops[1].op = GRPC_OP_RECV_INITIAL_METADATA;
	ops[1].data.recv_initial_metadata.recv_initial_metadata = &call->initial;
	ops[2].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
	ops[2].data.recv_status_on_client.trailing_metadata = &call->trailing;
	ops[2].data.recv_status_on_client.status = &call->code;
	ops[2].data.recv_status_on_client.status_details = &call->message;
	assert_int_equal(grpc_call_start_batch(call->call, &ops[0], 1, &call->initial, NULL), GRPC_CALL_OK);
	assert_int_equal(grpc_call_start_batch(call->call, &ops[1], 1, &call->trailing, NULL), GRPC_CALL_OK);
	assert_int_equal(grpc_call_start_batch(call->call, &ops[2], 1, &call->code, NULL), GRPC_CALL_OK);
	grpc_completion_queue_pluck(client->cq, &call->initial, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
}

void call_send(struct call *call, const void *bytes, size_t size, bool end)
{
	grpc_slice slice = grpc_slice_from_copied_buffer(bytes ? bytes : "", size);
	grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_op ops[2] = {};
	size_t n = 0;

	if (bytes) {
		ops[n].op = GRPC_OP_SEND_MESSAGE;
		ops[n++].data.send_message.send_message = buffer;
	}
	if (end)
		ops[n++].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
	assert_int_equal(grpc_call_start_batch(call->call, ops, n, &call->call, NULL), GRPC_CALL_OK);
	grpc_completion_queue_pluck(call->client->cq, &call->call, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
	grpc_byte_buffer_destroy(buffer);
	grpc_slice_unref(slice);
}

bool call_receive(struct call *call, struct result *ret)
{
	grpc_op op = { .op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->received };
	grpc_byte_buffer_reader reader;
	grpc_slice slice;

	assert_int_equal(grpc_call_start_batch(call->call, &op, 1, &call->received, NULL), GRPC_CALL_OK);
	grpc_completion_queue_pluck(call->client->cq, &call->received, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
	if (!call->received)
		return false;
	grpc_byte_buffer_reader_init(&reader, call->received);
	slice = grpc_byte_buffer_reader_readall(&reader);
	free(ret->bytes);
	ret->size = GRPC_SLICE_LENGTH(slice);
	ret->bytes = malloc(ret->size + 1);
	memcpy(ret->bytes, GRPC_SLICE_START_PTR(slice), ret->size);
	ret->has_message = true;
	grpc_slice_unref(slice);
	grpc_byte_buffer_reader_destroy(&reader);
	grpc_byte_buffer_destroy(call->received);
	return true;
}

void call_end(struct call *call, struct result *ret)
{
	size_t n;

	grpc_completion_queue_pluck(call->client->cq, &call->trailing, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
	grpc_completion_queue_pluck(call->client->cq, &call->code, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
	ret->code = call->code;
	n = GRPC_SLICE_LENGTH(call->message);
	n = n < sizeof(ret->message) ? n : sizeof(ret->message) - 1;
	memcpy(ret->message, GRPC_SLICE_START_PTR(call->message), n);
	ret->message[n] = '\0';
	for (size_t i = 0; i < call->trailing.count; i++)
		if (grpc_slice_str_cmp(call->trailing.metadata[i].key, "grpc-status-details-bin") == 0)
			ret->details = google__rpc__status__unpack(NULL,
								   GRPC_SLICE_LENGTH(call->trailing.metadata[i].value),
								   GRPC_SLICE_START_PTR(call->trailing.metadata[i].value));
	grpc_metadata_array_destroy(&call->initial);
	grpc_metadata_array_destroy(&call->trailing);
	grpc_slice_unref(call->message);
	grpc_call_unref(call->call);
}

void unary(struct client *client, const char *method, const void *bytes, size_t size, int timeout_ms,
		  struct result *ret)
{
	struct call call;

	memset(ret, 0, sizeof(*ret));
	call_begin(&call, client, method, timeout_ms);
	call_send(&call, bytes, size, true);
	call_receive(&call, ret);
	call_end(&call, ret);
}

void result_free(struct result *r)
{
	free(r->bytes);
	if (r->details)
		google__rpc__status__free_unpacked(r->details, NULL);
	memset(r, 0, sizeof(*r));
}

void assert_status(const struct result *r, grpc_status_code code)
{
	if (r->code != code)
		fail_msg("status %d (%s), expected %d", (int)r->code, r->message, (int)code);
}

Google__Protobuf__Any *find_detail(const struct result *r, const char *type)
{
	assert_non_null(r->details);
	for (size_t i = 0; i < r->details->n_details; i++)
		if (strstr(r->details->details[i]->type_url, type))
			return r->details->details[i];
	return NULL;
}

void assert_reason(const struct result *r, const char *reason)
{
	Google__Protobuf__Any *any = find_detail(r, "google.rpc.ErrorInfo");
	Google__Rpc__ErrorInfo *info;

	assert_non_null(any);
	info = google__rpc__error_info__unpack(NULL, any->value.len, any->value.data);
	assert_non_null(info);
	assert_string_equal(info->reason, reason);
	assert_string_equal(info->domain, "schedd.io");
	assert_int_equal(r->details->code, r->code);
	google__rpc__error_info__free_unpacked(info, NULL);
}

void wait_stat(struct fixture *f, uint64_t (*get)(const struct api_server_stats *), uint64_t wanted)
{
	struct api_server_stats stats;

	for (int i = 0; i < WAIT_MS; i++) {
		api_server_get_stats(f->server, &stats);
		if (get(&stats) == wanted)
			return;
		poll(NULL, 0, 1);
	}
	fail_msg("waited 10 s for %llu, have %llu", (unsigned long long)wanted, (unsigned long long)get(&stats));
}

uint64_t get_connections(const struct api_server_stats *s)
{
	return s->connections;
}

bool ends(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char bytes[4096];
	ssize_t n;

	while (poll(&p, 1, WAIT_MS) > 0) {
		n = read(fd, bytes, sizeof(bytes));
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return true;
		if (n < 0)
			return false;
	}
	return false;
}

int server_group_setup(void **state)
{
	sigset_t all;

	(void)state;
	sigfillset(&all);
	sigdelset(&all, SIGABRT);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGINT);
	sigdelset(&all, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	grpc_init();
	return 0;
}

int server_group_teardown(void **state)
{
	(void)state;
	grpc_shutdown_blocking();
	return 0;
}
