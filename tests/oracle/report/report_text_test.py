#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests report_text.py: equal texts compare equal, each listed difference is recognised by name, and any other change of a line is found."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import report_text  # noqa: E402

REPORT = """# Overhead  Command  Symbol
#
    60.00%    10.00%  work     [.] main
            |
            ---main
               |
               |--30.00%--left
               |
                --20.00%--right

    20.00%    20.00%  work     [k] 0x00000000deadbeef
    20.00%     0.00%  work     [.] second
            |
             --20.00%--[...] (inlined)

"""


def compare(ours, reference=REPORT):
    return report_text.Comparison(reference, ours)


def swap(text, first, second):
    return text.replace(first, "@").replace(second, first).replace("@", second)


def without_row(text):
    return text.replace("    20.00%    20.00%  work     [k] 0x00000000deadbeef\n", "")


TRACED = "   100.00%  prev_comm=ca\n"
LISTED = {
    "level-of-unknown-addresses": REPORT.replace("[k]", "[.]"),
    "rest-of-a-level": REPORT.replace(" (inlined)", ""),
    "order-of-equal-branches": swap(REPORT, "30.00%--left", "20.00%--right"),
    "order-of-equal-rows": without_row(REPORT) + "    20.00%    20.00%  work     [k] 0x00000000deadbeef\n",
}
LISTED["cut-text-of-tracepoints"] = TRACED, TRACED.replace("prev_comm=ca", "prev_comm=calls prev_pid=7 prev_prio=120")
LISTED["lines-of-addresses"] = (REPORT.replace("--left", "--left left.c:7").replace("--right", "--right :0"),
                                REPORT.replace("--left", "--left +12").replace("--right", "--right +0"))
COLUMN = ("10.00%  [.] f - -", "10.00%  [.] f")
OTHERS = [
    REPORT.replace("60.00%", "60.01%"), REPORT.replace("work     [.] main", "work     [.] mean"), REPORT.replace("30.00%--left", "31.00%--left"),
    REPORT.replace("---main", "---mean"), without_row(REPORT), REPORT + "     1.00%  work [.] more\n",
    REPORT.replace("                --20", "               --20"), REPORT.replace("0x00000000deadbeef", "0x00000000deadbeee"), "",
]


def check_equal():
    result = compare(REPORT.replace("  work", "      work"))
    return not result.unexplained and not result.rules and result.lines == 11


def check_listed():
    found = {name: compare(text) if isinstance(text, str) else compare(text[1], text[0]) for name, text in LISTED.items()}
    return all(not result.unexplained and list(result.rules) == [name] for name, result in found.items())


def check_column():
    result = compare(COLUMN[1], COLUMN[0])
    return not result.unexplained and list(result.rules) == ["column-without-instructions"]


def check_both():
    """A row for an address in no object, with the rest of a level below it."""
    row = "    20.00%%     0.00%%  work     [%s] 0x00000000deadbeef\n            |\n             --20.00%%--[...]%s\n"
    result = compare(row % (".", ""), row % ("k", " (inlined)"))
    return not result.unexplained and sorted(result.rules) == ["level-of-unknown-addresses", "rest-of-a-level"]


def check_level_and_order():
    """A row for an address in no object, with equal branches in another order below it."""
    row = "    20.00%%     0.00%%  work     [%s] 0x00000000deadbeef\n            |\n            |--10.00%%--%s\n             --10.00%%--%s\n"
    result = compare(row % (".", "left", "right"), row % ("k", "right", "left"))
    return not result.unexplained and sorted(result.rules) == ["level-of-unknown-addresses", "order-of-equal-branches"]


def check_found():
    return all(compare(text).unexplained for text in OTHERS)


def check_headings():
    """Differences in the words, the order or the number of tables are found. Columns that only perf prints, and columns that perf leaves out, are ignored."""
    tables = "# Overhead  Command  IPC   [IPC Coverage]\n# ........  .......  ....................\n#\n", "# Overhead  Command  id\n# ........  .......  ..\n"
    other = [tables[1].replace("Overhead", "Self"), tables[1].replace("Overhead  Command", "Command  Overhead"), "", tables[1] * 2]
    return report_text.same_headings(*tables) and not any(report_text.same_headings(tables[0], text) for text in other)


CHECKS = {"headings": check_headings, "equal": check_equal, "listed": check_listed, "column": check_column, "both": check_both, "level_and_order": check_level_and_order, "found": check_found}


def main():
    for name, check in CHECKS.items():
        harness.result("report_comparer_" + name, not check())
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
