#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2
# timeout: 600
# bad_input.sh - every line of bad_input.tsv: exit code, message, and a state that did not change
. "$(dirname "$0")/../scenario_lib.sh"

# What is stored (classes, overrides, assignments, holds), and what is served.
fingerprint() {
	cat "$work/state/state" "$work/run/hold" 2>/dev/null || true
	"$schedctl" class list -o json
}

fingerprint_all() {
	fingerprint
	"$schedctl" class assignments -o json
	"$schedctl" cgroup list -o json
	"$schedctl" config show
	"$schedctl" mode
}

# run_case ARGUMENTS EXIT PATTERN
run_case() {
	local -a words
	local out after status=0

	eval "words=($1)"
	out=$("$schedctl" "${words[@]}" 2>&1 </dev/null) || status=$?
	if [ "$status" -ne "$2" ]; then
		echo "exit status $status instead of $2; it said: $out"
		return 1
	fi
	grep -Eq -- "$3" <<<"$out" || {
		echo "the message does not match /$3/: $out"
		return 1
	}
	after=$(fingerprint)
	[ "$after" = "$before" ] || {
		echo "the state changed:"
		diff <(echo "$before") <(echo "$after") || true
		before=$after # one fault is one line
		return 1
	}
}

cgroup_make web
mkdir -p "$work/bad"
printf 'classes:\n  web: {kind: lc, guarante: 1}\n' >"$work/bad/typo.yaml"
# Detached, or the CPUs that classes hold at the moment would be part of the state.
default_config
printf 'scheduler: {mode: detached}\n' >>"$work/etc/schedd.yaml"
start_daemon
"$schedctl" class create batch kind=be >/dev/null
"$schedctl" class set /t/web batch >/dev/null
for i in {5..16}; do "$schedctl" class create "c$i" kind=be >/dev/null; done
at_first=$(fingerprint_all)
before=$(fingerprint)
while IFS=$'\t' read -r name arguments status pattern; do
	[[ $name = \#* || -z $name ]] && continue
	check "$name" run_case "$arguments" "$status" "$pattern"
done <"$scenario_root/tests/vm/bad_input.tsv"
check "classes, cgroups, configuration and mode are what they were at first" test "$(fingerprint_all)" = "$at_first"
check "the daemon lives" "$schedctl" health
scenario_end
