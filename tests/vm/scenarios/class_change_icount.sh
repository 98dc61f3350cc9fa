#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --icount --quiet-start
# timeout: 600
# class_change_icount.sh - how long a SetClass takes a client on a busy CPU, time counted in instructions
. "$(dirname "$0")/../scenario_lib.sh"

calls=${CLASS_CHANGE_CALLS:-200}

field() { tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"; }

cgroup_make job
cgroup_make call
start_daemon
"$schedctl" class set /t/job be >/dev/null
wait_for 180 attached is_attached
in_cgroup call "$bench/latprobe" -n 1000000 -i 1000 >/dev/null &
probe_pid=$!
start_hogs 2 job
busy=$("$bench/setclass" -n "$calls" /t/call lc be)
stop_hogs
kill "$probe_pid"
wait "$probe_pid" 2>/dev/null || true
echo "# busy CPU: $busy"
check_figure "$calls calls of a client, p99 in us" "$(field p99_us "$busy") <= 20000"
check_figure "calls" "$(field n "$busy") == $calls"
scenario_end
