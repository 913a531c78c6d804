#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_reasons.py ROOT: checks that every list of the reasons of waits has those of src/model/sched/wait_reasons.h.

reasons/words    wait_reason_name in wait_reasons.c has a word for each reason
reasons/order    lists that are indexed by a reason have all of them in the same order
reasons/pages    the manual, the other pages, the schema and the comments of offcpu.h have all of them, in any order
reasons/colours  each has a colour in web/page.css
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

# Lists without the entry for "no reason". The first group is the list, the second pattern finds its words.
ORDERED = (
    ("include/perfray/spans.h", r"PFR_WAIT_NONE,(.*?)\} pfr_wait_reason;", r"PFR_WAIT_(\w+)"),
    ("web/waits.js", r"REASONS = \['',(.*?)\]", r"'(\w+)'"),
    ("bindings/python/perfray/_tables.py", r"WAIT_REASONS = \(None,(.*?)\)", r'"(\w+)"'),
)
UNORDERED = (
    ("docs/man/perfray-offcpu.1.scd", r"^\|\[ reason\n(.*?)\n\n", r"^\|  (\w+)$"),
    ("docs/sql.md", r"reason of blocked: (.*?) \|", r"\w+"),
    ("docs/json/offcpu.schema.json", r'"reason": \{"enum": \[(.*?), null\]', r'"(\w+)"'),
    ("include/perfray/offcpu.h", r"that perfray knows: (.*?) if\n", r"(?:^|[, `])(\w+)(?=[ ,;`](?!\w))"),
    ("include/perfray/offcpu.h", r"reason, only if blocked: (.*?)\.", r"\w+"),
)


def words_of(root, path, block, word):
    found = re.search(block, (root / path).read_text(encoding="utf-8"), re.M | re.S)
    harness.must(found, f"{path}: the list of reasons is not found")
    plain = re.sub(r"/\*.*?\*/|\([^()]*\)|\n \*", "", found[1])
    return [text.lower() for text in re.findall(word, plain, re.M)]


def check_words(root, reasons):
    source = (root / "src/model/sched/wait_reasons.c").read_text(encoding="utf-8")
    words = {number.lower(): word for number, word in re.findall(r'\[WAIT_(\w+)\] = "(\w+)"', source)}
    harness.must(words == {reason: reason for reason in reasons}, f"wait_reasons.c has the words {words}")


def check_lists(root, lists, reasons, order):
    for path, block, word in lists:
        found = words_of(root, path, block, word)
        harness.must(order(found) == order(reasons), f"{path} has {found}, wait_reasons.h {reasons}")


def check_colours(root, reasons):
    styles = (root / "web/page.css").read_text(encoding="utf-8")
    lacking = [reason for reason in reasons if not re.search(r"\.by-%s\b" % reason, styles)]
    harness.must(not lacking, f"web/page.css has no colour for {lacking}")


def main():
    root = Path(sys.argv[1])
    reasons = words_of(root, "src/model/sched/wait_reasons.h", r"enum wait_reason \{(.*?)WAIT_REASONS,", r"WAIT_(\w+)")
    harness.attempt("reasons/words", check_words, root, reasons)
    harness.attempt("reasons/order", check_lists, root, ORDERED, reasons, list)
    harness.attempt("reasons/pages", check_lists, root, UNORDERED, reasons, sorted)
    harness.attempt("reasons/colours", check_colours, root, reasons)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
