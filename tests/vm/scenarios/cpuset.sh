#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2
# timeout: 300
# cpuset.sh - cpusets are law: reach and private CPUs follow what is written and who runs; a storm makes few plans
. "$(dirname "$0")/../scenario_lib.sh"

writes=50
pass_ms=50 # what is written meanwhile is read at once

plan() { "$schedctl" cores show -o json; }
reaches() {
	[ "$(plan | python3 -c '
import json, sys
print(next(c.get("reachableCpus", 0) for c in json.load(sys.stdin)["classes"] if c["className"] == sys.argv[1]))' "$1")" = "$2" ]
}
# Numbers of the CPUs with this note, "0,1"; the number 0 is left out of the JSON, being the default.
noted() {
	plan | python3 -c '
import json, sys
print(",".join(str(c.get("cpuId", 0)) for c in json.load(sys.stdin)["cpus"] if c["exclusion"] == sys.argv[1]))' "$1"
}
private_are() { [ "$(noted EXCLUSION_PRIVATE_CPUSET)" = "$1" ]; }
plan_generation() { "$schedctl" status -o json | python3 -c 'import json, sys; print(json.load(sys.stdin).get("planGeneration", 0))'; }
now_ms() { date +%s%3N; }

# Whether somebody else's tasks, outside the root and /t, may use all CPUs: then none is private.
others_run() {
	local procs
	while read -r procs; do
		[ -n "$(head -n 1 "$procs" 2>/dev/null)" ] && return 0
	done < <(find "$cgroup_mount" -mindepth 2 -name cgroup.procs -not -path "$cgroup_mount/t/*")
	return 1
}

echo "+cpuset +cpu" >"$cgroup_mount/cgroup.subtree_control" 2>/dev/null || true
cgroup_make pinned
echo "+cpuset" >"$cgroup_mount/t/cgroup.subtree_control" 2>/dev/null || true
cgroup_make free
if [ ! -e "$cgroup_mount/t/pinned/cpuset.cpus" ]; then
	echo "1..0 # skip: the cpuset controller is not available"
	exit 0
fi
cpus=$cgroup_mount/t/pinned/cpuset.cpus

# Owners move with the limits alone: a plan is one for the cpusets.
mkdir -p "$work/etc"
printf 'metrics: {listen: "127.0.0.1:%s"}\nallocator: {policy: static}\n' "$metrics_port" >"$work/etc/schedd.yaml"
start_daemon
"$schedctl" class set /t/pinned lc >/dev/null
"$schedctl" class set /t/free be >/dev/null
wait_for 120 attached is_attached
check "a class without tasks reaches every CPU" reaches latency-critical 2

# Tasks, then a cpuset: each is noticed by itself.
start_hogs 1 pinned
before_ms=$(now_ms)
echo 1 >"$cpus"
check "cpuset.cpus=1: its class reaches one CPU" wait_for 5 "reach" reaches latency-critical 1
echo "# seen $(($(now_ms) - before_ms)) ms after it was written, the calls that asked included"
check "the class of the root still reaches both" reaches normal 2
if others_run; then
	echo "# somebody else's tasks run in this guest: nothing can be private"
else
	check "nobody else may use it: private" wait_for 5 "private" private_are 1
	start_hogs 1 free
	check "a task that may run anywhere came: not private" wait_for 5 "common" private_are ""
	kill "${hogs[-1]}"
	check "it ended, which nobody writes anywhere: private again" wait_for 5 "private" private_are 1
fi

echo 0-1 >"$cpus"
check "cpuset.cpus=0-1 is followed" wait_for 5 "reach" reaches latency-critical 2
echo 0 >"$cpus"
check "cpuset.cpus=0 is followed" wait_for 5 "reach" reaches latency-critical 1
cgroup_make pinned/child
check "a child without the controller changes nothing" reaches latency-critical 1

before=$(plan_generation)
before_ms=$(now_ms)
for ((i = 0; i < writes; i++)); do echo $((i % 2)) >"$cpus"; done
took_ms=$(($(now_ms) - before_ms))
echo 0-1 >"$cpus"
check "after a storm the last one counts" wait_for 5 "reach" reaches latency-critical 2
check_figure "$writes changes in $took_ms ms, plans" "$(plan_generation) - $before <= $took_ms / $pass_ms + 2"

# A partition takes its CPU from everybody else.
if echo 1 >"$cgroup_mount/t/cpuset.cpus" && echo root >"$cgroup_mount/t/cpuset.cpus.partition" 2>/dev/null &&
	[ "$(cat "$cgroup_mount/t/cpuset.cpus.partition")" = root ]; then
	check "outside of a partition its CPU is not reached" wait_for 5 "reach" reaches normal 1
	check "inside it alone" reaches latency-critical 1
	check "it is private" wait_for 5 "private" private_are 1
	echo member >"$cgroup_mount/t/cpuset.cpus.partition"
	check "the partition is over" wait_for 5 "reach" reaches normal 2
else
	echo "# skip: this kernel makes no partition of /t"
fi
stop_hogs
check "still attached" is_attached
check_figure "ejections" "$(ejections) == 0"
scenario_end
