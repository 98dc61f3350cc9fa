#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# packages.sh - in the root: install what the benchmarks need on top of it
#
# usage: tests/vm/root.sh --run tests/bench/packages.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

apt-get -q update
packages=()
while read -r name; do
	if apt-cache policy "$name" | grep -qE '^ *Candidate: [^(]'; then
		packages+=("$name")
	else
		echo "W: $name is not to be had: what needs it will be missing in the report" >&2
	fi
done < <(sed 's/#.*//; /^ *$/d' tests/bench/packages.list)
apt-get -qy --no-install-recommends install "${packages[@]}"
apt-get clean
sha256sum <tests/bench/packages.list >/var/lib/schedd-bench-packages
