#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""results.py - what the guests wrote, one file a boot, as one flat line of JSON per measurement.

usage: results.py FOLDER >results.jsonl

A line has part, round and column, and either test, scheduler, status, params, metrics (and quantiles_us
in place of samples), or `missing` (why the column could not be measured), or `inconclusive`, or `meta`
(of what the part is), or `ended` (the status of a guest that did not end well).
"""
import glob
import json
import os
import sys

# Dense at the end that matters.
QUANTILES = sorted({i / 50 for i in range(50)} | {1 - 10 ** (-e / 6) for e in range(6, 25)} | {1.0})


def quantiles(samples):
    """[[p, value]...]; p of 0.5 is the median. Never finer than the samples are."""
    ordered = sorted(samples)
    last = len(ordered) - 1
    return [[round(p, 6), ordered[int(p * last + 0.5)]] for p in QUANTILES
            if p == 1.0 or (1 - p) * len(ordered) >= 1]


def flatten(line):
    """Yield the flat records of one line of a guest."""
    head = {key: line[key] for key in ("part", "round", "column", "noise_permille") if key in line}
    if "run" not in line:
        yield line
        return
    run = line["run"]
    for result in run["results"]:
        record = dict(head, scheduler=run["scheduler"], kernel=run["kernel"], cpus=run["cpus"])
        variant = line.get("variant")
        record["test"] = result["test"] + ("_" + variant if variant else "")
        for key in ("status", "reason", "params", "metrics"):
            record[key] = result.get(key, {} if key in ("params", "metrics") else "")
        if result.get("samples_us"):
            record["quantiles_us"] = quantiles(result["samples_us"])
        yield record


def main():
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.jsonl"))):
        with open(path, encoding="utf-8") as stream:
            for number, text in enumerate(stream, 1):
                try:
                    records = list(flatten(json.loads(text)))
                except (ValueError, KeyError) as error:
                    # A guest that died in the middle of a line: what is before it counts.
                    print(f"{path}:{number}: not a result: {error}", file=sys.stderr)
                    continue
                for record in records:
                    print(json.dumps(record, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
