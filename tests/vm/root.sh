#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# root.sh - build or update the Debian 13 root under build/root. Needs root.
#
# usage: root.sh [--refresh]
#        root.sh --run COMMAND [ARGUMENT...]
#   --refresh   look for newer kernels even when the package list is unchanged
#   --run       run a command in the finished root, the project at /src and the
#               Debian archive within reach: for what only one target needs
#
# MIRROR=URI    take Debian from there (default: the host's own archive, then
#               debootstrap's default)
# KERNELS=all   the newest kernel of each sched_ext series that backports offers
#               (default: the newest and the oldest series)
#
# Every mount lives in a private mount namespace and every process in a private
# PID namespace, so an interrupted run leaves neither behind. A root is built
# in build/root.partial and renamed when it is complete.
set -euo pipefail
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

SUITE=trixie
# The first series whose kernels have sched_ext as this project needs it.
OLDEST_SERIES=6.16
# Change it when this script changes what a finished root looks like.
FORMAT=1
LOG=$PROJECT/build/deps.log
KERNELS=${KERNELS:-ends}

packages() {
	sed 's/#.*//' "$PROJECT/tests/vm/packages.list" | tr -s ' \t' '\n' | sed '/^$/d'
}

wanted_stamp() {
	{ echo "$FORMAT $SUITE $OLDEST_SERIES $KERNELS"; packages; } | sha256sum | cut -c1-16
}

# The archive which the host itself uses: apt knows it whatever the format of
# its sources. The label tells the main archive from security and the like.
host_mirror() {
	command -v apt-get >/dev/null || return 0
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(REPO_URI)|$(ORIGIN)|$(LABEL)' 'Created-By: Packages' 2>/dev/null |
		awk -F'|' '$2 == "Debian" && $3 == "Debian" { print $1; exit }'
}

