# SPDX-License-Identifier: Apache-2.0
"""quipper's golden dumps (protobuf text) against `perfray dump --format=jsonl`.

Both sides become a bag of lines, one a record, such as

    type=3 misc=0 size=64 comm_event comm="init" pid=1 tid=1 | pid=0 tid=0

(the part after the bar is the sample_id trailer), with fields that are zero or empty left out, because protobuf and
trailing padding do not tell them from absent ones. What quipper_map.py does not name is not compared. The order of the
records is not compared: quipper may sort by time, and we print in the order of the file.
"""
import codecs
import json
import re
from collections import Counter

import quipper_map

TOKEN = re.compile(r"\s*([A-Za-z_]\w*)\s*(?::\s*(\"(?:[^\"\\]|\\.)*\"|[^\s{]+))?\s*(\{)?$")


def unescape(text):
    return codecs.escape_decode(text[1:-1].encode("utf-8", "surrogateescape"))[0]


def parse_value(text):
    if text.startswith('"'):
        return unescape(text)
    if text in ("true", "false"):
        return int(text == "true")
    try:
        return int(text, 0)
    except ValueError:
        return text.encode()


def read_messages(text, wanted):
    """Each message `wanted` of the outermost level, as {dotted field name: [values]}."""
    names, fields = [], None
    for line in text.split("\n"):
        if line.strip() == "}":
            if len(names) == 1 and fields is not None:
                yield fields
                fields = None
            names.pop()
            continue
        token = TOKEN.match(line)
        if token is None:
            continue
        if token[3]:
            names.append(token[1])
            if names == [wanted]:
                fields = {}
        elif fields is not None and token[2] is not None:
            fields.setdefault(".".join(names[1:] + [token[1]]), []).append(parse_value(token[2]))


def render(kind, misc, size, message, body, tail):
    def join(part):
        return " ".join("%s=%s" % (name, ",".join(map(str, part[name]))) for name in sorted(part))
    line = "type=%d misc=%d size=%d %s %s | %s" % (kind, misc, size, message or "-", join(body), join(tail))
    return line.rstrip(" |")


def keep_set(part):
    """Without fields that are zero or empty; of a list of parts (branch_stack.*) all or none are kept."""
    return {name: values for name, values in part.items() if any(value not in (0, b"", "") for value in values)}


def render_golden(fields):
    body, tail, message = {}, {}, None
    for name, values in fields.items():
        outer, _, inner = name.partition(".")
        if not outer.endswith("_event") or any(made in inner for made in quipper_map.MADE_BY_QUIPPER):
            continue
        message = outer
        where, inner = (tail, inner[len("sample_info."):]) if inner.startswith("sample_info.") else (body, inner)
        where[inner] = [show(value, inner) for value in values]
    header = [fields.get("header." + word, [0])[0] for word in ("type", "misc", "size")]
    return render(*header, message, keep_set(body), keep_set(tail))


def show(value, name):
    """A value as both sides write it: bytes as hex, text as text, numbers as unsigned decimal."""
    if not isinstance(value, bytes):
        return value
    return value.hex() if name in quipper_map.BYTE_FIELDS else value.decode("utf-8", "surrogateescape")


def follow(found, path):
    """The values at `path` (see quipper_map) in a JSON object, or None."""
    for step in path.split("."):
        many = step.endswith("[]")
        name = step[:-2] if many else step
        inner = []
        for value in found:
            if not isinstance(value, dict) or name not in value:
                continue
            inner += value[name] if many and isinstance(value[name], list) else [value[name]]
        found = inner
    return found


def pick_values(record, paths):
    for path in paths.split("|"):
        found = follow([record], path)
        if found:
            return found
    return []


def make_number(value, name):
    """Our JSON may hold a number, a decimal or hex string (64 bits do not fit a double), a truth value or a text."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if value >= 0 else value + (1 << (64 if value < -(1 << 31) else 32))
    if isinstance(value, str) and name not in ("filename", "comm", "name", "entries.comm", "raw"):
        try:
            return make_number(int(value, 0), name)
        except ValueError:
            return value
    return value


def render_ours(record):
    kind = record["type"]
    message = quipper_map.MESSAGE_OF_TYPE[kind]
    body, tail = {}, {}
    for where, table in ((body, quipper_map.EVENTS.get(message, {})), (tail, quipper_map.TAIL if kind != 9 else {})):
        for name, paths in table.items():
            values = [make_number(value, name) for value in pick_values(record, paths)]
            if values:
                where[name] = values
    return render(kind, record.get("misc", 0), record["size"], message, keep_set(body), keep_set(tail))


def read_golden(text):
    return Counter(render_golden(fields) for fields in read_messages(text, "events"))


def read_ours(text):
    lines = Counter()
    for line in text.split("\n"):
        record = json.loads(line) if line.startswith("{") else {}
        if record.get("type") in quipper_map.MESSAGE_OF_TYPE and "size" in record:
            lines[render_ours(record)] += 1
    return lines


TIME = re.compile(r" sample_time_ns=(\d+)")


def ordered(lines):
    """The left-over lines by time, then by text."""
    found = ((TIME.search(line), line) for line in lines.elements())
    return [line for _, line in sorted((int(time[1]) if time else 0, line) for time, line in found)]


def differing_records(reference, ours):
    """Pairs of lines only one side has, paired by record type in the order of their times."""
    expected, found = read_golden(reference), read_ours(ours)
    missing, extra = ordered(expected - found), ordered(found - expected)
    pairs = []
    for kind in sorted({line.split(" ")[0] for line in missing + extra}):
        mine = [line for line in missing if line.startswith(kind + " ")]
        other = [line for line in extra if line.startswith(kind + " ")]
        longest = max(len(mine), len(other))
        pairs += zip(mine + [None] * (longest - len(mine)), other + [None] * (longest - len(other)))
    return pairs
