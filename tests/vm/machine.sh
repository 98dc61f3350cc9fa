#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# machine.sh - the half of run.sh that runs in the root: file sharing, QEMU,
# and what became of the guest. Descriptor 3 takes a copy of the console.
set -euo pipefail

BOOT_S=180 # a boot takes 8 to 20 s, and up to 60 more until it is quiet

share() {
	rm -f "/lab/$1.sock"
	/usr/libexec/virtiofsd --shared-dir "$2" --socket-path "/lab/$1.sock" --sandbox none --seccomp none \
		--xattr --no-announce-submounts --cache "$3" >>"/lab/$1.log" 2>&1 &
	until [ -S "/lab/$1.sock" ]; do
		kill -0 $! 2>/dev/null || { cat "/lab/$1.log" >&2; fail "file sharing of $2 did not start"; }
		sleep 0.05
	done
}

fail() {
	printf 'run.sh: %s\n' "$*" >&2
	if [ -s /lab/console ]; then
		echo "run.sh: last lines of the guest's console:" >&2
		tail -n 30 /lab/console | tr -d '\r' | sed 's/^/    /' >&2
	fi
	cat /lab/console >&3 2>/dev/null || :
	exit "${code:-125}"
}

arguments() {
	local args=(console=ttyS0 loglevel=5 printk.time=1 rootfstype=virtiofs root=root rw panic=-1
		oops=panic cryptomgr.notests net.ifnames=0 raid=noautodetect)

	case $INIT in
	systemd) args+=(systemd.show_status=0 systemd.log_target=null systemd.firstboot=off) ;;
	*) args+=("init=/lab/guest.sh") ;;
	esac
	# shellcheck disable=SC2206 # several arguments in one string are meant
	args+=($APPEND)
	echo "${args[*]}"
}

# Without erms and fsrm: emulated, a string instruction is done byte by byte, which
# makes clearing and copying memory, fast on every real CPU, the dearest thing there is.
# shellcheck disable=SC2054 # QEMU's options have commas
start_qemu() {
	local opts=(-nodefaults -no-user-config -display none -no-reboot -M q35 -cpu "max,la57=off,erms=off,fsrm=off"
		-kernel "/boot/vmlinuz-$KERNEL" -append "$(arguments)" -m "$MEMORY"
		-object "memory-backend-memfd,id=mem,size=$MEMORY,share=on" -machine memory-backend=mem
		-chardev socket,id=root,path=/lab/root.sock -device vhost-user-fs-pci,chardev=root,tag=root
		-chardev socket,id=src,path=/lab/src.sock -device vhost-user-fs-pci,chardev=src,tag=src
		-chardev file,id=console,path=/lab/console -serial chardev:console
		-chardev file,id=out,path=/lab/out -device virtio-serial-pci
		-device virtserialport,chardev=out,name=schedd.out)

	if [ -n "$ICOUNT" ]; then
		opts+=(-smp 1 -accel tcg,thread=single -icount shift=1,sleep=off -rtc base=2026-01-01,clock=vm)
	else
		opts+=(-smp "${SMP:-$CPUS}" -accel tcg,thread=multi)
	fi
	if [ -n "$DISK" ]; then
		truncate -s "$DISK" /lab/disk
		mkfs.ext4 -q /lab/disk
		opts+=(-drive file=/lab/disk,if=none,id=disk,format=raw,cache=writethrough -device virtio-blk-pci,drive=disk)
	fi
	rm -f /lab/out
	mkfifo /lab/out
	# A pipe: stdio would count as closed without an input, and QEMU would make
	# our terminal non-blocking.
	cat /lab/out &
	cat_pid=$!
	qemu-system-x86_64 "${opts[@]}" </dev/null &
	qemu_pid=$!
	# The main loop fires the guest's timers: late, it makes every sleep long.
	# Threads made later do not inherit it. Where it is forbidden, go without.
	[ -n "$ICOUNT" ] || chrt --reset-on-fork -f -p 1 $qemu_pid >/dev/null 2>&1 || :
}

watch_qemu() {
	(
		sleep "$LIMIT"
		: >/lab/late
		kill -KILL $qemu_pid
	) &
	timer_pid=$!
	qemu_status=0
	# The braces keep the shell's own word about a killed child away.
	{ wait $qemu_pid || qemu_status=$?; } 2>/dev/null
	wait $cat_pid || :
	[ ! -e /lab/late ] || code=124 fail "the guest was ended after $LIMIT s (--timeout)"
	kill $timer_pid 2>/dev/null || :
	[ $qemu_status = 0 ] || fail "QEMU ended with status $qemu_status"
}

# 0 when the guest has come as far as the command. Emulated kernels hang in
# their boot now and then, and QEMU has died there: that is not the command's fault.
boot() {
	local i

	share root /lab/root always
	# Always: else each start of a program would read it and translate its code anew.
	share src /src always
	start_qemu
	for ((i = 0; i < 5 * BOOT_S; i++)); do
		[ ! -e /lab/upper/lab/begun ] || return 0
		kill -0 $qemu_pid 2>/dev/null || break
		sleep 0.2
	done
	[ ! -e /lab/upper/lab/begun ] || return 0
	# A QEMU that never opened its end leaves the other waiting for it.
	kill -KILL $qemu_pid $cat_pid 2>/dev/null || :
	{ wait $qemu_pid $cat_pid || :; } 2>/dev/null
	return 1
}

boot_tries() {
	local try

	for try in 1 2 3; do
		! boot || return 0
		echo "run.sh: the guest did not come up (try $try of 3)" >&2
		mv /lab/console "/lab/console.$try" 2>/dev/null || :
	done
	cp /lab/console.3 /lab/console 2>/dev/null || :
	fail "no guest came up in $BOOT_S s (kernel $KERNEL)"
}

boot_tries
watch_qemu
[ -s /lab/upper/lab/status ] || fail "the guest ended without telling the command's status (kernel $KERNEL)"
cat /lab/console >&3 2>/dev/null || :
exit "$(cat /lab/upper/lab/status)"
