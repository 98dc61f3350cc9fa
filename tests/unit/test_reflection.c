/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_reflection.c - questions about the interface, answered from the embedded descriptor set */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/reflection.h"
#include "daemon/base/cleanup.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "schedd/internal/fileset.pb-c.h"

typedef Grpc__Reflection__V1__ServerReflectionRequest request_message;
typedef Grpc__Reflection__V1__ServerReflectionResponse response_message;

static struct reflection *reflection;

static int setup(void **state)
{
	(void)state;
	assert_int_equal(reflection_new_embedded(&reflection), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	reflection_free(reflection);
	reflection = NULL;
	return 0;
}

static response_message *ask(const request_message *request)
{
	uint8_t bytes[512], *answer = NULL;
	size_t size = grpc__reflection__v1__server_reflection_request__get_packed_size(request), answer_size = 0;
	response_message *m;

	assert_true(size <= sizeof(bytes));
	grpc__reflection__v1__server_reflection_request__pack(request, bytes);
	assert_int_equal(reflection_answer(reflection, bytes, size, &answer, &answer_size), 0);
	m = grpc__reflection__v1__server_reflection_response__unpack(NULL, answer_size, answer);
	assert_non_null(m);
	free(answer);
	return m;
}

static void forget(response_message *m)
{
	grpc__reflection__v1__server_reflection_response__free_unpacked(m, NULL);
}

static response_message *ask_symbol(const char *symbol)
{
	request_message request = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;

	request.host = "here";
	request.message_request_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL;
	request.file_containing_symbol = (char *)symbol;
	return ask(&request);
}

/* The first file of the answer; "" when the answer is an error, whose code must then be NOT_FOUND. */
static const char *file_of(const char *symbol, char *name, size_t size)
{
	response_message *m = ask_symbol(symbol);
	Schedd__Internal__File *file;

	*name = '\0';
	if (m->message_response_case ==
	    GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE) {
		const ProtobufCBinaryData *bytes = &m->file_descriptor_response->file_descriptor_proto[0];

		file = schedd__internal__file__unpack(NULL, bytes->len, bytes->data);
		assert_non_null(file);
		snprintf(name, size, "%s", file->name);
		schedd__internal__file__free_unpacked(file, NULL);
	} else {
		assert_int_equal(m->error_response->error_code, 5);
	}
	forget(m);
	return name;
}

static void symbols_are_found(void **state)
{
	static const char *const ours[] = {
		"schedd.v1alpha1.Scheduler", "schedd.v1alpha1.Scheduler.GetStatus", "schedd.v1alpha1.SchedClass",
		"schedd.v1alpha1.SchedClass.Kind", "schedd.v1alpha1.Decision.Reason", "schedd.v1alpha1.Lifetime",
	};
	static const char *const nothing[] = {
		"", ".", "schedd", "schedd.v1alpha1", "schedd.v1alpha1.", "schedd.v1alpha1.Sched",
		"schedd.v1alpha1.Scheduler.", "schedd.v1alpha1.Scheduler.Get", "schedd.v1alpha1.SchedClassX", "Scheduler",
	};
	char name[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		assert_string_equal(file_of(ours[i], name, sizeof(name)), "schedd/v1alpha1/scheduler.proto");
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
		assert_string_equal(file_of(nothing[i], name, sizeof(name)), "");
	assert_string_equal(file_of("google.protobuf.Duration", name, sizeof(name)), "google/protobuf/duration.proto");
	assert_string_equal(file_of("grpc.health.v1.Health.Watch", name, sizeof(name)), "grpc/health/v1/health.proto");
}

static void imports_come_along_once(void **state)
{
	response_message *m = ask_symbol("schedd.v1alpha1.Scheduler");

	(void)state;
	/* scheduler.proto with duration, field_mask, timestamp and wrappers */
	assert_int_equal(m->file_descriptor_response->n_file_descriptor_proto, 5);
	assert_string_equal(m->valid_host, "here");
	assert_string_equal(m->original_request->file_containing_symbol, "schedd.v1alpha1.Scheduler");
	forget(m);
}

static void files_are_found_by_name(void **state)
{
	request_message request = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
	response_message *m;

	(void)state;
	request.message_request_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME;
	request.file_by_filename = "google/rpc/status.proto";
	m = ask(&request);
	assert_int_equal(m->file_descriptor_response->n_file_descriptor_proto, 2); /* and any.proto */
	forget(m);
	request.file_by_filename = "status.proto";
	m = ask(&request);
	assert_int_equal(m->error_response->error_code, 5);
	forget(m);
}

static void services_are_listed(void **state)
{
	static const char *const names[] = { "schedd.v1alpha1.Scheduler", "grpc.health.v1.Health",
					     "grpc.reflection.v1.ServerReflection",
					     "grpc.reflection.v1alpha.ServerReflection" };
	request_message request = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
	response_message *m;
	size_t found = 0;

	(void)state;
	request.message_request_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES;
	request.list_services = "";
	m = ask(&request);
	assert_int_equal(m->list_services_response->n_service, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			found += !strcmp(m->list_services_response->service[i]->name, names[j]);
	assert_int_equal(found, ARRAY_SIZE(names));
	forget(m);
}

static void extensions_and_nothing_are_errors(void **state)
{
	request_message request = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
	response_message *m;

	(void)state;
	m = ask(&request);
	assert_int_equal(m->error_response->error_code, 3);
	forget(m);
	request.message_request_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE;
	request.all_extension_numbers_of_type = "schedd.v1alpha1.SchedClass";
	m = ask(&request);
	assert_int_equal(m->error_response->error_code, 12);
	forget(m);
}

static void bad_bytes_are_refused(void **state)
{
	static const char bad_utf8[] = "\x22\x02\xc3\x28";
	unsigned int seed = 99;
	uint8_t bytes[64], *answer;
	size_t size;

	(void)state;
	assert_int_equal(reflection_answer(reflection, "\xff", 1, &answer, &size), -EINVAL);
	assert_int_equal(reflection_answer(reflection, bad_utf8, 4, &answer, &size), -EINVAL);
	print_message("seed %u\n", seed);
	for (int i = 0; i < 5000; i++) {
		size_t n = 1 + (size_t)rand_r(&seed) % sizeof(bytes);

		for (size_t j = 0; j < n; j++)
			bytes[j] = (uint8_t)(rand_r(&seed) % (j % 3 ? 256 : 64));
		answer = NULL;
		if (reflection_answer(reflection, bytes, n, &answer, &size) == 0)
			assert_non_null(answer);
		free(answer);
	}
}

static void a_damaged_set_is_refused(void **state)
{
	struct reflection *r = NULL;

	(void)state;
	assert_int_equal(reflection_new("\x0a\x05xx", 4, &r), -EINVAL);
	assert_int_equal(reflection_new("\x0a\x01\xff", 3, &r), -EINVAL);
	assert_null(r);
	assert_int_equal(reflection_new("", 0, &r), 0); /* no file: every question has the answer "not found" */
	reflection_free(r);
	reflection_free(NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(symbols_are_found),
		T(imports_come_along_once),
		T(files_are_found_by_name),
		T(services_are_listed),
		T(extensions_and_nothing_are_errors),
		T(bad_bytes_are_refused),
		T(a_damaged_set_is_refused),
	};

	return cmocka_run_group_tests_name("reflection", tests, NULL, NULL);
}
