#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_srcline.py - compares the field srcline with perf in new recordings.

usage: run_srcline.py [NAME...]

Environment: PERFRAY, the command. Programs are built from tests/oracle/script/programs in a temporary folder and recorded by the
installed perf. With `-F +srcline`, `perf script --no-inline` and `perfray script --raw-names` must print the same lines, except for
differences that two rules of docs/differences.md explain. At least LEAST lines must name a source file. If a compiler is not
installed: `skip NAME reason`.
"""
import re
import sys

import fresh
from fresh import Wrong

FORM = ("-F", "+srcline")
LEAST = 5
SOURCE = re.compile(r"  (\S+):(\d+)$")
RECORD = ("-e", "cpu-clock", "-F", "999", "-g")
CXX, C = ("g++", "c++"), ("gcc", "cc")
PROGRAMS = {
    "cxx": ("shapes.cpp", CXX, ("-g", "-O2")),
    "cxx_dwarf4": ("shapes.cpp", CXX, ("-gdwarf-4", "-O1", "-fno-omit-frame-pointer")),
    "cxx_clang": ("shapes.cpp", ("clang++-14",), ("-g", "-O1", "-fno-omit-frame-pointer")),
    "c_static": ("busy_loops.c", C, ("-g", "-O1", "-static")),
    "c_fixed": ("busy_loops.c", C, ("-g", "-O1", "-no-pie")),
    "c_zlib": ("busy_loops.c", C, ("-g", "-O1", "-gz=zlib")),
    "rust": ("grains.rs", ("rustc",), ("-g", "-O")),
    "stripped": ("busy_loops.c", C, ("-O1", "-s")),
    "no_lines": ("busy_loops.c", C, ("-O1",)),
}


def is_explained(their, our):
    """The accepted differences. The same line of another file: for an inlined function, binutils prints the file of the surrounding
    function. A stub of the procedure linkage table, for which binutils has no name: perf prints the object and the address. A
    static function of an object without lines: binutils has the name of its source file from the symbol table, but no line."""
    theirs, ours = (SOURCE.match(line or "") for line in (their, our))
    if theirs and ours:
        return theirs[2] == ours[2]
    return our is None and re.match(r"  (\S+\[[0-9a-f]+\]|[^/\s]*:0)$", their or "") is not None


def check(folder, name):
    source, compilers, options = PROGRAMS[name]
    program = fresh.build(folder, source, name, *options, compiler=fresh.first_of(*compilers))
    fresh.record(folder, name + ".data", RECORD, [program, "400"])
    theirs = fresh.perf_script(folder, name + ".data", FORM)
    ours = fresh.our_script(folder, name + ".data", FORM)
    pairs = fresh.differing_pairs(theirs, ours)
    wrong = [pair for pair in pairs if not is_explained(*pair)]
    named = sum(bool(SOURCE.match(line)) for line in ours.split("\n"))
    if wrong:
        raise Wrong("%d lines differ\n%s" % (len(wrong), "\n".join("  - %s\n  + %s" % pair for pair in wrong[:5])))
    if named < LEAST and name not in ("stripped", "no_lines"):
        raise Wrong("%d lines name a source file" % named)
    return "%d lines, %d of sources, %d explained" % (ours.count("\n"), named, len(pairs))


def without_templates(name):
    """A C++ name without its template arguments."""
    kept, depth = "", 0
    for sign in name:
        depth += sign == "<"
        kept += sign if not depth else ""
        depth -= sign == ">"
    return kept


def demangled(folder):
    """Each argument of --demangle gives the name that c++filt prints for the symbol; `simple` gives it without template
    arguments."""
    fresh.need("c++filt")
    program = fresh.build(folder, "shapes.cpp", "words", "-g", "-O1", "-fno-omit-frame-pointer", compiler=fresh.first_of(*CXX))
    fresh.record(folder, "words.data", RECORD, [program, "400"])

    def symbols(*options):
        return fresh.our_script(folder, "words.data", ("-F", "ip,sym", *options)).split("\n")
    count = 0
    texts = [symbols("--demangle=no"), symbols("--demangle=full"), symbols("--demangle=simple"), symbols()]
    for mangled, full, simple, plain in zip(*texts):
        name = mangled.split(" ")[-1]
        if not name.startswith(("_ZN6shapes", "_ZNK6shapes")) or "std::" in full:
            continue
        count += 1
        for text, option, part in ((full, (), str), (simple, ("-p",), without_templates), (plain, ("-p",), str)):
            wanted = part(fresh.must(["c++filt", *option, name], folder, "c++filt").stdout.decode().strip()) if count < 40 else ""
            if wanted not in text:
                raise Wrong("%s is %s, and not %s" % (name, text.strip(), wanted))
    if not count or texts[0] != symbols("--no-demangle") or len({len(text) for text in texts}) != 1:
        raise Wrong("%d symbols of C++" % count)
    return "%d symbols" % count


def main(names):
    checks = {name: lambda folder, name=name: check(folder, name) for name in PROGRAMS}
    checks["demangled"] = demangled
    return fresh.attempt_all("script/srcline", checks, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
