// SPDX-License-Identifier: GPL-2.0-or-later
/* target.c - a TARGET as typed: path, unit, pod, container, process */
#include "api/ctl/target.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl/out.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

enum { CONTAINER_ID_MIN = 12, CONTAINER_ID_MAX = 64 };

static const char *const unit_suffixes[] = { ".service", ".slice", ".scope", ".socket", ".mount",    ".swap",
					     ".target",	 ".timer", ".path",  ".device", ".automount" };

struct parse {
	struct target *target;
	char *rest; /* in target->text, may be cut into pieces */
	const char *mount;
	char *error;
	size_t error_size;
};

__attribute__((format(printf, 2, 3))) static int target_fail(struct parse *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->error, p->error_size, format, args);
	va_end(args);
	return -EINVAL;
}

/* /sys/fs/cgroup/x is what shells complete; to the daemon it is /x. */
static char *path_below_mount(char *path, const char *mount)
{
	size_t n = strlen(mount);

	while (n > 1 && mount[n - 1] == '/')
		n--;
	if (n > 1 && !strncmp(path, mount, n) && (path[n] == '/' || !path[n]))
		return path + n;
	return path;
}

static int parse_path(struct parse *p)
{
	static char root[] = "/";
	char *path = path_below_mount(p->rest, p->mount);
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	p->target->message.cgroup_path = n ? path : root;
	p->target->message.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_PATH;
	return 0;
}

static int parse_cgroup_id(struct parse *p)
{
	uint64_t id;

	if (str_parse_u64(p->rest, UINT64_MAX, &id) < 0 || !id)
		return target_fail(p, "cgroup-id: `%s' is no cgroup id; `schedctl cgroup list -o wide' shows them", p->rest);
	p->target->message.cgroup_id = id;
	p->target->message.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_ID;
	return 0;
}

static int parse_unit(struct parse *p)
{
	if (!*p->rest || strchr(p->rest, '/'))
		return target_fail(p, "unit: `%s' is no unit name; write one such as unit:nginx.service", p->rest);
	p->target->message.unit = p->rest;
	p->target->message.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_UNIT;
	return 0;
}

static int parse_pod(struct parse *p)
{
	Schedd__V1alpha1__PodTarget *pod = &p->target->pod;
	char *name, *container;

	name = strchr(p->rest, '/');
	if (!name || name == p->rest || !name[1] || name[1] == '/')
		return target_fail(p, "pod: `%s' is no pod; write pod:NAMESPACE/NAME or pod:NAMESPACE/NAME/CONTAINER",
			    p->rest);
	container = strchr(name + 1, '/');
	if (container && (!container[1] || strchr(container + 1, '/')))
		return target_fail(p, "pod: `%s' has %s; write pod:NAMESPACE/NAME/CONTAINER", p->rest,
			    container[1] ? "too many parts" : "an empty container name");
	schedd__v1alpha1__pod_target__init(pod);
	*name++ = '\0';
	pod->namespace_ = p->rest;
	pod->name = name;
	if (container) {
		*container++ = '\0';
		pod->container = container;
	}
	p->target->message.pod = pod;
	p->target->message.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_POD;
	return 0;
}

static int parse_container(struct parse *p)
{
	size_t n = strlen(p->rest);

	if (n < CONTAINER_ID_MIN || n > CONTAINER_ID_MAX || strspn(p->rest, "0123456789abcdef") != n)
		return target_fail(p, "container: `%s' is no container id: 12 to 64 of the digits 0-9 and a-f", p->rest);
	p->target->message.container_id = p->rest;
	p->target->message.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CONTAINER_ID;
	return 0;
}

static int parse_pid(struct parse *p)
{
	uint64_t pid;

	if (str_parse_u64(p->rest, INT_MAX, &pid) < 0 || !pid)
		return target_fail(p, "pid: `%s' is no process number", p->rest);
	schedd__v1alpha1__pid_target__init(&p->target->process);
	p->target->process.pid = (int32_t)pid;
	p->target->message.process = &p->target->process;
	p->target->message.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_PROCESS;
	return 0;
}

static const struct {
	const char *prefix;
	int (*parse)(struct parse *p);
} prefixes[] = {
	{ "unit:", parse_unit },	   { "pod:", parse_pod }, { "container:", parse_container },
	{ "cgroup-id:", parse_cgroup_id }, { "pid:", parse_pid },
};

static bool has_unit_suffix(const char *text)
{
	size_t length = strlen(text), i, n;

	for (i = 0; i < ARRAY_SIZE(unit_suffixes); i++) {
		n = strlen(unit_suffixes[i]);
		if (length > n && !strcmp(text + length - n, unit_suffixes[i]))
			return true;
	}
	return false;
}

static int parse_any(struct parse *p)
{
	size_t i;

	if (*p->rest == '/')
		return parse_path(p);
	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(p->rest, prefixes[i].prefix, strlen(prefixes[i].prefix))) {
			p->rest += strlen(prefixes[i].prefix);
			return prefixes[i].parse(p);
		}
	if (!strchr(p->rest, '/') && has_unit_suffix(p->rest))
		return parse_unit(p);
	if (!*p->rest)
		return target_fail(p, "the target is empty");
	if (strchr(p->rest, '/'))
		return target_fail(p, "target `%s': a cgroup path begins with `/'", p->rest);
	return target_fail(
		p,
		"target `%s' is not understood: write /PATH, %s.service, unit:NAME, pod:NAMESPACE/NAME, container:ID, "
		"pid:NUMBER, cgroup-id:NUMBER, or --self",
		p->rest, p->rest);
}

int target_parse(const char *text, const char *mount, struct target *ret, char *error, size_t error_size)
{
	struct parse p = { ret, ret->text, mount, error, error_size };

	schedd__v1alpha1__target__init(&ret->message);
	if (str_copy(ret->text, sizeof(ret->text), text) < 0)
		return target_fail(&p, "the target is longer than a path can be (4095 bytes)");
	return parse_any(&p);
}

void target_set_self(struct target *ret)
{
	schedd__v1alpha1__target__init(&ret->message);
	schedd__v1alpha1__self_target__init(&ret->self);
	ret->message.self = &ret->self;
	ret->message.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_SELF;
}

char *target_format(const Schedd__V1alpha1__Target *t)
{
	_cleanup_free_ char *text = NULL;
	int n = -1;

	switch (t ? t->target_case : SCHEDD__V1ALPHA1__TARGET__TARGET__NOT_SET) {
	case SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_PATH:
		return out_path(t->cgroup_path);
	case SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_ID:
		n = asprintf(&text, "cgroup-id:%" PRIu64, t->cgroup_id);
		break;
	case SCHEDD__V1ALPHA1__TARGET__TARGET_UNIT:
		return out_path(t->unit);
	case SCHEDD__V1ALPHA1__TARGET__TARGET_POD:
		n = asprintf(&text, "pod:%s/%s%s%s", t->pod->namespace_, t->pod->name, *t->pod->container ? "/" : "",
			     t->pod->container);
		break;
	case SCHEDD__V1ALPHA1__TARGET__TARGET_CONTAINER_ID:
		n = asprintf(&text, "container:%s", t->container_id);
		break;
	case SCHEDD__V1ALPHA1__TARGET__TARGET_PROCESS:
		n = asprintf(&text, "pid:%" PRId32, t->process->pid);
		break;
	default:
		break;
	}
	if (n < 0)
		text = NULL;
	return out_text(text ? text : "-");
}
