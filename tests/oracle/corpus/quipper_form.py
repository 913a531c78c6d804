# SPDX-License-Identifier: Apache-2.0
"""Compares quipper's golden dumps (protobuf text) with `perfray dump --format=jsonl`.

The events of both sides become a multiset of lines, one per record, such as

    type=3 misc=0 size=64 comm_event comm=init pid=1 tid=1 | pid=1 tid=1 | comm_md5_prefix=16392822502948076273

(after the first bar the sample_id trailer, after the second the fields that quipper computes). Fields that are zero or
empty are left out, because protobuf and trailing padding do not distinguish them from absent ones. The order of the
records is not compared, because quipper may sort by time and perfray prints in file order. quipper_metadata.py handles
everything that is not an event; quipper_joins.py has joined our mappings before.
"""
import functools
import json
import re
from collections import Counter

import quipper_joins
import quipper_made
import quipper_map
import quipper_metadata
import quipper_text
from quipper_values import make_number, pick_values, show

HEADER = ("header.type", "header.misc", "header.size")


def join_part(part):
    """The fields by name, without those that are zero or empty; a list (branch_stack.*) has all its values or is left
    out."""
    return " ".join("%s=%s" % (name, ",".join(map(str, part[name]))) for name in sorted(part) if any(part[name]))


def render(header, message, *parts):
    """One line; `parts` are the body, the sample_id trailer and the fields that quipper computes."""
    texts = " | ".join(map(join_part, parts))
    return ("type=%d misc=%d size=%d %s " % (*header, message or "-") + texts).rstrip(" |")


@functools.lru_cache(maxsize=None)
def split_name(full):
    """(message, which part of the line, name there) of a field of a golden event."""
    message, _, name = full.partition(".")
    if not message.endswith("_event"):
        message, name = "", full
    if quipper_made.is_made(name):
        return message, "made", name
    if name.startswith("sample_info."):
        return message, "tail", name[len("sample_info."):]
    return message, "body", name


def is_mapped(message, part, name):
    return part == "made" or name in (quipper_map.TAIL if part == "tail" else quipper_map.EVENTS.get(message, {}))


def render_golden(fields):
    parts, message = {"body": {}, "tail": {}, "made": {}}, ""
    for full, values in fields.items():
        if full in HEADER or full == quipper_map.AUX_DATA:  # the data is compared as a whole, see quipper_metadata
            continue
        outer, part, name = split_name(full)
        message = outer or message
        if is_mapped(outer, part, name):
            parts[part][name] = [show(value, name) for value in values]
        else:  # a zero must be compared too
            parts["body"]["unmapped." + full] = list(map(repr, values))
    header = [fields.get(word, [0])[0] for word in HEADER]
    return render(header, message, parts["body"], parts["tail"], parts["made"])


def pick_fields(record, table):
    found = {name: [make_number(value, name) for value in pick_values(record, paths)] for name, paths in table.items()}
    return {name: values for name, values in found.items() if values}


def render_ours(record, occurring):
    kind = record["type"]
    message = quipper_map.MESSAGE_OF_TYPE[kind]
    body = pick_fields(record, quipper_map.EVENTS.get(message, {}))
    tail = pick_fields(record, quipper_map.TAIL) if kind != quipper_map.SAMPLE else {}
    made = quipper_made.make_fields(record, message, body, tail)
    header = (kind, record.get("misc", 0), record["size"])
    return render(header, message, body, tail, quipper_made.keep_occurring(message, made, occurring))


def find_occurring(messages):
    """The (message, field) of events that are anywhere in a golden dump."""
    names = {full for message, fields in messages if message == "events" for full in fields}
    return {split_name(full)[::2] for full in names}


def read_golden(messages):
    return Counter(render_golden(fields) for message, fields in messages if message == "events")


def read_objects(text):
    return [json.loads(line) for line in text.split("\n") if line.startswith("{")]


def read_ours(objects, occurring):
    return Counter(render_ours(record, occurring) for record in objects
                   if record.get("type") in quipper_map.MESSAGE_OF_TYPE and "size" in record)


TIME = re.compile(r" sample_time_ns=(\d+)")


def ordered(lines):
    """The left-over lines by time, then by text."""
    found = ((TIME.search(line), line) for line in lines.elements())
    return [line for _, line in sorted((int(time[1]) if time else 0, line) for time, line in found)]


def differing_records(expected, found):
    """Pairs of the lines that only one side has, paired by record type in time order."""
    missing, extra = ordered(expected - found), ordered(found - expected)
    pairs = []
    for kind in sorted({line.split(" ")[0] for line in missing + extra}):
        mine = [line for line in missing if line.startswith(kind + " ")]
        other = [line for line in extra if line.startswith(kind + " ")]
        longest = max(len(mine), len(other))
        pairs += zip(mine + [None] * (longest - len(mine)), other + [None] * (longest - len(other)))
    return pairs


def has_aux_data(text):
    return quipper_map.AUX_DATA.partition(".")[2] + ":" in text


def differing_dumps(reference, ours):
    """Pairs of all differences: first of metadata, then of events."""
    messages = quipper_text.read_messages(reference)
    objects = quipper_joins.join_maps(read_objects(ours))
    occurring = find_occurring(messages)
    events = differing_records(read_golden(messages), read_ours(objects, occurring))
    expected = quipper_metadata.read_golden(messages)
    found = quipper_metadata.read_ours(objects)
    return quipper_metadata.differing_places(expected, found) + events
