#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# schedctl_calls.sh - what schedctl sends, prints and exits with, against canned answers (help/schedctl_fake.py).
#
# usage: schedctl_calls.sh [SCHEDCTL]   (default: that of the build)
set -euo pipefail
cd "$(dirname "$0")/../.."
schedctl=${1:-${BUILD:-build}/schedctl}

if ! command -v protoc >/dev/null || ! python3 -c 'import grpc, google.protobuf' 2>/dev/null; then
	echo "schedctl_calls.sh: skipped: no protoc or python3-grpcio here"
	exit 77
fi
[ -x "$schedctl" ] || { echo "schedctl_calls.sh: skipped: $schedctl is not built"; exit 77; }

dir=$(mktemp -d)
server=
# shellcheck disable=SC2317 # called by the trap
cleanup() {
	[ -z "$server" ] || kill "$server"
	rm -rf "$dir"
}
trap cleanup EXIT

# The health messages live in a package of their own: google's "grpc" module has that name already.
mkdir "$dir/grpc_health_fake"
protoc -Iproto -I/usr/include --python_out="$dir" schedd/v1alpha1/scheduler.proto google/rpc/status.proto \
	google/rpc/error_details.proto
protoc -Iproto/grpc/health/v1 --python_out="$dir/grpc_health_fake" health.proto
mkfifo "$dir/ready"
python3 tests/check/help/schedctl_fake.py "$dir" "$dir/s.sock" >"$dir/ready" 2>>"$dir/requests" &
server=$!
read -r -t 60 _ <"$dir/ready" || { echo "schedctl_calls.sh: the fake daemon does not start: $(cat "$dir/requests")" >&2; exit 1; }

number=0 failed=0
# expect EXIT PATTERN ARGUMENT...: exit status, and an extended regular expression in output, errors or request;
# the pattern NOTHING: no output at all.
expect() {
	local want=$1 pattern=$2 status=0
	shift 2
	: >"$dir/requests"
	SCHEDD_SOCKET=$dir/s.sock TZ=UTC "$schedctl" "$@" >"$dir/out" 2>&1 </dev/null || status=$?
	number=$((number + 1))
	if [ "$pattern" = NOTHING ] && [ ! -s "$dir/out" ]; then
		echo NOTHING >"$dir/out"
	fi
	if [ "$status" = "$want" ] && grep -qE -- "$pattern" "$dir/out" "$dir/requests" && ! grep -q $'\033' "$dir/out"; then
		echo "ok $number - $*"
		return
	fi
	echo "not ok $number - $*"
	echo "# exit $status, wanted $want and \"$pattern\" in:"
	sed 's/^/# /' "$dir/out" "$dir/requests" | cat -v
	failed=1
}

