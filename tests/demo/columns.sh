# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# columns.sh - the service, and the three ways of sharing the CPUs

SERVICE_PORT=${SERVICE_PORT:-21211}
METRICS_PORT=${METRICS_PORT:-21970}
SCHED_EXT=/sys/kernel/sched_ext
DAEMON_PID=

port_used() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

service_check() {
	command -v redis-server >/dev/null || die "redis is not installed: 'apt install redis-server'"
	port_used "$SERVICE_PORT" && die "port $SERVICE_PORT on 127.0.0.1 is in use: end that program or choose another with SERVICE_PORT=N"
	return 0
}

# Without files: what is measured is the service, not a disk.
service_start() {
	in_cgroup service setpriv --reuid=65534 --regid=65534 --clear-groups redis-server --bind 127.0.0.1 \
		--port "$SERVICE_PORT" --save '' --appendonly no --daemonize no >"$TMP/service.log" 2>&1 &
	# It ends by cgroup.kill, which the shell would announce.
	disown
	within 20 port_used "$SERVICE_PORT" || die "redis does not listen on port $SERVICE_PORT: $(tail -n 1 "$TMP/service.log")"
}

wants() {
	local c

	for c in "${COLUMN_LIST[@]}"; do
		[ "$c" = "$1" ] && return
	done
	return 1
}

loaded_ops() {
	cat "$SCHED_EXT/root/ops" 2>/dev/null || :
}

column_check() {
	[ -z "$(loaded_ops)" ] ||
		die "the scheduler $(loaded_ops) is loaded and would falsify every column: stop it first ('systemctl stop schedd', or the program that loaded it)"
	wants schedd || return 0
	[ -e "$SCHED_EXT/state" ] || die "kernel $(uname -r) has no sched_ext: it takes 6.16 or newer with CONFIG_SCHED_CLASS_EXT"
	[ -x "$BUILD/schedd" ] || die "build/schedd is missing: run 'make' first"
	[ -x "$BUILD/schedctl" ] || die "build/schedctl is missing: run 'make' first"
	! port_used "$METRICS_PORT" || die "port $METRICS_PORT on 127.0.0.1 is in use: end that program or choose another with METRICS_PORT=N"
}

ctl() {
	"$BUILD/schedctl" --socket "$TMP/run/schedd.sock" "$@"
}

ctl_can_connect() {
	kill -0 "$DAEMON_PID" 2>/dev/null || die "schedd ended early: $(tail -n 1 "$TMP/schedd.log")"
	[ -S "$TMP/run/schedd.sock" ]
}

schedd_attached() {
	[[ $(loaded_ops) == schedd* && $(<"$SCHED_EXT/state") == enabled ]]
}

schedd_start() {
	rm -rf "${TMP:?}/etc" "$TMP/state" "$TMP/run"
	mkdir -p "$TMP/etc" "$TMP/state" "$TMP/run"
	printf 'metrics: {listen: "127.0.0.1:%s"}\n' "$METRICS_PORT" >"$TMP/etc/schedd.yaml"
	"$BUILD/schedd" --config "$TMP/etc" --state-dir "$TMP/state" --runtime-dir "$TMP/run" >"$TMP/schedd.log" 2>&1 &
	DAEMON_PID=$!
	within 60 ctl_can_connect || die "schedd does not open its socket: $(tail -n 1 "$TMP/schedd.log")"
	ctl class set "/$GROUP/service" latency-critical >/dev/null || die "schedctl could not put the service into its class"
	ctl class set "/$GROUP/batch" best-effort >/dev/null || die "schedctl could not put the batch into its class"
	within 60 schedd_attached || die "schedd did not attach its scheduler: $(tail -n 1 "$TMP/schedd.log")"
}

schedd_gone() {
	! kill -0 "$DAEMON_PID" 2>/dev/null && [ -z "$(loaded_ops)" ]
}

schedd_stop() {
	[ -n "$DAEMON_PID" ] || return 0
	kill -TERM "$DAEMON_PID" 2>/dev/null
	if ! within 20 schedd_gone; then
		kill -KILL "$DAEMON_PID" 2>/dev/null
		within 10 schedd_gone
	fi
	wait "$DAEMON_PID" 2>/dev/null || :
	DAEMON_PID=
}

# weights SERVICE_WEIGHT BATCH_IDLE
weights() {
	echo "$1" >"$CGROUP2/$GROUP/service/cpu.weight"
	echo "$2" >"$CGROUP2/$GROUP/batch/cpu.idle"
}

column_enter() {
	case $1 in
	default) weights 100 0 ;;
	weights) weights 10000 1 ;;
	schedd) weights 100 0; schedd_start ;;
	esac
}

# What the screen shows at the end is what schedd said while it had the load.
column_remember() {
	[ "$1" = schedd ] || return 0
	ctl status >"$TMP/status" 2>&1 || :
	metrics >"$TMP/metrics" || :
}

column_leave() {
	case $1 in
	weights) weights 100 0 ;;
	schedd) schedd_stop ;;
	esac
}

column_end() {
	schedd_stop
}

# The class metrics as a scraper gets them, without the histogram's buckets: they would fill the screen.
metrics() {
	local line

	exec 3<>"/dev/tcp/127.0.0.1/$METRICS_PORT" || return
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
	while IFS= read -r line; do
		case $line in
		schedd_class_*_bucket*) ;;
		schedd_class_*) printf '%s\n' "${line%$'\r'}" ;;
		esac
	done <&3
	exec 3>&-
}

# One row for each metric with a value other than 0, one column for each class.
metrics_table() {
	awk '{
		match($0, /class="[^"]*"/)
		class = substr($0, RSTART + 7, RLENGTH - 8)
		name = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
		sub(/ [^ ]*$/, "", name)
		sub(/\{,/, "{", name)
		sub(/\{\}/, "", name)
		if (!(class in known)) { known[class] = 1; classes[++nc] = class }
		if (!(name in row)) { row[name] = 1; names[++nr] = name }
		value[name, class] = $NF
		if ($NF != 0) used[name] = 1
	} END {
		printf "%-62s", ""
		for (c = 1; c <= nc; c++) printf " %16s", classes[c]
		print ""
		for (r = 1; r <= nr; r++) {
			if (!(names[r] in used)) continue
			printf "%-62s", names[r]
			for (c = 1; c <= nc; c++) printf " %16s", value[names[r], classes[c]]
			print ""
		}
	}' "$TMP/metrics"
}

column_show() {
	wants schedd || return 0
	say ""
	say "schedctl status, while the load of the last round ran:"
	sed 's/^/  /' "$TMP/status"
	say ""
	say "class metrics of that run (from http://127.0.0.1:$METRICS_PORT/metrics; rows of zeros and the histogram's buckets left out):"
	metrics_table
}
