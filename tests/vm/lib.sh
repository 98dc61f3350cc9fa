# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# lib.sh - what the laboratory's scripts share: where things are, one-line failures.

# shellcheck disable=SC2034 # used by the scripts that read this file
PROJECT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
ROOT=$PROJECT/build/root
# Written last when a root is complete; its content says which list it was built from.
STAMP=.schedd-root

# die MESSAGE: one line that says what, where, why and what to do.
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# We are inside the root already (or in a guest that runs on it).
inside_root() {
	[ -e "/$STAMP" ]
}

need_root_tree() {
	[ -e "$ROOT/$STAMP" ] ||
		die "build/root is missing or half built: run 'sudo make deps' once, it builds the Debian 13 root that everything runs in"
}

# Gives what root made under build/ back to the user who ran sudo.
give_back() {
	if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ] && [ -d "$PROJECT/build" ]; then
		find "$PROJECT/build" -xdev \( -path "$ROOT" -o -path "$ROOT.partial" \) -prune -o \
			-uid 0 -exec chown -h "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" {} +
	fi
}
