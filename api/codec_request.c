/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_request.c - bytes of a request -> struct command, one function for each call */
#include <string.h>

#include "api/codec_private.h"
#include "daemon/base/cleanup.h"

enum { HOLD_MIN_NS = 1000000, TTL_MIN_NS = 1000000, ETAG_MAX = 64, ASSIGNMENT_ID_MAX = 64 };
enum { LEASE_TTL_MIN_NS = 1000000000, LEASE_ID_MAX = 36, CPUS_MAX = SCHEDD_MAX_CPUS };

typedef bool request_decoder(struct codec_request *r, void *message, struct reply *reply);

static bool decode_change(struct codec_request *r, Schedd__V1alpha1__Change *m, struct reply *reply)
{
	struct command_change *change = &r->cmd.change;

	if (!m)
		return true;
	if (*m->request_id && !check_uuid(reply, "change.request_id", m->request_id))
		return false;
	if (!check_text(reply, "change.reason", m->reason, CHECK_REASON_MAX))
		return false;
	change->request_id = m->request_id;
	change->reason = m->reason;
	change->validate_only = m->validate_only;
	change->has_expected_generation = m->expected_config_generation;
	if (m->expected_config_generation)
		change->expected_config_generation = m->expected_config_generation->value;
	return true;
}

static bool decode_etag(struct codec_request *r, const char *etag, struct reply *reply)
{
	r->cmd.etag = etag;
	return check_text(reply, "etag", etag, ETAG_MAX);
}

/* A filter: empty means every class. */
static bool decode_class_filter(struct codec_request *r, const char *name, struct reply *reply)
{
	return !*name || check_class_name(reply, "class_name", name, &r->cmd.class_name);
}

static bool decode_nothing(struct codec_request *r, void *message, struct reply *reply)
{
	(void)r;
	(void)message;
	(void)reply;
	return true;
}

static bool decode_set_mode(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__SetModeRequest *m = message;

	if (!decode_change(r, m->change, reply))
		return false;
	if (mode_parse(m->mode, &r->cmd.mode) < 0)
		return check_refuse(reply, REASON(INVALID_VALUE), "mode",
				    "must be auto, active, observe, paused or detached");
	r->cmd.has_hold_for = m->hold_for;
	return !m->hold_for || check_duration(reply, "hold_for", m->hold_for, HOLD_MIN_NS, &r->cmd.hold_for_ns);
}

static bool decode_reload(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__ReloadConfigRequest *m = message;

	return decode_change(r, m->change, reply);
}

static bool decode_list_classes(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__ListClassesRequest *m = message;

	return check_page(reply, m->page_size, m->page_token, &r->cmd);
}

static bool decode_get_class(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__GetClassRequest *m = message;

	return check_class_name(reply, "class_name", m->class_name, &r->cmd.class_name);
}

static bool decode_upsert_class(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__UpsertClassRequest *m = message;

	if (!decode_change(r, m->change, reply) || !decode_etag(r, m->etag, reply))
		return false;
	if (m->must_exist && m->must_not_exist)
		return check_refuse(reply, REASON(INVALID_VALUE), "must_not_exist", "excludes must_exist");
	r->cmd.must_exist = m->must_exist;
	r->cmd.must_not_exist = m->must_not_exist;
	r->cmd.persistent = m->persistent;
	return codec_class_decode(r, m, reply);
}

static bool decode_revert_class(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__RevertClassRequest *m = message;

	return decode_change(r, m->change, reply) && decode_etag(r, m->etag, reply) &&
	       check_class_name(reply, "class_name", m->class_name, &r->cmd.class_name);
}

static bool decode_delete_class(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__DeleteClassRequest *m = message;

	return decode_change(r, m->change, reply) && decode_etag(r, m->etag, reply) &&
	       check_class_name(reply, "class_name", m->class_name, &r->cmd.class_name);
}

