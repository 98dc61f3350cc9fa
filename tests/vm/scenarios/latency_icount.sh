#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --icount
# timeout: 900
# latency_icount.sh - one CPU, time counted in instructions: a 1 ms LC sleeper against two best-effort spinners
. "$(dirname "$0")/../scenario_lib.sh"

samples=${LATENCY_SAMPLES:-20000}

probe() { in_cgroup lc "$bench/latprobe" -n "$samples" -i 1000; }
field() { tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"; }

cgroup_make lc
cgroup_make be
start_hogs 2 be
start_daemon
"$schedctl" class set /t/lc lc >/dev/null
"$schedctl" class set /t/be be >/dev/null
wait_for 180 attached is_attached
result=$(probe)
echo "# schedd: $result"
check_figure "wake-up p99.9 in us" "$(field p999_us "$result") <= 40"
check_figure "longest in us" "$(field max_us "$result") <= 2000"
check_figure "samples" "$(field n "$result") >= $samples"
scenario_end
