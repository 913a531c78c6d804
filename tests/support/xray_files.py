#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""xray_files.py - writes XRay traces from the description of the format, without perfray.

usage: xray_files.py OUTDIR             writes every trace of FILES
       xray_files.py --check OUTDIR     compares them with the files there

The same events are written in all five versions of the flight recorder format, in both byte orders and in the hybrid
order that only LLVM's reader knows: two threads, one of which has two buffers, a tail exit, an exception, an argument,
an event, a CPU change, a wrap of the clock. Features that a version does not have (a process, typed events) are left
out.
"""
import os
import struct
import sys

import harness

ENTER, EXIT, TAIL, ENTER_ARG = range(4)
FREQUENCY = 1000000000
STRIDE = 320

# (thread, seconds, first CPU, first tsc or None for a continued buffer of version 1, steps)
STORY = [
    (101, 5, 1, 1000000, [
        ("call", ENTER, 1, 1000000), ("call", ENTER, 2, 1000010), ("call", EXIT, 2, 1000030),
        ("call", ENTER, 3, 1000035), ("call", TAIL, 3, 1000050), ("call", ENTER, 4, 1000051), ("call", EXIT, 4, 1000060),
        ("argument", ENTER_ARG, 6, 1000070, 0x1122334455667788), ("call", EXIT, 6, 1000090),
        ("custom", 1000095, b"hello\n"), ("call", ENTER, 7, 1000100), ("cpu", 2, 1005000), ("call", ENTER, 8, 1005000),
        ("wrap", 5000000000), ("call", EXIT, 7, 5000000007)]),
    (102, 5, 0, 1000050, [("call", ENTER, 1, 1000050), ("call", EXIT, 1, 1000350), ("call", EXIT, 9, 1000360)]),
    (101, 6, 2, 5000000100, [("typed", 5000000110, 9, b"\x00\xff typed"), ("call", EXIT, 1, 5000000120),
                             ("call", ENTER, 5, 5000000130)]),
]


class Fdr:
    """A flight-recorder trace."""

    def __init__(self, version, order="<", low_first=None):
        self.version, self.order = version, order
        self.low_first = order == "<" if low_first is None else low_first

    def pack(self, layout, *values):
        return struct.pack(self.order + layout, *values)

    def metadata(self, kind, payload=b""):
        head = kind << 1 | 1 if self.low_first else 0x80 | kind
        return bytes([head]) + payload.ljust(15, b"\0")

    def call(self, action, function, delta):
        word = function << 4 | action << 1 if self.low_first else action << 28 | function
        return self.pack("II", word, delta)

    def header(self):
        flags = 3 if self.low_first and self.order == "<" else 3 << 30
        return self.pack("HHIQQQ", self.version, 1, flags, FREQUENCY, STRIDE, 0)

    def steps(self, base, steps):
        out = b""
        for step in steps:
            name, rest = step[0], step[1:]
            if name == "cpu":
                out, base = out + self.metadata(2, self.pack("HQ", rest[0], rest[1])), rest[1]
            elif name == "wrap":
                out, base = out + self.metadata(3, self.pack("Q", rest[0])), rest[0]
            elif name == "custom":
                out += self.custom(base, *rest)
                base = rest[0] if self.version == 5 else base
            elif name == "typed":
                if self.version == 5:
                    out += self.metadata(8, self.pack("iiH", len(rest[2]), rest[0] - base, rest[1])) + rest[2]
                    base = rest[0]
            else:
                out, base = out + self.call(rest[0], rest[1], rest[2] - base), rest[2]
                if name == "argument":
                    out += self.metadata(6, self.pack("Q", rest[3]))
        return out

    def custom(self, base, tsc, data):
        if self.version == 5:
            return self.metadata(5, self.pack("ii", len(data), tsc - base)) + data
        if self.version == 4:
            return self.metadata(5, self.pack("iQH", len(data), tsc, 1)) + data
        return self.metadata(5, self.pack("iQ", len(data), tsc)) + data

    def buffer(self, thread, seconds, cpu, tsc, steps):
        body = self.metadata(0, self.pack("i", thread)) + self.metadata(4, self.pack("qi", seconds, 250))
        if self.version >= 3:
            body += self.metadata(9, self.pack("i", 77))
        body += self.metadata(2, self.pack("HQ", cpu, tsc)) + self.steps(tsc, steps)
        if self.version > 1:
            return self.metadata(7, self.pack("Q", len(body))) + body
        body += self.metadata(1)
        if len(body) > STRIDE:
            raise ValueError("the buffer has %d bytes" % len(body))
        return body.ljust(STRIDE, b"\xa5")

    def file(self):
        return self.header() + b"".join(self.buffer(*part) for part in STORY)


def basic(version, order):
    """The calls of STORY as a basic-mode log: the buffers one after the other, thread by thread."""
    pack = lambda layout, *values: struct.pack(order + layout, *values)
    out = pack("HHIQQQ", version, 0, 0xff if order == "<" else 3, FREQUENCY, 0, 0)
    for thread, _, cpu, _, steps in STORY:
        for step in steps:
            if step[0] == "cpu":
                cpu = step[1]
            if step[0] not in ("call", "argument"):
                continue
            action = EXIT if version == 1 and step[1] == TAIL else step[1]
            pid = 77 if version == 3 else 0
            out += pack("HBBiQiiQ", 0, cpu, action, step[2], step[3], thread, pid, 0)
            if step[0] == "argument":
                out += pack("HHiiiQQ", 1, 0, step[2], thread, pid, step[4], 0)
    return out


def profile(order):
    pack = lambda layout, *values: struct.pack(order + layout, *values)
    out = pack("QQQQ", 0x7872617970726f66, 0x20180424, 5000000250, 77)
    blocks = [(101, [((2, 1), 1, 20), ((4, 3, 1), 1, 9), ((1,), 1, 5000000020)]), (102, [((1,), 1, 300)])]
    for number, (thread, paths) in enumerate(blocks):
        body = b"".join(pack("%diiQQ" % len(path), *path, 0, count, time) for path, count, time in paths)
        out += pack("IIQ", 16 + len(body), number, thread) + body
    return out


def all_files():
    files = {}
    for version in range(1, 6):
        files["fdr-v%d.xray" % version] = Fdr(version).file()
        files["fdr-v%d-be.xray" % version] = Fdr(version, ">").file()
        files["fdr-v%d-hybrid.xray" % version] = Fdr(version, ">", True).file()
    for version in range(1, 4):
        files["basic-v%d.xray" % version] = basic(version, "<")
        files["basic-v%d-be.xray" % version] = basic(version, ">")
    files["profile.xray"] = profile("<")
    files["profile-be.xray"] = profile(">")
    return files


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
        harness.result("xray/" + name, not equal)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
