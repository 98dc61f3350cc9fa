#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2
# timeout: 400
# stress.sh - affinity, cpusets, short-lived cgroups, real-time hogs and scheduling classes: no ejection, no stall
. "$(dirname "$0")/../scenario_lib.sh"

seconds=${STRESS_SECONDS:-10}

survived() { check "$1: still attached" is_attached; check_figure "$1: ejections" "$(ejections) == 0"; }

# Cgroups that live for a moment, each with a process that forks and outlives its group's removal attempt.
cgroup_race() {
	local end=$((SECONDS + seconds)) dir n=0
	while [ $SECONDS -lt $end ]; do
		n=$((n + 1))
		dir=$cgroup_mount/t/race.$1.$n
		mkdir "$dir"
		(echo "$BASHPID" >"$dir/cgroup.procs"; true & true)
		rmdir "$dir" 2>/dev/null || { echo 1 >"$dir/cgroup.kill"; rmdir "$dir" 2>/dev/null || true; }
	done
}

flip_cpusets() {
	local end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		echo 0 >"$cgroup_mount/t/be/cpuset.cpus"
		echo 1 >"$cgroup_mount/t/be/cpuset.cpus"
		echo 0-1 >"$cgroup_mount/t/be/cpuset.cpus"
	done
}

echo "+cpuset +cpu" >"$cgroup_mount/cgroup.subtree_control" 2>/dev/null || true
cgroup_make lc
echo "+cpuset" >"$cgroup_mount/t/cgroup.subtree_control" 2>/dev/null || true
cgroup_make be
start_daemon
"$schedctl" class set /t/lc lc >/dev/null
"$schedctl" class set /t/be be >/dev/null
wait_for 120 attached is_attached
start_hogs 4 be

in_cgroup be stress-ng --quiet --affinity 2 --affinity-delay 1 --affinity-rand --timeout "${seconds}s" >/dev/null 2>&1 &
first=$!
(in_cgroup lc stress-ng --quiet --affinity 2 --affinity-delay 1 --timeout "${seconds}s" >/dev/null 2>&1) || true
wait "$first" || true
survived "affinity changes"

if [ -e "$cgroup_mount/t/be/cpuset.cpus" ]; then
	flip_cpusets
	survived "cpuset changes"
else
	echo "# skip: the cpuset controller is not available"
fi

for i in 1 2 3; do cgroup_race "$i" & race[i]=$!; done
wait "${race[@]}" || true
survived "short-lived cgroups"
check "the tree is followed to the end" wait_for 30 "only the lasting cgroups" \
	bash -c "! '$schedctl' cgroup list -o name | grep -q race"

stress-ng --quiet --cpu-sched 2 --timeout "${seconds}s" >/dev/null 2>&1 || true
survived "scheduling classes changed"

# timeout outside: of the same priority and on that CPU it would never run.
timeout 5 chrt -f 50 taskset -c 1 sh -c 'while :; do :; done' || true
survived "a real-time hog for 5 s"
scenario_end
