#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""report.py - results.jsonl as a page: verdicts, tables, and the data of the plots.

usage: report.py RESULTS.jsonl FOLDER

Writes FOLDER/report.md, and for the plots FOLDER/cdf_PART.tsv and FOLDER/curve.tsv. A pure
function of the results: what is not in there is "not measured", never a pass.
"""
import json
import os
import sys
from dataclasses import dataclass, field

from goals import BASELINES, GOALS, judge

COLUMNS = BASELINES + ("schedd", "schedd-fifo", "schedd-round-robin", "schedd-vtime", "schedd-deadline",
                       "schedd-interactive", "simple", "qmap", "central", "flatcg", "userland")
PARTS = {
    "latency_icount": "One CPU, time counted in instructions: a 1 ms sleeper in LC, two best-effort hogs",
    "latency_smp": "Two CPUs, four best-effort hogs",
    "schtest_icount": "The tests of schtest that run on one CPU, time counted in instructions, all in one class",
    "schtest_smp": "The tests of schtest that need two CPUs, all in one class",
    "schtest_llc": "The test of schtest that needs several last-level caches, all in one class",
    "throughput_icount": "Throughput with everything in one class, one CPU, time counted in instructions",
    "throughput_smp": "Throughput with everything in one class, two CPUs",
    "services": "Two LC services of 25 % of a CPU each and four best-effort hogs, two CPUs",
    "services_redis": "redis asked at a fixed rate beside a batch, one CPU, time counted in instructions; here weights is "
                      "cpu.weight and cpu.idle at once",
    "curve": "Best-effort beside two LC services of growing load, two CPUs",
    "handoff_icount": "From a wake-up to running, idle machine, one CPU, time counted in instructions",
    "handoff_smp": "From a wake-up to running, idle machine, two CPUs",
    "quick": "Short run, one CPU, time counted in instructions: no verdicts from this one",
}
LATENCY = ["n", "p50_us", "p90_us", "p99_us", "p999_us", "max_us", "be_loops_per_s"]
# Of a test, the metrics that its table shows; of others all.
SHOWN = {
    "latprobe": LATENCY,
    "burst": LATENCY,
    "burst_wake": LATENCY,
    "adaptive_priority": ["score", "fast_p90_us", "slow_p90_us", "fast_n"],
    "fairness": ["fairness", "fairness_ticks", "least_cpu_s", "median_cpu_s", "most_cpu_s"],
    "spread_out": ["spread", "cores", "moves", "max_time_to_migrate_ns"],
    "come_together": ["together", "llcs", "threads"],
    "handoff": ["n", "p50_us", "p90_us", "p99_us", "p999_us", "max_us"],
    "redis": ["requests", "errors", "timeouts", "p50_us", "p99_us", "p999_us", "blocks"],
    "two_services": ["lc_n", "lc_p50_us", "lc_p99_us", "lc2_p50_us", "lc2_p99_us", "be_loops_per_s"],
}
NOTES = {
    "adaptive_priority": "Lower is better, schtest passes below 0.5. scx_rustland is known for 0.16; the score alone "
                         "proves nothing, as it depends on the phase that a boot happens to have.",
    "fairness": "schtest passes at 0.6.",
}


@dataclass
class Series:
    """One metric of one column, a value a round."""

    values: list = field(default_factory=list)

    @property
    def median(self):
        ordered, half = sorted(self.values), len(self.values) // 2
        return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2

    @property
    def highest(self):
        return max(self.values)

    def cell(self):
        if not self.values:
            return "-"
        text = number(self.median)
        return text if min(self.values) == self.highest else f"{text} ({number(min(self.values))}..{number(self.highest)})"


def number(value):
    return f"{value:.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


class Results:
    def __init__(self, lines):
        self.lines = [line for line in lines if line.get("part") in PARTS]

    def of(self, part, column=None, test=None):
        return [r for r in self.lines if r["part"] == part and column in (None, r.get("column"))
                and test in (None, r.get("test"))]

    def parts(self):
        return [part for part in PARTS if self.of(part)]

    def tests(self, part):
        return list(dict.fromkeys(r["test"] for r in self.of(part) if "test" in r))

    def columns(self, part):
        seen = {r.get("column") for r in self.of(part)}
        return [column for column in COLUMNS if column in seen]

    def series(self, part, column, test, metric):
        return Series([r["metrics"][metric] for r in self.of(part, column, test)
                       if r.get("status", "done") not in ("skip", "error") and metric in r.get("metrics", {})])

    def first(self, key, part, column=None):
        return next((r[key] for r in self.of(part, column) if key in r), None)

    def why_not(self, part, column, test):
        """Why this must not count as measured; None when nothing speaks against it."""
        if not self.of(part):
            return "this part has not run"
        for key in ("missing", "inconclusive"):
            why = self.first(key, part, column)
            if why:
                return why if key == "missing" else f"inconclusive: {why}"
        for record in self.of(part, column, test):
            if record.get("status") in ("skip", "error"):
                return f"{record['status']}: {record.get('reason', '')}"
        if not self.of(part, column, test):
            return "no result"
        return None


def verdicts(results):
    lines, numbers = [], sorted({goal.number for goal in GOALS})
    for n in numbers:
        goals = [(goal, *judge(results, goal)) for goal in GOALS if goal.number == n]
        kinds = [kind for _, kind, _ in goals]
        whole = next(kind for kind in ("missed", "not measured", "met") if kind in kinds)
        lines += ["", f"**Goal {n}: {whole}** ({sum(kind == 'met' for kind in kinds)} of {len(kinds)} met)", ""]
        lines += [f"- {goal.text}: {text}; `{goal.command}`" for goal, _, text in goals]
    return lines


def table(results, part, test):
    metrics = SHOWN.get(test)
    if not metrics:
        metrics = list(dict.fromkeys(m for r in results.of(part, test=test) for m in r.get("metrics", {})))
    lines = [f"| {test} | rounds | " + " | ".join(metrics) + " |", "|---" * (len(metrics) + 2) + "|"]
    for column in results.columns(part):
        records = results.of(part, column, test)
        if not records:
            continue
        cells = [results.series(part, column, test, metric).cell() for metric in metrics]
        lines.append(f"| {column} | {len(records)} | " + " | ".join(cells) + " |")
    return lines


def remarks(results, part):
    """What is not in the tables, and why."""
    lines = []
    for column in results.columns(part):
        for key in ("missing", "inconclusive"):
            why = results.first(key, part, column)
            if why:
                lines.append(f"- {column}: {key}: {why}")
        for text in dict.fromkeys(f"{r['test']} {r['status']}: {r['reason']}" for r in results.of(part, column)
                                  if r.get("status") in ("fail", "skip", "error")):
            lines.append(f"- {column}: {text}")
    ended = results.first("ended", part)
    if ended is not None:
        lines.append("- the host disturbed too many measurements" if ended == 3 else f"- the guest ended with status {ended}")
    return [""] + lines if lines else []


def section(results, part):
    meta = results.first("meta", part) or {}
    lines = ["", f"## {part}", "", PARTS[part] + ".", "",
             "Median of the rounds (least..most). " + ", ".join(f"{key} {value}" for key, value in meta.items() if value) + "."]
    if part != "curve":
        for test in results.tests(part):
            lines += [""] + table(results, part, test)
            if test in NOTES:
                lines += ["", NOTES[test]]
    else:
        lines += [""] + curve_table(results)
    if cdf_columns(results, part):
        lines += ["", f"![latency by quantile](cdf_{part}.svg)"]
    if part == "curve" and curve_points(results):
        lines += ["", "![best-effort against LC load](curve.svg)"]
    return lines + remarks(results, part)


def cdf_columns(results, part):
    """{column: [(p, median over rounds in us)]} of the first test that kept its samples."""
    columns = {}
    for test in results.tests(part):
        for column in results.columns(part):
            rounds = [dict(map(tuple, r["quantiles_us"])) for r in results.of(part, column, test) if "quantiles_us" in r]
            if rounds:
                common = sorted(set.intersection(*(set(r) for r in rounds)))
                columns[column] = [(p, Series([r[p] for r in rounds]).median) for p in common]
        if columns:
            return columns
    return columns


def curve_points(results):
    """{column: [(load in %, share of best-effort in %, p99 in us, of both medians)]}"""
    points = {}
    for column in results.columns("curve"):
        for test in results.tests("curve"):
            share = [100 * r["metrics"]["be_cpu_s"] / r["metrics"]["be_elapsed_s"] / r["cpus"]
                     for r in results.of("curve", column, test) if r["metrics"].get("be_elapsed_s")]
            if share:
                load = int(test.rpartition("load")[2])
                p99 = results.series("curve", column, test, "lc_p99_us")
                points.setdefault(column, []).append((load, Series(share), p99))
    return points


def curve_table(results):
    lines = ["| column | LC load, % | best-effort's share, % | first service's p99, us |", "|---|---|---|---|"]
    for column, points in curve_points(results).items():
        lines += [f"| {column} | {load} | {share.cell()} | {p99.cell()} |" for load, share, p99 in points]
    return lines


def page(results):
    lines = ["# schedd beside other schedulers", "",
             "Columns: default is the kernel's scheduler as it comes, weights the same with cpu.weight 10000 against 1, "
             "cpuidle with cpu.idle=1 on best-effort; simple to userland are the kernel's example schedulers; schedd has "
             "its classes set, schedd-POLICY also that policy in the latency-critical and normal class. "
             "*Best* is the best of the first three. Columns of a part were measured in turns in one boot.", "",
             "## Verdicts"] + verdicts(results)
    for part in results.parts():
        lines += section(results, part)
    return "\n".join(lines) + "\n"


def write(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in lines)


def plots(results, folder):
    for part in results.parts():
        columns = cdf_columns(results, part)
        if columns:
            write(folder, f"cdf_{part}.tsv",
                  [f"{column}\t{p:.6f}\t{us:.3f}" for column, line in columns.items() for p, us in line])
    points = curve_points(results)
    if points:
        write(folder, "curve.tsv", [f"{column}\t{load}\t{share.median:.2f}\t{p99.median if p99.values else 'nan'}"
                                    for column, line in points.items() for load, share, p99 in line])


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        results = Results([json.loads(line) for line in stream])
    folder = sys.argv[2]
    with open(os.path.join(folder, "report.md"), "w", encoding="utf-8") as stream:
        stream.write(page(results))
    plots(results, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
