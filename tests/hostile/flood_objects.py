# SPDX-License-Identifier: Apache-2.0
"""ELF objects whose names or tables take much more time or memory than their size, and recordings of them. Layouts: the System V gABI (ELF, symbol tables),
DWARF 4, LSB Core 10.6 (.eh_frame), linux/perf_event.h, docs/xray-format.md.

    elf([(name_at, address, size), ...], text, sections)     an x86-64 shared object; the names are in `text`
    recording([(path, [address, ...]), ...])                 a file with one sample per address, each with a call chain of its address if `chains`
    copies([path, ...], [[address, ...], ...])               a file with one sample per stack: registers, and a copy of the stack
    xray_log([id, ...])                                      a basic log with one call of each function
"""
import struct
import zlib

BASE = 0x1000  # of the code, in the file and in memory
MAPPED = 0x7F0000000000
ROOM = 0x10000000  # between two objects
TEXT, SYMTAB, STRTAB = 1, 2, 3


def elf(symbols, text, code, extra=(), sparse=0, sparse_in=b".strtab"):
    """Bytes up to the end of the last section. `extra`: (name, bytes); sections with the same bytes object share their contents. `sparse`: size of a hole after
    the last section, which the caller makes by enlarging the file; section `sparse_in` extends to its end."""
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0" + b"".join(name + b"\0" for name, _ in extra)
    table = bytes(24) + b"".join(struct.pack("<IBBHQQ", at, 0x12, 0, 1, start, size) for at, start, size in symbols)
    at = BASE + code
    bodies, headers = [], [bytes(64), section(names, b".text", 1, 6, BASE, BASE, code)]
    sections = ((b".symtab", 2, table, 3, 24), (b".shstrtab", 3, names, 0, 0),
                *((name, 1, body, 0, 0) for name, body in extra), (b".strtab", 3, text, 0, 0))
    placed = {}
    end = at + sum(len(body) for body in {id(body): body for _, _, body, _, _ in sections}.values()) + sparse
    for name, kind, body, link, each in sections:
        if id(body) not in placed:
            placed[id(body)] = at
            bodies.append(body)
            at += len(body)
        start = placed[id(body)]
        size = end - start if sparse and name == sparse_in else len(body)
        headers.append(section(names, name, kind, 0, 0, start, size, link, each))
    strtab, shstrtab = len(headers) - 1, 3
    headers[2] = section(names, b".symtab", 2, 0, 0, BASE + code, len(table), strtab, 24)
    table_at = 64 + 56
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, table_at, 0, 64, 56, 1, 64,
                                                     len(headers), shstrtab)
    head += struct.pack("<IIQQQQQQ", 1, 5, BASE, BASE, BASE, code, code, 0x1000) + b"".join(headers)
    assert len(head) <= BASE
    return head.ljust(BASE, b"\0") + b"\x90" * code + b"".join(bodies)


def section(names, name, kind, flags, address, at, size, link=0, each=0):
    return struct.pack("<IIQQQQIIQQ", names.index(b"\0" + name + b"\0") + 1, kind, flags, address, at, size, link, 1, 1,
                       each)


def inlined(count, names):
    """DWARF for `count` functions of 16 bytes. Into all bytes of function k, another function is inlined, whose name begins at byte k."""
    abbrev = (b"\1\x11\1\x11\1\x12\7\0\0" b"\2\x2e\0\3\x0e\0\0" b"\3\x2e\1\x11\1\x12\7\0\0"
              b"\4\x1d\0\x31\x13\x11\1\x12\7\0\0" b"\0")
    body = b"\1" + struct.pack("<QQ", BASE, 16 * count)
    for k in range(count):
        abstract = 11 + len(body)
        body += b"\2" + struct.pack("<I", k)
        start = BASE + 16 * k
        body += b"\3" + struct.pack("<QQ", start, 16) + b"\4" + struct.pack("<IQQ", abstract, start, 16) + b"\0"
    unit = struct.pack("<HIB", 4, 0, 8) + body + b"\0"
    return ((b".debug_info", struct.pack("<I", len(unit)) + unit), (b".debug_abbrev", abbrev), (b".debug_str", names))


def uleb(number):
    made = b""
    while number > 0x7f:
        made += bytes((number & 0x7f | 0x80,))
        number >>= 7
    return made + bytes((number,))


# The rules for every function: the return address is the word at the stack pointer, and no register changes.
CALLED = b"\x0c\7\x08\x90\1"
ALL_SAVED = CALLED + b"".join(bytes((0x80 | number, 2 + number)) for number in range(16) if number != 7)


