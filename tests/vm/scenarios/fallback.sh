#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 3 --quiet-start
# timeout: 300
# fallback.sh - the daemon stops dead while cores move: guarantees hold without it, and it takes over again
. "$(dirname "$0")/../scenario_lib.sh"

seconds=5

alive_lost() { fresh_page "$work/page" && page_value "$work/page" 'schedd_kernel_events_total{event="alive_lost"}'; }
three_owned() { [ $(($(owned_by web) + $(owned_by db))) = 3 ]; }

# The policy that measures use steps all the time; the other one may be asleep, and then nobody misses it.
mkdir -p "$work/etc"
cat >"$work/etc/schedd.yaml" <<-YAML
	metrics: {listen: "127.0.0.1:$metrics_port"}
	allocator: {policy: utilisation, interval: 10ms}
	classes:
	  normal: {guarantee: 0}
	  web: {kind: latency-critical, guarantee: 1}
	  db: {kind: latency-critical, guarantee: 1}
YAML
for c in web db be; do cgroup_make $c; done
start_daemon
set_classes web db be
wait_for 120 attached is_attached
start_hogs 2 be
start_hogs 6 web
start_hogs 2 db
rise
check "the allocator is at work: one of the classes owns more than its guarantee" \
	wait_for 20 "three CPUs owned" three_owned
# Some may be missed without us: an emulated CPU stands still now and then.
missed=$(alive_lost)
declare -A before after
kill -STOP "$daemon_pid"
usage_read before web db
# In one go: whoever is real-time and looks at the clock takes time from those who are measured.
read -rt "$seconds" <> <(:) || true
usage_read after web db
kill -CONT "$daemon_pid"
for c in web db; do
	check_figure "$c, the daemon stopped: CPUs used, of the one guaranteed" "(${after[$c]} - ${before[$c]}) / (${after[at]} - ${before[at]}) >= 0.8"
done
stop_hogs
check "still attached" is_attached
check_figure "signs of life missed" "$(alive_lost) > $missed"
check "the allocator goes on: at rest web owns its guarantee" wait_for 20 "one CPU" owns web 1
check "and db too" wait_for 20 "one CPU" owns db 1
check_figure "ejections counted" "$(ejections) == 0"
scenario_end
