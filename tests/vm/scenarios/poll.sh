#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 3 --quiet-start
# timeout: 400
# poll.sh - the allocator polls on a CPU of its own: nothing else runs there but what must, and nobody starves for it
. "$(dirname "$0")/../scenario_lib.sh"

poll_cpu=2

alloc_thread() {
	local t
	for t in "/proc/$daemon_pid/task"/*; do
		if [ "$(cat "$t/comm")" = schedd-alloc ]; then basename "$t"; fi
	done
}

thread_has() { [ "$(awk -v key="$2:" '$1 == key { print $2 }' "/proc/$daemon_pid/task/$1/status")" = "$3" ]; }
thread_cpu_ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$daemon_pid/task/$1/stat"; }
polls_now() { [ "$(thread_cpu_ticks "$1")" -gt "$2" ]; }
owner_of_poll_cpu() {
	"$schedctl" cores show -o json | python3 -c 'import json, sys
print([c.get("ownerClassName", "") for c in json.load(sys.stdin)["cpus"] if c.get("cpuId", 0) == int(sys.argv[1])])' $poll_cpu
}

mkdir -p "$work/etc"
cat >"$work/etc/schedd.yaml" <<-YAML
	metrics: {listen: "127.0.0.1:$metrics_port"}
	scheduler: {watchdog: 4s}
	allocator: {poll_cpu: $poll_cpu, interval: 50us}
	classes:
	  web: {kind: latency-critical}
YAML
for c in web be pinned; do cgroup_make $c; done
start_daemon
set_classes web be
wait_for 120 attached is_attached
tid=$(alloc_thread)
check "the allocator thread may run on CPU $poll_cpu only" thread_has "$tid" Cpus_allowed_list $poll_cpu
check "it is an ordinary task" [ "$(awk '{ sub(/.*\) /, ""); print $39 }' "/proc/$daemon_pid/task/$tid/stat")" = 0 ]
start_hogs 3 be
start_hogs 2 web
in_cgroup pinned "$bench/hog" -n 1 -s 10 -p $poll_cpu >"$work/pinned" &
pinned=$!
rise
declare -A before after
usage_read before web be
wait $pinned
usage_read after web be
check_figure "endless loops on three CPUs, CPUs used" \
	"(${after[web]} + ${after[be]} - ${before[web]} - ${before[be]}) / (${after[at]} - ${before[at]}) <= 2.05"
gap=$(tr ' ' '\n' <"$work/pinned" | sed -n 's/^longest_gap_ms=//p')
check_figure "what may run there alone: longest pause in ms" "${gap:-1e9} <= 1000"
check "the thread polls" wait_for 20 "more CPU time" polls_now "$tid" "$(thread_cpu_ticks "$tid")"
check "the CPU has no owner" [ "$(owner_of_poll_cpu)" = "['']" ]
check "an order is carried out meanwhile" "$schedctl" cores grant web 1 --ttl 20s --wait owned
check "still attached" is_attached
check_figure "ejections counted" "$(ejections) == 0"
stop_hogs
scenario_end
