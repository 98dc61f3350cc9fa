/* SPDX-License-Identifier: GPL-2.0 */
/* minimal.bpf.c - the smallest scheduler: somebody else's, for tests of two at once */
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

struct sched_ext_ops {
	char name[128];
} __attribute__((preserve_access_index));

char _license[] SEC("license") = "GPL";

SEC(".struct_ops.link")
struct sched_ext_ops minimal_ops = { .name = "minimal" };
