#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_lines.py - compares function, file, line and inlined calls of random addresses with llvm-symbolizer.

usage: run_lines.py [NAME...]

Environment: LINES_OF, the program lines_of; PERFRAY_LONG: 10 000 addresses per object instead of 2 000. Programs are
built from tests/oracle/symbols/programs in a temporary folder; libc is the installed library with its separate debug
file. The addresses are random addresses in executable segments, the same in each run. For each object at least the
share LEAST must have the same frames: linkage name of the function, path, line. A rule of RULES must explain each
difference, and docs/differences.md lists each rule. If a compiler or llvm-symbolizer-19 is not installed: `skip NAME
reason`.
"""
import concurrent.futures
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import LONG  # noqa: E402
from harness import Skip, Wrong  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
SYMBOLIZER = "llvm-symbolizer-19"
PATH = os.environ.get("PATH", "") + ":/usr/local/bin:/usr/bin:/bin"
COUNT = 10000 if LONG else 2000
LEAST = 0.999
SHOWN = 5
SEED = 5


@dataclass(frozen=True)
class Object:
    """How an object is built. COMPILER: the first of these that is installed is used. Without SOURCE, the object is an installed object, given by its path."""
    source: str = ""  # or several ones
    compiler: tuple = ()
    options: tuple = ()
    front: tuple = ()  # arguments before those for the output
    installed: str = ""
    beside: str = ""  # the same object with other compression, which llvm-symbolizer can read
    shared: bool = False  # part of the object is moved to another file; llvm-symbolizer reads the original
    after: tuple = ()  # steps: commands in which "{}" is the object


GXX, CLANG14, CLANG19, GCC = ("g++",), ("clang++-14",), ("clang++-19",), ("gcc",)
CXX = ("-std=c++17", "-O2", "-g")
SHARED = (("cp", "{}", "{}.copy"), ("dwz", "-m", "{}.shared", "{}", "{}.copy"), ("test", "-s", "{}.shared"))
PACKAGE = (("llvm-dwp-19", "-e", "{}", "-o", "{}.dwp"), ("sh", "-c", "rm *.dwo"))
UNITS = ("boxes.cpp",) if LONG else ("loops.c", "nested.c")  # for separate files, small objects are enough and quick to build
GCC_C, CLANG14_C, CLANG19_C = (GXX, CLANG14, CLANG19) if LONG else (GCC, ("clang-14",), ("clang-19",))
LARGE = ("-DLARGE",)  # with std::regex, too: it doubles the code, and takes most of the compile time

OBJECTS = {
    "gcc_dwarf5": Object("boxes.cpp", GXX, (*CXX, "-gdwarf-5", *LARGE)),
    "gcc_dwarf4": Object("boxes.cpp", GXX, (*CXX, "-gdwarf-4")),
    "gcc_dwarf3": Object("boxes.cpp", GXX, (*CXX, "-gdwarf-3", "-gstrict-dwarf")),
    "gcc_dwarf2": Object("boxes.cpp", GXX, (*CXX, "-gdwarf-2")),
    "gcc_64bit": Object("boxes.cpp", GXX, (*CXX, "-gdwarf64")),
    "gcc_zlib": Object("boxes.cpp", GXX, (*CXX, "-gz=zlib")),
    "gcc_zdebug": Object("boxes.cpp", GXX, (*CXX, "-gdwarf-5", "-gz=zlib-gnu"), beside="gcc_zlib"),
    "gcc_lto": Object("boxes.cpp", GXX, (*CXX, "-flto")),
    "gcc_unoptimised": Object("boxes.cpp", GXX, ("-std=c++17", "-g", "-O0")),
    "clang14_dwarf4": Object("boxes.cpp", CLANG14, (*CXX, "-gdwarf-4")),
    "clang14_dwarf5": Object("boxes.cpp", CLANG14, (*CXX, "-gdwarf-5")),
    "clang19_dwarf5": Object("boxes.cpp", CLANG19, (*CXX, "-gdwarf-5", *LARGE)),
    "clang19_zstd": Object("boxes.cpp", CLANG19, (*CXX, "-gz=zstd")),
    "clang19_lines_only": Object("boxes.cpp", CLANG19, (*CXX, "-gline-tables-only")),
    "gcc_aarch64": Object("loops.c", ("aarch64-linux-gnu-gcc",), ("-O2", "-g")),
    "gcc_s390x": Object("loops.c", ("s390x-linux-gnu-gcc",), ("-O2", "-g")),
    "rust": Object("grains.rs", ("rustc",), ("-g", "-O", "-Csymbol-mangling-version=v0")),
    "rust_legacy": Object("grains.rs", ("rustc",), ("-g", "-O")),
    "go": Object("marbles.go", ("go",), front=("build",)),
    "gcc_split5": Object(UNITS, GCC_C, ("-O2", "-gdwarf-5", "-gsplit-dwarf")),
    "gcc_split4": Object(UNITS, GCC_C, ("-O2", "-gdwarf-4", "-gsplit-dwarf")),
    "clang19_split5": Object(UNITS, CLANG19_C, ("-O2", "-gdwarf-5", "-gsplit-dwarf")),
    "clang14_split4": Object(UNITS, CLANG14_C, ("-O2", "-gdwarf-4", "-gsplit-dwarf")),
    "gcc_package4": Object(UNITS, GCC_C, ("-O2", "-gdwarf-4", "-gsplit-dwarf"), after=PACKAGE),
    "clang19_package5": Object(UNITS, CLANG19_C, ("-O2", "-gdwarf-5", "-gsplit-dwarf"), after=PACKAGE),
    "gcc_shared4": Object(UNITS, GCC_C, ("-O2", "-gdwarf-4", "-Wl,--build-id"), shared=True, after=SHARED),
    "gcc_shared5": Object(UNITS, GCC_C, ("-O2", "-gdwarf-5"), shared=True, after=(SHARED[0], (*SHARED[1], "--dwarf-5"), SHARED[2])),
    "libc": Object(installed="libc.so.6"),
}


def run(words, folder, text=None):
    return subprocess.run(words, cwd=folder, input=text, capture_output=True, text=True, timeout=600, env={**os.environ, "PATH": PATH})


def installed_debug(name):
    """The separate debug file of a library of this machine."""
    for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            found = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-n", path], "/").stdout)
            debug = found and "/usr/lib/debug/.build-id/%s/%s.debug" % (found[1][:2], found[1][2:])
            if debug and os.path.exists(debug):
                return debug
    raise Skip("%s has no separate debug file here" % name)


def find_source(name):
    for folder in (PROGRAMS, os.path.join(HERE, "../script/programs"), os.path.join(HERE, "../../fixtures/objects")):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    raise Wrong("no source %s" % name)


def make(name, folder):
    what = OBJECTS[name]
    if what.installed:
        return installed_debug(what.installed)
    compiler = next((c for c in what.compiler if shutil.which(c, path=PATH)), None)
    if not compiler:
        raise Skip("%s is not installed" % " or ".join(what.compiler))
    made = os.path.join(folder, name)
    sources = [find_source(source) for source in ([what.source] if isinstance(what.source, str) else what.source)]
    done = run([compiler, *what.front, "-o", made, *what.options, *sources], folder)
    if done.returncode != 0:
        raise Skip("%s does not make it: %s" % (compiler, (done.stderr.strip() or "?").split("\n")[-1]))
    if what.shared:
        shutil.copy(made, made + ".whole")
    for words in what.after:
        if not shutil.which(words[0], path=PATH):
            raise Skip("%s is not installed" % words[0])
        done = run([word.replace("{}", made) for word in words], folder)
        if done.returncode != 0:
            raise Wrong("%s: status %d, %s" % (words[0], done.returncode, done.stderr.strip()[-200:]))
    return made


def executable_ranges(path):
    """Yields (address, size) of the executable sections that are loaded into memory, from the section headers of a 64-bit ELF file."""
    with open(path, "rb") as file:
        data = file.read()
    order = ">" if data[5] == 2 else "<"
    at, = struct.unpack_from(order + "Q", data, 40)
    size, count = struct.unpack_from(order + "HH", data, 58)
    ranges = []
    for i in range(count):
        _, _, flags, address, _, length = struct.unpack_from(order + "IIQQQQ", data, at + i * size)
        if flags & 4 and length:
            ranges.append((address, length))
    if not ranges:
        raise Wrong("%s has no code" % path)
    return ranges


def random_addresses(path):
    ranges = executable_ranges(path)
    chooser = random.Random(SEED)
    chosen = chooser.choices(ranges, [length for _, length in ranges], k=COUNT)
    return sorted(address + chooser.randrange(length) for address, length in chosen)


def theirs_of(path, addresses):
    words = [SYMBOLIZER, "--obj=" + path, "--functions=linkage", "--no-demangle", "--inlines", "--output-style=JSON"]
    done = run(words, "/", "".join("0x%x\n" % a for a in addresses))
    answers = []
    for line in done.stdout.split("\n"):
        if line:
            answers.append([(f["FunctionName"] or "?", f["FileName"] or "?", f["Line"]) for f in json.loads(line).get("Symbol", [])])
    if len(answers) != len(addresses):
        raise Wrong("%s gave %d answers to %d addresses" % (SYMBOLIZER, len(answers), len(addresses)))
    return answers


def ours_of(path, addresses):
    done = run([os.environ["LINES_OF"], path], "/", "".join("%x\n" % a for a in addresses))
    if done.returncode != 0:
        raise Wrong("lines_of: status %d, %s" % (done.returncode, done.stderr.strip()))
    answers = []
    frames = []
    for line in done.stdout.split("\n")[:-1]:
        if line:
            function, path, number = line.split("\t")
            frames.append((function, path, int(number)))
        else:
            answers.append(frames)
            frames = []
    return answers


def symbol_table_name(their, our, symbols):
    """llvm-symbolizer takes the name of the outermost function from the symbol table: it is the same name plus a compiler's suffix, another name of the same
    address, or any name if DWARF has no linkage name."""
    if len(their) != len(our) or their[:-1] != our[:-1] or not our or their[-1][1:] != our[-1][1:]:
        return False
    name, linked = our[-1][0], their[-1][0]
    has_no_linkage_name = linked.startswith(("_Z", "_R")) and not name.startswith(("_Z", "_R"))
    return name == "?" or has_no_linkage_name or name in linked or (name in symbols and symbols[name] == symbols.get(linked)) or \
        re.sub("[CD][0-9]E", "", name) == re.sub("[CD][0-9]E", "", re.sub(r"\..*", "", linked))


def nothing_known(their, our, _):
    """No DWARF covers the address: llvm-symbolizer prints only the name of the symbol, and the file from the symbol table."""
    return not our and len(their) <= 1 and (not their or their[0][2] == 0)


RULES = {rule.__name__: rule for rule in (symbol_table_name, nothing_known)}


def symbols_of(path):
    """Returns {name: address}."""
    lines = run(["nm", path], "/").stdout.split("\n")
    return {words[2]: words[0] for words in map(str.split, lines) if len(words) == 3}


def compare(path, beside):
    addresses, symbols = random_addresses(path), symbols_of(path)
    theirs, ours = theirs_of(beside, addresses), ours_of(path, addresses)
    counts, shown = Counter(), []
    for address, their, our in zip(addresses, theirs, ours):
        rule = "equal" if their == our else next((n for n, r in RULES.items() if r(their, our, symbols)), "unexplained")
        counts[rule] += 1
        if rule == "unexplained" and len(shown) < SHOWN:
            shown.append("%x\n    they %s\n    we   %s" % (address, their, our))
    figures = ", ".join("%d %s" % (count, rule) for rule, count in counts.most_common())
    inlined = sum(len(our) > 1 for our in ours)
    if counts["unexplained"] > (1 - LEAST) * len(addresses):
        raise Wrong("%s\n  %s" % (figures, "\n  ".join(shown)))
    return "%s; %d with inlined calls" % (figures, inlined)


def check(name):
    if not shutil.which(SYMBOLIZER, path=PATH):
        raise Skip("%s is not installed" % SYMBOLIZER)
    with harness.scratch("lines") as folder:
        path = make(name, folder)
        beside = make(OBJECTS[name].beside, folder) if OBJECTS[name].beside else path
        beside = path + ".whole" if OBJECTS[name].shared else beside
        return compare(path, beside)


def main(names):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: harness.attempt("lines " + name, check, name), names or OBJECTS))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
