#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_unwind.py - stacks unwound out of copies of registers and stacks, in recordings made now.

usage: run_unwind.py [NAME...]

Environment: PERFRAY, the command. Programs are built from tests/script/programs in a folder that is removed and recorded by the
installed perf with `--call-graph dwarf`, at fixed addresses (docs/differences.md, tables-of-the-first-process). Two laws:
- each sample is as perf's, but for kinds of differences that docs/differences.md lists; at least LEAST_ALIKE of all are;
- each sample in a function that the program said it would go to has the callers that it said, whatever lies between them.
"""
import ctypes
import os
import re
import struct
import sys
from collections import Counter

import fresh
import made
import script_rules
from fresh import Failed, Skipped

LEAST_ALIKE = 0.995
LEAST_SAMPLES = 50
MILLISECONDS = "30"
FIXED_ADDRESSES = 0x0040000
FRAME = re.compile(r"\s+([0-9a-f]+) (.*) \((.*)\)$")
CXX, CLANG = ("g++", "c++"), ("clang++-14", "clang++-19", "clang++")
LIBRARIES = (("near.so", "-O1"), ("far.so", "-O1", "-DROOM=3000"), ("bare.so", "-O2", "-s"), ("pointer.so", "-O0", "-fno-omit-frame-pointer"),
             ("debug.so", "-O1", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"))
# name: compilers, their options, options of the recording
PROGRAMS = {
    "gcc": (CXX, ("-O2",), ()), "gcc_O0": (CXX, ("-O0",), ()), "gcc_Os": (CXX, ("-Os",), ()), "clang": (CLANG, ("-O2",), ()),
    "static": (CXX, ("-O1", "-static-pie"), ()), "fixed": (CXX, ("-O2", "-no-pie"), ()),
    "copies_of_1k": (CXX, ("-O2",), (",1024",)),
}
APART = ("fixed", "gcc_O0")  # those where the .debug_frame of debug.so is in a file of its own
EXACT = ("spin_tail",)  # a call that was a jump left its caller out, if the compiler made it one


def fix_addresses():
    ctypes.CDLL(None).personality(FIXED_ADDRESSES)


def record(folder, output, copies, words):
    fresh.need("perf")
    done = fresh.run(["perf", "record", "-N", "-q", "-o", output, "-e", "cpu-clock", "-F", "4000", "-m", "4M", "--call-graph",
                      "dwarf" + copies, "--", *words], folder, preexec_fn=fix_addresses)
    if not os.path.exists(os.path.join(folder, output)):
        raise Skipped("perf record: %s" % fresh.last_line(done))
    return done.stdout.decode()


def samples_of(text):
    return [block for block in fresh.blocks_of(text) if block and block[0].strip()]


def addresses(frames):
    return [int(found[1], 16) for found in map(FRAME.match, frames) if found]


def is_return_of_signal(theirs, ours):
    """One frame whose address perf took one off."""
    if len(theirs) != len(ours):
        return False
    apart = [(a, b) for a, b in zip(theirs, ours) if a != b]
    return len(apart) == 1 and [a + 1 for a in addresses(apart[0][:1])] == addresses(apart[0][1:])


def is_nowhere(frames):
    return len(frames) == 1 and addresses(frames) == [2 ** 64 - 1]


def kind_of(theirs, ours):
    """The entry of docs/differences.md that explains it, or None. Frames without the line that begins the sample."""
    same = next((i for i, pair in enumerate(zip(theirs, ours)) if pair[0] != pair[1]), min(len(theirs), len(ours)))
    if is_nowhere(theirs[same:]) and not ours[same:]:
        return "ends-of-unwound-stacks"
    if is_nowhere(theirs[same:]) and len(ours) == same + 1:
        return "last-word-of-a-stack"
    if not theirs[same:] and len(ours) == same + 1:
        return "last-word-of-a-stack"
    if not theirs[same:] and same and theirs[same - 1].endswith("([vdso])"):
        return "code-of-the-vdso"
    if is_return_of_signal(theirs, ours):
        return "returns-from-signals"
    if is_nowhere(theirs[-1:]) and is_return_of_signal(theirs[:-1], ours):
        return "ends-of-unwound-stacks"
    if theirs[same:] and ours[same:] and script_rules.is_old_image(theirs[same], ours[same], fresh.FACTS):
        return "exec-ends-the-old-maps"
    return None


def compare(folder, recording):
    """How many there are of each kind; None is what nothing explains, with the first few of these."""
    theirs, ours = (samples_of(script(folder, recording, ("-F", "comm,tid,time,event,ip,sym,dso")))
                    for script in (fresh.perf_script, fresh.our_script))
    if [block[0] for block in theirs] != [block[0] for block in ours]:
        raise Failed("%d samples, perf has %d, or others" % (len(ours), len(theirs)))
    kinds, shown = Counter(), []
    for their, our in zip(theirs, ours):
        kind = "equal" if their == our else kind_of(their[1:], our[1:])
        kinds[kind] += 1
        if kind is None and len(shown) < 2:
            shown.append("\nperf:\n%s\nperfray:\n%s" % ("\n".join(their), "\n".join(our)))
    return kinds, ours, "".join(shown)


def names_in(block, known):
    names = [found[2] for found in map(FRAME.match, block[1:]) if found]
    return [name for name in (re.sub(r"^Leaves::|\(.*| \[.*|\.cold$", "", name) for name in names) if name in known]


def check_paths(said, samples):
    """How many samples were on a path that the program said."""
    wanted = {line.split()[0]: line.split() for line in said.splitlines() if line.startswith("spin_")}
    known = {name for path in wanted.values() for name in path}
    seen = Counter()
    for block in samples:
        names = names_in(block, known)
        if not names or names[0] not in wanted or not any(name in block[-1] for name in ("_start", "execl")):
            continue
        if names != wanted[names[0]]:
            raise Failed("said %s, found %s\n%s" % (wanted[names[0]], names, "\n".join(block)))
        seen[names[0]] += 1
    missing = set(wanted) - set(seen)
    if missing:
        raise Failed("no sample in %s" % " ".join(sorted(missing)))
    return sum(seen.values())


def take_apart(folder, library):
    fresh.need("objcopy", "readelf")
    fresh.must(["objcopy", "--only-keep-debug", library, library + ".debug"], folder, "objcopy")
    fresh.must(["objcopy", "-g", "--add-gnu-debuglink=%s.debug" % library, library], folder, "objcopy -g")
    if ".debug_frame" in fresh.must(["readelf", "-SW", library], folder, "readelf").stdout.decode():
        raise Failed("%s has its .debug_frame" % library)


def check(folder, name):
    compilers, options, copies = PROGRAMS[name]
    program = fresh.build(folder, "paths.cpp", name, *options, compiler=fresh.first_of(*compilers))
    libraries = [fresh.build(folder, "back.c", library, "-shared", "-fPIC", *more) for library, *more in LIBRARIES]
    if name in APART:
        take_apart(folder, "debug.so")
    said = record(folder, name + ".data", copies[0] if copies else "", [program, MILLISECONDS, *libraries])
    kinds, samples, shown = compare(folder, name + ".data")
    count = sum(kinds.values())
    if count < LEAST_SAMPLES or kinds[None] > (1 - LEAST_ALIKE) * count:
        raise Failed("%d samples of %d differ%s" % (kinds[None], count, shown))
    on_paths = 0 if copies else check_paths(said, samples)
    return "%d samples, %d on known paths, %s" % (count, on_paths, ", ".join(
        "%d %s" % (number, kind or "unexplained") for kind, number in kinds.most_common()))


# --- Another machine: a recording made here, of tests/fixtures/objects/frames-aarch64.so.

BASE, STACK, SIGNATURE = 0x5500000000, 0x7fd0000000, 0x7b2a << 48
LEAF, IN_KEEPS, IN_GROWS, IN_ENDS = 0x3e4, 0x430, 0x4f0, 0x530  # in the functions of frames.c; behind calls, but for the first
COPIES = 32 | 1 << 12 | 1 << 13
ALL_REGISTERS = (1 << 33) - 1


def stack_of_arm():
    """By the rows of readelf: keeps has 80 bytes, grows finds its frame by x29, ends has 16 and was called by nobody."""
    words = {0: STACK + 200, 8: BASE + IN_GROWS | SIGNATURE, 200: 0, 208: BASE + IN_ENDS | SIGNATURE, 232: 0, 240: 0}
    return b"".join(struct.pack("<Q", words.get(at, 0x5a5a)) for at in range(0, 256, 8))


def write_arm(path, elf, copied):
    registers = [0] * 33
    registers[30], registers[31], registers[32] = BASE + IN_KEEPS, STACK, BASE + LEAF
    stack = stack_of_arm()[:copied]
    attr = bytearray(made.attr(made.IP | made.TID | made.TIME | COPIES))
    struct.pack_into("<QI", attr, 80, ALL_REGISTERS, len(stack))
    kind, misc, body = made.sample(BASE + LEAF, 9, 0, 2, *registers, len(stack))
    record = (kind, misc, body + stack + struct.pack("<Q", len(stack)))
    text = b"aarch64\0"
    made.write_file(path, [made.map_of(elf, BASE, 0x1000, 0, 1), record], [bytes(attr)],
                    {6: struct.pack("<I", len(text)) + text})


def check_arm(folder):
    elf = os.path.join(os.environ["FIXTURES"], "objects", "frames-aarch64.so")
    path = os.path.join(folder, "arm.data")
    frames = [(LEAF, "leaf"), (IN_KEEPS - 1, "keeps"), (IN_GROWS - 1, "grows"), (IN_ENDS - 1, "ends")]
    for copied, count, word in ((256, 4, "100.0 % are complete"), (96, 3, "100.0 % end where")):
        write_arm(path, elf, copied)
        done = fresh.run([os.environ["PERFRAY"], "script", "-F", "ip,sym", path], folder)
        found = [tuple(line.split()) for line in done.stdout.decode().splitlines() if line.strip()]
        wanted = [("%x" % address, name) for address, name in frames[:count]]
        if found != wanted or word not in done.stderr.decode():
            raise Failed("of %d bytes: %s, wanted %s\n%s" % (copied, found, wanted, done.stderr.decode()))
    return "4 frames, 3 of a copy that is cut"


def main(names):
    checks = {name: lambda folder, name=name: check(folder, name) for name in PROGRAMS}
    checks["aarch64"] = check_arm
    return fresh.attempt_all("script/unwind", checks, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