static bool decode_set_class(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__SetClassRequest *m = message;

	if (!decode_change(r, m->change, reply) || !codec_target_decode(r, m->target, reply) ||
	    !check_class_name(reply, "class_name", m->class_name, &r->cmd.class_name) ||
	    !check_enum(reply, "lifetime", &schedd__v1alpha1__lifetime__descriptor, (int)m->lifetime))
		return false;
	r->cmd.lifetime = (enum command_lifetime)m->lifetime;
	r->cmd.whole_subtree = m->whole_subtree;
	r->cmd.accept_shared_cgroup = m->accept_shared_cgroup;
	r->cmd.force_protected = m->force_protected;
	r->cmd.has_ttl = m->ttl;
	return !m->ttl || check_duration(reply, "ttl", m->ttl, TTL_MIN_NS, &r->cmd.ttl_ns);
}

static bool decode_unset_class(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__UnsetClassRequest *m = message;

	if (!decode_change(r, m->change, reply))
		return false;
	if (!*m->assignment_id)
		return codec_target_decode(r, m->target, reply);
	if (m->target)
		return check_refuse(reply, REASON(TARGET_MISSING), "assignment_id",
				    "give target or assignment_id, not both");
	r->cmd.assignment_id = m->assignment_id;
	return check_text(reply, "assignment_id", m->assignment_id, ASSIGNMENT_ID_MAX);
}

static bool decode_list_assignments(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__ListAssignmentsRequest *m = message;

	return check_page(reply, m->page_size, m->page_token, &r->cmd) &&
	       decode_class_filter(r, m->class_name, reply);
}

static bool decode_explain_target(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__ExplainTargetRequest *m = message;

	return codec_target_decode(r, m->target, reply);
}

static bool decode_list_cgroups(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__ListCgroupsRequest *m = message;

	return check_page(reply, m->page_size, m->page_token, &r->cmd) &&
	       decode_class_filter(r, m->class_name, reply);
}

static bool decode_get_plan(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__GetPlanRequest *m = message;

	r->cmd.full_view = m->view == SCHEDD__V1ALPHA1__GET_PLAN_REQUEST__VIEW__VIEW_FULL;
	return check_enum(reply, "view", &schedd__v1alpha1__get_plan_request__view__descriptor, (int)m->view);
}

/* ---------- leases ---------- */

static bool decode_lease_ttl(struct codec_request *r, const Google__Protobuf__Duration *ttl, struct reply *reply)
{
	if (!ttl)
		return check_refuse(reply, REASON(INVALID_VALUE), "ttl", "is required: a lease ends by itself");
	r->cmd.has_ttl = true;
	return check_duration(reply, "ttl", ttl, LEASE_TTL_MIN_NS, &r->cmd.ttl_ns);
}

static bool decode_cpus(struct codec_request *r, uint32_t cpus, uint32_t min_cpus, int wait_for, struct reply *reply)
{
	if (!cpus || cpus > CPUS_MAX)
		return check_refuse(reply, REASON(INVALID_VALUE), "cpus", "must be from 1 to %d", CPUS_MAX);
	if (min_cpus > cpus)
		return check_refuse(reply, REASON(INVALID_VALUE), "min_cpus", "must not be above cpus, which is %u", cpus);
	if (!check_enum(reply, "wait_for", &schedd__v1alpha1__wait_for__descriptor, wait_for))
		return false;
	r->cmd.cpus = cpus;
	r->cmd.min_cpus = min_cpus;
	r->cmd.wait_for = wait_for ? (enum lease_wait)wait_for : LEASE_WAIT_OWNED;
	return true;
}

static bool decode_grant_cores(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__GrantCoresRequest *m = message;

	r->cmd.has_numa_node = m->numa_node;
	r->cmd.numa_node = m->numa_node ? m->numa_node->value : 0;
	return decode_change(r, m->change, reply) &&
	       check_class_name(reply, "class_name", m->class_name, &r->cmd.class_name) &&
	       decode_cpus(r, m->cpus, m->min_cpus, (int)m->wait_for, reply) && decode_lease_ttl(r, m->ttl, reply);
}

