#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2
# timeout: 300
# bad_start.sh - what a daemon says and does when it cannot start, or must not
. "$(dirname "$0")/../scenario_lib.sh"

# refused NAME EXIT PATTERN CMD...: the command must end by itself, so.
refused() {
	local name=$1 want=$2 pattern=$3 out status=0
	shift 3
	out=$(timeout 60 "$@" 2>&1) || status=$?
	if [ "$status" -eq "$want" ] && grep -Eq -- "$pattern" <<<"$out"; then
		ok "$name"
	else
		not_ok "$name" "exit status $status instead of $want, or no /$pattern/ in: $out"
	fi
}

default_config
mapfile -t args < <(daemon_args)
start_daemon
refused "a second schedd" 2 "another schedd" "$schedd" "${args[@]}"
check "the first one lives" "$schedctl" health
stop_daemon

mkdir -p "$work/etc2"
printf 'metrics: {lisen: "127.0.0.1:1"}\n' >"$work/etc2/schedd.yaml"
refused "a configuration with a typo" 1 "schedd.yaml:1:11.*lisen" "$schedd" "${args[@]}" --config "$work/etc2"
refused "an unknown option" 1 "frobnicate" "$schedd" --frobnicate
refused "a surplus argument" 1 "unexpected argument" "$schedd" start

python3 - "$metrics_port" <<'PY' &
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
s.accept()
PY
holder=$!
port_bound() { grep -q "$(printf ':%04X 00000000:0000 0A' "$metrics_port")" /proc/net/tcp; }
wait_for 10 "the port is taken" port_bound
refused "a metrics port in use" 1 "another process has this port" "$schedd" "${args[@]}"
kill "$holder"
wait "$holder" 2>/dev/null || true

mount -t tmpfs none /sys/kernel/btf
refused "no BTF" 78 "BTF" "$schedd" "${args[@]}"
umount /sys/kernel/btf
# shellcheck disable=SC2016 # the inner shell expands them
refused "cgroup v1 only" 1 "cgroup v1 only" unshare -m bash -c '
	umount "$1"
	mkdir -p /tmp/v1
	mount -t cgroup -o none,name=v1 none /tmp/v1
	shift
	exec "$@"' _ "$cgroup_mount" "$schedd" "${args[@]}"

load_other
refused "another scheduler is loaded" 2 "minimal" "$schedd" "${args[@]}"
check "it was not disturbed" test "$(kernel_ops)" = minimal
unload_other

cgroup_make web
start_daemon
load_other
refused "later: the call names it" 7 "minimal" "$schedctl" class set /t/web lc
refused "and mode active too" 7 "minimal" "$schedctl" mode active
refused "and mode paused" 7 "minimal" "$schedctl" mode paused
check "it was not disturbed either" test "$(kernel_ops)" = minimal
unload_other
check "afterwards the call works" "$schedctl" class set /t/web lc
check "attached" wait_for 120 attached is_attached

refused "an unreadable socket" 4 "ermission denied" setpriv --reuid 65534 --regid 65534 --clear-groups "$schedctl" --socket "$socket" status
scenario_end
