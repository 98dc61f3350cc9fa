#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check.sh - every layer of tests one after the other, and the sum. Needs root.
# A layer that fails does not keep the next from running; a build that fails does.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh
trap give_back EXIT
rm -rf build/check-logs
status=0
make --no-print-directory tests
make --no-print-directory check-unit || status=1
tests/bpf/load.sh || status=1
tests/vm/check.sh || status=1
tests/bench/check.sh || status=1
echo
awk '
	FNR == 1 { passed += $1; failed += $2; skipped += $3; layers++ }
	END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	      exit layers < 4 || failed > 0 || passed == 0 }' \
	build/check-logs/*.counts || status=1
exit $status
