# SPDX-License-Identifier: Apache-2.0
"""Compares two reports line by line. A report consists of rows, each with the lines of its call tree; `#` lines, empty lines and the blanks that fill columns
are ignored. A rule must explain each difference. There are at most ten rules; each tests the lines, and has an entry in docs/differences.md."""
import itertools
import re
from collections import Counter
from dataclasses import dataclass, field

MOST_RULES = 10
ROW = re.compile(r" {0,9}-?[\d.]+%?(\s|,|$)")
TREE = " " * 11
BLANKS = re.compile(r" +")
NAMELESS = re.compile(r"\[[k.guH]\] (0x[0-9a-f]{16}|0{16})(?![0-9a-f])")
REST = re.compile(r"(--[\d.]+%?--\[\.\.\.\]) \(inlined\)$")
NO_IPC = " - -"
USER_DATA = re.compile(r"\[[kX]\] 0x[0-9a-f]{16} \[unknown\]")
CUT = re.compile(r" [a-z_]+=\S*$|\[([0-9a-f]{2},? )*[0-9a-f]{0,2},?$")
LINE = re.compile(r" [^ |]*:\d+$")  # ":0" if addr2line finds no line
UNDERLINES = re.compile(r"#[ .]*\.\.[ .]*")
DISTANCE = re.compile(r" \+\d+$")
IN_VARIABLE = re.compile(r"\+0x[0-9a-f]+(?= |$)")


@dataclass
class Row:
    """A row of the table and the lines below it."""
    line: str
    tree: list = field(default_factory=list)

    def weight(self):
        """The key by which rows are sorted first."""
        return re.match(r"[\d.]*%?", self.line)[0]

    def lines(self):
        return [self.line, *self.tree]


def tidy(line, separator):
    line = BLANKS.sub(" ", line.strip())
    return re.sub(r" ?%s ?" % re.escape(separator), separator, line) if separator else line


def read_rows(text, separator=None):
    """The rows in order; the rows of several events follow one another."""
    rows = []
    for line in text.split("\n"):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        if rows and (line.startswith(TREE) or is_folded(line, rows)):
            rows[-1].tree.append(line)
        else:
            rows.append(Row(tidy(line, separator)))
    return rows


def read_headings(text):
    """The column headings of each table, in order."""
    lines = text.split("\n")
    return [tidy(line, None) for line, rule in zip(lines, lines[1:]) if UNDERLINES.fullmatch(rule)]


def same_headings(reference, ours):
    """Each column of perf except its instructions per cycle is also a column of perfray, in the same order. perf leaves out columns of fields that an event
    does not have."""
    def follows(mine, others):
        return all(word in others for word in mine.replace("IPC [IPC Coverage]", "").split())
    mine, others = read_headings(reference), read_headings(ours)
    return len(mine) == len(others) and all(follows(a, iter(b.split())) for a, b in zip(mine, others))


def is_folded(line, rows):
    """A chain of -g folded starts in the first column, a row does not."""
    return bool(rows) and not line.startswith(" ") and re.match(r"[\d.]+%? \S", line) is not None


# --- rules: each gets (reference row, our row) with every other difference already removed

def is_other_level(mine, other):
    """For an address in no object, perf repeats the [k] or [.] of the previous address of the chain."""
    return mine.tree == other.tree and mine.line != other.line and \
        NAMELESS.sub(r"\1", mine.line) == NAMELESS.sub(r"\1", other.line)


def is_named_rest(mine, other):
    """The entries that a level of -g fractal leaves out are "[...]"; perf takes this for an inlined function."""
    return mine.line == other.line and [REST.sub(r"\1", line) for line in mine.tree] == other.tree


def is_in_variable(mine, other):
    """perf prints the offset of a data address from the start of its variable."""
    return mine.tree == other.tree and mine.line != other.line and IN_VARIABLE.sub("", mine.line) == other.line


def is_user_data(mine, other):
    """For memory that the kernel accesses on behalf of a program, perf searches only the kernel's mappings."""
    words = USER_DATA.split(mine.line)
    return mine.tree == other.tree and len(words) == 2 and other.line.startswith(words[0] + "[k] ") and other.line.endswith(words[1])


def is_line(mine, other):
    """For code with debug information perf prints the line, and perfray the offset from the start of the function."""
    frames, others = [";".join(row.tree).split(";") for row in (mine, other)]
    return mine.line == other.line and mine.tree != other.tree and len(frames) == len(others) and \
        all(a == b or (LINE.search(a) and LINE.sub("", a) == DISTANCE.sub("", b)) for a, b in zip(frames, others))


