# SPDX-License-Identifier: Apache-2.0
"""Values of both sides in one form: texts as text, bytes as hex digits, numbers unsigned; and paths in our JSON."""
import functools

import quipper_map


def show(value, name):
    """A value of a golden dump as both sides write it."""
    if not isinstance(value, bytes):
        return value
    return value.hex() if name in quipper_map.BYTE_FIELDS else value.decode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=None)
def split_paths(paths):
    """The steps of each path, as (name, whether all elements of the array there are meant)."""
    return [[(step.removesuffix("[]"), step.endswith("[]")) for step in path.split(".")] for path in paths.split("|")]


def follow(found, steps):
    """The values at a path in JSON objects; an empty list if there are no values."""
    for name, many in steps:
        inner = []
        for value in found:
            if not isinstance(value, dict) or name not in value:
                continue
            inner += value[name] if many and isinstance(value[name], list) else [value[name]]
        if not inner:
            return inner
        found = inner
    return found


def pick_values(record, paths):
    """The values at the first path (see quipper_map) that has any."""
    for steps in split_paths(paths):
        found = follow([record], steps)
        if found:
            return found
    return []


def make_number(value, name):
    """Our JSON may contain a number, a decimal or hex string (64 bits do not fit into a double), a boolean or a
    text."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if value >= 0 else value + (1 << (64 if value < -(1 << 31) else 32))
    if isinstance(value, str) and name not in quipper_map.TEXT_FIELDS:
        try:
            return make_number(int(value, 0), name)
        except ValueError:
            return value
    return value
