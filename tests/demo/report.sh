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

# One process for all of it: emulated, each costs a second.
report() {
	awk -f "${BASH_SOURCE[0]%/*}/report.awk" -v part="$1" -v columns="${COLUMN_LIST[*]}" -v rounds="$ROUNDS" \
		-v seconds="$SECONDS_EACH" -v noise="$NOISE_PERMILLE" "$TMP/results"
}

report_table() {
	report table
}

report_goals() {
	report goals || [ "$CHECK" = no ]
}
