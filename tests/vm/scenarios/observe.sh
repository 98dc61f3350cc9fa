#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# vm: --cpus 2 --quiet-start
# timeout: 500
# observe.sh - mode observe measures the kernel's own scheduler as a probe does, changes nothing, and leads to the others
. "$(dirname "$0")/../scenario_lib.sh"

samples=${OBSERVE_SAMPLES:-2000}
skipped=20

observing() { state_is observing; }
paused() { [ "$(json_field '["mode"]' "$schedctl" status)" = paused ] && is_attached; }
online_cpus() { json_field '["onlineCpus"]' "$schedctl" status; }
observing_on() { observing && [ "$(online_cpus)" = "$1" ]; }
value() { awk -v name="$2" 'index($0, name " ") == 1 { print $2 }' "$1"; }
cpu_seconds() { value "$1" "schedd_class_cpu_seconds_total{class=\"$2\"}"; }
wakeups() { value "$1" "schedd_class_wakeup_latency_seconds_count{class=\"$2\",scheduler=\"$3\"}"; }
runnable() { value "$1" "schedd_class_runnable_tasks{class=\"$2\"}"; }
usage_seconds() { awk '$1 == "usage_usec" { print $2 / 1e6 }' "$cgroup_mount/t/$1/cpu.stat"; }
p99_us() { tr ' ' '\n' <<<"$1" | sed -n 's/^p99_us=//p'; }

# p99_edge BEFORE AFTER CLASS SCHEDULER: the edge in us below which 99 % of what came between two pages is.
p99_edge() {
	python3 - "$@" <<'PY'
import re, sys
before, after, name, scheduler = sys.argv[1:]
line = re.compile(r'schedd_class_wakeup_latency_seconds_bucket\{class="%s",scheduler="%s",le="([^"]+)"\} (\d+)' % (name, scheduler))
a, b = (dict(line.findall(open(page).read())) for page in (before, after))
counts = [(float(edge), int(b[edge]) - int(a[edge])) for edge in b]
print("%.1f" % (1e6 * next(edge for edge, n in counts if n >= 0.99 * counts[-1][1])))
PY
}

# not_fallen BEFORE AFTER: every counter of the first page is in the second, and no smaller.
not_fallen() {
	python3 - "$@" <<'PY'
import re, sys
def counters(path):
    types, values = {}, {}
    for line in open(path):
        if line.startswith("# TYPE "):
            types[line.split()[2]] = line.split()[3]
        elif not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            family = re.sub(r"\{.*", "", name)
            base = re.sub(r"_(bucket|sum|count)$", "", family)
            if "SCX_EV_" not in name and (types.get(family) == "counter" or types.get(base) in ("histogram", "summary")):
                values[name] = float(value)
    return values
before, after = map(counters, sys.argv[1:])
fallen = [f"{name}: {value} to {after.get(name)}" for name, value in before.items() if after.get(name, -1) < value]
print(f"{len(before)} counters", *fallen, sep="\n")
sys.exit(bool(fallen) or len(before) < 50)
PY
}
rests() { fresh_page "$work/page" && [ "$(runnable "$work/page" "$1")" = 0 ]; }

# probe PAGES: a sleeper in lc against hogs in be, between the pages PAGES.before and PAGES.after.
probe() {
	fresh_page "$work/$1.before"
	cpu_before=$(usage_seconds be)
	probed=$(in_cgroup lc "$bench/latprobe" -n "$samples" -s "$skipped" -i 2000)
	fresh_page "$work/$1.after"
	cpu_after=$(usage_seconds be)
	echo "# $1: $probed"
}

default_config
echo 'scheduler: {mode: observe}' >>"$work/etc/schedd.yaml"
cgroup_make lc
cgroup_make be
start_daemon
check "it starts to observe" wait_for 120 observing observing
check "no scheduler is loaded" is_detached
check "a call sets a class" "$schedctl" class set /t/lc lc
check "and another" "$schedctl" class set /t/be be
check "still none is loaded" is_detached
check "status finds nothing wrong" "$schedctl" status
check "is-active says no, and why" bash -c "! out=\$('$schedctl' is-active) && [ \"\$out\" = observing ]"

start_hogs 4 be
probe kernel
wakeups=$(($(wakeups "$work/kernel.after" latency-critical kernel) - $(wakeups "$work/kernel.before" latency-critical kernel)))
edge=$(p99_edge "$work/kernel.before" "$work/kernel.after" latency-critical kernel)
check_figure "p99 in us of the probe, and the edge above ours: within a power of two" \
	"$(p99_us "$probed") > $edge / 4 && $(p99_us "$probed") <= $edge * 2"
