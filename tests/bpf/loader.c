/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loader.c - load the BPF scheduler without the daemon, for tests and benchmarks
 *
 * bpf_lab [OPTION...] -- COMMAND [ARGUMENT...]
 *   --cgroup DIR=CLASS   put a cgroup (made when missing) into class index CLASS
 *   --class I:KIND[:KEY=N...]  set class I; keys guarantee burst weight slice_us flags
 *   --owner CPU=CLASS    the plan: CPU belongs to class index CLASS
 *   --stats              print the counters when COMMAND has ended
 *   --load-only          load and verify, do not attach
 *   --verbose            what libbpf and the verifier say
 *
 * Exit status: that of COMMAND; 3 when the scheduler ended before it; 4 when it
 * did not load or attach.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/intf.h"
#include "schedd.skel.h"

#define MAX_ITEMS 32

struct lab {
	struct schedd_bpf *skel;
	struct bpf_link *link;
	const char *cgroups[MAX_ITEMS];
	const char *classes[MAX_ITEMS];
	const char *owners[MAX_ITEMS];
	int nr_cgroups, nr_classes, nr_owners;
	bool stats, load_only, verbose;
	int nr_cpus;
};

/*
 * Programs that are not struct_ops act on whatever scheduler is loaded unless
 * they are tied to our map: command 38 of bpf(2), for which libbpf 1.5 has no
 * wrapper.  A kernel that does not know it answers EINVAL.
 */
static int associate_program(int prog_fd, int ops_map_fd)
{
	union {
		struct {
			uint32_t map_fd;
			uint32_t prog_fd;
			uint32_t flags;
		} assoc;
		char attr[128];
	} u = {.assoc = {.map_fd = ops_map_fd, .prog_fd = prog_fd}};

	if (syscall(SYS_bpf, 38, &u, sizeof(u)) < 0 && errno != EINVAL)
		return -errno;
	return 0;
}

static int associate_all(struct bpf_object *obj, const struct bpf_map *ops)
{
	struct bpf_program *prog;
	int r;

	bpf_object__for_each_program(prog, obj) {
		if (bpf_program__type(prog) == BPF_PROG_TYPE_STRUCT_OPS ||
		    !bpf_program__autoload(prog))
			continue;
		r = associate_program(bpf_program__fd(prog), bpf_map__fd(ops));
		if (r)
			return r;
	}
	return 0;
}

static bool enum_value_exists(const struct btf *btf, const char *type, const char *name)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_ENUM64);
	const struct btf_enum64 *e;
	const struct btf_type *t;

	if (id < 0)
		return false;
	t = btf__type_by_id(btf, id);
	e = btf_enum64(t);
	for (int i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, e[i].name_off), name))
			return true;
	return false;
}

static int64_t read_number(const char *path, int64_t missing)
{
	FILE *f = fopen(path, "re");
	int64_t v = missing;

	if (!f)
		return missing;
	if (fscanf(f, "%" SCNd64, &v) != 1)
		v = missing;
	fclose(f);
	return v;
}

static int first_of_list(const char *file, int cpu, int missing)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	return read_number(path, missing);
}

static int last_of_list(const char *path)
{
	char line[256] = "", *p;
	FILE *f = fopen(path, "re");

	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	for (p = line + strlen(line); p > line && !strchr("-,", p[-1]); p--)
		;
	return atoi(p);
}

/* Enough of the topology for tests: LLC by its first CPU, and one SMT sibling. */
static void fill_topology(struct schedd_bpf *skel, int nr_cpus)
{
	int llc_of_first[SCHEDD_MAX_CPUS], nr_llcs = 0;

	memset(llc_of_first, -1, sizeof(llc_of_first));
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		struct schedd_cpu_topo *topo = (void *)&skel->rodata->cpu_topo[cpu];
		int first = first_of_list("cache/index3/shared_cpu_list",
					  cpu, 0);
		char path[256];

		if (first < 0 || first >= nr_cpus)
			first = 0;
		if (llc_of_first[first] < 0 && nr_llcs < SCHEDD_MAX_LLCS)
			llc_of_first[first] = nr_llcs++;
		topo->llc = llc_of_first[first] < 0 ? 0 : llc_of_first[first];
		topo->sibling = cpu;
		first = first_of_list("topology/thread_siblings_list", cpu,
				      cpu);
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
		topo->sibling = first == cpu ? last_of_list(path) : first;
		if (access(path, R_OK))
			topo->sibling = cpu;
		topo->online = first_of_list("online", cpu, 1);
	}
	skel->rodata->nr_llcs = nr_llcs ? nr_llcs : 1;
}

