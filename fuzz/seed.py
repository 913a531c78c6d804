#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seed.py - initial inputs for fuzzing, made from the fixtures of tests/.

usage: seed.py OUTDIR [SEED_LAYOUTS PERFRAY]

OUTDIR/<target>/ is filled for every target of fuzz/targets. SEED_LAYOUTS is the program fuzz/seed_layouts of a build:
it adds random instances of every layout; PERFRAY, the command, makes a PerfDataProto of each recording. The same
fixtures make the same files.
"""
import gzip
import hashlib
import io
import lzma
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "tests", "fixtures")
sys.path.insert(0, os.path.join(HERE, "..", "tests", "support"))
import broken_files  # noqa: E402  (tests/support)
import hexfile  # noqa: E402  (tests/support)
import xray_files  # noqa: E402  (tests/support)

FEATURE_TRACING_DATA = 1
RECORDING_MOST = 16384
ZSTD_MAGIC = struct.pack("<I", 0xFD2FB528)

KALLSYMS = """\
ffffffff81000000 T _stext
ffffffff81000010 t early_idt_handler_common
ffffffff81000010 W early_idt_handler_alias
ffffffff81001000 T startup_64
ffffffff82000000 D jiffies
ffffffffc0401000 t ext4_read_inode\t[ext4]
ffffffffc0402000 T ext4_write_inode\t[ext4]
ffffffffc0500000 t bpf_prog_6deef7357e7b4530\t[bpf]
"""
PERF_MAP = """\
7f3a10002000 1c0 LazyCompile:~add /srv/app.js:12
0x7f3a10002100 40 stub
7f3a10002000 80 added again
7f3a10003000 0 empty
"""
TRACE_FORMATS = {
    "sched_switch": """\
name: sched_switch
ID: 316
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;

print fmt: "prev_comm=%s prev_state=%ld", REC->prev_comm, REC->prev_state
""",
    "openat": """\
name: sys_enter_openat
ID: 600
format:
\tfield:const char * filename;\toffset:24;\tsize:8;
\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;
\tfield:__rel_loc u8[] bytes;\toffset:36;\tsize:4;\tsigned:0;
\tfield:unsigned long addrs[4];\toffset:40;\tsize:32;\tsigned:0;
print fmt: "a",
  REC->filename
