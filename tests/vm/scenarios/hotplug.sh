#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 3
# timeout: 400
# hotplug.sh - CPUs come and go under load: attached again each time, same daemon, nothing counted as ejection
. "$(dirname "$0")/../scenario_lib.sh"

rounds=${HOTPLUG_ROUNDS:-3}
online=/sys/devices/system/cpu/cpu2/online

online_cpus() { "$schedctl" status -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["onlineCpus"])'; }
cpus_are() { is_attached && [ "$(online_cpus)" = "$1" ]; }

cgroup_make lc
cgroup_make be
start_daemon
"$schedctl" class set /t/lc lc >/dev/null
"$schedctl" class set /t/be be >/dev/null
wait_for 120 attached is_attached
start_hogs 4 be
start_hogs 1 lc
failures=0
for ((i = 0; i < rounds; i++)); do
	echo 0 >"$online"
	wait_for 60 "attached on 2 CPUs" cpus_are 2 || failures=$((failures + 1))
	echo 1 >"$online"
	wait_for 60 "attached on 3 CPUs" cpus_are 3 || failures=$((failures + 1))
done
check_figure "$rounds times off and on, missing re-attachments" "$failures == 0"
check "same daemon" kill -0 "$daemon_pid"
check "the assignments hold" bash -c "'$schedctl' cgroup list --class lc -o name | grep -qx /t/lc"
check_figure "ejections" "$(ejections) == 0"
scenario_end
