#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""man_config.py - schedd.yaml(5) is well-formed and names the keys and defaults that are read.

usage: man_config.py [TEST_CONFIG]   (the program that prints the keys, default build/tests/unit/test_config)
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(ROOT, "man", "schedd.yaml.5")


def read_schema(program):
    """path -> default ("" where the schema has none), and the set of later keys."""
    out = subprocess.run([program, "keys"], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    keys, later = {}, set()
    for line in out.splitlines():
        kind, path, fallback = line.split("\t")
        if kind == "later":
            later.add(path)
        else:
            keys[path] = fallback
    return keys, later


def read_page():
    """path -> text of its item; and the keys in the section on later versions."""
    keys, later, at, section = {}, set(), None, ""
    with open(PAGE, encoding="utf-8") as page:
        for line in page:
            heading = re.match(r"\.S[hs] (.*)", line)
            item = re.match(r"\.It Ic (\S+)$", line)
            if heading:
                section, at = heading.group(1), None
            elif item:
                at = item.group(1)
                if at in keys:
                    sys.exit(f"man_config.py: {at} is in the page twice")
                keys[at] = ""
            elif at:
                keys[at] += line
            elif section == "KEYS OF LATER VERSIONS" and line.startswith(".Ic "):
                later.update(word for word in line.split()[1:] if word not in (",", "."))
    return keys, later


def lint_page():
    """What mandoc has against the form of the page; pages of other packages need not be installed here."""
    if not shutil.which("mandoc"):
        print("man_config.py: no mandoc here, the form of the page is not checked")
        return []
    out = subprocess.run(["mandoc", "-T", "lint", PAGE], check=False, capture_output=True, text=True)
    lines = (out.stdout + out.stderr).splitlines()
    return [line for line in lines if "referenced manual not found" not in line and "outdated mandoc.db" not in line]


def page_default(text):
    """The default as the page gives it in one word; None when it needs a sentence."""
    found = re.search(r"^Default:\n\.Ql (\S+)$", text, re.M)
    return found.group(1) if found else None


def main():
    program = os.path.join(ROOT, os.environ.get("BUILD", "build"), "tests/unit/test_config")
    program = sys.argv[1] if len(sys.argv) > 1 else program
    if not os.access(program, os.X_OK):
        sys.exit(f"man_config.py: {program} is not built: run 'make check-unit' first")
    schema, schema_later = read_schema(program)
    page, page_later = read_page()
    faults = lint_page()
    faults += [f"{path} is read, but not in schedd.yaml(5)" for path in sorted(schema.keys() - page.keys())]
    faults += [f"{path} is in schedd.yaml(5), but not read" for path in sorted(page.keys() - schema.keys())]
    faults += [f"{path} is refused as later, but not in schedd.yaml(5)" for path in sorted(schema_later - page_later)]
    faults += [f"{path} is later in schedd.yaml(5), but not refused as such" for path in sorted(page_later - schema_later)]
    for path in sorted(schema.keys() & page.keys()):
        if schema[path] and page_default(page[path]) != schema[path]:
            faults.append(f"{path}: the default is {schema[path]}, the page says {page_default(page[path])}")
        if "Default:" not in page[path] and "Required." not in page[path]:
            faults.append(f"{path}: the page gives no default")
    for fault in faults:
        print(f"man_config.py: {fault}", file=sys.stderr)
    if not faults:
        print(f"man_config.py: {len(schema)} keys and {len(schema_later)} later ones agree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
