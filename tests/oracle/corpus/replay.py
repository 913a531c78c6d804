# SPDX-License-Identifier: Apache-2.0
"""Tests the comparison: the reference is used as perfray's output, unchanged or with one line changed."""
import json

import quipper_made
import quipper_map
import quipper_metadata
import quipper_text
from quipper_values import show


def place_value(target, path, values):
    """Puts values at a path of quipper_map into nested dictionaries."""
    name, _, rest = path.partition(".")
    many = name.endswith("[]")
    name = name[:-2] if many else name
    if not rest:
        target[name] = values if many else values[0]
    elif many:
        elements = target.setdefault(name, [{} for _ in values])
        for element, value in zip(elements, values):
            place_value(element, rest, [value])
    else:
        place_value(target.setdefault(name, {}), rest, values)


def make_record(fields):
    """The JSON object that perfray should print for a golden event."""
    record = {word: fields.get("header." + word, [0])[0] for word in ("type", "misc", "size")}
    record["fields"] = {}
    for full, values in fields.items():
        message, _, name = full.partition(".")
        table = quipper_map.EVENTS.get(message)
        if name.startswith("sample_info."):
            table, name = quipper_map.TAIL, name[len("sample_info."):]
        if table and name in table and any(value != 0 for value in values):
            place_value(record, table[name].split("|")[0], [show(value, name) for value in values])
    if record["type"] == quipper_map.AUX:
        flags = (fields.get("aux_event." + name, [0])[0] << bit for bit, name in enumerate(quipper_made.AUX_FLAGS))
        record["fields"]["flags"] = sum(flags)
    return record


def make_body(row, fields):
    """The object for one golden message by this row, or an empty one."""
    body = {}
    for name, paths in row.fields.items():
        values = [show(value, row.message + "." + name) for value in fields.get(name, [])]
        parts = paths.split("|")[0].split("+")
        for path, some in zip(parts, [values] if len(parts) == 1 else [[value] for value in values]):
            if some:
                place_value(body, path, some)
    return body


def make_objects_of_row(row, messages):
    """The objects of one row: messages of one name are elements of one object, or separate objects."""
    bodies = list(filter(None, (make_body(row, fields) for message, fields in messages if message == row.message)))
    source, path = next(iter(row.sources.items()))
    bodies = [{path[:-2]: bodies}] if path and bodies else bodies
    return [{"name": source, "bit": body.pop("bit", None), "fields": body} for body in bodies]


def make_ids(messages):
    attrs = [fields for message, fields in messages if message == "file_attrs"]
    return [{"name": "file_ids", "fields": {"event": index, "ids": fields["ids"]}}
            for index, fields in enumerate(attrs) if "ids" in fields]


def make_header(messages):
    mask = next((fields[""][0] for message, fields in messages if message == "metadata_mask"), 0)
    return {"name": "file_header", "fields": {"magic": quipper_map.LITTLE_MAGIC,
                                              "features": mask.to_bytes(32, "little").hex()}}


def make_aux(fields):
    name, data = quipper_metadata.golden_aux_part(fields)
    return {"name": quipper_map.AUX_OBJECT, "fields": {"file": name, "data": data.hex()}}


def make_objects(text):
    """The JSON objects that we should print for a golden dump."""
    messages = quipper_text.read_messages(text)
    events = [fields for message, fields in messages if message == "events"]
    objects = [make_header(messages), *make_ids(messages)]
    for row in quipper_map.METADATA:
        objects += make_objects_of_row(row, messages)
    objects += [make_aux(fields) for fields in events if quipper_map.AUX_DATA in fields]
    return objects + [make_record(fields) for fields in events]


def replay_golden(text):
    return "\n".join(map(json.dumps, make_objects(text)))


CHANGES = {
    "header": lambda line: line.startswith("# data offset"), "evlist": lambda line: "sample_type" in line,
    "buildid": lambda line: bool(line), "stats": lambda line: "TOTAL events" in line,
    "dump": lambda line: "PERF_RECORD_" in line, "pb_text": lambda line: '"type": 3,' in line,
    "report": lambda line: "%" in line and not line.startswith("#"),
    "stat": lambda line: "# " in line and not line.startswith("#"),
}


def change_line(output, text):
    """`text` with a digit or letter changed in the first line that is compared; None if there is no such line."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if CHANGES[output](line):
            digit = max(line.rfind(character) for character in "123456789")
            digit = digit if digit >= 0 else len(line.rstrip()) - 1
            lines[at] = line[:digit] + ("7" if line[digit] != "7" else "8") + line[digit + 1:]
            return "\n".join(lines)
    return None


def replay(output, reference, change):
    """The output of the replayed command, or None if nothing could be changed."""
    ours = replay_golden(reference) if output == "pb_text" else reference
    return change_line(output, ours) if change else ours
