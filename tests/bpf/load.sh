#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# load.sh - does the BPF object verify, load and attach on each sched_ext kernel
# of the root? Boots them one after the other. Needs root.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/results.sh
. tests/results.sh

# What each of them runs; its status is the verdict.
PROBE=(build/schedd --probe)

mapfile -t kernels < <(tests/vm/run.sh --list-kernels)
for kernel in "${kernels[@]}"; do
	log=$results_logs/bpf-$kernel.log
	status=0
	tests/vm/run.sh --kernel "$kernel" --timeout 300 -- "${PROBE[@]}" >"$log" 2>&1 || status=$?
	result "bpf/$kernel" $status "$log"
done
results_end bpf
