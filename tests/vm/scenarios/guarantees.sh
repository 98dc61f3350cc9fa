#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --quiet-start
# timeout: 600
# guarantees.sh - two latency-critical classes with a guarantee of 1 each on 2 CPUs, everything saturated
. "$(dirname "$0")/../scenario_lib.sh"

seconds=${GUARANTEES_SECONDS:-20}

mkdir -p "$work/etc"
cat >"$work/etc/schedd.yaml" <<-YAML
	metrics: {listen: "127.0.0.1:$metrics_port"}
	classes:
	  web: {kind: latency-critical, guarantee: 1}
	  db: {kind: latency-critical, guarantee: 1}
YAML
for c in web db be; do cgroup_make $c; done
start_daemon
set_classes web db be
wait_for 120 attached is_attached
for c in web db be; do start_hogs 2 $c; done
# Ten to one: if nobody kept its CPU, web would have nearly everything.
start_hogs 8 web
rise
declare -A before after
usage_read before web db be
# In one go: whoever is real-time and looks at the clock takes time from those who are measured.
read -rt "$seconds" <> <(:) || true
usage_read after web db be
elapsed_us=$((after[at] - before[at]))
stop_hogs
"$schedctl" cores show | sed 's/^/# /'
for c in web db; do
	check_figure "$c: CPUs used, of the one guaranteed" "(${after[$c]} - ${before[$c]}) / $elapsed_us >= 0.9"
done
check_figure "best-effort: CPUs used, half of its floor of 5 % of two at least" "(${after[be]} - ${before[be]}) / $elapsed_us >= 0.05"
check "still attached" is_attached
check_figure "ejections counted" "$(ejections) == 0"
scenario_end
