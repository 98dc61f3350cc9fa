#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check.sh - run the VM scenarios, those with the same guest in one boot. Needs root.
#
# usage: check.sh [NAME...]     (default: all of tests/vm/scenarios)
#
# The first lines of a scenario say what it needs:
#   # vm: --cpus 2         options of run.sh
#   # timeout: 300         seconds, as the guest's clock counts them
#   # only: named          run when NAME is given, not by default: long, or not settled
# A scenario whose guest dies has failed, and the next ones get a fresh boot; but for one cause
# that is QEMU's own: see died_of_emulation.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/results.sh
. tests/results.sh

header() {
	sed -nE "s/^# $1: *(.*)/\1/p;10q" "tests/vm/scenarios/$2.sh"
}

log_of() {
	printf '%s/vm-%s.log' "$results_logs" "$1"
}

# The kernel turns its static branches by way of a breakpoint that no CPU can meet afterwards.
# A CPU emulated by a thread of its own very rarely does: no kernel and no scheduler can cause that.
emulation_retries=3
died_of_emulation() {
	[ "$emulation_retries" -gt 0 ] && grep -q 'Oops: int3' "$results_logs/console.log"
}

# Boots one guest for the scenarios in $pending, takes those off that have ended.
boot() {
	local vm=$1 limit=300 name status=0 first=${pending[0]} left=()

	for name in "${pending[@]}"; do
		limit=$((limit + $(header timeout "$name")))
		rm -f "$(log_of "$name")" "$(log_of "$name").status"
	done
	# shellcheck disable=SC2086 # several options are meant
	tests/vm/run.sh $vm --timeout "$limit" --console "$results_logs/console.log" -- \
		tests/vm/inside.sh "${pending[@]}" || status=$?
	for name in "${pending[@]}"; do
		log=$(log_of "$name")
		if [ -s "$log.status" ]; then
			result "vm/$name" "$(cat "$log.status")" "$log"
		elif died_of_emulation; then
			left+=("$name")
		elif [ "$name" = "$first" ] || [ -e "$log" ]; then
			{
				echo "not ok - the guest was gone before $name ended (run.sh: status $status); its console:"
				tail -n 60 "$results_logs/console.log"
			} >>"$log"
			result "vm/$name" 125 "$log"
		else
			left+=("$name")
		fi
	done
	if [ ${#left[@]} -gt 0 ] && died_of_emulation; then
		echo "the emulated CPU met a breakpoint that was gone: again: ${left[*]}"
		emulation_retries=$((emulation_retries - 1))
	fi
	pending=("${left[@]}")
}

if [ $# -gt 0 ]; then
	names=("$@")
else
	names=()
	for f in tests/vm/scenarios/*.sh; do
		name=$(basename "$f" .sh)
		[ "$(header only "$name")" = named ] || names+=("$name")
	done
fi
declare -A group=()
order=()
for name in "${names[@]}"; do
	[ -e "tests/vm/scenarios/$name.sh" ] || { echo "check.sh: there is no tests/vm/scenarios/$name.sh" >&2; exit 1; }
	[ -n "$(header timeout "$name")" ] || { echo "check.sh: tests/vm/scenarios/$name.sh has no '# timeout:' line" >&2; exit 1; }
	vm=$(header vm "$name")
	[ -n "${group[$vm]:-}" ] || order+=("$vm")
	group[$vm]+=" $name"
done
for vm in "${order[@]}"; do
	read -ra pending <<<"${group[$vm]}"
	while [ ${#pending[@]} -gt 0 ]; do
		echo "boot ${vm:-(defaults)}: ${pending[*]}"
		boot "$vm"
	done
done
results_end vm
