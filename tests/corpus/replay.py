# SPDX-License-Identifier: Apache-2.0
"""The comparer tried on itself: the reference is given back as if perfray had printed it, whole or one line changed."""
import json

import quipper_form
import quipper_map

BYTES_AS_TEXT = quipper_map.BYTE_FIELDS


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
    """The JSON object we should print for a golden event."""
    record = {word: fields.get("header." + word, [0])[0] for word in ("type", "misc", "size")}
    for full, values in fields.items():
        message, _, name = full.partition(".")
        table = quipper_map.EVENTS.get(message)
        if name.startswith("sample_info."):
            table, name = quipper_map.TAIL, name[len("sample_info."):]
        if table and name in table:
            place_value(record, table[name].split("|")[0], [quipper_form.show(value, name) for value in values])
    return record


def replay_golden(text):
    return "\n".join(json.dumps(make_record(fields)) for fields in quipper_form.read_messages(text, "events"))


CHANGES = {
    "header": lambda line: line.startswith("# data offset"), "evlist": lambda line: "sample_type" in line,
    "buildid": lambda line: bool(line), "stats": lambda line: "TOTAL events" in line,
    "dump": lambda line: "PERF_RECORD_" in line, "pb_text": lambda line: '"type": 3,' in line,
    "report": lambda line: "%" in line and not line.startswith("#"),
}


def change_line(output, text):
    """`text` with a digit or letter of the first line that counts made another one; None when there is no such line."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if CHANGES[output](line):
            digit = max(line.rfind(character) for character in "123456789")
            digit = digit if digit >= 0 else len(line.rstrip()) - 1
            lines[at] = line[:digit] + ("7" if line[digit] != "7" else "8") + line[digit + 1:]
            return "\n".join(lines)
    return None


def replay(output, reference, change):
    """What the fake prints, or None when nothing could be changed."""
    ours = replay_golden(reference) if output == "pb_text" else reference
    return change_line(output, ours) if change else ours
