# SPDX-License-Identifier: Apache-2.0
"""Recordings from which seed.py makes inputs: tiny ones, one around each fixture, and the recorded files."""
import os
import struct
import sys

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "fixtures")
sys.path.insert(0, os.path.join(FIXTURES, "..", "support"))
import hexfile  # noqa: E402  (tests/support)

RECORDING_MOST = 16384


def fixtures():
    """Every byte fixture."""
    folder = os.path.join(FIXTURES, "hex")
    return [hexfile.Fixture(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".hex")]


def recordings():
    """(name, bytes) of every recording that is small enough, including parts of folders."""
    folder = os.path.join(FIXTURES, "recorded")
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            is_recording = name.endswith(".data") or os.path.basename(parent).endswith(".data")
            if is_recording and os.path.getsize(path) <= RECORDING_MOST:
                with open(path, "rb") as file:
                    yield os.path.relpath(path, folder).replace("/", "-"), file.read()


class Words:
    """Packs numbers in one byte order."""

    def __init__(self, order):
        self.order = order

    def pack(self, layout, *values):
        return struct.pack(self.order + layout, *values)

    def attr(self):
        flags = 1 << 18 if self.order == "<" else 1 << (63 - 18)
        head = self.pack("IIQQQQQ", 1, 128, 0, 4000, 0x107, 4, flags)
        return head.ljust(128, b"\0")

    def record(self, kind, misc, body):
        return self.pack("IHH", kind, misc, 8 + len(body)) + body

    def records(self):
        tail = self.pack("IIQ", 7, 8, 1000)
        yield self.record(3, 0, self.pack("II", 7, 8) + b"worker\0\0" + tail)
        yield self.record(1, 2, self.pack("IIQQQ", 7, 8, 0x1000, 0x1000, 0) + b"/bin/w\0\0" + tail)
        yield self.record(9, 2, self.pack("QIIQQ", 0x1234, 7, 8, 2000, 1))
        yield self.record(7, 0, self.pack("IIIIQ", 9, 7, 9, 8, 3000) + tail)
        yield self.record(68, 0, b"")

    def features(self):
        host = self.pack("I", 64) + b"demo".ljust(64, b"\0")
        return ((3, host), (7, self.pack("II", 2, 2)), (8, host.replace(b"demo", b"fast")))

    def bitmap(self, width):
        """The bitmap of features, in words of this many bytes."""
        total = sum(1 << bit for bit, _ in self.features())
        words = [total >> 8 * width * n & ((1 << 8 * width) - 1) for n in range(32 // width)]
        return self.pack(("%d" % len(words)) + ("Q" if width == 8 else "I"), *words)

    def file(self, width=8):
        magic = b"PERFILE2" if self.order == "<" else b"2ELIFREP"
        data = b"".join(self.records())
        attrs = self.attr() + self.pack("QQ", 104, 8)
        data_at = 112 + len(attrs)
        at = data_at + len(data) + 16 * len(self.features())
        table, sections = b"", b""
        for _, payload in self.features():
            table += self.pack("QQ", at + len(sections), len(payload))
            sections += payload
        header = magic + self.pack("QQQQQQQQ", 104, 144, 112, len(attrs), data_at, len(data), 0, 0)
        return header + self.bitmap(width) + self.pack("Q", 5) + attrs + data + table + sections

    def pipe(self):
        magic = b"PERFILE2" if self.order == "<" else b"2ELIFREP"
        features = b"".join(self.record(80, 0, self.pack("Q", bit) + payload) for bit, payload in self.features())
        head = magic + self.pack("Q", 16) + self.record(64, 0, self.attr() + self.pack("Q", 5))
        return head + features + b"".join(self.records())


def whole_recordings():
    """(name, bytes) of tiny recordings in both byte orders, one around each fixture, and the recorded files."""
    for order, name in (("<", "little"), (">", "big")):
        yield name + "-file", Words(order).file()
        yield name + "-file-32", Words(order).file(4)
        yield name + "-pipe", Words(order).pipe()
    for fixture in fixtures():
        yield fixture.name + "-file", hexfile.make_file(fixture)
        if fixture.kind != "file":
            yield fixture.name + "-pipe", hexfile.make_pipe(fixture)
    yield from recordings()
