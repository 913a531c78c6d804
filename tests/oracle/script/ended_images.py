# SPDX-License-Identifier: Apache-2.0
"""Rewrites a recording so that perf forgets the program image that an exec replaced. perf keeps the mappings of the old image, including those inherited by
fork, and looks up the unwind tables of an object by the lowest address at which a process ever mapped it. perf drops
the old mappings at a FORK that forks a process from itself without mappings; such a record is inserted before the
COMM of each new image."""
import shutil
import struct

COMM, FORK = 3, 7
EXEC = FORK_EXEC = 1 << 13  # bits of misc: the COMM is from an exec; the new process does not inherit the mappings of its parent
FILE_HEADER = 104
DATA, BITMAP = 40, 72       # offsets in the file header
TAIL = (1, 2, 6, 7, 9, 16)  # bits of sample_type; for each set bit, a non-sample record has a 64-bit field at its end


def tail_size(data):
    """Uses the first event, which must have times."""
    attrs, = struct.unpack_from("<Q", data, 24)
    sample_type, = struct.unpack_from("<Q", data, attrs + 24)
    assert sample_type >> 2 & 1, "no times"
    return 8 * sum(sample_type >> bit & 1 for bit in TAIL)


def new_images(data, at, end):
    """Yields (offset, bytes) of each COMM of a new image."""
    while at < end:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        if kind == COMM and misc & EXEC:
            yield at, data[at:at + length]
        at += length


def fork_before(comm, tail):
    pid, tid = struct.unpack_from("<II", comm, 8)
    rest = comm[len(comm) - tail:]
    time, = struct.unpack_from("<Q", rest, 8)
    body = struct.pack("<IIIIQ", pid, pid, tid, tid, time) + rest
    return struct.pack("<IHH", FORK, FORK_EXEC, 8 + len(body)) + body


def without_ended_images(path, to):
    """Returns how many images began; the copy has one more record for each. A stream is not changed."""
    with open(path, "rb") as file:
        data = file.read()
    if struct.unpack_from("<Q", data, 8)[0] != FILE_HEADER:
        shutil.copyfile(path, to)
        return 0
    start, size = struct.unpack_from("<QQ", data, DATA)
    end, tail = start + size, tail_size(data)
    pieces, done = [], start
    for at, comm in new_images(data, start, end):
        pieces += [data[done:at], fork_before(comm, tail)]
        done = at
    records = b"".join(pieces + [data[done:end]])
    more = len(records) - size
    head, rest = bytearray(data[:start]), bytearray(data[end:])
    struct.pack_into("<Q", head, DATA + 8, len(records))
    features = sum(byte.bit_count() for byte in data[BITMAP:BITMAP + 32])
    for at in range(0, 16 * features, 16):
        offset, = struct.unpack_from("<Q", rest, at)
        struct.pack_into("<Q", rest, at, offset + more)
    with open(to, "wb") as file:
        file.writelines((head, records, rest))
    return len(pieces) // 2
