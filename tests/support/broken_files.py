# SPDX-License-Identifier: Apache-2.0
"""Small valid files, and for each rule of `verify` a file that breaks it. The layouts are from linux/perf_event.h, the kernel's
perf.data-file-format.txt and LLVM's XRayFDRFormat, and are written here without the library's tables.

    SOUND    {name: bytes} of the valid files
    BROKEN   {rule: (bytes, offset of the finding, other rules that the same bytes break)}
"""
import ctypes
import ctypes.util
import os
import struct

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")

HEADER, SLOT, ATTR = 104, 16, 64
IP_TID_TIME = 7
CPU, ID, IDENTIFIER = 1 << 7, 1 << 6, 1 << 16
ALL = 1 << 18  # sample_id_all
TRACEPOINT = 2


def attr(sample_type=IP_TID_TIME, kind=1, config=0, flags=ALL, size=ATTR):
    return struct.pack("<IIQQQQQ", kind, size, config, 4000, sample_type, 0, flags) + bytes(ATTR - 48)


def record(kind, body=b"", misc=0, size=None):
    return struct.pack("<IHH", kind, misc, 8 + len(body) if size is None else size) + body


def tail(time):
    return struct.pack("<IIQ", 7, 7, time)


def padded(text):
    return text + bytes(8 - len(text) % 8)


def comm(time=0, name=b"work", misc=0):
    return record(3, struct.pack("<II", 7, 7) + padded(name) + tail(time), misc)


def sample(time, ip=0x1000, more=b""):
    return record(9, struct.pack("<QIIQ", ip, 7, 7, time) + more, 2)


def mmap(start=0x1000, length=0x1000, time=0):
    return record(1, struct.pack("<IIQQQ", 7, 7, start, length, 0) + padded(b"/bin/work") + tail(time), 2)


def mmap2(start=0x1000, length=0x1000, build_id=20):
    return record(10, struct.pack("<IIQQQB3x", 7, 7, start, length, 0, build_id) + bytes(range(20))
                  + struct.pack("<II", 5, 2) + padded(b"/bin/work") + tail(0), 0x4002)


ROUND = record(68)
RECORDS = comm() + mmap() + sample(10) + sample(20) + ROUND + sample(30) + sample(40) + ROUND + sample(50)


def text(words):
    return struct.pack("<I", 64) + words.ljust(64, b"\0")


def event_desc(*attrs):
    return struct.pack("<II", len(attrs), ATTR) + b"".join(a + struct.pack("<I", 0) + text(b"cpu-clock") for a in attrs)


BUILD_IDS = struct.pack("<IHHi20sB3x", 0, 0x8001, 52, -1, bytes(range(20)), 20) + padded(b"/bin/work")


def build_ids(length):
    return BUILD_IDS[:32] + bytes([length]) + BUILD_IDS[33:]


def features(**more):
    """The features by bit; None removes one."""
    known = {3: text(b"host"), 7: struct.pack("<II", 4, 4), 2: BUILD_IDS, 12: event_desc(attr()), 21: struct.pack("<QQ", 10, 50)}
    known.update({int(key[1:]): value for key, value in more.items()})
    return {bit: payload for bit, payload in sorted(known.items()) if payload is not None}


def perf_file(records=RECORDS, attrs=None, ids=None, parts=None, patch=None):
    """A recording. `patch(data, table)` changes its bytes; `table` is the offset of the feature table."""
    attrs = [attr()] if attrs is None else attrs
    ids = ids or [[] for _ in attrs]
    parts = features() if parts is None else parts
    numbers = b"".join(struct.pack("<Q", number) for each in ids for number in each)
    at, entries = HEADER, b""
    for each, said in zip(attrs, ids):
        entries += each + struct.pack("<QQ", at, 8 * len(said))
        at += 8 * len(said)
    data = at + len(entries)
    table = data + len(records)
    bits, place, slots, payloads = 0, table + SLOT * len(parts), b"", b""
    for bit, payload in parts.items():
        bits |= 1 << bit
        slots += struct.pack("<QQ", place, len(payload))
        payloads += payload
        place += len(payload)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", HEADER, ATTR + SLOT, at, len(entries), data, len(records), 0, 0)
    made = bytearray(head + struct.pack("<QQQQ", bits, 0, 0, 0) + numbers + entries + records + slots + payloads)
    if patch:
        made = patch(made, table)
    return bytes(made)


