#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_unwind.py - tests stacks unwound from copied registers and stack memory, in recordings made by the test.

usage: run_unwind.py [NAME...]
       run_unwind.py --recording FILE...

Environment: PERFRAY, the command; PERFRAY_LONG: all of PROGRAMS instead of QUICK. Programs are built from tests/oracle/script/programs in a temporary folder
and recorded by the installed perf with `--call-graph dwarf`, most at fixed addresses (docs/differences.md, tables-of-ended-images). Three requirements:
- each sample equals perf's, except for differences listed in docs/differences.md; at least LEAST_ALIKE of all samples are equal. If perf unwound a stack
  with the tables of an image that exec replaced, ours must equal perf's stack after the records of such images were removed;
- each sample in a function that the program announced has the announced callers; other frames may be between them;
- if every first access to a page is sampled, stack copies and frame pointers give the same paths equally often.

With --recording, the first requirement is checked for existing recordings, only by address and object, because this machine may not have the files for
names.
"""
import ctypes
import os
import re
import struct
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import ended_images
import fresh
import made
import script_rules
from fresh import Skip, Wrong

LEAST_ALIKE = 0.995
LEAST_SAMPLES = 50
MILLISECONDS = "15"
FIXED_ADDRESSES = 0x0040000
FRAME = re.compile(r"\s+([0-9a-f]+) (.*?) ?\((.*)\)$")
CXX, CLANG = ("g++", "c++"), ("clang++-14", "clang++-19", "clang++")
LIBRARIES = (("near.so", "-O1"), ("far.so", "-O1", "-DROOM=3000"), ("bare.so", "-O2", "-s"), ("pointer.so", "-O0", "-fno-omit-frame-pointer"),
             ("debug.so", "-O1", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"))
# name: compilers, their options, recording options
PROGRAMS = {
    "gcc": (CXX, ("-O2",), ()), "gcc_O0": (CXX, ("-O0",), ()), "gcc_Os": (CXX, ("-Os",), ()), "clang": (CLANG, ("-O2",), ()),
    "static": (CXX, ("-O1", "-static-pie"), ()), "fixed": (CXX, ("-O2", "-no-pie"), ()),
    "copies_of_1k": (CXX, ("-O2",), (",1024",)),
}
QUICK = ("copies_of_1k",)
APART = ("fixed", "gcc_O0")  # programs with the .debug_frame of debug.so in a separate file


def fix_addresses():
    ctypes.CDLL(None).personality(FIXED_ADDRESSES)


def record(folder, output, copies, words, prepare=fix_addresses):
    fresh.need("perf")
    done = fresh.run(["perf", "record", "-N", "-q", "-o", output, "-e", "cpu-clock", "-F", "4000", "-m", "4M", "--call-graph",
                      "dwarf" + copies, "--", *words], folder, preexec_fn=prepare)
    if not os.path.exists(os.path.join(folder, output)):
        raise Skip("perf record: %s" % fresh.last_line(done))
    return done.stdout.decode()


def samples_of(text):
    return [block for block in fresh.blocks_of(text) if block and block[0].strip()]


def without_names(block):
    """The frames of the sample as address and object."""
    return block[:1] + [FRAME.sub(r"\t\1 (\3)", frame) for frame in block[1:]]


def addresses(frames):
    return [int(found[1], 16) for found in map(FRAME.match, frames) if found]


def is_return_of_signal(theirs, ours):
    """One frame from whose address perf subtracted one."""
    if len(theirs) != len(ours):
        return False
    apart = [(a, b) for a, b in zip(theirs, ours) if a != b]
    return len(apart) == 1 and [a + 1 for a in addresses(apart[0][:1])] == addresses(apart[0][1:])


def is_nowhere(frames):
    return len(frames) == 1 and addresses(frames) == [2 ** 64 - 1]


def is_known(frame):
    """Whether there is a file for the object; always true for the kernel."""
    of = FRAME.match(frame)
    return bool(of) and not of[3].startswith("[") and os.path.exists(of[3])


def kind_of(theirs, ours):
    """The entry of docs/differences.md that explains the difference, or None. The frames are given without the first line of the sample."""
    same = next((i for i, pair in enumerate(zip(theirs, ours)) if pair[0] != pair[1]), min(len(theirs), len(ours)))
    if not any(map(is_known, theirs + ours)) and {len(theirs), len(ours)} == {same, same + 1}:
        return "stacks-without-files"
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


def perf_samples(folder, recording, fields, ours):
    theirs = samples_of(fresh.perf_script(folder, recording, fields))
    if [block[0] for block in theirs] != [block[0] for block in ours]:
        raise Wrong("%d samples, perf has %d, or others" % (len(ours), len(theirs)))
    return theirs


def without_ended_images(folder, recording, fields, ours):
    """perf's samples of the recording after the records of images that exec replaced were removed."""
    name = "ended.data"
    ended_images.without_ended_images(os.path.join(folder, recording), os.path.join(folder, name))
    theirs = perf_samples(folder, name, fields, ours)
    os.remove(os.path.join(folder, name))
    return theirs


