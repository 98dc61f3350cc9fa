#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh - boot a sched_ext kernel under software emulation and run a command
# in it as root, in /src. Needs root. Exit status: that of the command; 125
# when the guest died, hung or told none; 124 when the time was up.
#
# usage: run.sh [OPTION...] [--] COMMAND [ARGUMENT...]
#   --cpus N          CPUs, multi-threaded emulation (2)
#   --smp SPEC        the same as QEMU takes it: 8,sockets=2,cores=2,threads=2
#   --icount          one CPU whose time is counted in instructions
#   --kernel PATTERN  newest installed kernel whose version matches (newest)
#   --list-kernels    print the installed kernels that can be booted, oldest first
#   --memory M        (2G)
#   --disk M          an ext4 disk of this size at /mnt/disk
#   --init systemd    systemd is PID 1 and COMMAND a unit
#   --quiet-start     begin when the boot work is over: for measurements
#   --timeout S       kill the guest that many seconds after the command began (900);
#                     one that does not come so far in 180 s is booted again, twice
#   --env NAME=VALUE  into the command's environment; may be repeated
#   --append ARGS     more kernel arguments
#   --console FILE    keep the kernel's console there
#   --no-wait         start even when other guests keep this machine busy
#
# What the guest writes outside /src goes to memory and is gone afterwards, so
# any number of guests can run at a time. Still, as emulation is slow and slower
# when shared, one that finds as many others as this machine has CPUs waits for
# its turn, and --quiet-start wants the machine for itself.
# Output and errors come as one stream.
set -euo pipefail
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

cpus=2 smp='' icount='' kernel='*' memory=2G disk='' init=plain quiet_start=''
timeout=900 append='' console='' guest_env=() no_wait=''

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--icount) icount=1 ;;
		--quiet-start) quiet_start=1 ;;
		--no-wait) no_wait=1 ;;
		--list-kernels) kernels && exit ;;
		--cpus | --smp | --kernel | --memory | --disk | --init | --timeout | --env | --append | --console)
			[ $# -ge 2 ] || die "$1 needs a value: see the head of this file"
			case $1 in
			--env) guest_env+=("$2") ;;
			*) printf -v "${1#--}" %s "$2" ;;
			esac
			shift
			;;
		--)
			shift
			break
			;;
		-*) die "unknown option $1: see the head of this file" ;;
		*) break ;;
		esac
		shift
	done
	[ $# -gt 0 ] || die "no command given: see the head of this file"
	command=("$@")
	case $init in plain | systemd) ;; *) die "--init $init: only systemd is known" ;; esac
	case $timeout in '' | *[!0-9]*) die "--timeout $timeout: want seconds" ;; esac
}

# Versions of the kernels with sched_ext, oldest first.
kernels() {
	local c

	for c in "$ROOT"/boot/config-*; do
		grep -q '^CONFIG_SCHED_CLASS_EXT=y' "$c" 2>/dev/null && printf '%s\n' "${c##*/config-}"
	done | sort -V
}

choose_kernel() {
	local v chosen=''

	while read -r v; do
		# shellcheck disable=SC2053 # a pattern is meant
		[[ $v == $kernel ]] && chosen=$v
	done < <(kernels)
	[ -n "$chosen" ] || die "no kernel matching '$kernel' in build/root; installed: $(kernels | tr '\n' ' ')(KERNELS=all make deps brings one of each series)"
	kernel=$chosen
}

