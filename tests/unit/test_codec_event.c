/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_codec_event.c - what WatchEvents may ask for, and every kind of event as bytes */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "tests/unit/codec_fixture.h"

/* ---------- the request ---------- */

static void an_empty_request_has_defaults(void **state)
{
	MSG(WatchEventsRequest) m = SCHEDD__V1ALPHA1__WATCH_EVENTS_REQUEST__INIT;
	const struct command_watch *w = &request.cmd.watch;

	(void)state;
	accepted(COMMAND_WATCH_EVENTS, &m);
	assert_int_equal(w->filter.types, 0);
	assert_int_equal(w->filter.nr_class_names, 0);
	assert_string_equal(w->epoch, "");
	assert_false(w->has_after);
	assert_false(w->initial_state);
	assert_int_equal(w->bookmark_ns, UINT64_C(10000000000));
}

static void everything_is_read(void **state)
{
	MSG(WatchEventsRequest) m = SCHEDD__V1ALPHA1__WATCH_EVENTS_REQUEST__INIT;
	Google__Protobuf__UInt64Value after = GOOGLE__PROTOBUF__UINT64_VALUE__INIT;
	Google__Protobuf__Duration interval = GOOGLE__PROTOBUF__DURATION__INIT;
	Schedd__V1alpha1__Event__Type types[] = { SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_PREEMPTION,
						  SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_CLASS_CHANGED,
						  SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_PREEMPTION };
	char *names[] = { "lc", "web" };

	(void)state;
	m.types = types;
	m.n_types = ARRAY_SIZE(types);
	m.class_names = names;
	m.n_class_names = ARRAY_SIZE(names);
	m.epoch = "0123456789abcdef";
	after.value = UINT64_C(1) << 40;
	m.after_sequence = &after;
	interval.seconds = 1;
	m.bookmark_interval = &interval;
	accepted(COMMAND_WATCH_EVENTS, &m);
	assert_int_equal(request.cmd.watch.filter.types, 1u << EVENT_PREEMPTION | 1u << EVENT_CLASS_CHANGED);
	assert_int_equal(request.cmd.watch.filter.nr_class_names, 2);
	assert_string_equal(request.cmd.watch.filter.class_names[0], "latency-critical");
	assert_string_equal(request.cmd.watch.filter.class_names[1], "web");
	assert_string_equal(request.cmd.watch.epoch, "0123456789abcdef");
	assert_true(request.cmd.watch.has_after);
	assert_int_equal(request.cmd.watch.after_sequence, UINT64_C(1) << 40);
	assert_int_equal(request.cmd.watch.bookmark_ns, 1000000000);
	/* All that is kept: sequence 0, whatever the epoch. */
	m.epoch = "";
	after.value = 0;
	accepted(COMMAND_WATCH_EVENTS, &m);
	assert_true(request.cmd.watch.has_after);
}

static void bad_filters_are_refused(void **state)
{
	MSG(WatchEventsRequest) m = SCHEDD__V1ALPHA1__WATCH_EVENTS_REQUEST__INIT;
	Schedd__V1alpha1__Event__Type types[] = { 4, 0 };
	char *names[EVENT_CLASSES_MAX + 1];

	(void)state;
	m.types = types;
	m.n_types = 2;
	refused(COMMAND_WATCH_EVENTS, &m, "types"); /* unspecified */
	types[1] = 14;
	refused(COMMAND_WATCH_EVENTS, &m, "types");
	types[1] = 1000;
	refused(COMMAND_WATCH_EVENTS, &m, "types");
	m.n_types = 0;
	m.class_names = names;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = "web";
	m.n_class_names = EVENT_CLASSES_MAX;
	accepted(COMMAND_WATCH_EVENTS, &m);
	m.n_class_names++;
	refused(COMMAND_WATCH_EVENTS, &m, "class_names");
	m.n_class_names = 1;
	names[0] = "No";
	refused_as(COMMAND_WATCH_EVENTS, &m, "class_names", "INVALID_NAME");
	names[0] = "";
	refused_as(COMMAND_WATCH_EVENTS, &m, "class_names", "INVALID_NAME");
}

static void half_a_position_is_refused(void **state)
{
	MSG(WatchEventsRequest) m = SCHEDD__V1ALPHA1__WATCH_EVENTS_REQUEST__INIT;
	Google__Protobuf__UInt64Value after = GOOGLE__PROTOBUF__UINT64_VALUE__INIT;
	Google__Protobuf__Duration interval = GOOGLE__PROTOBUF__DURATION__INIT;

	(void)state;
	m.epoch = "0123456789abcdef";
	refused(COMMAND_WATCH_EVENTS, &m, "after_sequence");
	m.after_sequence = &after;
	m.send_initial_state = true;
	refused(COMMAND_WATCH_EVENTS, &m, "send_initial_state");
	m.send_initial_state = false;
	m.epoch = "";
	after.value = 1;
	refused(COMMAND_WATCH_EVENTS, &m, "epoch");
	m.epoch = "a\nb";
	refused(COMMAND_WATCH_EVENTS, &m, "epoch");
	m.epoch = "";
	m.after_sequence = NULL;
	m.bookmark_interval = &interval;
	interval.nanos = 999999999;
	refused(COMMAND_WATCH_EVENTS, &m, "bookmark_interval");
}

