#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# man_schedd.sh - schedd(8) and `schedd --help` agree on the options, and the pages have no mistakes in their markup.
set -euo pipefail
cd "$(dirname "$0")/../.."
page=man/schedd.8
program=${BUILD:-build}/schedd

fail() {
	printf 'man_schedd.sh: %s\n' "$*" >&2
	exit 1
}

[ -x "$program" ] || { echo "man_schedd.sh: skipped: $program is not built"; exit 77; }

# "-h", "--help", "--config DIR", ... one a line.
helped() {
	"$program" --help | sed -nE 's/^ +((-[a-z], )?--[a-z-]+( [A-Z]+)?).*/\1/p' | sed 's/, /\n/' | LC_ALL=C sort
}

documented() {
	sed -n '/^\.Sh OPTIONS/,/^\.Sh MODES/p' "$page" |
		sed -nE 's/^\.It Fl (.*)/\1/p' | sed 's/ , Fl /\n/g; s/ Ar / /g' | sed 's/^/-/' | LC_ALL=C sort
}

synopsis() {
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$page" |
		sed -nE 's/^\.Op Fl (.*)/\1/p' | sed 's/ | Fl /\n/g; s/ Ar / /g' | sed 's/^/-/' | LC_ALL=C sort
}

difference=$(diff <(documented) <(helped)) || fail "options of $page (<) and --help (>) differ:
$difference"
difference=$(diff <(synopsis) <(helped)) || fail "synopsis of $page (<) and --help (>) differ:
$difference"

for f in man/schedd.8 man/schedd-metrics.7; do
	command -v mandoc >/dev/null || { echo "no mandoc here: markup not checked"; break; }
	# Pages of other packages need not be installed here.
	lint=$(mandoc -T lint "$f" 2>&1 | grep -v -e 'referenced manual not found' -e 'outdated mandoc.db') || continue
	fail "$lint"
done
echo "$(helped | wc -l) options, all documented"