check_figure "wake-ups counted for $((samples + skipped)) of the probe" \
	"$wakeups > 0.97 * $((samples + skipped)) && $wakeups < 1.05 * $((samples + skipped))"
check_figure "none for our own scheduler" "$(wakeups "$work/kernel.after" latency-critical schedd) == 0"
counted=$(awk "BEGIN { print $(cpu_seconds "$work/kernel.after" best-effort) - $(cpu_seconds "$work/kernel.before" best-effort) }")
check_figure "CPU seconds of the hogs, by the class and by their cgroup" \
	"$counted > 0.9 * ($cpu_after - $cpu_before) && $counted < 1.1 * ($cpu_after - $cpu_before)"
# Each is one that computes and one that sleeps.
check_figure "tasks that run or wait, of 4 hogs" \
	"$(runnable "$work/kernel.after" best-effort) >= 4 && $(runnable "$work/kernel.after" best-effort) <= 8"
check "the holder of a CPU is shown" bash -c "'$schedctl' cores show | grep -q best-effort"

load_other
check "with another scheduler loaded it goes on" observing
check "which is not disturbed" test "$(kernel_ops)" = minimal
fresh_page "$work/other.before"
(in_cgroup lc "$bench/latprobe" -n 200 -i 2000 >/dev/null)
fresh_page "$work/other.after"
check_figure "and is measured" "$(wakeups "$work/other.after" latency-critical kernel) - $(wakeups "$work/other.before" latency-critical kernel) >= 180"
check "mode active is refused meanwhile" bash -c "'$schedctl' mode active; [ \$? -eq 7 ]"
unload_other
stop_hogs
check "at rest nothing of best-effort runs or waits" wait_for 20 rest rests best-effort
check "and nothing of latency-critical" wait_for 20 rest rests latency-critical

echo 0 >/sys/devices/system/cpu/cpu1/online
check "a CPU goes: observed anew" wait_for 60 "observing one CPU" observing_on 1
echo 1 >/sys/devices/system/cpu/cpu1/online
check "it comes back: again" wait_for 60 "observing two CPUs" observing_on 2
fresh_page "$work/hotplug"
check "no counter has fallen" not_fallen "$work/other.after" "$work/hotplug"

check "mode active" "$schedctl" mode active
check "attaches" wait_for 120 attached is_attached
start_hogs 4 be
probe schedd
check "no counter has fallen" not_fallen "$work/hotplug" "$work/schedd.before"
check_figure "what was observed stays as it was" \
	"$(wakeups "$work/schedd.after" latency-critical kernel) == $(wakeups "$work/schedd.before" latency-critical kernel)"
check_figure "our own scheduler is measured by itself" \
	"$(wakeups "$work/schedd.after" latency-critical schedd) - $(wakeups "$work/schedd.before" latency-critical schedd) >= $samples"
echo "# p99 edge in us: kernel $edge, schedd $(p99_edge "$work/schedd.before" "$work/schedd.after" latency-critical schedd)"
stop_hogs

enabled=$(cat /sys/kernel/sched_ext/enable_seq)
plan=$(json_field '["planGeneration"]' "$schedctl" status)
check "mode paused" "$schedctl" mode paused
check "it says so, and is attached" wait_for 10 paused paused
check "is-active says yes" "$schedctl" is-active -q
check "it was not attached anew" test "$(cat /sys/kernel/sched_ext/enable_seq)" = "$enabled"
check_figure "the plan is the same" "$(json_field '["planGeneration"]' "$schedctl" status) == $plan"
check "a guarantee changes" "$schedctl" class update lc guarantee=1
check_figure "then the plan does" "$(json_field '["planGeneration"]' "$schedctl" status) > $plan"

check "mode observe for a while" "$schedctl" mode observe --for 20s
check "observes" wait_for 120 observing observing
check "no scheduler is loaded" is_detached
check "it returns by itself to paused" wait_for 120 paused paused
check "mode observe" "$schedctl" mode observe
check "observes again" wait_for 120 observing observing
fresh_page "$work/last"
check "no counter has fallen" not_fallen "$work/schedd.after" "$work/last"
stop_daemon
check "stopping leaves the kernel's scheduler" is_detached

load_other
start_daemon
check "it starts beside another scheduler" wait_for 120 observing observing
check "which is not disturbed" test "$(kernel_ops)" = minimal
stop_daemon
unload_other
scenario_end
