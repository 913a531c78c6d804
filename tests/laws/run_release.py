#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_release.py - each command names kernel addresses of a stream by its recorded release.

Environment: PERFRAY, the command.

A stream has no build id of the kernel: the running kernel names its addresses if the recorded release (feature
OSRELEASE) is that of the running kernel. The stream made here has samples in functions of /proc/kallsyms. Every command
that prints names must print all these names; with another release, no command may print any of them. The feature comes
before the samples, and in a second stream after them.
"""
import collections
import gzip
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

KALLSYMS = "/proc/kallsyms"
FUNCTIONS = 12
FEATURE, ATTR, MMAP, COMM, SAMPLE = 80, 64, 1, 3, 9
OSRELEASE = 4
KERNEL, PID, PERIOD = 1, 4242, 1000
VERBS = (["report", "--no-pager", "-s", "sym"], ["report", "--no-pager", "-s", "sym", "-g"], ["report", "--format=json"], ["script", "-F", "ip,sym"],
         ["export"], ["export", "--format=speedscope"], ["export", "--format=pprof"], ["flame"], ["symbols", "--no-pager"],
         ["sql", "-q", "select distinct symbol from sample_text"], ["annotate", "--no-pager", "--format=csv", "--top", "3"], ["graph", "--format=mermaid"])
OF_FEW = ("annotate", "graph")  # these commands print only the largest functions


def functions():
    """(address, name) of some functions whose name and address occur once; empty if the addresses are hidden."""
    with open(KALLSYMS, encoding="ascii") as lines:
        symbols = [line.split()[:3] for line in lines]
    names, addresses = (collections.Counter(symbol[column] for symbol in symbols) for column in (2, 0))
    once = [(int(address, 16), name) for address, kind, name in symbols if kind in "tT" and int(address, 16) and re.fullmatch(r"[a-z][a-z_]{8,40}", name)
            and names[name] == 1 and addresses[address] == 1 and "%016x" % (int(address, 16) + 1) not in addresses]
    return once[::max(1, len(once) // FUNCTIONS)][:FUNCTIONS]


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def stream(places, release, is_late):
    attr = struct.pack("<IIQQQQQ", 1, 64, 0, 4000, 0x107, 0, 1) + bytes(16)  # IP, TID, TIME, PERIOD
    text = release.encode() + bytes(64 - len(release))
    feature = record(FEATURE, 0, struct.pack("<QI", OSRELEASE, len(text)) + text)
    kernel = record(MMAP, KERNEL, struct.pack("<IIQQQ", 0xffffffff, 0, 0xffffffff80000000, 0x7fffffff, 0) + b"[kernel.kallsyms]_text\0")
    body = b"".join(record(SAMPLE, KERNEL, struct.pack("<QIIQQ", address + 1, PID, PID, 1000 * (n + 1), PERIOD)) for n, (address, _) in enumerate(places))
    comm = record(COMM, 0, struct.pack("<II", PID, PID) + b"made\0")
    head = struct.pack("<8sQ", b"PERFILE2", 16) + record(ATTR, 0, attr)
    return head + (b"" if is_late else feature) + kernel + comm + body + (feature if is_late else b"")


def printed(verb, path):
    done = harness.perfray(*verb, *(["-o", "-"] if verb[0] in ("export", "flame") else []), "--", path)
    is_refusal = verb[0] == "annotate" and done.returncode == 2  # no function has a name
    harness.must(done.returncode in (0, 3, 4) or is_refusal, "%s: status %d: %s" % (" ".join(verb), done.returncode, done.stderr.decode()))
    out = done.stdout
    if out[:2] == b"\x1f\x8b":
        out = gzip.decompress(out)
    return out.decode("utf-8", "replace")


def check(folder, places, release, is_late, is_named):
    path = os.path.join(folder, "made.data")
    with open(path, "wb") as file:
        file.write(stream(places, release, is_late))
    for verb in VERBS:
        if verb[0] == "script" and is_late:
            continue  # prints each sample when it arrives
        text = printed(verb, path)
        there = [name for _, name in places if name in text or verb[0] == "symbols" and "100.0 % have names" in text]
        wanted = 1 if verb[0] in OF_FEW else len(places)
        harness.must(len(there) >= wanted if is_named else not there,
                     "%s: names %d of %d functions: %s" % (" ".join(verb), len(there), len(places), text[:400]))
    return "%d functions, %d verbs" % (len(places), len(VERBS))


def main():
    places = functions()
    if not places:
        print("skip release/names the addresses of %s are hidden" % KALLSYMS)
        return 77
    running = os.uname().release
    with harness.scratch("release") as folder:
        for is_late in (False, True):
            where = "after" if is_late else "before"
            harness.attempt("release/running_%s" % where, check, folder, places, running, is_late, True)
            harness.attempt("release/other_%s" % where, check, folder, places, running + "x", is_late, False)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