host_tools() {
	local need=()

	[ "$(uname -m)" = x86_64 ] || die "the laboratory boots x86-64 kernels and this is $(uname -m): build natively on Debian 13 instead"
	command -v unshare >/dev/null || need+=(util-linux)
	command -v debootstrap >/dev/null || need+=(debootstrap)
	[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || need+=(debian-archive-keyring)
	[ ${#need[@]} = 0 ] && return
	command -v apt-get >/dev/null ||
		die "missing on this host: ${need[*]}; install them with the host's package manager"
	{ apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install "${need[@]}"; } >>"$LOG" 2>&1 ||
		die "cannot install ${need[*]} on this host: $(last_error); see build/deps.log, or install them by hand"
}

last_error() {
	grep -aE '^(E:|W:|dpkg:|.*[Ee]rror)' "$LOG" | tail -n 1 || tail -n 1 "$LOG"
}

# One step of the build, its output in the log and its failure in one line.
step() {
	local what=$1
	shift
	printf '  ROOT    %s\n' "$what"
	# In the background, so that errexit holds inside the function: in the
	# left side of || it would not.
	"$@" >>"$LOG" 2>&1 &
	wait $! || die "$what failed: $(last_error); see build/deps.log (MIRROR=URI chooses another Debian archive)"
}

in_tree() {
	DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$tree" "$@"
}

mount_tree() {
	mount -t proc proc "$tree/proc"
	mount --rbind /dev "$tree/dev"
	mount -t tmpfs tmpfs "$tree/run"
	# A name server file is often a link into /run, which differs in there.
	rm -f "$tree/etc/resolv.conf"
	cat /etc/resolv.conf >"$tree/etc/resolv.conf" 2>/dev/null || :
}

bootstrap() {
	if [ -n "$mirror" ]; then
		debootstrap --variant=minbase "$SUITE" "$tree" "$mirror"
	else
		debootstrap --variant=minbase "$SUITE" "$tree"
	fi
}

# Nothing starts services in there, apt asks nothing and syncs nothing.
configure() {
	local uri

	uri=${mirror:-$(awk '$1 == "deb" { print $2; exit }' "$tree/etc/apt/sources.list")}
	printf 'deb %s %s main\n' "$uri" "$SUITE" "$uri" "$SUITE-updates" "$uri" "$SUITE-backports" \
		>"$tree/etc/apt/sources.list"
	printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
	chmod 755 "$tree/usr/sbin/policy-rc.d"
	printf '%s\n' 'APT::Install-Recommends "false";' 'Acquire::Languages "none";' \
		'Acquire::Retries "3";' 'DPkg::Lock::Timeout "60";' >"$tree/etc/apt/apt.conf.d/90schedd"
	printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/doc/*' \
		'path-exclude=/usr/share/locale/*' >"$tree/etc/dpkg/dpkg.cfg.d/90schedd"
	# One machine id for all guests would be a lie, an empty one is made anew at boot.
	: >"$tree/etc/machine-id"
	echo schedd-lab >"$tree/etc/hostname"
	printf '127.0.0.1 localhost schedd-lab\n::1 localhost\n' >"$tree/etc/hosts"
	mkdir -p "$tree/src" "$tree/lab" "$tree/mnt/disk"
}

install_packages() {
	local p list=()

	while read -r p; do
		list+=("${p/\/backports/\/$SUITE-backports}")
	done < <(packages)
	in_tree dpkg --configure -a
	in_tree apt-get -qy --no-install-recommends install "${list[@]}"
	in_tree apt-get clean
}

# One "SERIES VERSION" line per series, oldest first: the newest of each.
kernel_versions() {
	in_tree apt-cache pkgnames linux-image- |
		sed -nE 's/^linux-image-([0-9]+\.[0-9]+.*-cloud-amd64)$/\1/p' | sort -V |
		awk -v oldest="$OLDEST_SERIES" '
			function number(series, part) { split(series, part, "."); return part[1] * 1000 + part[2] }
			{
				split($0, v, /[.+-]/)
				series = v[1] "." v[2]
				if (number(series) < number(oldest)) next
				if (!(series in newest)) order[++n] = series
				newest[series] = $0
			}
			END { for (i = 1; i <= n; i++) print order[i], newest[order[i]] }'
}

# Unpacks a kernel instead of installing it: no initramfs, no boot loader
# hooks, and several series side by side.
fetch_kernel() {
	local v=$1 name p list=()

	[ ! -e "$tree/boot/vmlinuz-$v" ] || return 0
	for name in image base binary modules; do
		p=linux-$name-$v
		in_tree apt-cache show "$p" >/dev/null 2>&1 && list+=("$p")
	done
	# shellcheck disable=SC2016 # expanded inside
	in_tree sh -ec 'd=$(mktemp -d); trap "rm -rf $d" EXIT; cd "$d"; chmod 755 .
		apt-get -q -o APT::Sandbox::User=root download "$@"; for f in *.deb; do dpkg -x "$f" /; done' sh "${list[@]}"
	# Newer packages keep both files beside the modules.
	for name in vmlinuz config; do
		[ ! -e "$tree/usr/lib/modules/$v/$name" ] || ln -f "$tree/usr/lib/modules/$v/$name" "$tree/boot/$name-$v"
	done
	[ -e "$tree/boot/vmlinuz-$v" ] || { echo "E: the packages ${list[*]} hold no kernel image"; return 1; }
	in_tree depmod "$v"
}

install_kernels() {
	local all=() v keep old

	mapfile -t all < <(kernel_versions | awk '{ print $2 }')
	if [ ${#all[@]} = 0 ]; then
		echo "E: $SUITE-backports offers no kernel of series $OLDEST_SERIES or later"
		return 1
	fi
	case $KERNELS in
	all) keep=("${all[@]}") ;;
	*) keep=("${all[0]}" "${all[-1]}") ;;
	esac
	for v in "${keep[@]}"; do
		fetch_kernel "$v"
	done
	for old in "$tree"/boot/vmlinuz-*; do
		v=${old##*/vmlinuz-}
		case " ${keep[*]} " in *" $v "*) continue ;; esac
		rm -rf "$tree"/boot/*-"$v" "$tree/usr/lib/modules/$v"
	done
}

# Runs in the private namespaces. $tree is the directory to build or update.
build() {
	tree=$1
	mirror=${MIRROR:-$(host_mirror)}
	set_proxy
	if [ ! -e "$tree/etc/debian_version" ]; then
		step "debootstrap $SUITE" bootstrap
		step "configuration" configure
	fi
	mount_tree
	step "package lists" in_tree apt-get -q update
	step "packages" install_packages
	step "kernels" install_kernels
}

# Runs in the private namespaces, on the finished root.
run_inside() {
	tree=$ROOT
	set_proxy
	mount_tree
	mount -t tmpfs tmpfs "$tree/tmp"
	mount --bind "$PROJECT" "$tree/src"
	in_tree dpkg --configure -a
	# shellcheck disable=SC2016 # expanded inside
	in_tree sh -c 'cd /src && exec "$@"' sh "$@"
}

# Kept waiting: apt in there may have one user only.
run_in_root() {
	local child status=0

	[ "$(id -u)" = 0 ] || die "changing the Debian 13 root needs root: run it with sudo"
	need_root_tree
	exec 9>"$PROJECT/build/root.lock"
	flock 9
	unshare --mount --propagation private --pid --fork --kill-child "$0" --inner-run "$@" 9>&- </dev/null &
	child=$!
	trap '{ kill -KILL $child; wait $child || :; } 2>/dev/null; exit 130' INT TERM HUP
	wait $child || status=$?
	give_back
	return $status
}

# apt in the new root reaches the archive the way the host's does.
set_proxy() {
	local proxy=

	command -v apt-config >/dev/null || return 0
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	[ -z "$proxy" ] || export http_proxy=${http_proxy:-$proxy}
}

main() {
	local want have child

	[ "$(id -u)" = 0 ] || die "building the Debian 13 root needs root: run 'sudo make deps'"
	inside_root && return
	want=$(wanted_stamp)
	have=$(cat "$ROOT/$STAMP" 2>/dev/null || :)
	[ "$want" = "$have" ] && [ "${1:-}" != --refresh ] && return

	mkdir -p "$PROJECT/build"
	exec 9>"$PROJECT/build/root.lock"
	flock -n 9 || { echo "  ROOT    waiting for another 'make deps' to finish"; flock 9; }
	have=$(cat "$ROOT/$STAMP" 2>/dev/null || :)
	[ "$want" = "$have" ] && [ "${1:-}" != --refresh ] && return
	: >"$LOG"
	host_tools
	if [ -n "$have" ]; then
		# From here until the end it counts as half built, and is finished or rebuilt.
		mv "$ROOT" "$ROOT.partial.$$" && rm -rf --one-file-system "$ROOT.partial" && mv "$ROOT.partial.$$" "$ROOT.partial"
		rm -f "$ROOT.partial/$STAMP"
	else
		rm -rf --one-file-system "$ROOT" "$ROOT.partial"
	fi

	unshare --mount --propagation private --pid --fork --kill-child "$0" --inner "$ROOT.partial" 9>&- &
	child=$!
	# The braces keep the shell's own word about a killed child away.
	trap '{ kill -KILL $child; wait $child || :; } 2>/dev/null; echo "${0##*/}: interrupted; the next run starts again" >&2; exit 130' INT TERM HUP
	wait $child || exit 1
	echo "$want" >"$ROOT.partial/$STAMP"
	mv "$ROOT.partial" "$ROOT"
	give_back
}

case ${1:-} in
--inner) build "$2" ;;
--inner-run) run_inside "${@:2}" ;;
--run) run_in_root "${@:2}" ;;
'' | --refresh) main "$@" ;;
*) die "unknown option $1: see the head of this file" ;;
esac
