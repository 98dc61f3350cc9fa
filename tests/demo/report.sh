# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# report.sh - progress lines, the table, the verdict

progress() {
	awk -v line="$3" -v round="$1" -v rounds="$ROUNDS" -v column="$2" -v s="$SECONDS_EACH" 'BEGIN {
		n = split(line, word, " ")
		for (i = 1; i <= n; i++) { split(word[i], kv, "="); v[kv[1]] = kv[2] }
		printf "  round %d of %d  %-8s  p50 %7.2f ms   p99 %7.2f ms   batch %8.0f blocks/s\n",
			round, rounds, column, v["p50_us"] / 1000, v["p99_us"] / 1000, v["blocks"] / s
	}'
}

# stats COLUMN FIELD: "median min max" over the rounds.
stats() {
	awk -v column="$1" -v field="$2" '{
		for (i = 1; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] }
		if (v["column"] == column) print v[field]
	}' "$TMP/results" | sort -g | awk '{ v[NR] = $1 } END {
		if (!NR) exit
		print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1], v[NR]
	}'
}

median() {
	local s

	s=$(stats "$1" "$2")
	printf '%s\n' "${s%% *}"
}

# ratio COLUMN BASE FIELD
ratio() {
	awk -v a="$(median "$1" "$3")" -v b="$(median "$2" "$3")" 'BEGIN { printf "%.2f\n", (b > 0 ? a / b : 0) }'
}

# row LABEL FORMATTER FIELD: one line of the table.
row() {
	local c

	printf '%-26s' "$1"
	for c in "${COLUMN_LIST[@]}"; do
		printf '%-25s' "$($2 "$c" "$3")"
	done
	printf '\n'
}

show_count() {
	median "$1" "$2"
}

show_ms() {
	stats "$1" "$2" | awk '{ printf "%.2f (%.2f-%.2f)", $1 / 1000, $2 / 1000, $3 / 1000 }'
}

show_rate() {
	stats "$1" "$2" | awk -v s="$SECONDS_EACH" '{ printf "%.0f (%.0f-%.0f)", $1 / s, $2 / s, $3 / s }'
}

show_ratio() {
	ratio "$1" default "$2"
}

show_title() {
	case $1 in
	default) echo "kernel default" ;;
	weights) echo "weights set by hand" ;;
	schedd) echo "schedd" ;;
	esac
}

report_table() {
	say ""
	say "Median of $ROUNDS rounds (lowest-highest). default: the kernel's scheduler as it comes; weights: the same"
	say "with cpu.weight=10000 on the service and cpu.idle=1 on the batch; schedd: service latency-critical, batch best-effort."
	say "Latency counts from the moment a request was due, so a late client or a full queue cannot hide."
	say ""
	row "" show_title ""
	row "requests" show_count requests
	row "errors" show_count errors
	row "timeouts" show_count timeouts
	row "latency p50, ms" show_ms p50_us
	row "latency p99, ms" show_ms p99_us
	row "latency p99.9, ms" show_ms p999_us
	row "batch, blocks a second" show_rate blocks
	wants default || return 0
	say ""
	say "against the kernel's default:"
	row "  latency p50" show_ratio p50_us
	row "  latency p99" show_ratio p99_us
	row "  latency p99.9" show_ratio p999_us
	row "  batch work" show_ratio blocks
}

# Measurements that stayed in although the host disturbed them.
noisy_count() {
	awk -v limit="$NOISE_PERMILLE" '{
		for (i = 1; i <= NF; i++) { split($i, kv, "="); if (kv[1] == "lost_permille" && kv[2] > limit) n++ }
	} END { print n + 0 }' "$TMP/results"
}

verdict() {
	awk -v d="$(median default p99_us)" -v w="$(median weights p99_us)" -v s="$(median schedd p99_us)" \
		-v batch="$(ratio schedd default blocks)" 'BEGIN {
		printf "In short: with schedd 99 of 100 requests were answered within %.2f ms; with the kernel'\''s default that took %.2f ms",
			s / 1000, d / 1000
		if (w > 0) printf " and with weights set by hand %.2f ms", w / 1000
		printf ".\nThe batch did %.0f %% of the work it does under the default.\n", batch * 100
	}'
}

# goal WHAT VALUE RELATION LIMIT
goal() {
	if awk -v v="$2" -v l="$4" -v rel="$3" 'BEGIN { exit !(rel == "at-most" ? v <= l : v >= l) }'; then
		say "  met     $1: $2 (${3/-/ } $4)"
	else
		say "  MISSED  $1: $2 (${3/-/ } $4)"
		missed=1
	fi
}

report_goals() {
	local missed=0 noisy

	noisy=$(noisy_count)
	if wants default && wants schedd; then
		say ""
		verdict
		say "Goals:"
		goal "p99 against the default" "$(ratio schedd default p99_us)" at-most 0.5
		! wants weights || goal "p99 against weights set by hand" "$(ratio schedd weights p99_us)" at-most 1.1
		goal "batch work against the default" "$(ratio schedd default blocks)" at-least 0.9
	fi
	if [ "$noisy" -gt 0 ]; then
		say "Other load on the host disturbed $noisy of $(wc -l <"$TMP/results") measurements that are in the table: inconclusive, try again on a quiet host."
		missed=1
	fi
	[ "$CHECK" = no ] || [ "$missed" = 0 ]
}
