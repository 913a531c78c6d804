#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""other_forms.py - converts a recording to other forms: a stream, a folder, compressed, in the other byte order.

usage: other_forms.py FORM FILE OUTPUT

FORM is stream, folder, zstd (requires the program zstd) or swapped. FILE is a little-endian perf.data file without tracepoints, AUX
data and READ records. OUTPUT has the records of FILE in the same order. The formats are described in docs/perf-data-format.md.
tests/oracle/script/run_forms.py uses this program.
"""
import os
import struct
import subprocess
import sys

MAGIC = b"PERFILE2"
FEATURES = 256
SAMPLE, FINISHED_ROUND, FINISHED_INIT = 9, 68, 82
HEADER_ATTR, HEADER_BUILD_ID, EVENT_UPDATE, HEADER_FEATURE, COMPRESSED = 64, 67, 78, 80, 81
UPDATE_NAME = 2
FEATURE_TRACING, FEATURE_BUILD_ID, FEATURE_EVENT_DESC, FEATURE_FOLDER, FEATURE_COMPRESSED, FEATURE_CPU_CAPS = 1, 2, 12, 24, 27, 28
TEXTS = (3, 4, 5, 6, 8, 9)  # features that are one string: host name, release, version, architecture, processor
CHUNK = 20000               # bytes that are compressed at a time; a record may cross the boundary
SAMPLE_ID_ALL = 1 << 18

# Record bodies as format letters of `struct`; "s": the rest is a name. In non-sample records the sample_id follows.
LAYOUTS = {1: "IIQQQs", 2: "QQ", 3: "IIs", 4: "IIIIQ", 5: "QQQ", 6: "QQQ", 7: "IIIIQ", 10: "IIQQQIIQQIIs", 13: "Q", 14: "",
           15: "II", 17: "QIHHs", 18: "HHI8x", 19: "Qs", FINISHED_ROUND: "", FINISHED_INIT: ""}
WITH_BUILD_ID = "IIQQQ24xIIs"
ATTR = "IIQQQQQIIQQQQIiQIHHIIQ"
TAIL = ((1, "II"), (2, "Q"), (6, "Q"), (9, "Q"), (7, "II"), (16, "Q"))  # (bit of sample_type, letters)
BODY = ((16, "Q"), (0, "Q"), (1, "II"), (2, "Q"), (3, "Q"), (6, "Q"), (9, "Q"), (7, "II"), (8, "Q"))


class Recording:
    """The parts of a perf.data file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        assert self.bytes[:8] == MAGIC, "not a little-endian perf.data file"
        _, attr_size, attrs, attrs_size, data, data_size = struct.unpack_from("<QQQQQQ", self.bytes, 8)
        bitmap = int.from_bytes(self.bytes[72:104], "little")
        self.attrs = [self.read_attr(attrs + at, attr_size) for at in range(0, attrs_size, attr_size)]
        self.records = list(self.read_records(data, data + data_size))
        self.features, at = {}, data + data_size
        for bit in (bit for bit in range(FEATURES) if bitmap >> bit & 1):
            offset, size = struct.unpack_from("<QQ", self.bytes, at)
            self.features[bit] = self.bytes[offset:offset + size]
            at += 16
        self.sample_type, = struct.unpack_from("<Q", self.attrs[0][0], 24)
        self.has_tail = struct.unpack_from("<Q", self.attrs[0][0], 40)[0] & SAMPLE_ID_ALL

    def read_attr(self, at, size):
        offset, length = struct.unpack_from("<QQ", self.bytes, at + size - 16)
        return self.bytes[at:at + size - 16], self.bytes[offset:offset + length]

    def read_records(self, at, end):
        while at < end:
            kind, misc, size = struct.unpack_from("<IHH", self.bytes, at)
            yield kind, misc, self.bytes[at + 8:at + size]
            at += size


def pack_record(kind, misc, body, order="<"):
    return struct.pack(order + "IHH", kind, misc, 8 + len(body)) + body


