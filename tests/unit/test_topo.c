/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_topo.c - topologies read from fake sysfs trees */
#include "daemon/topo.c"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <cmocka.h>

struct fixture {
	char root[64];
	struct topo topo;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->root, sizeof(f->root), "/tmp/test_topo.XXXXXX");
	assert_non_null(mkdtemp(f->root));
	*state = f;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	nftw(f->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

/* put(f, "0-3", "cpu/online"): a line in <root>/sys/devices/system/cpu/online, with its directories. */
__attribute__((format(printf, 3, 4))) static void put(struct fixture *f, const char *text, const char *format, ...)
{
	char name[256], path[512];
	va_list ap;
	FILE *out;

	va_start(ap, format);
	vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/sys/devices/system/%s", f->root, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	out = fopen(path, "w");
	assert_non_null(out);
	fprintf(out, "%s\n", text);
	fclose(out);
}

static void put_cache(struct fixture *f, unsigned int cpu, unsigned int index, unsigned int level, const char *type,
		      const char *shared)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", level);
	put(f, text, "cpu/cpu%u/cache/index%u/level", cpu, index);
	put(f, type, "cpu/cpu%u/cache/index%u/type", cpu, index);
	put(f, shared, "cpu/cpu%u/cache/index%u/shared_cpu_list", cpu, index);
}

static void put_presence(struct fixture *f, const char *possible, const char *online)
{
	put(f, possible, "cpu/possible");
	put(f, online, "cpu/online");
}

static void read_topo(struct fixture *f)
{
	assert_int_equal(topo_read(f->root, &f->topo), 0);
}

/* Two packages of two cores of two threads, numbered as Intel does: n and n + 4 are one core. */
static void put_smt_machine(struct fixture *f)
{
	char core[16], llc[16];

	put_presence(f, "0-7", "0-7");
	put(f, "0-1", "node/online");
	put(f, "0-1,4-5", "node/node0/cpulist");
	put(f, "2-3,6-7", "node/node1/cpulist");
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		snprintf(core, sizeof(core), "%u,%u", cpu % 4, cpu % 4 + 4);
		snprintf(llc, sizeof(llc), "%s", cpu % 4 < 2 ? "0-1,4-5" : "2-3,6-7");
		put(f, core, "cpu/cpu%u/topology/core_cpus_list", cpu);
		put_cache(f, cpu, 0, 1, "Data", core);
		put_cache(f, cpu, 1, 1, "Instruction", core);
		put_cache(f, cpu, 2, 2, "Unified", core);
		put_cache(f, cpu, 3, 3, "Unified", llc);
	}
}

static void test_smt_and_two_llcs(void **state)
{
	struct fixture *f = *state;

	put_smt_machine(f);
	read_topo(f);
	assert_int_equal(f->topo.nr_possible, 8);
	assert_int_equal(f->topo.nr_online, 8);
	assert_int_equal(f->topo.nr_cores, 4);
	assert_int_equal(f->topo.nr_llcs, 2);
	assert_int_equal(f->topo.nr_nodes, 2);
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		const struct topo_cpu *c = &f->topo.cpus[cpu];

		assert_true(c->possible && c->online);
		assert_int_equal(c->core, cpu % 4);
		assert_int_equal(c->sibling, (cpu + 4) % 8);
		assert_int_equal(c->llc, cpu % 4 / 2);
		assert_int_equal(c->node, cpu % 4 / 2);
	}
}

static void test_old_names_of_the_kernel(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-3", "0-3");
	for (unsigned int cpu = 0; cpu < 4; cpu++) {
		put(f, cpu < 2 ? "0-1" : "2-3", "cpu/cpu%u/topology/thread_siblings_list", cpu);
		put(f, "0-3", "cpu/cpu%u/topology/core_siblings_list", cpu);
	}
	read_topo(f);
	assert_int_equal(f->topo.nr_cores, 2);
	assert_int_equal(f->topo.nr_llcs, 1);
	assert_int_equal(f->topo.cpus[3].sibling, 2);
}

