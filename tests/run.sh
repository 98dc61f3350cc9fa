#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh - run test programs one after the other, tell one line of each and counts
#
# usage: run.sh LAYER PROGRAM...
#   TEST_TIMEOUT=S   longest time of one program (120)
#
# A program passes with status 0, is skipped with 77 (its output says why), and
# fails otherwise. Fails when one failed, and when none ran at all.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/results.sh
. tests/results.sh

layer=$1
shift
export CMOCKA_MESSAGE_OUTPUT=TAP BUILD=${BUILD:-build}
rm -f "$results_logs/$layer"-*.log
for program in "$@"; do
	# Beside the checks are files which they use.
	[ -x "$program" ] || { [[ $program == tests/check/* ]] && continue; }
	name=${program#"$BUILD"/}
	name=${name#tests/}
	log=$results_logs/$layer-${name//\//-}.log
	status=0
	timeout -k 5 "${TEST_TIMEOUT:-120}" "./$program" >"$log" 2>&1 </dev/null || status=$?
	result "$name" $status "$log"
done
results_end "$layer"
