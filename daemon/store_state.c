/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_state.c - the state file: API classes, overrides, assignments, leases and done requests */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/store.h"
#include "daemon/store_file.h"

static const char state_name[] = "state";
static const char state_kind[] = "schedd-state";

enum { TARGET_TEXT_MAX = 4096 };

/* In the order of enum command_target_type and enum command_lifetime. */
static const char *const target_names[] = { "none", "path", "id", "unit", "pod", "container", "pid", "self" };
static const char *const lifetime_names[] = { "unset", "cgroup", "runtime", "persistent" };
_Static_assert(TARGET_SELF + 1 == ARRAY_SIZE(target_names), "a name for each target type");
_Static_assert(LIFETIME_PERSISTENT + 1 == ARRAY_SIZE(lifetime_names), "a name for each lifetime");

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---------- saving ---------- */

static void put_class(FILE *out, const struct state_class *c)
{
	struct class_settings s = c->override;
	char value[32];
	size_t i;

	if (c->origin == CLASS_ORIGIN_API) {
		s = c->config;
		class_settings_merge(&s, &c->override);
	} else {
		/* The kind comes from the configuration; a call can only have repeated it. */
		s.set &= ~(uint32_t)CLASS_FIELD_KIND;
		if (!s.set)
			return;
	}
	fputs("class", out);
	store_put_text(out, "name", c->name);
	store_put_u64(out, "own", c->origin == CLASS_ORIGIN_API);
	store_put_u64(out, "persistent", c->persistent);
	for (i = 0; i < class_nr_keys; i++)
		if (s.set & class_keys[i].field)
			store_put_text(out, class_keys[i].yaml,
				       class_settings_format_key(&s, &class_keys[i], value, sizeof(value)));
	fputc('\n', out);
}

struct save_times {
	uint64_t realtime_ns, boottime_ns;
};

/* The end by both clocks: a suspend counts within a boot, and a reboot does not lose what is left. */
static void put_expiry(FILE *out, uint64_t expire_boottime_ns, const struct save_times *now)
{
	uint64_t left = expire_boottime_ns > now->boottime_ns ? expire_boottime_ns - now->boottime_ns : 0;

	store_put_u64(out, "expires", expire_boottime_ns);
	store_put_u64(out, "expires_realtime", expire_boottime_ns ? now->realtime_ns + left : 0);
}

static void put_assignment(FILE *out, const struct state_assignment *a, const struct save_times *now)
{
	fputs("assignment", out);
	store_put_text(out, "id", a->id);
	store_put_text(out, "target", target_names[a->target_type]);
	store_put_text(out, "text", a->target_text ? a->target_text : "");
	store_put_u64(out, "cgroup", a->cgroup_id);
	store_put_text(out, "class", a->class_name);
	store_put_text(out, "lifetime", lifetime_names[a->lifetime]);
	store_put_u64(out, "subtree", a->whole_subtree);
	store_put_u64(out, "force", a->force_protected);
	store_put_u64(out, "uid", a->actor_uid);
	store_put_u64(out, "pid", a->actor_pid > 0 ? (uint64_t)a->actor_pid : 0);
	store_put_text(out, "comm", a->actor_comm);
	store_put_text(out, "reason", a->reason ? a->reason : "");
	store_put_u64(out, "created", a->create_realtime_ns);
	put_expiry(out, a->expire_boottime_ns, now);
	fputc('\n', out);
}

/* The end by one clock only: a lease never outlives the boot. */
static void put_lease(FILE *out, const struct state_lease *l)
{
	fputs("lease", out);
	store_put_text(out, "id", l->id);
	store_put_text(out, "class", l->class_name);
	store_put_text(out, "from", l->from_class_name);
	store_put_u64(out, "requested", l->requested_cpus);
	store_put_u64(out, "min", l->min_cpus);
	store_put_u64(out, "granted", l->granted_cpus);
	store_put_u64(out, "on_node", l->has_numa_node);
	store_put_u64(out, "node", l->numa_node);
	store_put_u64(out, "uid", l->actor_uid);
	store_put_u64(out, "pid", l->actor_pid > 0 ? (uint64_t)l->actor_pid : 0);
	store_put_text(out, "comm", l->actor_comm);
	store_put_text(out, "reason", l->reason);
	store_put_u64(out, "created", l->create_realtime_ns);
	store_put_u64(out, "arrived", l->arrive_boottime_ns);
	store_put_u64(out, "expires", l->expire_boottime_ns);
	fputc('\n', out);
}

