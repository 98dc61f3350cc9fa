# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# scenario_lib.sh - what scenarios share: the daemon on its own directories, waiting, TAP
#
# Sourced by tests/vm/scenarios/*.sh.  A scenario prints one line per check and
# ends with `scenario_end`.  Nothing sleeps for a fixed time: wait_for asks until
# a condition holds or a deadline passes.

set -euo pipefail

# Not named top: scenarios may use common words for their own variables.
scenario_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
schedd=$scenario_root/build/schedd
schedctl=$scenario_root/build/schedctl
bench=$scenario_root/build/tests/bench
work=$(mktemp -d)
# shellcheck disable=SC2034 # for scenarios
cgroup_mount=$(awk '$0 ~ / - cgroup2 / {print $5; exit}' /proc/self/mountinfo)
socket=$work/run/schedd.sock
export SCHEDD_SOCKET=$socket
metrics_port=19770
daemon_pid=
scenario_checks=0
scenario_failed=0

# Where each thread of the daemon stands, for a failure that nobody watches.
show_threads() {
	local t
	for t in /proc/"${daemon_pid:-none}"/task/*; do
		[ -e "$t/comm" ] || continue
		echo "# thread $(cat "$t/comm"): $(cut -d' ' -f3,14,15 "$t/stat") $(sed -n '1,2s/+.*//p' "$t/stack" | tr '\n' ' ')"
	done
}

scenario_cleanup() {
	local status=$?
	if [ "$status" -ne 0 ] && [ -s "$work/daemon.log" ]; then
		echo "# the daemon said last:"
		tail -n 30 "$work/daemon.log" | sed 's/^/# /'
		show_threads
		if [ -s "$work/state/ejection.dump" ]; then sed 's/^/# /' "$work/state/ejection.dump"; fi
	fi
	stop_daemon || true
	cgroups_remove || true
	rm -rf "$work"
	exit "$status"
}
trap scenario_cleanup EXIT
trap 'exit 130' INT TERM

ok() {
	scenario_checks=$((scenario_checks + 1))
	echo "ok $scenario_checks - $1"
}

not_ok() {
	scenario_checks=$((scenario_checks + 1))
	scenario_failed=$((scenario_failed + 1))
	echo "not ok $scenario_checks - $1"
	if [ $# -gt 1 ]; then printf '%s\n' "$2" | sed 's/^/# /'; fi
}

# check NAME CMD...: one line, with the command's output when it fails.
check() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$out"; fi
}

# check_figure NAME EXPRESSION: awk decides; the expression with its numbers is printed either way.
check_figure() {
	if awk "BEGIN { exit !($2) }"; then ok "$1: $2"; else not_ok "$1: $2"; fi
}

scenario_end() {
	echo "1..$scenario_checks"
	[ "$scenario_failed" -eq 0 ]
}

# wait_for SECONDS WHAT CMD...: 0 as soon as CMD succeeds.
wait_for() {
	local seconds=$1 what=$2 end
	shift 2
	end=$((SECONDS + seconds))
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "# waited $seconds s in vain: $what" >&2
			return 1
		fi
		read -rt 0.05 <> <(:) || true
	done
}

default_config() {
	mkdir -p "$work/etc"
	printf 'metrics: {listen: "127.0.0.1:%s"}\n' "$metrics_port" >"$work/etc/schedd.yaml"
}

daemon_args() {
	printf '%s\n' --config "$work/etc" --state-dir "$work/state" --runtime-dir "$work/run" --log-level "${LOG_LEVEL:-info}"
}

start_daemon() {
	local args
	[ -e "$work/etc/schedd.yaml" ] || default_config
	mapfile -t args < <(daemon_args)
	"$schedd" "${args[@]}" "$@" 2>>"$work/daemon.log" &
	daemon_pid=$!
	if ! wait_for 120 "schedd answers" daemon_answers_or_ended || ! "$schedctl" health >/dev/null; then
		cat "$work/daemon.log" >&2
		return 1
	fi
}

# One that has ended will not answer, however long one waits.
daemon_answers_or_ended() { ! kill -0 "$daemon_pid" 2>/dev/null || "$schedctl" health; }

stop_daemon() {
	[ -n "$daemon_pid" ] || return 0
	kill "$daemon_pid" 2>/dev/null || true
	wait "$daemon_pid" 2>/dev/null || true
	daemon_pid=
}

kill_daemon() {
	kill -9 "$daemon_pid"
	wait "$daemon_pid" 2>/dev/null || true
	daemon_pid=
}

kernel_state() { cat /sys/kernel/sched_ext/state; }
kernel_ops() { cat /sys/kernel/sched_ext/root/ops 2>/dev/null || true; }
is_attached() { [ "$(kernel_state)" = enabled ] && [[ "$(kernel_ops)" = schedd* ]]; }
is_detached() { [ "$(kernel_state)" = disabled ]; }

