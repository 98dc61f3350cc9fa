#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2
# timeout: 300
# metrics.sh - the real daemon's metrics in both formats, and every call by a foreign gRPC client
. "$(dirname "$0")/../scenario_lib.sh"

fetch() { python3 -c 'import sys, urllib.request as u
r = u.urlopen(u.Request(sys.argv[1], headers={"Accept": sys.argv[2]}), timeout=20)
sys.stdout.buffer.write(r.read())' "http://127.0.0.1:$metrics_port$1" "$2"; }
promtool_quiet() {
	local out
	out=$(promtool check metrics <"$1" 2>&1) || { echo "$out"; return 1; }
	[ -z "$out" ] || { echo "$out"; return 1; }
}

cgroup_make web
start_daemon
"$schedctl" class set /t/web lc >/dev/null
wait_for 120 attached is_attached
fetch /metrics 'text/plain;version=0.0.4' >"$work/text"
# One render a second is the limit; a second snapshot must not differ because of it.
fetch /metrics 'application/openmetrics-text;version=1.0.0' >"$work/openmetrics"
check "promtool accepts the text format without a warning" promtool_quiet "$work/text"
check "the OpenMetrics parser accepts the other; both have the same samples" \
	python3 "$scenario_root/tests/check/help/metrics.py" "$work/text" "$work/openmetrics" --live
check "/healthz" fetch /healthz '*/*'
check "/readyz" fetch /readyz '*/*'
check "the class has a wake-up histogram" grep -q 'schedd_class_wakeup_latency_seconds_bucket{class="latency-critical"' "$work/text"
check "it says attached" grep -q '^schedd_scheduler_state{state="attached"} 1$' "$work/text"
check "a foreign gRPC client drives every call" python3 "$scenario_root/tests/api/foreign_client.py" --socket "$socket"
check "the daemon lives" "$schedctl" health
scenario_end
