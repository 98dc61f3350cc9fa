#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# man_metrics.sh - schedd-metrics(7) and the table of metrics agree: names, labels, types and units.
set -euo pipefail
cd "$(dirname "$0")/../.."
page=man/schedd-metrics.7
program=${BUILD:-build}/tests/unit/test_metrics

fail() {
	printf 'man_metrics.sh: %s\n' "$*" >&2
	exit 1
}

[ -x "$program" ] || { echo "man_metrics.sh: skipped: $program is not built"; exit 77; }

# NAME{LABELS} TYPE[, UNIT], one a line.
table() {
	"$program" families | awk -F'\t' '{
		print $1 ($4 != "" ? "{" $4 "}" : "") " " $2 ($3 != "" ? ", " $3 : "")
	}' | LC_ALL=C sort
}

documented() {
	awk '/^\.It Sy / { name = $3; getline type; sub(/\.$/, "", type); print name " " type }' "$page" | LC_ALL=C sort
}

difference=$(diff --label "$page" --label "daemon/metrics_list.h" -U0 <(documented) <(table) | tail -n +4) ||
	fail "$page (-) and daemon/metrics_list.h (+) differ:
$difference"
echo "$(table | wc -l) families, all documented"
