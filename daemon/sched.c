/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sched.c - the BPF scheduler as the daemon sees it; the only includer of the skeleton */
#include "daemon/sched.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf_hash.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "schedd.skel.h"

/* include/uapi/linux/bpf.h from 6.18 on; libbpf 1.5 has no wrapper. */
enum { BPF_CMD_PROG_ASSOC_STRUCT_OPS = 38 };

/* kernel/sched/ext internal.h: enum scx_exit_kind and scx_exit_code, stable since 6.12. */
enum {
	KERNEL_EXIT_UNREG = 64,
	KERNEL_EXIT_UNREG_BPF = 65,
	KERNEL_EXIT_UNREG_KERN = 66,
	KERNEL_EXIT_SYSRQ = 67,
	KERNEL_EXIT_ERROR_STALL = 1026,
};
static const uint64_t kernel_ecode_act_restart = 1ull << 48;

/* Of bpf/observe.bpf.c, in this order: who is seen to wake up is then also seen to start. */
enum { NR_OBSERVERS = 5 };
static const struct {
	const char *program;
	const char *without;            /* NULL: it must be there */
} observers[NR_OBSERVERS] = {
	{ "schedd_observe_switch", NULL },
	{ "schedd_observe_wakeup_new", NULL },
	{ "schedd_observe_wakeup", NULL },
	{ "schedd_observe_waking", "latency lacks the way to an idle CPU in another cache" },
	{ "schedd_observe_timer", "CPU time of a task counts when it stops" },
};

struct sched {
	struct schedd_bpf *skel;
	struct bpf_link *link;          /* of the scheduler; NULL while not attached */
	struct bpf_link *tracing;       /* inheritance at mkdir; optional */
	struct bpf_link *observers[NR_OBSERVERS];
	bool observing;
	struct ring_buffer *wakeups;    /* of the allocator */
	uint32_t nr_cpus, nr_llcs;
	uint16_t llc[SCHEDD_MAX_CPUS];
	struct schedd_class_conf told[SCHEDD_MAX_CLASSES]; /* what BPF has been told */
	struct mapping {
		void *address;
		size_t size;
	} stats, cpus, plan, shared, exit_record;
};

const char *sched_bpf_hash(void)
{
	return SCHEDD_BPF_HASH;
}

