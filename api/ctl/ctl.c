// SPDX-License-Identifier: GPL-2.0-or-later
/* ctl.c - calls with their errors said in words, pages, questions */
#include "api/ctl/ctl.h"

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/ctl/client.h"
#include "api/ctl/json.h"
#include "api/ctl/out.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

enum { PAGE_SIZE = 1000, MAX_PAGES = 10000 };

enum ctl_exit ctl_fail(enum ctl_exit code, const char *format, ...)
{
	_cleanup_free_ char *raw = NULL, *line = NULL;
	char *next, *at;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&raw, format, args);
	va_end(args);
	if (n < 0)
		return code;
	/* Line by line: a newline of ours separates, one from outside was escaped by who put it in. */
	for (at = raw; at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		free(line);
		line = out_text(at);
		fprintf(stderr, "%s%s\n", at == raw ? "schedctl: " : "  ", line);
	}
	return code;
}

const char *ctl_socket_path(const struct ctl *ctl)
{
	const char *path = ctl->cli.socket;

	if (!path) {
		path = getenv("SCHEDD_SOCKET");
		if (!path || !*path)
			path = CTL_DEFAULT_SOCKET;
	}
	if (!strncmp(path, "unix:", 5)) { /* as gRPC writes such an address: unix:PATH or unix://PATH */
		path += 5;
		if (!strncmp(path, "//", 2))
			path += 2;
	}
	return path;
}

/* ---------- errors ---------- */

__attribute__((format(printf, 3, 4))) static enum ctl_exit set_problem(struct ctl_problem *p, enum ctl_exit code,
								       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->text, sizeof(p->text), format, args);
	va_end(args);
	p->code = code;
	return code;
}

static enum ctl_exit explain_no_access(struct ctl_problem *p, const char *path, int err)
{
	const struct group *group = NULL;
	struct stat st;

	if (stat(path, &st) == 0 && (st.st_mode & 0060) == 0060 && st.st_gid != 0)
		group = getgrgid(st.st_gid);
	if (group)
		return set_problem(p, CTL_NOT_PERMITTED,
				   "you may not use %s: %s; become root or a member of the group `%s'", path,
				   strerror(err), group->gr_name);
	return set_problem(p, CTL_NOT_PERMITTED, "you may not use %s: %s; become root", path, strerror(err));
}

static enum ctl_exit explain_connect(struct ctl_problem *p, const char *path, uint64_t timeout_ns, int err)
{
	char span[32];

	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return set_problem(p, CTL_UNREACHABLE,
				   "schedd is not running: there is no %s; `systemctl start schedd' starts it", path);
	case ECONNREFUSED:
		return set_problem(
			p, CTL_UNREACHABLE,
			"schedd is not running: nobody listens at %s any more; `systemctl status schedd' says why",
			path);
	case EACCES:
	case EPERM:
		return explain_no_access(p, path, err);
	case EAGAIN:
		return set_problem(p, CTL_UNREACHABLE,
				   "schedd did not accept a connection at %s within %s; it hangs or is flooded", path,
				   str_format_duration_ns(span, sizeof(span), timeout_ns));
	case ENAMETOOLONG:
		return set_problem(p, CTL_USAGE,
				   "--socket: the path is longer than the 107 bytes of a unix socket: %s", path);
	case ENOTSOCK:
	case EPROTOTYPE:
		return set_problem(p, CTL_UNREACHABLE, "%s is no socket of schedd: %s", path, strerror(err));
	default:
		return set_problem(p, CTL_UNREACHABLE, "cannot connect to %s: %s", path, strerror(err));
	}
}

enum ctl_exit ctl_exit_of_status(int status)
{
	switch (status) {
	case CLIENT_OK:
		return CTL_DONE;
	case CLIENT_INVALID_ARGUMENT:
		return CTL_USAGE;
	case CLIENT_DEADLINE_EXCEEDED:
	case CLIENT_UNAVAILABLE:
		return CTL_UNREACHABLE;
	case CLIENT_PERMISSION_DENIED:
	case CLIENT_UNAUTHENTICATED:
		return CTL_NOT_PERMITTED;
	case CLIENT_NOT_FOUND:
		return CTL_NOT_FOUND;
	case CLIENT_ALREADY_EXISTS:
	case CLIENT_ABORTED:
		return CTL_CONFLICT;
	case CLIENT_RESOURCE_EXHAUSTED:
	case CLIENT_FAILED_PRECONDITION:
	case CLIENT_OUT_OF_RANGE:
	case CLIENT_UNIMPLEMENTED:
		return CTL_REFUSED;
	default:
		return CTL_FAILED;
	}
}

/* Candidates, or several fields at fault; of a single one the message has already spoken. */
static void append_details(struct ctl_problem *p, const struct client_error *e)
{
	_cleanup_free_ char *field = NULL, *description = NULL;
	size_t at, i;

	for (i = 0; e->nr_details > 1 && i < e->nr_details; i++) {
		if (!e->details[i].field || !e->details[i].description || strstr(p->text, e->details[i].description))
			continue;
		free(field);
		free(description);
		field = out_text(e->details[i].field);
		description = out_text(e->details[i].description);
		at = strlen(p->text);
		snprintf(p->text + at, sizeof(p->text) - at, "\n%s%s%s", field, *field ? ": " : "", description);
	}
}

