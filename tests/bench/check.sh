#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check.sh - the short benchmark as a layer of `make check`: that it measures, not what
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/results.sh
. tests/results.sh

log=$results_logs/bench-quick.log status=0
tests/bench/bench.sh quick >"$log" 2>&1 || status=$?
result bench/quick $status "$log"
results_end bench