/* ---------- events ---------- */

static MSG(Event) *encode(const struct event *event)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	MSG(Event) *m;
	size_t size = 0;

	assert_int_equal(codec_event_encode(event, &bytes, &size), 0);
	m = schedd__v1alpha1__event__unpack(NULL, size, bytes);
	assert_non_null(m);
	return m;
}

static void forget(MSG(Event) *m)
{
	schedd__v1alpha1__event__free_unpacked(m, NULL);
}

static void numbers_are_those_of_the_schema(void **state)
{
	const ProtobufCEnumDescriptor *types = &schedd__v1alpha1__event__type__descriptor;

	(void)state;
	assert_int_equal(types->n_values, NR_EVENT_TYPES);
	assert_int_equal(EVENT_DROPPED, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_DROPPED);
	assert_int_equal(EVENT_CLASS_CHANGED, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_CLASS_CHANGED);
	assert_int_equal(EVENT_LEASE_CHANGED, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_LEASE_CHANGED);
	assert_int_equal(EVENT_REALLOCATION, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_REALLOCATION);
	assert_int_equal(EVENT_CONFIG_CHANGED, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_CONFIG_CHANGED);
	assert_int_equal(EVENT_PREEMPTION, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_PREEMPTION);
}

static void a_class_with_who_changed_it(void **state)
{
	struct event e = { .epoch = "aa", .sequence = 5, .realtime_ns = UINT64_C(1700000000000000001),
			   .type = EVENT_CLASS_CHANGED, .class_name = "web",
			   .cause = { .source = EVENT_FROM_API, .uid = 0, .pid = 12, .comm = "schedctl",
				      .request_id = UUID },
			   .class = { .own_fields = CLASS_FIELD_KIND, .origin = CLASS_ORIGIN_API, .etag = "5-0",
				      .member_cgroups = 3, .config_generation = 9 } };
	MSG(Event) *m;

	(void)state;
	class_settings_default(&e.class.settings, SCHEDD_KIND_LATENCY_CRITICAL, 8);
	m = encode(&e);
	assert_string_equal(m->epoch, "aa");
	assert_int_equal(m->sequence, 5);
	assert_int_equal(m->event_time->nanos, 1);
	assert_int_equal(m->type, SCHEDD__V1ALPHA1__EVENT__TYPE__TYPE_CLASS_CHANGED);
	assert_string_equal(m->actor->source, "api");
	assert_non_null(m->actor->uid);
	assert_string_equal(m->actor->comm, "schedctl");
	assert_string_equal(m->request_id, UUID);
	assert_int_equal(m->detail_case, SCHEDD__V1ALPHA1__EVENT__DETAIL_SCHED_CLASS);
	assert_string_equal(m->sched_class->name, "web");
	assert_int_equal(m->sched_class->kind, SCHEDD__V1ALPHA1__SCHED_CLASS__KIND__KIND_LATENCY_CRITICAL);
	assert_non_null(m->sched_class->burst_cpus);
	assert_string_equal(m->sched_class->etag, "5-0");
	assert_int_equal(m->sched_class->config_generation, 9);
	forget(m);
	e.type = EVENT_CLASS_DELETED;
	e.class = (struct event_class){ .config_generation = 10 };
	m = encode(&e);
	assert_string_equal(m->sched_class->name, "web");
	assert_null(m->sched_class->burst_cpus);
	forget(m);
}

static void a_decision_with_a_hostile_path(void **state)
{
	struct event e = { .epoch = "aa", .type = EVENT_DECISION_CHANGED, .class_name = "normal",
			   .from_class_name = "web", .decision = { .cgroup_id = 7, .source = "inherited" } };
	MSG(Event) *m;

	(void)state;
	strcpy(e.decision.path, "/a\n\x1b[31m\xff");
	m = encode(&e);
	assert_null(m->event_time);
	assert_string_equal(m->actor->source, "schedd");
	assert_null(m->actor->uid);
	assert_int_equal(m->detail_case, SCHEDD__V1ALPHA1__EVENT__DETAIL_DECISION);
	assert_int_equal(m->decision->cgroup_id, 7);
	assert_string_equal(m->decision->cgroup_path, "/a\\x0a\\x1b[31m\\xff");
	assert_string_equal(m->decision->class_name, "normal");
	assert_string_equal(m->decision->winner->source, "inherited");
	assert_string_equal(m->decision->winner->key, "");
	forget(m);
	strcpy(e.decision.assignment_id, "a-1");
	m = encode(&e);
	assert_string_equal(m->decision->winner->key, "assignment_id");
	assert_string_equal(m->decision->winner->value, "a-1");
	forget(m);
}