static enum ctl_exit explain_status(struct ctl_problem *p, int status, const struct client_error *e,
				    uint64_t timeout_ns)
{
	_cleanup_free_ char *message = out_text(e->message ? e->message : "");
	enum ctl_exit code = ctl_exit_of_status(status);
	char span[32];

	if (status == CLIENT_DEADLINE_EXCEEDED && !e->reason)
		return set_problem(
			p, code,
			"schedd did not answer within %s (--timeout); a change may have been made all the same",
			str_format_duration_ns(span, sizeof(span), timeout_ns));
	if (status == CLIENT_UNAVAILABLE && !e->reason)
		return set_problem(p, code,
				   "schedd went away during the call (%s); a change may have been made all the same",
				   message);
	if (status == CLIENT_UNIMPLEMENTED && !e->reason)
		return set_problem(
			p, code, "this schedd does not know the call (%s); `schedctl version' compares the versions",
			message);
	set_problem(p, code, "%s", *message ? message : "the daemon gave no reason");
	append_details(p, e);
	if (e->retry_ns) {
		size_t at = strlen(p->text);

		snprintf(p->text + at, sizeof(p->text) - at, "; try again in %s",
			 str_format_duration_ns(span, sizeof(span), e->retry_ns));
	}
	return code;
}

/* ---------- calls ---------- */

static enum ctl_exit connect_once(struct ctl *ctl, struct ctl_problem *ret_problem)
{
	int r;

	if (ctl->client)
		return CTL_DONE;
	r = client_connect(ctl_socket_path(ctl), ctl->cli.timeout_ns, &ctl->client);
	return r < 0 ? explain_connect(ret_problem, ctl_socket_path(ctl), ctl->cli.timeout_ns, -r) : CTL_DONE;
}

/* r: what client.h calls a status, or -errno. */
static enum ctl_exit explain_call(const struct ctl *ctl, struct ctl_problem *p, const char *method, int r,
				  const struct client_error *e)
{
	if (r > 0)
		return explain_status(p, r, e, ctl->cli.timeout_ns);
	if (r == -EBADMSG)
		return set_problem(p, CTL_FAILED, "the answer to %s cannot be read: is %s the socket of schedd?", method,
				   ctl_socket_path(ctl));
	return set_problem(p, CTL_FAILED, "the call %s could not be made: %s", method, strerror(-r));
}

enum ctl_exit ctl_try(struct ctl *ctl, const ProtobufCServiceDescriptor *service, const char *method,
		      const ProtobufCMessage *request, void *ret_reply, struct ctl_problem *ret_problem)
{
	struct client_error error = { 0 };
	enum ctl_exit code;
	int r;

	code = connect_once(ctl, ret_problem);
	if (code != CTL_DONE)
		return code;
	r = client_call(ctl->client, service, method, request, ctl->cli.timeout_ns, ret_reply, &error);
	if (r != 0)
		code = explain_call(ctl, ret_problem, method, r, &error);
	client_error_free(&error);
	return code;
}

enum ctl_exit ctl_call(struct ctl *ctl, const char *method, const ProtobufCMessage *request, void *ret_reply)
{
	struct ctl_problem problem;
	enum ctl_exit code;

	code = ctl_try(ctl, &schedd__v1alpha1__scheduler__descriptor, method, request, ret_reply, &problem);
	if (code != CTL_DONE)
		ctl_fail(code, "%s", problem.text);
	return code;
}

/* ---------- streams ---------- */

/* Status 1 is gRPC's CANCELLED: the daemon cut what did not end by itself. */
static enum ctl_exit explain_end(const struct ctl *ctl, struct ctl_problem *p, const char *method, int r,
				 const struct client_error *e)
{
	_cleanup_free_ char *message = out_text(e->message ? e->message : "");
	char span[32];

	if (r == -ENODATA || r == 1 || (r == CLIENT_UNAVAILABLE && !e->reason))
		return set_problem(p, CTL_UNREACHABLE, "schedd went away and ended the stream%s%s%s", *message ? " (" : "",
				   message, *message ? ")" : "");
	if (r == -ETIMEDOUT || r == CLIENT_DEADLINE_EXCEEDED)
		return set_problem(p, CTL_UNREACHABLE, "schedd did not answer within %s (--timeout)",
				   str_format_duration_ns(span, sizeof(span), ctl->cli.timeout_ns));
	return explain_call(ctl, p, method, r, e);
}

/* 0 when each() has had enough. */
static int read_stream(struct ctl *ctl, struct client_stream *stream, bool endless,
		       bool (*each)(void *ctx, const ProtobufCMessage *message), void *ctx,
		       struct client_error *ret_error)
{
	uint64_t timeout_ns = endless ? ctl->cli.timeout_ns : 0;
	bool more = true;
	int r = 0;

