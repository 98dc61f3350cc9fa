#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --quiet-start
# timeout: 300
# class_change.sh - a new class holds from the next wake-up on, for children too; how long a call takes
. "$(dirname "$0")/../scenario_lib.sh"

calls=${CLASS_CHANGE_CALLS:-200}

read_wakeups() {
	fresh_page "$work/page"
	latency_critical=$(wakeups latency-critical)
	best_effort=$(wakeups best-effort)
}
wakeups() { sed -n "s/^schedd_class_wakeup_latency_seconds_count{class=\"$1\",scheduler=\"schedd\"} //p" "$work/page"; }

cgroup_make job
cgroup_make call
start_daemon
"$schedctl" class set /t/job be >/dev/null
wait_for 120 attached is_attached
in_cgroup job "$bench/latprobe" -n 1000000 -i 1000 >/dev/null &
probe_pid=$!
read_wakeups
check_figure "best-effort wakes up" "$best_effort > 0"
kill "$probe_pid"
wait "$probe_pid" 2>/dev/null || true

# One that sleeps through the call: all its wake-ups that are counted come after it.
mkfifo "$work/line"
exec 6<>"$work/line"
in_cgroup job cat <"$work/line" >"$work/woken" &
cat_pid=$!
echo asleep >&6
wait_for 20 "it runs and waits for the next line" test -s "$work/woken"
read_wakeups
before_best_effort=$best_effort before_latency_critical=$latency_critical
"$schedctl" class set /t/job lc >/dev/null
echo awake >&6
wait_for 20 "it has woken up" grep -q awake "$work/woken"
read_wakeups
check_figure "the first wake-up after the call: none in the old class" "$best_effort - $before_best_effort == 0"
check_figure "but in the new one" "$latency_critical - $before_latency_critical >= 1"
kill "$cat_pid"
wait "$cat_pid" 2>/dev/null || true
exec 6>&-

"$schedctl" class set /t/job be >/dev/null
read_wakeups
before_best_effort=$best_effort
cgroup_make job/child
(in_cgroup job/child "$bench/latprobe" -n 100 -i 1000 >/dev/null)
read_wakeups
check_figure "100 wake-ups in a child made afterwards: in its parent's class" "$best_effort - $before_best_effort >= 100"
check "the daemon says so too" class_is /t/job/child best-effort

field() { tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"; }
in_cgroup call "$bench/latprobe" -n 1000000 -i 1000 >/dev/null &
probe_pid=$!
idle=$("$bench/setclass" -n "$calls" /t/call lc be)
start_hogs 2 job
busy=$("$bench/setclass" -n "$calls" /t/call lc be)
stop_hogs
kill "$probe_pid"
wait "$probe_pid" 2>/dev/null || true
echo "# idle CPUs: $idle"
echo "# two busy CPUs: $busy"
# Two of the host's pauses among 200 calls are a p99, so that one is judged in counted time: class_change_icount.sh.
check_figure "$calls calls of a client, p90 in us: busy CPUs cost at most as much again" \
	"$(field p90_us "$busy") <= 2 * $(field p90_us "$idle")"
scenario_end
