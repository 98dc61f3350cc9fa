#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --icount --quiet-start
# timeout: 600
# idle.sh - an idle node, attached, in counted time: what the daemon costs when there is nothing to do
. "$(dirname "$0")/../scenario_lib.sh"

seconds=20

switches() { cat /proc/"$daemon_pid"/task/*/status | awk '/^voluntary_ctxt_switches/ {n += $2} END {print n}'; }
# utime and stime count in ticks; the scheduler's own sum is exact.
cpu_ns() { cat /proc/"$daemon_pid"/task/*/schedstat | awk '{n += $1} END {print n}'; }
plans() { json_field '.get("planGeneration", "0")' "$schedctl" cores show; }

cgroup_make lc
start_daemon
"$schedctl" class set /t/lc lc >/dev/null
wait_for 120 attached is_attached
(in_cgroup lc sleep 1000) &
sleeper=$!
plans_before=$(plans)
switches_before=$(switches)
cpu_before=$(cpu_ns)
begin=${EPOCHREALTIME/./}
read -rt "$seconds" <> <(:) || true
elapsed=$(awk "BEGIN { print (${EPOCHREALTIME/./} - $begin) / 1000000 }")
switches_after=$(switches)
cpu_after=$(cpu_ns)
check_figure "daemon's share of a CPU" "($cpu_after - $cpu_before) / 1e9 / $elapsed < 0.001"
check_figure "wake-ups a second" "($switches_after - $switches_before) / $elapsed <= 10"
check_figure "plans applied meanwhile" "$(plans) - $plans_before == 0"
kill $sleeper
scenario_end
