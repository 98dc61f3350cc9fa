# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# names.sh - who is compared, in which parts

# shellcheck disable=SC2034 # used by the scripts that read this file
BASELINES=(default weights cpuidle)
PEERS=(simple qmap central flatcg userland)
POLICIES=(fifo round-robin vtime deadline interactive)
# In the order in which `make bench` runs them.
PARTS=(latency_icount latency_smp schtest throughput services curve handoff)

# newest_kernel FOLDER: the newest one there that has sched_ext.
newest_kernel() {
	grep -l '^CONFIG_SCHED_CLASS_EXT=y' "$1"/config-* | sed 's/.*config-//' | sort -V | tail -n 1
}

# boots PART: the guests of a part, one a line: a name and the options of run.sh.
boots() {
	case $1 in
	latency_icount | quick) echo "$1 --icount" ;;
	latency_smp | curve) echo "$1 --cpus 2" ;;
	services) printf '%s\n' "services --cpus 2" "services_redis --icount" ;;
	schtest) printf '%s\n' "schtest_icount --icount" "schtest_smp --cpus 2" "schtest_llc --smp 4,sockets=2,cores=2,threads=1" ;;
	throughput | handoff) printf '%s\n' "$1_icount --icount" "$1_smp --cpus 2" ;;
	*) return 1 ;;
	esac
}