DATA = HEADER + ATTR + SLOT  # the offset of the records in a file with one event without ids


def pipe(*records):
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(records)


def at_word(offset, value):
    def patch(made, _):
        made[offset:offset + 8] = struct.pack("<Q", value)
        return made
    return patch


def at_slot(index, offset=None, size=None):
    def patch(made, table):
        at = table + SLOT * index
        was = struct.unpack_from("<QQ", made, at)
        struct.pack_into("<QQ", made, at, was[0] if offset is None else offset, was[1] if size is None else size)
        return made
    return patch


def end_at(length):
    return lambda made, table: made[:length(table) if callable(length) else length]


def compressed(content):
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(len(content) + 1024)
    size = zstd.ZSTD_compress(room, ctypes.c_size_t(len(room)), content, ctypes.c_size_t(len(content)), 1)
    return record(81, room.raw[:size])


ZSTD_SAID = struct.pack("<5I", 0, 1, 1, 2, 528384)

# --- Tracepoint formats and the AUX area.

FORMAT = b"name: made\nID: 77\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\nprint fmt: \"\"\n"


def tracing_data(system=b"made"):
    sized = struct.pack("<Q", 0)
    return (b"\x17\x08\x44tracing" + b"0.5\0" + b"\0\x08" + struct.pack("<I", 4096) + b"header_page\0" + sized
            + b"header_event\0" + sized + struct.pack("<I", 0) + struct.pack("<I", 1) + system + b"\0"
            + struct.pack("<IQ", 1, len(FORMAT)) + FORMAT + struct.pack("<II", 0, 0))


def tracepoint(config=77):
    return attr(IP_TID_TIME, TRACEPOINT, config)


AUX = record(71, struct.pack("<QQQIIII", 8, 0, 0, 0, 7, 0, 0)) + bytes(8)


def aux_index(offset, size=48):
    return struct.pack("<QQQ", 1, offset, size)


def aux_file(offset=None, records=AUX + RECORDS, size=48):
    return perf_file(records, parts=features(_18=aux_index(DATA if offset is None else offset, size)))


TWO = [attr(IP_TID_TIME | IDENTIFIER), attr(IP_TID_TIME | IDENTIFIER, config=1)]
TWO_RECORDS = b"".join(record(9, struct.pack("<QQIIQ", number, 0x1000, 7, 7, 10 + number), 2) for number in (1, 2))


def two_events(attrs=None, ids=((1,), (2,)), records=TWO_RECORDS):
    attrs = attrs or TWO
    return perf_file(records, attrs, [list(each) for each in ids], {3: text(b"host")})


def id_index(number):
    return record(69, struct.pack("<QQQqq", 1, number, 0, 0, -1))


# --- Traces, little-endian.

def trace(body, version=5, kind=1, frequency=10**9):
    return struct.pack("<HHIQQQ", version, kind, 3, frequency, 4096, 0) + body


def metadata(kind, form="", *values):
    return (bytes([kind << 1 | 1]) + struct.pack("<" + form, *values)).ljust(16, b"\0")


def call(action, function, delta=5):
    return struct.pack("<II", function << 4 | action << 1, delta)


def preamble(tid=7, micros=5, cpu=True):
    return (metadata(0, "i", tid) + metadata(4, "qi", 3, micros) + metadata(9, "i", 7)
            + (metadata(2, "HQ", 1, 1000) if cpu else b""))


def buffer(*records, extents=None, **how):
    body = preamble(**how) + b"".join(records)
    return metadata(7, "Q", len(body) if extents is None else extents) + body


CALLS = call(0, 1) + call(1, 1)
BODY = 32 + 16 + 64  # offset of the records of the first buffer, after its preamble
EVENT = metadata(5, "ii", 4, 9) + b"text"


