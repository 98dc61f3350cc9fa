#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --disk 256M
# only: named
# timeout: 600
# survive.sh - 60 s of full LC load on every CPU: best-effort, a shell and fsync stay alive, nothing is ejected
. "$(dirname "$0")/../scenario_lib.sh"

seconds=${SURVIVE_SECONDS:-60}
fsyncs=${SURVIVE_FSYNCS:-150}
cpus=$(nproc)
pids=()


# A loop that says every 100 ms that it still runs, from wherever it was started.
beat() {
	while :; do
		echo x
		read -rt 0.1 <> <(:) || true
	done >"$1"
}

start_load() {
	local i
	pids=()
	for ((i = 0; i < cpus; i++)); do
		in_cgroup lc "$bench/hog" -n 1 -s 0 >/dev/null &
		pids+=($!)
	done
}

stop_load() {
	kill "${pids[@]}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
}

size_of() { stat -c %s "$1"; }
grew() { [ "$(size_of "$1")" -gt "$2" ]; }

# advances FILE SECONDS: the file grows in each second; says the longest it did not.
advances() {
	local file=$1 end=$((SECONDS + $2)) now last start stalls=0
	while [ $SECONDS -lt $end ]; do
		last=$(size_of "$file")
		start=$EPOCHREALTIME
		until grew "$file" "$last"; do
			now=$EPOCHREALTIME
			if [ $((${now/./} - ${start/./})) -gt 1000000 ]; then
				stalls=$((stalls + 1))
				break
			fi
			read -rt 0.05 <> <(:) || true
		done
		read -rt 0.2 <> <(:) || true
	done
	echo "$stalls stalls of more than a second"
	[ "$stalls" -eq 0 ]
}

fsync_p99() {
	"$bench/fsyncprobe" /mnt/disk/probe "$fsyncs" | tr ' ' '\n' | sed -n 's/^p99_us=//p'
}

mkdir -p "$cgroup_mount/t"
cgroup_make lc
cgroup_make be
start_load
default_p99=$(fsync_p99)
stop_load

start_daemon
"$schedctl" class set /t/lc lc >/dev/null
"$schedctl" class set /t/be be >/dev/null
wait_for 120 attached is_attached
start_load
(in_cgroup be bash -c "$(declare -f beat); beat '$work/be.beat'") &
be_beat=$!
beat "$work/shell.beat" &
shell_beat=$!
wait_for 20 "the loops have begun" test -s "$work/be.beat" -a -s "$work/shell.beat"
advances "$work/be.beat" "$seconds" >"$work/be.result" &
be_watch=$!
check "an unclassified shell advances every second for $seconds s" advances "$work/shell.beat" "$seconds"
check "a best-effort loop advances every second for $seconds s ($(cat "$work/be.result"))" wait "$be_watch"
schedd_p99=$(fsync_p99)
kill "$be_beat" "$shell_beat" 2>/dev/null || true
stop_load
check_figure "fsync of 4 KiB, p99 in us against twice the default's" "$schedd_p99 <= 2 * $default_p99"
check "still attached: no ejection" is_attached
check "none counted" bash -c "[ \"\$('$schedctl' status -o json | python3 -c 'import json,sys; print(json.load(sys.stdin).get(\"ejections\", \"0\"))')\" = 0 ]"
scenario_end
