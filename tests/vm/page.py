#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""page.py - what scenarios ask of two pages of metrics, text format, one later than the other.

usage: page.py edge QUANTILE BEFORE AFTER CLASS SCHEDULER
           the edge in us below which that share of the wake-ups between the two were
       page.py fallen BEFORE AFTER
           the counters that have fallen or gone; exit status 1 if any has
"""
import re
import sys

EDGE = r'schedd_class_wakeup_latency_seconds_bucket\{class="%s",scheduler="%s",le="([^"]+)"\} (\d+)'


def read(path):
    with open(path, encoding="utf-8") as page:
        return page.read()


def edge(quantile, before, after, class_name, scheduler):
    old, new = (dict(re.findall(EDGE % (class_name, scheduler), read(page))) for page in (before, after))
    counts = [(float(end), int(new[end]) - int(old[end])) for end in new]
    if not counts or not counts[-1][1]:
        sys.exit(f"page.py: no wake-up of {class_name} by {scheduler} between {before} and {after}")
    print(f"{1e6 * next(end for end, count in counts if count >= float(quantile) * counts[-1][1]):.1f}")


def counters(path):
    """Every sample that must not fall. The kernel's own events begin anew with each attachment."""
    types, values = {}, {}
    for line in read(path).splitlines():
        if line.startswith("# TYPE "):
            types[line.split()[2]] = line.split()[3]
        elif not line.startswith("#") and "SCX_EV_" not in line:
            name, value = line.rsplit(" ", 1)
            family = re.sub(r"\{.*", "", name)
            parent = re.sub(r"_(bucket|sum|count)$", "", family)
            if types.get(family) == "counter" or types.get(parent) in ("histogram", "summary"):
                values[name] = float(value)
    return values


def fallen(before, after):
    old, new = counters(before), counters(after)
    wrong = [f"{name} was {value:g}, is {new.get(name)}" for name, value in old.items() if new.get(name, -1) < value]
    print(f"{len(old)} counters", *wrong, sep="\n")
    if wrong or not old:
        sys.exit(1)


if __name__ == "__main__":
    {"edge": edge, "fallen": fallen}[sys.argv[1]](*sys.argv[2:])