""",
}
# The record, and print formats for the fields that fuzz_trace_text.c puts in front of them.
TRACE_RECORD = struct.pack("<HHiiIQ8s4iI", 300, 0, 10, -5, 64 | 7 << 16, 77, b"cee", 1, 2, -3, 4, 19 | 4 << 16)
TRACE_RECORD += struct.pack("<IQ", 0, 0x1000) + b"dynstr\0\1\0\2\0"
TRACE_PRINTS = (
    '"a=%d b=%lu c=%s d=%s", REC->a, REC->b, REC->c, __get_str(d)',
    '"%s %d", __print_flags(REC->a, "|", { 1, "A"}, {(1 << 1) | (unsigned long)4, "B" "C"}), __get_rel_dynamic_array_len(f)',
    '"%s", REC->a > 1 && !REC->b ? __print_symbolic(REC->e[3], { 0x1UL, "A" }, { -1, ((void *)0) }) : "none"',
    '"%p %ps %pS %s", REC->p, (void *)REC->p, REC->b, REC->p', '"%s", __print_hex(REC->e, 4)',
    '"%s", __print_hex_str(__get_dynamic_array(d), __get_dynamic_array_len(d))', '"%s", __get_bitmask(d)',
    '"%.3s|%-10s|%05d|%#x", REC->c, REC->c, REC->a, ~REC->a', '"%llu %hhx %zd %c", REC->a, REC->b / 2, -REC->a, REC->a % 7',
    '"%s", __print_array(REC->e, 4, 4)', '"%.*s", 2, REC->c', '"%*pbl", 32, REC->e', '"%pM %pI4 %pU", REC->e, REC->e, REC->e',
    '"%d", ((int *)__get_dynamic_array(f))[1]', '"%d", sizeof(REC->e)', '"%ph", REC->c', '"%d", REC->a / 0', '"%n", REC->a',
    '"%s", __get_str(c)', '"%999999999d", REC->a', '"%d %d", REC->a', '"', '"%d", (REC->a', '"%d", nofunc(REC->a)',
)
MANGLED = (
    "_ZN3foo3barEv", "_Z1fILi3EEvT_", "_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZZN1A1fEvENKUlvE_clEv",
    "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "_RNvC6_123foo3bar", "_RNvNtCs1234_7mycrate3foo3bar",
    "_RINvNtC3std3mem8align_ofjdE", "_RNvC5crateu8gdel_5qa", "_GLOBAL__sub_I_main", "_ZcvT_IiE", "_Zcv1BIRT_EIS1_E",
)
OPTIONS = (
    (0, "-s\ncomm,dso\n--percent-limit=5%\n--no-symbols\nperf.data"), (0, "--symfs\n/srv\n--stdio\n-i\nx\n--\n-y"),
    (1, "--format=json\n--events\na\nb"), (1, "-h"), (2, "--offset=0x10-4096\n--time\n1.5-2,5\n--only=sample\n-x"),
    (2, "-xix"), (130, "dump\n--hex"), (2, "--raw-names\n--no-pager\n--aux\nout"), (1, "--forma\n--format"),
)


def fixtures():
    """Every byte fixture."""
    folder = os.path.join(FIXTURES, "hex")
    return [hexfile.Fixture(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".hex")]


def recordings():
    """(name, bytes) of every recording that is small enough, parts of folders too."""
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
    """Numbers in one byte order."""

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
        """The bitmap of features in words of so many bytes."""
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
    """(name, bytes): tiny ones of both orders, one around each fixture, those that were recorded."""
    for order, name in (("<", "little"), (">", "big")):
        yield name + "-file", Words(order).file()
        yield name + "-file-32", Words(order).file(4)
        yield name + "-pipe", Words(order).pipe()
    for fixture in fixtures():
        yield fixture.name + "-file", hexfile.make_file(fixture)
        if fixture.kind != "file":
            yield fixture.name + "-pipe", hexfile.make_pipe(fixture)
    yield from recordings()


def context_of(fixture):
    """The context of fuzz.h: which words follow, then those of the fixture that are not 0."""
    names = ("sample_type", "read_format", "branch_sample_type", "sample_regs_user", "sample_regs_intr")
    words = [(bit, fixture.ctx[name]) for bit, name in enumerate(names) if fixture.ctx[name]]
    form = sum(1 << bit for bit, _ in words)
    return struct.pack("<H", form) + b"".join(struct.pack("<Q", value) for _, value in words)


def record_inputs():
    for fixture in fixtures():
        if fixture.kind == "record":
            size = struct.unpack_from("<H", fixture.data, 6)[0]
            has_id = struct.pack("B", fixture.ctx["sample_id_all"])
            yield fixture.name, context_of(fixture) + has_id + fixture.data[:size]


def feature_inputs():
    for fixture in fixtures():
        if fixture.kind == "feature":
            for form in range(0, 14, 2):
                head = struct.pack("BBB", fixture.feature, form, fixture.ctx["nr_cpus"] or 2)
                yield "%s-%d" % (fixture.name, form), head + fixture.data
    for form in range(1, 14, 2):
        for bit, payload in Words(">").features():
            yield "big-%d-%d" % (bit, form), struct.pack("BBB", bit, form, 2) + payload


def trace_text_inputs():
    """Flags and the record, then a format's fields and print format, or only the print format (flag 4)."""
    head = struct.pack("B", len(TRACE_RECORD)) + TRACE_RECORD
    for number, text in enumerate(TRACE_PRINTS):
        yield "print-%d" % number, b"\4" + head + text.encode()
        yield "print-child-%d" % number, b"\xfc" + head + text.encode()
    for name, text in TRACE_FORMATS.items():
        yield name, b"\0" + head + text.replace("ID: 316", "ID: 300").replace("ID: 600", "ID: 300").encode()


