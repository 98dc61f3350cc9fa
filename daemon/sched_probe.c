/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sched_probe.c - what this kernel offers, read from its BTF and sysfs; nothing is loaded */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/file.h"
#include "daemon/sched.h"

#define SCHED_EXT_DIR "/sys/kernel/sched_ext"

/* Kernel functions that came after the 6.16 floor; reference: the BTF of Debian's kernels. */
static const struct {
	const char *function, *name, *without;
} optional_functions[] = {
	{ "scx_bpf_dsq_peek", "dsq_peek", "two queue heads are compared through an iterator (kernel 6.19 on has it)" },
	{ "scx_bpf_task_set_slice", "task_set_slice", "slices are ended by a kick (kernel 6.19 on has it)" },
	{ "scx_bpf_reenqueue_local___v2", "reenqueue_local_v2",
	  "tasks stranded behind a real-time task move at cpu_release (kernel 6.19 on has it)" },
	{ "scx_bpf_dsq_move_to_local___v2", "dsq_move_to_local_v2", "the older call is used (kernel 7.3 on has it)" },
	{ "ext_server_init", "ext_server", "a real-time task can starve a CPU until it is ended (kernel 7.0 on has it)" },
};

static void add_feature(struct sched_probe *p, const char *name, bool present, bool required, const char *detail)
{
	if (p->nr_features < SCHED_MAX_FEATURES)
		p->features[p->nr_features++] = (struct sched_feature){
			.name = name, .detail = detail, .present = present, .required = required,
		};
	if (required && !present && p->supported) {
		p->supported = false;
		snprintf(p->missing, sizeof(p->missing), "%s is missing: %s", name, detail);
	}
}

static bool has_function(const struct btf *btf, const char *name)
{
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static void probe_enum(struct sched_probe *p, const struct btf *btf)
{
	const struct btf_type *t;
	int id = btf ? btf__find_by_name_kind(btf, "scx_enq_flags", BTF_KIND_ENUM64) : -ENOENT;
	bool found = false;

	if (id > 0) {
		t = btf__type_by_id(btf, (uint32_t)id);
		for (int i = 0; i < btf_vlen(t); i++)
			found |= strcmp(btf__name_by_offset(btf, btf_enum64(t)[i].name_off), "SCX_ENQ_IMMED") == 0;
	}
	add_feature(p, "enq_immed", found, false,
		    "tasks on a CPU that a real-time task took are moved at cpu_release (kernel 7.1 on has it)");
}

static bool sysfs_state_is(const char *value)
{
	char state[32];

	return file_read_line(SCHED_EXT_DIR "/state", state, sizeof(state)) == 0 && strcmp(state, value) == 0;
}

void sched_read_other(char *ret_name, size_t size)
{
	ret_name[0] = '\0';
	if (sysfs_state_is("disabled"))
		return;
	if (file_read_line(SCHED_EXT_DIR "/root/ops", ret_name, size) < 0)
		ret_name[0] = '\0';
}

uint64_t sched_read_hotplug_seq(void)
{
	char text[32];
	unsigned long long seq = 0;

	if (file_read_line(SCHED_EXT_DIR "/hotplug_seq", text, sizeof(text)) == 0 && sscanf(text, "%llu", &seq) != 1)
		seq = 0;
	return seq;
}

void sched_probe(struct sched_probe *ret_probe)
{
	struct sched_probe *p = ret_probe;
	struct btf *btf = btf__load_vmlinux_btf();

	*p = (struct sched_probe){ .supported = true };
	add_feature(p, "btf", btf != NULL, true,
		    "the kernel needs CONFIG_DEBUG_INFO_BTF=y (/sys/kernel/btf/vmlinux)");
	add_feature(p, "sched_ext", access(SCHED_EXT_DIR, F_OK) == 0, true,
		    "the kernel needs CONFIG_SCHED_CLASS_EXT=y, 6.16 or newer");
	add_feature(p, "select_cpu_and", has_function(btf, "scx_bpf_select_cpu_and"), true,
		    "the kernel is older than the floor, 6.16");
	for (size_t i = 0; i < ARRAY_SIZE(optional_functions); i++)
		add_feature(p, optional_functions[i].name, has_function(btf, optional_functions[i].function), false,
			    optional_functions[i].without);
	probe_enum(p, btf);
	sched_read_other(p->other, sizeof(p->other));
	btf__free(btf);
}
