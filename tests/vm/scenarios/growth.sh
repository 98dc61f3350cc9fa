#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 3 --quiet-start
# timeout: 300
# growth.sh - of two latency-critical classes the one with the load owns more, and gives it back when the load is gone
. "$(dirname "$0")/../scenario_lib.sh"

owns_at_least() { [ "$(owned_by "$1")" -ge "$2" ]; }

mkdir -p "$work/etc"
cat >"$work/etc/schedd.yaml" <<-YAML
	metrics: {listen: "127.0.0.1:$metrics_port"}
	classes:
	  web: {kind: latency-critical, guarantee: 1}
	  db: {kind: latency-critical}
YAML
for c in web db be; do cgroup_make $c; done
start_daemon
set_classes web db be
wait_for 120 attached is_attached
check "at rest a class owns its guarantee" wait_for 20 "one CPU" owns web 1
start_hogs 3 be
start_hogs 6 web
start_hogs 1 db
rise
check "loaded it owns more" wait_for 20 "two CPUs at least" owns_at_least web 2
stop_hogs
check "and at rest its guarantee again" wait_for 20 "one CPU" owns web 1
check "the other one owns nothing" owns db 0
check_figure "ejections counted" "$(ejections) == 0"
scenario_end
