# SPDX-License-Identifier: Apache-2.0
"""Joins our mapping records in the same way as quipper joins them before it prints and counts.

A mapping of a file and the next record, which maps anonymous memory from the end of that mapping on,

    {"type": 1, "size": 80, "fields": {"pid": 8, "tid": 8, "addr": 4096, "len": 8192, "pgoff": 512, "filename": "/a"}}
    {"type": 1, "size": 80, "fields": {"pid": 8, "tid": 8, "addr": 12288, "len": 4096, "filename": "//anon"}}

are one record in a golden dump: the first record, but with the sum of both lengths (12288). The dump shows no other
field of the second record, so all its fields must be as expected from the first record; otherwise the two are not
joined, and a difference is found.

Only such pairs are joined in golden dumps, but not mappings of a file with the next mapping of the file. All joined
records are of type MMAP, so MMAP2 records are not changed.
"""
from quipper_values import make_number

MMAP = 1
ANONYMOUS = "//anon"
NAME_UNIT = 8  # a name ends with at least one 0 and fills whole words


def is_map(one):
    return one.get("type") == MMAP and "size" in one and "filename" in one.get("fields", {})


def is_file(name):
    return name.startswith("/") and not name.startswith("//")


def number(record, name):
    return make_number(record["fields"].get(name, 0), name)


def size_without_name(record):
    name = record["fields"]["filename"].encode("utf-8", "surrogateescape")
    return record["size"] - (len(name) // NAME_UNIT + 1) * NAME_UNIT


def facts_in_common(record):
    """The fields that are equal in both parts of a joined mapping."""
    return (number(record, "pid"), number(record, "tid"), record.get("misc", 0), record.get("id", {}),
            size_without_name(record))


def is_continued(first, second):
    """Whether `second`, the object after `first`, is the anonymous part of the same mapping."""
    if not is_map(first) or not is_map(second):
        return False
    if not is_file(first["fields"]["filename"]) or second["fields"]["filename"] != ANONYMOUS:
        return False
    end = number(first, "addr") + number(first, "len")
    return (facts_in_common(first) == facts_in_common(second) and number(second, "addr") == end
            and number(second, "pgoff") == 0)


def join_maps(objects):
    """The objects in the same order, with each joined mapping instead of its two parts."""
    joined = []
    for one in objects:
        if joined and is_continued(joined[-1], one):
            first = joined.pop()
            one = dict(first, fields=dict(first["fields"], len=number(first, "len") + number(one, "len")))
        joined.append(one)
    return joined
