# SPDX-License-Identifier: Apache-2.0
"""The normal form of a dump as `perf report -D` and `perfray dump --format=perf` print it.

A dump becomes {(part, offset): [(size, type, lines), …]}, where part is `data` or `data.N` in a recorded directory and
empty otherwise. Records inside a COMPRESSED record all have its offset, so a key may have many records. The lines are
those with the contents of the record:

    0x278@rec61.basic [0x28]: event: 3
    1370893614509 0x278 [0x28]: PERF_RECORD_COMM exec: work:8/8      -> ("", 0x278): [(0x28, 3, ["1370893614509 …"])]

Left out: blank lines, hex lines, perf's verdict (`: unhandled!`), values that perf looked up instead of reading them
(thread, dso), output of its AUX decoders, records that perf made itself (their file is `(null)`), and COMPRESSED
records, of which perf shows only the records inside.
"""
import re
from collections import Counter

HEAD = re.compile(r"^(0x[0-9a-f]+|0)@(.*) \[(0x[0-9a-f]+|0)\]: event: (-?\d+)$")
SKIP = re.compile(r"^ \.\.\. thread:|^ \.\.\.\.\.\. dso:|^: unhandled!$|^\.{1,2}( |$)|^\s*$")
DECODED_AUX = re.compile(r"^(\t|  )")
AUX_TYPES = (70, 71)
COMPRESSED_TYPES = (81, 83)
PART = re.compile(r"/(data(?:\.\d+)?)$")


def trim_line(line):
    if line.endswith(": unhandled!"):
        line = line[:-len(": unhandled!")]
    return line.rstrip()


def read_dump(text):
    """(records, complete): complete tells whether perf's summary follows the last record."""
    records, lines, kind = {}, None, None
    complete = False
    for line in text.split("\n"):
        if line.startswith("Aggregated stats:"):
            complete = True
            break
        head = HEAD.match(line) if "@" in line else None
        if head:
            kind, lines = int(head[4]), []
            if head[2] != "(null)" and kind not in COMPRESSED_TYPES:
                part = PART.search(head[2])
                place = (part[1] if part else "", int(head[1], 16))
                records.setdefault(place, []).append((int(head[3], 16), kind, lines))
        elif lines is not None and not SKIP.match(line):
            if not (kind in AUX_TYPES and lines and DECODED_AUX.match(line)):
                lines.append(trim_line(line))
    return records, complete


def take_common(ours, theirs):
    """Two lists of records without the records that are in both, each sorted by size and type."""
    def make_key(record):
        return (record[0], record[1], tuple(record[2]))
    mine, other = Counter(map(make_key, ours)), Counter(map(make_key, theirs))
    return sorted((mine - other).elements()), sorted((other - mine).elements())


def pair_left_overs(ours, theirs):
    """Pairs of records that are probably the same: equal size and type, in the order of their text."""
    pairs, rest = [], list(theirs)
    for record in ours:
        match = next((other for other in rest if other[:2] == record[:2]), None)
        if match:
            rest.remove(match)
        pairs.append((record, match))
    return pairs + [(None, other) for other in rest]


def describe(place, record):
    """One line for a record that is missing on the other side."""
    part, offset = place
    first = record[2][0] if record[2] else ""
    return "%s%#x [%#x]: event: %d | %s" % (part + ":" if part else "", offset, record[0], record[1], first)


def differing_lines(reference, ours):
    """(pairs of lines that differ, whether the reference is complete); None represents a missing line."""
    expected, complete = read_dump(reference)
    found, _ = read_dump(ours)
    pairs = []
    for place in sorted(set(expected) | set(found)):
        mine, other = expected.get(place, []), found.get(place, [])
        if mine == other:
            continue
        for record, match in pair_left_overs(*take_common(mine, other)):
            pairs += pairs_of_records(place, record, match)
    return pairs, complete


def pairs_of_records(place, record, match):
    if record is None:
        return [(None, describe(place, match))]
    if match is None:
        return [(describe(place, record), None)]
    longest = max(len(record[2]), len(match[2]))
    mine, other = list(record[2]) + [None] * longest, list(match[2]) + [None] * longest
    return [(a, b) for a, b in zip(mine[:longest], other[:longest]) if a != b]


OFFSET = re.compile(r"0x[0-9a-f]+ (?=\[0x)")


def differ_beyond_offsets(pairs):
    """The pairs, except records that are on both sides at different offsets."""
    left = lambda side: Counter(OFFSET.sub("", pair[side]) for pair in pairs if pair[side] is not None)
    mine, other = left(0), left(1)
    return [(line, None) for line in (mine - other).elements()] + [(None, line) for line in (other - mine).elements()]
