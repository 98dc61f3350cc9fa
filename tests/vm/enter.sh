#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# enter.sh - run a command in the Debian 13 root, the project at /src.
#
# usage: enter.sh [--] COMMAND [ARGUMENT...]     (no command: a shell)
#
# Runs as an ordinary user too, in a user namespace. The mounts are in a
# private namespace and vanish with the command. build/ is writable, and so is
# the root itself for root: install nothing by hand there.
set -euo pipefail
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Runs in the private mount namespace.
inner() {
	local d

	mount --bind "$PROJECT" "$ROOT/src"
	for d in proc sys dev; do
		mount --rbind "/$d" "$ROOT/$d"
	done
	mount -t tmpfs tmpfs "$ROOT/tmp"
	mount -t tmpfs tmpfs "$ROOT/run"
	exec chroot "$ROOT" /usr/bin/env -i HOME=/root TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		${MAKEFLAGS:+MAKEFLAGS="$MAKEFLAGS"} ${SCHEDD_REVISION:+SCHEDD_REVISION="$SCHEDD_REVISION"} \
		/bin/sh -c 'cd /src && exec "$@"' sh "$@"
}

if [ "${1:-}" = --inner ]; then
	shift
	inner "$@"
fi
[ "${1:-}" != -- ] || shift
[ $# -gt 0 ] || set -- /bin/bash
if inside_root; then
	cd /src
	exec "$@"
fi
need_root_tree
if [ "$(id -u)" = 0 ]; then
	status=0
	unshare --mount --propagation private "$0" --inner "$@" || status=$?
	give_back
	exit $status
fi
unshare --user --map-root-user true 2>/dev/null ||
	die "this system lets no ordinary user make a user namespace: run the command with sudo, or allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns)"
exec unshare --user --map-root-user --mount --propagation private "$0" --inner "$@"
