# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# guest_lib.sh - in the guest: cgroups, measurements with their host noise, rounds, results
#
# What is measured becomes one line of JSON in $RAW: part, column, round and
# either `run`, what schedbench printed, or `test` and `metrics`.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/vm/scenario_lib.sh
. "$here/../vm/scenario_lib.sh"
# shellcheck source=tests/bench/names.sh
. "$here/names.sh"
# shellcheck source=tests/bench/guest_columns.sh
. "$here/guest_columns.sh"

schedbench=${SCHEDBENCH:-$bench/schedbench}
hostnoise=$scenario_root/build/tests/demo/hostnoise
RAW=${RAW:-$work/raw.jsonl}
# Above this share of a measurement taken by the host it is thrown away: 1 % is all that a p99 looks at.
NOISE_PERMILLE=${NOISE_PERMILLE:-5}
# A measurement that host noise spoils is repeated until a column had so many times its rounds.
NOISE_TRIES=3
inconclusive=0
broken=0

say() { printf '%s\n' "$*"; }

# Ours are /t/lc, lc2, normal and be, with weights of their own.
groups_make() {
	local c

	echo +cpu >"$cgroup_mount/cgroup.subtree_control"
	mkdir -p "$cgroup_mount/t"
	echo +cpu >"$cgroup_mount/t/cgroup.subtree_control"
	for c in lc lc2 normal be; do cgroup_make "$c"; done
}

group() { printf '%s/t/%s' "$cgroup_mount" "$1"; }

# json TEXT: as a JSON string.
json() {
	local text=${1//\\/\\\\}

	text=${text//\"/\\\"}
	printf '"%s"' "${text//[[:cntrl:]]/ }"
}

# record ROUND COLUMN MEMBERS: one line of the results; MEMBERS is JSON without its braces.
record() {
	printf '{"part":"%s","round":%s,"column":"%s","noise_permille":%s,%s}\n' \
		"$part" "$1" "$2" "${noise:-0}" "$3" >>"$RAW"
}

# record_metrics TEST METRICS: of the measurement that runs; it waits in $work/lines until its noise is known.
record_metrics() {
	printf '"test":"%s","scheduler":"%s","metrics":{%s}\n' "$1" "$(scheduler_now)" "$2" >>"$work/lines"
}

# record_skip TEST WHY
record_skip() {
	printf '"test":"%s","scheduler":"%s","status":"skip","reason":%s,"metrics":{}\n' "$1" "$(scheduler_now)" "$(json "$2")" >>"$work/lines"
}

scheduler_now() {
	local ops

	ops=$(kernel_ops)
	printf '%s' "${ops:-default}"
}

# sb VARIANT spread|one ARGUMENT...: schedbench, each role in its own cgroup or all in the normal one.
# VARIANT tells runs of one test with different settings apart, "" when there is but one.
sb() {
	local variant=$1 how=$2 dirs=(--lc "$(group lc)" --lc2 "$(group lc2)" --normal "$(group normal)" --be "$(group be)")

	shift 2
	[ "$how" = spread ] || dirs=(--lc "$(group normal)" --lc2 "$(group normal)" --normal "$(group normal)" --be "$(group normal)")
	rm -f "$work/sb.json"
	"$schedbench" --json "$work/sb.json" "${dirs[@]}" "$@" >"$work/sb.out" 2>&1 || :
	if [ ! -s "$work/sb.json" ]; then
		say "  schedbench $* failed: $(tail -n 1 "$work/sb.out")"
		return 1
	fi
	printf '"variant":"%s","run":%s\n' "$variant" "$(tr -d '\n' <"$work/sb.json")" >>"$work/lines"
}

noise_begin() {
	[ -z "$ICOUNT" ] || return 0
	"$hostnoise" --seconds 3600 >"$work/noise" 2>&1 &
	noise_pid=$!
	wait_for 20 "hostnoise has begun" noise_has_begun
}

# Its threads are there, so it listens to the signal that ends it.
noise_has_begun() {
	local threads=("/proc/$noise_pid/task"/*)

	[ ${#threads[@]} -gt 1 ]
}

# Where time counts instructions, the host cannot disturb.
noise_end() {
	noise=0
	[ -z "$ICOUNT" ] || return 0
	kill -TERM "$noise_pid"
	wait "$noise_pid" || { say "hostnoise failed: $(cat "$work/noise")"; exit 1; }
	noise=$(sed -nE 's/.*lost_permille=([0-9]+).*/\1/p' "$work/noise")
}

# measure ROUND COLUMN COMMAND...: one entry into the column. 0 clean, 1 noisy, 2 broken.
measure() {
	local round=$1 column=$2 status=0 began=$SECONDS

	shift 2
	: >"$work/lines"
	if ! column_enter "$column"; then
		column_leave "$column"
		record "$round" "$column" "\"missing\":$(json "$missing")"
		say "  round $round $column: $missing"
		return 2
	fi
	noise_begin
	"$@" || status=2
	noise_end
	if ! column_holds "$column"; then
		record "$round" "$column" "\"missing\":$(json "$missing")"
		say "  round $round $column: $missing"
		status=2
	fi
	column_leave "$column"
	[ $status = 0 ] || return $status
	if [ "$noise" -gt "$NOISE_PERMILLE" ]; then
		say "  round $round $column: other load on the host took $((noise / 10)).$((noise % 10)) % of it: thrown away"
		return 1
	fi
	while read -r line; do record "$round" "$column" "$line"; done <"$work/lines"
	say "  round $round $column: $((SECONDS - began)) s"
}

columns=()
declare -A wanted=() tries=() given_up=()

# want ROUNDS COLUMN...: these are measured as well, so many times.
want() {
	local n=$1 column

	shift
	[ "$n" -le "${ROUNDS:-$n}" ] || n=$ROUNDS
	for column; do
		columns+=("$column")
		wanted[$column]=$n
	done
}

# rounds COMMAND...: each column of want() once per round, until it had all of its own.
rounds() {
	local round column last=0

	for column in "${columns[@]}"; do
		[ "${wanted[$column]}" -le "$last" ] || last=${wanted[$column]}
	done
	for ((round = 1; round <= last; round++)); do
		for column in "${columns[@]}"; do
			if [ "$round" -le "${wanted[$column]}" ] && [ -z "${given_up[$column]:-}" ]; then
				round_of "$round" "$column" "$@"
			fi
		done
	done
}

# round_of ROUND COLUMN COMMAND...: until the host lets one through.
round_of() {
	local round=$1 column=$2 status

	shift 2
	while :; do
		status=0
		measure "$round" "$column" "$@" || status=$?
		tries[$column]=$((${tries[$column]:-0} + 1))
		case $status in
		0) return 0 ;;
		2)
			given_up[$column]=yes
			column_may_miss "$column" || broken=1
			return 0
			;;
		esac
		if [ "${tries[$column]}" -ge $((wanted[$column] * NOISE_TRIES)) ]; then
			given_up[$column]=yes
			inconclusive=1
			record "$round" "$column" "\"inconclusive\":\"only $((round - 1)) of ${wanted[$column]} rounds were undisturbed in ${tries[$column]} tries\""
			say "  $column: inconclusive after ${tries[$column]} tries"
			return 0
		fi
	done
}
