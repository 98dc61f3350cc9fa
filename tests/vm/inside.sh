#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# inside.sh - the guest's half of check.sh: runs scenarios, leaves log and status of each
set -euo pipefail
cd "$(dirname "$0")/../.."

# Only one scheduler can be loaded: what stays would spoil all that follow.
scheduler_left() {
	local i

	for ((i = 0; i < 50; i++)); do
		[ "$(cat /sys/kernel/sched_ext/state)" != disabled ] || return 1
		sleep 0.1
	done
}

for name in "$@"; do
	file=tests/vm/scenarios/$name.sh
	log=build/check-logs/vm-$name.log
	limit=$(sed -nE 's/^# timeout: *([0-9]+).*/\1/p;10q' "$file")
	status=0
	timeout -k 10 "$limit" bash "$file" >"$log" 2>&1 </dev/null || status=$?
	if scheduler_left; then
		echo "not ok - a scheduler was still loaded 5 s after the scenario had ended" >>"$log"
		echo 1 >"$log.status"
		# A fresh boot for the others.
		exit 1
	fi
	echo $status >"$log.status"
done
