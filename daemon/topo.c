/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo.c - sysfs below a given root -> online CPUs, cores, SMT, LLC, NUMA */
#include "daemon/topo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/cleanup.h"

enum {
	LIST_BYTES = 8192,   /* 1024 CPUs, every second one: about 2.5 KiB */
	MAX_CACHES = 16,     /* index0 .. index15 of one CPU */
	MAX_NODE_NUMBER = 1024,
};

struct cpu_mask {
	uint64_t words[SCHEDD_MAX_CPUS / 64];
};

static void mask_set(struct cpu_mask *m, uint32_t cpu)
{
	m->words[cpu / 64] |= 1ULL << (cpu % 64);
}

static bool mask_has(const struct cpu_mask *m, uint32_t cpu)
{
	return m->words[cpu / 64] >> (cpu % 64) & 1;
}

static bool mask_is_subset(const struct cpu_mask *inner, const struct cpu_mask *outer)
{
	for (size_t i = 0; i < ARRAY_SIZE(inner->words); i++)
		if (inner->words[i] & ~outer->words[i])
			return false;
	return true;
}

/* The lowest CPU names the group that a mask describes; SCHEDD_MAX_CPUS when it is empty. */
static uint32_t mask_first(const struct cpu_mask *m)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(m->words); i++)
		if (m->words[i])
			return i * 64 + (uint32_t)__builtin_ctzll(m->words[i]);
	return SCHEDD_MAX_CPUS;
}

/* The next CPU of the mask after cpu, around the end: for two threads, the other one. */
static uint32_t mask_next_cyclic(const struct cpu_mask *m, uint32_t cpu)
{
	for (uint32_t i = 1; i < SCHEDD_MAX_CPUS; i++)
		if (mask_has(m, (cpu + i) % SCHEDD_MAX_CPUS))
			return (cpu + i) % SCHEDD_MAX_CPUS;
	return cpu;
}

static int parse_number(const char **s, uint32_t *ret_value)
{
	const char *p = *s;
	uint32_t value = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (value > INT_MAX / 10 - 1)
			return -ERANGE;
		value = value * 10 + (uint32_t)(*p - '0');
	}
	*s = p;
	*ret_value = value;
	return 0;
}

static int parse_range(const char **s, uint32_t *ret_first, uint32_t *ret_last)
{
	uint32_t first, last;
	int r;

	r = parse_number(s, &first);
	if (r < 0)
		return r;
	last = first;
	if (**s == '-') {
		(*s)++;
		r = parse_number(s, &last);
		if (r < 0)
			return r;
	}
	if (last < first)
		return -EINVAL;
	if (last >= SCHEDD_MAX_CPUS)
		return -ERANGE;
	*ret_first = first;
	*ret_last = last;
	return 0;
}

/* "0-3,8,10-11\n"; an empty list is a valid one.  -EINVAL, -ERANGE. */
static int parse_cpu_list(const char *s, struct cpu_mask *ret_mask)
{
	struct cpu_mask m = {};
	uint32_t first, last;
	int r;

	while (*s && *s != '\n') {
		r = parse_range(&s, &first, &last);
		if (r < 0)
			return r;
		for (uint32_t cpu = first; cpu <= last; cpu++)
			mask_set(&m, cpu);
		if (*s == ',' && s[1] >= '0' && s[1] <= '9')
			s++;
		else if (*s && *s != '\n')
			return -EINVAL;
	}
	if (*s == '\n' && s[1])
		return -EINVAL;
	*ret_mask = m;
	return 0;
}