static int on_libbpf(enum libbpf_print_level level, const char *format, va_list ap)
{
	char text[1024];

	/* A verifier log of megabytes says nothing to an operator; debug shows it. */
	if (level != LIBBPF_WARN && log_get_level() < LOG_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	return log_full(LOG_DEBUG, 0, "libbpf: %s", text);
}

static int map_memory(const struct bpf_map *map, struct mapping *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	/* An mmapable array has its values 8-byte aligned, one behind the other. */
	m->size = (((bpf_map__value_size(map) + 7u) & ~7u) * (size_t)bpf_map__max_entries(map) + page - 1) & ~(page - 1);
	m->address = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (m->address == MAP_FAILED) {
		m->address = NULL;
		return -errno;
	}
	return 0;
}

static int map_all(struct sched *s)
{
	int r = map_memory(s->skel->maps.cpu_stats, &s->stats);

	if (r == 0)
		r = map_memory(s->skel->maps.cpu_state, &s->cpus);
	if (r == 0)
		r = map_memory(s->skel->maps.plan, &s->plan);
	if (r == 0)
		r = map_memory(s->skel->maps.shared, &s->shared);
	if (r == 0)
		r = map_memory(s->skel->maps.exit_record, &s->exit_record);
	return r;
}

/* Some of these kernels refuse a program with a timer, and the whole object with it. */
static bool kernel_is_preempt_rt(void)
{
	struct utsname uts;

	return uname(&uts) == 0 && strstr(uts.version, "PREEMPT_RT") != NULL;
}

static void set_load_values(struct sched *s, const struct topo *topo, uint64_t hotplug_seq, const struct sched_options *o)
{
	s->skel->rodata->nr_cpus = topo->nr_possible;
	s->nr_llcs = topo->nr_llcs ? topo->nr_llcs : 1;
	s->skel->rodata->nr_llcs = s->nr_llcs;
	s->skel->rodata->reflex_off = o->reflex_off;
	if (o->poll_cpu >= 0)
		s->skel->rodata->poll_cpu = (uint32_t)o->poll_cpu;
	for (uint32_t cpu = 0; cpu < topo->nr_possible; cpu++) {
		/* The declaration is const volatile for BPF's sake; before load the page is ours to fill. */
		struct schedd_cpu_topo *t = (struct schedd_cpu_topo *)&s->skel->rodata->cpu_topo[cpu];

		t->llc = (uint16_t)topo->cpus[cpu].llc;
		t->sibling = (uint16_t)topo->cpus[cpu].sibling;
		t->online = topo->cpus[cpu].online;
		s->llc[cpu] = t->llc;
	}
	s->skel->rodata->use_timers = !kernel_is_preempt_rt();
	s->skel->struct_ops.schedd_ops->hotplug_seq = hotplug_seq;
	if (o->timeout_ms)
		s->skel->struct_ops.schedd_ops->timeout_ms = (uint32_t)o->timeout_ms;
}

/*
 * Where tasks that may not start at once come back by themselves (7.1 on), the
 * older callback for CPUs taken by real-time tasks is not needed and warned about.
 */
static bool kernel_has_enq_immed(void)
{
	struct sched_probe probe;

	sched_probe(&probe);
	for (size_t i = 0; i < probe.nr_features; i++)
		if (strcmp(probe.features[i].name, "enq_immed") == 0)
			return probe.features[i].present;
	return false;
}

static int open_object(struct sched *s, const struct topo *topo, uint64_t hotplug_seq, const struct sched_options *o)
{
	struct bpf_program *p;
	int r;

	s->skel = schedd_bpf__open();
	if (!s->skel)
		return -errno;
	set_load_values(s, topo, hotplug_seq, o);
	if (kernel_has_enq_immed())
		s->skel->struct_ops.schedd_ops->cpu_release = NULL;
	bpf_object__for_each_program(p, s->skel->obj)
		bpf_program__set_autoattach(p, false);
	r = bpf_map__set_max_entries(s->skel->maps.cpu_stats, topo->nr_possible);
	return r < 0 ? r : bpf_map__set_max_entries(s->skel->maps.cpu_state, topo->nr_possible);
}

/*
 * Without it a program outside the ops acts on whatever scheduler is loaded
 * (seen: it ended another one).  Kernels before the command answer EINVAL.
 */
static int associate(const struct sched *s, const struct bpf_program *p)
{
	struct {
		uint32_t map_fd, prog_fd, flags;
	} attr = { (uint32_t)bpf_map__fd(s->skel->maps.schedd_ops), (uint32_t)bpf_program__fd(p), 0 };

	if (syscall(__NR_bpf, BPF_CMD_PROG_ASSOC_STRUCT_OPS, &attr, sizeof(attr)) < 0 && errno != EINVAL)
		return -errno;
	return 0;
}

static int associate_all(const struct sched *s)
{
	struct bpf_program *p;
	int r;

	bpf_object__for_each_program(p, s->skel->obj) {
		if (bpf_program__type(p) == BPF_PROG_TYPE_STRUCT_OPS || !bpf_program__autoload(p))
			continue;
		r = associate(s, p);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The record says nothing: that there is one is the message. */
static int on_wakeup(void *ctx, void *record, size_t size)
{
	(void)ctx;
	(void)record;
	(void)size;
	return 0;
}

static int sched_prepare(struct sched *s, const struct topo *topo, uint64_t hotplug_seq, const struct sched_options *o,
			 char *error, size_t error_size)
{
	struct schedd_shared *shared;
	int r;

	r = open_object(s, topo, hotplug_seq, o);
	if (r == 0)
		r = schedd_bpf__load(s->skel);
	if (r < 0) {
		snprintf(error, error_size, "the kernel refused the BPF object: %s; --log-level debug shows its log",
			 strerror(-r));
		return -EOPNOTSUPP;
	}
	r = map_all(s);
	if (r == 0)
		r = associate_all(s);
	if (r == 0) {
		s->wakeups = ring_buffer__new(bpf_map__fd(s->skel->maps.allocator_wakeups), on_wakeup, NULL, NULL);
		r = s->wakeups ? 0 : -errno;
	}
	if (r < 0) {
		snprintf(error, error_size, "cannot use the maps of the BPF object: %s", strerror(-r));
		return r;
	}
	shared = s->shared.address;
	shared->alive_max_ns = o->alive_max_ns;
	return 0;
}

int sched_load(const struct topo *topo, uint64_t hotplug_seq, const struct sched_options *o, struct sched **ret_sched,
	       char *error, size_t error_size)
{
	struct sched *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	libbpf_set_print(on_libbpf);
	s->nr_cpus = topo->nr_possible;
	r = sched_prepare(s, topo, hotplug_seq, o, error, error_size);
	if (r < 0) {
		sched_free(s);
		return r;
	}
	*ret_sched = s;
	return 0;
}

uint64_t sched_verified_instructions(const struct sched *s)
{
	struct bpf_program *p;
	uint64_t sum = 0;

	bpf_object__for_each_program(p, s->skel->obj) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_program__fd(p) >= 0 && bpf_prog_get_info_by_fd(bpf_program__fd(p), &info, &size) == 0) {
			sum += info.verified_insns;
			log_debug("%s: %u instructions verified", bpf_program__name(p), info.verified_insns);
		}
	}
	return sum;
}

static void unmap(struct mapping *m)
{
	if (m->address)
		munmap(m->address, m->size);
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	sched_detach(s);
	ring_buffer__free(s->wakeups);
	unmap(&s->stats);
	unmap(&s->cpus);
	unmap(&s->plan);
	unmap(&s->shared);
	unmap(&s->exit_record);
	schedd_bpf__destroy(s->skel);
	free(s);
}

static void explain_refusal(int r, char *error, size_t size)
{
	char other[64];

	sched_read_other(other, sizeof(other));
	if (r == -EBUSY)
		snprintf(error, size, "the scheduler %s is loaded; stop it first", other[0] ? other : "of somebody else");
	else if (r == -EINVAL)
		snprintf(error, size, "the kernel refused the scheduler: isolcpus= on its command line or an isolated cpuset "
				      "partition excludes sched_ext");
	else if (r == -EPERM || r == -EACCES)
		snprintf(error, size, "the kernel refused the scheduler: missing privileges, or lockdown");
	else
		snprintf(error, size, "the kernel refused the scheduler: %s", strerror(-r));
}

/* A kernel without it loses inheritance at creation only: user space sets each cgroup anyway. */
static void attach_inheritance(struct sched *s)
{
	s->tracing = bpf_program__attach(s->skel->progs.schedd_cgroup_mkdir);
	if (!s->tracing)
		log_warning_errno(errno, "no cgroup_mkdir tracepoint: new cgroups get their class a moment later");
}

int sched_attach(struct sched *s, char *error, size_t error_size)
{
	int r;

	s->link = bpf_map__attach_struct_ops(s->skel->maps.schedd_ops);
	if (!s->link) {
		r = -errno;
		explain_refusal(r, error, error_size);
		return r;
	}
	attach_inheritance(s);
	return 0;
}

/* Nothing of ours runs yet, so this side may write; only the first switch says what a CPU runs. */
static void forget_what_runs(struct sched *s)
{
	struct schedd_cpu_state *state = s->cpus.address;

	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++) {
		state[cpu].rank = SCHEDD_RANK_AWAY;
		state[cpu].holder = 0;
	}
}

