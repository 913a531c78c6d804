#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_store_page.py [--update] ROOT: checks that the tables of docs/store.md agree with src/store/store_tables.def.

store/tables  the text between the two marks of the page equals the generated text
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

BEGIN, END = re.compile(r"<!-- tables:[^>]*-->\n"), "<!-- end -->\n"
ROW = re.compile(r'^(TABLE|C)\(([^,]+), (.*)\)$')


def tables(text):
    lines = []
    for line in text.splitlines():
        row = ROW.match(line)
        if row and row[1] == "TABLE":
            order, partition, doc = re.match(r'"([^"]*)", (\w+), "(.*)"$', row[3]).groups()
            kind = "by day" if partition == "BY_DAY" else "shared"
            lines += ["", f"### `{row[2]}`", "", f"{doc[0].upper() + doc[1:]}. Key: {order}; {kind}.", "",
                      "| column | type | meaning |", "| --- | --- | --- |"]
        elif row:
            name, doc = re.match(r'(\w+), "(.*)"$', row[3]).groups()
            lines.append(f"| `{name}` | {row[2]} | {doc} |")
    return "\n".join(lines[1:]) + "\n"


def main():
    root = Path(sys.argv[-1])
    page = root / "docs" / "store.md"
    text = page.read_text()
    wanted = tables((root / "src" / "store" / "store_tables.def").read_text())
    start, end = BEGIN.search(text).end(), text.index(END)
    if sys.argv[1] == "--update":
        page.write_text(text[:start] + wanted + text[end:])
        return 0
    harness.result("store/tables", "" if text[start:end] == wanted else "run check_store_page.py --update ROOT")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