static void put_request(FILE *out, const struct state_request *q)
{
	fputs("request", out);
	store_put_text(out, "id", q->request_id);
	store_put_u64(out, "uid", q->uid);
	store_put_text(out, "command", command_name(q->type));
	store_put_u64(out, "hash", q->content_hash);
	store_put_u64(out, "expires", q->expire_boottime_ns);
	store_put_text(out, "result", q->result_id);
	fputc('\n', out);
}

static void put_state(FILE *out, const struct state *s, const char *boot_id)
{
	const struct save_times now = { clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_BOOTTIME) };
	size_t i;

	fputs("boot", out);
	store_put_text(out, "id", boot_id);
	store_put_u64(out, "next", s->next_id);
	fputc('\n', out);
	for (i = 0; i < ARRAY_SIZE(s->classes); i++)
		if (s->classes[i].used)
			put_class(out, &s->classes[i]);
	for (i = 0; i < s->nr_assignments; i++)
		put_assignment(out, &s->assignments[i], &now);
	for (i = 0; i < s->nr_leases; i++)
		put_lease(out, &s->leases[i]);
	for (i = 0; i < s->nr_requests; i++)
		put_request(out, &s->requests[i]);
}

int store_save_state(const char *dir, const struct state *s, const char *boot_id)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	bool failed;
	FILE *out;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	put_state(out, s, boot_id);
	failed = ferror(out);
	if (fclose(out) != 0 || failed)
		return -ENOMEM;
	return store_file_write(dir, state_name, state_kind, text, size);
}

/* ---------- loading ---------- */

struct state_load {
	struct state *state;              /* NULL: only check that the file makes sense */
	const char *boot_id;
	bool same_boot;
	bool boot_seen;
	uint64_t realtime_ns, boottime_ns;
	uint32_t skipped;
};

static int get_word(struct store_record *rec, const char *name, const char *const *words, size_t nr,
		    uint32_t *ret_index)
{
	const char *text = store_record_get(rec, name);
	size_t i;

	for (i = 0; text && i < nr; i++)
		if (!strcmp(words[i], text)) {
			*ret_index = (uint32_t)i;
			return 0;
		}
	return -EUCLEAN;
}

static int load_boot(struct state_load *l, struct store_record *rec)
{
	char boot[STORE_BOOT_ID_MAX + 1];
	uint64_t next;

	if (store_record_get_text(rec, "id", boot, sizeof(boot)) < 0 ||
	    store_record_get_u64(rec, "next", UINT64_MAX, &next) < 0 || store_record_check_all_read(rec) < 0)
		return -EUCLEAN;
	l->boot_seen = true;
	l->same_boot = !strcmp(boot, l->boot_id);
	/* Ids are never given twice, even when what they named is gone. */
	if (l->state && l->state->next_id < next)
		l->state->next_id = next;
	return 0;
}

/* -EUCLEAN: not written by us; -ERANGE: a value that this version does not take. */
static int get_settings(struct store_record *rec, struct class_settings *ret)
{
	struct class_settings s = { 0 };
	const char *value;
	char error[256];
	int r = 0;
	size_t i;

	for (i = 0; i < class_nr_keys; i++) {
		value = store_record_get(rec, class_keys[i].yaml);
		if (value && class_settings_parse_key(&s, &class_keys[i], value, error, sizeof(error)) < 0)
			r = -ERANGE;
	}
	if (store_record_check_all_read(rec) < 0)
		return -EUCLEAN;
	*ret = s;
	return r;
}

