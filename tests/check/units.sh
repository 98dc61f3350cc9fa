#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# units.sh - the systemd units are valid, hardened, and keep the rules that a restart depends on.
set -euo pipefail
cd "$(dirname "$0")/../.."
service=deploy/schedd.service socket=deploy/schedd.socket

fail() {
	printf 'units.sh: %s\n' "$*" >&2
	exit 1
}

# must FILE LINE / must_not FILE KEY
must() {
	grep -qxF "$2" "$1" || fail "$1 lacks: $2"
}

must_not() {
	! grep -q "^$2" "$1" || fail "$1 must not set $2"
}

for tool in systemd-analyze systemd-sysusers; do
	command -v "$tool" >/dev/null || { echo "units.sh: skipped: no $tool here"; exit 77; }
done

must $service Type=notify
must $service WatchdogSec=15s
must $service "RestartPreventExitStatus=2 78"
must $service RuntimeDirectoryPreserve=yes
must $service StateDirectoryMode=0700
must_not $service Conflicts=
must_not $service CPUScheduling
must_not $service Sockets=
must $socket ListenStream=/run/schedd/schedd.sock
must $socket SocketMode=0660
must $socket SocketGroup=schedd
must $socket PartOf=schedd.service

# Programs are looked for on this machine, where schedd may not be installed;
# the group neither.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sed 's,^ExecStart=/usr/sbin/schedd,ExecStart=/bin/true,' $service >"$dir/schedd.service"
sed 's,^SocketGroup=schedd,SocketGroup=root,' $socket >"$dir/schedd.socket"
systemd-analyze verify --man=no "$dir/schedd.service" "$dir/schedd.socket" >"$dir/out" 2>&1 ||
	fail "systemd-analyze verify: $(head -n 3 "$dir/out")"
[ ! -s "$dir/out" ] || fail "systemd-analyze verify: $(head -n 3 "$dir/out")"

# 10 is no sandbox at all. What is left open is what a scheduler needs.
systemd-analyze security --offline=yes --threshold=40 "$dir/schedd.service" >"$dir/out" 2>&1 ||
	fail "less hardened than before: $(tail -n 1 "$dir/out")"

systemd-sysusers --dry-run --inline "$(grep -v '^#' deploy/schedd.sysusers)" >"$dir/out" 2>&1 ||
	fail "systemd-sysusers: $(head -n 3 "$dir/out")"
echo "units are valid"
