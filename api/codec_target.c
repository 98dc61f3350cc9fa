/* SPDX-License-Identifier: GPL-2.0-or-later */
/* codec_target.c - what a call is about: the target of a request, and of an assignment */
#include <stdio.h>
#include <string.h>

#include "api/codec_private.h"

enum { CONTAINER_ID_MIN = 12, CONTAINER_ID_MAX = 64 };

static bool decode_pod(struct codec_request *r, const Schedd__V1alpha1__PodTarget *pod, struct reply *reply)
{
	if (!check_name(reply, "target.pod.namespace", pod->namespace_, CHECK_NAME_MAX) ||
	    !check_name(reply, "target.pod.name", pod->name, CHECK_NAME_MAX) ||
	    !check_text(reply, "target.pod.uid", pod->uid, CHECK_NAME_MAX) ||
	    !check_text(reply, "target.pod.container", pod->container, CHECK_NAME_MAX))
		return false;
	r->cmd.target.type = TARGET_POD;
	r->cmd.target.path = arena_printf(&r->arena, "%s/%s%s%s", pod->namespace_, pod->name,
					  *pod->container ? "/" : "", pod->container);
	if (r->cmd.target.path)
		return true;
	reply_fail(reply, COMMAND_RESOURCE_EXHAUSTED, REASON(OUT_OF_MEMORY), "no memory for the target");
	return false;
}

static bool decode_process(struct codec_request *r, const Schedd__V1alpha1__PidTarget *process, struct reply *reply)
{
	if (process->pid < 1)
		return check_refuse(reply, REASON(INVALID_VALUE), "target.process.pid", "is %d, must be at least 1",
				    process->pid);
	r->cmd.target.type = TARGET_PID;
	r->cmd.target.pid = process->pid;
	r->cmd.target.pid_start_time_ticks = process->start_time_ticks;
	return true;
}

static bool decode_id(struct codec_request *r, uint64_t id, struct reply *reply)
{
	if (!id)
		return check_refuse(reply, REASON(INVALID_VALUE), "target.cgroup_id", "must not be 0");
	r->cmd.target.type = TARGET_ID;
	r->cmd.target.cgroup_id = id;
	return true;
}

static bool take_text(struct codec_request *r, enum command_target_type type, const char *text)
{
	r->cmd.target.type = type;
	r->cmd.target.path = text;
	return true;
}

bool codec_target_decode(struct codec_request *r, const Schedd__V1alpha1__Target *m, struct reply *reply)
{
	switch (m ? m->target_case : SCHEDD__V1ALPHA1__TARGET__TARGET__NOT_SET) {
	case SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_PATH:
		return check_path(reply, "target.cgroup_path", m->cgroup_path) &&
		       take_text(r, TARGET_PATH, m->cgroup_path);
	case SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_ID:
		return decode_id(r, m->cgroup_id, reply);
	case SCHEDD__V1ALPHA1__TARGET__TARGET_UNIT:
		return check_unit(reply, "target.unit", m->unit) && take_text(r, TARGET_UNIT, m->unit);
	case SCHEDD__V1ALPHA1__TARGET__TARGET_POD:
		return decode_pod(r, m->pod, reply);
	case SCHEDD__V1ALPHA1__TARGET__TARGET_CONTAINER_ID:
		return check_hex(reply, "target.container_id", m->container_id, CONTAINER_ID_MIN, CONTAINER_ID_MAX) &&
		       take_text(r, TARGET_CONTAINER, m->container_id);
	case SCHEDD__V1ALPHA1__TARGET__TARGET_PROCESS:
		return decode_process(r, m->process, reply);
	case SCHEDD__V1ALPHA1__TARGET__TARGET_SELF:
		return take_text(r, TARGET_SELF, "");
	default:
		return check_refuse(reply, REASON(TARGET_MISSING), "target",
				    "one of cgroup_path, cgroup_id, unit, pod, container_id, process or self "
				    "is required");
	}
}

static void encode_pod(struct encoder *e, const char *text, Schedd__V1alpha1__Target *m)
{
	char *slash;

	m->target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_POD;
	m->pod = encode_message(e, &schedd__v1alpha1__pod_target__descriptor);
	m->pod->namespace_ = encode_text(e, text);
	slash = strchr(m->pod->namespace_, '/');
	if (!slash)
		return;
	*slash = '\0';
	m->pod->name = slash + 1;
	slash = strchr(m->pod->name, '/');
	if (!slash)
		return;
	*slash = '\0';
	m->pod->container = slash + 1;
}

Schedd__V1alpha1__Target *encode_target(struct encoder *e, const struct assignment_view *view)
{
	Schedd__V1alpha1__Target *m = encode_message(e, &schedd__v1alpha1__target__descriptor);
	const char *text = view->target_text ? view->target_text : "";

	switch (view->target_type) {
	case TARGET_UNIT:
		m->target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_UNIT;
		m->unit = encode_text(e, text);
		break;
	case TARGET_CONTAINER:
		m->target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CONTAINER_ID;
		m->container_id = encode_text(e, text);
		break;
	case TARGET_POD:
		encode_pod(e, text, m);
		break;
	case TARGET_NONE:
		break;
	default:
		/* The process may be gone and a number says little: those kept by cgroup are shown by its path. */
		m->target_case = *text ? SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_PATH :
					 SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_ID;
		if (*text)
			m->cgroup_path = encode_text(e, text);
		else
			m->cgroup_id = view->cgroup_id;
	}
	return m;
}
