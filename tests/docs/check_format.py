#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_format.py GEN_REFERENCE DOCS: docs/perf-data-format.md is what the tables and its prose make.

Also every link inside it leads to a heading, because the generator writes links to layouts by their name.
"""
import pathlib
import re
import subprocess
import sys


def main():
    generator, docs = sys.argv[1], pathlib.Path(sys.argv[2])
    made = subprocess.run([generator, docs / "perf-data-format.in.md"], check=True, capture_output=True, text=True).stdout
    kept = (docs / "perf-data-format.md").read_text(encoding="utf-8")
    equal = made == kept
    headings = {line.lstrip("#").strip() for line in made.splitlines() if line.startswith("#")}
    lost = sorted({name for name in re.findall(r"\]\(#(\w+)\)", made) if name not in headings})
    if not equal:
        print("docs/perf-data-format.md is not what the tables make: run docs/make-docs.sh")
    if lost:
        print("no heading for", ", ".join(lost))
    print("ok docs/format" if equal else "not ok docs/format")
    print("not ok docs/links" if lost else "ok docs/links")
    return 0 if equal and not lost else 1


if __name__ == "__main__":
    sys.exit(main())
