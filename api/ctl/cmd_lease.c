// SPDX-License-Identifier: GPL-2.0-or-later
/* cmd_lease.c - schedctl cores grant, reassign, leases, renew, release */
#include <inttypes.h>
#include <string.h>

#include "api/ctl/commands.h"
#include "api/ctl/ctl.h"
#include "api/ctl/out.h"
#include "api/ctl/show.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"

/* What the orders share; the messages point into it. */
struct order {
	Schedd__V1alpha1__Change change;
	Google__Protobuf__UInt64Value generation;
	Google__Protobuf__Duration ttl;
	Google__Protobuf__UInt32Value numa_node;
	uint32_t cpus, min_cpus;
	Schedd__V1alpha1__WaitFor wait_for;
};

/* ---------- what was typed ---------- */

static enum ctl_exit read_number(const char *what, const char *text, uint64_t max, uint64_t *ret_value)
{
	if (str_parse_u64(text, max, ret_value) == 0)
		return CTL_DONE;
	return ctl_fail(CTL_USAGE, "%s: `%s' is no whole number from 0 to %" PRIu64, what, text, max);
}

static enum ctl_exit read_u32_option(const struct ctl *ctl, const char *name, uint32_t *ret_value)
{
	const char *text = cli_value(&ctl->cli, name);
	char what[32];
	uint64_t value = 0;
	enum ctl_exit code;

	if (!text)
		return CTL_DONE;
	snprintf(what, sizeof(what), "--%s", name);
	code = read_number(what, text, UINT32_MAX, &value);
	*ret_value = (uint32_t)value;
	return code;
}

static enum ctl_exit read_change(const struct ctl *ctl, struct order *o)
{
	const char *request_id = cli_value(&ctl->cli, "request-id"), *text = cli_value(&ctl->cli, "expect-generation");

	show_fill_change(ctl, &o->change);
	google__protobuf__uint64_value__init(&o->generation);
	if (request_id)
		o->change.request_id = (char *)request_id;
	if (!text)
		return CTL_DONE;
	o->change.expected_config_generation = &o->generation;
	return read_number("--expect-generation", text, UINT64_MAX, &o->generation.value);
}

static enum ctl_exit read_ttl(const struct ctl *ctl, struct order *o)
{
	enum ctl_exit code;
	uint64_t ns = 0;
	bool given;

	google__protobuf__duration__init(&o->ttl);
	code = ctl_duration_option(ctl, "ttl", &ns, &given);
	if (code == CTL_DONE && !given)
		return ctl_fail(CTL_USAGE, "--ttl is missing: a lease ends by itself, after --ttl 30s for example");
	o->ttl.seconds = (int64_t)(ns / 1000000000);
	o->ttl.nanos = (int32_t)(ns % 1000000000);
	return code;
}

static enum ctl_exit read_wait(const struct ctl *ctl, struct order *o)
{
	static const char *const words[] = { "accepted", "owned", "running" };
	const char *text = cli_value(&ctl->cli, "wait");
	size_t i;

	o->wait_for = SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_OWNED;
	for (i = 0; text && i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i]) == 0) {
			o->wait_for = (Schedd__V1alpha1__WaitFor)(SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_ACCEPTED + i);
			return CTL_DONE;
		}
	}
	return text ? ctl_fail(CTL_USAGE, "--wait: `%s' is neither accepted, owned nor running", text) : CTL_DONE;
}

static enum ctl_exit read_order(const struct ctl *ctl, const char *cpus, struct order *o)
{
	enum ctl_exit code;
	uint64_t n = 0;

	code = read_number("N", cpus, UINT32_MAX, &n);
	o->cpus = (uint32_t)n;
	if (code == CTL_DONE)
		code = read_u32_option(ctl, "min", &o->min_cpus);
	if (code == CTL_DONE)
		code = read_wait(ctl, o);
	if (code == CTL_DONE)
		code = read_ttl(ctl, o);
	return code == CTL_DONE ? read_change(ctl, o) : code;
}

/* ---------- what is printed ---------- */

static const char *state_words(Schedd__V1alpha1__Lease__State state)
{
	switch (state) {
	case SCHEDD__V1ALPHA1__LEASE__STATE__STATE_ACCEPTED:
		return "accepted";
	case SCHEDD__V1ALPHA1__LEASE__STATE__STATE_OWNED:
		return "owned";
	case SCHEDD__V1ALPHA1__LEASE__STATE__STATE_RUNNING:
		return "running";
	case SCHEDD__V1ALPHA1__LEASE__STATE__STATE_PARTIAL:
		return "partial";
	case SCHEDD__V1ALPHA1__LEASE__STATE__STATE_RELEASED:
		return "released";
	case SCHEDD__V1ALPHA1__LEASE__STATE__STATE_EXPIRED:
		return "expired";
	default:
		return "-";
	}
}

