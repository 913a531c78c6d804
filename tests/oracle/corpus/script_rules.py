# SPDX-License-Identifier: Apache-2.0
"""Intended differences from perf script, each with an entry in docs/differences.md. As in rules.py, a rule gets one pair of
lines and facts about the bytes and perf's run, never the name of a file."""
import re
from dataclasses import dataclass

import rules

MOST_RULES = 10


@dataclass(frozen=True)
class Facts(rules.Facts):
    folder: bool = False   # a recording in several files
    traced: bool = False   # perf decoded an instruction trace
    same_lines: bool = False  # except for thread names, both sides have the same lines


def is_old_mmap2(reference, ours, facts):
    """MMAP2 of Linux 3.12 to 3.15: perf takes the first eight bytes of the name for prot and flags."""
    if facts.output != "events" or reference is None or ours is None or "PERF_RECORD_MMAP2" not in ours:
        return False
    return rules.is_old_mmap2(reference, ours, rules.Facts("dump"))


FRAME = re.compile(r"(?:\s+|\s*\S.*?\d\.\d+: +\d+ \S+: +)([0-9a-f]+)( .*)?$")  # of a chain, or a sample's only one
NAMELESS = (None, " [unknown]", " ([unknown])", " [unknown] ([unknown])")


def is_old_image(reference, ours, facts):
    """After an exec, perf still finds names in the maps of the old image; here such addresses are in no mapping."""
    theirs, mine = FRAME.match(reference or ""), FRAME.match(ours or "")
    if not theirs or not mine or mine[2] not in NAMELESS:
        return False
    return theirs[1][-3:] == mine[1][-3:] and len(mine[1]) > 5


MADE = re.compile(r"instruction trace error|: +(\d+ +)?(psb|cbr|branches|ptwrite|transactions): ")


def is_traced(reference, ours, facts):
    """Samples that perf makes from an instruction trace, and its errors in doing so."""
    return facts.traced and ours is None and bool(MADE.search(reference))


def is_other_part_first(reference, ours, facts):
    """If perf does not sort, it reads the files of a folder in the order of the directory's entries."""
    return facts.folder and facts.output == "events" and facts.same_lines


NAMED = re.compile(r"(.*\s[0-9a-f]+) ([^(\s].*)\+0x([0-9a-f]+)( \(.*\))?$")


def is_inner_symbol(reference, ours, facts):
    """If symbols overlap, we use the one that starts last; perf's choice depends on the shape of its tree."""
    theirs, mine = NAMED.match(reference or ""), NAMED.match(ours or "")
    return bool(theirs and mine and theirs[1] == mine[1] and theirs[4] == mine[4] and int(mine[3], 16) < int(theirs[3], 16))


RULES = {
    "mmap2-without-protection": is_old_mmap2,
    "exec-ends-the-old-maps": is_old_image,
    "instruction-traces": is_traced,
    "files-of-a-directory": is_other_part_first,
    "overlapping-symbols": is_inner_symbol,
}
assert len(RULES) <= MOST_RULES


def explain(reference, ours, facts):
    """The entry of docs/differences.md that explains this pair, or None."""
    for entry, rule in RULES.items():
        if rule(reference, ours, facts):
            return entry
    return None
