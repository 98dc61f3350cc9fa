#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2
# timeout: 600
# observe.sh - mode observe measures whatever schedules and changes nothing; the ways between all modes; no counter falls
. "$(dirname "$0")/../scenario_lib.sh"

samples=${OBSERVE_SAMPLES:-1000}

observing() { state_is observing; }
paused() { [ "$(json_field '["mode"]' "$schedctl" status)" = paused ] && is_attached; }
observing_on() { observing && [ "$(json_field '["onlineCpus"]' "$schedctl" status)" = "$1" ]; }
runnable() { page_value "$1" "schedd_class_runnable_tasks{class=\"$2\"}"; }
rests() { fresh_page "$work/page" && [ "$(runnable "$work/page" "$1")" = 0 ]; }
usage_seconds() { awk '$1 == "usage_usec" { print $2 / 1e6 }' "$cgroup_mount/t/be/cpu.stat"; }
plan() { json_field '["planGeneration"]' "$schedctl" status; }
page() { "$scenario_root/tests/vm/page.py" "$@"; }
between() { awk "BEGIN { print $($1 "$work/$2.after" "${@:3}") - $($1 "$work/$2.before" "${@:3}") }"; }

# probe NAME: a sleeper in lc against hogs in be, between the pages NAME.before and NAME.after.
# How late it is says more of an emulated guest's host: observe_icount.sh looks at that.
probe() {
	local result
	fresh_page "$work/$1.before"
	used=$(usage_seconds)
	result=$(in_cgroup lc "$bench/latprobe" -n "$samples" -i 1000 -w)
	fresh_page "$work/$1.after"
	used=$(awk "BEGIN { print $(usage_seconds) - $used }")
	sleeps=$(sed -n 's/^sleeps=//p' <<<"$result")
	echo "# $1, after $SECONDS s: ${result//$'\n'/ }"
}

default_config
echo 'scheduler: {mode: observe}' >>"$work/etc/schedd.yaml"
cgroup_make lc
cgroup_make be
start_daemon
check "it starts to observe" wait_for 120 observing observing
check "no scheduler is loaded" is_detached
check "a call sets a class" "$schedctl" class set /t/lc lc
check "and another" "$schedctl" class set /t/be be
check "still none is loaded" is_detached
check "status finds nothing wrong" "$schedctl" status
check "is-active says no, and why" bash -c "! out=\$('$schedctl' is-active) && [ \"\$out\" = observing ]"

start_hogs 4 be
probe kernel
wakeups=$(between page_wakeups kernel latency-critical kernel)
check_figure "wake-ups counted, and sleeps of the probe" "$wakeups > 0.97 * $sleeps && $wakeups < 1.05 * $sleeps"
check_figure "none for our own scheduler" "$(page_wakeups "$work/kernel.after" latency-critical schedd) == 0"
counted=$(between page_cpu_seconds kernel best-effort)
check_figure "CPU seconds of the hogs, by their class and by their cgroup" \
	"$counted > 0.9 * $used && $counted < 1.1 * $used"
# Each is one that computes and one that sleeps.
check_figure "tasks that run or wait, of 4 hogs" \
	"$(runnable "$work/kernel.after" best-effort) >= 4 && $(runnable "$work/kernel.after" best-effort) <= 8"
check "the holder of a CPU is shown" bash -c "'$schedctl' cores show | grep -q best-effort"

stop_hogs
check "at rest nothing of best-effort runs or waits" wait_for 20 rest rests best-effort
check "and nothing of latency-critical" wait_for 20 rest rests latency-critical
load_other
check "with another scheduler loaded it goes on" observing
check "which is not disturbed" test "$(kernel_ops)" = minimal
probe other
check_figure "and is measured" "$(between page_wakeups other latency-critical kernel) > 0.97 * $sleeps"
check "mode active is refused meanwhile" bash -c "'$schedctl' mode active; [ \$? -eq 7 ]"
unload_other

echo 0 >/sys/devices/system/cpu/cpu1/online
check "a CPU goes: observed anew" wait_for 60 "observing one CPU" observing_on 1
echo 1 >/sys/devices/system/cpu/cpu1/online
check "it comes back: again" wait_for 60 "observing two CPUs" observing_on 2
fresh_page "$work/hotplug"
check "no counter has fallen" page fallen "$work/other.after" "$work/hotplug"

check "mode active" "$schedctl" mode active
check "attaches" wait_for 120 attached is_attached
start_hogs 4 be
probe schedd
check "no counter has fallen" page fallen "$work/hotplug" "$work/schedd.before"
check_figure "what was observed stays as it was" "$(between page_wakeups schedd latency-critical kernel) == 0"
check_figure "our own scheduler is measured by itself" \
	"$(between page_wakeups schedd latency-critical schedd) > 0.97 * $sleeps"
stop_hogs

enabled=$(cat /sys/kernel/sched_ext/enable_seq)
check "mode paused" "$schedctl" mode paused
check "it says so, and is attached" wait_for 10 paused paused
check "is-active says yes" "$schedctl" is-active -q
check "it was not attached anew" test "$(cat /sys/kernel/sched_ext/enable_seq)" = "$enabled"
plan=$(plan)
(in_cgroup lc "$bench/burst" -t 4 -w 1000 -n 50 >/dev/null)
check_figure "a burst changes no owner" "$(plan) == $plan"
check "a guarantee changes" "$schedctl" class update lc guarantee=1
check_figure "then the plan does" "$(plan) > $plan"

check "mode observe for a while" "$schedctl" mode observe --for 20s
check "observes" wait_for 120 observing observing
check "no scheduler is loaded" is_detached
check "it returns by itself to paused" wait_for 120 paused paused
check "mode observe" "$schedctl" mode observe
check "observes again" wait_for 120 observing observing
fresh_page "$work/last"
check "no counter has fallen" page fallen "$work/schedd.after" "$work/last"
stop_daemon
check "stopping leaves the kernel's scheduler" is_detached

load_other
start_daemon
check "it starts beside another scheduler" wait_for 120 observing observing
check "which is not disturbed" test "$(kernel_ops)" = minimal
stop_daemon
unload_other
scenario_end