static int load_class(struct state_load *l, struct store_record *rec)
{
	char name[CLASS_NAME_MAX + 1], error[256];
	uint64_t own, persistent;
	struct class_settings s;
	int r, slot;

	if (store_record_get_text(rec, "name", name, sizeof(name)) < 0 || class_name_check(name) < 0 ||
	    store_record_get_u64(rec, "own", 1, &own) < 0 ||
	    store_record_get_u64(rec, "persistent", 1, &persistent) < 0)
		return -EUCLEAN;
	r = get_settings(rec, &s);
	if (r == -EUCLEAN || !l->state || (!l->same_boot && !persistent))
		return r == -EUCLEAN ? r : 0;
	/* An override of a class that left the configuration must not bring it back. */
	if (r == 0 && !own && state_find_class(l->state, name) < 0)
		r = -ENOENT;
	if (r == 0)
		r = state_upsert_class(l->state, name, &s, s.set, persistent, &slot, error, sizeof(error));
	l->skipped += r < 0 && r != -ENOMEM;
	return r == -ENOMEM ? r : 0;
}

struct assignment_record {
	struct state_assignment a;
	const char *text, *reason;
	uint64_t expire_realtime_ns;
};

static int get_assignment(struct store_record *rec, struct assignment_record *ret)
{
	uint64_t subtree = 0, force = 0, uid = 0, pid = 0;
	uint32_t target = 0, lifetime = 0;
	struct state_assignment *a = &ret->a;
	int r = 0;

	r |= store_record_get_text(rec, "id", a->id, sizeof(a->id));
	r |= get_word(rec, "target", target_names, ARRAY_SIZE(target_names), &target);
	r |= get_word(rec, "lifetime", lifetime_names, ARRAY_SIZE(lifetime_names), &lifetime);
	r |= store_record_get_u64(rec, "cgroup", UINT64_MAX, &a->cgroup_id);
	r |= store_record_get_text(rec, "class", a->class_name, sizeof(a->class_name));
	r |= store_record_get_u64(rec, "subtree", 1, &subtree);
	r |= store_record_get_u64(rec, "force", 1, &force);
	r |= store_record_get_u64(rec, "uid", UINT32_MAX, &uid);
	r |= store_record_get_u64(rec, "pid", INT32_MAX, &pid);
	r |= store_record_get_text(rec, "comm", a->actor_comm, sizeof(a->actor_comm));
	r |= store_record_get_u64(rec, "created", UINT64_MAX, &a->create_realtime_ns);
	r |= store_record_get_u64(rec, "expires", UINT64_MAX, &a->expire_boottime_ns);
	r |= store_record_get_u64(rec, "expires_realtime", UINT64_MAX, &ret->expire_realtime_ns);
	ret->text = store_record_get(rec, "text");
	ret->reason = store_record_get(rec, "reason");
	if (r || !ret->text || !ret->reason || store_record_check_all_read(rec) < 0)
		return -EUCLEAN;
	a->target_type = target;
	a->lifetime = lifetime;
	a->whole_subtree = subtree;
	a->force_protected = force;
	a->actor_uid = (uid_t)uid;
	a->actor_pid = (pid_t)pid;
	return 0;
}

static bool assignment_is_allowed(const struct state_load *l, const struct assignment_record *r)
{
	const struct state_assignment *a = &r->a;

	if (!*a->id || a->target_type == TARGET_NONE || a->lifetime == LIFETIME_UNSET)
		return false;
	if (!*r->text || strlen(r->text) > TARGET_TEXT_MAX || strlen(r->reason) > STATE_REASON_MAX || !str_is_utf8(r->reason))
		return false;
	if (a->target_type != TARGET_UNIT && a->target_type != TARGET_POD && a->target_type != TARGET_CONTAINER &&
	    r->text[0] != '/')
		return false;
	return state_find_class(l->state, a->class_name) >= 0;
}

/* Turns the end into this boot's clock; false when it is over, or was bound to the last boot. */
static bool assignment_still_counts(const struct state_load *l, struct assignment_record *r)
{
	struct state_assignment *a = &r->a;

	if (l->same_boot)
		return !a->expire_boottime_ns || a->expire_boottime_ns > l->boottime_ns;
	if (a->lifetime != LIFETIME_PERSISTENT)
		return false;
	if (a->expire_boottime_ns) {
		if (r->expire_realtime_ns <= l->realtime_ns)
			return false;
		a->expire_boottime_ns = l->boottime_ns + (r->expire_realtime_ns - l->realtime_ns);
	}
	return true;
}