# What the guest is to do goes into its root as files: no quoting twice.
write_guest_files() {
	local lab=$ROOT/lab/root/lab v u

	{
		printf 'export %q\n' HOME=/root LC_ALL=C.UTF-8 TERM=dumb SYSTEMD_PAGER=cat SCHEDD_VM=1 \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${guest_env[@]}"
		printf 'quiet_start=%q\n' "$quiet_start"
		printf 'disk=%q\n' "$disk"
		printf 'command=('
		printf '%q ' "${command[@]}"
		printf ')\n'
	} >"$lab/job"
	cp "$PROJECT/tests/vm/guest.sh" "$lab/guest.sh"
	[ "$init" = systemd ] || return 0
	v=$ROOT/lab/root/etc/systemd/system
	# Only what a test starts itself runs, and nothing on a timer.
	rm -rf "$v"/{multi-user,timers,getty}.target.wants
	for u in modprobe@ systemd-random-seed systemd-journal-flush systemd-binfmt systemd-modules-load \
		systemd-tmpfiles-setup-dev-early kmod-static-nodes; do
		ln -s /dev/null "$v/$u.service"
	done
	mkdir -p "$v/multi-user.target.wants"
	cat >"$v/lab.service" <<-EOF
		[Unit]
		Description=The command that this guest was booted for
		RequiresMountsFor=/src
		[Service]
		Type=exec
		ExecStart=/bin/bash /lab/guest.sh unit
		StandardOutput=journal+console
		StandardError=journal+console
	EOF
	ln -s ../lab.service "$v/multi-user.target.wants/lab.service"
	echo 'src /src virtiofs rw 0 0' >"$ROOT/lab/root/etc/fstab"
	# Or the caches that a new system gets at its first boot would be built at each.
	touch "$ROOT/lab/root/etc/.updated" "$ROOT/lab/root/var/.updated"
}

# Runs in private mount and PID namespaces: all that is started or mounted here
# ends with this process.
boot() {
	local lab=$ROOT/lab d

	mount -t proc proc "$ROOT/proc"
	for d in sys dev; do
		mount --rbind "/$d" "$ROOT/$d"
	done
	mount --bind "$PROJECT" "$ROOT/src"
	mount -t tmpfs tmpfs "$ROOT/tmp"
	mount -t tmpfs tmpfs "$lab"
	mkdir "$lab/upper" "$lab/work" "$lab/root"
	# The share must have no host mounts inside: with them a guest cannot mount
	# a tmpfs over a directory (ENOSYS). An overlay leaves them out.
	mount -t overlay -o "lowerdir=$ROOT,upperdir=$lab/upper,workdir=$lab/work" overlay "$lab/root"
	write_guest_files
	exec chroot "$ROOT" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		KERNEL="$kernel" CPUS="$cpus" SMP="$smp" ICOUNT="$icount" MEMORY="$memory" DISK="$disk" \
		INIT="$init" LIMIT="$timeout" APPEND="$append" \
		/bin/bash /src/tests/vm/machine.sh
}

# The locks are held until this process and its guest have ended.
wait_for_turn() {
	local slots i fd said=''

	slots=$(nproc)
	while :; do
		for ((i = 0; i < slots; i++)); do
			exec {fd}>"$PROJECT/build/vm.lock.$i"
			if [ -n "$quiet_start" ]; then
				flock -n "$fd" || { say_waiting && flock "$fd"; }
			else
				flock -n "$fd" && return
				exec {fd}>&-
			fi
		done
		[ -z "$quiet_start" ] || return 0
		say_waiting
		sleep 1
	done
}

say_waiting() {
	[ -n "$said" ] || echo "run.sh: other guests keep this machine busy, waiting for my turn" >&2
	said=1
}

main() {
	local child status=0

	[ "$(id -u)" = 0 ] || die "booting a guest needs root (mounts and file sharing): run it with sudo"
	! inside_root || die "a guest cannot be booted from inside build/root: run this on the host"
	[ -z "$console" ] || : >"$console" || die "cannot write the console file $console"
	[ -n "$no_wait" ] || wait_for_turn
	# Not exec: unshare shields its child from signals, so they are handled here.
	unshare --mount --propagation private --pid --fork --kill-child \
		"$0" --inner "$@" </dev/null 3>>"${console:-/dev/null}" &
	child=$!
	trap 'kill -KILL $child 2>/dev/null || :; echo "${0##*/}: interrupted, the guest is ended" >&2; exit 130' INT TERM HUP
	wait $child || status=$?
	exit $status
}

inner=''
if [ "${1:-}" = --inner ]; then
	inner=1
	shift
fi
need_root_tree
parse "$@"
choose_kernel
if [ -n "$inner" ]; then
	boot
else
	main "$@"
fi