class Frames:
    """An .eh_frame or .debug_frame section to which entries are added."""

    def __init__(self, is_debug=False):
        self.is_debug = is_debug
        self.bytes = bytearray()

    def add(self, identity, body):
        body = struct.pack("<I", identity) + body
        self.bytes += struct.pack("<I", len(body)) + body

    def common(self, program):
        at = len(self.bytes)
        self.add(0xffffffff if self.is_debug else 0, b"\1\0\1\x78\x10" + program)
        return at

    def entry(self, common, start, length, program=b""):
        at = len(self.bytes) + 4
        self.add(common if self.is_debug else at - common, struct.pack("<QQ", start, length) + program)

    def section(self):
        return b".debug_frame" if self.is_debug else b".eh_frame", bytes(self.bytes)


def packed_again(count, name, size):
    """`count` sections with one name and one zlib stream of `size` zeros, whose checksum is wrong."""
    stream = bytearray(zlib.compress(bytes(size), 9))
    stream[-1] ^= 1
    body = b"ZLIB" + struct.pack(">Q", size) + bytes(stream)
    return ((name, body),) * count


def plain_frames(code):
    frames = Frames()
    frames.entry(frames.common(CALLED), BASE, code)
    return frames.section()


def many_rows(count, is_debug=False):
    """One entry with `count` rows of five bytes, each of which needs another plan for seventeen registers."""
    frames = Frames(is_debug)
    program = b"".join(b"\x41\x0e" + uleb(0x10000 + k) for k in range(count))
    frames.entry(frames.common(ALL_SAVED), BASE, ROOM, program)
    return frames.section()


def many_steps(count, long=20000):
    """Entries that alternately use two long common parts (CIEs), so that a common part must be executed again for each entry."""
    frames = Frames()
    commons = [frames.common(CALLED + bytes(long)) for _ in range(2)]
    for k in range(count):
        frames.entry(commons[k % 2], BASE + 16 * k, 16)
    return frames.section()


def long_numbers(count, long, is_debug=False):
    """Entries that alternately use two common parts (CIEs), whose first number takes `long` bytes."""
    frames = Frames(is_debug)
    commons = []
    for _ in range(2):
        commons.append(len(frames.bytes))
        frames.add(0xffffffff if is_debug else 0, b"\1\0\x81" + b"\x80" * long + b"\0\x78\x10" + CALLED)
    for k in range(count):
        frames.entry(commons[k % 2], BASE + 16 * k, 16)
    return frames.section()


def xray_map(count):
    """The instrumentation map: all functions of 16 bytes, by address."""
    entries = (struct.pack("<QQBBB", BASE + 16 * k, BASE + 16 * k, 0, 1, 0) + bytes(13) for k in range(count))
    return b"xray_instr_map", b"".join(entries)


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def recording(objects, chains=False):
    records = []
    for number, (path, addresses) in enumerate(objects):
        name = path.encode() + bytes(8 - len(path) % 8)
        start = place(number)
        pid = 100 + number
        records.append(record(3, struct.pack("<II", pid, pid) + b"comm%04d" % number + bytes(8) + struct.pack("<IIQ", pid, pid, 0)))
        records.append(record(1, struct.pack("<IIQQQ", pid, pid, start, ROOM, 0) + name + struct.pack("<IIQ", pid, pid, 0), 2))
        for at in addresses:
            chain = struct.pack("<QqQ", 2, -512, start + at) if chains else b""
            records.append(record(9, struct.pack("<QIIQ", start + at, pid, pid, 1000) + chain, 2))
    data = b"".join(records)
    attr = struct.pack("<IIQQQQQ", 1, 80, 0, 4000, 0x27 if chains else 7, 0, 1 << 18) + bytes(32)
    head = b"PERFILE2" + struct.pack("<QQ", 104, 96) + struct.pack("<QQ", 104, 96) + struct.pack("<QQ", 200, len(data))
    return head + bytes(48) + attr + bytes(16) + data


