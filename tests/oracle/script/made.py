# SPDX-License-Identifier: Apache-2.0
"""Generates small recordings record by record, and reads the mapped segments of an ELF file, for tests that need data that
no recorder writes on demand. Fields are those of linux/perf_event.h; docs/perf-data-format.md describes them all."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402,F401  (its paths)
import other_forms  # noqa: E402

MMAP, COMM, SAMPLE, MMAP2 = 1, 3, 9, 10
IP, TID, TIME, ADDR, CALLCHAIN, IDENTIFIER = 1, 2, 4, 8, 32, 1 << 16  # bits of sample_type
SAMPLE_ID_ALL = 1 << 18
USER = 2                          # cpumode in misc
MMAP_DATA = COMM_EXEC = 1 << 13
EXECUTABLE, WRITABLE, READABLE = 4, 2, 1
PAGE = 0xfff
PID = 7
ID = 1


def padded(text, to=8):
    return text + bytes(to - len(text) % to)


def attr(sample_type=IP | TID | TIME, kind=1, config=0, flags=SAMPLE_ID_ALL):
    """An event of 128 bytes, by default cpu-clock."""
    return struct.pack("<IIQQQQQ", kind, 128, config, 1, sample_type, 0, flags).ljust(128, b"\0")


def identifier(event):
    """The id field that distinguishes events; empty if there is only one event."""
    return b"" if event is None else struct.pack("<Q", ID + event)


def tail(time, pid=PID, event=None):
    return struct.pack("<IIQ", pid, pid, time) + identifier(event)


def comm(name, time, pid=PID, event=None, misc=0):
    return COMM, misc, struct.pack("<II", pid, pid) + padded(name.encode()) + tail(time, pid, event)


def map_of(name, start, length, offset, time, protection=EXECUTABLE | READABLE):
    body = struct.pack("<IIQQQIIQQII", PID, PID, start, length, offset, 0, 0, 0, 0, protection, 2)
    misc = USER | (0 if protection & EXECUTABLE else MMAP_DATA)
    return MMAP2, misc, body + padded(name.encode()) + tail(time)


def sample(ip, time, *more, pid=PID, event=None):
    """`more`: the 64-bit fields of the sample after the time."""
    return SAMPLE, USER, identifier(event) + struct.pack("<QIIQ%dQ" % len(more), ip, pid, pid, time, *more)


def write_file(path, records, attrs=None, features=None):
    attrs = attrs or [attr()]
    named = [(one, struct.pack("<Q", ID + number)) for number, one in enumerate(attrs)]
    other_forms.write(path, other_forms.pack_file(named, records, features or {}))


def loads_of(elf):
    """Yields (offset, address, size in the file, size in memory, flags) of each segment of a little-endian 64-bit file."""
    with open(elf, "rb") as file:
        data = file.read()
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, flags, offset, address, _, filled, room, _ = struct.unpack_from("<IIQQQQQQ", data, table + size * number)
        if kind == 1:
            yield offset, address, filled, room, flags


def record_all_of(elf, path, step=4):
    """A recording of a process that executes each segment of the file, including the zero-filled part after it."""
    records, samples = [comm("seven", 1)], []
    for offset, address, filled, room, flags in loads_of(elf):
        start, end = address & ~PAGE, address + filled + PAGE & ~PAGE
        protection = flags & WRITABLE | READABLE | (EXECUTABLE if flags & 1 else 0)
        records.append(map_of(elf, start, end - start, offset & ~PAGE, len(records) + 1, protection))
        samples += range(address, min(address + room, end), step)
    write_file(path, records + [sample(ip, 1000 + number) for number, ip in enumerate(samples)])
