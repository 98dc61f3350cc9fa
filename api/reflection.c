/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reflection.c - answers of the gRPC reflection service, from a compiled descriptor set */
#include "api/reflection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/codec_private.h"
#include "daemon/base/cleanup.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "schedd/internal/fileset.pb-c.h"

typedef Grpc__Reflection__V1__ServerReflectionRequest request_message;
typedef Grpc__Reflection__V1__ServerReflectionResponse response_message;

struct reflection {
	Schedd__Internal__FileSet *set;  /* the bytes of each file, served as they are */
	Schedd__Internal__File **files;  /* what we need to know of them */
	size_t nr_files;
};

extern const char schedd_protoset_start[], schedd_protoset_end[];

int reflection_new(const void *set, size_t size, struct reflection **ret_reflection)
{
	struct reflection *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->set = schedd__internal__file_set__unpack(NULL, size, set);
	if (r->set)
		r->files = calloc(r->set->n_file + 1, sizeof(*r->files));
	while (r->files && r->nr_files < r->set->n_file) {
		const ProtobufCBinaryData *file = &r->set->file[r->nr_files];

		r->files[r->nr_files] = schedd__internal__file__unpack(NULL, file->len, file->data);
		if (!r->files[r->nr_files])
			break;
		r->nr_files++;
	}
	if (!r->files || r->nr_files < r->set->n_file) {
		reflection_free(r);
		return -EINVAL;
	}
	*ret_reflection = r;
	return 0;
}

int reflection_new_embedded(struct reflection **ret_reflection)
{
	return reflection_new(schedd_protoset_start, (size_t)(schedd_protoset_end - schedd_protoset_start),
			      ret_reflection);
}

void reflection_free(struct reflection *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_files; i++)
		schedd__internal__file__free_unpacked(r->files[i], NULL);
	free(r->files);
	schedd__internal__file_set__free_unpacked(r->set, NULL);
	free(r);
}

/* ---------- where a symbol is ---------- */

/* What of symbol follows name: "" for the name itself, NULL when symbol is not within it. */
static const char *below(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(symbol, name, n))
		return NULL;
	if (!symbol[n])
		return symbol + n;
	return symbol[n] == '.' && symbol[n + 1] ? symbol + n + 1 : NULL;
}

static bool is_named(Schedd__Internal__Named *const *list, size_t n, const char *symbol)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i]->name, symbol))
			return true;
	return false;
}

static bool service_has(const Schedd__Internal__Service *service, const char *symbol)
{
	const char *rest = below(symbol, service->name);

	return rest && (!*rest || is_named(service->method, service->n_method, rest));
}

static bool inner_has(const Schedd__Internal__InnerMessage *message, const char *symbol)
{
	const char *rest = below(symbol, message->name);

	return rest && (!*rest || is_named(message->nested_type, message->n_nested_type, rest) ||
			is_named(message->enum_type, message->n_enum_type, rest));
}

static bool message_has(const Schedd__Internal__Message *message, const char *symbol)
{
	const char *rest = below(symbol, message->name);

	if (!rest)
		return false;
	if (!*rest || is_named(message->enum_type, message->n_enum_type, rest))
		return true;
	for (size_t i = 0; i < message->n_nested_type; i++)
		if (inner_has(message->nested_type[i], rest))
			return true;
	return false;
}

static bool file_has(const Schedd__Internal__File *file, const char *symbol)
{
	const char *rest = below(symbol, file->package);

	if (!rest || !*rest)
		return false;
	if (is_named(file->enum_type, file->n_enum_type, rest))
		return true;
	for (size_t i = 0; i < file->n_service; i++)
		if (service_has(file->service[i], rest))
			return true;
	for (size_t i = 0; i < file->n_message_type; i++)
		if (message_has(file->message_type[i], rest))
			return true;
	return false;
}

/* ---------- answers ---------- */

static void answer_error(struct encoder *e, response_message *m, enum command_status code, const char *text)
{
	m->message_response_case = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
	m->error_response = encode_message(e, &grpc__reflection__v1__error_response__descriptor);
	m->error_response->error_code = (int32_t)code;
	m->error_response->error_message = encode_text(e, text);
}

static size_t find_file(const struct reflection *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->nr_files; i++)
		if (!strcmp(r->files[i]->name, name))
			break;
	return i;
}

