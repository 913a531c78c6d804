#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_format.py GEN_REFERENCE DOCS: checks that docs/perf-data-format.md and docs/xray-format.md equal the generated
pages. Also checks that every internal link leads to a heading, because the generator writes links to layouts by their
name.
"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402


def check(generator, docs, name):
    made = subprocess.run([generator, docs / (name + ".in.md")], check=True, capture_output=True, text=True).stdout
    kept = (docs / (name + ".md")).read_text(encoding="utf-8")
    equal = made == kept
    headings = {line.lstrip("#").strip() for line in made.splitlines() if line.startswith("#")}
    lost = sorted({name for name in re.findall(r"\]\(#(\w+)\)", made) if name not in headings})
    harness.result("docs/" + name, "" if equal else "docs/%s.md is not what the tables make: run docs/make-docs.sh" % name)
    harness.result("docs/links " + name, lost and "no heading for " + ", ".join(lost))


def main():
    for name in ("perf-data-format", "xray-format"):
        check(sys.argv[1], pathlib.Path(sys.argv[2]), name)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
