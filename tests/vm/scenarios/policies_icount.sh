#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --icount --quiet-start
# timeout: 600
# policies_icount.sh - one CPU, time counted in instructions: what each in-class policy does, in a class of its own
. "$(dirname "$0")/../scenario_lib.sh"

field() { tr ' ' '\n' <<<"$2" | sed -n "s/^$1=//p"; }
policy() { "$schedctl" class update web "$@" >/dev/null; }
# Three endless loops for a second: how equal they are, and how long one waits for its turn.
turns() { in_cgroup web "$bench/hog" -n 3 -s 1; }
# A 1 ms sleeper beside two endless loops of its own class.
sleeper() { in_cgroup web "$bench/latprobe" -n 300 -i 1000; }

mkdir -p "$work/etc"
cat >"$work/etc/schedd.yaml" <<-YAML
	metrics: {listen: "127.0.0.1:$metrics_port"}
	classes:
	  web: {kind: latency-critical, slice: 4ms}
YAML
cgroup_make web
start_daemon
set_classes web
wait_for 180 attached is_attached
for p in vtime fifo round-robin deadline interactive; do
	policy policy=$p quantum=0
	result=$(turns)
	echo "# $p: $result"
	check_figure "$p: three loops share the CPU, least to most" "$(field min "$result") >= 0.9 * $(field max "$result")"
	# A slice that begins between two ticks ends with the second; each of the two others may run twice.
	check_figure "$p: a turn is a slice, longest wait in ms" "$(field longest_gap_ms "$result") >= 4 && $(field longest_gap_ms "$result") <= 2 * 2 * 8"
done
for p in vtime round-robin; do
	policy policy=$p quantum=500us
	result=$(turns)
	echo "# $p, quantum 500us: $result"
	check_figure "$p with a quantum: they share" "$(field min "$result") >= 0.9 * $(field max "$result")"
	# Until the first tick arms the timer a turn is as long as that.
	check_figure "$p: with a quantum of 0.5 ms nobody waits longer than a tick and two turns" \
		"$(field longest_gap_ms "$result") <= 5.5"
done
start_hogs 2 web
for p in vtime deadline interactive; do
	policy policy=$p quantum=0
	result=$(sleeper)
	echo "# $p: $result"
	check_figure "$p: who sleeps preempts its own class, wake-up p50 in us" "$(field p50_us "$result") <= 20"
	check_figure "$p: and waits for no slice, wake-up p99 in us" "$(field p99_us "$result") <= 1000"
done
for p in fifo round-robin; do
	policy policy=$p
	result=$(sleeper)
	echo "# $p: $result"
	check_figure "$p: who sleeps waits for its turn, wake-up p50 in us" "$(field p50_us "$result") >= 4000"
done
stop_hogs
check "still attached" is_attached
check_figure "ejections counted" "$(ejections) == 0"
scenario_end
