#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --quiet-start --disk 256M
# timeout: 600
# survive.sh - 60 s of full LC load on every CPU: best-effort, a shell and fsync stay alive, nothing is ejected
. "$(dirname "$0")/../scenario_lib.sh"

seconds=${SURVIVE_SECONDS:-60}
fsyncs=${SURVIVE_FSYNCS:-150}
cpus=$(nproc)

# A user's shell: runs a command again and again; prints the longest time between two results.
shell_gap_ms() {
	local last=${EPOCHREALTIME/./} now longest=0 end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		/bin/true
		now=${EPOCHREALTIME/./}
		if [ $((now - last)) -gt "$longest" ]; then longest=$((now - last)); fi
		last=$now
	done
	echo $((longest / 1000))
}

fsync_p99() {
	"$bench/fsyncprobe" /mnt/disk/probe "$fsyncs" | tr ' ' '\n' | sed -n 's/^p99_us=//p'
}

mkdir -p "$cgroup_mount/t"
cgroup_make lc
cgroup_make be
start_hogs "$cpus" lc
default_p99=$(fsync_p99)
stop_hogs

start_daemon
"$schedctl" class set /t/lc lc >/dev/null
"$schedctl" class set /t/be be >/dev/null
wait_for 120 attached is_attached
start_hogs "$cpus" lc
in_cgroup be "$bench/hog" -n 1 -s "$seconds" >"$work/be" &
be_pid=$!
shell_gap=$(shell_gap_ms)
wait "$be_pid"
be_gap=$(tr ' ' '\n' <"$work/be" | sed -n 's/^longest_gap_ms=//p')
schedd_p99=$(fsync_p99)
stop_hogs
check_figure "$seconds s of full load: a best-effort loop, longest pause in ms" "$be_gap <= 1000"
check_figure "$seconds s of full load: an unclassified shell, longest pause in ms" "$shell_gap <= 1000"
check_figure "fsync of 4 KiB, p99 in us against twice the default's" "$schedd_p99 <= 2 * $default_p99"
check "still attached: no ejection" is_attached
check_figure "ejections counted" "$(ejections) == 0"
scenario_end