/* The kernel removes the topology and cache directories of an offline CPU, and takes it out of its siblings' lists. */
static void test_offline_cpu_without_topology(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-3", "0,2-3");
	put(f, "0", "cpu/cpu0/topology/core_cpus_list");
	put_cache(f, 0, 3, 3, "Unified", "0");
	for (unsigned int cpu = 2; cpu < 4; cpu++) {
		put(f, "2-3", "cpu/cpu%u/topology/core_cpus_list", cpu);
		put_cache(f, cpu, 3, 3, "Unified", "2-3");
	}
	read_topo(f);
	assert_int_equal(f->topo.nr_possible, 4);
	assert_int_equal(f->topo.nr_online, 3);
	assert_true(f->topo.cpus[1].possible);
	assert_false(f->topo.cpus[1].online);
	assert_int_equal(f->topo.cpus[1].sibling, 1);
	assert_int_equal(f->topo.cpus[1].llc, 0);
	/* Its core is its own, behind those of the online CPUs. */
	assert_int_equal(f->topo.cpus[2].core, 1);
	assert_int_equal(f->topo.cpus[1].core, 2);
	assert_int_equal(f->topo.nr_cores, 3);
	assert_int_equal(f->topo.nr_llcs, 2);
}

static void test_a_sibling_that_went_offline_meanwhile(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-1", "0");
	put(f, "0-1", "cpu/cpu0/topology/core_cpus_list");
	read_topo(f);
	assert_int_equal(f->topo.cpus[0].sibling, 0);
}

static void test_sparse_possible(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-1,8-9", "0-1,8-9");
	read_topo(f);
	assert_int_equal(f->topo.nr_possible, 10);
	assert_int_equal(f->topo.nr_online, 4);
	assert_int_equal(f->topo.nr_cores, 4);
	assert_false(f->topo.cpus[5].possible);
	assert_false(f->topo.cpus[5].online);
	assert_int_equal(f->topo.cpus[5].sibling, 5);
	assert_int_equal(f->topo.cpus[9].core, 3);
}

static void test_nothing_but_presence(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-1", "0-1");
	read_topo(f);
	assert_int_equal(f->topo.nr_llcs, 1);
	assert_int_equal(f->topo.nr_nodes, 1);
	assert_int_equal(f->topo.cpus[1].llc, 0);
	assert_int_equal(f->topo.cpus[1].node, 0);
}

static void test_no_cache_means_package(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-3", "0-3");
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		put(f, cpu < 2 ? "0-1" : "2-3", "cpu/cpu%u/topology/package_cpus_list", cpu);
	read_topo(f);
	assert_int_equal(f->topo.nr_llcs, 2);
	assert_int_equal(f->topo.cpus[3].llc, 1);
}

static void test_no_cache_and_no_package_means_node(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-3", "0-3");
	put(f, "0,2-3", "node/online");
	put(f, "0-1", "node/node0/cpulist");
	put(f, "", "node/node2/cpulist"); /* memory only */
	put(f, "2-3", "node/node3/cpulist");
	read_topo(f);
	assert_int_equal(f->topo.nr_nodes, 2);
	assert_int_equal(f->topo.cpus[3].node, 1);
	assert_int_equal(f->topo.nr_llcs, 2);
	assert_int_equal(f->topo.cpus[3].llc, 1);
}

/* Some virtual machines and ARM systems describe private caches only. */
static void test_a_private_cache_is_no_llc(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-3", "0-3");
	for (unsigned int cpu = 0; cpu < 4; cpu++) {
		char own[8];

		snprintf(own, sizeof(own), "%u", cpu);
		put(f, own, "cpu/cpu%u/topology/core_cpus_list", cpu);
		put(f, "0-3", "cpu/cpu%u/topology/package_cpus_list", cpu);
		put_cache(f, cpu, 0, 1, "Data", own);
		put_cache(f, cpu, 2, 2, "Unified", own);
	}
	read_topo(f);
	assert_int_equal(f->topo.nr_llcs, 1);
	assert_int_equal(f->topo.nr_cores, 4);
}

static void test_a_shared_level_2_is_an_llc(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-3", "0-3");
	for (unsigned int cpu = 0; cpu < 4; cpu++)
		put_cache(f, cpu, 2, 2, "Unified", cpu < 2 ? "0-1" : "2-3");
	read_topo(f);
	assert_int_equal(f->topo.nr_llcs, 2);
}