static void cores_and_congestion(void **state)
{
	struct event move = { .epoch = "aa", .type = EVENT_REALLOCATION, .class_name = "web",
			      .cause.source = EVENT_FROM_ALLOCATOR,
			      .reallocation = { .cpu = 3, .trigger = "congestion", .took_ns = UINT64_C(1000000001),
						.plan_generation = 8 } };
	struct event full = { .epoch = "aa", .type = EVENT_CONGESTION, .class_name = "web",
			      .congestion = { .llc = 2, .began = true, .oldest_wait_ns = 5 } };
	MSG(Event) *m;

	(void)state;
	m = encode(&move);
	assert_string_equal(m->actor->source, "allocator");
	assert_int_equal(m->detail_case, SCHEDD__V1ALPHA1__EVENT__DETAIL_REALLOCATION);
	assert_int_equal(m->reallocation->cpu_id, 3);
	assert_string_equal(m->reallocation->to_class_name, "web");
	assert_string_equal(m->reallocation->from_class_name, "");
	assert_string_equal(m->reallocation->trigger, "congestion");
	assert_int_equal(m->reallocation->took->seconds, 1);
	assert_int_equal(m->reallocation->took->nanos, 1);
	assert_int_equal(m->reallocation->plan_generation, 8);
	forget(m);
	m = encode(&full);
	assert_int_equal(m->detail_case, SCHEDD__V1ALPHA1__EVENT__DETAIL_CONGESTION);
	assert_string_equal(m->congestion->class_name, "web");
	assert_int_equal(m->congestion->llc_id, 2);
	assert_int_equal(m->congestion->oldest_wait->nanos, 5);
	assert_true(m->congestion->began);
	forget(m);
}

static void state_configuration_and_what_was_dropped(void **state)
{
	struct event changed = { .epoch = "aa", .type = EVENT_STATE_CHANGED, .cause.source = EVENT_FROM_KERNEL,
				 .state = { .from = "attached", .to = "held", .exit_kind = "sysrq", .message = "why" } };
	struct event config = { .epoch = "aa", .type = EVENT_CONFIG_CHANGED, .cause.source = EVENT_FROM_CONFIG,
				.config = { .config_generation = 4, .error = "schedd.yaml:3:9: no" } };
	struct event lost = { .epoch = "aa", .sequence = 30, .type = EVENT_DROPPED,
			      .dropped = { .first_sequence = 21, .last_sequence = 30 } };
	MSG(Event) *m;

	(void)state;
	m = encode(&changed);
	assert_int_equal(m->detail_case, SCHEDD__V1ALPHA1__EVENT__DETAIL_STATE_CHANGE);
	assert_string_equal(m->actor->source, "kernel");
	assert_string_equal(m->state_change->from_state, "attached");
	assert_string_equal(m->state_change->to_state, "held");
	assert_string_equal(m->state_change->exit_kind, "sysrq");
	assert_string_equal(m->state_change->message, "why");
	forget(m);
	m = encode(&config);
	assert_int_equal(m->detail_case, SCHEDD__V1ALPHA1__EVENT__DETAIL_CONFIG_CHANGE);
	assert_false(m->config_change->accepted);
	assert_string_equal(m->config_change->error, "schedd.yaml:3:9: no");
	assert_int_equal(m->config_change->config_generation, 4);
	forget(m);
	m = encode(&lost);
	assert_int_equal(m->detail_case, SCHEDD__V1ALPHA1__EVENT__DETAIL_DROPPED);
	assert_null(m->actor);
	assert_int_equal(m->sequence, 30);
	assert_int_equal(m->dropped->count, 10);
	assert_int_equal(m->dropped->first_sequence, 21);
	assert_int_equal(m->dropped->last_sequence, 30);
	forget(m);
}

/* Whatever the type, and filled with nothing. */
static void empty_events_are_encoded(void **state)
{
	(void)state;
	for (int type = 0; type < NR_EVENT_TYPES; type++) {
		struct event e = { .type = (enum event_type)type };
		MSG(Event) *m = encode(&e);

		assert_int_equal(m->type, type);
		forget(m);
	}
}

#define T(name) cmocka_unit_test_teardown(name, codec_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_empty_request_has_defaults),
		T(everything_is_read),
		T(bad_filters_are_refused),
		T(half_a_position_is_refused),
		T(numbers_are_those_of_the_schema),
		T(a_class_with_who_changed_it),
		T(a_decision_with_a_hostile_path),
		T(cores_and_congestion),
		T(state_configuration_and_what_was_dropped),
		T(empty_events_are_encoded),
	};

	return cmocka_run_group_tests_name("codec_event", tests, NULL, NULL);
}
