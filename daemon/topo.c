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
#include "daemon/base/cpuset.h"

enum {
	MAX_CACHES = 16,     /* index0 .. index15 of one CPU */
	MAX_NODE_NUMBER = 1024,
};

_Static_assert(CPUSET_MAX_CPUS == SCHEDD_MAX_CPUS, "both count the same CPUs");

/* The next CPU of the set after cpu, around the end: for two threads, the other one. */
static uint32_t next_cyclic(const struct cpuset *s, uint32_t cpu)
{
	uint32_t next = cpuset_next(s, cpu + 1);

	if (next == CPUSET_MAX_CPUS)
		next = cpuset_next(s, 0);
	return next == CPUSET_MAX_CPUS ? cpu : next;
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

static int read_cpu_list(const char *root, const char *name, struct cpuset *ret_mask)
{
	char text[CPUSET_TEXT_BYTES];
	int r;

	r = read_attribute(root, text, sizeof(text), "%s", name);
	return r < 0 ? r : cpuset_parse(text, ret_mask);
}

static int read_list_of_cpu(const char *root, uint32_t cpu, const char *name, struct cpuset *ret_mask)
{
	char path[128];
	struct cpuset m;
	int r;

	snprintf(path, sizeof(path), "cpu/cpu%u/%s", cpu, name);
	r = read_cpu_list(root, path, &m);
	if (r < 0)
		return r;
	/* Some firmware tables describe groups that leave the CPU itself out. */
	if (!cpuset_has(&m, cpu))
		return -EINVAL;
	*ret_mask = m;
	return 0;
}

/* core_cpus_list is thread_siblings_list by its newer name. */
static void read_core(const char *root, uint32_t cpu, struct cpuset *ret_core)
{
	if (read_list_of_cpu(root, cpu, "topology/core_cpus_list", ret_core) == 0 ||
	    read_list_of_cpu(root, cpu, "topology/thread_siblings_list", ret_core) == 0)
		return;
	*ret_core = (struct cpuset){};
	cpuset_add(ret_core, cpu);
}

static int read_package(const char *root, uint32_t cpu, struct cpuset *ret_package)
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
static int read_last_cache(const char *root, uint32_t cpu, const struct cpuset *core, struct cpuset *ret_llc)
{
	unsigned int best = 0;

	for (unsigned int i = 0; i < MAX_CACHES; i++) {
		unsigned int level = read_cache_level(root, cpu, i);
		struct cpuset m;
		char name[64];

		snprintf(name, sizeof(name), "cache/index%u/shared_cpu_list", i);
		if (level <= best || read_list_of_cpu(root, cpu, name, &m) < 0)
			continue;
		/* A private level 2 is not a last level: the next one is just not described. */
		if (level < 3 && cpuset_is_subset(&m, core))
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
static void read_nodes(const char *root, struct topo *t, struct cpuset *node_masks)
{
	struct cpuset nodes, cpus;
	char name[64];

	t->nr_nodes = 0;
	if (read_cpu_list(root, "node/online", &nodes) < 0)
		nodes = (struct cpuset){};
	for (uint32_t node = 0; node < MAX_NODE_NUMBER; node++) {
		bool used = false;

		snprintf(name, sizeof(name), "node/node%u/cpulist", node);
		if (!cpuset_has(&nodes, node) || read_cpu_list(root, name, &cpus) < 0)
			continue;
		for (uint32_t cpu = 0; cpu < t->nr_possible; cpu++) {
			if (!t->cpus[cpu].online || !cpuset_has(&cpus, cpu))
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
	struct cpuset node_masks[SCHEDD_MAX_CPUS];
};

static void scan_cpu(struct scan *s, uint32_t cpu)
{
	struct topo_cpu *c = &s->topo->cpus[cpu];
	struct cpuset core, llc;

	read_core(s->root, cpu, &core);
	c->core = map_index(&s->cores, cpuset_next(&core, 0));
	c->sibling = next_cyclic(&core, cpu);
	if (c->sibling >= s->topo->nr_possible || !s->topo->cpus[c->sibling].online)
		c->sibling = cpu;
	if (read_last_cache(s->root, cpu, &core, &llc) < 0 && read_package(s->root, cpu, &llc) < 0)
		llc = s->node_masks[cpu];
	/* Nothing known leaves the mask empty: all such CPUs are one group. */
	c->llc = map_index(&s->llcs, cpuset_next(&llc, 0));
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
	struct cpuset possible, online;
	int r;

	r = read_cpu_list(root, "cpu/possible", &possible);
	if (r < 0)
		return r;
	r = read_cpu_list(root, "cpu/online", &online);
	if (r < 0)
		return r;
	for (uint32_t cpu = 0; cpu < SCHEDD_MAX_CPUS; cpu++) {
		if (!cpuset_has(&possible, cpu))
			continue;
		t->cpus[cpu].possible = true;
		t->cpus[cpu].online = cpuset_has(&online, cpu);
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