static char *after_words(char *dst, size_t size, const Google__Protobuf__Duration *d)
{
	if (!d || d->seconds < 0 || d->nanos < 0)
		snprintf(dst, size, "-");
	else
		str_format_duration_ns(dst, size, (uint64_t)d->seconds * 1000000000 + (uint64_t)d->nanos / 1000 * 1000);
	return dst;
}

static void print_lease(const struct ctl *ctl, const Schedd__V1alpha1__Lease *l)
{
	_cleanup_free_ char *id = out_text(l->lease_id), *name = out_text(l->class_name),
			    *from = out_text(l->from_class_name), *cpus = out_cpu_list(l->cpu_ids, l->n_cpu_ids);
	bool dry_run = cli_flag(&ctl->cli, "dry-run");
	char when[64], after[32];

	if (!dry_run)
		printf("lease %s: ", id);
	printf("%s %" PRIu32 " CPU%s%s%s", name, l->granted_cpus, l->granted_cpus == 1 ? "" : "s",
	       *from ? " from " : "", from);
	if (l->granted_cpus < l->requested_cpus)
		printf(" of %" PRIu32, l->requested_cpus);
	if (*cpus)
		printf(" (%s)", cpus);
	if (l->expire_time)
		printf(" until %s", out_time(when, sizeof(when), l->expire_time->seconds));
	printf(", %s", dry_run ? "would be accepted" : state_words(l->state));
	if (!dry_run && (l->running_after || l->owned_after))
		printf(" after %s",
		       after_words(after, sizeof(after), l->running_after ? l->running_after : l->owned_after));
	printf("\n");
}

static enum ctl_exit show_lease(struct ctl *ctl, const Schedd__V1alpha1__Lease *l)
{
	if (ctl_print_json(ctl, &l->base))
		return CTL_DONE;
	if (ctl->cli.format == CLI_NAME)
		show_name(l->lease_id);
	else
		print_lease(ctl, l);
	return CTL_DONE;
}

/* ---------- grant, reassign ---------- */

int cmd_cores_grant(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__Lease *reply = NULL;
	Schedd__V1alpha1__GrantCoresRequest request = SCHEDD__V1ALPHA1__GRANT_CORES_REQUEST__INIT;
	struct order o = { 0 };
	enum ctl_exit code;

	google__protobuf__uint32_value__init(&o.numa_node);
	code = read_order(ctl, ctl->cli.args[1], &o);
	if (code == CTL_DONE)
		code = read_u32_option(ctl, "numa", &o.numa_node.value);
	if (code != CTL_DONE)
		return code;
	request.change = &o.change;
	request.class_name = (char *)ctl->cli.args[0];
	request.cpus = o.cpus;
	request.min_cpus = o.min_cpus;
	request.ttl = &o.ttl;
	request.numa_node = cli_value(&ctl->cli, "numa") ? &o.numa_node : NULL;
	request.wait_for = o.wait_for;
	code = ctl_call(ctl, "GrantCores", &request.base, &reply);
	return code == CTL_DONE ? show_lease(ctl, reply) : code;
}

int cmd_cores_reassign(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__Lease *reply = NULL;
	Schedd__V1alpha1__ReassignCoresRequest request = SCHEDD__V1ALPHA1__REASSIGN_CORES_REQUEST__INIT;
	const char *from = cli_value(&ctl->cli, "from"), *to = cli_value(&ctl->cli, "to");
	struct order o = { 0 };
	enum ctl_exit code;

	if (!from || !to)
		return ctl_fail(CTL_USAGE,
				"--%s is missing: schedctl cores reassign --from CLASS --to CLASS N --ttl 30s",
				from ? "to" : "from");
	code = read_order(ctl, ctl->cli.args[0], &o);
	if (code != CTL_DONE)
		return code;
	request.change = &o.change;
	request.from_class_name = (char *)from;
	request.to_class_name = (char *)to;
	request.cpus = o.cpus;
	request.min_cpus = o.min_cpus;
	request.ttl = &o.ttl;
	request.wait_for = o.wait_for;
	code = ctl_call(ctl, "ReassignCores", &request.base, &reply);
	return code == CTL_DONE ? show_lease(ctl, reply) : code;
}

/* ---------- renew, release ---------- */

int cmd_cores_renew(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__Lease *reply = NULL;
	Schedd__V1alpha1__RenewLeaseRequest request = SCHEDD__V1ALPHA1__RENEW_LEASE_REQUEST__INIT;
	struct order o = { 0 };
	enum ctl_exit code;

	code = read_ttl(ctl, &o);
	if (code == CTL_DONE)
		code = read_change(ctl, &o);
	if (code != CTL_DONE)
		return code;
	request.change = &o.change;
	request.lease_id = (char *)ctl->cli.args[0];
	request.ttl = &o.ttl;
	code = ctl_call(ctl, "RenewLease", &request.base, &reply);
	return code == CTL_DONE ? show_lease(ctl, reply) : code;
}

