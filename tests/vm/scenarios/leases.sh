#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --quiet-start
# timeout: 600
# leases.sh - cores ordered from outside: how soon they are there, their end, kill -9, retries, bad orders
. "$(dirname "$0")/../scenario_lib.sh"

request_id=1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b

lease_ids() { "$schedctl" cores leases -o name 2>/dev/null; }
no_leases() { [ -z "$(lease_ids)" ]; }
is_after() { [ "$(date +%s)" -ge "$1" ]; }
expiry_of() { "$schedctl" cores leases -o json | python3 -c 'import json, sys
print(next(l["expireTime"][:19] for l in json.load(sys.stdin)["leases"] if l["leaseId"] == sys.argv[1]))' "$1"; }
# exits STATUS CMD...
exits() {
	local want=$1 status=0
	shift
	"$@" || status=$?
	[ "$status" -eq "$want" ]
}

cgroup_make lc
cgroup_make be
start_daemon
check "a grant attaches the scheduler, and waits for that" "$schedctl" cores grant lc 1 --ttl 5min --timeout 2min
check "attached" is_attached
check "the class owns a CPU" owns latency-critical 1
"$schedctl" cores release "$(lease_ids)" >/dev/null
"$schedctl" class set /t/lc lc >/dev/null
"$schedctl" class set /t/be be >/dev/null
"$schedctl" cores grant lc 1 --ttl 2s >/dev/null
check "after its time the CPU is back, without a call" wait_for 10 "its end" owns latency-critical 0
check "and the lease is gone" no_leases

start_hogs 2 be
# How long it takes is judged in counted time: leases_icount.sh.
echo "# owned, the class idle: $("$bench/grant" -n 20 lc 1)"
check "none is left" no_leases

# Plans come and go meanwhile: they have a generation of their own.
start_hogs 2 lc
lease=$("$schedctl" cores grant lc 1 --ttl 5min -o name)
refused=0
for ((i = 0; i < 20; i++)); do
	generation=$(json_field '["configGeneration"]' "$schedctl" status)
	read -rt 0.1 <> <(:) || true
	"$schedctl" cores renew "$lease" --ttl 5min --expect-generation "$generation" >/dev/null || refused=$((refused + 1))
done
check_figure "20 writes with the generation read 100 ms before, under full load: refused" "$refused == 0"
"$schedctl" cores release "$lease" >/dev/null
stop_hogs

lease=$("$schedctl" cores grant lc 1 --ttl 1min --request-id $request_id -o name)
expiry=$(expiry_of "$lease")
kill_daemon
start_daemon
check "kill -9: the lease is back" test "$(lease_ids)" = "$lease"
check "for the rest of its time" test "$(expiry_of "$lease")" = "$expiry"
check "the same request returns the same lease" \
	test "$("$schedctl" cores grant lc 1 --ttl 1min --request-id $request_id --timeout 2min -o name)" = "$lease"
check "its CPU is the class's again" wait_for 60 owned owns latency-critical 1
check "the same request with other content is refused" \
	exits 2 "$schedctl" cores grant lc 1 --ttl 2min --request-id $request_id
check "more than the floor leaves is refused" exits 7 "$schedctl" cores grant be 2 --ttl 30s
check "a stale generation is refused" exits 6 "$schedctl" cores renew "$lease" --ttl 30s --expect-generation 1
check "it can be renewed" "$schedctl" cores renew "$lease" --ttl 2min
check "and given back" "$schedctl" cores release "$lease"
check "the CPU is back" owns latency-critical 0
check "twice is an error" exits 5 "$schedctl" cores release "$lease"
check "unless it does not matter" "$schedctl" cores release "$lease" --ignore-missing

"$schedctl" cores grant lc 1 --ttl 3s >/dev/null
end=$(($(date +%s) + 4))
kill_daemon
wait_for 10 "the end of the lease" is_after $end
start_daemon
check "what ended while the daemon was away is gone" no_leases

printf 'leases: {max: 1}\n' >>"$work/etc/schedd.yaml"
"$schedctl" config reload >/dev/null
lease=$("$schedctl" cores grant lc 1 --ttl 1min --wait accepted -o name)
check "one lease more than leases.max is refused" exits 7 "$schedctl" cores grant be 1 --min 1 --ttl 1min
"$schedctl" mode detached --yes >/dev/null
check "in mode detached none is given" exits 7 "$schedctl" cores grant be 1 --ttl 1min
check "what there is can be given back" "$schedctl" cores release "$lease"
check "the daemon lives" "$schedctl" health
scenario_end
