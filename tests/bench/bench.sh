#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench.sh - boot guests, measure schedd beside others in them, report. Needs root and a built tree.
#
# usage: bench.sh [PART...]
#   PART   latency_icount latency_smp schtest throughput services curve handoff (all of them),
#          or quick: a few minutes, no verdicts
#   ROUNDS=N SAMPLES=N   other than what the verdicts ask for
#
# Writes build/bench/report.md and its plots from build/bench/results.jsonl, which
# also keeps what earlier runs found about other parts. Status 1 when something
# could not be measured or host noise spoilt a part. Missed goals are in the report.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/vm/lib.sh
. tests/vm/lib.sh
# shellcheck source=tests/bench/names.sh
. tests/bench/names.sh
out=build/bench
status=0

# What the other parts need on top of the root: packages, and peers to be compared with.
prepare() {
	if ! sha256sum <tests/bench/packages.list | cmp -s - "$ROOT/var/lib/schedd-bench-packages"; then
		echo '  BENCH   packages'
		tests/vm/root.sh --run tests/bench/packages.sh >"$out/packages.log" 2>&1 ||
			die "the packages of tests/bench/packages.list could not be installed: $(grep -E '^E:' "$out/packages.log" | tail -n 1); see $out/packages.log"
	fi
	if [ "$(cat "$out/peers/kernel" 2>/dev/null)" != "$(newest_kernel "$ROOT/boot")" ]; then
		echo "  BENCH   the kernel's example schedulers"
		tests/vm/root.sh --run tests/bench/peers.sh
	fi
}

# meta BOOT OPTIONS: what the figures of this boot are of.
meta() {
	printf '{"part":"%s","meta":{"revision":"%s","kernel":"%s","guest":"%s","date":"%s","rounds":"%s"}}\n' "$1" \
		"$(git describe --always --dirty 2>/dev/null || echo unknown)" "$(newest_kernel "$ROOT/boot")" "$2" "$(date -u +%F)" "${ROUNDS:-}"
}

# A guest is waited for in the background, where it does not see an interrupt by itself.
child=
# shellcheck disable=SC2317 # called by a trap
interrupted() {
	trap '' INT TERM HUP
	if [ -n "$child" ]; then
		kill -TERM "$child" 2>/dev/null || :
		{ wait "$child" || :; } 2>/dev/null
	fi
	exit 130
}

# boot NAME OPTION...: a guest that measures one part.
boot() {
	local name=$1 r=0 variable pass=()

	shift
	for variable in ROUNDS SAMPLES NOISE_PERMILLE; do
		[ -z "${!variable:-}" ] || pass+=(--env "$variable=${!variable}")
	done
	echo "  BENCH   $name ($*)"
	meta "$name" "$*" >"$out/raw/$name.jsonl"
	tests/vm/run.sh "$@" --quiet-start --timeout 5400 --console "$out/raw/$name.console" "${pass[@]}" \
		--env "RAW=/src/$out/raw/$name.jsonl" -- tests/bench/guest_main.sh "$name" &
	child=$!
	wait $child || r=$?
	child=
	case $r in
	0) return ;;
	3) echo "  BENCH   $name is inconclusive: other load on this machine spoilt too much of it, try again when it is quiet" ;;
	*) echo "  BENCH   $name failed (status $r)" ;;
	esac
	printf '{"part":"%s","ended":%d}\n' "$name" "$r" >>"$out/raw/$name.jsonl"
	status=1
}

report() {
	tests/vm/enter.sh tests/bench/report.sh "$out"
	echo
	if [ "$*" = quick ]; then
		sed -n '/^## quick/,$p' "$out/report.md"
	else
		sed -n '/^## Verdicts/,/^## [a-z]/p' "$out/report.md" | sed '$d'
	fi
	echo "  BENCH   $out/report.md"
}

[ "$(id -u)" = 0 ] || die "booting guests needs root: run 'sudo make bench'"
[ $# -gt 0 ] || set -- "${PARTS[@]}"
for part; do
	boots "$part" >/dev/null || die "there is no part '$part': T= is one of ${PARTS[*]} quick"
done
mkdir -p "$out/raw"
trap give_back EXIT
trap interrupted INT TERM HUP
[ "$*" = quick ] || prepare
for part; do
	while read -ra words; do
		boot "${words[@]}"
	done < <(boots "$part")
done
report "$@"
exit $status
