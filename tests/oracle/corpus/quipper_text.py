# SPDX-License-Identifier: Apache-2.0
"""Reads the text form of protobuf, as far as quipper's golden dumps use it: one field or brace per line.

    metadata_mask: 4096            ("metadata_mask", {"": [4096]})
    event_types {                  ("event_types", {"id": [0], "name": [b"cycles"]})
      id: 0
      name: "cycles"
    }

Any other line becomes a field named UNREADABLE, so that it is a difference and is not ignored.
"""
import codecs
import functools
import re

TOKEN = re.compile(r"([A-Za-z_]\w*)\s*(?::\s*(\"(?:[^\"\\]|\\.)*\"|[^\s{]+))?\s*(\{)?$")
UNREADABLE = "unreadable"


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


def read_token(line):
    """(name, value text, whether a message begins); an unreadable line becomes the value of UNREADABLE."""
    token = TOKEN.match(line)
    if token is None or (token[2] is None) == (token[3] is None):
        return UNREADABLE, line, False
    return token[1], token[2], token[3] is not None


def parse_messages(text):
    """Yields what read_messages returns."""
    names, fields = [], {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        if line == "}" and names:
            if len(names) == 1:
                yield names[0], fields
                fields = {}
            names.pop()
            continue
        name, value, begins = read_token(line)
        if begins:
            names.append(name)
        elif names:
            fields.setdefault(".".join(names[1:] + [name]), []).append(parse_value(value))
        else:
            yield name, {"": [parse_value(value)]}
    if names:
        yield UNREADABLE, {"": [b"the dump ends inside " + names[0].encode()]}


@functools.lru_cache(maxsize=1)
def read_messages(text):
    """(name, {dotted name of a field inside: [values]}) for each outermost field, in order; the caller must not change
    them. The result for the last text is cached, because it is long and requested more than once."""
    return tuple(parse_messages(text))
