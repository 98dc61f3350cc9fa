#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --quiet-start
# timeout: 600
# starve.sh - owners that fill their CPUs for ever: whoever is not the owner still advances
. "$(dirname "$0")/../scenario_lib.sh"

seconds=${STARVE_SECONDS:-10}

# run_hog RESULT CGROUP [OPTION...]: one endless loop, RESULT.out gets its account.
hogs_of=()
run_hog() {
	local name=$1 cgroup=$2
	shift 2
	in_cgroup "$cgroup" "$bench/hog" -n 1 -s "$seconds" "$@" >"$work/$name.out" &
	hogs_of+=("$name:$!")
}

# The watchdog is shorter than the test: a task that starves ends in an ejection.
daemon_with_classes() {
	mkdir -p "$work/etc"
	printf 'metrics: {listen: "127.0.0.1:%s"}\nscheduler: {watchdog: 4s}\nclasses:\n' "$metrics_port" \
		>"$work/etc/schedd.yaml"
	printf '  %s\n' "$@" >>"$work/etc/schedd.yaml"
	start_daemon
}

# all_advance CASE: waits for the hogs and judges the longest pause of each. Several share one floor of
# 5 % in turns of 0.5 ms, so it is not a second for each; far from the watchdog it must be.
all_advance() {
	local entry name gap
	for entry in "${hogs_of[@]}"; do
		name=${entry%:*}
		wait "${entry#*:}"
		gap=$(tr ' ' '\n' <"$work/$name.out" | sed -n 's/^longest_gap_ms=//p')
		check_figure "$1: $name, longest pause in ms" "${gap:-1e9} <= 2000"
	done
	sed 's/^/# /' "$work"/*.out
	rm -f "$work"/*.out
	hogs_of=()
	stop_hogs
	check_figure "$1: ejections counted" "$(ejections) == 0"
}

for c in web db lc be prod other; do cgroup_make $c; done
daemon_with_classes 'web: {kind: latency-critical, guarantee: 1}' 'db: {kind: latency-critical, guarantee: 1}'
set_classes web db lc be
wait_for 120 attached is_attached
for c in web db; do start_hogs 3 $c; done
for cpu in 0 1; do
	run_hog "web-pinned-to-$cpu" web -p $cpu
	run_hog "lc-pinned-to-$cpu" lc -p $cpu
done
run_hog lc-without-guarantee lc
run_hog best-effort be
all_advance "two classes own both CPUs"

stop_daemon
rm -rf "$work/state"
daemon_with_classes 'prod: {kind: normal, guarantee: 2}'
set_classes prod lc be
wait_for 120 attached is_attached
start_hogs 4 prod
run_hog latency-critical lc
run_hog lc-pinned lc -p 0
run_hog unclassified other
run_hog best-effort be
all_advance "a normal class owns both CPUs"
scenario_end