static int attach_observer(struct sched *s, size_t i)
{
	s->observers[i] =
		bpf_program__attach(bpf_object__find_program_by_name(s->skel->obj, observers[i].program));
	if (s->observers[i])
		return 0;
	if (!observers[i].without)
		return -errno;
	log_warning_errno(errno, "the kernel refused %s: %s", observers[i].program, observers[i].without);
	return 0;
}

int sched_observe(struct sched *s, char *error, size_t error_size)
{
	int r;

	forget_what_runs(s);
	for (size_t i = 0; i < NR_OBSERVERS; i++) {
		r = attach_observer(s, i);
		if (r < 0) {
			sched_detach(s);
			snprintf(error, error_size, "the kernel refused the tracepoint program %s: %s",
				 observers[i].program, strerror(-r));
			return r;
		}
	}
	attach_inheritance(s);
	s->observing = true;
	return 0;
}

void sched_detach(struct sched *s)
{
	for (size_t i = NR_OBSERVERS; i > 0; i--) {
		bpf_link__destroy(s->observers[i - 1]);
		s->observers[i - 1] = NULL;
	}
	s->observing = false;
	bpf_link__destroy(s->tracing);
	s->tracing = NULL;
	bpf_link__destroy(s->link);
	s->link = NULL;
}

bool sched_is_attached(const struct sched *s)
{
	return s->link != NULL;
}