static bool decode_reassign_cores(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__ReassignCoresRequest *m = message;

	return decode_change(r, m->change, reply) &&
	       check_class_name(reply, "from_class_name", m->from_class_name, &r->cmd.from_class_name) &&
	       check_class_name(reply, "to_class_name", m->to_class_name, &r->cmd.class_name) &&
	       decode_cpus(r, m->cpus, m->min_cpus, (int)m->wait_for, reply) && decode_lease_ttl(r, m->ttl, reply);
}

static bool decode_lease_id(struct codec_request *r, const char *id, struct reply *reply)
{
	r->cmd.lease_id = id;
	return check_name(reply, "lease_id", id, LEASE_ID_MAX);
}

static bool decode_renew_lease(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__RenewLeaseRequest *m = message;

	return decode_change(r, m->change, reply) && decode_lease_id(r, m->lease_id, reply) &&
	       decode_lease_ttl(r, m->ttl, reply);
}

static bool decode_release_lease(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__ReleaseLeaseRequest *m = message;

	r->cmd.allow_missing = m->allow_missing;
	return decode_change(r, m->change, reply) && decode_lease_id(r, m->lease_id, reply);
}

static bool decode_list_leases(struct codec_request *r, void *message, struct reply *reply)
{
	Schedd__V1alpha1__ListLeasesRequest *m = message;

	return check_page(reply, m->page_size, m->page_token, &r->cmd) &&
	       decode_class_filter(r, m->class_name, reply);
}

static bool decode_watch_events(struct codec_request *r, void *message, struct reply *reply)
{
	return codec_watch_decode(message, reply, &r->cmd.watch);
}

static const struct request_info {
	const ProtobufCMessageDescriptor *descriptor;
	request_decoder *decode;
} requests[] = {
	[COMMAND_GET_STATUS] = { &schedd__v1alpha1__get_status_request__descriptor, decode_nothing },
	[COMMAND_SET_MODE] = { &schedd__v1alpha1__set_mode_request__descriptor, decode_set_mode },
	[COMMAND_RELOAD_CONFIG] = { &schedd__v1alpha1__reload_config_request__descriptor, decode_reload },
	[COMMAND_GET_CONFIG] = { &schedd__v1alpha1__get_config_request__descriptor, decode_nothing },
	[COMMAND_LIST_CLASSES] = { &schedd__v1alpha1__list_classes_request__descriptor, decode_list_classes },
	[COMMAND_GET_CLASS] = { &schedd__v1alpha1__get_class_request__descriptor, decode_get_class },
	[COMMAND_UPSERT_CLASS] = { &schedd__v1alpha1__upsert_class_request__descriptor, decode_upsert_class },
	[COMMAND_REVERT_CLASS] = { &schedd__v1alpha1__revert_class_request__descriptor, decode_revert_class },
	[COMMAND_DELETE_CLASS] = { &schedd__v1alpha1__delete_class_request__descriptor, decode_delete_class },
	[COMMAND_SET_CLASS] = { &schedd__v1alpha1__set_class_request__descriptor, decode_set_class },
	[COMMAND_UNSET_CLASS] = { &schedd__v1alpha1__unset_class_request__descriptor, decode_unset_class },
	[COMMAND_LIST_ASSIGNMENTS] = { &schedd__v1alpha1__list_assignments_request__descriptor,
				       decode_list_assignments },
	[COMMAND_EXPLAIN_TARGET] = { &schedd__v1alpha1__explain_target_request__descriptor, decode_explain_target },
	[COMMAND_LIST_CGROUPS] = { &schedd__v1alpha1__list_cgroups_request__descriptor, decode_list_cgroups },
	[COMMAND_GET_PLAN] = { &schedd__v1alpha1__get_plan_request__descriptor, decode_get_plan },
	[COMMAND_GRANT_CORES] = { &schedd__v1alpha1__grant_cores_request__descriptor, decode_grant_cores },
	[COMMAND_REASSIGN_CORES] = { &schedd__v1alpha1__reassign_cores_request__descriptor, decode_reassign_cores },
	[COMMAND_RENEW_LEASE] = { &schedd__v1alpha1__renew_lease_request__descriptor, decode_renew_lease },
	[COMMAND_RELEASE_LEASE] = { &schedd__v1alpha1__release_lease_request__descriptor, decode_release_lease },
	[COMMAND_LIST_LEASES] = { &schedd__v1alpha1__list_leases_request__descriptor, decode_list_leases },
	[COMMAND_WATCH_EVENTS] = { &schedd__v1alpha1__watch_events_request__descriptor, decode_watch_events },
};
_Static_assert(ARRAY_SIZE(requests) == NR_COMMANDS, "every command has a decoder");

