# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# guest_columns.sh - in the guest: what schedules, one column of the tables each
#
# default, weights, cpuidle: the kernel's own, as it comes and as one who knows it
# sets it; simple ... userland: the kernel's examples; schedd, schedd-POLICY.
# column_enter fails with $missing where there is none.

peers=$scenario_root/build/bench/peers
peer_pid=
missing=

# weights LC BE BE_IDLE
weights() {
	# A cgroup that is idle takes no weight.
	echo 0 >"$(group be)/cpu.idle"
	echo "$1" >"$(group lc)/cpu.weight"
	echo "$1" >"$(group lc2)/cpu.weight"
	echo "$2" >"$(group be)/cpu.weight"
	[ "$3" = 0 ] || echo 1 >"$(group be)/cpu.idle"
}

column_enter() {
	missing=
	case $1 in
	default) weights 100 100 0 ;;
	weights) weights 10000 1 0 ;;
	cpuidle) weights 100 100 1 ;;
	schedd) weights 100 100 0 && schedd_enter '' ;;
	schedd-*) weights 100 100 0 && schedd_enter "${1#schedd-}" ;;
	*) weights 100 100 0 && peer_enter "$1" ;;
	esac
}

column_leave() {
	case $1 in
	schedd*) stop_daemon ;;
	default | weights | cpuidle) ;;
	*) peer_leave ;;
	esac
	weights 100 100 0
	wait_for 30 "no scheduler is loaded" is_detached
}

# Did it stay what it was until the end?
column_holds() {
	local ops want=

	ops=$(kernel_ops)
	case $1 in
	default | weights | cpuidle) ;;
	schedd*) want=schedd ;;
	*) want=$1 ;;
	esac
	if [ -z "$want" ]; then
		[ -n "$ops" ] || return 0
	elif [[ $ops == "$want"* ]]; then
		return 0
	fi
	missing="ended while it was measured: $(tail -n 1 "$work/column.log" 2>/dev/null)"
	return 1
}

# A peer that does not run, or a policy that is not there yet, is said and does not spoil the rest.
column_may_miss() {
	case $1 in
	default | weights | cpuidle | schedd) return 1 ;;
	esac
}

peer_attached() {
	kill -0 "$peer_pid" 2>/dev/null || return 0
	[ "$(kernel_state)" = enabled ] && [[ "$(kernel_ops)" == "$peer_name"* ]]
}

peer_enter() {
	local peer_name=$1

	if [ ! -x "$peers/$1" ]; then
		missing="not built: $(cat "$peers/$1.error" 2>/dev/null || echo 'no source')"
		return 1
	fi
	"$peers/$1" >"$work/column.log" 2>&1 &
	peer_pid=$!
	wait_for 60 "$1 is loaded" peer_attached && kill -0 "$peer_pid" 2>/dev/null && return
	missing="does not load: $(grep -iE 'error|fail|invalid|EXIT' "$work/column.log" | tail -n 1)"
	return 1
}

peer_leave() {
	[ -n "$peer_pid" ] || return 0
	kill -INT "$peer_pid" 2>/dev/null || :
	wait_for 20 "the peer ends" peer_ended || kill -KILL "$peer_pid"
	{ wait "$peer_pid" || :; } 2>/dev/null
	peer_pid=
}

peer_ended() { ! kill -0 "$peer_pid"; }

# In observe nothing would be attached, and what has no class attaches nothing.
schedd_enter() {
	local kind

	rm -rf "${work:?}/etc" "$work/state" "$work/run"
	default_config
	if [ -n "$1" ]; then
		printf 'classes:\n' >>"$work/etc/schedd.yaml"
		for kind in latency-critical normal; do
			printf '  %s: {policy: %s}\n' "$kind" "$1" >>"$work/etc/schedd.yaml"
		done
	fi
	if ! "$schedctl" config verify "$work/etc" >"$work/column.log" 2>&1; then
		missing="not offered: $(sed "s,$work/,,; q" "$work/column.log")"
		return 1
	fi
	: >"$work/daemon.log"
	if ! start_daemon >"$work/column.log" 2>&1 || ! schedd_classes >>"$work/column.log" 2>&1; then
		missing="does not start: $(tail -n 1 "$work/column.log")"
		return 1
	fi
}

schedd_classes() {
	"$schedctl" class set /t/lc lc && "$schedctl" class set /t/lc2 lc && "$schedctl" class set /t/be be &&
		wait_for 120 "schedd is attached" is_attached
}
