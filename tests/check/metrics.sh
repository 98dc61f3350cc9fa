#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# metrics.sh - promtool and python3-prometheus-client accept what we expose.
#
# usage: metrics.sh [URL]   (default: what the unit test's program prints;
#                            URL: a running daemon, http://127.0.0.1:9770/metrics)
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${BUILD:-build}/tests/unit/test_metrics

fail() {
	printf 'metrics.sh: %s\n' "$*" >&2
	exit 1
}

fetch() {
	if [ -n "$url" ]; then
		curl -sS --fail --max-time 10 -H "Accept: $2" "$url"
	else
		"$program" "$1"
	fi
}

url=${1:-}
for tool in promtool python3 ${url:+curl}; do
	command -v "$tool" >/dev/null || { echo "metrics.sh: skipped: no $tool here"; exit 77; }
done
python3 -c 'import prometheus_client.openmetrics.parser' 2>/dev/null ||
	{ echo "metrics.sh: skipped: no python3-prometheus-client here"; exit 77; }
[ -n "$url" ] || [ -x "$program" ] || { echo "metrics.sh: skipped: $program is not built"; exit 77; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fetch text 'text/plain; version=0.0.4' >"$dir/text"
fetch openmetrics 'application/openmetrics-text; version=1.0.0' >"$dir/openmetrics"

# promtool says warnings on stderr and exits 3 for them.
promtool check metrics <"$dir/text" >"$dir/promtool" 2>&1 || fail "promtool: $(head -n 3 "$dir/promtool")"
[ ! -s "$dir/promtool" ] || fail "promtool: $(head -n 3 "$dir/promtool")"
python3 tests/check/help/metrics.py "$dir/text" "$dir/openmetrics" ${url:+--live}
