#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --quiet-start
# timeout: 600
# takeover.sh - a burst that needs both CPUs has them at once, best-effort has them back, against cores moved every 100 ms
. "$(dirname "$0")/../scenario_lib.sh"

field() { sed -n "s/.*$1 .*$2=\([0-9.]*\).*/\1/p" "$work/takeover"; }

# With ownership alone a class needs a CPU of its own to be seen at all.
configure() {
	mkdir -p "$work/etc"
	cat >"$work/etc/schedd.yaml" <<-YAML
		metrics: {listen: "127.0.0.1:$metrics_port"}
		allocator: {$1}
		classes:
		  latency-critical: {guarantee: 1}
		  normal: {guarantee: 0}
	YAML
}

measure() {
	start_daemon
	"$schedctl" class set /t/lc lc >/dev/null
	"$schedctl" class set /t/be be >/dev/null
	wait_for 120 attached is_attached
	("$bench/takeover" -l "$cgroup_mount/t/lc" -b "$cgroup_mount/t/be" "$@") | tee "$work/takeover" | sed 's/^/# /'
	check "still attached" is_attached
	stop_daemon
}

cgroup_make lc
cgroup_make be
configure "policy: utilisation, interval: 100ms"
export SCHEDD_TEST_REFLEX_OFF=1
measure -n 5 -d 2000
slow=$(field takeover_held p50_us)
unset SCHEDD_TEST_REFLEX_OFF
configure "policy: shenango"
measure -n 50 -d 100
check_figure "both CPUs held by the burst, p50 in us, a tenth of that with cores moved every 100 ms" \
	"$(field takeover_held p50_us) <= 0.1 * $slow"
check_figure "the same, p90" "$(field takeover_held p90_us) <= 0.1 * $slow"
check_figure "best-effort has both CPUs back, p90 in us after the end" "$(field takeover_back p90_us) <= 20000"
scenario_end
