# SPDX-License-Identifier: Apache-2.0
"""Intended differences from the reference: at most ten, each with an entry in docs/differences.md.

A rule gets one pair of lines, the reference's and ours (None if a side has no such line), and facts about the bytes
(byte order, whether the recording was finished, whether perf reached its end), never the name of a file. It returns
true only if its entry explains the whole difference of the pair.
"""
import re
from dataclasses import dataclass

MOST_RULES = 10


@dataclass(frozen=True)
class Facts:
    """The facts that a rule may use besides the two lines."""
    output: str
    unfinished: bool = False
    complete: bool = True
    big_endian: bool = False


def is_after_stop(reference, ours, facts):
    """perf stopped at a record that it cannot use; we continue."""
    return facts.output == "dump" and not facts.complete and reference is None


def is_unfinished_feature(reference, ours, facts):
    """The recorder died before it wrote features: perf prints record bytes as if they were features."""
    frame = ("# header version", "# data offset", "# data size", "# feat offset")
    in_frame = any((line or "").startswith(frame) for line in (reference, ours))
    return facts.unfinished and facts.output == "header" and not in_frame


# The end of the member of struct perf_event_attr for a key of `evlist -v`.
END_OF_KEY = {"branch_sample_type": 80, "sample_regs_user": 88, "sample_stack_user": 92, "clockid": 96,
              "sample_regs_intr": 104, "aux_watermark": 108, "sample_max_stack": 110, "aux_sample_size": 116,
              "sig_data": 128, "{ bp_len, config2 }": 72}


def is_beyond_attr(reference, ours, facts):
    """Streams with short attrs: perf shows the ids after an attr as the fields that the attr does not have."""
    size = re.search(r"\bsize: (\d+)", reference or "")
    if facts.output != "evlist" or size is None or ours is None:
        return False
    for key, end in END_OF_KEY.items():
        if end > int(size[1]):
            reference = re.sub(r", %s: [^,]*" % re.escape(key), "", reference)
    return reference == ours


PRECISE = re.compile(r"precise_ip( = |: |=)([12])")


def is_exchanged_precision(reference, ours, facts):
    """perf reverses the bits of each byte of a big-endian attr, which exchanges the two bits of precise_ip."""
    if facts.output not in ("header", "evlist", "pb_text") or not facts.big_endian or reference is None or ours is None:
        return False
    return PRECISE.sub(lambda m: f"precise_ip{m[1]}{3 - int(m[2])}", reference) == ours


def is_old_mmap2(reference, ours, facts):
    """MMAP2 of Linux 3.12 to 3.15 has no prot and flags: perf takes the first eight bytes of the name for them."""
    if facts.output not in ("buildid", "dump") or reference is None or ours is None:
        return False
    start, _, name = ours.rpartition(" ")
    if not name.startswith(("/", "[")):
        return False
    if len(name) < 8:  # perf takes the bytes after the name for another name
        return start.endswith("]: ---p") and reference.startswith(start[:-len("---p")])
    return name[8:] == reference.split(" ")[-1]


NUMBER = re.compile(r"\d+")
MARKED = 1 << 63
MAPPED = re.compile(r"stats\[0\]\.num_sample_events_mapped=(\d+)$")


def is_marked_address(reference, ours, facts):
    """quipper sets the highest bit of unmapped addresses, and counts samples with such addresses separately. In the
    file, the addresses do not have this bit."""
    if facts.output != "pb_text" or reference is None or ours is None:
        return False
    mine, other = MAPPED.match(reference), MAPPED.match(ours)
    if mine and other:
        return int(mine[1]) < int(other[1])
    if not reference.startswith("type=9 ") or NUMBER.sub("", reference) != NUMBER.sub("", ours):
        return False
    pairs = zip(map(int, NUMBER.findall(reference)), map(int, NUMBER.findall(ours)))
    return all(theirs == mine or theirs == mine | MARKED for theirs, mine in pairs)


@dataclass(frozen=True)
class ReportFacts(Facts):
    """Additional facts for rules about reports."""
    traced: bool = False  # perf made samples of an instruction trace


def is_traced_row(reference, ours, facts):
    """Rows of samples that perf makes from an instruction trace."""
    return facts.output == "report" and isinstance(facts, ReportFacts) and facts.traced and ours is None


RULES = {
    "instruction-traces": is_traced_row,
    "addresses-in-no-mapping": is_marked_address,
    "precise-ip-of-big-endian-files": is_exchanged_precision,
    "mmap2-without-protection": is_old_mmap2,
    "reading-past-unusable-records": is_after_stop,
    "features-of-unfinished-files": is_unfinished_feature,
    "short-attrs-in-streams": is_beyond_attr,
}


def explain(reference, ours, facts):
    """The entry of docs/differences.md that explains the pair, or None."""
    for entry, rule in RULES.items():
        if rule(reference, ours, facts):
            return entry
    return None


@dataclass(frozen=True)
class RecordFacts(Facts):
    """For a byte fixture, the complete record is known, including its header; little-endian."""
    record: bytes = b""


# A line of READ: the text before its last number, and the position from which perf takes that number.
READ_LINE = re.compile(r"^(.*PERF_RECORD_READ: .* |\.\.\. (time enabled|time running|id|lost) +: )(\d+)$")
PLACE_IN_READ = {None: 16, "time enabled": 24, "time running": 32, "id": 40, "lost": 48}


def is_read_of_other_form(reference, ours, facts):
    """perf reads the values of a READ at the positions that a single counter with all fields has, regardless of
    read_format."""
    mine, other = READ_LINE.match(reference or ""), READ_LINE.match(ours or "")
    if not isinstance(facts, RecordFacts) or not mine or not other or mine[1] != other[1]:
        return False
    at = PLACE_IN_READ[mine[2]]
    return int(mine[3]) == int.from_bytes(facts.record[at:at + 8], "little")


WEIGHT_LINE = re.compile(r"^(\.\.\. weight: \d+,0x[0-9a-f]+,)0x[0-9a-f]+$")


def is_weight_of_two_parts(reference, ours, facts):
    """perf 6.1 for x86 reads two of the three parts of WEIGHT_STRUCT and prints 0 for the third."""
    mine, other = WEIGHT_LINE.match(reference or ""), WEIGHT_LINE.match(ours or "")
    return bool(facts.output == "dump" and mine and other and mine[1] == other[1] and reference == mine[1] + "0x0")


RULES.update({
    "read-of-another-read-format": is_read_of_other_form,
    "third-part-of-a-weight": is_weight_of_two_parts,
})
