#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_objects.py - checks that damaged objects lose only names and lines, never the report.

usage: run_objects.py [--count N] [--long-count N]

Environment: PERFRAY, the command (built with sanitizers or not). Three programs are built and recorded by the installed perf: C++ with DWARF 5, C with DWARF 4
in sections compressed with zlib, and one whose symbols are compressed in .gnu_debugdata. N mutants of them (2000) replace the program: single bytes, runs of
bytes or numbers in headers are changed, ranges are doubled or removed, or the file is truncated; the mutant's number is the seed. For each mutant, `report
--inline -s sym,srcline` and `script --inline -F +srcline` must end with status 0 in SECONDS, and count every sample. For one mutant in LISTED (with
PERFRAY_LONG for all), `annotate` and `annotate --by-line` must do the same, and count no sample twice. The same is required for a program with hostile function
names (of 1 MB, or short ones that expand to any amount of text or depth), but with status 4, because some names are cut.
"""
import argparse
import csv
import io
import json
import os
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

import fresh  # noqa: E402
from fresh import Wrong  # noqa: E402

RECORD = ("-N", "-e", "cpu-clock:u", "-F", "499", "-g")
SECONDS = 20
COUNT = 2000
AT_A_TIME = 2
LISTED = 1 if harness.LONG else 10
FRAMES = "-fno-omit-frame-pointer"
PROGRAMS = {
    "cxx": ("shapes.cpp", ("-g", "-O2", FRAMES), ("g++", "c++")),
    "packed_sections": ("inlined.c", ("-gdwarf-4", "-gz=zlib", "-O2", FRAMES), ("gcc", "cc")),
    "packed_symbols": ("inlined.c", ("-g", "-O1", FRAMES), ("gcc", "cc")),
}


def change_bytes(bytes_, chance):
    for _ in range(chance.randrange(1, 30)):
        bytes_[chance.randrange(len(bytes_))] = chance.choice((0, 1, 0x7f, 0x80, 0xff, chance.randrange(256)))
    return bytes_


def change_run(bytes_, chance):
    at, length = chance.randrange(len(bytes_)), chance.choice((4, 8, 64, 512))
    bytes_[at:at + length] = bytes([chance.choice((0, 0xff, chance.randrange(256)))]) * len(bytes_[at:at + length])
    return bytes_


def change_header(bytes_, chance):
    """The ELF header, and the table of sections at the end."""
    at = chance.choice((chance.randrange(64), len(bytes_) - 1 - chance.randrange(min(len(bytes_), 40 * 64))))
    bytes_[at] = chance.randrange(256)
    return bytes_


def change_field(bytes_, chance):
    """Changes an integer of the ELF header, or of the header of a section or segment (class 64, little-endian) to an invalid value, or to the value of another
    header."""
    table, sections = int.from_bytes(bytes_[40:48], "little"), int.from_bytes(bytes_[60:62], "little")
    segments = int.from_bytes(bytes_[56:58], "little")
    kind = chance.choice(("header", "section", "section", "section", "segment"))
    base, fields = {"header": (0, ((32, 8), (40, 8), (54, 2), (56, 2), (58, 2), (60, 2), (62, 2), (16, 2), (18, 2))),
                    "section": (table + 64 * chance.randrange(sections),
                                ((0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8))),
                    "segment": (64 + 56 * chance.randrange(segments), ((0, 4), (4, 4), (8, 8), (16, 8), (32, 8), (48, 8)))}[kind]
    at, size = chance.choice(fields)
    other = table + 64 * chance.randrange(sections) + at if kind == "section" else base + at
    whole = (1 << 8 * size) - 1
    value = chance.choice((0, 1, 7, whole, whole >> 1, whole - 7, len(bytes_), len(bytes_) - 1, 0xffff,
                           int.from_bytes(bytes_[other:other + size], "little"))) & whole
    bytes_[base + at:base + at + size] = value.to_bytes(size, "little")
    return bytes_


def move(bytes_, chance):
    at, length = chance.randrange(len(bytes_)), chance.randrange(1, 4096)
    return bytes_[:at] + (bytes_[at:at + length] * 2 if chance.random() < 0.5 else b"") + bytes_[at + length:]


def cut(bytes_, chance):
    return bytes_[:chance.randrange(1, len(bytes_))]


CHANGES = (change_bytes, change_bytes, change_run, change_run, change_header, change_field, change_field, move, cut)


def build(folder, name):
    source, options, compilers = PROGRAMS[name]
    program = fresh.build(folder, source, "program", *options, compiler=fresh.first_of(*compilers))
    fresh.record(folder, "perf.data", RECORD, [program, "100"])
    if name == "packed_symbols":
        fresh.need("objcopy", "xz")
        fresh.must(["objcopy", "-S", "--keep-symbol=kitchen", "--keep-symbol=bakery", "program", "symbols"], folder, "objcopy")
        fresh.must(["xz", "-f", "symbols"], folder, "xz")
        fresh.must(["objcopy", "-S", "--add-section", ".gnu_debugdata=symbols.xz", "program"], folder, "objcopy")
    return program


def run(words, root, what, statuses=(0,)):
    """Runs a command with the mutant below `root`, and no other folder of symbols."""
    done = harness.perfray(*words, "--symfs", root, os.path.join(root, "perf.data"),
                           timeout=SECONDS, env={"HOME": root, "PATH": fresh.PATH, "LC_ALL": "C"})
    message = {4: b" are cut or left out", 2: b"no samples in any function with a name"}.get(done.returncode, b"")
    if done.returncode not in statuses or message not in done.stderr:
        raise Wrong("%s: status %d, %s" % (what, done.returncode, done.stderr.decode("utf-8", "replace")[-600:]))
    return done.stdout


def samples_of(root, what, statuses=(0,)):
    words = ["report", "--format=json", "--no-children", "--inline", "-s", "sym,srcline"]
    rows = json.loads(run(words, root, what, statuses))["events"][0]["rows"]
    printed = run(["script", "--no-pager", "--inline", "-F", "+srcline"], root, what, statuses)
    return sum(row["samples"] for row in rows), sum(1 for line in printed.split(b"\n") if line and line[:1] not in b"\t ")


def list_functions(root, what, most):
    """All functions with their instructions."""
    for more in ([], ["--by-line"]):
        words = ["annotate", "--top", "1000", "--format=csv", *more]
        rows = csv.DictReader(io.StringIO(run(words, root, what, (0, 2)).decode("utf-8", "replace")))
        listed = 0 if more else sum(int(row["samples"]) for row in rows)
        if listed > most:
            raise Wrong("%s: annotate lists %d samples of %d" % (what, listed, most))


def try_mutants(folder, name, numbers, whole, program, expected):
    root = os.path.join(folder, "root%d" % numbers.start)
    at = os.path.join(root, program.lstrip("/"))
    os.makedirs(os.path.dirname(at))
    os.link(os.path.join(folder, "perf.data"), os.path.join(root, "perf.data"))
    for number in numbers:
        chance = random.Random(number)
        with open(at, "wb") as file:
            file.write(chance.choice(CHANGES)(bytearray(whole), chance))
        found = samples_of(root, "mutant %d of %s" % (number, name))
        if found != expected:
            raise Wrong("mutant %d of %s: %r samples of %r" % (number, name, found, expected))
        if number % LISTED == 0:
            list_functions(root, "mutant %d of %s" % (number, name), expected[0])
    return len(numbers)


def check(folder, name, count):
    program = os.path.realpath(build(folder, name))
    with open(program, "rb") as file:
        whole = file.read()
    root = os.path.join(folder, "whole")
    os.makedirs(os.path.join(root, os.path.dirname(program).lstrip("/")))
    os.link(program, os.path.join(root, program.lstrip("/")))
    os.link(os.path.join(folder, "perf.data"), os.path.join(root, "perf.data"))
    expected = samples_of(root, "the whole program")
    if not expected[0]:
        raise Wrong("nothing was recorded")
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        parts = [range(k, count, AT_A_TIME) for k in range(AT_A_TIME)]
        tried = sum(pool.map(lambda numbers: try_mutants(folder, name, numbers, whole, program, expected), parts))
    return "%d mutants" % tried


def bombs():
    """Names of functions: some on which demanglers failed, endless nesting, and names whose text doubles with each letter."""
    again = "_Z1fI" + "".join("1%sI" % letter for letter in "abcdefgh") + "i" + "E" * 9
    doubling = "_ZN1aI" + "".join("N1b%s_E" % "".join("IS%sS%sE" % (k, k) for k in ("_",)) for _ in range(30)) + "EE1fEv"
    return ("n" * (1 << 20), "_Z1f" + "P" * 16000 + "i", "_Z1f" + "P" * 200000 + "i", "_Zcv1BIRT_EIS1_E", again, doubling,
            "_Z1fSt4pairI" + "S0_" * 5000, "_ZN" + "1a" * 7000 + "E", "_RNvC1a" + "NvB_" * 3000, "_R" + "I" * 15000,
            "_ZN17h0123456789abcdefE", "_Z1fIX" + "ad" * 7000, "_Z" + "9" * 300, "_ZZZZZZZZ" * 1500, "_RYYYY" + "B0_" * 4000,
            "_Z1f" + "FvPFv" * 3000 + "E" * 6000)


def check_names(folder):
    """A program with a loop for each of the names, and its samples."""
    text, names = ".text\n", bombs()
    for name in names:
        text += '.type "%s", @function\n"%s": mov $60000000, %%ecx\n1: dec %%ecx\njnz 1b\nret\n.size "%s", .-"%s"\n' % ((name,) * 4)
    text += ".globl main\n.type main, @function\nmain:\n" + "".join('call "%s"\n' % name for name in names) + "xor %eax, %eax\nret\n.size main, .-main\n"
    with open(os.path.join(folder, "names.s"), "w", encoding="ascii") as file:
        file.write(text)
    program = os.path.join(folder, "program")
    fresh.must([fresh.first_of("gcc", "cc"), "-Wa,--no-pad-sections", "-o", program, "names.s"], folder, "names.s does not compile")
    fresh.record(folder, "perf.data", RECORD, [program])
    root = os.path.join(folder, "root")
    os.makedirs(os.path.join(root, os.path.dirname(os.path.realpath(program)).lstrip("/")))
    os.link(program, os.path.join(root, os.path.realpath(program).lstrip("/")))
    os.link(os.path.join(folder, "perf.data"), os.path.join(root, "perf.data"))
    began = time.monotonic()
    counted, printed = samples_of(root, "hostile names", (4,))
    rows = run(["report", "--format=json", "--no-children", "-s", "sym"], root, "hostile names", (4,))
    shown = len(json.loads(rows)["events"][0]["rows"])
    if counted != printed or not counted or shown < len(names):
        raise Wrong("%d samples of %d, %d of %d functions" % (counted, printed, shown, len(names)))
    return "%d samples in %d functions, %.1f s" % (counted, shown, time.monotonic() - began)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--long-count", type=int, default=COUNT, help="with PERFRAY_LONG set (./dev test --long)")
    options = parser.parse_args()
    count = options.long_count if harness.LONG else options.count
    checks = {name: lambda folder, name=name: check(folder, name, -(-count // len(PROGRAMS))) for name in PROGRAMS}
    checks["names"] = check_names
    return fresh.attempt_all("hostile/objects", checks, [])


if __name__ == "__main__":
    sys.exit(main())