static int load_assignment(struct state_load *l, struct store_record *rec)
{
	struct assignment_record r = { 0 };
	struct state_assignment *added;
	_cleanup_free_ char *text = NULL, *reason = NULL;
	int err = get_assignment(rec, &r);

	if (err < 0 || !l->state || !assignment_still_counts(l, &r))
		return err;
	if (!assignment_is_allowed(l, &r)) {
		l->skipped++;
		return 0;
	}
	/* Whatever outlives its cgroup is found by name again: the cgroup may be another one by now. */
	if (r.a.lifetime != LIFETIME_CGROUP)
		r.a.cgroup_id = 0;
	text = strdup(r.text);
	reason = strdup(r.reason);
	if (!text || !reason)
		return -ENOMEM;
	r.a.target_text = text;
	r.a.reason = reason;
	r.a.config_generation = l->state->config_generation;
	err = state_set_assignment(l->state, &r.a, &added);
	l->skipped += err < 0 && err != -ENOMEM;
	return err == -ENOMEM ? err : 0;
}

static int get_lease(struct store_record *rec, struct state_lease *ret)
{
	uint64_t requested = 0, min = 0, granted = 0, on_node = 0, node = 0, uid = 0, pid = 0;
	struct state_lease l = { 0 };
	int r = 0;

	r |= store_record_get_text(rec, "id", l.id, sizeof(l.id));
	r |= store_record_get_text(rec, "class", l.class_name, sizeof(l.class_name));
	r |= store_record_get_text(rec, "from", l.from_class_name, sizeof(l.from_class_name));
	r |= store_record_get_u64(rec, "requested", UINT32_MAX, &requested);
	r |= store_record_get_u64(rec, "min", UINT32_MAX, &min);
	r |= store_record_get_u64(rec, "granted", UINT32_MAX, &granted);
	r |= store_record_get_u64(rec, "on_node", 1, &on_node);
	r |= store_record_get_u64(rec, "node", UINT32_MAX, &node);
	r |= store_record_get_u64(rec, "uid", UINT32_MAX, &uid);
	r |= store_record_get_u64(rec, "pid", INT32_MAX, &pid);
	r |= store_record_get_text(rec, "comm", l.actor_comm, sizeof(l.actor_comm));
	r |= store_record_get_text(rec, "reason", l.reason, sizeof(l.reason));
	r |= store_record_get_u64(rec, "created", UINT64_MAX, &l.create_realtime_ns);
	r |= store_record_get_u64(rec, "arrived", UINT64_MAX, &l.arrive_boottime_ns);
	r |= store_record_get_u64(rec, "expires", UINT64_MAX, &l.expire_boottime_ns);
	if (r || store_record_check_all_read(rec) < 0)
		return -EUCLEAN;
	l.requested_cpus = (uint32_t)requested;
	l.min_cpus = (uint32_t)min;
	l.granted_cpus = (uint32_t)granted;
	l.has_numa_node = on_node;
	l.numa_node = (uint32_t)node;
	l.actor_uid = (uid_t)uid;
	l.actor_pid = (pid_t)pid;
	*ret = l;
	return 0;
}

static bool lease_is_allowed(const struct state_load *l, const struct state_lease *lease)
{
	return *lease->id && lease->granted_cpus && lease->granted_cpus <= lease->requested_cpus &&
	       lease->arrive_boottime_ns <= l->boottime_ns && str_is_utf8(lease->reason) &&
	       !state_find_lease(l->state, lease->id);
}

