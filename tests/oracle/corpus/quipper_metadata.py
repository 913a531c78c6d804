# SPDX-License-Identifier: Apache-2.0
"""Everything in quipper's golden dumps except events: attrs, names, build-ids, features, counts, AUX data.

Both sides become {place: value}, with one entry per field, such as

    event_types[1].name = instructions
    file_attrs[0].ids = 81,82,83,84

The number counts the messages of this name, so their order is compared. An entry that only one side has is a difference,
and so is a field that no row of quipper_map.METADATA names.
"""
import hashlib

import quipper_made
import quipper_map
from quipper_values import make_number, pick_values, show

# For an attr, quipper writes all members that its version knew, even if they are 0; for a build-id, the length only if
# the recorder wrote one.
LEFT_OUT_IF_ZERO = {"build_ids.size", *("file_attrs." + name for name in quipper_map.ATTR)}


def place_of(message, index, name):
    return "%s[%d].%s" % (message, index, name) if name else message


def join_values(values):
    return ",".join(map(str, values))


def put_message(places, message, index, fields):
    for name, values in fields.items():
        if any(values) or message + "." + name not in LEFT_OUT_IF_ZERO:
            places[place_of(message, index, name)] = join_values(values)


def join_aux_data(parts):
    """The AUX data of each buffer: `parts` are (name of our file for it, bytes) in the order of the records."""
    buffers = {}
    for name, data in parts:
        buffers[name] = buffers.get(name, b"") + data
    return {"aux_data[%s]" % name: "%d bytes, sha256 %s" % (len(data), hashlib.sha256(data).hexdigest())
            for name, data in buffers.items() if data}


def golden_aux_part(fields):
    """The part of a buffer's data in one golden event: (name of our file for the buffer, bytes)."""
    idx, tid, cpu = (fields.get("auxtrace_event." + word, [0])[0] for word in ("idx", "tid", "cpu"))
    tid, cpu = (value - (1 << 32) if value >> 31 else value for value in (tid, cpu))
    return "aux-%d-%d-%d.bin" % (idx, tid, cpu), fields.get(quipper_map.AUX_DATA, [b""])[0]


def read_golden(messages):
    """{place: value} of the messages of a golden dump."""
    places, counts = {}, {}
    for message, fields in messages:
        if message == "events":
            continue
        index = counts[message] = counts.get(message, -1) + 1
        shown = {name: [show(value, message + "." + name) for value in values] for name, values in fields.items()}
        put_message(places, message, index, shown)
    aux = join_aux_data(golden_aux_part(fields) for message, fields in messages if message == "events")
    return {**places, **aux}


class Facts:
    """Our objects by kind: parts of the file, features (of a file or of a stream), and records by type."""

    def __init__(self, objects):
        self.bodies, self.counts, self.ids = {}, {}, {}
        for one in objects:
            self.add(one)

    def add(self, one):
        fields = one.get("fields", {})
        if "type" in one:
            self.counts[one["type"]] = self.counts.get(one["type"], 0) + 1
        self.bodies.setdefault(one.get("name"), []).append(dict(fields, bit=one.get("bit")))
        if one.get("name") == "header_feature":
            for name, body in fields.get("payload", {}).items():
                self.bodies.setdefault(name, []).append(dict(body, bit=fields["feat_id"]))
        if one.get("name") == "file_ids":
            self.ids[fields["event"]] = fields["ids"]


def elements_of(facts, row):
    """The objects that each become one message by this row."""
    for source, path in row.sources.items():
        bodies = facts.bodies.get(source, [])
        found = [one for body in bodies for one in (pick_values(body, path) if path else [body])]
        if found:
            return found
    return []


def fields_of_row(one, row):
    found = {}
    for name, paths in row.fields.items():
        picked = [value for path in paths.split("+") for value in pick_values(one, path)]
        values = [make_number(value, row.message + "." + name) for value in picked]
        if values:
            found[name] = values
            if row.message + "." + name in quipper_map.METADATA_TEXTS:
                found[name + quipper_made.MD5] = [quipper_made.md5_prefix(text) for text in values]
    return found


def finish_attrs(facts, messages):
    """In a file, ids are separate from attrs; in a stream they follow the attr in its record."""
    for index, fields in enumerate(messages.get("file_attrs", [])):
        fields["attr.size"] = [quipper_map.ATTR_SIZE]
        if "file_attr" in facts.bodies:
            fields["ids"] = facts.ids.get(index, [])
        if not fields.get("ids"):
            fields.pop("ids", None)


def add_command_line(messages):
    for fields in messages.get("string_metadata", []):
        words = fields.get("perf_command_line_token.value")
        if words:
            whole = " ".join(words)
            fields["perf_command_line_whole.value"] = [whole]
            fields["perf_command_line_whole.value" + quipper_made.MD5] = [quipper_made.md5_prefix(whole)]


def make_mask(facts):
    """The first word of the bitmap. In a stream, quipper sets the bits of known features when it meets them, and the bit
    of event names for records that name events."""
    header = facts.bodies.get("file_header", [])
    if header:
        order = "little" if header[0]["magic"] == quipper_map.LITTLE_MAGIC else "big"
        return int.from_bytes(bytes.fromhex(header[0]["features"])[:8], order)
    bits = {body["feat_id"] for body in facts.bodies.get("header_feature", [])} & quipper_map.STREAM_FEATURES
    bits |= {quipper_map.EVENT_DESC} if "header_event_type" in facts.bodies else set()
    return sum(1 << bit for bit in bits)


def make_counts(facts):
    """quipper separately counts samples whose addresses are all in mappings; we count all samples."""
    return {name: [sum(facts.counts.get(kind, 0) for kind in kinds)] for name, kinds in quipper_map.STATS.items()}


def collect_messages(facts):
    """{message: [its fields, by quipper's names, for each occurrence]}"""
    messages = {"stats": [make_counts(facts)]}
    for row in quipper_map.METADATA:
        found = [fields_of_row(one, row) for one in elements_of(facts, row)]
        together = messages.setdefault(row.message, [])
        if row.single and together and found:
            together[0].update(found[0])
        else:
            together += found
    finish_attrs(facts, messages)
    add_command_line(messages)
    return messages


def read_ours(objects):
    """{place: value} of our objects, after quipper_joins.py has joined the mappings that quipper counts as one."""
    facts = Facts(objects)
    places = {"metadata_mask": str(make_mask(facts)), **quipper_map.CONSTANTS}
    for message, found in collect_messages(facts).items():
        for index, fields in enumerate(found):
            put_message(places, message, index, fields)
    aux = ((body["file"], bytes.fromhex(body["data"])) for body in facts.bodies.get(quipper_map.AUX_OBJECT, []))
    return {**places, **join_aux_data(aux)}


def differing_places(expected, found):
    """Pairs `place=value`, with None if a side has no such place."""
    def line(places, place):
        return "%s=%s" % (place, places[place]) if place in places else None
    return [(line(expected, place), line(found, place)) for place in sorted({*expected, *found})
            if expected.get(place) != found.get(place)]
