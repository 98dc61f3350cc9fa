/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_codec_reply.c - every field of a reply, and error details */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "google/rpc/status.pb-c.h"
#include "tests/unit/codec_fixture.h"

/* ---------- replies ---------- */

static struct reply out;
static uint8_t *packed;
static size_t packed_size;

static void *encode(enum command_type type, const ProtobufCMessageDescriptor *descriptor)
{
	free(packed);
	packed = NULL;
	assert_int_equal(codec_reply_encode(type, &out, &packed, &packed_size), 0);
	return protobuf_c_message_unpack(descriptor, NULL, packed_size, packed);
}

static void forget(void *message)
{
	protobuf_c_message_free_unpacked(message, NULL);
	free(packed);
	packed = NULL;
	memset(&out, 0, sizeof(out));
}

static void node_status_round_trip(void **state)
{
	struct condition_view conditions[] = { { "Attached", "Running", "all is well", 1, UINT64_C(1700000000000000001) },
					       { "CpuMaxEnforced", "", "", 2, 0 } };
	struct feature_view features[] = { { "ops_cgroup_set_bandwidth", "6.17", true } };
	struct class_view classes[] = { { .name = "normal", .origin = CLASS_ORIGIN_BUILTIN } };
	MSG(NodeStatus) *m;

	(void)state;
	out.node = (struct status_view){
		.mode = "auto", .state = "held", .state_reason = "a", .hold_reason = "SysRq",
		.hold_until_realtime_ns = UINT64_C(5000000001), .epoch = "e", .config_generation = 3,
		.plan_generation = 4, .version = "1", .revision = "r", .bpf_hash = "h", .kernel = "6.18",
		.online_cpus = 2, .managed_cgroups = 9, .cpu_limits_unenforced_cgroups = 1, .ejections = 5,
		.attached_ns = UINT64_C(1500000000), .uptime_ns = 7, .conditions = conditions, .nr_conditions = 2,
		.features = features, .nr_features = 1, .classes = classes, .nr_classes = 1, .healthy = true,
	};
	m = encode(COMMAND_GET_STATUS, &schedd__v1alpha1__node_status__descriptor);
	assert_non_null(m);
	assert_string_equal(m->state, "held");
	assert_int_equal(m->hold_until_time->seconds, 5);
	assert_int_equal(m->hold_until_time->nanos, 1);
	assert_int_equal(m->attached_duration->seconds, 1);
	assert_int_equal(m->attached_duration->nanos, 500000000);
	assert_int_equal(m->n_conditions, 2);
	assert_int_equal(m->conditions[0]->last_transition_time->nanos, 1);
	assert_null(m->conditions[1]->last_transition_time);
	assert_int_equal(m->conditions[1]->status, SCHEDD__V1ALPHA1__CONDITION__STATE__STATE_FALSE);
	assert_string_equal(m->features[0]->detail, "6.17");
	assert_string_equal(m->classes[0]->name, "normal");
	assert_int_equal(m->classes[0]->config_generation, 3);
	assert_true(m->healthy);
	assert_false(m->ready);
	forget(m);
}

static void class_round_trip(void **state)
{
	uint32_t owned[] = { 0, 3, 200 };
	struct class_view view = { .name = "web", .own_fields = CLASS_FIELD_WEIGHT | CLASS_FIELD_KIND,
				   .overridden_fields = CLASS_FIELD_WEIGHT, .origin = CLASS_ORIGIN_CONFIG, .etag = "7",
				   .member_cgroups = 2, .effective_guarantee_cpus = 1, .owned_cpus = owned,
				   .nr_owned_cpus = 3 };
	MSG(SchedClass) *m;

	(void)state;
	class_settings_default(&view.settings, SCHEDD_KIND_LATENCY_CRITICAL, 8);
	view.settings.weight = 300;
	out.classes = &view;
	out.nr_classes = 1;
	out.config_generation = 12;
	m = encode(COMMAND_GET_CLASS, &schedd__v1alpha1__sched_class__descriptor);
	assert_non_null(m);
	assert_int_equal(m->kind, SCHEDD__V1ALPHA1__SCHED_CLASS__KIND__KIND_LATENCY_CRITICAL);
	assert_int_equal(m->weight->value, 300);
	assert_int_equal(m->guarantee_cpus->value, view.settings.guarantee_cpus);
	assert_non_null(m->quantum);
	assert_int_equal(m->n_own_fields, 2);
	assert_string_equal(m->own_fields[0], "kind");
	assert_string_equal(m->overridden_fields[0], "weight");
	assert_int_equal(m->owned_cpu_ids[2], 200);
	assert_int_equal(m->n_held_cpu_ids, 0);
	assert_int_equal(m->config_generation, 12);
	forget(m);
}

