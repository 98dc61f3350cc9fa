# SPDX-License-Identifier: GPL-2.0-or-later
"""goals.py - what schedd is to reach, as a table, and the verdict on each line of it."""
from dataclasses import dataclass

# Share of a measurement that the host may have taken; a run may allow more, a verdict does not.
NOISE_PERMILLE = 5
BASELINES = ("default", "weights", "cpuidle")


@dataclass
class Goal:
    """One limit on one figure; against is what the figure is divided by, None for the figure itself."""

    number: int
    text: str
    part: str
    test: str
    metric: str
    limit: float
    against: str = None  # a column, or best: the best of the three baselines
    most: bool = True  # the limit is the most; else the least
    worst: bool = False  # of all rounds, in place of the median
    higher: bool = False  # higher is better in the metric: what `best` means
    column: str = "schedd"
    rounds: int = 5
    samples: int = 0
    inverse: bool = False  # against / figure: throughput, from times

    @property
    def command(self):
        return f"make bench T={self.part if self.part.startswith('latency') else self.part.split('_')[0]}"


def lat1(text, metric, limit, **more):
    return Goal(1, text, "latency_icount", "latprobe", metric, limit, samples=20000, **more)


def lat2(text, test, metric, limit, **more):
    return Goal(2, text, "latency_smp", test, metric, limit, rounds=7, **more)


def services(text, metric, limit, against, **more):
    return Goal(5, text, "services", "two_services", metric, limit, against=against, **more)


def throughput(text, part, test):
    return Goal(4, text, part, test, "time_s", 0.95, against="default", most=False, inverse=True)


GOALS = [
    lat1("latprobe p99.9, us", "p999_us", 25),
    lat1("latprobe p99.9 against the plain default", "p999_us", 0.035, against="default"),
    lat1("latprobe p99.9 against the best baseline", "p999_us", 1.0, against="best"),
    lat1("latprobe longest of all rounds, us", "max_us", 1000, worst=True),
    lat2("latprobe p99 against the plain default", "latprobe", "p99_us", 0.33, against="default"),
    lat2("latprobe p99 against the best baseline", "latprobe", "p99_us", 0.5, against="best"),
    lat2("burst of 4 that use 1 ms each, p50 against the best baseline", "burst", "p50_us", 0.65, against="best"),
    lat2("burst of 4 that use 1 ms each, p99 against the best baseline", "burst", "p99_us", 0.5, against="best"),
    lat2("wake-only burst, p99 against the best baseline", "burst_wake", "p99_us", 0.7, against="best"),
    lat2("best-effort throughput against the plain default", "latprobe", "be_loops_per_s", 0.95, against="default",
         most=False, higher=True),
    Goal(3, "adaptive_priority, fast p90, us (normal class as it comes)", "schtest_icount", "adaptive_priority",
         "fast_p90_us", 20),
    Goal(3, "adaptive_priority, fast p90, us (policy interactive)", "schtest_icount", "adaptive_priority",
         "fast_p90_us", 20, column="schedd-interactive"),
    Goal(3, "fairness", "schtest_smp", "fairness", "fairness", 0.98, most=False),
    Goal(3, "spread_out", "schtest_smp", "spread_out", "spread", 0.95, most=False),
    Goal(3, "come_together", "schtest_llc", "come_together", "together", 0.95, most=False),
    throughput("hackbench, 2 CPUs, throughput against the default", "throughput_smp", "hackbench"),
    throughput("hackbench, 1 CPU, throughput against the default", "throughput_icount", "hackbench"),
    throughput("perf bench sched pipe, 2 CPUs, throughput against the default", "throughput_smp", "pipe"),
    throughput("perf bench sched pipe, 1 CPU, throughput against the default", "throughput_icount", "pipe"),
    services("first service, p99 against the plain default", "lc_p99_us", 0.5, "default"),
    services("first service, p99 against the best baseline", "lc_p99_us", 1.0, "best"),
    services("second service, p99 against the plain default", "lc2_p99_us", 0.5, "default"),
    services("second service, p99 against the best baseline", "lc2_p99_us", 1.0, "best"),
    services("best-effort throughput against the plain default", "be_loops_per_s", 0.9, "default", most=False, higher=True),
]


class NotMeasured(Exception):
    """Why there is no figure."""


def figure(results, goal, column):
    """The figure of one column; NotMeasured when it is not what the goal asks for."""
    why = results.why_not(goal.part, column, goal.test)
    if why:
        raise NotMeasured(f"{column}: {why}")
    noise = max(record.get("noise_permille", 0) for record in results.of(goal.part, column, goal.test))
    if noise > NOISE_PERMILLE:
        raise NotMeasured(f"{column}: other load on the host took {noise / 10:g} %")
    series = results.series(goal.part, column, goal.test, goal.metric)
    if not series.values:
        raise NotMeasured(f"{column}: no figure of {goal.test} {goal.metric}")
    if len(series.values) < goal.rounds:
        raise NotMeasured(f"{column}: {len(series.values)} of {goal.rounds} rounds")
    if goal.samples:
        least = min(results.series(goal.part, column, goal.test, "n").values, default=0)
        if least < goal.samples:
            raise NotMeasured(f"{column}: {least:.0f} of {goal.samples} samples")
    if goal.worst:
        return series.highest
    return series.median


def reference(results, goal):
    if goal.against is None:
        return 1.0
    if goal.against != "best":
        return figure(results, goal, goal.against)
    return (max if goal.higher else min)(figure(results, goal, column) for column in BASELINES)


def judge(results, goal):
    """(met, missed or not measured; the line that says so)."""
    try:
        value, base = figure(results, goal, goal.column), reference(results, goal)
        if goal.inverse:
            value, base = base, value
        if not base > 0:
            raise NotMeasured("what it is compared with is 0")
    except NotMeasured as reason:
        return "not measured", f"not measured ({reason})"
    got = value / base
    limit = f"{'at most' if goal.most else 'at least'} {goal.limit:g}"
    if got <= goal.limit if goal.most else got >= goal.limit:
        return "met", f"met ({got:.3g}, {limit})"
    # To the figure's own limit, not to what is beyond it.
    return "missed", f"missed by {abs(got / goal.limit - 1) * 100:.2g} % ({got:.3g}, {limit})"