def raw_frame(content, blocks=2):
    """A zstd frame that says its content as it is, in blocks."""
    share = len(content) // blocks + 1
    parts = [content[at:at + share] for at in range(0, len(content), share)]
    out = ZSTD_MAGIC + b"\x60" + struct.pack("<H", len(content) - 256)
    for number, part in enumerate(parts):
        out += struct.pack("<I", len(part) << 3 | (number == len(parts) - 1))[:3] + part
    return out


def runs_frame():
    """A zstd frame of one run of zeros and of skippable bytes before it."""
    return struct.pack("<II", 0x184D2A50, 4) + b"skip" + ZSTD_MAGIC + b"\x60" + struct.pack("<H", 744) + \
        struct.pack("<I", 1000 << 3 | 2 | 1)[:3] + b"\0"


def compressed_payloads():
    """What the COMPRESSED records of the fixtures hold, each stream in one piece."""
    for fixture in fixtures():
        if fixture.kind == "record" and fixture.name.startswith("compressed"):
            start = 16 if fixture.name == "compressed2" else 8
            yield fixture.name, fixture.data[start:]
    for name, content in recordings():
        if "zstd" in name and content[:8] == b"PERFILE2":
            yield name, b"".join(payload for payload in payloads_of(content))


def payloads_of(content):
    """The payloads of the COMPRESSED records of a recording."""
    size = struct.unpack_from("<Q", content, 8)[0]
    at, end = (16, len(content)) if size == 16 else struct.unpack_from("<QQ", content, 40)
    end = end if size == 16 else at + end
    while at + 8 <= end:
        kind, _, size = struct.unpack_from("<IHH", content, at)
        if size < 8:
            return
        if kind == 81:
            yield content[at + 8:at + size]
        at += size


def compressed_inputs():
    records = b"".join(Words("<").records()) * 2
    for pieces in (0, 1, 5):
        for padded in (0, 1):
            tail = struct.pack("BB", pieces, padded)
            yield "raw-%d-%d" % (pieces, padded), raw_frame(records) + tail
            yield "two-%d-%d" % (pieces, padded), raw_frame(records) + raw_frame(records[:300]) + tail
            yield "run-%d-%d" % (pieces, padded), runs_frame() + tail
    for name, payload in compressed_payloads():
        yield name, payload[:4000] + b"\x03\x00"


def unpack_inputs():
    content = b"".join(Words("<").records()) * 2
    for level in (0, 9):
        packed = io.BytesIO()
        with gzip.GzipFile("name", "wb", level, packed, 0) as file:
            file.write(content)
        yield "gzip-%d" % level, packed.getvalue() + b"\x20"
        yield "gzip-two-%d" % level, packed.getvalue() * 2 + b"\0" * 7 + b"\x07"
    for check in (lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_SHA256):
        packed = lzma.compress(content, lzma.FORMAT_XZ, check, 0)
        yield "xz-%d" % check, packed + b"\x20"
        yield "xz-two-%d" % check, packed + b"\0" * 4 + packed + b"\x03"
    yield "zstd-raw", raw_frame(content) + b"\x20"
    yield "zstd-run", runs_frame() + raw_frame(content[:300]) + b"\x05"
    for name, payload in compressed_payloads():
        yield "zstd-" + name, payload[:8000] + b"\x40"


def tracing_inputs():
    """Feature TRACING_DATA of the recordings, and what follows the record of a stream."""
    for fixture in fixtures():
        size = struct.unpack_from("<H", fixture.data, 6)[0] if fixture.kind == "record" else 0
        if fixture.name.startswith("header-tracing-data"):
            yield fixture.name, fixture.data[size:]
        elif fixture.kind == "feature" and fixture.feature == FEATURE_TRACING_DATA:
            yield fixture.name, fixture.data
    for big in (0, 1):
        yield "made-%d" % big, tracing_data(">" if big else "<", big)


def tracing_data(order, big):
    blob = b"\x17\x08\x44tracing0.6\0" + struct.pack(order + "BBI", big, 8, 4096)
    blob += b"header_page\0" + struct.pack(order + "Q", 4) + b"page"
    blob += b"header_event\0" + struct.pack(order + "Q", 2) + b"ev"
    blob += struct.pack(order + "IQ", 1, 6) + b"ftrace" + struct.pack(order + "I", 1) + b"sched\0"
    blob += struct.pack(order + "I", len(TRACE_FORMATS))
    for text in TRACE_FORMATS.values():
        blob += struct.pack(order + "Q", len(text)) + text.encode()
    return blob