expect 0 'latency-critical +4 +1 +2 \(1 now\) +3' status
expect 0 '! CpuMaxEnforced: no \(NotEnforced\)' status
expect 0 '"configGeneration": "12"' status -o json
expect 0 '^attached$' is-active
expect 0 'schedd +0.1 \(abc\)' version
expect 0 '^SERVING$' health
expect 1 '^NOT_SERVING$' health schedd.v1alpha1.Scheduler
expect 5 'unknown service' health other
expect 0 '^auto \(attached' mode
expect 0 'until 2023-11-14 22:13:20 UTC' mode active --for 30m
expect 2 'yes is needed' mode detached
expect 0 '^mode: detached' mode detached --yes
expect 0 'the mode would be detached' mode detached --dry-run
expect 0 '^class-5 ' class list
expect 0 '^class-5$' class list -o name
expect 0 'weight +100 +call$' class show web
expect 0 'kind: KIND_LATENCY_CRITICAL guarantee_cpus \{ \} .*must_not_exist: true' class create web kind=lc guarantee=0
expect 0 'update_mask \{ paths: "weight" paths: "guarantee_cpus" \} must_exist: true' class update web weight=7 guarantee=
expect 2 'yes is needed' class delete web
expect 0 '^class web deleted$' class delete web -y
expect 0 'target \{ cgroup_path: "/a/b" \} class_name: "be" ttl \{ seconds: 600 \}' class set /a/b/ be --ttl 10m
expect 0 'target \{ self \{ \} \} class_name: "lc"' class set --self lc
expect 0 'pid: 12 .*accept_shared_cgroup: true' class set pid:12 lc --whole-cgroup
expect 0 'LIFETIME_PERSISTENT' class set nginx.service lc --persistent
expect 0 'validate_only: true reason: "why"' class set /a lc --dry-run --reason why
expect 2 'yes is needed' class set / be --force --subtree
expect 0 'whole_subtree: true force_protected: true' class set / be --force --subtree --yes
expect 0 '^a-1$' class set /a lc -o name
expect 0 'no longer ordered' class unset /a
expect 0 'a\\x2db.service: normal \(config\)' class get /a
expect 0 'Decided by: config, cgroup=/batch.slice/\*\* -> best-effort \(/etc/schedd/schedd.yaml:4\)' class get /a --explain
expect 0 '^normal$' class get /a -o name
expect 0 '^a-1 +nginx.service' class assignments
expect 0 'no assignments of class empty' class assignments --class empty
expect 0 '^/evil\\x0a\\x1b\[31m +normal' cgroup list
expect 0 '^    b +normal' cgroup list --tree
expect 0 ' 1 +0 +0 +0 +- +- +offline' cores show
expect 0 'class_name: "lc" cpus: 3 ttl \{ seconds: 30 \} wait_for: WAIT_FOR_OWNED' cores grant lc 3 --ttl 30s
expect 0 '^lease l-1: lc 3 CPUs \(1-3\) until 2023-11-14 22:13:20 UTC, owned after 1.234ms' cores grant lc 3 --ttl 30s
expect 0 'min_cpus: 2 numa_node \{ value: 1 \} wait_for: WAIT_FOR_RUNNING' \
	cores grant lc 3 --ttl 30s --min 2 --numa 1 --wait running
expect 0 '3 CPUs of 5 \(1-3\).*, partial' cores grant lc 3 --ttl 30s --min 2
expect 0 'numa_node \{ \}' cores grant lc 3 --ttl 30s --numa 0
expect 0 'request_id: "1b4e28ba" expected_config_generation \{ value: 7 \} validate_only: true reason: "why"' \
	cores grant lc 3 --ttl 30s --request-id 1b4e28ba --expect-generation 7 --dry-run --reason why
expect 0 '^lc 3 CPUs.*, would be accepted$' cores grant lc 3 --ttl 30s --dry-run
expect 0 '^l-1$' cores grant lc 3 --ttl 30s -o name
expect 0 '"ownedAfter": "0.001234567s"' cores grant lc 3 --ttl 30s -o json
expect 2 'ttl is missing' cores grant lc 3
expect 2 'no duration' cores grant lc 3 --ttl 0
expect 2 'no whole number' cores grant lc three --ttl 30s
expect 2 '--min: `-1' cores grant lc 3 --ttl 30s --min -1
expect 2 'neither accepted, owned nor running' cores grant lc 3 --ttl 30s --wait soon
expect 2 '--expect-generation' cores grant lc 3 --ttl 30s --expect-generation x
expect 7 'asked for status 9' cores grant status-9 3 --ttl 30s
expect 3 'asked for status 4' cores grant status-4 3 --ttl 30s
expect 0 'from_class_name: "be" to_class_name: "lc" cpus: 3' cores reassign --from be --to lc 3 --ttl 30s
expect 0 '^lease l-1: lc 3 CPUs from be' cores reassign --from be --to lc 3 --ttl 30s
expect 2 '--to is missing' cores reassign --from be 3 --ttl 30s
expect 0 '^l-1 +web +3 +owned +2023-11-14 22:13:20 UTC +uid 0' cores leases
expect 0 '^l-2 +web +1/4 +partial' cores leases web
expect 0 '1-3 .*1.234ms +- .*/evil' cores leases -o wide
expect 0 '^l-2$' cores leases -o name
expect 0 'no leases of class empty' cores leases empty
expect 0 'lease_id: "l-1" ttl \{ seconds: 60 \}' cores renew l-1 --ttl 1min
expect 2 'ttl is missing' cores renew l-1
expect 5 'asked for status 5' cores renew status-5 --ttl 1min
expect 0 '^lease l-1 released$' cores release l-1
expect 0 'allow_missing: true' cores release l-1 --ignore-missing
expect 0 'would be released' cores release l-1 --dry-run
expect 0 '^2023-11-14 22:13:20 UTC +decision-changed +uid 0 \(schedctl\) +/evil\\x0a\\x1b\[31m -> best-effort \(call\)$' events
expect 0 ' 7 +decision-changed .* r-1 ' events -o wide
expect 0 '^- +dropped +- +12 events \(8 to 19\) are missing here' events --no-headers
expect 0 '^\{"epoch": "0123456789abcdef","sequence": "19","type": "TYPE_DROPPED".*\}$' events -o json
expect 0 '"type": "TYPE_BOOKMARK"' events -o json
expect 0 'types: TYPE_CLASS_CHANGED types: TYPE_REALLOCATION class_names: "lc" class_names: "web" after_sequence' \
	events --type class-changed --class lc --type reallocation --class web
