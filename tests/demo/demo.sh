#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# demo.sh - one real service next to hungry batch work, three ways of sharing the CPUs
#
# usage: demo.sh [--rounds N] [--seconds S] [--rate R] [--columns LIST] [--results FILE] [--check]
#   --rounds N      measurements of each column (3)
#   --seconds S     length of one measurement (10)
#   --rate R        requests per second (default: 40 % of what the service does alone)
#   --columns LIST  of default,weights,schedd
#   --results FILE  append each measurement to it as NAME=value fields
#   --check         exit 1 when the goals are missed or other load spoilt the figures
#
# Needs root, cgroup2 with the cpu controller, a kernel with sched_ext, redis and
# a built tree. Everything it makes is gone when it ends, Ctrl-C included.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
BUILD=${BUILD:-$here/../../build}
# shellcheck source=tests/demo/place.sh
. "$here/place.sh"
# shellcheck source=tests/demo/columns.sh
. "$here/columns.sh"
# shellcheck source=tests/demo/report.sh
. "$here/report.sh"

ROUNDS=3
SECONDS_EACH=10
WARMUP=1
RATE=
COLUMNS_WANTED=default,weights,schedd
RESULTS=/dev/null
CHECK=no
# The request: how many members two sets have in common, as in "who likes both".
CLIENT_OPTIONS=(--connections 8 --members 2000)
# Above this share of a measurement taken by the host it is thrown away: 1 % is
# all that a p99 looks at.
NOISE_PERMILLE=5
# No measurement is repeated when that would go beyond this many seconds in all.
TIME_LIMIT=${TIME_LIMIT:-205}

options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--rounds | --seconds | --rate | --columns | --results)
			[ $# -ge 2 ] || die "$1 needs a value (see the head of tests/demo/demo.sh)"
			;;&
		--rounds) ROUNDS=$2; shift ;;
		--seconds) SECONDS_EACH=$2; shift ;;
		--rate) RATE=$2; shift ;;
		--columns) COLUMNS_WANTED=$2; shift ;;
		--results) RESULTS=$2; shift ;;
		--check) CHECK=yes ;;
		-h | --help) sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
		*) die "unknown option $1 (see the head of tests/demo/demo.sh)" ;;
		esac
		shift
	done
	[[ $ROUNDS =~ ^[1-9][0-9]?$ ]] || die "--rounds wants 1 to 99, not '$ROUNDS'"
	[[ $SECONDS_EACH =~ ^[1-9][0-9]?$ ]] || die "--seconds wants 1 to 99, not '$SECONDS_EACH'"
	[[ -z $RATE || $RATE =~ ^[1-9][0-9]*$ ]] || die "--rate wants requests per second, not '$RATE'"
	IFS=, read -ra COLUMN_LIST <<<"$COLUMNS_WANTED"
	local c
	for c in "${COLUMN_LIST[@]}"; do
		[[ $c =~ ^(default|weights|schedd)$ ]] || die "--columns knows default, weights and schedd, not '$c'"
	done
}

# after SECONDS: the wall-clock time that is so far away, for --start-at.
after() {
	awk -v now="${EPOCHREALTIME/,/.}" -v s="$1" 'BEGIN { printf "%.6f\n", now + s }'
}

# The service alone under the kernel's scheduler, as fast as one client can ask.
calibrate() {
	local line

	column_enter default
	service_start
	line=$(in_cgroup client "$BUILD/tests/demo/openloop" --connect "$SERVICE_PORT" --calibrate \
		--warmup 0.5 --seconds 2.5 "${CLIENT_OPTIONS[@]}") || die "the client could not measure redis alone"
	ALONE=$(field rate "$line")
	end_processes
	[ "${ALONE:-0}" -ge 10 ] || die "redis alone answered only ${ALONE:-0} requests a second: the machine is too busy for a demo"
	RATE=${RATE:-$((ALONE * 40 / 100))}
	say "The service alone answers $ALONE requests a second; the demo asks for $RATE."
}

# One measurement in the column that was entered: one line of fields in $TMP/line.
measure() {
	local round=$1 column=$2 start batch_pid noise_pid client_pid window=(--seconds "$SECONDS_EACH")

	service_start
	# The client fills the sets in the quiet before the batch starts.
	start=$(after "$(awk -v w="$WARMUP" 'BEGIN { print w + 2 }')")
	in_cgroup client "$BUILD/tests/demo/openloop" --connect "$SERVICE_PORT" --rate "$RATE" --seed "$round" \
		--start-at "$start" --warmup "$WARMUP" "${window[@]}" "${CLIENT_OPTIONS[@]}" >"$TMP/client" 2>"$TMP/client.err" &
	client_pid=$!
	"$BUILD/tests/demo/hostnoise" --start-at "$start" "${window[@]}" >"$TMP/noise" 2>/dev/null &
	noise_pid=$!
	nap 1.5
	in_cgroup batch "$BUILD/tests/demo/batch" --workers "$HOGS" --start-at "$start" "${window[@]}" >"$TMP/batch" &
	batch_pid=$!
	wait "$client_pid" || die "the client failed: $(tail -n 1 "$TMP/client.err")"
	wait "$noise_pid" || echo 'lost_permille=0' >"$TMP/noise"
	[ "$round" != "$ROUNDS" ] || column_remember "$column"
	kill -TERM "$batch_pid"
	wait "$batch_pid" || die "the batch failed"
	tr '\n' ' ' <<<"$(cat "$TMP/client" "$TMP/batch" "$TMP/noise")" >"$TMP/line"
}

# Until host noise let one through, at most three times and while time is left.
measure_clean() {
	local round=$1 column=$2 try line lost

	for try in 1 2 3; do
		column_enter "$column"
		measure "$round" "$column"
		column_leave "$column"
		end_processes
		line=$(<"$TMP/line")
		lost=$(field lost_permille "$line")
		[ "$lost" -gt "$NOISE_PERMILLE" ] || break
		say "  round $round, $column: other load on the host took $((lost / 10)).$((lost % 10)) % of this one"
		if [ "$try" = 3 ] || [ $((SECONDS + SECONDS_EACH + 20)) -ge "$TIME_LIMIT" ]; then
			break
		fi
		say "  thrown away, again"
	done
	echo "round=$round column=$column $line" | tee -a "$RESULTS" >>"$TMP/results"
	progress "$round" "$column" "$line"
}

main() {
	options "$@"
	place_check
	place_make
	service_check
	column_check
	HOGS=$((2 * $(nproc)))
	say "redis, one client that asks at a fixed rate, $HOGS CPU-hungry batch processes on $(nproc) CPUs."
	calibrate
	local round i n=${#COLUMN_LIST[@]}
	for ((round = 1; round <= ROUNDS; round++)); do
		for ((i = 0; i < n; i++)); do
			measure_clean "$round" "${COLUMN_LIST[(i + round - 1) % n]}"
		done
	done
	report_table
	column_show
	report_goals
}

main "$@"