def copies(paths, stacks):
    """One process, in which each object is mapped at place(its number). A stack is a list of addresses, innermost first."""
    pid, registers = 100, 1 << 6 | 1 << 7 | 1 << 8
    records = [record(3, struct.pack("<II", pid, pid) + b"comm\0\0\0\0" + struct.pack("<IIQ", pid, pid, 0))]
    for number, path in enumerate(paths):
        name = path.encode() + bytes(8 - len(path) % 8)
        records.append(record(1, struct.pack("<IIQQQ", pid, pid, place(number), ROOM, 0) + name
                              + struct.pack("<IIQ", pid, pid, 0), 2))
    for number, stack in enumerate(stacks):
        words = struct.pack("<%dQ" % len(stack), *stack[1:], 0)
        records.append(record(9, struct.pack("<QIIQQ", stack[0], pid, pid, 1000 + number, 0)
                              + struct.pack("<QQQQ", 2, 0, 0x7ffe00000000, stack[0])
                              + struct.pack("<Q", len(words)) + words + struct.pack("<Q", len(words)), 2))
    data = b"".join(records)
    attr = struct.pack("<IIQQQQQ", 1, 96, 0, 4000, 0x3027, 0, 1 << 18) + bytes(32) + struct.pack("<QII", registers, 512, 0)
    arch = struct.pack("<I", 64) + b"x86_64".ljust(64, b"\0")
    end = 216 + len(data)
    head = b"PERFILE2" + struct.pack("<QQ", 104, 112) + struct.pack("<QQ", 104, 112) + struct.pack("<QQ", 216, len(data))
    return (head + bytes(16) + struct.pack("<QQQQ", 1 << 6, 0, 0, 0) + attr + bytes(16) + data
            + struct.pack("<QQ", end + 16, len(arch)) + arch)


def place(number):
    return MAPPED + number * ROOM


def xray_log(ids):
    """Each function is entered once and left one tick later."""
    head = struct.pack("<HHIQQQ", 3, 0, 3, 1000000000, 0, 0)
    return head + b"".join(struct.pack("<HBBiQII", 0, 0, kind, number, 1000 + 2 * k + kind, 7, 7) + bytes(8)
                           for k, number in enumerate(ids) for kind in (0, 1))


def dwarf_unit(body):
    """Version 4, 8-byte addresses, the abbreviations at 0."""
    unit = struct.pack("<HIB", 4, 0, 8) + body
    return struct.pack("<I", len(unit)) + unit


def empty_entries(count, code, tag, children=False, flags=0):
    """DWARF for one unit of `code` bytes with `count` entries of `tag`. Their `flags` attributes take no bytes, so
    each entry takes one byte; with children, one more byte ends the children."""
    abbrev = b"\1\x11\1\x11\1\x12\7\0\0" + bytes((2, tag, children)) + b"\x3f\x19" * flags + b"\0\0\0"
    body = b"\1" + struct.pack("<QQ", BASE, code) + (b"\2\0" if children else b"\2") * count + b"\0"
    return (b".debug_info", dwarf_unit(body)), (b".debug_abbrev", abbrev)


def line_program(names, code, each=16, entries=1):
    """A line number program of version 5 with one folder and `entries` files, whose names are all at offset 0 of .debug_line_str; a line of file 0 every `each`
    bytes of code."""
    header = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1))
    header += b"\1\1\x1f\1" + bytes(4) + b"\2\1\x1f\2\x0b" + uleb(entries) + bytes(5) * entries
    program = b"\0\x09\2" + struct.pack("<Q", BASE) + b"\4\0" + (b"\1" + b"\2" + uleb(each) + b"\3\1") * (code // each)
    program += b"\0\1\1"
    unit = struct.pack("<HBBI", 5, 8, 0, len(header)) + header + program
    return struct.pack("<I", len(unit)) + unit


def shared_text(count, text):
    """DWARF for `count` units of 16 bytes of code, whose folder, name and split DWARF file are one string."""
    abbrev = b"\1\x11\0\3\x0e\x1b\x0e\x11\1\x12\x0b\0\0" b"\0"
    info = b"".join(dwarf_unit(b"\1" + struct.pack("<IIQB", 0, 0, BASE + 16 * k, 16)) for k in range(count))
    return (b".debug_info", info), (b".debug_abbrev", abbrev), (b".debug_str", text + b"\0")


def shared_files(count, text, code):
    """DWARF for one unit with `count` files, whose names are one string."""
    abbrev = b"\1\x11\0\x11\1\x12\7\x10\x17\0\0" b"\0"
    info = dwarf_unit(b"\1" + struct.pack("<QQI", BASE, code, 0))
    return ((b".debug_info", info), (b".debug_abbrev", abbrev), (b".debug_line", line_program(text, code, 16, count)),
            (b".debug_line_str", text + b"\0"))
