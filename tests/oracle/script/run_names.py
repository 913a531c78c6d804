#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_names.py - compares names and offsets of C, C++, Rust and Go programs and of the kernel with perf.

usage: run_names.py [NAME...]

Environment: PERFRAY, the command; PERFRAY_KEEP, a folder for the files of failed checks. Programs are built from
tests/oracle/script/programs in a temporary folder, and each is recorded by the installed perf. With `-F
comm,tid,time,event,ip,sym,symoff,dso`, `perf script --no-inline` and `perfray script --raw-names` must print the same lines, except
for differences that rules of docs/differences.md explain. At least LEAST_NAMED of the lines with an address must have a name. If a
compiler is not installed: `skip NAME reason`.
"""
import os
import re
import sys
from dataclasses import dataclass

import fresh
from fresh import Skip, Wrong

FORM = ("-F", "comm,tid,time,event,ip,sym,symoff,dso")
LEAST_NAMED = 0.1
HERE = ("-e", "cpu-clock", "-F", "3999", "-g")
ADDRESS = re.compile(r"\s[0-9a-f]+ (\S.*)? \(\S.*\)$")


@dataclass(frozen=True)
class Program:
    """How a program is built and run; COMPILER: the first of these that is installed is used."""
    source: str = ""
    compiler: tuple = ()
    options: tuple = ()
    words: tuple = ("./program",)
    record: tuple = HERE
    read: tuple = ()
    libraries: tuple = ()  # (source, name) of a shared library that is built first
    strip: bool = False


C, CXX = ("gcc", "cc", "clang-14"), ("g++", "c++", "clang++-14")
FRAMES = ("-O1", "-fno-omit-frame-pointer")
BUSY = ("./program", "60")

PROGRAMS = {
    "c": Program("busy_loops.c", C, ("-g", *FRAMES), BUSY),
    "c_static": Program("busy_loops.c", C, ("-static", *FRAMES), BUSY),
    "c_fixed": Program("busy_loops.c", C, ("-no-pie", *FRAMES), BUSY),
    "c_stripped": Program("busy_loops.c", C, FRAMES, BUSY, strip=True),
    "c_exports": Program("busy_loops.c", C, ("-rdynamic", *FRAMES), BUSY, strip=True),
    "c_dwarf": Program("busy_loops.c", C, ("-g", "-O2"), BUSY, ("-e", "cpu-clock", "-F", "3999", "--call-graph", "dwarf"), ("-G",)),
    "c_gold": Program("busy_loops.c", C, ("-fuse-ld=gold", *FRAMES), BUSY),
    "c_clang": Program("busy_loops.c", ("clang-14", "clang"), ("-g", *FRAMES), BUSY),
    "cxx": Program("shapes.cpp", CXX, ("-g", *FRAMES)),
    "cxx_optimised": Program("shapes.cpp", CXX, ("-O2",)),
    "cxx_static": Program("shapes.cpp", CXX, ("-O1", "-static")),
    "cxx_clang": Program("shapes.cpp", ("clang++-14", "clang++"), FRAMES),
    "rust": Program("grains.rs", ("rustc",), ("-g", "-O", "-Cforce-frame-pointers=yes", "-Csymbol-mangling-version=v0")),
    "rust_legacy": Program("grains.rs", ("rustc",), ("-O", "-Cforce-frame-pointers=yes")),
    "rust_unoptimised": Program("grains.rs", ("rustc",), ("-Csymbol-mangling-version=v0",)),
    "go": Program("marbles.go", ("go",), ()),
    "kernel": Program(words=("dd", "if=/dev/zero", "of=/dev/null", "bs=512", "count=60000")),
    "kernel_files": Program(words=("find", "/proc/self/", "/sys/kernel/", "-maxdepth", "3")),
    # on all CPUs; samples of other programs are not compared
    "kernel_all": Program(words=("find", "/usr/include", "-name", "*.h"), record=(*HERE, "-a"), read=("--comms", "find,swapper")),
    "shell": Program(words=("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do ls -l /usr/lib >/dev/null; done")),
    "python": Program(words=("/usr/bin/python3", "-S", "-c", "print(sum(hash(str(i)) for i in range(200000)))")),
}


def make(folder, program):
    if not program.source:
        fresh.need(program.words[0])
        return
    compiler = fresh.first_of(*program.compiler)
    source = os.path.join(fresh.PROGRAMS, program.source)
    words = [compiler, *(("build",) if compiler == "go" else ()), "-o", "program", *program.options, source]
    fresh.must(words, folder, "%s does not compile" % program.source)
    if program.strip:
        fresh.need("strip")
        fresh.must(["strip", "program"], folder, "strip")


def named_share(text):
    found = [match[1] for match in map(ADDRESS.search, text.split("\n")) if match]
    return sum(name != "[unknown]" for name in found) / len(found) if found else 0.0


def check(folder, program):
    fresh.need("perf")
    make(folder, program)
    fresh.record(folder, "perf.data", program.record, program.words)
    result, theirs = fresh.compare_scripts(folder, "perf.data", (*FORM, *program.read))
    if result.lines < 10:
        raise Skip("only %d lines were recorded" % result.lines)
    result.check("names")
    share = named_share(theirs)
    if share < LEAST_NAMED:
        raise Wrong("only %.0f %% of the addresses have a name" % (100 * share))
    return "%s, %.0f %% named" % (result.figures(), 100 * share)


def main(names):
    checks = {name: lambda folder, program=program: check(folder, program) for name, program in PROGRAMS.items()}
    return fresh.attempt_all("script/names", checks, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
