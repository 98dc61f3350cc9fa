#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - runs in the guest: as PID 1 (no argument), or as systemd's unit.
# Prepares what a test may expect, runs the command, tells its status.
set -u
command=()
# shellcheck source=/dev/null
. /lab/job

mount_all() {
	local o=nosuid,nodev,noexec

	mount -t proc -o $o proc /proc
	mount -t sysfs -o $o sysfs /sys
	mount -t devtmpfs devtmpfs /dev
	mkdir -p /dev/pts /dev/shm
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t tmpfs -o mode=755 tmpfs /run
	mount -t tmpfs -o mode=1777 tmpfs /tmp
	mount -t cgroup2 -o $o,nsdelegate cgroup2 /sys/fs/cgroup
	mount -t bpf -o mode=700 bpf /sys/fs/bpf
	mount -t tracefs tracefs /sys/kernel/tracing
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t virtiofs src /src
	ln -sfn /proc/self/fd /dev/fd
	ln -sfn fd/0 /dev/stdin
	ln -sfn fd/1 /dev/stdout
	ln -sfn fd/2 /dev/stderr
	mkdir -p /run/lock
	ip link set lo up
	hostname schedd-lab
}

busy_ticks() {
	local user nice system irq softirq steal

	read -r _ user nice system _ _ irq softirq steal _ </proc/stat
	busy=$((user + nice + system + irq + softirq + steal))
}

# Boot workers keep a slow CPU busy for seconds after init has started. Only
# what the shell has built in: a fork costs more than what is looked for.
wait_until_quiet() {
	local i before busy

	mkfifo /run/.lab-pause
	exec 5<>/run/.lab-pause
	for ((i = 0; i < 60; i++)); do
		busy_ticks
		before=$busy
		read -rt 1 -u 5 || :
		busy_ticks
		[ $((busy - before)) -gt 5 ] || break
	done
	exec 5>&-
	rm /run/.lab-pause
	[ $i -lt 60 ] || echo "guest.sh: the guest is not quiet after 60 s, going on" >&4
}

open_output() {
	local p

	for p in /sys/class/virtio-ports/*; do
		[ "$(cat "$p/name")" = schedd.out ] && exec 4>"/dev/${p##*/}" && return
	done
	exec 4>/dev/console
}

# Ends what the command left behind, so that the output can be complete.
end_others() {
	local signal p some

	for signal in TERM KILL; do
		some=''
		for p in /proc/[0-9]*; do
			# Kernel threads have no executable. No fork here: it is slow.
			[ -e "$p/exe" ] || continue
			p=${p#/proc/}
			case $p in 1 | "$$" | "$cat_pid") continue ;; esac
			kill -$signal "$p" 2>/dev/null && some=1
		done
		[ -n "$some" ] || return 0
		[ $signal = KILL ] || sleep 0.3
	done
}

run_command() {
	local status=0

	cd /src || return 125
	mkfifo /tmp/.lab-out
	# A pipe, as under any test runner: the port can be opened only once, and
	# programs do open /dev/stdout and /dev/stderr.
	cat /tmp/.lab-out >&4 &
	cat_pid=$!
	exec 4>&-
	"${command[@]}" </dev/null >/tmp/.lab-out 2>&1
	status=$?
	[ "$mode" = unit ] || end_others
	wait $cat_pid
	return $status
}

mode=${1:-init}
if [ "$mode" = init ]; then
	mount_all
fi
open_output
# Not through fstab: without udev systemd would wait for the device forever.
[ -z "$disk" ] || { modprobe virtio_blk && mount /dev/vda /mnt/disk; }
[ -z "$quiet_start" ] || wait_until_quiet
: >/lab/begun
run_command
echo $? >/lab/status
sync
[ -z "$disk" ] || umount /mnt/disk 2>/dev/null
busybox poweroff -f
# Not reached, but a PID 1 that returns is a panic.
sleep 60
