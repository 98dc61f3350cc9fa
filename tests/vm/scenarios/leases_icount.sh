#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --icount --quiet-start
# timeout: 900
# leases_icount.sh - how soon a client has the cores that it ordered, time counted in instructions
. "$(dirname "$0")/../scenario_lib.sh"

calls=${LEASES_CALLS:-200}

field() { tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"; }

# Two who order: somebody else, no less urgent than the class, and a thread of the class itself.
mkdir -p "$work/etc"
cat >"$work/etc/schedd.yaml" <<-YAML
	metrics: {listen: "127.0.0.1:$metrics_port"}
	classes:
	  operator: {kind: latency-critical}
YAML
for c in lc be operator; do cgroup_make $c; done
start_daemon
set_classes lc be operator
wait_for 180 attached is_attached
start_hogs 2 be
idle=$(in_cgroup operator "$bench/grant" -n "$calls" lc 1)
echo "# owned, the class idle: $idle"
start_hogs 2 lc
busy=$(in_cgroup lc "$bench/grant" -n "$calls" -r lc 1)
echo "# running, the class runnable, ordered by itself: $busy"
# For this one there is only the floor of a guest, but for the daemon's threads: the class that it orders for owns the CPU.
guest=$(in_cgroup operator "$bench/grant" -n "$calls" -r lc 1)
echo "# running, the class runnable, ordered by another: $guest"
stop_hogs
check_figure "$calls grants that wait for OWNED, the class idle, p99 in us" "$(field p99_us "$idle") <= 10000"
check_figure "$calls grants that wait for RUNNING, the class runnable, p99 in us" "$(field p99_us "$busy") <= 10000"
check_figure "the same, ordered by another class, p99 in us" "$(field p99_us "$guest") <= 10000"
check_figure "calls" "$(field n "$idle") + $(field n "$busy") + $(field n "$guest") == 3 * $calls"
scenario_end
