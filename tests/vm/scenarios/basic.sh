#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2
# timeout: 240
# basic.sh - install, name a service, be attached; a child inherits; take it back; stop
. "$(dirname "$0")/../scenario_lib.sh"

cgroup_make web
start_daemon
check "starting changes nothing: not attached" is_detached
check "status works while detached" "$schedctl" status
check "class set is accepted" "$schedctl" class set /t/web lc
check "naming a service attaches the scheduler" wait_for 120 attached is_attached
check "is-active says so" "$schedctl" is-active -q
check "the cgroup has the class" class_is /t/web latency-critical
cgroup_make web/child
check "a child made afterwards inherits" wait_for 5 inherited class_is /t/web/child latency-critical
check "a cgroup outside does not" class_is /t normal
check "the list shows it" bash -c "'$schedctl' cgroup list --class lc -o name | grep -qx /t/web"
check "cores show works" "$schedctl" cores show
check "unset is accepted" "$schedctl" class unset /t/web
check "the class is taken back" class_is /t/web normal
check "and from the child" class_is /t/web/child normal
check "the scheduler stays for a while" is_attached
check "mode detached is carried out" "$schedctl" mode detached --yes
check "the kernel's scheduler is back" wait_for 10 detached is_detached
check "is-active says so too" bash -c "! '$schedctl' is-active -q"
check "mode active attaches without any class" "$schedctl" mode active
check "attached again" wait_for 120 attached is_attached
stop_daemon
check "stopping gives the CPU back to the kernel" is_detached
scenario_end