def kind_with(theirs, again, ours):
    """`again`: perf's sample without ended images, or, if it was not read, perf's original sample."""
    if theirs == ours:
        return "equal"
    return "tables-of-ended-images" if again == ours else kind_of(theirs[1:], ours[1:]) or kind_of(again[1:], ours[1:])


def compare(folder, recording, fields=("-F", "comm,tid,time,event,ip,sym,dso"), has_ended=False):
    """Returns {difference: number of samples}, with the key None for unexplained differences, and the first few unexplained differences."""
    ours = samples_of(fresh.our_script(folder, recording, fields))
    theirs = perf_samples(folder, recording, fields, ours)
    again = without_ended_images(folder, recording, fields, ours) if has_ended else theirs
    if "sym" not in fields[-1]:
        ours, theirs, again = (list(map(without_names, blocks)) for blocks in (ours, theirs, again))
    kinds = list(map(kind_with, theirs, again, ours))
    apart = [pair for kind, *pair in zip(kinds, theirs, ours) if kind is None]
    shown = ["\nperf:\n%s\nperfray:\n%s" % ("\n".join(their), "\n".join(our)) for their, our in apart[:2]]
    return Counter(kinds), ours, "".join(shown)


def judge(kinds, shown):
    count = sum(kinds.values())
    if kinds[None] > (1 - LEAST_ALIKE) * count:
        raise Wrong("%d samples of %d differ%s" % (kinds[None], count, shown))
    return ", ".join("%d %s" % (number, kind or "unexplained") for kind, number in kinds.most_common())


def names_in(block, known):
    names = [found[2] for found in map(FRAME.match, block[1:]) if found]
    return [name for name in (re.sub(r"^Leaves::|\(.*| \[.*|\.cold$", "", name) for name in names) if name in known]


def check_paths(said, samples):
    """Returns how many samples were on a path that the program announced."""
    wanted = {line.split()[0]: line.split() for line in said.splitlines() if line.startswith("spin_")}
    known = {name for path in wanted.values() for name in path}
    seen = Counter()
    for block in samples:
        names = names_in(block, known)
        if not names or names[0] not in wanted or not any(name in block[-1] for name in ("_start", "execl")):
            continue
        if names != wanted[names[0]]:
            raise Wrong("said %s, found %s\n%s" % (wanted[names[0]], names, "\n".join(block)))
        seen[names[0]] += 1
    missing = set(wanted) - set(seen)
    if missing:
        raise Wrong("no sample in %s" % " ".join(sorted(missing)))
    return sum(seen.values())


def split_debug_file(folder, library):
    fresh.need("objcopy", "readelf")
    fresh.must(["objcopy", "--only-keep-debug", library, library + ".debug"], folder, "objcopy")
    fresh.must(["objcopy", "-g", "--add-gnu-debuglink=%s.debug" % library, library], folder, "objcopy -g")
    if ".debug_frame" in fresh.must(["readelf", "-SW", library], folder, "readelf").stdout.decode():
        raise Wrong("%s has its .debug_frame" % library)


def check(folder, name):
    compilers, options, copies = PROGRAMS[name]
    program = fresh.build(folder, "paths.cpp", name, *options, compiler=fresh.first_of(*compilers))
    libraries = [fresh.build(folder, "back.c", library, "-shared", "-fPIC", *more) for library, *more in LIBRARIES]
    if name in APART:
        split_debug_file(folder, "debug.so")
    said = record(folder, name + ".data", copies[0] if copies else "", [program, MILLISECONDS, *libraries])
    kinds, samples, shown = compare(folder, name + ".data")
    summary = judge(kinds, shown)
    if len(samples) < LEAST_SAMPLES:
        raise Wrong("%d samples" % len(samples))
    on_paths = 0 if copies else check_paths(said, samples)
    return "%d samples, %d on known paths, %s" % (len(samples), on_paths, summary)


