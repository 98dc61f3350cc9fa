/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_schema.c - the one list of configuration keys: reading, printing, manual page check */
#include "daemon/config_schema.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/alloc.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/str.h"
#include "daemon/class.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

static int set_mode(struct config *c, const char *value)
{
	return mode_parse(value, &c->mode);
}

static void get_mode(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%s", mode_name(c->mode));
}

static int set_alive(struct config *c, const char *value)
{
	uint64_t ms;
	int r = str_parse_u64(value, 60000, &ms);

	if (r < 0)
		return r;
	if (ms && ms < 10)
		return -ERANGE;
	c->alive_max_ns = ms * NS_PER_MS;
	return 0;
}

static void get_alive(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%" PRIu64, c->alive_max_ns / NS_PER_MS);
}

static int set_watchdog(struct config *c, const char *value)
{
	uint64_t ns;
	int r = str_parse_duration_ns(value, &ns);

	if (r < 0)
		return r;
	/* The kernel takes milliseconds and refuses more than 30 s. */
	if (ns < NS_PER_S || ns > 30 * NS_PER_S || ns % NS_PER_MS)
		return -ERANGE;
	c->watchdog_ns = ns;
	return 0;
}

static void get_watchdog(const struct config *c, char *dst, size_t size)
{
	str_format_duration_ns(dst, size, c->watchdog_ns);
}

static int set_unsupported(struct config *c, const char *value)
{
	if (strcmp(value, "exit") && strcmp(value, "stay"))
		return -EINVAL;
	c->unsupported_stay = !strcmp(value, "stay");
	return 0;
}

static void get_unsupported(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%s", c->unsupported_stay ? "stay" : "exit");
}

static int set_policy(struct config *c, const char *value)
{
	const struct alloc_policy *policy = alloc_policy_find(value);

	if (!policy)
		return -EINVAL;
	c->policy = policy->name;
	return 0;
}

static void get_policy(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%s", c->policy);
}

static int set_duration(const char *value, uint64_t least_ns, uint64_t most_ns, uint64_t *ret_ns)
{
	uint64_t ns;
	int r = str_parse_duration_ns(value, &ns);

	if (r < 0)
		return r;
	if (ns < least_ns || ns > most_ns)
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}

static int set_interval(struct config *c, const char *value)
{
	return set_duration(value, 5 * NS_PER_US, NS_PER_S, &c->interval_ns);
}

static void get_interval(const struct config *c, char *dst, size_t size)
{
	str_format_duration_ns(dst, size, c->interval_ns);
}

static int set_poll_cpu(struct config *c, const char *value)
{
	uint64_t cpu;
	int r;

	if (!strcmp(value, "none")) {
		c->poll_cpu = -1;
		return 0;
	}
	r = str_parse_u64(value, SCHEDD_MAX_CPUS - 1, &cpu);
	if (r == 0)
		c->poll_cpu = (int)cpu;
	return r;
}

static void get_poll_cpu(const struct config *c, char *dst, size_t size)
{
	if (c->poll_cpu < 0)
		snprintf(dst, size, "none");
	else
		snprintf(dst, size, "%d", c->poll_cpu);
}

static int set_congestion(struct config *c, const char *value)
{
	return set_duration(value, NS_PER_US, NS_PER_S, &c->congestion_ns);
}

static void get_congestion(const struct config *c, char *dst, size_t size)
{
	str_format_duration_ns(dst, size, c->congestion_ns);
}

static int set_park(struct config *c, const char *value)
{
	return set_duration(value, NS_PER_US, NS_PER_S, &c->park_ns);
}

static void get_park(const struct config *c, char *dst, size_t size)
{
	str_format_duration_ns(dst, size, c->park_ns);
}

static int set_lease_ttl(struct config *c, const char *value)
{
	uint64_t ns;
	int r = str_parse_duration_ns(value, &ns);

	if (r < 0)
		return r;
	if (ns < NS_PER_S || ns > STATE_LEASE_TTL_MAX_S * NS_PER_S)
		return -ERANGE;
	c->lease_ttl_max_ns = ns;
	return 0;
}

static void get_lease_ttl(const struct config *c, char *dst, size_t size)
{
	str_format_duration_ns(dst, size, c->lease_ttl_max_ns);
}