static int lab_load(struct lab *lab)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_level = lab->verbose ? 4 : 0);
	struct schedd_bpf *skel = schedd_bpf__open_opts(&opts);
	struct btf *btf;

	if (!skel)
		return -errno;
	lab->skel = skel;
	skel->struct_ops.schedd_ops->hotplug_seq =
		read_number("/sys/kernel/sched_ext/hotplug_seq", 0);
	lab->nr_cpus = libbpf_num_possible_cpus();
	if (lab->nr_cpus < 1 || lab->nr_cpus > SCHEDD_MAX_CPUS)
		return -E2BIG;
	skel->rodata->nr_cpus = lab->nr_cpus;
	fill_topology(skel, lab->nr_cpus);
	bpf_map__set_max_entries(skel->maps.cpu_stats, lab->nr_cpus);
	bpf_map__set_max_entries(skel->maps.cpu_state, lab->nr_cpus);

	btf = btf__load_vmlinux_btf();
	if (btf && enum_value_exists(btf, "scx_enq_flags", "SCX_ENQ_IMMED"))
		skel->struct_ops.schedd_ops->cpu_release = NULL;
	btf__free(btf);

	if (schedd_bpf__load(skel))
		return -errno;
	return associate_all(skel->obj, skel->maps.schedd_ops);
}

static int run_program(const struct bpf_program *prog, void *args, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = size);

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
}

static int set_class(struct lab *lab, const char *text)
{
	struct schedd_set_class_args args = {
		.conf = {.flags = SCHEDD_CLASS_USED, .weight = 100, .burst_cpus = SCHEDD_MAX_CPUS}};
	char copy[256], *save = NULL, *word;
	int r;

	snprintf(copy, sizeof(copy), "%s", text);
	word = strtok_r(copy, ":", &save);
	args.class_idx = word ? atoi(word) : SCHEDD_MAX_CLASSES;
	word = strtok_r(NULL, ":", &save);
	args.conf.kind = word ? atoi(word) : 0;
	while ((word = strtok_r(NULL, ":", &save))) {
		char *value = strchr(word, '=');
		int n = value ? atoi(value + 1) : 0;

		if (!strncmp(word, "guarantee=", 10))
			args.conf.guarantee_cpus = n;
		else if (!strncmp(word, "burst=", 6))
			args.conf.burst_cpus = n;
		else if (!strncmp(word, "weight=", 7))
			args.conf.weight = n;
		else if (!strncmp(word, "slice_us=", 9))
			args.conf.slice_ns = n * 1000ULL;
		else if (!strncmp(word, "flags=", 6))
			args.conf.flags |= n;
		else
			return -EINVAL;
	}
	r = run_program(lab->skel->progs.schedd_set_class, &args, sizeof(args));
	return r ? r : args.ret_result;
}

static int set_cgroup(struct lab *lab, const char *text)
{
	const char *eq = strrchr(text, '=');
	struct schedd_cgroup_class value = {};
	char dir[256];
	int fd, r;

	if (!eq || eq - text >= (int)sizeof(dir))
		return -EINVAL;
	snprintf(dir, sizeof(dir), "%.*s", (int)(eq - text), text);
	value.class_idx = atoi(eq + 1);
	if (mkdir(dir, 0755) && errno != EEXIST)
		return -errno;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = bpf_map__update_elem(lab->skel->maps.cgroup_class, &fd, sizeof(fd), &value,
				 sizeof(value), BPF_ANY);
	close(fd);
	return r;
}

static int apply_owners(struct lab *lab)
{
	struct schedd_apply_plan_args args = {};
	struct schedd_plan plan = {.generation = 1, .nr_cpus = lab->nr_cpus};
	uint32_t zero = 0;
	int r;

	for (int i = 0; i < lab->nr_owners; i++) {
		int cpu = atoi(lab->owners[i]);
		const char *eq = strchr(lab->owners[i], '=');

		if (cpu < 0 || cpu >= lab->nr_cpus || !eq)
			return -EINVAL;
		plan.owner[cpu] = atoi(eq + 1) + 1;
	}
	r = bpf_map__update_elem(lab->skel->maps.plan, &zero, sizeof(zero), &plan, sizeof(plan),
				 BPF_ANY);
	if (!r)
		r = run_program(lab->skel->progs.schedd_apply_plan, &args, sizeof(args));
	return r ? r : args.ret_result;
}

static void class_line(const struct schedd_class_stats *s, int idx)
{
	printf("class %d: cpu_ms=%" PRIu64 " wakeups=%" PRIu64 " mean_ns=%" PRIu64 " preemptions=%" PRIu64
	       " preempted=%" PRIu64 " floor=%" PRIu64 " direct=%" PRIu64 " class=%" PRIu64
	       " percpu=%" PRIu64 " kept=%" PRIu64 " misses=%" PRIu64 " runnable=%" PRId64
	       " queued=%" PRId64 "\n",
	       idx, s->cpu_ns / 1000000, s->wakeups, s->wakeups ? s->wakeup_ns / s->wakeups : 0,
	       s->preemptions, s->preempted, s->floor_served, s->dispatch_direct, s->dispatch_class,
	       s->dispatch_percpu, s->dispatch_kept, s->affinity_misses, s->nr_runnable, s->enqueued - s->dequeued);
	printf("  wakeup <= us:");
	for (int b = 0; b < SCHEDD_LAT_BUCKETS; b++)
		if (s->wakeup_hist[b])
			printf(" %.0f:%" PRIu64, (double)(1ULL << (SCHEDD_LAT_FIRST_SHIFT + b)) / 1000,
			       s->wakeup_hist[b]);
	printf("\n");
}