	for (; more && r == 0; timeout_ns = 0) {
		_cleanup_message_ ProtobufCMessage *message = NULL;

		r = client_stream_next(stream, timeout_ns, &message, ret_error);
		if (r == 0)
			more = each(ctx, message);
	}
	return r;
}

enum ctl_exit ctl_stream(struct ctl *ctl, const char *method, const ProtobufCMessage *request, bool endless,
			 bool (*each)(void *ctx, const ProtobufCMessage *message), void *ctx)
{
	_cleanup_(client_stream_freep) struct client_stream *stream = NULL;
	struct client_error error = { 0 };
	struct ctl_problem problem;
	enum ctl_exit code;
	int r;

	code = connect_once(ctl, &problem);
	if (code != CTL_DONE)
		return ctl_fail(code, "%s", problem.text);
	r = client_stream_open(ctl->client, &schedd__v1alpha1__scheduler__descriptor, method, request,
			       endless ? 0 : ctl->cli.timeout_ns, &stream);
	if (r == 0)
		r = read_stream(ctl, stream, endless, each, ctx, &error);
	if (r != 0) {
		code = explain_end(ctl, &problem, method, r, &error);
		ctl_fail(code, "%s", problem.text);
	}
	client_error_free(&error);
	return code;
}

/* ---------- pages ---------- */

static void *message_field(const ProtobufCMessage *m, const char *name)
{
	const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name);

	return f ? (char *)m + f->offset : NULL;
}

/* Moves the items of `page` to the end of those of `all`; field 1 of a List reply is the items. */
static int append_page(ProtobufCMessage *all, ProtobufCMessage *page)
{
	const ProtobufCFieldDescriptor *f = &all->descriptor->fields[0];
	size_t *nr_all = (size_t *)((char *)all + f->quantifier_offset);
	size_t *nr_page = (size_t *)((char *)page + f->quantifier_offset);
	void ***items_all = (void ***)((char *)all + f->offset), ***items_page = (void ***)((char *)page + f->offset);
	void **grown;

	if (!*nr_page)
		return 0;
	grown = reallocarray(*items_all, *nr_all + *nr_page, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memcpy(grown + *nr_all, *items_page, *nr_page * sizeof(*grown));
	*items_all = grown;
	*nr_all += *nr_page;
	*nr_page = 0; /* the items have moved; only the array is freed with the page */
	return 0;
}

enum ctl_exit ctl_call_all_pages(struct ctl *ctl, const char *method, ProtobufCMessage *request, void *ret_reply)
{
	_cleanup_message_ ProtobufCMessage *all = NULL;
	char **token = message_field(request, "page_token"), **next;
	enum ctl_exit code;
	unsigned int pages;

	*(int32_t *)message_field(request, "page_size") = PAGE_SIZE;
	code = ctl_call(ctl, method, request, &all);
	for (pages = 1; code == CTL_DONE && all && pages < MAX_PAGES; pages++) {
		_cleanup_message_ ProtobufCMessage *page = NULL;

		next = message_field(all, "next_page_token");
		if (!**next)
			break;
		*token = *next;
		code = ctl_call(ctl, method, request, &page);
		if (code != CTL_DONE || !page)
			break;
		if (append_page(all, page) < 0)
			return ctl_fail(CTL_FAILED, "no memory for the answer to %s", method);
		/* Swapped: the old token is freed with the page. */
		*token = *next;
		*next = *(char **)message_field(page, "next_page_token");
		*(char **)message_field(page, "next_page_token") = *token;
	}
	if (code == CTL_DONE)
		*(ProtobufCMessage **)ret_reply = TAKE_PTR(all);
	return code;
}

/* ---------- the user ---------- */

enum ctl_exit ctl_confirm(const struct ctl *ctl, const char *what)
{
	char answer[16];

	if (cli_flag(&ctl->cli, "yes"))
		return CTL_DONE;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return ctl_fail(CTL_USAGE, "there is no terminal to ask on, so --yes is needed: this would %s", what);
	fprintf(stderr, "This will %s. Go on? [y/N] ", what);
	if (fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
		return CTL_DONE;
	return ctl_fail(CTL_FAILED, "nothing was changed");
}

bool ctl_print_json(const struct ctl *ctl, const ProtobufCMessage *reply)
{
	if (ctl->cli.format != CLI_JSON)
		return false;
	json_print_message(reply, stdout);
	return true;
}

enum ctl_exit ctl_duration_option(const struct ctl *ctl, const char *name, uint64_t *ret_ns, bool *ret_given)
{
	const char *value = cli_value(&ctl->cli, name);

	*ret_given = value != NULL;
	if (value && (str_parse_duration_ns(value, ret_ns) < 0 || !*ret_ns))
		return ctl_fail(CTL_USAGE, "--%s: `%s' is no duration above 0; write one such as 500ms, 10min or 2h",
				name, value);
	return CTL_DONE;
}