# Another sched_ext scheduler. Its link lives as long as the pin.
load_other() {
	mkdir -p "$work/pins"
	mount -t bpf none "$work/pins"
	bpftool struct_ops register "$scenario_root/build/tests/bpf/minimal.bpf.o" "$work/pins" >/dev/null
}
unload_other() {
	rm -f "$work/pins"/*
	umount "$work/pins"
	wait_for 10 "the other scheduler is gone" is_detached
}

scrape() { curl --silent --fail --max-time 20 "http://127.0.0.1:$metrics_port/metrics"; }
page_differs() { scrape >"$1" && ! cmp -s "$1" "$work/seen"; }
# fresh_page FILE: metrics of after now. Pages are rendered once a second at most:
# one that differs from what was seen now is newer.
fresh_page() {
	scrape >"$work/seen"
	wait_for 20 "a new page of metrics" page_differs "$1"
}

# Of such a page: one sample, written as there; CPU seconds of a class; its wake-ups by schedd or kernel.
page_value() { awk -v name="$2" 'index($0, name " ") == 1 { print $2 }' "$1"; }
page_cpu_seconds() { page_value "$1" "schedd_class_cpu_seconds_total{class=\"$2\"}"; }
page_wakeups() { page_value "$1" "schedd_class_wakeup_latency_seconds_count{class=\"$2\",scheduler=\"$3\"}"; }

# rise: this shell, and what it starts outside of in_cgroup, is real-time from now on. Who only looks
# must not be what the scenario keeps down on purpose: Python started on a floor takes minutes.
risen=
rise() {
	chrt -f -p 1 $$
	risen=yes
}

# json_field EXPRESSION CMD...: a field of the reply, as Python indexes it.
json_field() {
	local field=$1
	shift
	"$@" -o json | python3 -c "import json, sys; print(json.load(sys.stdin)$field)"
}
state_is() { [ "$(json_field '["state"]' "$schedctl" status)" = "$1" ]; }
ejections() { json_field '.get("ejections", 0)' "$schedctl" status; }
# CPUs that a class owns.
owned_by() { "$schedctl" cores show -o json | python3 -c 'import json, sys
print(sum(c.get("ownedCpus", 0) for c in json.load(sys.stdin)["classes"] if c["className"] == sys.argv[1]))' "$1"; }
owns() { [ "$(owned_by "$1")" = "$2" ]; }
class_is() { [ "$(json_field '["decisions"][0]["className"]' "$schedctl" class get "$1")" = "$2" ]; }

# Cgroups of a scenario live below /t and go with it.
cgroup_make() {
	mkdir -p "$cgroup_mount/t/$1"
}

# usage_read INTO CLASS...: INTO[CLASS] is the CPU time of that cgroup so far, INTO[at] the time, both in µs.
# After rise: between the clock and a counter the load could otherwise run for half a second.
usage_read() {
	local -n into=$1
	local c key
	shift
	into[at]=${EPOCHREALTIME/./}
	for c in "$@"; do read -r key "into[$c]" <"$cgroup_mount/t/$c/cpu.stat"; done
}

# Each of these cgroups gets the class that has its name.
set_classes() {
	local c
	for c in "$@"; do "$schedctl" class set "/t/$c" "$c" >/dev/null; done
}

cgroups_remove() {
	local dir
	[ -d "$cgroup_mount/t" ] || return 0
	while read -r dir; do
		if [ -e "$dir/cgroup.kill" ]; then echo 1 >"$dir/cgroup.kill" || true; fi
	done < <(find "$cgroup_mount/t" -depth -type d)
	wait_for 10 "the scenario's cgroups are empty" cgroups_try_remove
}

cgroups_try_remove() {
	find "$cgroup_mount/t" -depth -type d -exec rmdir {} +
	[ ! -d "$cgroup_mount/t" ]
}

# in_cgroup NAME CMD...: becomes CMD inside /t/NAME. Only in a subshell (after &,
# in $(...)): so $! is CMD itself, and ending it leaves nothing that still runs.
in_cgroup() {
	if [ "$BASHPID" = "$$" ]; then
		echo "in_cgroup $*: only in a subshell" >&2
		exit 1
	fi
	# Before it enters: whatever runs in there may be counted.
	[ -z "$risen" ] || chrt -o -p 0 "$BASHPID"
	echo "$BASHPID" >"$cgroup_mount/t/$1/cgroup.procs"
	shift
	exec "$@"
}

# start_hogs COUNT NAME: so many endless loops in /t/NAME; their parent is noted in hogs.
hogs=()
start_hogs() {
	in_cgroup "$2" "$bench/hog" -n "$1" -s 0 >/dev/null &
	hogs+=($!)
}

stop_hogs() {
	kill "${hogs[@]}" 2>/dev/null || true
	wait "${hogs[@]}" 2>/dev/null || true
	hogs=()
}
