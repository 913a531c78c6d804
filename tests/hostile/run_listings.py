#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_listings.py - checks that damaged objects and hostile sources lose only instructions and source lines, never the listing.

usage: run_listings.py [--count N] [--long-count N]

mutants   N mutants of a program (100; 2000 with PERFRAY_LONG) with changed bytes in the file, its headers, its code or its lines; the mutant's number is the
          seed. `annotate` of each must end with status 0, 2 or 4 in SECONDS, and the rows of every function must have the samples of that function
sources   a sparse file of 1 GB with one line, a FIFO, a link to a device, control bytes, a line number beyond the file
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

import fresh  # noqa: E402
import run_objects  # noqa: E402
from fresh import Wrong  # noqa: E402

SECONDS = 120 if os.environ.get("PERFRAY_LONG") else 20  # long runs have the lowest priority
FORMS = (("--by-line", "--format=json"), ("--by-line",), ("--format=csv",), ())
SOURCE = """
static inline unsigned mix(unsigned x) { return x ^ x >> 13; }
__attribute__((noinline)) unsigned work(unsigned n) {
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++)
        s += mix(i * 7);
    return s;
}
__attribute__((noinline)) unsigned other(unsigned n) {
    unsigned s = 1;
    for (unsigned i = 1; i < n; i++)
        s = i % 3 ? s * i : s ^ mix(s);
    return s;
}
int main(int c, char **v) { unsigned s = 0; for (int i = 0; i < 300; i++) s += work(500000 + i) + other(300000 + i); return v[c - 1][0] == (char)s; }
"""


def section(bytes_, wanted):
    """Offset and size of a section of a little-endian 64-bit file."""
    table, = struct.unpack_from("<Q", bytes_, 40)
    count, names = struct.unpack_from("<HH", bytes_, 60)
    heads = [struct.unpack_from("<IIQQQQ", bytes_, table + 64 * number) for number in range(count)]
    for head in heads:
        at = heads[names][4] + head[0]
        if bytes_[at:bytes_.index(0, at)] == wanted:
            return head[4], head[5]
    raise Wrong("no section %s" % wanted)


def change_section(name):
    def change(bytes_, chance):
        offset, size = section(bytes_, name)
        for _ in range(chance.choice((1, 4, 40))):
            bytes_[offset + chance.randrange(size)] = chance.choice((0, 1, 0x7f, 0x80, 0xff, chance.randrange(256)))
        return bytes_
    return change


CHANGES = (*run_objects.CHANGES, *(change_section(name) for name in (b".text", b".text", b".debug_line", b".debug_line", b".debug_info", b".debug_abbrev")))


def annotate(root, data, *words):
    try:
        done = harness.perfray("annotate", "--no-pager", "--symfs", root, *words, data, timeout=SECONDS, env={"HOME": root, "PATH": fresh.PATH, "LC_ALL": "C"})
    except subprocess.TimeoutExpired:
        raise Wrong("%s: no end within %d s" % (words, SECONDS)) from None
    if done.returncode not in (0, 2, 4):
        raise Wrong("status %d, %s" % (done.returncode, done.stderr.decode("utf-8", "replace")[-600:]))
    return done.stdout


def check_sums(text, whole):
    if not text:
        return
    total = 0
    for function in json.loads(text)["functions"]:
        samples = function["events"][0]["samples"]
        total += samples
        if sum(row["samples"][0] for row in function["instructions"]) != samples:
            raise Wrong("%s: %d samples are not those of its rows" % (function["symbol"], samples))
    if total > whole:
        raise Wrong("%d samples of %d" % (total, whole))


def check_mutants(folder, count):
    root, data = os.path.join(folder, "root"), os.path.join(folder, "perf.data")
    program = os.path.join(folder, "program")
    at = os.path.join(root, program.lstrip("/"))
    os.makedirs(os.path.dirname(at))
    with open(program, "rb") as file:
        whole = file.read()
    with open(at, "wb") as file:
        file.write(whole)
    functions = json.loads(annotate(root, data, "--top", "999", "--format=json"))["functions"]
    if len(functions) < 2:
        raise Wrong("the sound program has %d functions with samples" % len(functions))
    samples = sum(function["events"][0]["samples"] for function in functions)
    for number in range(count):
        chance = random.Random(number)
        with open(at, "wb") as file:
            file.write(chance.choice(CHANGES)(bytearray(whole), chance))
        try:
            check_sums(annotate(root, data, "--top", "99", "--format=json"), samples + 1000)
            annotate(root, data, "--top", "99", *FORMS[number % len(FORMS)])
        except Wrong as wrong:
            raise Wrong("mutant %d: %s" % (number, wrong)) from None
        if number % 100 == 99:
            print("# %d mutants" % (number + 1), flush=True)
    return "%d mutants" % count


# --- Sources.

def sparse(path):
    with open(path, "wb") as file:
        file.truncate(1 << 30)


def link(path):
    os.symlink("/dev/zero", path)


def controls(path):
    with open(path, "wb") as file:
        file.write(b"\x1b[2J\x07\x00\xff\xfe\xc2\x9b31m\r\n" * 20)


def short(path):
    with open(path, "wb") as file:
        file.write(b"one line")


def check_source(folder, kind, make):
    source, data = os.path.join(folder, "source.c"), os.path.join(folder, "perf.data")
    os.replace(source, source + ".kept")
    try:
        make(source)
        for form in FORMS:
            text = annotate("/", data, *form, "work")
            if not text or set(text) & (set(range(32)) - {9, 10} | {127}):
                raise Wrong("%s: %r" % (kind, text[:200]))
    finally:
        os.replace(source + ".kept", source)
    return "%d forms" % len(FORMS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--long-count", type=int, default=2000)
    options = parser.parse_args()
    count = options.long_count if os.environ.get("PERFRAY_LONG") else options.count
    if not harness.installed("perf") or not harness.installed("gcc"):
        harness.skip("listings", "perf or gcc is not installed")
        return harness.status()
    with harness.scratch("listings") as folder:
        with open(os.path.join(folder, "source.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        fresh.must(["gcc", "-g", "-O1", "-Wl,--build-id=none", "-o", "program", os.path.join(folder, "source.c")], folder, "gcc")
        fresh.record(folder, "perf.data", ("-N", "-e", "cpu-clock:u", "-F", "499"), [os.path.join(folder, "program"), "x"])
        harness.attempt("listings/mutants", check_mutants, folder, count)
        for kind, make in (("sparse", sparse), ("fifo", os.mkfifo), ("link", link), ("controls", controls), ("short", short)):
            harness.attempt("listings/" + kind, check_source, folder, kind, make)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
