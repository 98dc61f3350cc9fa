/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_assign.c - assignments made by calls, their ends, and the requests that made them */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/state_private.h"

#define NS_PER_MS UINT64_C(1000000)

void state_assignment_clear(struct state_assignment *a)
{
	free(a->target_text);
	free(a->reason);
	memset(a, 0, sizeof(*a));
}

int state_assignment_copy(const struct state_assignment *a, struct state_assignment *ret_copy)
{
	struct state_assignment copy = *a;

	copy.target_text = strdup(a->target_text);
	copy.reason = strdup(a->reason ?: "");
	if (!copy.target_text || !copy.reason) {
		free(copy.target_text);
		free(copy.reason);
		return -ENOMEM;
	}
	*ret_copy = copy;
	return 0;
}

struct state_assignment *state_find_assignment(struct state *s, const char *id)
{
	for (size_t i = 0; i < s->nr_assignments; i++)
		if (strcmp(s->assignments[i].id, id) == 0)
			return &s->assignments[i];
	return NULL;
}

static bool names_a_path(enum command_target_type type)
{
	return type == TARGET_PATH || type == TARGET_ID || type == TARGET_PID || type == TARGET_SELF;
}

struct state_assignment *state_find_assignment_for(struct state *s, enum command_target_type type, const char *text,
						   uint64_t cgroup_id)
{
	for (size_t i = 0; i < s->nr_assignments; i++) {
		struct state_assignment *a = &s->assignments[i];

		if (cgroup_id && a->cgroup_id) {
			if (a->cgroup_id == cgroup_id)
				return a;
			continue;
		}
		if (text && strcmp(a->target_text, text) == 0 &&
		    (a->target_type == type || (names_a_path(a->target_type) && names_a_path(type))))
			return a;
	}
	return NULL;
}

/*
 * Time first, so that ids are in order and those of an earlier run never come
 * again; fixed width, so that the order of text is the order of time.
 */
void state_make_id(struct state *s, uint64_t create_realtime_ns, char ret_id[STATE_ID_MAX + 1])
{
	do
		snprintf(ret_id, STATE_ID_MAX + 1, "%012llx-%08llx",
			 (unsigned long long)(create_realtime_ns / NS_PER_MS) & 0xffffffffffff,
			 (unsigned long long)s->next_id++ & 0xffffffff);
	while (state_find_assignment(s, ret_id) || state_find_lease(s, ret_id));
}

static struct state_assignment *append(struct state *s)
{
	struct state_assignment *bigger;

	bigger = reallocarray(s->assignments, s->nr_assignments + 1, sizeof(*bigger));
	if (!bigger)
		return NULL;
	s->assignments = bigger;
	memset(&bigger[s->nr_assignments], 0, sizeof(*bigger));
	return &bigger[s->nr_assignments++];
}

int state_set_assignment(struct state *s, const struct state_assignment *a, struct state_assignment **ret_assignment)
{
	struct state_assignment copy, *old;
	int r;

	if (!a->target_text || a->target_type == TARGET_NONE)
		return -EINVAL;
	if (state_find_class(s, a->class_name) < 0)
		return -ENOENT;
	old = state_find_assignment_for(s, a->target_type, a->target_text, a->cgroup_id);
	if (!old && s->nr_assignments >= STATE_MAX_ASSIGNMENTS)
		return -ENOSPC;
	r = state_assignment_copy(a, &copy);
	if (r < 0)
		return r;
	if (!old)
		old = append(s);
	if (!old) {
		state_assignment_clear(&copy);
		return -ENOMEM;
	}
	if (!copy.id[0])
		state_make_id(s, copy.create_realtime_ns, copy.id);
	state_assignment_clear(old);
	*old = copy;
	if (ret_assignment)
		*ret_assignment = old;
	return 0;
}

void state_remove_assignment(struct state *s, size_t index)
{
	state_assignment_clear(&s->assignments[index]);
	memmove(&s->assignments[index], &s->assignments[index + 1],
		(s->nr_assignments - index - 1) * sizeof(*s->assignments));
	s->nr_assignments--;
}

static void forget_requests(struct state *s, uint64_t boottime_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr_requests; i++)
		if (s->requests[i].expire_boottime_ns > boottime_ns)
			s->requests[kept++] = s->requests[i];
	s->nr_requests = kept;
}

bool state_expire(struct state *s, uint64_t boottime_ns, uint64_t *ret_next_boottime_ns)
{
	uint64_t next = 0;
	bool changed = state_expire_leases(s, boottime_ns, &next);

	for (size_t i = 0; i < s->nr_assignments;) {
		uint64_t end = s->assignments[i].expire_boottime_ns;

		if (end && end <= boottime_ns) {
			state_remove_assignment(s, i);
			changed = true;
			continue;
		}
		if (end && (!next || end < next))
			next = end;
		i++;
	}
	forget_requests(s, boottime_ns);
	if (ret_next_boottime_ns)
		*ret_next_boottime_ns = next;
	return changed;
}

bool state_cgroup_removed(struct state *s, uint64_t cgroup_id)
{
	struct cgroup_node *node = cgroup_tree_find_id(s->tree, cgroup_id);
	bool changed = false;

	if (node && node->counted) {
		s->classes[node->class_idx].member_cgroups--;
		node->counted = false;
	}
	for (size_t i = 0; i < s->nr_assignments;) {
		struct state_assignment *a = &s->assignments[i];

		if (!cgroup_id || a->cgroup_id != cgroup_id) {
			i++;
			continue;
		}
		changed = true;
		if (a->lifetime == LIFETIME_CGROUP || a->lifetime == LIFETIME_UNSET) {
			state_remove_assignment(s, i);
			continue;
		}
		a->cgroup_id = 0;
		i++;
	}
	return changed;
}

bool state_cgroup_added(struct state *s, struct cgroup_node *node)
{
	char path[4096];
	bool bound = false;

	if (!s->nr_assignments || cgroup_node_path(node, path, sizeof(path)) < 0)
		return false;
	for (size_t i = 0; i < s->nr_assignments; i++) {
		struct state_assignment *a = &s->assignments[i];

		if (a->cgroup_id || !names_a_path(a->target_type) || strcmp(a->target_text, path) != 0)
			continue;
		a->cgroup_id = node->id;
		bound = true;
	}
	return bound;
}

const struct state_request *state_find_request(const struct state *s, const char *request_id, uid_t uid,
					       enum command_type type, uint64_t boottime_ns)
{
	for (size_t i = 0; i < s->nr_requests; i++) {
		const struct state_request *q = &s->requests[i];

		if (q->uid == uid && q->type == type && q->expire_boottime_ns > boottime_ns &&
		    strcmp(q->request_id, request_id) == 0)
			return q;
	}
	return NULL;
}

static void forget_oldest_request(struct state *s)
{
	size_t oldest = 0;

	for (size_t i = 1; i < s->nr_requests; i++)
		if (s->requests[i].expire_boottime_ns < s->requests[oldest].expire_boottime_ns)
			oldest = i;
	s->requests[oldest] = s->requests[--s->nr_requests];
}

int state_add_request(struct state *s, const struct state_request *request, uint64_t boottime_ns)
{
	struct state_request *bigger;

	forget_requests(s, boottime_ns);
	if (s->nr_requests >= STATE_MAX_REQUESTS)
		forget_oldest_request(s);
	bigger = reallocarray(s->requests, s->nr_requests + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	s->requests = bigger;
	bigger[s->nr_requests++] = *request;
	return 0;
}
