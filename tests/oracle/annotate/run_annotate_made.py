#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_annotate_made.py - tests `perfray annotate` for code that is not in the object at its address, and for another machine.

kernel      a kernel that was loaded at other addresses than in its file: instructions begin where objdump's do, at the addresses where it ran
builds      the code of another kernel's file is not shown
jit         code in a jitdump: instructions are those that objdump finds in the dump's bytes
aarch64     a program in QEMU that logs every instruction: counts are those of the log, instructions begin where objdump's do
"""
import collections
import csv
import glob
import io
import os
import re
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "..", "support"), os.path.join(HERE, "..", "script")]
import harness  # noqa: E402
import made  # noqa: E402

PERFRAY = os.environ["PERFRAY"]
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t", re.M)
BUILD_ID_HERE = 1 << 14
KERNEL = 1
FILE_BASE, RAN_AT = 0xffffffff81000000, 0xffffffff9a200000

KERNEL_SOURCE = """
__attribute__((noinline)) unsigned work(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s = (s ^ i) * 3; return s; }
void _start(void) { for (;;) work(1000); }
"""
ARM_SOURCE = """
#include <stdio.h>
__attribute__((noinline)) unsigned mix(unsigned n) {
    unsigned s = 0;
    for (unsigned i = 0; i < n; i++) {
        if (i & 3)
            s += i * 7;
        else
            s ^= s >> 3;
    }
    return s;
}
int main(void) {
    unsigned t = 0;
    for (unsigned i = 0; i < 60; i++)
        t += mix(i);
    printf("%u\\n", t);
    return 0;
}
"""


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME="/dev/null"), **more)


def listing(*words):
    done = run(PERFRAY, "annotate", "--format=csv", *words)
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def counts_of(rows):
    return {int(row["address"], 16): int(row["samples"]) for row in rows if row["samples"] != "0"}


def starts_of(program, first, end, objdump="objdump"):
    done = run(objdump, "-d", "--start-address=%d" % first, "--stop-address=%d" % end, program)
    return [int(address, 16) for address in INSTRUCTION.findall(done.stdout)]


def symbol_of(program, name, nm="nm"):
    for line in run(nm, "-S", program).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == name:
            return int(words[0], 16), int(words[1], 16)
    raise harness.Wrong("no symbol " + name)


# --- The kernel.

def build_kernel(folder, name, *flags):
    source, program = os.path.join(folder, name + ".c"), os.path.join(folder, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(KERNEL_SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-ffreestanding", "-nostdlib", "-static", "-no-pie", "-fno-pie", "-mcmodel=kernel", "-Wl,--build-id",
                    "-Wl,-Ttext=%#x" % FILE_BASE, *flags, "-o", program, source], check=True)
    notes = run("readelf", "-n", program).stdout
    return program, bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))


def kernel_recording(path, build_id, addresses):
    body = struct.pack("<iIQQQB3x20sII", -1, 0, RAN_AT, 0x200000, RAN_AT, len(build_id), build_id, 5, 0)
    records = [(made.MMAP2, KERNEL | BUILD_ID_HERE, body + made.padded(b"[kernel.kallsyms]_text") + made.tail(0)), made.comm("seven", 1)]
    for i, address in enumerate(addresses):
        kind, _, sample = made.sample(address, 2 + i)
        records.append((kind, KERNEL, sample))
    made.write_file(path, records)


def check_kernel(folder):
    program, build_id = build_kernel(folder, "kernel")
    data = os.path.join(folder, "kernel.data")
    start, size = symbol_of(program, "work")
    starts, shift = starts_of(program, start, start + size), RAN_AT - FILE_BASE
    wanted = {address + shift: 1 + i for i, address in enumerate(starts)}
    kernel_recording(data, build_id, [address for address, times in wanted.items() for _ in range(times)])
    rows, messages = listing("-k", program, "work", data)
    wrong = [] if [int(row["address"], 16) - shift for row in rows] == starts and not messages else ["%s, objdump %s %s" % (rows[:2], starts[:4], messages)]
    if counts_of(rows) != wanted or not all(row["instruction"] and row["line"] == "2" for row in rows):
        wrong.append("counts %s" % counts_of(rows))
    harness.result("annotate_made/kernel", wrong)
    other, _ = build_kernel(folder, "other", "-DOTHER", "-O2")
    rows, messages = listing("-k", other, data, "0x%x" % (start + shift))
    without, _ = listing("-k", program, "--kallsyms", "/dev/null", data)
    harness.result("annotate_made/builds", ["shown: %s" % rows[:2]] if any(row["instruction"] for row in rows + without) else [])


# --- JIT.

def codes_of(dump):
    """Name, address and bytes of every LOAD of a little-endian jitdump."""
    with open(dump, "rb") as file:
        data = file.read()
    at = struct.unpack_from("<I", data, 8)[0]
    while at + 16 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0:
            address, length = struct.unpack_from("<QQ", data, at + 32)
            name = data[at + 56:data.index(b"\0", at + 56)].decode()
            yield name, address, data[at + size - length:at + size]
        at += size


def objdump_texts(folder, code, address):
    path = os.path.join(folder, "code.bin")
    with open(path, "wb") as file:
        file.write(code)
    return [int(found, 16) for found in
            INSTRUCTION.findall(run("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "--adjust-vma=%d" % address, path).stdout)]


def check_jit(folder):
    program, data = os.path.join(folder, "jit_moves"), os.path.join(folder, "jit.data")
    subprocess.run(["gcc", "-O1", "-o", program, os.path.join(HERE, "..", "script", "programs", "jit_moves.c")], check=True)
    recorded = run("perf", "record", "-q", "-k", "mono", "-e", "cpu-clock:u", "-F", "1999", "-o", data, program, "0.1", cwd=folder)
    dumps = glob.glob(os.path.join(folder, "jit-*.dump"))
    if recorded.returncode != 0 or not dumps:
        harness.skip("annotate_made/jit", "perf records nothing here")
        return
    wrong, compared = [], 0
    for name, address, code in codes_of(dumps[0]):
        rows, messages = listing("--top", "1", name, data)
        if not rows:
            continue
        compared += 1
        starts = [int(row["address"], 16) for row in rows]
        if starts != objdump_texts(folder, code, starts[0])[:len(starts)] or messages or not all(row["instruction"] for row in rows):
            wrong.append("%s: %s %s" % (name, rows[:2], messages))
    if not compared:
        wrong.append("no code has samples")
    os.truncate(dumps[0], os.path.getsize(dumps[0]) // 2)
    done = run(PERFRAY, "annotate", "--top", "99", data)
    if done.returncode not in (0, 2, 4):
        wrong.append("half a dump: status %d" % done.returncode)
    harness.result("annotate_made/jit", wrong)


# --- Another machine.

def lines_of(program, addresses):
    done = run("addr2line", "-e", program, *("%x" % address for address in addresses))
    return [line.rsplit(":", 1)[-1].split()[0] for line in done.stdout.splitlines()]


def check_arm(folder):
    needed = ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", "qemu-aarch64")
    missing = [name for name in needed if not shutil.which(name)]
    if missing:
        harness.skip("annotate_made/aarch64", "%s is not installed" % missing[0])
        return
    source, program, log, data = (os.path.join(folder, name) for name in ("arm.c", "arm", "arm.log", "arm.data"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(ARM_SOURCE)
    subprocess.run([needed[0], "-g", "-O1", "-static", "-Wl,--build-id", "-o", program, source], check=True)
    run(needed[2], "-singlestep", "-d", "exec,nochain", "-D", log, program)
    with open(log, encoding="utf-8") as file:
        executed = [int(line.split("/")[1], 16) for line in file if line.startswith("Trace")]
    records = [made.comm("arm", 1)]
    for offset, address, filled, _, flags in made.loads_of(program):
        if flags & 1:
            records.append(made.map_of(program, address & ~made.PAGE, (filled + 0x1fff) & ~made.PAGE, offset & ~made.PAGE, 1))
    records += [made.sample(address, 2 + i) for i, address in enumerate(executed)]
    made.write_file(data, records)
    wrong, times = [], collections.Counter(executed)
    for name in ("mix", "main", "_IO_vfprintf_internal", "__vfprintf_internal", "memcpy", "strlen"):
        rows, messages = listing("--top", "1", name, data)
        if not rows:
            continue
        starts = [int(row["address"], 16) for row in rows]
        if starts != starts_of(program, starts[0], starts[-1] + 4, needed[1]) or messages:
            wrong.append("%s: instructions %s" % (name, messages))
        if counts_of(rows) != {address: times[address] for address in starts if times[address]}:
            wrong.append("%s: counts" % name)
        if name == "mix":
            wrong += ["line of %s is %s" % (row["address"], row["line"]) for row, line in zip(rows, lines_of(program, starts)) if row["line"] != line]
    rows, _ = listing("mix", data)
    if sum(counts_of(rows).values()) < 1000:
        wrong.append("the log has no loop")
    harness.result("annotate_made/aarch64", wrong)


def main():
    with harness.scratch("annotate-made") as folder:
        check_kernel(folder)
        if shutil.which("perf"):
            check_jit(folder)
        else:
            harness.skip("annotate_made/jit", "perf is not installed")
        check_arm(folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
