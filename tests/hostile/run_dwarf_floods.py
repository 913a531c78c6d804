#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_dwarf_floods.py - checks that time and memory for reading DWARF depend only on the size of the object, not on its contents.

usage: run_dwarf_floods.py [--show]

Environment: PERFRAY, the command. Each recording has 20 sound objects of 50 functions with a sample each, and one object of DWARF_FLOODS (flood_objects.py),
whose debug information would take much more time than its size allows. Requirements for every command that looks up lines or inlined functions: each function
of the 20 objects has its name. If a limit was reached, the exit status is 4 and stderr names the limit; otherwise the status is 0 and stderr is empty. The
command takes at most DWARF_SECONDS of CPU time. -j 1 and -j 3 print the same bytes if the object's budget does not depend on the order.
"""
import argparse
import os
import re
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import flood_objects  # noqa: E402

GOOD, FUNCTIONS, EACH = 20, 50, 16
HOSTILE = "/opt/hostile/libflood.so"
MOST = 160 << 20
SECONDS = 30
MEGABYTE = 1 << 20


def good(number):
    text, symbols = b"\0", []
    for k in range(FUNCTIONS):
        symbols.append((len(text), flood_objects.BASE + EACH * k, EACH))
        text += good_name(number, k).encode() + b"\0"
    return flood_objects.elf(symbols, text, EACH * FUNCTIONS)


def good_name(number, k):
    return "sound_%02d_%02d" % (number, k)


def inlined(count=2000):
    """Functions with short names, whose inlined functions share one long name."""
    text, symbols = b"\0", []
    for k in range(count):
        symbols.append((len(text), flood_objects.BASE + EACH * k, EACH))
        text += b"f%d\0" % k
    return count, flood_objects.elf(symbols, text, EACH * count, flood_objects.inlined(count, b"n" * MEGABYTE + b"\0"))


def lined(count, sections, code=0):
    """Functions with unique names, and DWARF."""
    text, symbols = b"\0", []
    for k in range(count):
        symbols.append((len(text), flood_objects.BASE + EACH * k, EACH))
        text += b"f%d\0" % k
    return count, flood_objects.elf(symbols, text, max(code, EACH * count), sections)


INLINED, SUBPROGRAM = 0x1D, 0x2E

# Objects with DWARF, for commands that look up lines. The third value is the expected message; "": no message,
# because the object can be read in time proportional to its size.
NAMES, LINES = "names of %s" % HOSTILE, "lines of %s" % HOSTILE
DWARF_FLOODS = {
    "units that share a long text":
        (lambda: lined(1000, flood_objects.shared_text(200000, b"n" * (MEGABYTE - 1)), EACH * 200000), True, ""),
    "files that share a long text":
        (lambda: lined(1000, flood_objects.shared_files(400000, b"n" * (MEGABYTE - 1), EACH * 1000)), True, ""),
    "inlined functions that share a long text": (lambda: inlined(80000), False, NAMES),
    "entries without attributes":
        (lambda: lined(10, flood_objects.empty_entries(4 << 20, EACH * 10, SUBPROGRAM)), True, ""),
    "inlined entries without attributes":
        (lambda: lined(10, flood_objects.empty_entries(8 << 20, EACH * 10, INLINED)), True, ""),
    "inlined entries that have children alone":
        (lambda: lined(10, flood_objects.empty_entries(8 << 20, EACH * 10, INLINED, True)), False, LINES),
    "entries of attributes without bytes":
        (lambda: lined(10, flood_objects.empty_entries(1 << 20, EACH * 10, SUBPROGRAM, False, 100000)), True, ""),
    "sections that are one damaged stream":
        (lambda: lined(10, flood_objects.packed_again(50, b".zdebug_info", 40 * MEGABYTE)), True, ""),
}
DWARF_VERBS = {
    "script srcline": ["script", "--no-pager", "-F", "ip,sym,srcline"],
    "script --inline": ["script", "--no-pager", "--inline", "-F", "ip,sym"],
    "report srcline": ["report", "--no-pager", "-s", "dso,sym,srcline"],
}
DWARF_SECONDS = 3  # CPU time


class Wrong(Exception):
    pass


def write(root, path, body):
    at = root + path
    os.makedirs(os.path.dirname(at), exist_ok=True)
    with open(at, "wb") as file:
        file.write(body)


def make(root, flood, chains):
    count, body = flood()
    write(root, HOSTILE, body)
    objects = [(HOSTILE, [flood_objects.BASE + EACH * k + 1 for k in range(count)])]
    for number in range(GOOD):
        path = "/opt/sound/lib%02d.so" % number
        write(root, path, good(number))
        objects.insert(number % 2 * len(objects), (path, [flood_objects.BASE + EACH * k + 1 for k in range(FUNCTIONS)]))
    with open(root + "/perf.data", "wb") as file:
        file.write(flood_objects.recording(objects, chains))
    return count + GOOD * FUNCTIONS


def run(words, root, more=()):
    began = time.monotonic()
    done = harness.perfray(*words, *more, "--no-cache", "--symfs", root, root + "/perf.data",
                           timeout=4 * SECONDS, env={"HOME": root, "PATH": os.environ["PATH"], "LC_ALL": "C"})
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), time.monotonic() - began


def judge_dwarf(samples, reported, answer, used):
    """The defects of a run, as sentences. If `reported` is "", nothing may be reported; otherwise this text must be reported, with status 4."""
    status, out, said, _ = answer
    wrong = []
    if (status, said != "") != ((4, True) if reported else (0, False)) or reported not in said:
        wrong.append("status %d, %s" % (status, said.strip()[-300:]))
    if len(out) > MOST or used > DWARF_SECONDS:
        wrong.append("%d bytes in %.1f s" % (len(out), used))
    lost = GOOD * FUNCTIONS - len(set(re.findall(rb"sound_\d\d_\d\d", out)))
    if lost:
        wrong.append("%d sound functions are missing of %d samples" % (lost, samples))
    return wrong


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def attempt_dwarf(name, flood, is_one, reported, show):
    wrong = []
    with harness.scratch("dwarf-floods") as root:
        samples = make(root, flood, True)
        for verb, words in DWARF_VERBS.items():
            before = processor_seconds()
            answer = run(words, root)
            used = processor_seconds() - before
            wrong += ["%s: %s" % (verb, what) for what in judge_dwarf(samples, reported, answer, used)]
            if show:
                print("# %s: %s: status %d, %d bytes, %.2f s, %s" % (name, verb, answer[0], len(answer[1]), used,
                                                                      answer[2].strip()[:200]))
            if is_one and verb == "script --inline" and run(words, root, ("-j", "3"))[:3] != run(words, root, ("-j", "1"))[:3]:
                wrong.append("%s: -j 1 and 3 give different answers" % verb)
    return wrong


def tell(name, wrong):
    harness.result("hostile/dwarf_floods " + name, wrong)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    for name, (flood, is_one, reported) in DWARF_FLOODS.items():
        tell(name, attempt_dwarf(name, flood, is_one, reported, options.show))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