expect 0 'epoch: "aa" after_sequence \{ value: 18 \}' events --since aa:18
expect 2 'did you mean .class-changed' events --type class-change
expect 2 'EPOCH:SEQUENCE' events --since 18
expect 3 'stopping; watch again when it is back' events -f --class ends
expect 3 'went away and ended the stream' events -f --class vanishes
expect 3 'did not answer within 300ms' events --class silent --timeout 300ms
expect 3 'did not answer within 300ms' events -f --class silent --timeout 300ms
expect 7 'asked for status 11' events --class status-11
expect 0 '^  mode: auto$' config show
expect 0 '^# /etc/hostname' config cat
expect 0 'reloaded: 1 file, generation 2' config reload
expect 1 'schedd.yaml:3:9:' config reload --dry-run
for pair in 1:1 2:1 3:2 5:5 6:6 7:4 8:7 9:7 10:6 11:7 12:7 13:1 14:3 15:1 16:4; do
	expect "${pair#*:}" 'asked for status [0-9]+\\x0aand a \\x1b\[31mcolour' class show "status-${pair%:*}"
done
expect 2 'abcdef999999 in pod b' class show status-3
expect 3 'try again in 250ms' class show status-14
expect 3 'schedd is not running: there is no' status --socket "$dir/none"
expect 3 'no socket of schedd|nobody listens' status --socket "$dir/requests"
expect 2 '107 bytes' status --socket "$dir/$(printf 'a%.0s' {1..120})"

# A follower gives each line at once, outlives its --timeout, and ends by the signal.  (Jobs of a script ignore SIGINT.)
mkfifo "$dir/lines"
SCHEDD_SOCKET=$dir/s.sock "$schedctl" events -f --timeout 200ms --no-headers >"$dir/lines" &
follower=$!
exec 5<"$dir/lines"
status=0
read -r -t 30 _ <&5 && read -r -t 30 line <&5 && [[ $line == *missing* ]] || status=1
read -r -t 0.5 _ <&5 || [ $? -gt 128 ] || status=2
kill -TERM "$follower" || status=3
wait "$follower" || ended=$?
exec 5<&-
number=$((number + 1))
if [ "$status" = 0 ] && [ "${ended:-0}" = 143 ]; then
	echo "ok $number - events -f"
else
	echo "not ok $number - events -f: step $status, exit ${ended:-0}"
	failed=1
fi

# A daemon that is stopped does not answer; nothing waits longer than --timeout.
kill -STOP "$server"
expect 3 'did not answer within 300ms' status --timeout 300ms
expect 3 NOTHING is-active -q --timeout 300ms
kill -CONT "$server"
expect 0 'attached' is-active
echo "1..$number"
exit $failed