def is_cut(mine, other):
    """perf computes the width of tracepoint columns before it prints them, and cuts their text."""
    return mine.tree == other.tree and mine.line != other.line and CUT.search(mine.line) is not None and other.line.startswith(mine.line)


def flat(tree):
    """The lines, sorted, without the bars that show whether another branch follows."""
    bare = [line.replace("|", " ") for line in tree]
    return sorted(line for line in bare if line.strip())


def is_other_branch_first(mine, other):
    """perf sorts branches of equal weight by the memory addresses of their objects."""
    return mine.line == other.line and mine.tree != other.tree and flat(mine.tree) == flat(other.tree)


RULES = {
    "level-of-unknown-addresses": is_other_level,
    "rest-of-a-level": is_named_rest,
    "places-in-variables": is_in_variable,
    "data-of-user-memory": is_user_data,
    "lines-of-addresses": is_line,
    "cut-text-of-tracepoints": is_cut,
    "order-of-equal-branches": is_other_branch_first,
}
ORDER, NO_COLUMN, NAMED_REST = "order-of-equal-rows", "column-without-instructions", "rest-of-a-level"
assert len(RULES) + 2 <= MOST_RULES


def explain(mine, other):
    """Returns the entries of docs/differences.md that explain a pair: [] for equal rows; None if no rule applies. perf adds an empty column of instructions
    per cycle if a sort key contains `symbol`."""
    if mine.line.endswith(NO_IPC) and not other.line.endswith(NO_IPC):
        rest = explain(Row(mine.line[:-len(NO_IPC)], mine.tree), other)
        return None if rest is None else [NO_COLUMN, *rest]
    if mine == other:
        return []
    entries = next(([entry] for entry, rule in RULES.items() if rule(mine, other)), None)
    if entries is None and is_other_level(Row(mine.line, []), Row(other.line, [])):
        rest = explain(Row(other.line, mine.tree), other)
        return None if rest is None else ["level-of-unknown-addresses", *rest]
    plain = Row(mine.line, [REST.sub(r"\1", line) for line in mine.tree])
    if entries is None and plain.tree != mine.tree:
        rest = explain(plain, other)
        return None if rest is None else [NAMED_REST, *rest]
    return entries


class Comparison:
    """Returns the number of lines of the reference, how many rows each rule explained, and the pairs that no rule explains."""

    def __init__(self, reference, ours, separator=None):
        self.rules, self.unexplained = Counter(), []
        mine, other = read_rows(reference, separator), read_rows(ours, separator)
        self.rows, self.lines = len(mine), sum(len(row.lines()) for row in mine)
        for run, with_run in self.pair_runs(mine, other):
            self.compare_run(run, with_run)

    @staticmethod
    def pair_runs(mine, other):
        """Splits both sides into runs of consecutive rows of equal weight, and yields the runs in pairs."""
        runs = [[list(rows) for _, rows in itertools.groupby(side, Row.weight)] for side in (mine, other)]
        return itertools.zip_longest(*runs, fillvalue=[])

    def compare_run(self, mine, other):
        """Compares rows in the given order; if they differ, tries another order in which every row has a partner."""
        pairs = list(itertools.zip_longest(mine, other))
        if any(not self.is_explained(a, b) for a, b in pairs) and len(mine) == len(other) > 1:
            ordered = self.in_another_order(mine, other)
            if ordered:
                self.rules[ORDER] += sum(b is not c for (_, b), (_, c) in zip(pairs, ordered))
                pairs = ordered
        for a, b in pairs:
            if not self.is_explained(a, b):
                self.unexplained.append((a, b))
            else:
                self.rules.update(explain(a, b))

    @staticmethod
    def is_explained(mine, other):
        return mine is not None and other is not None and explain(mine, other) is not None

    def in_another_order(self, mine, other):
        pairs, left = [], list(other)
        for row in mine:
            found = next((one for one in left if one == row), None) or \
                next((one for one in left if self.is_explained(row, one)), None)
            if found is None:
                return None
            left.remove(found)
            pairs.append((row, found))
        return pairs

    def figures(self):
        return ", ".join(["%d lines" % self.lines] + ["%d %s" % (self.rules[rule], rule) for rule in sorted(self.rules)])

    def complaint(self, most=3):
        lines = ["%d rows differ" % len(self.unexplained)]
        for a, b in self.unexplained[:most]:
            for sign, row, against in (("-", a, b), ("+", b, a)):
                shown = row.lines() if row else []
                known = set(against.lines() if against else [])
                lines += ["  %s %s" % (sign, line[:160]) for line in shown if line not in known or line == shown[0]][:6]
        return "\n".join(lines)
