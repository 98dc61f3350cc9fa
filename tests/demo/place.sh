# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# place.sh - the demo's cgroups and processes, and their end

GROUP=schedd-demo
CGROUP2=
TMP=
ADDED_CPU=no

say() {
	printf '%s\n' "$*"
}

# die MESSAGE: one line that says what, where and how to mend it.
die() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

# field NAME LINE: the value of NAME=value.
field() {
	local word

	for word in $2; do
		[ "${word%%=*}" = "$1" ] && { printf '%s\n' "${word#*=}"; return; }
	done
	printf '0\n'
}

# A sleep that a signal to the shell ends at once.
nap() {
	sleep "$1" &
	wait $!
}

# within SECONDS COMMAND...: until it succeeds.
within() {
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		nap 0.1
	done
}

place_check() {
	[ "$(id -u)" = 0 ] || die "needs root for cgroups and the scheduler: run 'sudo make demo'"
	CGROUP2=$(awk '{ for (i = 7; i <= NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
	[ -n "$CGROUP2" ] || die "no cgroup2 file system is mounted: 'mount -t cgroup2 none /sys/fs/cgroup', or boot with systemd.unified_cgroup_hierarchy=1"
	grep -qw cpu "$CGROUP2/cgroup.controllers" ||
		die "cgroup2 at $CGROUP2 has no cpu controller (cgroup v1 holds it): boot with systemd.unified_cgroup_hierarchy=1"
	local tool
	for tool in openloop batch hostnoise; do
		[ -x "$BUILD/tests/demo/$tool" ] || die "build/tests/demo/$tool is missing: run 'make tests' first"
	done
}

# Our own top-level group: on a systemd host nobody else writes to it.
place_make() {
	local top=$CGROUP2/$GROUP name

	if [ -d "$top" ] && grep -qx 'populated 1' "$top/cgroup.events"; then
		die "$top already has processes, perhaps of another demo: end them ('echo 1 > $top/cgroup.kill') and start again"
	fi
	trap place_clear EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	TMP=$(mktemp -d /tmp/schedd-demo.XXXXXX)
	if ! grep -qw cpu "$CGROUP2/cgroup.subtree_control"; then
		echo +cpu >"$CGROUP2/cgroup.subtree_control"
		ADDED_CPU=yes
	fi
	mkdir -p "$top"
	echo +cpu >"$top/cgroup.subtree_control"
	for name in service client batch; do
		mkdir -p "$top/$name"
	done
}

# in_cgroup NAME COMMAND...: only in a subshell (after &, in $(...)), which becomes the command.
in_cgroup() {
	echo "$BASHPID" >"$CGROUP2/$GROUP/$1/cgroup.procs"
	shift
	exec "$@"
}

nobody_left() {
	grep -qx 'populated 0' "$CGROUP2/$GROUP/cgroup.events"
}

# Whatever the demo started in its groups, children included.
end_processes() {
	echo 1 >"$CGROUP2/$GROUP/cgroup.kill"
	within 10 nobody_left || die "processes in $CGROUP2/$GROUP do not end: see its cgroup.procs"
}

place_clear() {
	local status=$?

	trap - EXIT
	trap '' INT TERM HUP
	set +e
	# The shell would announce each death.
	exec 2>/dev/null
	column_end
	if [ -d "$CGROUP2/$GROUP" ]; then
		echo 1 >"$CGROUP2/$GROUP/cgroup.kill"
		within 10 nobody_left
		rmdir "$CGROUP2/$GROUP"/{service,client,batch} "$CGROUP2/$GROUP"
	fi
	[ "$ADDED_CPU" = no ] || echo -cpu >"$CGROUP2/cgroup.subtree_control"
	rm -rf "$TMP"
	exit "$status"
}
