# SPDX-License-Identifier: Apache-2.0
"""How the outputs other than dumps are compared: line by line, by their numbers (--stats), or row by row (report)."""
import difflib
import re

CAPTURED = re.compile(r"^# captured on ")
COUNT = re.compile(r"^ *(\S+) events: +(\d+)(?:  \( *([0-9.]+)%\))?$")
RULER = re.compile(r"^# (\.+(?:  \.+)*)")


def pair_lines(expected, found):
    """The lines of two lists that differ, paired in order; None where one side has no line."""
    pairs = []
    matcher = difflib.SequenceMatcher(None, expected, found, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        longest = max(b - a, d - c)
        mine, other = expected[a:b] + [None] * longest, found[c:d] + [None] * longest
        pairs += list(zip(mine, other))[:longest]
    return pairs


def differing_text(reference, ours):
    return [] if reference == ours else pair_lines(reference.split("\n"), ours.split("\n"))


def differing_header(reference, ours):
    mine, other = ([line for line in text.split("\n") if not CAPTURED.match(line)] for text in (reference, ours))
    return pair_lines(mine, other)


def read_counts(text):
    """{(event, record name): (count, per cent)} of a --stats text; event is empty in the sum."""
    counts, event = {}, ""
    for line in text.split("\n"):
        found = COUNT.match(line)
        if found:
            counts[event, found[1]] = (found[2], found[3])
        elif line.endswith(" stats:"):
            event = line[:-len(" stats:")]
    return counts


def differing_stats(reference, ours):
    """Equal bytes are equal; else the numbers decide, and only then the lines say how they differ."""
    if reference == ours or read_counts(reference) == read_counts(ours) != {}:
        return []
    return pair_lines(reference.split("\n"), ours.split("\n"))


def read_rows(text, widths=None):
    """(rows, widths of the columns) of a table like perf's --stdio: rows are (overhead, comm, dso)."""
    rows, at = [], None
    for line in text.split("\n"):
        ruler = RULER.match(line)
        if ruler:
            at = [len(dots) for dots in ruler[1].split("  ")]
        elif at and line and not line.startswith("#") and "%" in line:
            rows.append(split_row(line, at, widths))
    return rows, at


def split_row(line, at, widths):
    """The cells of one row; a name longer than perf's column is cut to it, as perf cuts names."""
    overhead, rest = line[:at[0] + 2].strip(), line[at[0] + 4:]
    comm, dso = rest[:at[1]].rstrip(), rest[at[1]:].strip()
    return overhead, comm[:widths[1]] if widths else comm, dso


def differing_rows(reference, ours):
    """Rows in the order of the reference; among rows of equal overhead the order does not count."""
    expected, widths = read_rows(reference)
    found, _ = read_rows(ours, widths)

    def order(row):
        return (-float(row[0].rstrip("%")), row)
    mine, other = ([" ".join(row) for row in sorted(rows, key=order)] for rows in (expected, found))
    return pair_lines(mine, other)


def is_plain_report(report, evlist):
    """A table of one event without branch stacks: the first report's case."""
    events = [line for line in evlist.split("\n") if line and not line.startswith("# Tip")]
    return len(events) == 1 and "BRANCH_STACK" not in events[0] and read_rows(report)[0] != []
