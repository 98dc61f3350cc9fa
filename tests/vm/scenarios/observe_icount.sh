#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --icount
# timeout: 400
# observe_icount.sh - one CPU, time counted in instructions: what mode observe measures, against a probe's own figures
. "$(dirname "$0")/../scenario_lib.sh"

# So many that the few wake-ups of the shell that starts the probe are no hundredth of them.
samples=${OBSERVE_SAMPLES:-10000}

field() { tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"; }
usage_seconds() { awk '$1 == "usage_usec" { print $2 / 1e6 }' "$cgroup_mount/t/be/cpu.stat"; }

default_config
echo 'scheduler: {mode: observe}' >>"$work/etc/schedd.yaml"
cgroup_make lc
cgroup_make be
start_daemon
wait_for 120 observing state_is observing
"$schedctl" class set /t/lc lc >/dev/null
"$schedctl" class set /t/be be >/dev/null
start_hogs 2 be
fresh_page "$work/before"
used=$(usage_seconds)
result=$(in_cgroup lc "$bench/latprobe" -n "$samples" -s 0 -i 1000)
fresh_page "$work/after"
used=$(awk "BEGIN { print $(usage_seconds) - $used }")
echo "# $result"
wakeups=$(($(page_wakeups "$work/after" latency-critical kernel) - $(page_wakeups "$work/before" latency-critical kernel)))
counted=$(awk "BEGIN { print $(page_cpu_seconds "$work/after" best-effort) - $(page_cpu_seconds "$work/before" best-effort) }")
for q in 50 99; do
	edge=$("$scenario_root/tests/vm/page.py" edge 0.$q "$work/before" "$work/after" latency-critical kernel)
	check_figure "p$q in us of the probe, and the edge above ours: within a power of two" \
		"$(field p${q}_us "$result") > $edge / 4 && $(field p${q}_us "$result") <= $edge * 2"
done
check_figure "wake-ups counted, for $samples of the probe" "$wakeups > 0.97 * $samples && $wakeups < 1.03 * $samples"
check_figure "CPU seconds of the hogs, by their class and by their cgroup" \
	"$counted > 0.95 * $used && $counted < 1.05 * $used"
check "nothing is attached" is_detached
scenario_end