/* Imports too, because most clients do not ask for them one by one. */
static void answer_file(const struct reflection *r, struct encoder *e, response_message *m, size_t first)
{
	Grpc__Reflection__V1__FileDescriptorResponse *files;
	size_t *order = arena_array(&e->arena, size_t, r->nr_files + 1);
	bool *seen = arena_array(&e->arena, bool, r->nr_files + 1);
	size_t n = 0, done, i;

	if (first >= r->nr_files) {
		answer_error(e, m, COMMAND_NOT_FOUND, "no such file or symbol; list_services names what there is");
		return;
	}
	files = encode_message(e, &grpc__reflection__v1__file_descriptor_response__descriptor);
	files->file_descriptor_proto = arena_array(&e->arena, ProtobufCBinaryData, r->nr_files);
	if (!order || !seen || !files->file_descriptor_proto) {
		e->failed = true;
		return;
	}
	order[n++] = first;
	seen[first] = true;
	for (done = 0; done < n; done++) {
		const Schedd__Internal__File *file = r->files[order[done]];

		files->file_descriptor_proto[done] = r->set->file[order[done]];
		for (i = 0; i < file->n_dependency; i++) {
			size_t next = find_file(r, file->dependency[i]);

			if (next < r->nr_files && !seen[next]) {
				seen[next] = true;
				order[n++] = next;
			}
		}
	}
	files->n_file_descriptor_proto = n;
	m->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
	m->file_descriptor_response = files;
}

static void answer_symbol(const struct reflection *r, struct encoder *e, response_message *m, const char *symbol)
{
	size_t i;

	for (i = 0; i < r->nr_files; i++)
		if (file_has(r->files[i], symbol))
			break;
	answer_file(r, e, m, i);
}

static void answer_services(const struct reflection *r, struct encoder *e, response_message *m)
{
	Grpc__Reflection__V1__ListServiceResponse *list =
		encode_message(e, &grpc__reflection__v1__list_service_response__descriptor);
	size_t total = 0, at = 0, i, j;

	for (i = 0; i < r->nr_files; i++)
		total += r->files[i]->n_service;
	list->service =
		encode_messages(e, &grpc__reflection__v1__service_response__descriptor, total, &list->n_service);
	for (i = 0; i < r->nr_files; i++)
		for (j = 0; j < r->files[i]->n_service && at < list->n_service; j++)
			list->service[at++]->name = arena_printf(&e->arena, "%s.%s", r->files[i]->package,
								 r->files[i]->service[j]->name) ?: "";
	m->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
	m->list_services_response = list;
}

static void answer(const struct reflection *r, struct encoder *e, request_message *request, response_message *m)
{
	m->valid_host = request->host;
	m->original_request = request;
	switch (request->message_request_case) {
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
		answer_file(r, e, m, find_file(r, request->file_by_filename));
		break;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
		answer_symbol(r, e, m, request->file_containing_symbol);
		break;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
		answer_services(r, e, m);
		break;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST__NOT_SET:
		answer_error(e, m, COMMAND_INVALID_ARGUMENT, "the request asks nothing");
		break;
	default:
		answer_error(e, m, COMMAND_UNIMPLEMENTED, "there are no extensions here");
	}
}

int reflection_answer(const struct reflection *r, const void *bytes, size_t size, uint8_t **ret_bytes,
		      size_t *ret_size)
{
	struct codec_memory memory = { .cap_bytes = CODEC_MEMORY_MAX };
	struct encoder e = {};
	struct reply problem = {};
	request_message *request;
	response_message *m;
	int err = -EINVAL;

	request = codec_unpack(&memory, &grpc__reflection__v1__server_reflection_request__descriptor, bytes, size);
	if (!request)
		return memory.capped ? -E2BIG : -EINVAL;
	/* The request is repeated in the response: text that is not UTF-8 would make the client fail on our words. */
	if (check_strings(&problem, &request->base)) {
		m = encode_message(&e, &grpc__reflection__v1__server_reflection_response__descriptor);
		answer(r, &e, request, m);
		err = encode_finish(&e, &m->base, ret_bytes, ret_size);
	}
	reply_free(&problem);
	codec_unpack_free(&memory, request);
	return err;
}
