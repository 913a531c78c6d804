# SPDX-License-Identifier: Apache-2.0
"""Comparison of outputs other than dumps: line by line, by numbers (--stats), or row by row (report)."""
import difflib
import re

CAPTURED = re.compile(r"^# captured on ")
COUNT = re.compile(r"^ *(\S+) events: +(\d+)(?:  \( *([0-9.]+)%\))?$")
RULER = re.compile(r"^# (\.+(?:  \.+)*)")


def pair_lines(expected, found):
    """The lines of two lists that differ, paired in order; None if one side has no line."""
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
    """Equal bytes are equal. Otherwise the numbers are compared; if they differ, the lines show how."""
    if reference == ours or read_counts(reference) == read_counts(ours) != {}:
        return []
    return pair_lines(reference.split("\n"), ours.split("\n"))


def read_rows(text, tables=None):
    """(rows, widths of the columns of each table) of a report like perf's --stdio: rows are (overhead, comm, dso). `tables`:
    the column widths of another report, to which names are cut."""
    rows, found = [], []
    for line in text.split("\n"):
        ruler = RULER.match(line)
        if ruler:
            found.append([len(dots) for dots in ruler[1].split("  ")])
        elif found and line and not line.startswith("#") and "%" in line:
            number = len(found) - 1
            rows.append(split_row(line, found[-1], tables[number] if tables and number < len(tables) else None))
    return rows, found


def split_row(line, at, widths):
    """The cells of one row; a name longer than perf's column is cut, as perf cuts names."""
    overhead, rest = line[:at[0] + 2].strip(), line[at[0] + 4:]
    comm, dso = rest[:at[1]].rstrip(), rest[at[1]:].strip()
    return overhead, comm[:widths[1]] if widths else comm, dso


def differing_rows(reference, ours):
    """The pairs of rows that differ, in order; the rows of several events follow one another."""
    expected, widths = read_rows(reference)
    found, _ = read_rows(ours, widths)
    return pair_lines(*([" ".join(row) for row in rows] for rows in (expected, found)))


def has_rows(report):
    return read_rows(report)[0] != []


def has_group_reads(evlist):
    """The values of a counter group in each sample count as samples of the other members."""
    return any("READ" in re.search(r"sample_type: ([^,]*)", line)[1].split("|") and "GROUP" in line
               for line in evlist.split("\n") if "sample_type: " in line)
