#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seed.py - initial inputs for fuzzing, made from the fixtures of tests/.

usage: seed.py OUTDIR [SEED_LAYOUTS PERFRAY]

OUTDIR/<target>/ is filled for every target of fuzz/targets. SEED_LAYOUTS is the program fuzz/seed_layouts of a build; it adds random
instances of every layout. PERFRAY, the command, makes a PerfDataProto of each recording. The same fixtures give the same files.
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
sys.path.insert(0, os.path.join(HERE, "..", "tests", "support"))
import broken_files  # noqa: E402  (tests/support)
import xray_files  # noqa: E402  (tests/support)
from seed_objects import elf_inputs, frame_inputs, function_inputs, line_inputs  # noqa: E402
from seed_recordings import RECORDING_MOST, Words, fixtures, recordings, whole_recordings  # noqa: E402

FEATURE_TRACING_DATA = 1
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
# The record, and print formats for the fields that fuzz_trace_text.c puts before them.
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


def context_of(fixture):
    """The context of fuzz.h: bits that select words, then the words of the fixture that are not 0."""
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
    """A zstd frame with its content in uncompressed blocks."""
    share = len(content) // blocks + 1
    parts = [content[at:at + share] for at in range(0, len(content), share)]
    out = ZSTD_MAGIC + b"\x60" + struct.pack("<H", len(content) - 256)
    for number, part in enumerate(parts):
        out += struct.pack("<I", len(part) << 3 | (number == len(parts) - 1))[:3] + part
    return out


def runs_frame():
    """A zstd frame of one run of zeros, after a skippable frame."""
    return struct.pack("<II", 0x184D2A50, 4) + b"skip" + ZSTD_MAGIC + b"\x60" + struct.pack("<H", 744) + \
        struct.pack("<I", 1000 << 3 | 2 | 1)[:3] + b"\0"


def compressed_payloads():
    """The payloads of the COMPRESSED records of the fixtures, each stream as one piece."""
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
    """Feature TRACING_DATA of the recordings, and the data after the TRACING_DATA record of a stream."""
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


def chosen(forms):
    """Whole recordings with a last byte that selects a form: the first few in every form, the others in successive forms."""
    def inputs():
        for number, (name, content) in enumerate(whole_recordings()):
            for form in range(forms) if number < 6 else (number % forms, (number + forms // 2) % forms):
                yield "%s-%d" % (name, form), content + bytes((form,))
    return inputs


def drawing(sets):
    """Recordings and traces with the 8 bytes from which options are derived: 0, then some unrelated numbers."""
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
    """For each rule a file that breaks it, and recordings."""
    for number, (rule, (content, _, _)) in enumerate(sorted(broken_files.BROKEN.items())):
        yield rule, content + bytes((number % 8,))
    yield from chosen(2)()


def edit_inputs():
    """Recordings and traces, with successive output forms."""
    for number, (name, content) in enumerate(whole_recordings()):
        for form in range(number * 7 % 64, 240, 64):
            yield "%s-%d" % (name, form), content + bytes((form,))
    for number, (name, content) in enumerate(sorted(xray_files.all_files().items())):
        yield "%s-%d" % (name, number % 28), content + bytes((number % 28,))


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
    """Jitdumps with code that has lines and unwind information, loaded and moved, in both byte orders."""
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
    """Each small recording as a PerfDataProto, binary and text, with the byte that selects the conversion."""
    source, made = os.path.join(folder, ".recording"), os.path.join(folder, ".made")
    for number, (name, content) in enumerate(whole_recordings()):
        with open(source, "wb") as file:
            file.write(content)
        for form, more in (("bytes", []), ("text", ["--text"])):
            # data that cannot be converted is reported, also in the status, but the output is still a usable seed
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