static void what_a_reply_says_can_be_sent_back(void **state)
{
	struct class_view view = { .name = "web" };
	MSG(UpsertClassRequest) m = SCHEDD__V1ALPHA1__UPSERT_CLASS_REQUEST__INIT;
	MSG(SchedClass) *c;

	(void)state;
	class_settings_default(&view.settings, SCHEDD_KIND_NORMAL, 8);
	out.classes = &view;
	out.nr_classes = 1;
	c = encode(COMMAND_GET_CLASS, &schedd__v1alpha1__sched_class__descriptor);
	assert_non_null(c);
	m.sched_class = c;
	accepted(COMMAND_UPSERT_CLASS, &m);
	assert_int_equal(request.cmd.settings.set, view.settings.set);
	assert_memory_equal(&request.cmd.settings.slice_ns, &view.settings.slice_ns, sizeof(uint64_t));
	assert_int_equal(request.cmd.settings.weight, view.settings.weight);
	assert_int_equal(request.cmd.settings.burst_cpus, view.settings.burst_cpus);
	assert_int_equal(request.cmd.settings.congestion_ns, view.settings.congestion_ns);
	assert_string_equal(request.cmd.settings.policy, view.settings.policy);
	forget(c);
}

static void assignment_round_trip(void **state)
{
	struct decision_view affected = { .cgroup_id = 5, .cgroup_path = "/a", .class_name = "normal",
					  .winner = { .source = "call", .rule = "a-1" } };
	struct assignment_view view = { .id = "a-1", .target_type = TARGET_UNIT, .target_text = "nginx.service",
					.class_name = "normal", .lifetime = LIFETIME_RUNTIME, .state = 2,
					.actor_uid = 0, .actor_pid = 77, .actor_comm = "schedctl", .reason = "why",
					.create_realtime_ns = 1, .affected = &affected, .nr_affected = 1,
					.affected_total = 150, .config_generation = 6 };
	MSG(Assignment) *m;

	(void)state;
	out.assignments = &view;
	out.nr_assignments = 1;
	m = encode(COMMAND_SET_CLASS, &schedd__v1alpha1__assignment__descriptor);
	assert_non_null(m);
	assert_int_equal(m->target->target_case, SCHEDD__V1ALPHA1__TARGET__TARGET_UNIT);
	assert_string_equal(m->target->unit, "nginx.service");
	assert_int_equal(m->state, SCHEDD__V1ALPHA1__ASSIGNMENT__STATE__STATE_WAITING_FOR_TARGET);
	assert_non_null(m->actor->uid); /* root is a value, not absence */
	assert_int_equal(m->actor->uid->value, 0);
	assert_string_equal(m->actor->source, "api");
	assert_null(m->expire_time);
	assert_string_equal(m->affected[0]->winner->rule, "a-1");
	assert_int_equal(m->affected_total, 150);
	forget(m);
	/* Those by process and id are shown by their path, or by the id when there is none. */
	out.assignments = &view;
	out.nr_assignments = 1;
	view.target_type = TARGET_PID;
	view.target_text = "/user.slice";
	m = encode(COMMAND_UNSET_CLASS, &schedd__v1alpha1__assignment__descriptor);
	assert_string_equal(m->target->cgroup_path, "/user.slice");
	forget(m);
	out.assignments = &view;
	out.nr_assignments = 1;
	view.target_text = NULL;
	view.cgroup_id = 99;
	m = encode(COMMAND_UNSET_CLASS, &schedd__v1alpha1__assignment__descriptor);
	assert_int_equal(m->target->cgroup_id, 99);
	forget(m);
}

static void text_of_the_kernel_becomes_utf8(void **state)
{
	struct decision_view views[] = { { .cgroup_id = 1, .cgroup_path = "/plain\\x2dunit" },
					 { .cgroup_id = 2, .cgroup_path = "/\x1b[2J\\" },
					 { .cgroup_id = 3, .cgroup_path = "/\xff\xc3\xa4" },
					 { .cgroup_id = 4, .cgroup_path = "/\xc2\x9b" } };
	MSG(ListCgroupsResponse) *m;

	(void)state;
	out.decisions = views;
	out.nr_decisions = 4;
	out.next_page_token = "t";
	m = encode(COMMAND_LIST_CGROUPS, &schedd__v1alpha1__list_cgroups_response__descriptor);
	assert_non_null(m);
	assert_int_equal(m->n_decisions, 4);
	assert_string_equal(m->decisions[0]->cgroup_path, "/plain\\x2dunit");
	assert_string_equal(m->decisions[1]->cgroup_path, "/\\x1b[2J\\x5c");
	assert_string_equal(m->decisions[2]->cgroup_path, "/\\xff\xc3\xa4");
	assert_string_equal(m->decisions[3]->cgroup_path, "/\\xc2\\x9b");
	assert_string_equal(m->next_page_token, "t");
	forget(m);
}