def pack_file(attrs, records, features, order="<"):
    """Returns the bytes of a file: header, ids, attrs, records (an item that is already bytes is copied), feature table, features."""
    data = b"".join(record if isinstance(record, bytes) else pack_record(*record, order) for record in records)
    ids, at, table = b"", 104, b""
    for attr, own in attrs:
        table += attr + struct.pack(order + "QQ", at + len(ids), len(own))
        ids += own
    start = at + len(ids) + len(table)
    bitmap = sum(1 << bit for bit in features)
    words = [bitmap >> shift & (1 << 64) - 1 for shift in range(0, FEATURES, 64)]
    magic = MAGIC if order == "<" else MAGIC[::-1]
    head = magic + struct.pack(order + "12Q", 104, len(attrs[0][0]) + 16, at + len(ids), len(table), start, len(data), 0, 0, *words)
    at = start + len(data) + 16 * len(features)
    places, bodies = b"", b""
    for bit in sorted(features):
        places += struct.pack(order + "QQ", at + len(bodies), len(features[bit]))
        bodies += features[bit]
    return head + ids + table + data + places + bodies


def make_stream(recording, path):
    """Writes a stream like perf record -o -: data that a file has in tables is in records."""
    out = MAGIC + struct.pack("<Q", 16)
    for attr, ids in recording.attrs:
        out += pack_record(HEADER_ATTR, 0, attr + ids)
    for _, name, ids in event_names(recording):
        room = bytes(8 - len(name) % 8)
        out += pack_record(EVENT_UPDATE, 0, struct.pack("<Q", UPDATE_NAME) + ids[:8] + name + room)
    for bit, body in recording.features.items():
        if bit not in (FEATURE_TRACING, FEATURE_BUILD_ID):
            out += pack_record(HEADER_FEATURE, 0, struct.pack("<Q", bit) + body)
    for misc, body in build_ids(recording):
        out += pack_record(HEADER_BUILD_ID, misc, body)
    out += b"".join(pack_record(*record) for record in recording.records)
    write(path, out)


def build_ids(recording):
    """Yields (misc, body) of the entries of the build-id table."""
    table, at = recording.features.get(FEATURE_BUILD_ID, b""), 0
    while at < len(table):
        _, misc, size = struct.unpack_from("<IHH", table, at)
        yield misc, table[at + 8:at + size]
        at += size


def event_names(recording):
    """Yields (attr, name, ids) of the events from EVENT_DESC."""
    table, at = recording.features.get(FEATURE_EVENT_DESC, bytes(8)), 8
    count, attr_size = struct.unpack_from("<II", table)
    for _ in range(count):
        attr = table[at:at + attr_size]
        ids, room = struct.unpack_from("<II", table, at + attr_size)
        at += attr_size + 8
        yield attr, table[at:at + room].rstrip(b"\0"), table[at + room:at + room + 8 * ids]
        at += room + 8 * ids


def make_folder(recording, path):
    """Distributes the samples to separate files in turn; rounds have no meaning in a folder."""
    os.mkdir(path)
    features = {**recording.features, FEATURE_FOLDER: struct.pack("<Q", 1)}
    state = [record for record in recording.records if record[0] not in (SAMPLE, FINISHED_ROUND)]
    samples = [record for record in recording.records if record[0] == SAMPLE]
    write(os.path.join(path, "data"), pack_file(recording.attrs, state, features))
    for number in (0, 1):
        write(os.path.join(path, "data.%d" % number), b"".join(pack_record(*record) for record in samples[number::2]))


def make_zstd(recording, path):
    plain = b"".join(pack_record(*record) for record in recording.records)
    records = []
    for at in range(0, len(plain), CHUNK):
        done = subprocess.run(["zstd", "-q", "-c"], input=plain[at:at + CHUNK], stdout=subprocess.PIPE, check=True)
        records.append((COMPRESSED, 0, done.stdout))
    features = {**recording.features, FEATURE_COMPRESSED: struct.pack("<5I", 1, 1, 1, 3, 1 << 20)}
    write(path, pack_file(recording.attrs, records, features))


def turn(letters, body, at=0):
    """Swaps the byte order of the members that the letters describe; a name and the remaining bytes are not changed."""
    numbers = letters.rstrip("s")
    out = struct.pack(">" + numbers, *struct.unpack_from("<" + numbers, body, at))
    return out, at + len(out)