static int load_lease(struct state_load *l, struct store_record *rec)
{
	struct state_lease lease;
	int r = get_lease(rec, &lease);

	if (r < 0 || !l->state || !l->same_boot || lease.expire_boottime_ns <= l->boottime_ns)
		return r;
	/* A maximum that was lowered since holds for what is left. */
	if (lease.expire_boottime_ns - l->boottime_ns > l->state->lease_ttl_max_ns)
		lease.expire_boottime_ns = l->boottime_ns + l->state->lease_ttl_max_ns;
	lease.config_generation = l->state->config_generation;
	r = lease_is_allowed(l, &lease) ? state_add_lease(l->state, &lease, NULL) : -EINVAL;
	l->skipped += r < 0 && r != -ENOMEM;
	return r == -ENOMEM ? r : 0;
}

static int get_command(struct store_record *rec, enum command_type *ret_type)
{
	const char *name = store_record_get(rec, "command");
	unsigned int i;

	for (i = 0; name && i < NR_COMMANDS; i++)
		if (!strcmp(command_name((enum command_type)i), name)) {
			*ret_type = (enum command_type)i;
			return 0;
		}
	return -EUCLEAN;
}

static int load_request(struct state_load *l, struct store_record *rec)
{
	struct state_request q = { 0 };
	uint64_t uid = 0;
	int r = 0;

	r |= store_record_get_text(rec, "id", q.request_id, sizeof(q.request_id));
	r |= store_record_get_u64(rec, "uid", UINT32_MAX, &uid);
	r |= get_command(rec, &q.type);
	r |= store_record_get_u64(rec, "hash", UINT64_MAX, &q.content_hash);
	r |= store_record_get_u64(rec, "expires", UINT64_MAX, &q.expire_boottime_ns);
	r |= store_record_get_text(rec, "result", q.result_id, sizeof(q.result_id));
	r |= store_record_check_all_read(rec);
	if (r)
		return -EUCLEAN;
	if (!l->state || !l->same_boot || q.expire_boottime_ns <= l->boottime_ns)
		return 0;
	q.uid = (uid_t)uid;
	return state_add_request(l->state, &q, l->boottime_ns);
}

static const struct {
	const char *type;
	int (*load)(struct state_load *l, struct store_record *rec);
} loaders[] = {
	{ "boot", load_boot },
	{ "class", load_class },
	{ "assignment", load_assignment },
	{ "lease", load_lease },
	{ "request", load_request },
};

static int load_line(struct state_load *l, char *line)
{
	struct store_record rec;
	size_t i;
	int r = store_record_parse(line, &rec);

	if (r < 0)
		return r;
	/* What follows is judged by the boot it was written in. */
	if (!l->boot_seen && strcmp(rec.type, "boot"))
		return -EUCLEAN;
	for (i = 0; i < ARRAY_SIZE(loaders); i++)
		if (!strcmp(loaders[i].type, rec.type))
			return loaders[i].load(l, &rec);
	return -EUCLEAN;
}

static int load_body(struct state_load *l, const char *body)
{
	_cleanup_free_ char *copy = strdup(body);
	char *line = copy, *end;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	for (; *line && r == 0; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			return -EUCLEAN;
		*end = '\0';
		r = load_line(l, line);
	}
	return r == 0 && !l->boot_seen ? -EUCLEAN : r;
}

int store_load_state(const char *dir, struct state *s, const char *boot_id, uint64_t boottime_ns, uint32_t *ret_skipped,
		     char **ret_aside)
{
	struct state_load l = { .boot_id = boot_id, .boottime_ns = boottime_ns,
				.realtime_ns = clock_ns(CLOCK_REALTIME) };
	_cleanup_free_ char *body = NULL;
	struct state *snapshot;
	int r;

	r = store_file_read(dir, state_name, state_kind, &body, ret_aside);
	if (r < 0)
		return r;
	/* First without a state: a file of which one line is wrong changes nothing. */
	r = load_body(&l, body);
	if (r == -EUCLEAN)
		return store_file_set_aside(dir, state_name, ret_aside);
	if (r < 0)
		return r;
	snapshot = state_snapshot(s);
	if (!snapshot)
		return -ENOMEM;
	l.state = s;
	l.boot_seen = false;
	r = load_body(&l, body);
	if (r < 0) {
		state_restore(s, snapshot);
		return r;
	}
	state_free(snapshot);
	*ret_skipped = l.skipped;
	return 0;
}