bool sched_is_observing(const struct sched *s)
{
	return s->observing;
}

void sched_get_exit(const struct sched *s, struct sched_exit *ret_exit)
{
	const struct schedd_exit_record *e = s->exit_record.address;
	/* kind is written last by BPF: what it guards is whole once it is seen. */
	uint32_t kind = __atomic_load_n(&e->kind, __ATOMIC_ACQUIRE);

	*ret_exit = (struct sched_exit){ .kind = SCHED_EXIT_ERROR, .code = (uint64_t)e->exit_code };
	snprintf(ret_exit->reason, sizeof(ret_exit->reason), "%.127s", e->reason);
	snprintf(ret_exit->message, sizeof(ret_exit->message), "%.1023s", e->msg);
	if (kind == 0)
		ret_exit->kind = SCHED_EXIT_NONE;
	else if (kind == KERNEL_EXIT_SYSRQ)
		ret_exit->kind = SCHED_EXIT_SYSRQ;
	else if (kind == KERNEL_EXIT_ERROR_STALL)
		ret_exit->kind = SCHED_EXIT_STALL;
	else if (kind == KERNEL_EXIT_UNREG || kind == KERNEL_EXIT_UNREG_BPF || kind == KERNEL_EXIT_UNREG_KERN)
		ret_exit->kind = ret_exit->code & kernel_ecode_act_restart ? SCHED_EXIT_RESTART : SCHED_EXIT_DETACHED;
}

const char *sched_exit_dump(const struct sched *s)
{
	const struct schedd_exit_record *e = s->exit_record.address;

	return e->dump;
}

static int run_program(const struct bpf_program *p, void *args, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = (uint32_t)size);
	int r = bpf_prog_test_run_opts(bpf_program__fd(p), &o);

	return r < 0 ? r : (int)o.retval;
}

int sched_set_class(struct sched *s, uint32_t class_idx, const struct schedd_class_conf *conf)
{
	struct schedd_set_class_args args = { .class_idx = class_idx, .conf = *conf };
	int r;

	/* Most changes are of a cgroup's class and of no class: those would run all sixteen for nothing. */
	if (memcmp(&s->told[class_idx], conf, sizeof(*conf)) == 0)
		return 0;
	r = run_program(s->skel->progs.schedd_set_class, &args, sizeof(args));
	if (r == 0)
		r = args.ret_result;
	if (r == 0)
		s->told[class_idx] = *conf;
	return r;
}

int sched_set_cgroup_class(struct sched *s, int cgroup_fd, uint32_t class_idx)
{
	struct schedd_cgroup_class value = { .class_idx = class_idx };
	int r = bpf_map__update_elem(s->skel->maps.cgroup_class, &cgroup_fd, sizeof(cgroup_fd), &value, sizeof(value),
				     BPF_ANY);

	return r < 0 ? -errno : 0;
}

int sched_apply_plan(struct sched *s, const struct schedd_plan *plan)
{
	struct schedd_apply_plan_args args = { 0 };
	int r;

	memcpy(s->plan.address, plan, sizeof(*plan));
	r = run_program(s->skel->progs.schedd_apply_plan, &args, sizeof(args));
	return r < 0 ? r : args.ret_result;
}

