#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""style.py - the style rules that clang-format cannot express.

usage: style.py [TREE]

Lengths of functions and files, a licence line in each file and the right one for
its room, no path of the machine it was written on, no trailing white space.
"""
import os
import re
import sys

LONG_FUNCTION = 60  # lines; at most LONG_SHARE of all functions are longer
LONG_SHARE = 0.05
LONGEST_FUNCTION = 100
LONGEST_FILE = 700
LINES_FOR_SPDX = 3

ROOMS = ("api", "bpf", "cgroup", "daemon", "deploy", "man", "proto", "tests", ".ci")
TOP = ("Makefile", ".gitignore", ".clang-format", ".clang-tidy")
# Data, and what has no comments or belongs to somebody else.
WITHOUT_SPDX = (".json", ".md", ".tsv", ".golden", ".help", ".txt")
LICENCES = [
    (r"^bpf/.*\.bpf\.c$", {"GPL-2.0"}),
    (r"^tests/.*\.bpf\.c$", {"GPL-2.0", "GPL-2.0-or-later"}),
    (r"^api/lib/", {"LGPL-2.1-or-later"}),
    (r"^api/uintr/", {"GPL-2.0", "GPL-2.0-or-later"}),
    (r"^proto/(grpc|google)/", {"Apache-2.0", "BSD-3-Clause", "GPL-2.0-or-later"}),
    (r"", {"GPL-2.0-or-later"}),
]
SPDX = re.compile(r"SPDX-License-Identifier:\s*([^\s*]+)")
# Folders in which people keep their work, and addresses of package archives.
HOST_PATH = re.compile(r"(?<![\w.])/(home|work|Users)/[a-z][\w.-]*/|\bhttps?://[\w.-]+/(debian|debian-security)\b")


def functions(lines):
    """Yield (line number, length) of each function: a body that opens and closes at column 0."""
    start = 0
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            yield start, number - start + 1
            start = 0


def licence_for(path):
    return next(names for pattern, names in LICENCES if re.search(pattern, path))


def complaints(path, text):
    """Yield (line number, complaint) about one file, without the lengths of functions."""
    lines = text.splitlines()
    if path.endswith((".c", ".h")) and len(lines) > LONGEST_FILE:
        yield LONGEST_FILE, f"{len(lines)} lines, at most {LONGEST_FILE}: has it one purpose?"
    if not path.endswith(WITHOUT_SPDX):
        match = SPDX.search("\n".join(lines[:LINES_FOR_SPDX]))
        wanted = licence_for(path)
        if not match:
            yield 1, f"no SPDX-License-Identifier in the first {LINES_FOR_SPDX} lines"
        elif match[1] not in wanted:
            yield 1, f"licence {match[1]}, this room has {' or '.join(sorted(wanted))}"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "trailing white space"
        match = HOST_PATH.search(line)
        if match:
            yield number, f"a path or address of one machine: {match[0]}"


def files(tree):
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(tree, room)):
            folders[:] = sorted(f for f in folders if f not in ("__pycache__", "corpus"))
            for name in sorted(names):
                if not name.endswith((".swp", ".pyc", "~")):
                    yield os.path.relpath(os.path.join(folder, name), tree)
    for name in TOP:
        if os.path.exists(os.path.join(tree, name)):
            yield name


def main():
    tree = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../..")
    total = wrong = 0
    long_ones = []
    for path in files(tree):
        with open(os.path.join(tree, path), "rb") as stream:
            raw = stream.read()
        if b"\0" in raw or not raw:
            continue
        text = raw.decode("utf-8", "replace")
        for number, complaint in complaints(path, text):
            wrong += 1
            print(f"{path}:{number}: {complaint}")
        if path.endswith((".c", ".h")):
            for number, length in functions(text.splitlines()):
                total += 1
                if length > LONG_FUNCTION:
                    long_ones.append((length, path, number))
    for length, path, number in sorted(long_ones, reverse=True):
        if length > LONGEST_FUNCTION:
            wrong += 1
            print(f"{path}:{number}: a function of {length} lines, at most {LONGEST_FUNCTION}")
    if len(long_ones) > LONG_SHARE * total:
        wrong += 1
        print(f"{len(long_ones)} of {total} functions have over {LONG_FUNCTION} lines, at most {LONG_SHARE:.0%} may:")
        for length, path, number in sorted(long_ones, reverse=True):
            print(f"  {path}:{number}: {length}")
    if not total:
        print("no function found: is this the project's tree?")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