class Elf:
    """A small object: two symbols of code, a build-id, one segment; of either class and order."""

    def __init__(self, wide, order, kind):
        self.wide, self.order, self.kind = wide, order, kind

    def pack(self, layout, *values):
        """L is a word of the class's width."""
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
        """What another section holds, whose name is the last one."""
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
    """The same with an instrumentation map: of its two functions, the first with two sleds."""

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


def chosen(forms):
    """Whole recordings with a last byte: the first few in every form, the others in turn."""
    def inputs():
        for number, (name, content) in enumerate(whole_recordings()):
            for form in range(forms) if number < 6 else (number % forms, (number + forms // 2) % forms):
                yield "%s-%d" % (name, form), content + bytes((form,))
    return inputs


def drawing(sets):
    """Recordings and traces with the 8 bytes that options are drawn from: 0, then some that have nothing in common."""
    def inputs():
        for name, content in [*whole_recordings(), *sorted(xray_files.all_files().items())]:
            for number in range(sets):
                digits = hashlib.sha256(("%s %d" % (name, number)).encode()).digest()[:8] if number else bytes(8)
                yield "%s-%d" % (name, number), content + digits
    return inputs


def xray_inputs():
    """Every trace in every form."""
    for name, content in sorted(xray_files.all_files().items()):
        for form in range(14):
            yield "%s-%d" % (name, form), content + bytes((form,))


def verify_inputs():
    """A file for each rule, broken, and recordings."""
    for number, (rule, (content, _, _)) in enumerate(sorted(broken_files.BROKEN.items())):
        yield rule, content + bytes((number % 8,))
    yield from chosen(2)()


def edit_inputs():
    """Recordings and traces, into each of the forms in turn."""
    for number, (name, content) in enumerate(whole_recordings()):
        for form in range(number * 7 % 64, 240, 64):
            yield "%s-%d" % (name, form), content + bytes((form,))
    for number, (name, content) in enumerate(sorted(xray_files.all_files().items())):
        yield "%s-%d" % (name, number % 28), content + bytes((number % 28,))


def function_inputs():
    """The maps of the tests, and objects with a section xray_instr_map of each version."""
    folder = os.path.join(HERE, "..", "tests", "fixtures", "maps")
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
    """The tests' objects with lines."""
    folder = os.path.join(HERE, "..", "tests", "fixtures", "objects")
    for name in sorted(os.listdir(folder)):
        if name.startswith("nested-"):
            with open(os.path.join(folder, name), "rb") as file:
                yield name, file.read()


def frame_inputs():
    """Call frame information of the tests' objects, in objects of nothing else."""
    folder = os.path.join(HERE, "..", "tests", "fixtures", "objects")
    for name, machine, section in (("x86", 62, ".eh_frame"), ("aarch64", 183, ".eh_frame"), ("debug", 62, ".debug_frame")):
        frames, address = section_of(os.path.join(folder, "frames-%s.so" % name), section)
        names = b"\0" + section.encode() + b"\0.names\0"
        at = 64 + len(frames) + len(names)
        header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, at, 0, 64, 56, 0, 64, 3, 2)
        flags = 0x800 if section == ".debug_frame" else 2
        rows = bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, flags, address, 64, len(frames), 0, 0, 8, 0) + struct.pack(
            "<IIQQQQIIQQ", 2 + len(section), 3, 0, 0, 64 + len(frames), len(names), 0, 0, 1, 0)
        yield name, header + frames + names + rows