static int set_lease_max(struct config *c, const char *value)
{
	uint64_t n;
	int r = str_parse_u64(value, STATE_MAX_LEASES, &n);

	if (r < 0)
		return r;
	if (!n)
		return -ERANGE;
	c->lease_max = (uint32_t)n;
	return 0;
}

static void get_lease_max(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%" PRIu32, c->lease_max);
}

static int set_socket_mode(struct config *c, const char *value)
{
	size_t n = strlen(value), i;
	unsigned int mode = 0;

	if (n < 3 || n > 4)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (value[i] < '0' || value[i] > '7')
			return -EINVAL;
		mode = mode << 3 | (unsigned int)(value[i] - '0');
	}
	/* To connect takes write permission; execute means nothing on a socket. */
	if (mode & ~0666u || (mode & 0600) != 0600)
		return -ERANGE;
	c->socket_mode = mode;
	return 0;
}

static void get_socket_mode(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%04o", (unsigned int)c->socket_mode);
}

static int set_group(struct config *c, const char *value)
{
	char *copy;

	if (strlen(value) > 64 || strpbrk(value, ":/") || str_has_control(value))
		return -EINVAL;
	copy = arena_strdup(&c->arena, value);
	if (!copy)
		return -ENOMEM;
	c->group = copy;
	return 0;
}

static void get_group(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%s", c->group);
}

/* "[v6]:port", "v4:port", ":port"; names are refused: resolving one could hang the start. */
static int listen_check(const char *value)
{
	const char *colon = strrchr(value, ':');
	char host[64], address[16];
	uint64_t port;
	size_t n;

	if (!colon || (size_t)(colon - value) >= sizeof(host))
		return -EINVAL;
	if (str_parse_u64(colon + 1, 65535, &port) < 0 || !port)
		return -EINVAL;
	n = (size_t)(colon - value);
	memcpy(host, value, n);
	host[n] = '\0';
	if (!n || inet_pton(AF_INET, host, address) == 1)
		return 0;
	if (host[0] != '[' || host[n - 1] != ']')
		return -EINVAL;
	host[n - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, address) == 1 ? 0 : -EINVAL;
}

static int set_listen(struct config *c, const char *value)
{
	char *copy;

	if (*value && listen_check(value) < 0)
		return -EINVAL;
	copy = arena_strdup(&c->arena, value);
	if (!copy)
		return -ENOMEM;
	c->metrics_listen = copy;
	return 0;
}

static void get_listen(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%s", c->metrics_listen);
}

static int set_max_series(struct config *c, const char *value)
{
	uint64_t n;
	int r = str_parse_u64(value, 100000, &n);

	if (r < 0)
		return r;
	c->metrics_max_series = (uint32_t)n;
	return 0;
}

static void get_max_series(const struct config *c, char *dst, size_t size)
{
	snprintf(dst, size, "%" PRIu32, c->metrics_max_series);
}

const struct config_schema_key config_schema_keys[] = {
	{ "scheduler.mode", "auto", "auto, active, observe, paused or detached", set_mode, get_mode },
	{ "scheduler.alive_ms", "100", "a whole number of milliseconds, 10 to 60000, or 0 (never judged)", set_alive,
	  get_alive },
	{ "scheduler.watchdog", "30s", "a duration from 1s to 30s in whole milliseconds", set_watchdog, get_watchdog },
	{ "scheduler.unsupported", "exit", "exit or stay", set_unsupported, get_unsupported },
	{ "allocator.policy", "shenango", "shenango, static or utilisation", set_policy, get_policy },
	{ "allocator.interval", "1ms", "a duration from 100us to 1s, with poll_cpu from 5us", set_interval, get_interval },
	{ "allocator.poll_cpu", "none", "the number of a CPU, or none", set_poll_cpu, get_poll_cpu },
	{ "allocator.congestion", "10us", "a duration from 1us to 1s", set_congestion, get_congestion },
	{ "allocator.park", "50us", "a duration from 1us to 1s", set_park, get_park },
	{ "api.socket_mode", "0660", "an octal mode from 0600 to 0666 without execute bits, for example 0660",
	  set_socket_mode, get_socket_mode },
	{ "api.group", "schedd", "the name of a group, or \"\" for none", set_group, get_group },
	{ "metrics.listen", "127.0.0.1:9770", "address:port as 127.0.0.1:9770, [::1]:9770 or :9770, or \"\" for off",
	  set_listen, get_listen },
	{ "metrics.max_series", "200", "a whole number, 0 to 100000", set_max_series, get_max_series },
	{ "leases.max_ttl", "24h", "a duration from 1s to 24h", set_lease_ttl, get_lease_ttl },
	{ "leases.max", "1024", "a whole number, 1 to 1024", set_lease_max, get_lease_max },
};
const size_t config_schema_nr_keys = ARRAY_SIZE(config_schema_keys);