def basic(function, action=0):
    return struct.pack("<HBBIQII8x", 0, 1, action, function, 1000, 7, 7)


def profile(path):
    block = struct.pack("<%dI" % (len(path) + 1), *path, 0) + struct.pack("<QQ", 1, 100)
    return (struct.pack("<QQQQ", 0x7872617970726F66, 0x20180424, 5, 7)
            + struct.pack("<IIQ", 16 + len(block), 0, 7) + block)


def cut_string():
    """HOSTNAME with a length that its section does not have."""
    return struct.pack("<I", 640) + b"host".ljust(64, b"\0")


SOUND = {
    "file": perf_file(),
    "two-events": two_events(),
    "pipe": pipe(record(64, attr()), RECORDS),
    "aux": aux_file(),
    "tracepoint": perf_file(attrs=[tracepoint()], parts={1: tracing_data(), 3: text(b"host")}),
    "compressed": perf_file(compressed(RECORDS), parts=features(_27=ZSTD_SAID)),
    "mmap2": perf_file(mmap2() + RECORDS),
    "trace": trace(buffer(CALLS, EVENT, call(3, 2), metadata(6, "Q", 9), call(1, 2)) + buffer(CALLS, tid=8)),
    "basic": trace(basic(1) + basic(1, 1), 3, 0),
    "profile": profile([2, 1]),
}

ODD_END = comm(name=b"fourteen bytes").replace(b"fourteen bytes\0\0", b"sixteen bytes..x")

