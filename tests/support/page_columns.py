# SPDX-License-Identifier: Apache-2.0
"""Reads the data of a page of `perfray view` without the viewer; web/bytes.js describes the format."""
import gzip
import json
import struct


def read(data):
    """(facts, {name: numbers}) of the output of `perfray view --data`; the column "strings" has the texts."""
    stream = gzip.decompress(data)
    length, = struct.unpack_from("<I", stream, 8)
    directory, at, columns = json.loads(stream[12:12 + length]), 12 + length, {}
    for column in directory["columns"]:
        count, planes = column["count"], []
        for _ in range(column["width"]):
            planes.append(stream[at:at + count])
            at += count
        columns[column["name"]] = [int.from_bytes(bytes(digits), "little") for digits in zip(*planes)] if column["name"] != "string.bytes" else planes[0]
    ends, blob = columns["string.end"], columns.pop("string.bytes")
    columns["strings"] = [blob[begin:end].decode("utf-8", "replace") for begin, end in zip([0] + ends, ends)]
    return directory["meta"], columns


def is_named(columns, func, name):
    """Whether this is the name of the function, without its parameters."""
    return columns["strings"][columns["func.name"][func]].split("(")[0] == name


def code_lines(columns, function):
    """[{(file, line, inlined): samples}] of the new side and the baseline of a function, and its pairs of lines."""
    sums, at, hits, first = ({}, {}), 0, {}, columns["hit.row"]
    name_of = lambda file: columns["strings"][columns["file.name"][file - 1]] if file else ""  # noqa: E731
    for row, samples in zip(first, columns["hit.samples"]):
        hits[row] = hits.get(row, 0) + samples
    for func, rows, side in zip(columns["code.func"], columns["code.rows"], columns["code.side"]):
        for row in range(at, at + rows if is_named(columns, func, function) else at):
            place = (name_of(columns["insn.file"][row]), columns["insn.line"][row], bool(columns["insn.kind"][row] & 1))
            sums[side][place] = sums[side].get(place, 0) + hits.get(row, 0)
        at += rows
    pairs = {(name_of(base_file), base_line): (name_of(file), line) for func, base_file, base_line, file, line in
             zip(*(columns["pair." + name] for name in ("func", "base_file", "base_line", "file", "line"))) if is_named(columns, func, function)}
    return sums, pairs
