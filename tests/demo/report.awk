# SPDX-License-Identifier: GPL-2.0-or-later
# report.awk - the table and the verdict of the demo, from one line of NAME=value fields per measurement
#
# -v part=table|goals -v columns="default weights schedd" -v rounds=N -v seconds=S -v noise=PERMILLE
# goals exits 1 when one was missed or the host spoilt a measurement.

{
	for (i = 1; i <= NF; i++) {
		split($i, kv, "=")
		field[kv[1]] = kv[2]
	}
	name = field["column"]
	n[name]++
	for (key in field)
		value[name, key, n[name]] = field[key]
	lines++
	if (field["lost_permille"] > noise)
		noisy++
}

# Into v[1..count], in order.
function sorted(name, key,    i, j, x) {
	for (i = 1; i <= n[name]; i++) {
		x = value[name, key, i] + 0
		for (j = i - 1; j > 0 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
	return n[name]
}

function median(name, key,    count) {
	count = sorted(name, key)
	if (!count)
		return 0
	return count % 2 ? v[(count + 1) / 2] : (v[count / 2] + v[count / 2 + 1]) / 2
}

function total(name, key,    i, sum) {
	for (i = 1; i <= n[name]; i++)
		sum += value[name, key, i]
	return sum + 0
}

function ratio(name, base, key) {
	return median(base, key) > 0 ? sprintf("%.2f", median(name, key) / median(base, key)) + 0 : 0
}

function range(name, key, unit, digits,    m) {
	m = median(name, key)
	return sprintf("%.*f (%.*f-%.*f)", digits, m / unit, digits, v[1] / unit, digits, v[n[name]] / unit)
}

function title(name) {
	return name == "default" ? "kernel default" : name == "weights" ? "weights set by hand" : name
}

# how: title, count, ms, rate, ratio
function row(label, how, key,    i, text) {
	printf "%-26s", label
	for (i = 1; i <= nr; i++) {
		if (how == "title")
			text = title(column[i])
		else if (how == "count")
			text = total(column[i], key)
		else if (how == "ms")
			text = range(column[i], key, 1000, 2)
		else if (how == "rate")
			text = range(column[i], key, seconds, 0)
		else
			text = sprintf("%.2f", ratio(column[i], "default", key))
		printf "%-25s", text
	}
	print ""
}

function table() {
	print ""
	print "Counts of all, and the median of " rounds " rounds (lowest-highest). default: the kernel's scheduler as it comes; weights: the same"
	print "with cpu.weight=10000 on the service and cpu.idle=1 on the batch; schedd: service latency-critical, batch best-effort."
	print "Latency counts from the moment a request was due, so a late client or a full queue cannot hide."
	print ""
	row("", "title")
	row("requests", "count", "requests")
	row("errors", "count", "errors")
	row("timeouts", "count", "timeouts")
	row("latency p50, ms", "ms", "p50_us")
	row("latency p99, ms", "ms", "p99_us")
	row("latency p99.9, ms", "ms", "p999_us")
	row("batch, blocks a second", "rate", "blocks")
	if (!n["default"])
		return
	print ""
	print "against the kernel's default:"
	row("  latency p50", "ratio", "p50_us")
	row("  latency p99", "ratio", "p99_us")
	row("  latency p99.9", "ratio", "p999_us")
	row("  batch work", "ratio", "blocks")
}

function goal(what, got, met, limit) {
	printf "  %-7s %s: %.2f (%s)\n", met ? "met" : "MISSED", what, got, limit
	if (!met)
		missed = 1
}

function verdict(    d, w, batch) {
	d = ratio("schedd", "default", "p99_us")
	w = ratio("schedd", "weights", "p99_us")
	batch = ratio("schedd", "default", "blocks")
	print ""
	printf "In short: with schedd 99 of 100 requests were answered within %.2f ms; with the kernel's default that took %.2f ms",
		median("schedd", "p99_us") / 1000, median("default", "p99_us") / 1000
	if (n["weights"])
		printf " and with weights set by hand %.2f ms", median("weights", "p99_us") / 1000
	printf ".\nThe batch did %.0f %% of the work it does under the default.\nGoals:\n", batch * 100
	goal("p99 against the default", d, d <= 0.5, "at most 0.5")
	if (n["weights"])
		goal("p99 against weights set by hand", w, w <= 1.1, "at most 1.1")
	goal("batch work against the default", batch, batch >= 0.9, "at least 0.9")
}

END {
	nr = split(columns, column, " ")
	if (part == "table") {
		table()
		exit 0
	}
	if (n["default"] && n["schedd"])
		verdict()
	if (noisy) {
		print "Other load on the host disturbed " noisy " of " lines " measurements that are in the table: inconclusive, try again on a quiet host."
		missed = 1
	}
	exit missed
}