def turn_fixed(letters, body):
    """Like turn, but bytes that are not numbers (`x`) are not changed."""
    out, at = turn(letters, body)
    kept, place = bytearray(out), 0
    for run in letters.rstrip("s").replace("8x", "b").replace("24x", "B"):
        size = {"b": 8, "B": 24}.get(run) or struct.calcsize("<" + run)
        if run in "bB":
            kept[place:place + size] = body[place:place + size]
        place += size
    return bytes(kept), at


def turn_sample(recording, body):
    out, at = b"", 0
    for bit, letters in BODY:
        if recording.sample_type >> bit & 1:
            part, at = turn(letters, body, at)
            out += part
    if recording.sample_type >> 5 & 1:
        count, = struct.unpack_from("<Q", body, at)
        part, at = turn("Q%dQ" % count, body, at)
        out += part
    if recording.sample_type >> 11 & 1:  # branches, without their flags
        count, = struct.unpack_from("<Q", body, at)
        top, = struct.unpack_from("<Q", recording.attrs[0][0], 72)
        part, at = turn("Q" * (1 + (top >> 17 & 1)) + "%dQ" % (3 * count), body, at)
        out += part
    assert at == len(body), "a sample with members that are not turned"
    return out


def turn_state(recording, kind, misc, body):
    letters = "".join(letters for bit, letters in TAIL if recording.sample_type >> bit & 1) if recording.has_tail and kind < 64 else ""
    tail = struct.calcsize("<" + letters)
    own = body[:len(body) - tail]
    if kind == 16:
        count, = struct.unpack_from("<Q", own, 8)
        out, at = turn("IIQ%dQ" % (2 * count), own)
    else:
        out, at = turn_fixed(WITH_BUILD_ID if kind == 10 and misc & 1 << 14 else LAYOUTS[kind], own)
    return out + own[at:] + turn(letters, body, len(own))[0]


def turn_strings(body):
    """The number of pairs of strings, then the pairs, as in CPU_PMU_CAPS."""
    (count,), out, at = struct.unpack_from("<I", body), turn("I", body)[0], 4
    for _ in range(2 * count):
        length, = struct.unpack_from("<I", body, at)
        out += turn("I", body, at)[0] + body[at + 4:at + 4 + length]
        at += 4 + length
    return out


def turn_attr(attr):
    numbers = list(struct.unpack_from("<" + ATTR, attr + bytes(136)))
    numbers[6] = int(format(numbers[6], "064b")[::-1], 2)  # bit fields are allocated from the other end
    return struct.pack(">" + ATTR, *numbers)[:len(attr)]


def make_swapped(recording, path):
    """As a recorder with the other byte order writes it. Features: names of the machine and of events, CPU capabilities, build-ids."""
    attrs = [(turn_attr(attr), turn("%dQ" % (len(ids) // 8), ids)[0]) for attr, ids in recording.attrs]
    records = []
    for kind, misc, body in recording.records:
        if kind == SAMPLE:
            records.append((kind, misc, turn_sample(recording, body)))
        elif kind == 16 or kind in LAYOUTS:
            records.append((kind, misc, turn_state(recording, kind, misc, body)))
    features = {}
    for bit, body in recording.features.items():
        if bit in TEXTS:
            features[bit] = turn("I", body)[0] + body[4:]
        if bit == FEATURE_CPU_CAPS:
            features[bit] = turn_strings(body)
    events = b""
    for attr, name, ids in event_names(recording):
        name += bytes(64 - len(name) % 64)
        events += turn_attr(attr) + struct.pack(">II", len(ids) // 8, len(name)) + name + turn("%dQ" % (len(ids) // 8), ids)[0]
    if FEATURE_EVENT_DESC in recording.features:
        features[FEATURE_EVENT_DESC] = struct.pack(">II", len(attrs), len(attrs[0][0])) + events
    features[FEATURE_BUILD_ID] = b"".join(pack_record(0, misc, turn("i", body)[0] + body[4:], ">")
                                          for misc, body in build_ids(recording))
    write(path, pack_file(attrs, records, features, ">"))


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


FORMS = {"stream": make_stream, "folder": make_folder, "zstd": make_zstd, "swapped": make_swapped}


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in FORMS:
        sys.exit("usage: other_forms.py %s FILE OUTPUT" % "|".join(FORMS))
    FORMS[sys.argv[1]](Recording(sys.argv[2]), sys.argv[3])
