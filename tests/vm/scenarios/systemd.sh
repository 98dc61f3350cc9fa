#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --init systemd
# timeout: 400
# systemd.sh - the installed units under a real systemd: start, kill -9, restart, reload, watchdog, hold
. "$(dirname "$0")/../scenario_lib.sh"

export SCHEDD_SOCKET=/run/schedd/schedd.sock
unit_cleanup() {
	systemctl stop schedd.service schedd.socket protected.service 2>/dev/null || true
}
trap 'unit_cleanup; scenario_cleanup' EXIT

property() { systemctl show -P "$1" schedd.service; }
active() { systemctl is-active -q schedd.service; }
new_pid() { [ "$(property MainPID)" != "$1" ] && [ "$(property MainPID)" != 0 ] && active; }
watchdog_passed() { [ $((SECONDS - since)) -ge 46 ]; }

# The tree is read-only for others: install below /run, which systemd reads too.
dest=$work/dest
make -s -C "$scenario_root" install DESTDIR="$dest" NATIVE=1 >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
mkdir -p /run/systemd/system /run/schedd-test
cp "$dest"/usr/lib/systemd/system/schedd.* /run/systemd/system/
cp "$dest/usr/sbin/schedd" /run/schedd-test/schedd
mount -o remount,exec /run
sed -i "s|^ExecStart=.*|ExecStart=/run/schedd-test/schedd|" /run/systemd/system/schedd.service
groupadd -r schedd 2>/dev/null || true
systemctl daemon-reload

check "the socket starts" systemctl start schedd.socket
check "the service starts and says READY=1" systemctl start schedd.service
check "STATUS= says why it is detached" grep -q detached <(property StatusText)
check "the unit is active" active
systemd-run -q --unit protected.service sleep 3600
check "a unit's cgroup takes a class" "$schedctl" class set /system.slice/protected.service lc
check "attached" wait_for 180 attached is_attached
check "STATUS= follows" wait_for 10 status grep -q attached <(property StatusText)

pid=$(property MainPID)
kill -9 "$pid"
check "kill -9: the kernel's scheduler is back" wait_for 10 detached is_detached
check "systemd starts a new one" wait_for 60 restarted new_pid "$pid"
check "the assignment is back" class_is /system.slice/protected.service latency-critical
check "and the scheduler" wait_for 180 attached is_attached

mkdir -p /etc/schedd
check "reload is accepted" systemctl reload schedd.service
check "still active after it" active

pid=$(property MainPID)
echo S >/proc/sysrq-trigger
check "SysRq-S: held" wait_for 10 held state_is held
since=$SECONDS
# Three watchdog periods of 15 s; the point is that nothing happens in them.
check "three watchdog periods pass" wait_for 90 "three watchdog periods" watchdog_passed
check "same pid" test "$(property MainPID)" = "$pid"
check "still held" state_is held
kill -9 "$pid"
check "systemd starts a new one again" wait_for 60 restarted new_pid "$pid"
check "still held after kill -9" state_is held
check "and detached" is_detached
check "restarts were clean" test "$(property Result)" = success
check "stop stops it" systemctl stop schedd.service
check "without a failure" bash -c '! systemctl is-failed -q schedd.service'
scenario_end