static void test_many_llcs_are_folded(void **state)
{
	struct fixture *f = *state;

	put_presence(f, "0-199", "0-199");
	for (unsigned int cpu = 0; cpu < 200; cpu++) {
		char own[8];

		snprintf(own, sizeof(own), "%u", cpu);
		put_cache(f, cpu, 3, 3, "Unified", own);
	}
	read_topo(f);
	assert_int_equal(f->topo.nr_llcs, SCHEDD_MAX_LLCS);
	for (unsigned int cpu = 0; cpu < 200; cpu++) {
		assert_true(f->topo.cpus[cpu].llc < SCHEDD_MAX_LLCS);
		assert_true(cpu == 0 || f->topo.cpus[cpu].llc - f->topo.cpus[cpu - 1].llc <= 1);
	}
}

static void test_1024_cpus(void **state)
{
	struct fixture *f = *state;
	char core[16];

	put_presence(f, "0-1023", "0-1023");
	for (unsigned int cpu = 0; cpu < 1024; cpu++) {
		snprintf(core, sizeof(core), "%u-%u", cpu / 2 * 2, cpu / 2 * 2 + 1);
		put(f, core, "cpu/cpu%u/topology/core_cpus_list", cpu);
	}
	read_topo(f);
	assert_int_equal(f->topo.nr_possible, 1024);
	assert_int_equal(f->topo.nr_cores, 512);
	assert_int_equal(f->topo.cpus[1023].sibling, 1022);
}

/* Every file says something wrong: each CPU is its own core and nothing else is believed. */
static void test_nonsense_in_topology_is_ignored(void **state)
{
	static const char *const texts[] = { "", "x", "5", "0-", "0-99999999999", "1-0", "0,,1", "0 1" };
	struct fixture *f = *state;

	put_presence(f, "0-1", "0-1");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put(f, texts[i], "cpu/cpu0/topology/core_cpus_list");
		put(f, texts[i], "cpu/cpu0/topology/package_cpus_list");
		put_cache(f, 0, 0, 3, "Unified", texts[i]);
		read_topo(f);
		assert_int_equal(f->topo.nr_cores, 2);
		assert_int_equal(f->topo.nr_llcs, 1);
		assert_int_equal(f->topo.cpus[0].sibling, 0);
	}
}

static void test_errors_leave_the_result_alone(void **state)
{
	struct fixture *f = *state;
	struct topo before;

	memset(&f->topo, 0x5a, sizeof(f->topo));
	memcpy(&before, &f->topo, sizeof(before));
	assert_int_equal(topo_read(f->root, &f->topo), -ENOENT);
	put(f, "0-1", "cpu/possible");
	assert_int_equal(topo_read(f->root, &f->topo), -ENOENT);
	put_presence(f, "0-1024", "0-1");
	assert_int_equal(topo_read(f->root, &f->topo), -ERANGE);
	put_presence(f, "0-1", "zero");
	assert_int_equal(topo_read(f->root, &f->topo), -EINVAL);
	put_presence(f, "0-1", "");
	assert_int_equal(topo_read(f->root, &f->topo), -EINVAL);
	assert_memory_equal(&before, &f->topo, sizeof(before));
}

static void test_the_machine_that_runs_the_test(void **state)
{
	struct fixture *f = *state;
	int r = topo_read("", &f->topo);

	if (r < 0) {
		print_message("# no sysfs here\n");
		skip();
	}
	assert_int_equal(f->topo.nr_online, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(f->topo.nr_llcs >= 1 && f->topo.nr_cores >= 1 && f->topo.nr_nodes >= 1);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(test_smt_and_two_llcs),
		test(test_old_names_of_the_kernel),
		test(test_offline_cpu_without_topology),
		test(test_a_sibling_that_went_offline_meanwhile),
		test(test_sparse_possible),
		test(test_nothing_but_presence),
		test(test_no_cache_means_package),
		test(test_no_cache_and_no_package_means_node),
		test(test_a_private_cache_is_no_llc),
		test(test_a_shared_level_2_is_an_llc),
		test(test_many_llcs_are_folded),
		test(test_1024_cpus),
		test(test_nonsense_in_topology_is_ignored),
		test(test_errors_leave_the_result_alone),
		test(test_the_machine_that_runs_the_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
