# SPDX-License-Identifier: Apache-2.0
"""Reads traces of the runtime without perfray: calls with tests/oracle/xray/oracle.py, names from the notes in the trace
(wire/recorder_file.h) and nm."""
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import harness  # noqa: E402,F401  (its paths)
import oracle  # noqa: E402

MAGIC = b"perfray-rt 1\0\0\0\0"
LOST_AT = 32 + 6 * 8 + 4 * 4 + 2 * 8 + 2 * 4  # offsets in struct rtf_control
RUNNING, FINISHED, FUNCTIONS, OBJECTS = 1, 2, 3, 4


class Symbols:
    """The functions of objects, by address in the object."""

    def __init__(self):
        self.known = {}

    def name(self, path, address):
        if path not in self.known:
            lines = subprocess.run(["nm", "--defined-only", path], text=True, stdout=subprocess.PIPE, check=True).stdout
            self.known[path] = {int(line.split()[0], 16): line.split()[2].split(".")[0] for line in lines.splitlines()
                                if line.split()[1] in "tTwW"}
        return self.known[path].get(address)


class Recorded:
    def __init__(self, path):
        self.rests = []
        data = Path(path).read_bytes()
        self.trace = oracle.read(self.without_room(data))
        self.functions, self.objects, self.lost = {}, {}, []
        for record in self.trace.records:
            if record.kind == "custom_event" and record.data[:16] == MAGIC:
                self.take(record.data)
        symbols = Symbols()
        self.names = {number: self.name_of(symbols, *place) for number, place in self.functions.items()}

    def without_room(self, data):
        """Returns only the buffers of the trace, as stored in the slots; everything else must be zeros, except one
        record."""
        if data[128:144] != MAGIC or struct.unpack_from("<I", data, 144)[0] != RUNNING:
            return data
        size, count, begin = struct.unpack_from("<QQQ", data, 128 + 32)
        out = [data[:begin]]
        for slot in range(begin, begin + size * count, size):
            at = slot
            while at + 16 <= slot + size and data[at] == 0x0f:
                length = struct.unpack_from("<Q", data, at + 1)[0] + 16
                out.append(data[at:at + length])
                at += length
            rest = at + 24  # an unfinished record, which is not counted yet
            if rest < slot + size and data.count(0, rest, slot + size) != slot + size - rest:
                self.rests.append((at, slot + size - at, "no zeros behind the buffers of a slot"))
        return b"".join(out + [data[begin + size * count:]])

    def take(self, note):
        kind, first, _ = struct.unpack_from("<IIQ", note, 16)
        if kind in (RUNNING, FINISHED):
            self.lost = struct.unpack_from("<5Q", note, LOST_AT)
        elif kind == FUNCTIONS:
            for i, at in enumerate(range(32, len(note) - 15, 16)):
                address, number, _ = struct.unpack_from("<QII", note, at)
                if address:
                    self.functions[first + i] = (address, number)
        elif kind == OBJECTS:
            for i, at in enumerate(range(32, len(note) - 511, 512)):
                what, pid, base, start, end, begin, until, size = struct.unpack_from("<IIQQQQQB", note, at)
                if what:
                    path = note[at + 80:at + 512].split(b"\0")[0].decode()
                    self.objects[first + i] = (what, pid, base, path, note[at + 49:at + 49 + size], begin, until)

    def name_of(self, symbols, address, number):
        if number not in self.objects:
            return None
        what, _, base, path, *_ = self.objects[number]
        return path if what == 2 else symbols.name(path, address - base)

    def calls(self, kinds=("enter",)):
        """Returns {name: number of records}; damage is counted under a special name."""
        return Counter(self.names.get(r.func, f"#{r.func}") for r in self.trace.records if r.kind in kinds)

    def edges(self):
        calls, missing = oracle.pair(self.trace)
        edges = Counter()
        for call in calls:
            edges[self.names.get(call.caller), self.names.get(call.func)] += 1
        return edges

    def gaps(self):
        return self.rests + self.trace.damage
