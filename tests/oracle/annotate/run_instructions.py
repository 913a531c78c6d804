#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_instructions.py STARTS - checks that instructions of installed objects begin where objdump's do.

STARTS is disasm_starts. Parts of the code of libc and libstdc++ are compared; with PERFRAY_LONG all of their code, and that of the largest object on this
machine. A difference must begin at an instruction that the library does not know (LISTED; any instruction in data between functions).
"""
import collections
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "..", "support"), os.path.join(HERE, "..", "script")]
import harness  # noqa: E402
import made  # noqa: E402

LONG = bool(os.environ.get("PERFRAY_LONG"))
PART = 1 << 18
ROW = re.compile(r"^ *([0-9a-f]+):\t([^ \n]*)", re.M)
# Shadow stacks, protection keys, waiting, and instructions that objdump does not know; not AVX-512, whose sizes are known.
LISTED = re.compile(r"^(rdssp\w|incssp\w|saveprevssp|rstorssp|rdpkru|wrpkru|tpause|umwait|umonitor|serialize|\(bad\)|\.byte|rex\S*|data16)$")
WINDOWS = 24


def code_of(path):
    """(offset, address, size) of the executable section .text."""
    for line in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout.splitlines():
        found = re.match(r" *\[ *\d+\] \.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", line)
        if found:
            address, offset, size = (int(word, 16) for word in found.groups())
            return offset, address, size
    raise harness.Wrong("%s has no .text" % path)


def ours(starts, path, offset, address, size):
    done = subprocess.run([starts, "x86-64", "%#x" % address, path, str(offset), str(size)], capture_output=True, text=True, check=False)
    harness.must(done.returncode == 0, "disasm_starts: status %d" % done.returncode)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {int(row[0], 16) for row in rows}, sum(len(row) > 1 for row in rows)


def theirs(path, address, size):
    done = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-j", ".text", "--start-address=%d" % address, "--stop-address=%d" % (address + size), path],
                          capture_output=True, text=True, check=True)
    return [(int(at, 16), name) for at, name in ROW.findall(done.stdout)]


def compare(starts, path, offset, address, size, differences):
    mine, unknown = ours(starts, path, offset, address, size)
    listed = theirs(path, address, size)
    known = {at for at, _ in listed}
    before = ""
    for i, (at, name) in enumerate(listed):
        end = listed[i + 1][0] if i + 1 < len(listed) else address + size
        if at in mine and not any(inner in mine for inner in range(at + 1, end)):
            before = name
            continue
        differences[name if at in mine else before + " before"] += 1
        before = name
    return len(known), unknown


def check(starts, path):
    offset, address, size = code_of(path)
    differences, rows, unknown = collections.Counter(), 0, 0
    step = max(PART, size // (size // PART + 1 if LONG and size < 1 << 26 else WINDOWS if LONG else 2))
    step -= step % 16
    for at in range(0, size, step):
        part = min(step if LONG and size < 1 << 26 else PART, size - at)
        more, bad = compare(starts, path, offset + at, address + at, part, differences)
        rows += more
        unknown += bad
    wrong = {name: times for name, times in differences.items() if not LISTED.match(name.split()[0]) and not name.endswith(" before")}
    harness.must(not wrong, "%s: %s" % (path, dict(collections.Counter(wrong).most_common(8))))
    frequent = ", ".join("%s %d" % pair for pair in differences.most_common(6))
    return "%d instructions, %d bytes not known; differences: %s" % (rows, unknown, frequent or "no")


def largest():
    found = [path for pattern in ("/usr/lib/chromium/chromium", "/usr/lib/firefox-esr/libxul.so", "/usr/lib/x86_64-linux-gnu/libLLVM*.so*") for path in glob.glob(pattern)]
    return max(found, key=os.path.getsize) if found else None


def main():
    if os.uname().machine != "x86_64" or not harness.installed("objdump"):
        harness.skip("instructions", "needs objdump of x86-64")
        return harness.status()
    paths = [os.path.realpath(found[0]) for found in (glob.glob("/lib/x86_64-linux-gnu/libc.so.6"), glob.glob("/usr/lib/x86_64-linux-gnu/libstdc++.so.6")) if found]
    if LONG and largest():
        paths.append(os.path.realpath(largest()))
    for path in paths:
        harness.attempt("instructions/" + os.path.basename(path).split(".so")[0], check, sys.argv[1], path)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
