#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --quiet-start
# timeout: 900
# latency_smp.sh - two CPUs, four best-effort spinners: schedd against the kernel's scheduler, interleaved in one boot
. "$(dirname "$0")/../scenario_lib.sh"

rounds=${LATENCY_ROUNDS:-5}
declare -A figures

field() { tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"; }
median() { tr ' ' '\n' <<<"$1" | sed '/^$/d' | sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

# Fresh processes each time: where threads were placed at first decides a lot.
measure() {
	local column=$1 probe burst
	start_hogs 4 be
	probe=$(in_cgroup lc "$bench/latprobe" -n 2000 -i 1000)
	burst=$(in_cgroup lc "$bench/burst" -t 4 -w 1000 -n 200)
	stop_hogs
	echo "# round $round $column: $probe | $burst"
	figures[$column.probe_p99]+=" $(field p99_us "$probe")"
	figures[$column.burst_p50]+=" $(field p50_us "$burst")"
}

cgroup_make lc
cgroup_make be
start_daemon
"$schedctl" class set /t/lc lc >/dev/null
"$schedctl" class set /t/be be >/dev/null
for ((round = 1; round <= rounds; round++)); do
	"$schedctl" mode detached --yes >/dev/null
	wait_for 30 detached is_detached
	measure default
	"$schedctl" mode active >/dev/null
	wait_for 120 attached is_attached
	measure schedd
done
check_figure "LC sleeper p99 in us, half of the default's at most" \
	"$(median "${figures[schedd.probe_p99]}") <= 0.5 * $(median "${figures[default.probe_p99]}")"
check_figure "burst of 4 that use 1 ms each, p50 in us until the last is done, 0.7 of the default's at most" \
	"$(median "${figures[schedd.burst_p50]}") <= 0.7 * $(median "${figures[default.burst_p50]}")"
check "still attached" is_attached
scenario_end