int cmd_cores_release(struct ctl *ctl)
{
	_cleanup_message_ Schedd__V1alpha1__Lease *reply = NULL;
	Schedd__V1alpha1__ReleaseLeaseRequest request = SCHEDD__V1ALPHA1__RELEASE_LEASE_REQUEST__INIT;
	_cleanup_free_ char *id = NULL;
	struct order o = { 0 };
	enum ctl_exit code;

	code = read_change(ctl, &o);
	if (code != CTL_DONE)
		return code;
	request.change = &o.change;
	request.lease_id = (char *)ctl->cli.args[0];
	request.allow_missing = cli_flag(&ctl->cli, "ignore-missing");
	code = ctl_call(ctl, "ReleaseLease", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	id = out_text(reply->lease_id);
	if (ctl->cli.format == CLI_NAME)
		show_name(reply->lease_id);
	else
		printf("lease %s %s\n", id, cli_flag(&ctl->cli, "dry-run") ? "would be released" : "released");
	return CTL_DONE;
}

/* ---------- leases ---------- */

static const struct out_column lease_columns[] = {
	{ "LEASE", false, false },       { "CLASS", false, false },  { "CPUS", true, false },
	{ "STATE", false, false },       { "UNTIL", false, false },  { "BY", false, false },
	{ "CPU-IDS", false, true },      { "FROM", false, true },    { "OWNED-AFTER", true, true },
	{ "RUNNING-AFTER", true, true }, { "CREATED", false, true }, { "REASON", false, true },
	{ NULL, false, false },
};

static void lease_row(struct out_table *t, const Schedd__V1alpha1__Lease *l)
{
	_cleanup_free_ char *cpus = out_cpu_list(l->cpu_ids, l->n_cpu_ids);
	bool less = l->granted_cpus < l->requested_cpus;
	char text[64];

	out_cell(t, OUT_PLAIN, "%s", l->lease_id);
	out_cell(t, OUT_PLAIN, "%s", l->class_name);
	if (less)
		out_cell(t, OUT_YELLOW, "%" PRIu32 "/%" PRIu32, l->granted_cpus, l->requested_cpus);
	else
		out_cell(t, OUT_PLAIN, "%" PRIu32, l->granted_cpus);
	out_cell(t, less || l->state == SCHEDD__V1ALPHA1__LEASE__STATE__STATE_ACCEPTED ? OUT_YELLOW : OUT_PLAIN, "%s",
		 state_words(l->state));
	out_cell(t, OUT_PLAIN, "%s", l->expire_time ? out_time(text, sizeof(text), l->expire_time->seconds) : "");
	if (l->holder && l->holder->uid)
		out_cell(t, OUT_PLAIN, "uid %" PRIu32 "%s%s", l->holder->uid->value, *l->holder->comm ? ", " : "",
			 l->holder->comm);
	else
		out_cell(t, OUT_PLAIN, "%s", l->holder ? l->holder->source : "");
	out_cell(t, OUT_PLAIN, "%s", cpus);
	out_cell(t, OUT_PLAIN, "%s", l->from_class_name);
	out_cell(t, OUT_PLAIN, "%s", after_words(text, sizeof(text), l->owned_after));
	out_cell(t, OUT_PLAIN, "%s", after_words(text, sizeof(text), l->running_after));
	out_cell(t, OUT_PLAIN, "%s", l->create_time ? out_time(text, sizeof(text), l->create_time->seconds) : "");
	out_cell(t, OUT_PLAIN, "%s", l->reason);
}

int cmd_cores_leases(struct ctl *ctl)
{
	_cleanup_(out_table_freep) struct out_table *t = NULL;
	_cleanup_message_ Schedd__V1alpha1__ListLeasesResponse *reply = NULL;
	Schedd__V1alpha1__ListLeasesRequest request = SCHEDD__V1ALPHA1__LIST_LEASES_REQUEST__INIT;
	const char *class_name = ctl->cli.nr_args ? ctl->cli.args[0] : NULL;
	enum ctl_exit code;
	size_t i;

	if (class_name)
		request.class_name = (char *)class_name;
	code = ctl_call_all_pages(ctl, "ListLeases", &request.base, &reply);
	if (code != CTL_DONE || ctl_print_json(ctl, &reply->base))
		return code;
	t = out_table_new(lease_columns, ctl->cli.format == CLI_WIDE, ctl->colour);
	for (i = 0; i < reply->n_leases; i++) {
		if (ctl->cli.format == CLI_NAME)
			show_name(reply->leases[i]->lease_id);
		else
			lease_row(t, reply->leases[i]);
	}
	if (ctl->cli.format != CLI_NAME && out_table_rows(t))
		out_table_print(t, !ctl->cli.no_headers, "", stdout);
	else if (ctl->cli.format != CLI_NAME)
		fprintf(stderr, "no leases%s%s\n", class_name ? " of class " : "", class_name ? class_name : "");
	return CTL_DONE;
}
