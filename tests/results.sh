# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# results.sh - what the runners share: one line per program, counts, an honest end

results_logs=build/check-logs
results_passed=0 results_failed=0 results_skipped=0
results_failures=()
mkdir -p "$results_logs"

results_skip_reason() {
	local reason

	reason=$(grep -ioE '(# )?skip.*' "$1" | tail -n 1 || :)
	printf '%s' "${reason:-$(tail -n 1 "$1")}"
}

# result NAME STATUS LOG: counts the TAP lines of LOG; a program without any
# counts as one test. A "not ok" is a failure whatever the status says.
result() {
	local name=$1 status=$2 log=$3 bad good skip

	skip=$(grep -ciE '^ok\b.*# skip' "$log" || :)
	good=$(($(grep -cE '^ok\b' "$log" || :) - skip))
	bad=$(grep -cE '^not ok\b' "$log" || :)
	if [ "$status" = 77 ] && [ "$bad" = 0 ]; then
		results_passed=$((results_passed + good))
		results_skipped=$((results_skipped + skip + (skip == 0)))
		printf 'skip   %s: %s\n' "$name" "$(results_skip_reason "$log")"
		return
	fi
	[ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
	[ $((good + bad + skip)) -gt 0 ] || good=1
	results_passed=$((results_passed + good))
	results_failed=$((results_failed + bad))
	results_skipped=$((results_skipped + skip))
	if [ "$bad" = 0 ]; then
		printf 'ok     %s (%d)%s\n' "$name" "$good" "$([ "$skip" = 0 ] || printf ', %d skipped' "$skip")"
		return
	fi
	results_failures+=("$name")
	printf 'FAILED %s (status %s%s): %s\n' "$name" "$status" "$(results_meaning "$status")" "$log"
	# The failed checks with the remarks below them, or else how it ended.
	awk '/^not ok/ { show = 1 } /^ok|^[0-9]+\.\./ { show = 0 } show { print "    " $0 }' "$log" | head -n 80
	grep -qE '^not ok\b' "$log" || tail -n 20 "$log" | sed 's/^/    /'
}

results_meaning() {
	case $1 in
	124 | 137) printf ', took too long or was killed' ;;
	125) printf ', its guest died' ;;
	1[2-9][0-9]) printf ', died by signal %d' $(($1 - 128)) ;;
	esac
}

# The last line of a layer; the counts stay for tests/check.sh.
results_end() {
	local layer=$1

	echo "$results_passed $results_failed $results_skipped" >"$results_logs/$layer.counts"
	[ ${#results_failures[@]} = 0 ] || echo "failed: ${results_failures[*]}"
	printf '%s: %d passed, %d failed, %d skipped\n' "$layer" $results_passed $results_failed $results_skipped
	if [ $((results_passed + results_failed + results_skipped)) = 0 ]; then
		echo "$layer: no test ran, which counts as a failure" >&2
		return 1
	fi
	[ $results_failed = 0 ]
}
