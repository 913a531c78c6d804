#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorder_files.py - writes small traces as perfray's runtime leaves them, without using it (src/wire/recorder_file.h).

usage: recorder_files.py OUTDIR             writes them
       recorder_files.py --check OUTDIR     compares them with the files there

lying.xray     of a killed program: slots with an incomplete record, with an empty buffer, with two buffers, and unused slots
ring.xray      the end of a long run: slots were reused, and the newest slot is before the oldest
finished.xray  the file that perfray trace makes from lying.xray
"""
import os
import struct
import sys

import harness

MAGIC = b"perfray-rt 1".ljust(16, b"\0")
RUNNING, FINISHED, FUNCTIONS, OBJECTS = 1, 2, 3, 4
MAPPED, SCOPE = 1, 2
SLOT, SLOTS_AT = 4096, 4096
NOTE = 96
NAME = b'read\x1b[31m "all"\xe2\x80\xae;<b>'
PATH = b"/nonexistent/perfray\x07-fixture"


def metadata(kind, body=b""):
    return bytes([kind << 1 | 1]) + body.ljust(15, b"\0")


def extents(size):
    return metadata(7, struct.pack("<Q", size))


def buffer(body, tid=1, pid=100, cpu=0, tsc=1000):
    body = (metadata(0, struct.pack("<I", tid)) + metadata(4, struct.pack("<QI", 5, tsc % 1000000)) +
            metadata(9, struct.pack("<I", pid)) + metadata(2, struct.pack("<HQ", cpu, tsc)) + body)
    return extents(len(body)) + body


def call(action, function, delta):
    return struct.pack("<II", function << 4 | action << 1, delta)


def enter(function, delta=3):
    return call(0, function, delta)


def leave(function, delta=3):
    return call(1, function, delta)


def note(kind, first, entries, size=None):
    """A buffer with one event; in a slot, it fills the slot."""
    size = size or NOTE + 32 + len(entries)
    payload = (MAGIC + struct.pack("<IIQ", kind, first, size) + entries).ljust(size - NOTE, b"\0")
    return buffer(metadata(5, struct.pack("<II", len(payload), 0)) + payload, tid=100)


def functions(*places):
    return b"".join(struct.pack("<QII", address, number, 0) for address, number in places)


def mapped(base, path, build_id=b"\x12" * 20):
    return (struct.pack("<IIQQQQQB", MAPPED, 100, base, base, base + 0x4000, 1000, 0, len(build_id)) + build_id.ljust(31, b"\0") +
            path.ljust(432, b"\0"))


def scope(name):
    return struct.pack("<IIQQQQQB", SCOPE, 100, 0, 0, 0, 0, 0, 0) + bytes(31) + name.ljust(432, b"\0")


def control(kind, nr_slots, next_slot, keep_last, nr_functions, nr_objects, function_slots, object_slots):
    body = struct.pack("<QQQQQQIIIIQQII5Q", SLOT, nr_slots, SLOTS_AT, 1000, 5 * 10**9, 0, 100, keep_last, 1, 0, next_slot, 0,
                       nr_functions, nr_objects, 7, 0, 0, 0, 0)
    body += bytes(8 * 32)
    body += b"".join(struct.pack("<I", slot) for slot in function_slots).ljust(4 * 512, b"\0")
    return body + b"".join(struct.pack("<I", slot) for slot in object_slots).ljust(4 * 64, b"\0") + bytes(8)


HEADER = struct.pack("<HHIQQQ", 5, 1, 3, 10**9, SLOT, 0)
FUNCTION_NOTES = functions((0x401000, 1), (0x401100, 1), (1, 2), (0, 0))
OBJECT_NOTES = mapped(0x400000, PATH) + scope(NAME)


def lying(slots, **facts):
    """The file with these contents of its slots."""
    body = control(RUNNING, len(slots), **facts)
    head = HEADER + note(RUNNING, 0, body, SLOTS_AT - len(HEADER))
    return head + b"".join(slot.ljust(SLOT, b"\0") for slot in slots) + extents(0)


def first_calls():
    calls = b"".join(enter(2, 5) + leave(2, 7) for _ in range(4))
    return buffer(enter(1) + calls + leave(1), tid=1, tsc=1000)


def second_calls():
    return buffer(enter(2) + enter(3) + leave(3, 900), tid=2, cpu=1, tsc=2000)


def killed():
    torn = struct.pack("<I", 2 << 4)  # half a record after the counted records
    more = buffer(enter(1) + metadata(3, struct.pack("<Q", 1 << 40)) + leave(1, 0), tid=3, tsc=9000)
    slots = [note(FUNCTIONS, 1, FUNCTION_NOTES, SLOT), first_calls() + more + torn, note(OBJECTS, 1, OBJECT_NOTES, SLOT),
             second_calls(), extents(0), b""]
    return lying(slots, next_slot=5, keep_last=0, nr_functions=4, nr_objects=2, function_slots=[1], object_slots=[3])


def ring():
    def lap(number):
        return buffer(b"".join(enter(2, 1) + leave(2, 1) for _ in range(40)) + leave(1, 1), tid=1, tsc=10000 * number)
    slots = [note(FUNCTIONS, 1, FUNCTION_NOTES, SLOT), note(OBJECTS, 1, OBJECT_NOTES, SLOT), lap(7), lap(4), lap(5), lap(6)]
    return lying(slots, next_slot=9, keep_last=1, nr_functions=4, nr_objects=2, function_slots=[1], object_slots=[2])


def finished():
    more = buffer(enter(1) + metadata(3, struct.pack("<Q", 1 << 40)) + leave(1, 0), tid=3, tsc=9000)
    body = control(RUNNING, 6, next_slot=5, keep_last=0, nr_functions=4, nr_objects=2, function_slots=[1], object_slots=[3])
    head = note(FINISHED, 0, body)
    return (HEADER + head + note(FUNCTIONS, 1, FUNCTION_NOTES) + note(OBJECTS, 1, OBJECT_NOTES) + first_calls() + more +
            second_calls())


def all_files():
    return {"lying.xray": killed(), "ring.xray": ring(), "finished.xray": finished()}


def main(argv):
    check = argv[:1] == ["--check"]
    if len(argv) != 1 + check:
        print(__doc__, file=sys.stderr)
        return 2
    folder = argv[-1]
    for name, content in all_files().items():
        path = os.path.join(folder, name)
        if not check:
            with open(path, "wb") as out:
                out.write(content)
            continue
        with open(path, "rb") as kept:
            equal = kept.read() == content
        harness.result("recorder/" + name, not equal)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
