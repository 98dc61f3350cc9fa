#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench_report.py - the report of `make bench` against results made up here: medians, verdicts, gaps"""
import copy
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
import goals  # noqa: E402
import report  # noqa: E402
import results as raw  # noqa: E402

P999 = {"default": [700, 690, 714, 650, 702], "weights": [24, 385, 40, 30, 50], "cpuidle": [26, 92, 30, 31, 60],
        "schedd": [22, 21, 23, 22, 24]}


def line(part, column, number, test, metrics, **more):
    return dict({"part": part, "round": number, "column": column, "noise_permille": 0, "scheduler": "x", "cpus": 1,
                 "test": test, "status": "done", "reason": "", "params": {}, "metrics": metrics}, **more)


def latency(figures=None, n=20000, longest=100):
    figures = figures or P999
    return [line("latency_icount", column, number + 1, "latprobe",
                 {"n": n, "p50_us": 17, "p999_us": value, "max_us": longest, "be_loops_per_s": 1000})
            for column, values in figures.items() for number, value in enumerate(values)]


def verdict(lines, index=0, table=None):
    table = table or [goal for goal in goals.GOALS if goal.number == 1]
    return goals.judge(report.Results(lines), table[index])


def check_median_and_spread():
    series = report.Results(latency()).series("latency_icount", "weights", "latprobe", "p999_us")
    assert series.median == 40, series.median
    assert series.cell() == "40 (24..385)", series.cell()
    assert report.Series([1, 2, 4, 10]).median == 3


def check_met():
    assert [verdict(latency(), i)[0] for i in range(4)] == ["met"] * 4
    assert verdict(latency())[1] == "met (22, at most 25)", verdict(latency())[1]
    assert verdict(latency(), 1)[1].startswith("met (0.0314"), verdict(latency(), 1)[1]


def check_missed():
    figures = dict(P999, schedd=[30] * 5)
    assert verdict(latency(figures))[1] == "missed by 20 % (30, at most 25)", verdict(latency(figures))[1]
    assert verdict(latency(figures), 1)[0] == "missed"
    # The best of the baselines is the one that counts.
    assert verdict(latency(dict(P999, cpuidle=[10] * 5)), 2)[0] == "missed"
    # One long wake-up in one round is enough.
    long_one = latency()
    long_one[-1]["metrics"]["max_us"] = 1001
    assert verdict(long_one, 3)[0] == "missed"


def check_gaps_are_no_pass():
    few_rounds = [r for r in latency() if r["round"] < 5 or r["column"] != "default"]
    cases = {
        "nothing": [],
        "no baseline": [r for r in latency() if r["column"] != "default"],
        "no schedd": [r for r in latency() if r["column"] != "schedd"],
        "a round short": few_rounds,
        "too few samples": latency(n=19999),
        "inconclusive": latency() + [{"part": "latency_icount", "round": 5, "column": "schedd", "inconclusive": "host"}],
        "ended": latency() + [{"part": "latency_icount", "round": 5, "column": "schedd", "missing": "ejected"}],
        "an error": latency() + [line("latency_icount", "schedd", 6, "latprobe", {}, status="error", reason="no")],
        "without the metric": [dict(r, metrics={"n": 20000}) for r in latency()],
        "a disturbed round": latency()[:-1] + [dict(latency()[-1], noise_permille=6)],
        "compared with 0": latency(dict(P999, default=[0] * 5)),
    }
    for name, lines in cases.items():
        kind, text = verdict(lines, 1)
        assert kind == "not measured" and text.startswith("not measured ("), f"{name}: {text}"
        page = report.page(report.Results(lines))
        assert "Goal 1: met" not in page, name


def check_throughput_is_inverse_of_time():
    table = [goal for goal in goals.GOALS if goal.number == 4]
    lines = [line("throughput_smp", column, number, "hackbench", {"time_s": seconds})
             for column, seconds in (("default", 1.0), ("schedd", 1.04)) for number in range(1, 6)]
    assert verdict(lines, 0, table)[0] == "met"
    for record in lines[5:]:
        record["metrics"]["time_s"] = 1.2
    assert verdict(lines, 0, table)[0] == "missed"


def check_best_of_throughput_is_the_highest():
    goal = copy.copy(goals.GOALS[0])
    goal.metric, goal.higher, goal.against, goal.most, goal.limit = "be_loops_per_s", True, "best", False, 0.9
    lines = latency()
    lines[0:5] = [dict(r, metrics=dict(r["metrics"], be_loops_per_s=2000)) for r in lines[0:5]]
    assert goals.judge(report.Results(lines), goal)[0] == "missed"


def check_raw_lines():
    run = {"schedbench": 1, "scheduler": "default", "kernel": "k", "cpus": 2, "results": [
        {"test": "burst", "status": "done", "metrics": {"n": 4}, "samples_us": [4, 1, 3, 2]},
        {"test": "come_together", "status": "skip", "reason": "one LLC"}]}
    head = {"part": "latency_smp", "round": 2, "column": "weights", "noise_permille": 1}
    first, second = raw.flatten(dict(head, variant="wake", run=run))
    assert first["test"] == "burst_wake" and first["round"] == 2 and "samples_us" not in first
    points = dict(map(tuple, first["quantiles_us"]))
    assert points[0.0] == 1 and points[1.0] == 4, points
    assert max(p for p in points if p < 1) <= 0.75, points
    assert second["status"] == "skip" and second["metrics"] == {}
    assert list(raw.flatten({"part": "x", "meta": {}})) == [{"part": "x", "meta": {}}]


def check_every_goal_names_a_part():
    for goal in goals.GOALS:
        assert goal.part in report.PARTS, goal.part
        assert goal.command.startswith("make bench T=")
    assert sorted({goal.number for goal in goals.GOALS}) == [1, 2, 3, 4, 5]


def check_page():
    lines = latency() + [{"part": "latency_icount", "round": 1, "column": "qmap", "missing": "not built: no bpftool"},
                         {"part": "latency_icount", "meta": {"revision": "abc"}}]
    page = report.page(report.Results(lines))
    for text in ("**Goal 1: met** (4 of 4 met)", "**Goal 2: not measured**", "- qmap: missing: not built: no bpftool",
                 "| weights | 5 |", "revision abc", "`make bench T=latency_icount`"):
        assert text in page, text


def main():
    failed = 0
    checks = [(name, check) for name, check in globals().items() if name.startswith("check_")]
    for number, (name, check) in enumerate(checks, 1):
        try:
            check()
            print(f"ok {number} - {name[6:]}")
        except AssertionError as error:
            failed += 1
            print(f"not ok {number} - {name[6:]}\n# {error}")
    print(f"1..{len(checks)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