static void config_round_trip(void **state)
{
	struct config_error_view error = { .file = "/etc/schedd/schedd.yaml", .key = "classes.web.weight",
					   .value = "x", .message = "a number", .line = 4, .column = 9 };
	const char *files[] = { "/etc/schedd/schedd.yaml" };
	MSG(ReloadConfigResponse) *reload;
	MSG(GetConfigResponse) *config;

	(void)state;
	out.config = (struct config_view){ .yaml = "a: 1\nb: 2\n", .files = files, .nr_files = 1 };
	config = encode(COMMAND_GET_CONFIG, &schedd__v1alpha1__get_config_response__descriptor);
	assert_string_equal(config->yaml, "a: 1\nb: 2\n");
	forget(config);
	out.config = (struct config_view){ .errors = &error, .nr_errors = 1, .files = files, .nr_files = 1 };
	reload = encode(COMMAND_RELOAD_CONFIG, &schedd__v1alpha1__reload_config_response__descriptor);
	assert_false(reload->accepted);
	assert_int_equal(reload->errors[0]->line, 4);
	assert_int_equal(reload->errors[0]->column, 9);
	assert_string_equal(reload->errors[0]->key, "classes.web.weight");
	assert_string_equal(reload->files[0], files[0]);
	forget(reload);
}

static void plan_round_trip(void **state)
{
	struct plan_class_view classes[] = { { "normal", 1, 0, 2, 1, 4 } };
	struct plan_cpu_view cpus[] = { { 3, 1, 0, 0, "normal", "", 1, "lease-1" } };
	MSG(Plan) *m;

	(void)state;
	out.node = (struct status_view){ .epoch = "e", .mode = "auto", .plan_generation = 8 };
	out.plan = (struct plan_view){ .policy = "static", .apply_realtime_ns = 1, .classes = classes,
				       .nr_classes = 1, .cpus = cpus, .nr_cpus = 1 };
	m = encode(COMMAND_GET_PLAN, &schedd__v1alpha1__plan__descriptor);
	assert_string_equal(m->epoch, "e");
	assert_int_equal(m->plan_generation, 8);
	assert_int_equal(m->classes[0]->reachable_cpus, 4);
	assert_int_equal(m->cpus[0]->cpu_id, 3);
	assert_string_equal(m->cpus[0]->owner_class_name, "normal");
	assert_string_equal(m->cpus[0]->lease_id, "lease-1");
	assert_int_equal(m->cpus[0]->exclusion, SCHEDD__V1ALPHA1__PLAN__EXCLUSION__EXCLUSION_NONE);
	forget(m);
}

/* An empty reply is encoded whatever the call: NULL strings of views nobody filled are no trap. */
static void empty_replies_are_encoded(void **state)
{
	uint8_t *bytes;
	size_t size;

	(void)state;
	for (int type = 0; type < NR_COMMANDS; type++) {
		bytes = NULL;
		assert_int_equal(codec_reply_encode((enum command_type)type, &out, &bytes, &size), 0);
		assert_non_null(bytes);
		free(bytes);
	}
}

/* ---------- errors ---------- */

static void status_details_stay_small(void **state)
{
	static char field[2000], text[5000];
	struct detail_view details[500];
	Google__Rpc__Status *status;
	uint8_t *bytes = NULL;
	size_t size = 0;

	(void)state;
	memset(field, 'f', sizeof(field) - 1);
	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	for (size_t i = 0; i < ARRAY_SIZE(details); i++)
		details[i] = (struct detail_view){ field, text };
	out.status = COMMAND_UNAVAILABLE;
	out.message = text;
	out.error_reason = "X";
	out.details = details;
	out.nr_details = ARRAY_SIZE(details);
	assert_int_equal(codec_status_encode(&out, &bytes, &size), 0);
	assert_true(size <= CODEC_STATUS_MAX);
	status = google__rpc__status__unpack(NULL, size, bytes);
	assert_non_null(status);
	assert_int_equal(status->code, COMMAND_UNAVAILABLE);
	assert_true(str_is_utf8(status->message));
	assert_int_equal(status->n_details, 3);
	assert_string_equal(status->details[1]->type_url, "type.googleapis.com/google.rpc.RetryInfo");
	google__rpc__status__free_unpacked(status, NULL);
	free(bytes);
	memset(&out, 0, sizeof(out));
}

static void messages_are_cut_between_characters(void **state)
{
	char cut[6];

	(void)state;
	assert_string_equal(codec_message_cut(cut, sizeof(cut), "abcde"), "abcde");
	assert_string_equal(codec_message_cut(cut, sizeof(cut), "abcdef"), "abcde");
	assert_string_equal(codec_message_cut(cut, sizeof(cut), "abcd\xc3\xa4"), "abcd");
	assert_string_equal(codec_message_cut(cut, sizeof(cut), "abc\xc3\xa4x"), "abc\xc3\xa4");
	assert_string_equal(codec_message_cut(cut, sizeof(cut), ""), "");
}

#define T(name) cmocka_unit_test_teardown(name, codec_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(node_status_round_trip),
		T(class_round_trip),
		T(what_a_reply_says_can_be_sent_back),
		T(assignment_round_trip),
		T(text_of_the_kernel_becomes_utf8),
		T(config_round_trip),
		T(plan_round_trip),
		T(empty_replies_are_encoded),
		T(status_details_stay_small),
		T(messages_are_cut_between_characters),
	};

	return cmocka_run_group_tests_name("codec_reply", tests, NULL, NULL);
}
