#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_apart.py - checks that symbols and lines that were moved out of a program are found in all documented places, and only there.

usage: run_apart.py [NAME...]

Environment: PERFRAY, the command. A program is built and recorded by the installed perf. Then its symbols are moved to each place that
perfray-report(1) lists, and `report -s sym,srcline` must print the same as with the complete program. If the moved file is changed, or
belongs to another program, it must not be used. Hundreds of damaged files are tried: none may cause a crash or slow the command down.
"""
import json
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

import fresh  # noqa: E402
from fresh import Wrong  # noqa: E402

OPTIONS = ("-g", "-O1", "-fno-omit-frame-pointer")
RECORD = ("-N", "-e", "cpu-clock:u", "-F", "999", "-g")
LINK, BUILD_ID = ("-no-pie", "-static", "-Wl,--build-id=none"), ("-Wl,--build-id=sha1",)
MUTANTS = 150
SECONDS = 10


class Program:
    """A program `name` in the folder, recorded in perf.data; `symbols` is the file with everything that was moved out of it."""

    def __init__(self, folder, *options):
        fresh.need("objcopy", "strip")
        self.folder, self.name, self.symbols = folder, os.path.join(folder, "whole"), os.path.join(folder, "apart")
        fresh.build(folder, "inlined.c", "whole", *OPTIONS, *options)
        fresh.record(folder, "perf.data", RECORD, ["./whole", "100"])
        self.rows = self.report()
        if sum("inlined.c:" in row[1] for row in self.rows) < 3:
            raise Wrong("lines of the whole program: %r" % self.rows)
        fresh.must(["objcopy", "--only-keep-debug", "whole", "apart"], folder, "objcopy")

    def strip(self, *options):
        fresh.must(["objcopy", "-S", *options, "whole"], self.folder, "objcopy -S")
        os.rename(self.symbols, self.symbols + ".kept")
        self.symbols += ".kept"
        self.bare = self.report()
        if self.bare == self.rows:
            raise Wrong("a stripped program has lines")

    def report(self, *words):
        """Only rows of the program itself are compared: whether samples in ld.so have lines depends on installed files and search
        paths."""
        done = fresh.run([harness.PERFRAY, "report", "--format=json", "--no-children", "--dsos", "whole", "-s", "sym,srcline",
                          *words, "perf.data"], self.folder)
        if done.returncode != 0:
            raise Wrong("report: status %d, %s" % (done.returncode, fresh.last_line(done)))
        return [(row["sym"], row["srcline"], row["samples"]) for row in json.loads(done.stdout)["events"][0]["rows"]]

    def expect(self, what, rows, *words):
        found = self.report(*words)
        if found != rows:
            raise Wrong("%s\n  - %r\n  + %r" % (what, rows[:3], found[:3]))

    def put(self, *parts):
        path = os.path.join(self.folder, *(part.lstrip("/") for part in parts))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(self.symbols, path)
        return path

    def check_place(self, what, path, *words):
        """The file is found at this place. With one byte more, it is a different file and is not used; without the file, nothing is found."""
        self.expect(what, self.rows, *words)
        with open(path, "ab") as file:
            file.write(b"x")
        self.expect(what + ", changed", self.bare, *words)
        os.unlink(path)
        self.expect(what + ", gone", self.bare, *words)
        return 3


def check_debug_link(folder):
    program = Program(folder, *LINK)
    program.strip("--add-gnu-debuglink=apart")
    here = os.path.realpath(folder)
    count = program.check_place("beside", program.put("apart"))
    count += program.check_place("in .debug", program.put(".debug", "apart"))
    count += program.check_place("--debug-dir", program.put("store", here, "apart"), "--debug-dir", "store")
    return "%d reports" % count


def check_build_id(folder):
    """The file is found by the build-id in the recording: changed bytes do not matter, but a changed build-id does."""
    program = Program(folder, *BUILD_ID)
    program.strip()
    notes = fresh.must(["readelf", "-n", "whole"], folder, "readelf").stdout.decode()
    build_id = notes.split("Build ID: ")[1].split()[0]
    path = program.put("store", ".build-id", build_id[:2], build_id[2:] + ".debug")
    program.expect("by build-id", program.rows, "--debug-dir", "store")
    other = os.path.join(folder, "other")
    fresh.build(folder, "inlined.c", "other", "-g", "-O0", *BUILD_ID)
    shutil.copy(other, path)
    program.expect("of another build-id", program.bare, "--debug-dir", "store")
    os.unlink(path)
    program.expect("gone", program.bare, "--debug-dir", "store")
    return "3 reports"


def pack_symbols(program):
    """.gnu_debugdata as Fedora's find-debuginfo makes it: only function symbols, compressed with xz."""
    fresh.need("xz")
    symbols = os.path.join(program.folder, "mini")
    fresh.must(["objcopy", "-S", "--keep-symbol=kitchen", "--keep-symbol=bakery", "--keep-symbol=main", "apart", "mini"], program.folder,
               "objcopy")
    fresh.must(["xz", "-f", "mini"], program.folder, "xz")
    return symbols + ".xz"


def check_packed(folder):
    program = Program(folder)
    packed = pack_symbols(program)
    program.strip()
    names = [row[0] for row in program.bare]
    fresh.must(["objcopy", "--add-section", ".gnu_debugdata=" + packed, "whole"], folder, "objcopy")
    found = {row[0] for row in program.report()}
    wanted = {row[0] for row in program.rows if row[0] in ("[.] kitchen", "[.] bakery")}
    if not wanted or not wanted <= found or wanted & set(names):
        raise Wrong("%r is not in %r, or was in %r" % (wanted, found, names))
    return check_mutants(program)


def check_mutants(program):
    """Changes bytes of the compressed section and of the rest of the file."""
    with open(program.name, "rb") as file:
        whole = file.read()
    at, chance = whole.index(b"\xfd7zXZ\0"), random.Random(1)
    for number in range(MUTANTS):
        mutant = bytearray(whole)
        for _ in range(1 + number % 4):
            place = chance.randrange(at, len(whole)) if number % 2 else chance.randrange(len(whole))
            mutant[place] = chance.randrange(256)
        with open(program.name, "wb") as file:
            file.write(mutant)
        done = subprocess.run([harness.PERFRAY, "report", "--no-pager", "-s", "sym,srcline", "--inline", "perf.data"],
                              cwd=program.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        if done.returncode != 0:
            raise Wrong("mutant %d: status %d, %s" % (number, done.returncode, done.stderr.decode()[-200:]))
    return "%d mutants" % MUTANTS


CHECKS = {"debug_link": check_debug_link, "build_id": check_build_id, "packed": check_packed}

if __name__ == "__main__":
    sys.exit(fresh.attempt_all("lines/apart", CHECKS, sys.argv[1:]))
