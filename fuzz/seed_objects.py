# SPDX-License-Identifier: Apache-2.0
"""Objects for seed.py: small objects of both ELF classes and byte orders, maps of functions, and parts of the objects of
tests/fixtures."""
import os
import struct

from seed_recordings import FIXTURES


class Elf:
    """A small object of either class and byte order: two code symbols, a build-id, one segment."""

    def __init__(self, wide, order, kind):
        self.wide, self.order, self.kind = wide, order, kind

    def pack(self, layout, *values):
        """Packs values; L is a word of the class's width."""
        return struct.pack(self.order + layout.replace("L", "Q" if self.wide else "I"), *values)

    def symbol(self, name, info, section, value, size):
        if self.wide:
            return self.pack("IBBHQQ", name, info, 0, section, value, size)
        return self.pack("IIIBBH", name, value, size, info, 0, section)

    def section(self, name, kind, flags, at, size, link=0, entry=0, address=0):
        return self.pack("IILLLLIILL", name, kind, flags, address, at, size, link, 1 if kind == 2 else 0, 4, entry)

    def segment(self, kind, flags, at, address, size):
        if self.wide:
            return self.pack("IIQQQQQQ", kind, flags, at, address, address, size, size, 4)
        return self.pack("IIIIIIII", kind, at, address, address, size, size, flags, 4)

    def parts(self):
        names = b"\0.text\0.symtab\0.strtab\0.note\0main\0_ZN3foo3barEv\0"
        note = self.pack("III", 4, 8, 3) + b"GNU\0" + bytes(range(8))
        symbols = self.symbol(0, 0, 0, 0, 0) + self.symbol(29, 0x12, 1, 0x1000, 0x40) + \
            self.symbol(34, 0x02, 1, 0x1040, 0) + self.symbol(29, 0x22, 1, 0x1020, 0x8)
        return names, note, symbols

    def more(self, _at):
        """The contents of an additional section, whose name is the last one."""
        return b""

    def bytes(self):
        names, note, symbols = self.parts()
        header, entry = (64, 24) if self.wide else (52, 16)
        segments_size = 2 * (56 if self.wide else 32)
        text_at = header + segments_size
        note_at = text_at + 16
        symbols_at = note_at + len(note)
        names_at = symbols_at + len(symbols)
        more_at = names_at + len(names)
        more = self.more(more_at)
        sections_at = (more_at + len(more) + 7) // 8 * 8
        segments = self.segment(1, 5, 0, 0x1000 - text_at, names_at) + self.segment(4, 4, note_at, 0, len(note))
        sections = self.section(0, 0, 0, 0, 0) + self.section(1, 1, 6, text_at, 16, address=0x1000) + \
            self.section(7, 2, 0, symbols_at, len(symbols), 3, entry) + self.section(15, 3, 0, names_at, len(names)) + \
            self.section(23, 7, 0, note_at, len(note))
        count = 5 + (more != b"")
        if more:
            sections += self.section(len(names) - len(MAP_NAME) - 1, 1, 2, more_at, len(more), address=0x2000)
        ident = b"\x7fELF" + struct.pack("BBBB", 2 if self.wide else 1, 1 if self.order == "<" else 2, 1, 0) + bytes(8)
        out = ident + self.pack("HHILLLIHHHHHH", self.kind, 62, 1, 0x1000, header, sections_at, 0, header,
                                segments_size // 2, 2, len(sections) // count, count, 3)
        out += segments + b"\x90" * 16 + note + symbols + names + more
        return out.ljust(sections_at, b"\0") + sections


MAP_NAME = b"xray_instr_map"


class MappedElf(Elf):
    """The same with an instrumentation map of its two functions; the first has two sleds."""

    def __init__(self, wide, order, kind, version):
        super().__init__(wide, order, kind)
        self.version = version

    def parts(self):
        names, note, symbols = super().parts()
        return names + MAP_NAME + b"\0", note, symbols

    def more(self, _at):
        word, entries = 8 if self.wide else 4, b""
        for number, function in enumerate((0x1000, 0x1000, 0x1040)):
            place = 0x2000 + 4 * word * number
            said = (function, function) if self.version < 2 else (function - place, function - place - word)
            entries += self.pack("LL", *(value % (1 << 8 * word) for value in said))
            entries += bytes((number == 1, 1, self.version)).ljust(2 * word, b"\0")
        return entries


def elf_inputs():
    for wide in (True, False):
        for order in "<>":
            for kind in (1, 2, 3):
                yield "elf%d-%s-%d" % (64 if wide else 32, "little" if order == "<" else "big", kind), \
                    Elf(wide, order, kind).bytes()


def function_inputs():
    """The maps of the tests, and objects with a section xray_instr_map in each version."""
    folder = os.path.join(FIXTURES, "maps")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            yield name, file.read()
    for wide in (True, False):
        for order in "<>":
            for version in range(3):
                yield "elf%d-%s-%d" % (64 if wide else 32, "little" if order == "<" else "big", version), \
                    MappedElf(wide, order, 3, version).bytes()


def section_of(path, wanted):
    """The bytes of a section of a 64-bit little-endian object, and its address."""
    with open(path, "rb") as file:
        content = file.read()
    table, count, names = struct.unpack_from("<Q", content, 40)[0], *struct.unpack_from("<HH", content, 60)
    headers = [struct.unpack_from("<IIQQQQ", content, table + 64 * number) for number in range(count)]
    texts = headers[names][4]
    for header in headers:
        name = content[texts + header[0]:content.index(b"\0", texts + header[0])].decode()
        if name == wanted:
            return content[header[4]:header[4] + header[5]], header[3]
    return b"", 0


def line_inputs():
    """The objects of the tests that have lines."""
    folder = os.path.join(FIXTURES, "objects")
    for name in sorted(os.listdir(folder)):
        if name.startswith("nested-"):
            with open(os.path.join(folder, name), "rb") as file:
                yield name, file.read()


def frame_inputs():
    """Call frame information of the objects of the tests, in objects without other contents."""
    folder = os.path.join(FIXTURES, "objects")
    for name, machine, section in (("x86", 62, ".eh_frame"), ("aarch64", 183, ".eh_frame"), ("debug", 62, ".debug_frame")):
        frames, address = section_of(os.path.join(folder, "frames-%s.so" % name), section)
        names = b"\0" + section.encode() + b"\0.names\0"
        at = 64 + len(frames) + len(names)
        header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, at, 0, 64, 56, 0, 64, 3, 2)
        flags = 0x800 if section == ".debug_frame" else 2
        rows = bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, flags, address, 64, len(frames), 0, 0, 8, 0) + struct.pack(
            "<IIQQQQIIQQ", 2 + len(section), 3, 0, 0, 64 + len(frames), len(names), 0, 0, 1, 0)
        yield name, header + frames + names + rows
