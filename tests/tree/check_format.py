#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_format.py GEN_REFERENCE DOCS: docs/perf-data-format.md and docs/xray-format.md are what tables and prose make.

Also every link inside it leads to a heading, because the generator writes links to layouts by their name.
"""
import pathlib
import re
import subprocess
import sys


def check(generator, docs, name):
    made = subprocess.run([generator, docs / (name + ".in.md")], check=True, capture_output=True, text=True).stdout
    kept = (docs / (name + ".md")).read_text(encoding="utf-8")
    equal = made == kept
    headings = {line.lstrip("#").strip() for line in made.splitlines() if line.startswith("#")}
    lost = sorted({name for name in re.findall(r"\]\(#(\w+)\)", made) if name not in headings})
    if not equal:
        print("docs/%s.md is not what the tables make: run docs/make-docs.sh" % name)
    if lost:
        print("no heading for", ", ".join(lost))
    print("ok docs/" + name if equal else "not ok docs/" + name)
    print("not ok docs/links " + name if lost else "ok docs/links " + name)
    return equal and not lost


def main():
    results = [check(sys.argv[1], pathlib.Path(sys.argv[2]), name) for name in ("perf-data-format", "xray-format")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
