#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_byte_order.py - checks that outputs are the same for both byte orders of a recording.

usage: run_byte_order.py FIXTURES

Environment: PERFRAY, the command; PERFRAY_LIBRARY, the shared library, which lists all sort keys and fields, so that new ones are tested
automatically; PERFRAY_CORPUS, more recordings; PERFRAY_LONG=1: every key separately, on every recording.

Each recording is converted to the other byte order and back, and every command prints both. The outputs must be equal, except where they name the
byte order. A recording made here has branch flags, data sources, weights of three parts, transactions, registers and groups of counters, which this
machine's hardware may not be able to record.

byte_order/NAME        all outputs of one recording
byte_order/keys        every key, field and format except NOT_RECORDED was printed by some run
byte_order/not_recorded    the keys and fields of NOT_RECORDED were not printed
"""
import ctypes
import os
import random
import re
import shutil
import struct
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import LONG  # noqa: E402

SECONDS = 300
LARGEST = 8 << 20 if LONG else 1 << 20  # size limit of recordings, in bytes
KEYS_AT_ONCE = 8
MODES = ((), ("-b",), ("--mem-mode",))
OF_RUNNING = ("latency", "latency_children", "parallelism")  # keys for recordings with thread states
TRACES = (".xray",)
# Values of -F for fields that are printed only together with others.
ASKED = {"sym": "ip,sym", "symoff": "ip,sym,symoff", "dso": "ip,dso", "srcline": "ip,srcline", "trace": "trace:trace"}
# Fields that no recording here has: guests, decoded AUX data, events that perf synthesizes.
NOT_RECORDED = {"flags", "machine_pid", "vcpu", "synth"}
# Texts that name the byte order; the bytes of the feature bitmap and of attrs, which dump also prints unconverted.
ORDER = re.compile(rb"[^\n,{]*(?:endian|byte.order)[^\n,}]*|\"magic\":\"[0-9a-f]{16}\"|\"(?:features|attr)\":\"[0-9a-f]+\"", re.I)


def names(function):
    """All names that an enumeration function of the library returns."""
    library = ctypes.CDLL(os.environ["PERFRAY_LIBRARY"])
    ask = getattr(library, function)
    ask.restype, ask.argtypes = ctypes.c_char_p, [ctypes.c_uint32]
    found = []
    while (name := ask(len(found))) is not None:
        found.append(name.decode())
    return found


def formats(verb):
    """The words of --format, as the command lists them."""
    message = harness.perfray(verb, "--format=none-of-them", text=True).stderr
    return re.search(r"is one of ([\w|-]+)", message)[1].split("|")


# --- A recording with every bit word.

def rich_recording(path):
    draw = random.Random(5)
    sample = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x40 | 0x80 | 0x100 | 0x800 | 0x1000 | 0x8000 | 0x20000 | 0x40000 | 0x80000 | \
        0x200000 | 0x400000 | 0x800000 | 0x1000000
    read = 0x1 | 0x2 | 0x4 | 0x8 | 0x10
    attr = struct.pack("<IIQQQQQIIQQQQIiQII", 0, 128, 0, 1, sample, read, 1 << 18, 0, 0, 0, 0, 8, 7, 0, 0, 5, 0, 0).ljust(128, b"\0")
    record = lambda kind, body, misc=2: struct.pack("<IHH", kind, misc, 8 + len(body)) + body
    tail = lambda time: struct.pack("<IIQQII", 7, 7, time, 1, 2, 0)
    records = [record(10, struct.pack("<IIQQQIIQQII", 7, 7, 0x400000, 1 << 20, 0, 1, 2, 3, 4, 5, 2) + b"/bin/x\0\0" + tail(1)),
               record(3, struct.pack("<II", 7, 7) + b"rich\0\0\0\0" + tail(2)),
               record(19, struct.pack("<Q", 9) + b"/a\0\0\0\0\0\0" + tail(3), 0)]
    for n in range(40):
        place = 0x400000 + draw.randrange(1 << 20)
        body = struct.pack("<QIIQQQIIQ", place, 7, 7, 100 + n, 0x400000 + draw.randrange(1 << 20), 1, draw.randrange(4), 0, 1 + n)
        body += struct.pack("<QQQQQQ", 1, n * 100, n * 90, n * 7, 1, n % 3)
        branches = draw.randrange(4)
        body += struct.pack("<Q", branches)
        for _ in range(branches):
            flags = draw.randrange(16) | draw.randrange(1 << 16) << 4 | draw.randrange(11) << 20
            body += struct.pack("<QQQ", 0x400000 + draw.randrange(1 << 20), 0x400000 + draw.randrange(1 << 20), flags)
        body += struct.pack("<QQQ", 2, draw.getrandbits(64), draw.getrandbits(63))
        body += struct.pack("<IHH", draw.randrange(500), draw.randrange(300), draw.randrange(300))
        body += struct.pack("<QQ", draw.getrandbits(43), draw.getrandbits(7) | draw.getrandbits(32) << 32)
        body += struct.pack("<QQQQ", 2, *(draw.getrandbits(63) for _ in range(3)))
        body += struct.pack("<QQQQ", draw.getrandbits(40), 9, 4096, 1 << 21)
        records.append(record(9, body))
    data = b"".join(records)
    ids = 104 + 144
    head = struct.pack("<8sQQQQQQQ", b"PERFILE2", 104, 144, 104, 144, ids + 8, len(data), 0).ljust(104, b"\0")
    path.write_bytes(head + attr + struct.pack("<QQ", ids, 8) + struct.pack("<Q", 1) + data)


# --- Outputs of one recording.

class Law:
    def __init__(self, folder):
        self.folder = folder
        self.keys, self.fields = names("pfr_report_field_name"), names("pfr_script_field_name")
        self.exports, self.printed = formats("export"), set()
        self.fitting = {}

    def run(self, words, path):
        made = self.folder / "made"
        of_folder = ("-o", str(made)) if words[-1] in ("--format=ctf", "--format=parquet") else ()
        done = harness.perfray(*words, *of_folder, path.name, cwd=path.parent, env=harness.environment(HOME=str(self.folder)),
                               timeout=SECONDS)
        printed = done.stdout + b"".join(file.read_bytes() for file in sorted(made.iterdir())) if made.is_dir() else done.stdout
        shutil.rmtree(made, ignore_errors=True)
        return ORDER.sub(b"", printed), ORDER.sub(b"", done.stderr), done.returncode

    def fitting_keys(self, mode, path):
        """The keys of this kind of report, requested once for each kind."""
        if mode not in self.fitting:
            self.fitting[mode] = [key for key in self.keys if key not in OF_RUNNING and b"not available in this kind" not in
                                  self.run(("report", "--no-symbols", *mode, "-s", key), path)[1]]
        return self.fitting[mode]

    def commands(self, path, number, is_rich):
        yield ("info", "--format=json")
        yield ("dump", "--format=jsonl")
        yield ("verify", "--notes")
        yield ("report", "--no-symbols", "--format=json", "-g")
        if path.suffix in TRACES:
            yield from (("latency", "--format=json", "--by", by) for by in ("function", "caller", "thread"))
            yield ("script", "--format=json")
        else:
            yield ("script", "--no-symbols", "--format=json")
            yield ("script", "--no-symbols")
            yield ("info", "--stats")
            yield ("symbols", "--no-cache")
            yield ("offcpu", "--no-lines", "--symfs=/sys", "--kallsyms=/dev/null", "--format=json")
        yield from (("export", "--no-symbols", "--format=" + form) for form in self.exports)
        yield ("flame", "--no-symbols", "-o", "-")
        yield from self.key_commands(path, number, is_rich)

    def key_commands(self, path, number, is_rich):
        """Lists of keys and single fields: all of them for the made recording, and different ones for each of the others."""
        lists = []
        for mode in MODES:
            keys = self.fitting_keys(mode, path)
            step = 1 if LONG else KEYS_AT_ONCE
            lists += [(mode, ",".join(keys[i:i + step])) for i in range(0, len(keys), step)]
        for i, (mode, words) in enumerate(lists):
            if is_rich or LONG or i % 7 == number % 7:
                yield ("report", "--no-symbols", "--format=csv", *mode, "-s", words)
        if path.suffix not in TRACES:
            yield ("report", "--no-symbols", "--format=csv", "--latency", "-s", ",".join((*OF_RUNNING, "comm")))
        for i, field in enumerate(self.fields):
            if path.suffix not in TRACES and (is_rich or LONG or field == "trace" or i % 19 == number % 19):
                yield ("script", "--no-symbols", "-F", ASKED.get(field, field))

    def note_printed(self, words, printed):
        """Keys and fields of a command that printed something."""
        if printed[2] in (0, 4) and printed[0].strip():
            self.printed |= {(words[0], word.split(":")[-1]) for word in words[-1].split(",")}

    def differences(self, recording, number, is_rich):
        pair = [self.folder / (name + recording.suffix) for name in ("swapped", "swapped-back")]
        orders = ("little", "big") if is_big_endian(recording) else ("big", "little")
        for source, order, path in zip((recording, pair[0]), orders, pair):
            done = harness.perfray("convert", *(["--plain"] if path.suffix == ".data" else []), "--byte-order=" + order, "-o", str(path), str(source),
                                   text=True, timeout=SECONDS)
            if not path.exists():
                yield "convert --byte-order=%s: status %d, %s" % (order, done.returncode, done.stderr.strip()[:200])
                return
            os.utime(path, (1, 1))  # when it was captured
        same = self.folder / ("same" + recording.suffix)
        for words in self.commands(pair[0], number, is_rich):
            printed = []
            for path in pair:
                path.rename(same)  # names of inputs are in some outputs
                printed.append(self.run(words, same))
                same.rename(path)
            self.note_printed(words, printed[0])
            if printed[0] != printed[1]:
                yield " ".join(words) + ": " + first_difference(*printed)
        for path in pair:
            path.unlink()


def first_difference(a, b):
    return "status %d and %d" % (a[2], b[2]) if a[2] != b[2] else harness.first_difference(a[0] + a[1], b[0] + b[1])


def is_big_endian(path):
    """Finds the byte order by the magic of perf.data, or of a trace by its version, a small 16-bit number."""
    head = path.read_bytes()[:8]
    return head == b"2ELIFREP" if path.suffix == ".data" else head[0] == 0


def recordings(fixtures):
    """Files that can be converted: those that are not damaged."""
    found = sorted(path for folder in ("recorded", "traced", "recorder", "xray") for path in (fixtures / folder).iterdir()
                   if path.suffix in (".data", ".xray"))
    corpus = harness.corpus()
    if corpus and LONG:
        found += sorted(path for folder in ("perf/recorded", "perf/bigendian", "perf/other", "perf/simpleperf")
                        for path in Path(corpus, folder).iterdir() if path.suffix == ".data")
        found += sorted(Path(corpus, "xray").rglob("*.xray"))
    found = [path for path in found if not path.name.startswith("profile")]  # convert does not write XRay profiles
    return [path for path in found if path.is_file() and path.stat().st_size <= LARGEST]


def report(name, findings):
    harness.result("byte_order/" + name, findings)


def main():
    with harness.scratch("order") as scratch:
        law = Law(Path(scratch))
        rich = law.folder / "rich.data"
        rich_recording(rich)
        report("rich", list(law.differences(rich, 0, True)))
        for number, recording in enumerate(recordings(Path(sys.argv[1]))):
            report(recording.name, list(law.differences(recording, number, False)))
        wanted = {("report", key) for key in law.keys} | {("export", "--format=" + form) for form in law.exports}
        wanted |= {("script", field) for field in law.fields if field not in NOT_RECORDED}
        missing = sorted(wanted - law.printed)
        report("keys", ["%s %s printed nothing" % row for row in missing])
        recorded = sorted(field for field in NOT_RECORDED if ("script", field) in law.printed)
        report("not_recorded", ["%s was printed: it is in NOT_RECORDED no more" % field for field in recorded])
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
