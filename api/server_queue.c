/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_queue.c - the thread that waits on gRPC's completion queue, and the way from it to the loop */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "api/server_private.h"
#include "daemon/base/log.h"

void server_push_tag(struct api_server *s, struct tag *tag, bool ok)
{
	const uint64_t one = 1;
	bool was_empty;

	tag->ok = ok;
	tag->next = NULL;
	pthread_mutex_lock(&s->lock);
	was_empty = !s->ready;
	*s->ready_tail = tag;
	s->ready_tail = &tag->next;
	pthread_mutex_unlock(&s->lock);
	/* Fails only when the counter is full, and then the loop is awake anyway. */
	if (was_empty && write(s->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static struct tag *pop_tag(struct api_server *s)
{
	struct tag *tag;

	pthread_mutex_lock(&s->lock);
	tag = s->ready;
	if (tag) {
		s->ready = tag->next;
		if (!s->ready)
			s->ready_tail = &s->ready;
	}
	pthread_mutex_unlock(&s->lock);
	return tag;
}

void server_handle_tags(struct api_server *s, unsigned int max)
{
	const uint64_t one = 1;
	unsigned int n;
	uint64_t count;
	struct tag *tag;

	/* Emptied before the list is looked at, or the wake-up for a later tag could be lost. */
	if (read(s->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		log_warning_errno(errno, "cannot read from the queue thread");
	for (n = 0; n < max && (tag = pop_tag(s)); n++)
		tag->fn(tag, tag->ok);
	/* A list that is not empty wakes nobody when it grows. */
	if (n == max && write(s->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static void *queue_main(void *arg)
{
	struct api_server *s = arg;
	grpc_event event;

	for (;;) {
		gpr_timespec until = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
						  gpr_time_from_seconds(SERVER_QUEUE_WAIT_S, GPR_TIMESPAN));

		event = grpc_completion_queue_next(s->cq, until, NULL);
		atomic_fetch_add(&s->turns, 1);
		if (event.type == GRPC_QUEUE_SHUTDOWN)
			return NULL;
		if (event.type == GRPC_OP_COMPLETE)
			server_push_tag(s, event.tag, event.success);
	}
}

static int on_wake(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	(void)source;
	(void)fd;
	(void)revents;
	server_handle_tags(userdata, SERVER_TAGS_PER_TURN);
	return 0;
}

int server_queue_start(struct api_server *s)
{
	int err;

	s->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->wake_fd < 0)
		return -errno;
	err = sd_event_add_io(s->event, &s->wake, s->wake_fd, EPOLLIN, on_wake, s);
	if (err < 0)
		return err;
	s->cq = grpc_completion_queue_create_for_next(NULL);
	err = pthread_create(&s->thread, NULL, queue_main, s);
	if (err)
		return -err;
	s->has_thread = true;
	pthread_setname_np(s->thread, "grpc-cq");
	return 0;
}

void server_queue_stop(struct api_server *s)
{
	if (s->cq)
		grpc_completion_queue_shutdown(s->cq);
	if (s->has_thread)
		pthread_join(s->thread, NULL);
	else if (s->cq)
		grpc_completion_queue_next(s->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
	if (s->cq)
		grpc_completion_queue_destroy(s->cq);
	s->wake = sd_event_source_disable_unref(s->wake);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	pthread_mutex_destroy(&s->lock);
}