/* ---------- content hash: FNV-1a over what the message packs to, so equal content is equal bytes ---------- */

struct hash_buffer {
	ProtobufCBuffer base;
	uint64_t hash;
};

static void hash_append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	struct hash_buffer *h = (struct hash_buffer *)buffer;

	for (size_t i = 0; i < size; i++)
		h->hash = (h->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

/* Change is field 1 of every request that carries it; the id itself must not count. */
static uint64_t content_hash(struct codec_request *r)
{
	const ProtobufCMessage *message = r->message;
	const ProtobufCFieldDescriptor *field = &message->descriptor->fields[0];
	Schedd__V1alpha1__Change *change = *(Schedd__V1alpha1__Change **)((char *)r->message + field->offset);
	struct hash_buffer h = { .base = { .append = hash_append }, .hash = UINT64_C(0xcbf29ce484222325) };
	char *request_id = change->request_id;
	const char *name = command_name(r->cmd.type);

	change->request_id = (char *)protobuf_c_empty_string;
	hash_append(&h.base, strlen(name), (const uint8_t *)name);
	protobuf_c_message_pack_to_buffer(message, &h.base);
	change->request_id = request_id;
	return h.hash;
}

enum command_status codec_request_decode(struct codec_request *r, enum command_type type, const void *bytes,
					 size_t size, const struct command_caller *caller, struct reply *reply)
{
	const struct request_info *info = &requests[type];
	struct command *cmd = &r->cmd;

	r->memory.cap_bytes = CODEC_MEMORY_MAX;
	r->arena.cap_bytes = CODEC_MEMORY_MAX;
	cmd->type = type;
	cmd->caller = *caller;
	cmd->change.request_id = cmd->change.reason = "";
	cmd->class_name = cmd->etag = cmd->assignment_id = cmd->page_token = cmd->target.path = "";
	cmd->from_class_name = cmd->lease_id = "";
	cmd->watch.epoch = "";
	cmd->page_size = CHECK_PAGE_DEFAULT;
	r->message = codec_unpack(&r->memory, info->descriptor, bytes, size);
	if (!r->message && r->memory.capped)
		return reply_fail(reply, COMMAND_RESOURCE_EXHAUSTED, API_REASON_REQUEST_TOO_BIG,
				  "%s: the request needs more than %d KiB of memory when unpacked; send less at once",
				  command_name(type), CODEC_MEMORY_MAX / 1024);
	if (!r->message)
		return reply_fail(reply, COMMAND_INVALID_ARGUMENT, API_REASON_MALFORMED_REQUEST,
				  "%s: the request is not a %s", command_name(type), info->descriptor->name);
	if (!check_strings(reply, r->message) || !info->decode(r, r->message, reply))
		return reply->status;
	if (*cmd->change.request_id)
		cmd->change.content_hash = content_hash(r);
	return COMMAND_OK;
}

void codec_request_free(struct codec_request *r)
{
	codec_unpack_free(&r->memory, r->message);
	r->message = NULL;
	arena_free(&r->arena);
}