static const char *const rule_paths[] = { "rules[].cgroup", "rules[].class" };

const char *const config_schema_later[] = {
	"scheduler.fallback", "allocator.grace", "ceilings", "access", "kubernetes", "match", "reload", "ready_states",
	"rules[].unit", "rules[].pod", "rules[].container",
	"api.listen", "api.tls_cert", "api.tls_key", "api.tls_client_ca", "api.read",
	"metrics.per_cgroup",
};
const size_t config_schema_nr_later = ARRAY_SIZE(config_schema_later);

int config_schema_set_defaults(struct config *c)
{
	size_t i;
	int r;

	for (i = 0; i < config_schema_nr_keys; i++) {
		r = config_schema_keys[i].set(c, config_schema_keys[i].fallback);
		if (r < 0)
			return r;
	}
	return 0;
}

const struct config_schema_key *config_schema_find(const char *path)
{
	size_t i;

	for (i = 0; i < config_schema_nr_keys; i++)
		if (!strcmp(config_schema_keys[i].path, path))
			return &config_schema_keys[i];
	return NULL;
}

bool config_schema_path(size_t i, char *dst, size_t size)
{
	if (i < config_schema_nr_keys) {
		snprintf(dst, size, "%s", config_schema_keys[i].path);
		return true;
	}
	i -= config_schema_nr_keys;
	if (i < class_nr_keys) {
		snprintf(dst, size, "classes.NAME.%s", class_keys[i].yaml);
		return true;
	}
	i -= class_nr_keys;
	if (i >= ARRAY_SIZE(rule_paths))
		return false;
	snprintf(dst, size, "%s", rule_paths[i]);
	return true;
}

bool config_schema_is_later(const char *path)
{
	size_t i;

	for (i = 0; i < config_schema_nr_later; i++)
		if (!strcmp(config_schema_later[i], path))
			return true;
	return false;
}

/* Edit distance of two short words, a swap of neighbours counting as one. */
static unsigned int word_distance(const char *a, const char *b)
{
	unsigned int d[33][33], best;
	size_t n = strlen(a), m = strlen(b), i, j;

	if (n > 32 || m > 32)
		return 33;
	for (i = 0; i <= n; i++)
		for (j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned int)(i + j);
				continue;
			}
			best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	return d[n][m];
}

/* The i-th path's word right below prefix; false when the path is elsewhere. */
static bool word_below(size_t i, const char *prefix, char *dst, size_t size)
{
	char path[64];

	if (!config_schema_path(i, path, sizeof(path)) || strncmp(path, prefix, strlen(prefix)))
		return false;
	snprintf(dst, size, "%.*s", (int)strcspn(path + strlen(prefix), ".["), path + strlen(prefix));
	return true;
}

void config_schema_suggest(const char *prefix, const char *key, char *dst, size_t size)
{
	char word[64], last[64] = "", path[64], best_word[64] = "", list[256] = "";
	unsigned int best = 3, distance;
	size_t i, at = 0;

	for (i = 0; config_schema_path(i, path, sizeof(path)); i++) {
		if (!word_below(i, prefix, word, sizeof(word)) || !strcmp(word, last))
			continue;
		strcpy(last, word);
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at ? ", " : "", word);
		distance = word_distance(key, word);
		/* Two letters of a three-letter word are no typo. */
		if (distance < best && distance < strlen(word) / 2 + 1) {
			best = distance;
			strcpy(best_word, word);
		}
	}
	if (*best_word)
		snprintf(dst, size, "unknown key; did you mean `%s'?", best_word);
	else
		snprintf(dst, size, "unknown key; allowed are %s", list);
}
