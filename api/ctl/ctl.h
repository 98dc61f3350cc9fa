/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl.h - what every command of schedctl gets, and how it speaks to schedd and to its user
 *
 * A command fills a request, calls, prints the reply as JSON or as text, and
 * returns an exit code.  Whoever returns something other than CTL_DONE has
 * already said on standard error what is wrong.
 */
#ifndef SCHEDD_CTL_CTL_H
#define SCHEDD_CTL_CTL_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "api/ctl/cli.h"

#define CTL_DEFAULT_SOCKET "/run/schedd/schedd.sock"

struct client;

struct ctl {
	struct cli cli;
	bool colour;
	struct client *client; /* connected by the first call */
};

/* Why a call failed, ready to be shown. */
struct ctl_problem {
	enum ctl_exit code;
	char text[4096];
};

/* "schedctl: ..." on standard error, control characters escaped; returns code. */
enum ctl_exit ctl_fail(enum ctl_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *ctl_socket_path(const struct ctl *ctl);

/*
 * Calls a method of the service Scheduler.  CTL_DONE with the reply, which the
 * caller frees with protobuf_c_message_free_unpacked(); anything else has been
 * reported.  ret_reply points to a pointer to the generated struct.
 */
enum ctl_exit ctl_call(struct ctl *ctl, const char *method, const ProtobufCMessage *request, void *ret_reply);
/* The same without a word, for commands to which an absent daemon is an answer. */
enum ctl_exit ctl_try(struct ctl *ctl, const ProtobufCServiceDescriptor *service, const char *method,
		      const ProtobufCMessage *request, void *ret_reply, struct ctl_problem *ret_problem);

/*
 * Calls a method that is answered with a stream, and each() for every message
 * until it returns false, which ends the call: CTL_DONE.  endless: --timeout is
 * only for the first message, else for all.  When the daemon ends the stream that
 * is reported and CTL_UNREACHABLE.
 */
enum ctl_exit ctl_stream(struct ctl *ctl, const char *method, const ProtobufCMessage *request, bool endless,
			 bool (*each)(void *ctx, const ProtobufCMessage *message), void *ctx);

/*
 * Calls a List method until its last page; the reply is the first page with
 * the items of all others appended.  request is changed (page_size, page_token).
 */
enum ctl_exit ctl_call_all_pages(struct ctl *ctl, const char *method, ProtobufCMessage *request, void *ret_reply);

/* Exit code of a gRPC status. */
enum ctl_exit ctl_exit_of_status(int status);

/*
 * Before something dangerous: CTL_DONE with --yes, or when a person on a
 * terminal says yes.  what: "delete the class web".
 */
enum ctl_exit ctl_confirm(const struct ctl *ctl, const char *what);

/* JSON of a reply when -o json was asked; false: the caller prints text. */
bool ctl_print_json(const struct ctl *ctl, const ProtobufCMessage *reply);

/* A value of an option as a duration above 0; *ret_given says whether it was there.  CTL_USAGE is reported. */
enum ctl_exit ctl_duration_option(const struct ctl *ctl, const char *name, uint64_t *ret_ns, bool *ret_given);

static inline void ctl_message_freep(void *p)
{
	ProtobufCMessage *m = *(ProtobufCMessage **)p;

	if (m)
		protobuf_c_message_free_unpacked(m, NULL);
}
#define _cleanup_message_ __attribute__((cleanup(ctl_message_freep)))

#endif
