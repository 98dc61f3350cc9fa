#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench_rounds.sh - the benchmarks' rounds against made-up measurements: turns, noise, what is missing
# shellcheck source=tests/bench/guest_lib.sh
. "$(dirname "$0")/../bench/guest_lib.sh"
# shellcheck disable=SC2034 # for record()
part=check

# Each try is noted; 0 clean, 1 noisy, 2 missing, as $outcome says for the column.
declare -A outcome=()
measure() {
	seen+="$2$1 "
	return "${outcome[$2]:-0}"
}

# run COLUMN=OUTCOME...: with 2 rounds of default and schedd and 1 of qmap.
run() {
	local pair

	seen='' inconclusive=0 broken=0 columns=() wanted=() tries=() given_up=() outcome=()
	rm -f "$RAW"
	for pair; do outcome[${pair%%=*}]=${pair#*=}; done
	want 2 default schedd
	want 1 qmap
	rounds nothing >/dev/null
}

# expect NAME SEEN INCONCLUSIVE BROKEN
expect() {
	if [ "$seen|$inconclusive|$broken" = "$2 |$3|$4" ]; then
		ok "$1"
	else
		not_ok "$1" "got $seen|$inconclusive|$broken, want $2 |$3|$4"
	fi
}

run
expect "columns take turns, and one of less rounds ends earlier" "default1 schedd1 qmap1 default2 schedd2" 0 0
run schedd=1
expect "a noisy one is repeated, three times the wanted in all, then given up" \
	"default1 schedd1 schedd1 schedd1 schedd1 schedd1 schedd1 qmap1 default2" 1 0
check "that is on record" grep -q '"column":"schedd".*"inconclusive":"only 0 of 2 rounds were undisturbed in 6 tries"' "$RAW"
run qmap=2
expect "a peer that does not load spoils nothing" "default1 schedd1 qmap1 default2 schedd2" 0 0
run schedd=2
expect "schedd that does not start is a failure" "default1 schedd1 qmap1 default2" 0 1
check "text becomes JSON" test "$(json 'a "b" \c')" = '"a \"b\" \\c"'
scenario_end