def check_images(folder):
    """Processes started by a shell, each at other addresses: in perf the shell's mappings of libc remain, below or above those of the process."""
    program = fresh.build(folder, "paths.cpp", "images", "-O2", compiler=fresh.first_of(*CXX))
    library = fresh.build(folder, "back.c", "near.so", "-shared", "-fPIC", "-O1")
    command = "for i in 1 2; do %s 10 %s >said$i & done; wait" % (program, library)
    record(folder, "images.data", "", ["/bin/sh", "-c", command], None)
    kinds, samples, shown = compare(folder, "images.data", has_ended=True)
    with open(os.path.join(folder, "said1"), encoding="utf-8") as said:
        on_paths = check_paths(said.read(), samples)
    return "%d samples, %d on known paths, %s" % (len(samples), on_paths, judge(kinds, shown))


PAGES = ("-e", "page-faults:u", "-c", "1", "-m", "4M")
PATHS = {"main;rows;touch_page": 400, "main;columns;touch_pair": 300, "main;" + 4 * "down;" + "rows;touch_page": 200,
         "main;" + 21 * "down;" + "rows;touch_page": 100}  # the paths of touched_pages.c


def paths_to_pages(folder, how):
    """Returns {path from main to the function that touched a page: how often}."""
    program = fresh.build(folder, "touched_pages.c", "pages", "-O0", "-fno-omit-frame-pointer")
    fresh.record(folder, how + ".data", (*PAGES, "--call-graph", how), [program])
    words = [harness.PERFRAY, "export", "--format=folded", "-o", how + ".folded", how + ".data"]
    done = fresh.run(words, folder)
    if done.returncode != 0:
        raise Wrong("%s: %s" % (" ".join(words), fresh.last_line(done)))
    found = Counter()
    with open(os.path.join(folder, how + ".folded"), encoding="utf-8") as lines:
        for line in lines:
            stack, count = line.rsplit(" ", 1)
            names = stack.split(";")
            if "main" in names and names[-1].startswith("touch_"):
                found[";".join(names[names.index("main"):])] += int(count)
    return found


def check_pages(folder):
    by_copies, by_frames = (paths_to_pages(folder, how) for how in ("dwarf,2048", "fp"))
    if by_copies != by_frames or by_copies != PATHS:
        raise Wrong("copies of the stack say %s, frame pointers %s" % (dict(by_copies), dict(by_frames)))
    return "%d paths, %d samples in each recording, the same" % (len(by_copies), sum(by_copies.values()))


def check_recording(folder, path):
    kinds, _, shown = compare(folder, os.path.abspath(path), ("-F", "comm,tid,time,event,ip,dso"), has_ended=True)
    return "%d samples, %s" % (sum(kinds.values()), judge(kinds, shown))


# --- Another architecture: a generated recording of tests/fixtures/objects/frames-aarch64.so.

BASE, STACK, SIGNATURE = 0x5500000000, 0x7fd0000000, 0x7b2a << 48
LEAF, IN_KEEPS, IN_GROWS, IN_ENDS = 0x3e4, 0x430, 0x4f0, 0x530  # addresses in the functions of frames.c; all but the first follow calls
COPIES = 32 | 1 << 12 | 1 << 13
ALL_REGISTERS = (1 << 33) - 1


def stack_of_arm():
    """From the rows of readelf: keeps has a frame of 80 bytes, grows finds its frame with x29, ends has 16 bytes and no caller."""
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
    for copied, count, word in ((256, 4, ""), (96, 3, "100.0 % truncated")):
        write_arm(path, elf, copied)
        done = fresh.run([harness.PERFRAY, "script", "-F", "ip,sym", path], folder)
        found = [tuple(line.split()) for line in done.stdout.decode().splitlines() if line.strip()]
        wanted = [("%x" % address, name) for address, name in frames[:count]]
        messages = done.stderr.decode()  # nothing about complete stacks
        if found != wanted or word not in messages or (not word and "stacks unwound" in messages):
            raise Wrong("of %d bytes: %s, wanted %s\n%s" % (copied, found, wanted, done.stderr.decode()))
    return "4 frames, 3 of a copy that is cut"


def main(names):
    every = names or harness.LONG
    checks = {name: lambda folder, name=name: check(folder, name) for name in PROGRAMS if every or name in QUICK}
    checks |= {"images": check_images, "pages": check_pages, "aarch64": check_arm}
    if names[:1] == ["--recording"]:
        checks = {path: lambda folder, path=path: check_recording(folder, path) for path in names[1:]}
        names = ()
    return fresh.attempt_all("script/unwind", checks, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
