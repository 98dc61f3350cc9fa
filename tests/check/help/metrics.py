#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Both exposition formats, read by the parsers that others use.

usage: metrics.py TEXT_FILE OPENMETRICS_FILE [--live]

--live: the two are of a running daemon at two instants, so values may differ.

Says the first thing that differs and exits 1.
"""
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text


def samples(families):
    found = {}
    for family in families:
        for s in family.samples:
            key = (s.name, tuple(sorted(s.labels.items())))
            if key in found:
                sys.exit(f"metrics.py: {key} is there twice")
            found[key] = s.value
    return found


def check_same(text, openmetrics, live):
    for key in sorted(text.keys() ^ openmetrics.keys()):
        sys.exit(f"metrics.py: {key} is in one format only")
    for key, value in () if live else text.items():
        # Two renderings see the process at two instants.
        if not key[0].startswith("process_") and openmetrics[key] != value:
            sys.exit(f"metrics.py: {key} is {value} and {openmetrics[key]}")


def check_types(text, openmetrics):
    """The same families, but that the text format calls an info a gauge."""
    for family in text:
        name = family.name.removesuffix("_info")
        other = next((f for f in openmetrics if f.name == name), None)
        if other is None:
            sys.exit(f"metrics.py: {family.name} is missing in OpenMetrics")
        if family.documentation != other.documentation:
            sys.exit(f"metrics.py: {family.name} has two help texts")
        if family.type != other.type and (family.type, other.type) != ("gauge", "info"):
            sys.exit(f"metrics.py: {family.name} is a {family.type} and a {other.type}")
        if other.unit and not other.name.endswith("_" + other.unit):
            sys.exit(f"metrics.py: {other.name} does not end with its unit {other.unit}")


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def main():
    text = list(parse_text(read(sys.argv[1])))
    openmetrics = list(parse_openmetrics(read(sys.argv[2])))
    check_same(samples(text), samples(openmetrics), "--live" in sys.argv[3:])
    check_types(text, openmetrics)
    print(f"{len(openmetrics)} families, {len(samples(text))} samples, the same in both formats")


main()