int sched_ping(struct sched *s)
{
	struct schedd_ping_args args = { .cookie = (uint64_t)getpid() };
	int r = run_program(s->skel->progs.schedd_ping, &args, sizeof(args));

	if (r < 0)
		return r;
	return args.ret_cookie == args.cookie + 1 && args.ret_intf_version == SCHEDD_INTF_VERSION ? 0 : -EIO;
}

void sched_alive(struct sched *s, uint64_t now_ns, bool need_alive)
{
	struct schedd_shared *shared = s->shared.address;

	__atomic_store_n(&shared->alive_ns, now_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&shared->need_alive, need_alive, __ATOMIC_RELEASE);
}

static void add_signals(const struct schedd_class_stats *from, struct demand_counters *sum)
{
	/*
	 * dequeued before enqueued: what is queued between the two reads must look
	 * like waiting for a moment, never like having left before it came.
	 */
	sum->dequeued += __atomic_load_n(&from->dequeued, __ATOMIC_ACQUIRE);
	sum->enqueued += __atomic_load_n(&from->enqueued, __ATOMIC_RELAXED);
	sum->started += __atomic_load_n(&from->started, __ATOMIC_RELAXED);
	sum->queue_delay_ns += __atomic_load_n(&from->queue_delay_ns, __ATOMIC_RELAXED);
	sum->cpu_ns += __atomic_load_n(&from->cpu_ns, __ATOMIC_RELAXED);
}

void sched_read_signals(const struct sched *s, uint32_t used,
			struct demand_counters ret_counters[][SCHEDD_MAX_CLASSES], uint8_t *ret_holder)
{
	const struct schedd_cpu_stats *stats = s->stats.address;
	const struct schedd_cpu_state *cpus = s->cpus.address;

	memset(ret_counters, 0, s->nr_llcs * sizeof(ret_counters[0]));
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++) {
		uint32_t holder = __atomic_load_n(&cpus[cpu].holder, __ATOMIC_RELAXED);

		ret_holder[cpu] = holder <= SCHEDD_MAX_CLASSES ? (uint8_t)holder : 0;
		for (uint32_t left = used; left; left &= left - 1) {
			uint32_t i = (uint32_t)__builtin_ctz(left);

			add_signals(&stats[cpu].class[i], &ret_counters[s->llc[cpu] % SCHEDD_MAX_LLCS][i]);
		}
	}
}

int sched_wake_fd(const struct sched *s)
{
	return ring_buffer__epoll_fd(s->wakeups);
}

void sched_set_asleep(struct sched *s, uint32_t wake_classes)
{
	struct schedd_shared *shared = s->shared.address;

	/* A full barrier: the look that follows must come after the word. */
	__atomic_store_n(&shared->wake_classes, wake_classes, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

int sched_set_poller(struct sched *s, bool polls)
{
	struct schedd_introduce_args args = { .polls = polls };
	int r = run_program(s->skel->progs.schedd_introduce, &args, sizeof(args));

	return r < 0 ? r : args.ret_result;
}

int sched_introduce(struct sched *s)
{
	return sched_set_poller(s, false);
}

void sched_drain_wakeups(struct sched *s)
{
	ring_buffer__consume(s->wakeups);
}

void sched_read_stats(const struct sched *s, struct schedd_cpu_stats *ret_sum)
{
	uint64_t *sum = (uint64_t *)ret_sum;

	*ret_sum = (struct schedd_cpu_stats){ 0 };
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++) {
		const uint64_t *one = (const uint64_t *)((const struct schedd_cpu_stats *)s->stats.address + cpu);

		for (size_t i = 0; i < sizeof(*ret_sum) / sizeof(*sum); i++)
			sum[i] += __atomic_load_n(&one[i], __ATOMIC_RELAXED);
	}
}

void sched_read_cpu(const struct sched *s, uint32_t cpu, struct schedd_cpu_state *ret_state)
{
	if (cpu >= s->nr_cpus) {
		*ret_state = (struct schedd_cpu_state){ 0 };
		return;
	}
	memcpy(ret_state, (const struct schedd_cpu_state *)s->cpus.address + cpu, sizeof(*ret_state));
}
