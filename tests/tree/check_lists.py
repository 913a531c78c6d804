#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_lists.py ROOT: checks that each list of the members of an enum has all of them.

reasons/words    wait_reason_name in wait_reasons.c has a word for each reason of waits of wait_reasons.h
reasons/order    lists that are indexed by a reason have all of them in the same order
reasons/pages    the manual, the other pages, the schema and the comments of offcpu.h have all of them, in any order
reasons/colours  each has a colour in web/page.css
marks/words      the words of pfr_mark_kind in SQL, its page and the Python package, in the same order
marks/page       web/marks.js has as many entries, and the same numbers of logged events
intervals        the words of pfr_interval_kind in the Python package; web/waits.js has as many entries
xray             every TRACE_RECORD of src/wire has a name, a member of pfr_trace_type, and of enum fdr_kind if it is metadata
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

# Lists of reasons, without the entry for "no reason". The first group is the list, the second pattern finds its words.
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


SPANS = "include/perfray/spans.h"
TABLES = "bindings/python/perfray/_tables.py"
MARKS = (
    (TABLES, r"MARK_KINDS = \((.*?)\)", r'"(\w+)"'),
    ("src/sql/sql_tables.c", r"mark_word\(pfr_mark_kind kind\) \{(.*?)\n    \}\n", r'return "(\w+)"'),
    ("docs/sql.md", r"\| `kind` \| (lost, .*?): events", r"\w+"),
)


def words_of(root, path, block, word):
    found = re.search(block, (root / path).read_text(encoding="utf-8"), re.M | re.S)
    harness.must(found, f"{path}: the list is not found")
    plain = re.sub(r"/\*.*?\*/|\([^()]*\)|\n \*", "", found[1])
    return [text.lower() for text in re.findall(word, plain, re.M)]


def check_words(root, reasons):
    source = (root / "src/model/sched/wait_reasons.c").read_text(encoding="utf-8")
    words = {number.lower(): word for number, word in re.findall(r'\[WAIT_(\w+)\] = "(\w+)"', source)}
    harness.must(words == {reason: reason for reason in reasons}, f"wait_reasons.c has the words {words}")


def check_lists(root, lists, members, order):
    for path, block, word in lists:
        found = words_of(root, path, block, word)
        harness.must(order(found) == order(members), f"{path} has {found}, the enum {members}")


def check_colours(root, reasons):
    styles = (root / "web/page.css").read_text(encoding="utf-8")
    lacking = [reason for reason in reasons if not re.search(r"\.by-%s\b" % reason, styles)]
    harness.must(not lacking, f"web/page.css has no colour for {lacking}")


def number_in(root, path, pattern):
    found = re.search(pattern, (root / path).read_text(encoding="utf-8"))
    harness.must(found, f"{path}: {pattern} is not found")
    return int(found[1])


def length_of(root, path, name):
    found = re.search(r"\b%s = \[(.*?)\]" % name, (root / path).read_text(encoding="utf-8"))
    harness.must(found, f"{path}: {name} is not found")
    return len(found[1].split(","))


def check_mark_page(root, kinds):
    for name in ("MARK_KINDS", "COUNTED"):
        count = length_of(root, "web/marks.js", name)
        harness.must(count == len(kinds), f"{name} of web/marks.js has {count} entries, spans.h {len(kinds)} kinds")
    for name, kind in (("FIRST_LOGGED", "custom"), ("TYPED", "typed")):
        number = number_in(root, "web/marks.js", r"\b%s = (\d+)" % name)
        harness.must(number == kinds.index(kind), f"{name} of web/marks.js is {number}, not the number of '{kind}'")


def check_intervals(root):
    kinds = words_of(root, SPANS, r"enum pfr_interval_kind \{(.*?)\} pfr_interval_kind;", r"PFR_INTERVAL_(\w+)")
    check_lists(root, [(TABLES, r"INTERVAL_KINDS = \((.*?)\)", r'"(\w+)"')], kinds, list)
    count = length_of(root, "web/waits.js", "KINDS")
    harness.must(count == len(kinds), f"KINDS of web/waits.js has {count} entries, spans.h {len(kinds)}")


def enum_members(root, path, begin, prefix):
    """{lower-case name: number} of an enum whose values are absent, N, or BASE + N."""
    block = re.search(begin + r" \{(.*?)\}", (root / path).read_text(encoding="utf-8"), re.S)[1]
    members, number = {}, 0
    for name, value in re.findall(r"\b%s(\w+)(?: = ([^,\n]*))?" % prefix, re.sub(r"/\*.*?\*/", "", block, flags=re.S)):
        digits = re.search(r"\d+$", value)
        number = int(digits[0]) if digits else 0 if value else number
        members[name.lower()] = number
        number += 1
    return members


def check_xray(root):
    names = re.search(r"SET\(TRACE_RECORD,.*?END_SET", (root / "src/wire/names.def").read_text(encoding="utf-8"), re.S)[0]
    named = {int(number): name.lower() for number, name in re.findall(r'NAME\((\d+), "(\w+)"\)', names)}
    layouts = sorted(int(number) for path in sorted((root / "src/wire").glob("xray_*.def"))
                     for number in re.findall(r"LAYOUT\(TRACE_RECORD\((\d+)\)", path.read_text(encoding="utf-8")))
    harness.must(layouts == sorted(named), f"names.def names {sorted(named)}, the layouts are {layouts}")
    types = enum_members(root, "include/perfray/trace.h", "enum pfr_trace_type", "PFR_TRACE_")
    by_number = {number: name.replace("_", "") for name, number in types.items()}
    harness.must(by_number == named, f"trace.h has {by_number}, names.def {named}")
    kinds = enum_members(root, "src/file/xray/xray.h", "enum fdr_kind", "FDR_")
    least = kinds.pop("kinds")
    metadata = {name: number for name, number in types.items() if number < least}
    harness.must({"call": 16, **metadata} == kinds, f"xray.h has {kinds}, trace.h {metadata}")
    harness.must(all(number < least or number >= 16 for number in named), f"FDR_KINDS is {least}, names.def {named}")


def main():
    root = Path(sys.argv[1])
    reasons = words_of(root, "src/model/sched/wait_reasons.h", r"enum wait_reason \{(.*?)WAIT_REASONS,", r"WAIT_(\w+)")
    harness.attempt("reasons/words", check_words, root, reasons)
    harness.attempt("reasons/order", check_lists, root, ORDERED, reasons, list)
    harness.attempt("reasons/pages", check_lists, root, UNORDERED, reasons, sorted)
    harness.attempt("reasons/colours", check_colours, root, reasons)
    marks = words_of(root, SPANS, r"enum pfr_mark_kind \{(.*?)\} pfr_mark_kind;", r"PFR_MARK_(\w+)")
    harness.attempt("marks/words", check_lists, root, MARKS, marks, list)
    harness.attempt("marks/page", check_mark_page, root, marks)
    harness.attempt("intervals", check_intervals, root)
    harness.attempt("xray", check_xray, root)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
