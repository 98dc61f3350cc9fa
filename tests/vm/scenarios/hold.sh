#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2
# timeout: 300
# hold.sh - SysRq-S and mode detached hold over restarts; assignments come back after kill -9
. "$(dirname "$0")/../scenario_lib.sh"

cgroup_make web
start_daemon
check "class set" "$schedctl" class set /t/web lc
check "attached" wait_for 120 attached is_attached
kill_daemon
check "kill -9: the kernel's scheduler is back" wait_for 5 detached is_detached
start_daemon
check "after a restart the assignment is back" class_is /t/web latency-critical
check "and the scheduler" wait_for 120 attached is_attached

echo S >/proc/sysrq-trigger
check "SysRq-S: the kernel's scheduler is back" wait_for 5 detached is_detached
check "the daemon holds" wait_for 5 held state_is held
check "the daemon lives" kill -0 "$daemon_pid"
kill_daemon
start_daemon
check "after kill -9 it still holds" state_is held
check "and is not attached" is_detached
check "naming a mode ends the hold" "$schedctl" mode auto
check "attached again" wait_for 120 attached is_attached

check "mode detached for a while" "$schedctl" mode detached --for 3s --yes
check "detached" is_detached
check "it returns by itself" wait_for 120 attached is_attached
scenario_end