/* The text of one attribute; "" terminated.  -errno, -E2BIG when it does not fit. */
__attribute__((format(printf, 4, 5))) static int read_attribute(const char *root, char *ret_text, size_t size,
								const char *format, ...)
{
	_cleanup_close_ int fd = -1;
	char name[PATH_MAX / 4], path[PATH_MAX];
	size_t used = 0;
	va_list ap;

	va_start(ap, format);
	vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	if (snprintf(path, sizeof(path), "%s/sys/devices/system/%s", root, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (used < size) {
		ssize_t n = read(fd, ret_text + used, size - used);

		if (n < 0)
			return -errno;
		if (n == 0) {
			ret_text[used] = '\0';
			return 0;
		}
		used += (size_t)n;
	}
	return -E2BIG;
}

static int read_cpu_list(const char *root, const char *name, struct cpu_mask *ret_mask)
{
	char text[LIST_BYTES];
	int r;

	r = read_attribute(root, text, sizeof(text), "%s", name);
	return r < 0 ? r : parse_cpu_list(text, ret_mask);
}

static int read_list_of_cpu(const char *root, uint32_t cpu, const char *name, struct cpu_mask *ret_mask)
{
	char path[128];
	struct cpu_mask m;
	int r;

	snprintf(path, sizeof(path), "cpu/cpu%u/%s", cpu, name);
	r = read_cpu_list(root, path, &m);
	if (r < 0)
		return r;
	/* Some firmware tables describe groups that leave the CPU itself out. */
	if (!mask_has(&m, cpu))
		return -EINVAL;
	*ret_mask = m;
	return 0;
}

/* core_cpus_list is thread_siblings_list by its newer name. */
static void read_core(const char *root, uint32_t cpu, struct cpu_mask *ret_core)
{
	if (read_list_of_cpu(root, cpu, "topology/core_cpus_list", ret_core) == 0 ||
	    read_list_of_cpu(root, cpu, "topology/thread_siblings_list", ret_core) == 0)
		return;
	*ret_core = (struct cpu_mask){};
	mask_set(ret_core, cpu);
}

static int read_package(const char *root, uint32_t cpu, struct cpu_mask *ret_package)
{
	if (read_list_of_cpu(root, cpu, "topology/package_cpus_list", ret_package) == 0)
		return 0;
	return read_list_of_cpu(root, cpu, "topology/core_siblings_list", ret_package);
}

/* Level of the cache if it may hold data, else 0. */
static unsigned int read_cache_level(const char *root, uint32_t cpu, unsigned int index)
{
	char type[32], level[16];
	unsigned int value;

	if (read_attribute(root, type, sizeof(type), "cpu/cpu%u/cache/index%u/type", cpu, index) < 0 ||
	    read_attribute(root, level, sizeof(level), "cpu/cpu%u/cache/index%u/level", cpu, index) < 0)
		return 0;
	if (strncmp(type, "Instruction", strlen("Instruction")) == 0)
		return 0;
	return sscanf(level, "%u", &value) == 1 ? value : 0;
}

/* The CPUs behind the last cache level that several cores can share. */
static int read_last_cache(const char *root, uint32_t cpu, const struct cpu_mask *core, struct cpu_mask *ret_llc)
{
	unsigned int best = 0;

	for (unsigned int i = 0; i < MAX_CACHES; i++) {
		unsigned int level = read_cache_level(root, cpu, i);
		struct cpu_mask m;
		char name[64];

		snprintf(name, sizeof(name), "cache/index%u/shared_cpu_list", i);
		if (level <= best || read_list_of_cpu(root, cpu, name, &m) < 0)
			continue;
		/* A private level 2 is not a last level: the next one is just not described. */
		if (level < 3 && mask_is_subset(&m, core))
			continue;
		best = level;
		*ret_llc = m;
	}
	return best ? 0 : -ENOENT;
}

/*
 * First CPU of a group -> dense index in order of appearance.  Groups are
 * named by their lowest CPU: cache and package ids repeat, are sparse, or -1.
 */
struct index_map {
	uint32_t index_of[SCHEDD_MAX_CPUS + 1]; /* index + 1, 0 = not seen */
	uint32_t count;
};

static uint32_t map_index(struct index_map *map, uint32_t key)
{
	if (!map->index_of[key])
		map->index_of[key] = ++map->count;
	return map->index_of[key] - 1;
}

/* Node of each CPU; a machine without NUMA has no node directory, then all is node 0. */
static void read_nodes(const char *root, struct topo *t, struct cpu_mask *node_masks)
{
	struct cpu_mask nodes, cpus;
	char name[64];

	t->nr_nodes = 0;
	if (read_cpu_list(root, "node/online", &nodes) < 0)
		nodes = (struct cpu_mask){};
	for (uint32_t node = 0; node < MAX_NODE_NUMBER; node++) {
		bool used = false;

		snprintf(name, sizeof(name), "node/node%u/cpulist", node);
		if (!mask_has(&nodes, node) || read_cpu_list(root, name, &cpus) < 0)
			continue;
		for (uint32_t cpu = 0; cpu < t->nr_possible; cpu++) {
			if (!t->cpus[cpu].online || !mask_has(&cpus, cpu))
				continue;
			t->cpus[cpu].node = t->nr_nodes;
			node_masks[cpu] = cpus;
			used = true;
		}
		t->nr_nodes += used; /* a node of memory only gets no number */
	}
	if (!t->nr_nodes)
		t->nr_nodes = 1;
}

struct scan {
	const char *root;
	struct topo *topo;
	struct index_map cores, llcs;
	struct cpu_mask node_masks[SCHEDD_MAX_CPUS];
};

static void scan_cpu(struct scan *s, uint32_t cpu)
{
	struct topo_cpu *c = &s->topo->cpus[cpu];
	struct cpu_mask core, llc;

	read_core(s->root, cpu, &core);
	c->core = map_index(&s->cores, mask_first(&core));
	c->sibling = mask_next_cyclic(&core, cpu);
	if (c->sibling >= s->topo->nr_possible || !s->topo->cpus[c->sibling].online)
		c->sibling = cpu;
	if (read_last_cache(s->root, cpu, &core, &llc) < 0 && read_package(s->root, cpu, &llc) < 0)
		llc = s->node_masks[cpu];
	/* Nothing known leaves the mask empty: all such CPUs are one group. */
	c->llc = map_index(&s->llcs, mask_first(&llc));
}

/* Neighbours stay together: their distance is smaller than that of far ones. */
static void fold_llcs(struct topo *t)
{
	if (t->nr_llcs <= SCHEDD_MAX_LLCS)
		return;
	for (uint32_t cpu = 0; cpu < t->nr_possible; cpu++)
		t->cpus[cpu].llc = t->cpus[cpu].llc * SCHEDD_MAX_LLCS / t->nr_llcs;
	t->nr_llcs = SCHEDD_MAX_LLCS;
}

static void scan_all(struct scan *s)
{
	struct topo *t = s->topo;

	read_nodes(s->root, t, s->node_masks);
	for (uint32_t cpu = 0; cpu < t->nr_possible; cpu++)
		if (t->cpus[cpu].online)
			scan_cpu(s, cpu);
	/* Offline ones last, so that the numbers of the others do not depend on them. */
	t->nr_cores = s->cores.count;
	for (uint32_t cpu = 0; cpu < t->nr_possible; cpu++) {
		if (t->cpus[cpu].online)
			continue;
		if (t->cpus[cpu].possible)
			t->cpus[cpu].core = t->nr_cores++;
		t->cpus[cpu].sibling = cpu;
	}
	t->nr_llcs = s->llcs.count ? s->llcs.count : 1;
	fold_llcs(t);
}

static int read_presence(const char *root, struct topo *t)
{
	struct cpu_mask possible, online;
	int r;

	r = read_cpu_list(root, "cpu/possible", &possible);
	if (r < 0)
		return r;
	r = read_cpu_list(root, "cpu/online", &online);
	if (r < 0)
		return r;
	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++) {
		if (!mask_has(&possible, cpu))
			continue;
		t->cpus[cpu].possible = true;
		t->cpus[cpu].online = mask_has(&online, cpu);
		t->nr_online += t->cpus[cpu].online;
		t->nr_possible = cpu + 1;
	}
	return t->nr_online ? 0 : -EINVAL;
}

int topo_read(const char *root, struct topo *ret_topo)
{
	_cleanup_free_ struct topo *t = calloc(1, sizeof(*t));
	_cleanup_free_ struct scan *s = calloc(1, sizeof(*s));
	int r;

	if (!t || !s)
		return -ENOMEM;
	s->root = root;
	s->topo = t;
	r = read_presence(root, t);
	if (r < 0)
		return r;
	scan_all(s);
	*ret_topo = *t;
	return 0;
}
