#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --icount
# timeout: 300
# schedbench_icount.sh - a short part of schedbench against schedd: it measures what it says, and lc wakes up at once
. "$(dirname "$0")/../scenario_lib.sh"

result=$work/schedbench.json

# of TEST EXPRESSION: a value of a test's object in the result, as Python indexes it.
of() {
	python3 -c 'import json, sys
test = {r["test"]: r for r in json.load(open(sys.argv[1]))["results"]}[sys.argv[2]]
print(eval(sys.argv[3]))' "$result" "$1" "$2"
}

measure() {
	local t=$cgroup_mount/t status=0
	"$bench/schedbench" --json "$result" --samples --lc "$t/lc" --normal "$t/normal" --be "$t/be" \
		--set adaptive_priority.min_s=1 --set adaptive_priority.max_s=2 \
		--set latprobe.samples=2000 --set latprobe.hogs=2 --set handoff.samples=500 \
		adaptive_priority latprobe handoff >"$work/table" || status=$?
	sed 's/^/# /' "$work/table"
	# A missed threshold of adaptive_priority is a result as well.
	[ $status -le 1 ]
}

for c in lc normal be; do cgroup_make $c; done
start_daemon
set_classes lc normal be
wait_for 180 attached is_attached
if measure; then ok "schedbench measured"; else not_ok "schedbench measured"; fi
check "the result is JSON" python3 -m json.tool "$result" /dev/null
check_figure "adaptive_priority: long batches" "$(of adaptive_priority 'test["metrics"]["elapsed_s"]') >= 1"
check_figure "adaptive_priority: wake-ups of the fast one" "$(of adaptive_priority 'test["metrics"]["fast_n"]') >= 1"
check_figure "latprobe: samples" "$(of latprobe 'len(test["samples_us"])') == 2000"
check_figure "latprobe: n" "$(of latprobe 'test["metrics"]["n"]') == 2000"
check_figure "latprobe: the hogs ran, loops/s" "$(of latprobe 'test["metrics"]["be_loops_per_s"]') > 0"
check_figure "handoff: samples" "$(of handoff 'len(test["samples_us"])') == 500"
check_figure "latprobe: p99.9 in us" "$(of latprobe 'test["metrics"]["p999_us"]') <= 40"
check "still attached" is_attached
scenario_end
