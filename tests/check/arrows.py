#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""arrows.py - which room may include what: the table of ARCHITECTURE.md, enforced.

usage: arrows.py [TREE]

A room is a folder, an include belongs to a kind. A kind that the room's row
does not name is a wrong arrow. tests/ may include anything.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# (what the including file must match, the kinds it may include); the first match counts.
ROWS = [
    (r"^bpf/", {"bpf", "intf", "libbpf"}),
    (r"^daemon/base/", {"base"}),
    (r"^cgroup/cri\w*\.[ch]$", {"base", "cgroup", "intf", "proto", "grpc"}),
    (r"^cgroup/", {"base", "cgroup", "intf"}),
    (r"^daemon/sched\.c$", {"base", "cgroup", "intf", "daemon", "command", "made", "skeleton", "libbpf"}),
    (r"^daemon/daemon\w*\.[ch]$", {"base", "cgroup", "intf", "daemon", "command", "made", "server"}),
    (r"^daemon/", {"base", "cgroup", "intf", "daemon", "command", "made", "libbpf"}),
    (r"^api/ctl/client\.c$", {"base", "ctl", "proto", "command", "grpc"}),
    (r"^api/ctl/cmd_config\.c$", {"base", "ctl", "proto", "command", "made", "daemon config"}),
    (r"^api/ctl/(show|doctor)\.[ch]$", {"base", "ctl", "proto", "command", "made", "mount"}),
    (r"^api/ctl/", {"base", "ctl", "proto", "command", "made"}),
    (r"^api/lib/", {"lib", "page"}),
    (r"^api/uintr/", {"uintr", "kernel"}),
    (r"^api/server\w*\.[ch]$", {"base", "api", "server", "command", "grpc"}),
    (r"^api/", {"base", "api", "server", "command", "proto"}),
    (r"^tests/", None),
]

# (what the included path must match, its kind); the first match counts.
KINDS = [
    (r"^bpf/(intf|sched_math)\.h$", "intf"),
    (r"^bpf/bpf_\w+\.h$|^bpf/(lib)?(bpf|btf)\.h$", "libbpf"),
    (r"^bpf/", "bpf"),
    (r"^daemon/base/", "base"),
    (r"^daemon/(command\w*|class)\.h$", "command"),
    (r"^daemon/config\.h$", "daemon config"),
    (r"^daemon/", "daemon"),
    (r"^cgroup/mount\.h$", "mount"),
    (r"^cgroup/", "cgroup"),
    (r"^api/ctl/", "ctl"),
    (r"^api/lib/.*page\.h$", "page"),
    (r"^api/lib/", "lib"),
    (r"^api/uintr/", "uintr"),
    (r"^api/server\.h$", "server"),
    (r"^api/", "api"),
    (r"\.pb-c\.h$", "proto"),
    (r"\.skel\.h$", "skeleton"),
    (r"^(version|bpf_hash)\.h$", "made"),
    (r"^grpc/", "grpc"),
]

# A kind that is part of a wider one.
WIDER = {"mount": "cgroup", "daemon config": "daemon"}


def kind_of(path, quoted):
    for pattern, kind in KINDS:
        if re.search(pattern, path):
            return kind
    # The system's headers are everybody's; a quoted one that we do not know is nobody's.
    return "unknown" if quoted else None


def allowed_for(path):
    for pattern, kinds in ROWS:
        if re.search(pattern, path):
            return kinds
    return set()


def wrong_arrows(path, lines):
    """Yield (line number, included path, kind) of each include that path may not have."""
    allowed = allowed_for(path)
    if allowed is None:
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        kind = kind_of(match[2], match[1] == '"')
        if kind and kind not in allowed and WIDER.get(kind) not in allowed:
            yield number, match[2], kind


def sources(tree):
    for room in ("api", "bpf", "cgroup", "daemon", "tests"):
        for folder, _, names in os.walk(os.path.join(tree, room)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), tree)


def main():
    tree = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../..")
    wrong = files = 0
    for path in sources(tree):
        files += 1
        with open(os.path.join(tree, path), encoding="utf-8") as stream:
            for number, included, kind in wrong_arrows(path, stream):
                wrong += 1
                print(f"{path}:{number}: must not include {included} ({kind}); see the table in ARCHITECTURE.md")
    if not files:
        print("no source file found: is this the project's tree?")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
