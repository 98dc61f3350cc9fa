#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# peers.sh - in the root: build the example schedulers of the newest kernel there, as peers to be measured beside
#
# usage: tests/vm/root.sh --run tests/bench/peers.sh
#
# They come from the distribution's source package of that kernel and stay below
# build/bench/peers: NAME, or NAME.error with why there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/bench/names.sh
. tests/bench/names.sh
out=build/bench/peers
tree=build/bench/kernel
log=build/bench/peers.log

# error_of LOG: the line that says why, or the last one.
error_of() {
	grep -avE '^make.*(directory|Error [0-9]|Deleting)' "$1" >"$1.short" || :
	grep -aiE '^E:|error|no such file|can.?not|can.t' "$1.short" | tail -n 1 | grep . || tail -n 1 "$1.short"
	rm -f "$1.short"
}

# give_up LOG: no peer can be built.
give_up() {
	local name

	for name in "${PEERS[@]}"; do
		error_of "$1" >"$out/$name.error"
	done
	echo "peers.sh: no example scheduler could be built: $(error_of "$1"); see $1" >&2
	exit 0
}

# Only what their Makefile asks for: the rest of the source is a hundred times as much.
unpack() {
	local series=$1 parts=(tools/{sched_ext,lib,include,build,scripts,arch} include/uapi scripts/bpf_doc.py)

	rm -rf "$tree" "$tree".tmp
	mkdir -p "$tree" "$tree".tmp
	apt-get -q update
	(cd "$tree.tmp" && apt-get -q -o APT::Sandbox::User=root download "linux-source-$series")
	dpkg-deb --fsys-tarfile "$tree.tmp"/*.deb | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
		tar -xJ -C "$tree" --strip-components=1 --wildcards "${parts[@]/#/*\/}"
	rm -rf "$tree.tmp"
}

newest_clang() {
	basename -a /usr/bin/clang-[0-9]* | sort -V | tail -n 1
}

# Through their own Makefile, with this root's bpftool, compiler and types of that kernel.
build_peer() {
	local name=$1 types

	types=/usr/include/$(gcc -print-multiarch)/linux/bpf/vmlinux.h
	[ -e "$types" ] || { echo "$types is missing: package linux-bpf-dev"; return 1; }
	make -C "$tree/tools/sched_ext" CLANG="$(newest_clang)" BPFTOOL="$(command -v bpftool)" \
		VMLINUX_BTF="$types" VMLINUX_H="$types" "scx_$name" &&
		cp "$tree/tools/sched_ext/build/bin/scx_$name" "$out/$name"
}

main() {
	local newest series name status

	rm -rf "$out"
	mkdir -p "$out"
	newest=$(newest_kernel /boot)
	series=$(sed -E 's/^([0-9]+\.[0-9]+).*/\1/' <<<"$newest")
	unpack "$series" >"$log" 2>&1 &
	wait $! || give_up "$log"
	for name in "${PEERS[@]}"; do
		build_peer "$name" >"$out/$name.log" 2>&1 && status=0 || status=$?
		[ $status = 0 ] || { error_of "$out/$name.log" >"$out/$name.error"; rm -f "$out/$name"; }
	done
	echo "$newest" >"$out/kernel"
}

main