INPUTS = {
    "file": whole_recordings,
    "info": chosen(12),
    "dump": chosen(8),
    "report": drawing(4),
    "views": drawing(4),
    "xray": xray_inputs,
    "verify": verify_inputs,
    "edit": edit_inputs,
    "quipper": lambda: (),
    "records": record_inputs,
    "features": feature_inputs,
    "layouts": lambda: (),
    "compressed": compressed_inputs,
    "unpack": unpack_inputs,
    "tracing_blob": tracing_inputs,
    "elf": elf_inputs,
    "debug_lines": line_inputs,
    "frames": frame_inputs,
    "functions": function_inputs,
    "kallsyms": lambda: (("list", KALLSYMS.encode()), ("hidden", b"0000000000000000 T _stext\n0000000000000000 t f\n")),
    "perf_map": lambda: (("list", PERF_MAP.encode()), ("carriage-return", PERF_MAP.replace("\n", "\r\n").encode())),
    "jit_dump": lambda: jit_dump_inputs(),
    "trace_formats": lambda: ((name, text.encode()) for name, text in TRACE_FORMATS.items()),
    "trace_text": lambda: trace_text_inputs(),
    "demangle": lambda: (("%s-%d" % (name, flags), bytes((flags,)) + name.encode())
                         for name in MANGLED for flags in (0, 3)),
    "options": lambda: (("line-%d" % number, bytes((choice,)) + words.encode())
                        for number, (choice, words) in enumerate(OPTIONS)),
}


def jit_dump_inputs():
    """Code with lines and unwinding information, loaded and moved, in both byte orders."""
    frames = bytes.fromhex("1400000000000000017a5200017810011b0c070890010000" "1c0000001c000000a0ffffff16000000004100000000000000000000")
    for name, order in (("little", "<"), ("big", ">")):
        def record(kind, time, *parts):
            body = b"".join(parts)
            return struct.pack(order + "IIQ", kind, 16 + len(body), time) + body
        lines = struct.pack(order + "QQQII", 0x1000, 2, 0x1000, 10, 0) + b"a.js\0" + struct.pack(order + "QII", 0x1008, 11, 0) + b"\xff\0"
        load = struct.pack(order + "IIQQQQ", 7, 7, 0x1000, 0x1000, 64, 1) + b"first\0" + bytes(64)
        move = struct.pack(order + "IIQQQQQ", 7, 7, 0x2000, 0x1000, 0x2000, 64, 1)
        yield name, (struct.pack(order + "IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 7, 1, 0) + record(2, 1, lines)
                     + record(4, 1, struct.pack(order + "QQQ", len(frames) + 20, 20, len(frames) + 20), frames, bytes(20))
                     + record(0, 2, load) + record(1, 3, move) + record(3, 4))


def targets():
    with open(os.path.join(HERE, "targets"), encoding="utf-8") as rows:
        return [row.split()[0] for row in rows if not row.startswith("#")]


def make_protos(folder, perfray):
    """Each small recording as a PerfDataProto, in bytes and in text, and the byte that picks what becomes of it."""
    source, made = os.path.join(folder, ".recording"), os.path.join(folder, ".made")
    for number, (name, content) in enumerate(whole_recordings()):
        with open(source, "wb") as file:
            file.write(content)
        for form, more in (("bytes", []), ("text", ["--text"])):
            # data that cannot be converted is reported, also by the status; the output is still a usable seed
            subprocess.run([perfray, "convert", "--to=quipper", *more, "-o", made, source], stderr=subprocess.DEVNULL, check=False)
            if os.path.exists(made) and os.path.getsize(made) < RECORDING_MOST:
                with open(made, "rb") as file, open(os.path.join(folder, "%s-%s" % (name, form)), "wb") as seed:
                    seed.write(file.read() + bytes((number % 8,)))
            if os.path.exists(made):
                os.unlink(made)
    os.unlink(source)


def main(arguments):
    if len(arguments) not in (2, 4):
        sys.stderr.write(__doc__)
        return 2
    if sorted(targets()) != sorted(INPUTS):
        sys.stderr.write("seed.py: INPUTS and fuzz/targets name other targets\n")
        return 1
    for target, inputs in INPUTS.items():
        folder = os.path.join(arguments[1], target)
        os.makedirs(folder, exist_ok=True)
        for name, content in inputs():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
    if len(arguments) == 4:
        make_protos(os.path.join(arguments[1], "quipper"), arguments[3])
        return subprocess.run([arguments[2], arguments[1]], check=False).returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
