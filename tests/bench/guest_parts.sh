# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# guest_parts.sh - in the guest: what each part measures, in which columns, how often
#
# measure_PART runs once for each round of each column; part_PART chooses these.

POLICY_COLUMNS=("${POLICIES[@]/#/schedd-}")

# want_classes ROUNDS ROUNDS_OF_POLICIES: where cgroups are told apart.
want_classes() {
	want "$1" "${BASELINES[@]}" schedd
	want "$2" "${POLICY_COLUMNS[@]}"
	want 1 "${PEERS[@]}"
}

# want_one_class ROUNDS: with all in one, weights of cgroups change nothing.
want_one_class() {
	want "$1" default schedd "${POLICY_COLUMNS[@]}"
}

is_peer() { [[ " ${PEERS[*]} " == *" $1 "* ]]; }

# An example scheduler may take a hundred times as long for each sample.
measure_latency_icount() {
	local samples=${SAMPLES:-20000}

	! is_peer "$column" || samples=500
	sb '' spread --samples --set "latprobe.samples=$samples" --set latprobe.hogs=2 latprobe
}
# What preempts repeats itself to the microsecond there: the policies need no more than two.
part_latency_icount() { want_classes "${ROUNDS:-5}" 2; rounds measure_latency_icount; }

measure_latency_smp() {
	local samples=2000 bursts=200 common=(--set latprobe.hogs=4 --set burst.hogs=4 --set burst.sleepers=4)

	! is_peer "$column" || { samples=200; bursts=20; }
	sb '' spread --samples "${common[@]}" --set "latprobe.samples=$samples" --set "burst.rounds=$bursts" \
		--set burst.work_us=1000 latprobe burst
	sb wake spread "${common[@]}" --set "burst.rounds=$bursts" --set burst.work_us=0 burst
}
part_latency_smp() { want_classes "${ROUNDS:-7}" 3; rounds measure_latency_smp; }

measure_schtest_icount() { sb '' one adaptive_priority; }
part_schtest_icount() { want_one_class "${ROUNDS:-5}"; want 1 "${PEERS[@]}"; rounds measure_schtest_icount; }

measure_schtest_smp() { sb '' one fairness spread_out ping_pong; }
part_schtest_smp() { want_one_class "${ROUNDS:-5}"; want 1 "${PEERS[@]}"; rounds measure_schtest_smp; }

measure_schtest_llc() { sb '' one come_together; }
part_schtest_llc() { want_one_class "${ROUNDS:-5}"; want 1 "${PEERS[@]}"; rounds measure_schtest_llc; }

# timed TEST EXPRESSION COMMAND...: in the normal class; EXPRESSION of sed finds the seconds in what it prints.
timed() {
	local test=$1 expression=$2 seconds

	shift 2
	if ! command -v "$1" >/dev/null; then
		record_skip "$test" "$1 is not installed"
		return
	fi
	(in_cgroup normal "$@") >"$work/timed" 2>&1 || { say "  $test failed: $(tail -n 1 "$work/timed")"; return 1; }
	seconds=$(sed -nE "$expression" "$work/timed" | tail -n 1)
	[ -n "$seconds" ] || { say "  $test told no time: $(tail -n 1 "$work/timed")"; return 1; }
	record_metrics "$test" "\"time_s\":$seconds"
}

# switches: how long stress-ng took for as many context switches.
measure_throughput() {
	local total='s/.*Total time: *([0-9.]+) .*/\1/p' status=0

	timed hackbench 's/^Time: *([0-9.]+).*/\1/p' hackbench -P -g 2 -l 200 || status=1
	timed pipe "$total" perf bench sched pipe -l 20000 || status=1
	timed messaging "$total" perf bench sched messaging -g 2 -l 200 || status=1
	timed switches 's/.*metrc: .* switch +[0-9]+ +([0-9.]+) .*/\1/p' \
		stress-ng --metrics --no-rand-seed --switch 1 --switch-ops 20000 || status=1
	return $status
}
part_throughput_icount() { want_one_class "${ROUNDS:-5}"; rounds measure_throughput; }
part_throughput_smp() { part_throughput_icount; }

measure_services() { sb '' spread --set two_services.seconds=8 two_services; }
part_services() { want "${ROUNDS:-5}" "${BASELINES[@]}" schedd; rounds measure_services; }

# The demo's redis and batch with its own cgroups; its weights are cpu.weight and cpu.idle at once.
part_services_redis() {
	TIME_LIMIT=3600 "$scenario_root/tests/demo/demo.sh" --rounds "${ROUNDS:-5}" --seconds 4 --results "$work/redis" || broken=1
	awk '{
		metrics = ""
		for (i = 1; i <= NF; i++) {
			split($i, kv, "=")
			if (kv[2] ~ /^[0-9.]+$/ && kv[1] != "round") metrics = metrics (metrics ? "," : "") "\"" kv[1] "\":" kv[2]
			else value[kv[1]] = kv[2]
			if (kv[1] == "round") value["round"] = kv[2]
		}
		printf "{\"part\":\"services_redis\",\"round\":%d,\"column\":\"%s\",\"test\":\"redis\",\"metrics\":{%s}}\n",
			value["round"], value["column"], metrics
	}' "$work/redis" >>"$RAW"
}

# Both services together use that share of the machine.
measure_curve() {
	local percent rate

	for percent in 0 20 40 60 80 90 100; do
		rate=$((percent * 5 * $(nproc)))
		[ $rate -gt 0 ] || rate=0.1
		sb "load$percent" spread --set two_services.seconds=3 --set "two_services.rate_per_s=$rate" \
			--set "two_services.rate2_per_s=$rate" --set two_services.service_us=1000 --set two_services.service2_us=1000 two_services
	done
}
part_curve() { want "${ROUNDS:-5}" "${BASELINES[@]}" schedd; rounds measure_curve; }

measure_handoff() { sb '' spread --samples handoff; }
part_handoff_icount() { want_one_class "${ROUNDS:-5}"; rounds measure_handoff; }
part_handoff_smp() { part_handoff_icount; }

measure_quick() { sb '' spread --samples --set latprobe.samples=1000 --set latprobe.hogs=2 latprobe; }
part_quick() { want 1 "${BASELINES[@]}" schedd; rounds measure_quick; }