BROKEN = {
    "header": (perf_file(patch=at_word(16, 96)), 16, ()),
    "record-body": (perf_file(comm() + sample(10) + record(7, bytes(8)) + sample(20) + sample(30) + sample(40),
                              parts=features(_21=None)), DATA + 40 + 32, ()),
    "garbage": (perf_file(comm() + sample(10) + b"\xff\xfe" * 20 + sample(20) * 4), DATA + 40 + 32, ()),
    "cut": (pipe(record(64, attr()), RECORDS[:-8]), 16 + 72 + len(RECORDS) - 32, ()),
    "compressed": (perf_file(compressed(RECORDS)[:-20] + b"\xff" * 20 + ROUND, parts=features(_27=ZSTD_SAID)), DATA, ("sample-time",)),
    "record-order": (trace(buffer(metadata(0, "i", 7), CALLS)), BODY, ()),
    "feature-body": (perf_file(parts=features(_3=cut_string())), None, ()),
    "text-end": (perf_file(ODD_END + RECORDS), DATA + 16, ()),
    "bytes-behind": (perf_file(parts=features(_7=struct.pack("<III", 4, 4, 9))), None, ()),
    "zeros-behind": (perf_file(parts=features(_7=struct.pack("<IIQ", 4, 4, 0))), None, ()),
    "reserved": (perf_file(attrs=[attr(flags=ALL | 1 << 63)], parts=features(_12=None)), HEADER + 40, ()),
    "padding": (perf_file(comm().replace(b"work\0\0\0\0", b"work\0abc") + RECORDS), DATA + 20, ()),
    "record-type": (perf_file(RECORDS + record(40, bytes(8)) + sample(50)), DATA + len(RECORDS), ()),
    "record-misc": (perf_file(comm(misc=0x10) + RECORDS), DATA, ()),
    "record-words": (perf_file(RECORDS + record(3, struct.pack("<II", 7, 7) + b"abc\0" + tail(50)) + sample(50) * 3), DATA + len(RECORDS), ()),
    "record-event": (two_events(records=TWO_RECORDS + TWO_RECORDS.replace(struct.pack("<QQ", 1, 0x1000), struct.pack("<QQ", 9, 0x1000))), None, ()),
    "record-late": (perf_file(RECORDS + sample(15)), DATA + len(RECORDS), ()),
    "sample-cpu": (perf_file(sample(10, more=struct.pack("<II", 4, 0)), [attr(IP_TID_TIME | CPU)], parts=features(_12=None)), DATA, ()),
    "map-range": (perf_file(mmap(2**64 - 4096, 8192) + RECORDS), DATA, ()),
    "map2-range": (perf_file(mmap2(2**64 - 4096, 8192) + RECORDS), DATA, ()),
    "map-build-id": (perf_file(mmap2(build_id=21) + RECORDS), DATA, ()),
    "record-build-id": (perf_file(record(67, struct.pack("<i20sB3x", -1, bytes(20), 21) + padded(b"/bin/work"), 0x8001) + RECORDS), DATA, ()),
    "id-index": (two_events(records=id_index(3) + TWO_RECORDS), None, ()),
    "aux-index": (aux_file(size=40), DATA, ()),
    "aux-index-lost": (aux_file(offset=DATA + 56, records=AUX + RECORDS), None, ("aux-index",)),
    "event-bits": (perf_file(attrs=[attr(IP_TID_TIME | 1 << 40)], parts=features(_12=None)), HEADER + 24, ()),
    "event-ids": (two_events(ids=((1,), (1,))), None, ("record-event",)),
    "event-mixed": (two_events([TWO[0], attr(IP_TID_TIME | IDENTIFIER, config=1, flags=0)]), None, ()),
    "event-none": (pipe(record(82)), 16, ()),
    "event-desc": (perf_file(parts=features(_12=event_desc(attr(), attr(config=1)))), None, ()),
    "feature-outside": (perf_file(patch=at_slot(4, size=1 << 20)), None, ()),
    "feature-shares": (perf_file(patch=lambda made, table: at_slot(1, offset=struct.unpack_from("<Q", made, table)[0], size=52)(made, table)),
                       None, ("feature-body", "text-end", "bytes-behind")),
    "tracing-data": (perf_file(attrs=[tracepoint()], parts={1: b"\x17\x08\x44trading" + tracing_data()[10:], 3: text(b"host")}), None, ()),
    "tracing-format": (perf_file(attrs=[tracepoint(78)], parts={1: tracing_data(), 3: text(b"host")}), HEADER, ()),
    "build-id": (perf_file(parts=features(_2=build_ids(21))), None, ()),
    "cpus": (perf_file(parts=features(_7=struct.pack("<II", 4, 5))), None, ()),
    "group-desc": (perf_file(parts=features(_17=struct.pack("<I", 1) + text(b"group") + struct.pack("<II", 0, 2))), None, ()),
    "sample-time": (perf_file(parts=features(_21=struct.pack("<QQ", 20, 50))), None, ()),
    "unfinished": (perf_file(patch=lambda made, table: at_word(48, 0)(made, table)[:table]), 48, ()),
    "records-cut": (perf_file(patch=end_at(lambda table: table - 32)), DATA + len(RECORDS) - 32, ("feature-table",)),
    "feature-table": (perf_file(patch=end_at(lambda table: table + 32)), DATA + len(RECORDS) + 32, ("feature-outside",)),
    "compressed-unsaid": (perf_file(compressed(RECORDS)), DATA, ()),
    "trace-thread": (trace(buffer(CALLS, tid=0)), 48, ()),
    "trace-wall-clock": (trace(buffer(CALLS, micros=10**6)), 64, ()),
    "trace-function": (trace(buffer(CALLS, call(0, 0))), BODY + 16, ()),
    "trace-custom-event": (trace(buffer(metadata(5, "ii", 0, 9), CALLS)), BODY, ("record-body",)),
    "trace-typed-event": (trace(buffer(metadata(8, "iiH", 0, 9, 1), CALLS)), BODY, ("record-body",)),
    "trace-profile-path": (profile([]), 48, ()),
    "trace-argument": (trace(buffer(call(3, 2), CALLS)), BODY, ()),
    "trace-extents": (trace(buffer(CALLS, extents=200)), 32, ("cut",)),
    "trace-cpu": (trace(buffer(cpu=False)), 32, ()),
    "trace-empty": (trace(b""), 0, ()),
    "trace-lost": (open(os.path.join(FIXTURES, "recorder", "finished.xray"), "rb").read(), 128, ()),
    "trace-frequency": (trace(buffer(CALLS), frequency=0), 8, ()),
}