/* All members of both structures are 64-bit counters, so they add up as arrays. */
static void print_stats(struct lab *lab)
{
	static struct schedd_cpu_stats sum, one;
	uint64_t *to = (void *)&sum, *from = (void *)&one;

	for (uint32_t cpu = 0; cpu < (uint32_t)lab->nr_cpus; cpu++) {
		if (bpf_map__lookup_elem(lab->skel->maps.cpu_stats, &cpu, sizeof(cpu), &one,
					 sizeof(one), 0))
			continue;
		for (size_t i = 0; i < sizeof(one) / sizeof(*from); i++)
			to[i] += from[i];
	}
	for (int i = 0; i < SCHEDD_MAX_CLASSES; i++)
		if (sum.class[i].cpu_ns || sum.class[i].wakeups)
			class_line(&sum.class[i], i);
	printf("reflex_lost=%" PRIu64 " tick_rescues=%" PRIu64 " class_misses=%" PRIu64
	       " kthread_direct=%" PRIu64 " kthread_demoted=%" PRIu64 " alive_lost=%" PRIu64 "\n",
	       sum.reflex_lost, sum.tick_rescues, sum.class_misses, sum.kthread_direct,
	       sum.kthread_demoted, sum.alive_lost);
}

static int lab_attach(struct lab *lab)
{
	int r;

	for (int i = 0; i < lab->nr_classes; i++) {
		r = set_class(lab, lab->classes[i]);
		if (r)
			return fprintf(stderr, "bpf_lab: class %s: %s\n", lab->classes[i], strerror(-r)), r;
	}
	lab->link = bpf_map__attach_struct_ops(lab->skel->maps.schedd_ops);
	if (!lab->link)
		return -errno;
	if (!bpf_program__attach(lab->skel->progs.schedd_cgroup_mkdir))
		fprintf(stderr, "bpf_lab: no cgroup_mkdir tracepoint: %s\n", strerror(errno));
	for (int i = 0; i < lab->nr_cgroups; i++) {
		r = set_cgroup(lab, lab->cgroups[i]);
		if (r)
			return fprintf(stderr, "bpf_lab: cgroup %s: %s\n", lab->cgroups[i], strerror(-r)), r;
	}
	return lab->nr_owners ? apply_owners(lab) : 0;
}

static int exit_kind(struct lab *lab)
{
	struct schedd_exit_record record = {};
	uint32_t zero = 0;

	bpf_map__lookup_elem(lab->skel->maps.exit_record, &zero, sizeof(zero), &record,
			     sizeof(record), 0);
	if (record.kind)
		fprintf(stderr, "bpf_lab: ended: kind %u code %" PRIx64 " reason \"%s\" message \"%s\"\n",
			record.kind, (uint64_t)record.exit_code, record.reason, record.msg);
	return record.kind;
}

static int run_command(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return 4;
	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0)
		return 4;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int print_all(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	return vfprintf(stderr, format, args);
}

static int parse(struct lab *lab, int argc, char **argv)
{
	static const struct option options[] = {
		{"cgroup", required_argument, NULL, 'c'}, {"class", required_argument, NULL, 'k'},
		{"owner", required_argument, NULL, 'o'},  {"stats", no_argument, NULL, 's'},
		{"load-only", no_argument, NULL, 'l'},    {"verbose", no_argument, NULL, 'v'},
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == 'c' && lab->nr_cgroups < MAX_ITEMS)
			lab->cgroups[lab->nr_cgroups++] = optarg;
		else if (c == 'k' && lab->nr_classes < MAX_ITEMS)
			lab->classes[lab->nr_classes++] = optarg;
		else if (c == 'o' && lab->nr_owners < MAX_ITEMS)
			lab->owners[lab->nr_owners++] = optarg;
		else if (c == 's')
			lab->stats = true;
		else if (c == 'l')
			lab->load_only = true;
		else if (c == 'v')
			lab->verbose = true;
		else
			return -EINVAL;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct lab lab = {};
	int r = parse(&lab, argc, argv), status;

	if (r || (!lab.load_only && optind >= argc)) {
		fprintf(stderr, "bpf_lab: see the head of tests/bpf/loader.c\n");
		return 2;
	}
	if (lab.verbose)
		libbpf_set_print(print_all);
	r = lab_load(&lab);
	if (!r && lab.load_only)
		return 0;
	if (!r)
		r = lab_attach(&lab);
	if (r) {
		fprintf(stderr, "bpf_lab: cannot load or attach: %s\n", strerror(-r));
		if (lab.skel)
			exit_kind(&lab);
		return 4;
	}
	status = run_command(argv + optind);
	fflush(stdout);
	if (exit_kind(&lab))
		status = 3;
	if (lab.stats)
		print_stats(&lab);
	bpf_link__destroy(lab.link);
	schedd_bpf__destroy(lab.skel);
	return status;
}
