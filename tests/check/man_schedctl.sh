#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# man_schedctl.sh - schedctl --help, man/schedctl.1 and the bash completion name the same commands and options.
#
# usage: man_schedctl.sh [SCHEDCTL]   (default: that of the build)
set -euo pipefail
cd "$(dirname "$0")/../.."
schedctl=${1:-${BUILD:-build}/schedctl}
page=man/schedctl.1
completion=deploy/completions/schedctl

fail() {
	printf 'man_schedctl.sh: %s\n' "$*" >&2
	failed=1
}

failed=0
[ -x "$schedctl" ] || { echo "man_schedctl.sh: skipped: $schedctl is not built"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# "class set" or "status": a second word counts when one blank separates it and it is no TARGET, NAME or [MODE].
"$schedctl" --help | sed -n '/^Commands:/,/^$/p' |
	awk '/^  / { print ($2 ~ /^[a-z-]+$/ && index($0, $1 " " $2 " ") == 3) ? $1 " " $2 : $1 }' >"$dir/commands"
[ "$(wc -l <"$dir/commands")" -ge 20 ] || fail "only $(wc -l <"$dir/commands") commands in --help: is this check still right?"

# Options of a --help text: "-q --quiet", sorted; $2 picks the section.
help_options() {
	sed -n "/^$2:\$/,/^\$/p" <<<"$1" | sed -n 's/^  \(-[a-zA-Z]\)\{0,1\},\{0,1\} *--\([a-z-]*\).*/\1 --\2/p' | sed 's/^ //' | sort
}

# Options of the page below `.It Ic COMMAND': ".It Fl y , Fl -yes" -> "-y --yes".
page_options() {
	awk -v command="$1" '
		/^\.It Ic / {
			line = $0
			sub(/^\.It Ic /, "", line)
			n = split(line, word, " ")
			name = word[1]
			if (n > 1 && word[2] ~ /^[a-z-]+$/)
				name = name " " word[2]
			inside = name == command
		}
		/^\.S[hs] / { inside = 0 }
		inside && /^\.It Fl / {
			out = ""
			for (i = 2; i <= NF; i++)
				if ($i == "Fl")
					out = out (out ? " " : "") "-" $(i + 1)
			print out
		}' "$page" | sort
}

page_globals() {
	sed -n '/^\.Sh GLOBAL OPTIONS/,/^\.Sh ENV/p' "$page" |
		awk '/^\.It Fl / { out = ""; for (i = 2; i <= NF; i++) if ($i == "Fl") out = out (out ? " " : "") "-" $(i + 1); print out }' |
		sort
}

# "-q --quiet" -> "--quiet"
without_letters() {
	awk '{ print $NF }' | sort
}

completion_options() {
	sed -n "/<<-'TABLE'/,/^\tTABLE/p" "$completion" | sed 's/^\t//' |
		awk -v command="$1" '{ name = $1; first = 2 }
			NF > 1 && $2 !~ /^-/ { name = $1 " " $2; first = 3 }
			name == command { for (i = first; i <= NF; i++) print $i }' | tr -d = | sort
}

compare() {
	[ "$2" = "$3" ] || fail "$1:
$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") || true)"
}

while read -r command; do
	# shellcheck disable=SC2086 # a command may be two words
	help=$("$schedctl" $command --help)
	options=$(help_options "$help" Options)
	grep -q "^\.It Ic $command\( \|\$\)" "$page" || fail "$page has no \".It Ic $command\""
	compare "options of \`$command' in --help (<) and $page (>)" "$options" "$(page_options "$command")"
	compare "options of \`$command' in --help (<) and $completion (>)" \
		"$(without_letters <<<"$options")" "$(completion_options "$command")"
done <"$dir/commands"

compare "commands of --help (<) and of $page (>)" "$(sort "$dir/commands")" \
	"$(awk '/^\.It Ic / { print ($4 ~ /^[a-z-]+$/) ? $3 " " $4 : $3 }' "$page" | sort)"
compare "commands of --help (<) and of $completion (>)" "$(sort "$dir/commands")" \
	"$(sed -n "/<<-'TABLE'/,/^\tTABLE/p" "$completion" | sed '1d;$d;s/^\t//;s/ -.*//' | sort)"
globals=$(help_options "$("$schedctl" --help)" 'Global options')
compare "global options of --help (<) and of $page (>)" "$globals" "$(page_globals)"
compare "global options of --help (<) and of $completion (>)" "$(without_letters <<<"$globals")" \
	"$(sed -n "s/^_schedctl_global_options='\(.*\)'/\1/p" "$completion" | tr ' ' '\n' | tr -d = | sort)"

for word in SCHEDD_SOCKET NO_COLOR 'has nothing to do with this one'; do
	grep -q "$word" "$page" || fail "$page does not mention $word"
done
for code in 0 1 2 3 4 5 6 7; do
	sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES/p' "$page" | grep -qx ".It $code" || fail "$page lacks exit status $code"
done
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning "$page" >"$dir/lint" 2>&1 || fail "$(cat "$dir/lint")"
fi
bash -n "$completion" || fail "$completion is no bash"
exit $failed
