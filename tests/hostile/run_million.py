#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_million.py - checks that one bad record among a million loses only that record.

usage: run_million.py [--samples N]

Environment: PERFRAY, the command.

A recording of N samples is made here, and the sample in the middle is damaged in each way of KINDS. `info --stats` must count
at least N - 1 samples, report the byte of the damage, and end with status 4. Also, with a data size of 0, and in a file cut
in half, every complete record must be kept; and a file that shrinks while it is read must be an error.
"""
import argparse
import array
import os
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

SAMPLE, HEADER, ATTR = 40, 104, 128
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8  # IP, TID, TIME, PERIOD
DATA = HEADER + 8 + ATTR + 16
ENDS_PARTIAL = 4


def sound(samples):
    """A file whose samples differ in ip and time."""
    attr = struct.pack("<IIQQQQQ", 1, ATTR, 0, 4000, SAMPLE_TYPE, 0, 0).ljust(ATTR, b"\0")
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", HEADER, ATTR + 16, HEADER + 8, ATTR + 16, DATA, samples * SAMPLE, 0, 0)
    words = array.array("Q", struct.pack("<IHHQIIQQ", 9, 2, SAMPLE, 0, 7, 7, 0, 1)) * samples
    words[1::5] = array.array("Q", range(0x400000, 0x400000 + samples))
    words[3::5] = array.array("Q", range(1000000, 1000000 + samples))
    if sys.byteorder == "big":
        raise SystemExit("run_million.py: numbers are made in this machine's order, which must be little-endian")
    return bytearray(header.ljust(HEADER, b"\0") + struct.pack("<Q", 1) + attr + struct.pack("<QQ", HEADER, 8) +
                     words.tobytes())


def size_of(size):
    return lambda record: struct.pack_into("<H", record, 6, size)


def fill(byte):
    def make(record):
        record[:] = bytes([byte]) * SAMPLE
    return make


def type_and_size(kind, size):
    return lambda record: struct.pack_into("<IHH", record, 0, kind, 2, size)


def noise(record):
    record[:] = bytes(random.Random(1).randrange(256) for _ in range(SAMPLE))


KINDS = {
    "size 0": size_of(0), "size 7": size_of(7), "size of a header": size_of(8), "size odd": size_of(SAMPLE + 3),
    "size one word more": size_of(SAMPLE + 8), "size one word less": size_of(SAMPLE - 8),
    "size of two records": size_of(2 * SAMPLE), "size of a thousand records": size_of(1000 * SAMPLE),
    "size the most": size_of(65535), "type and size wrong": type_and_size(0xdeadbeef, SAMPLE + 16),
    "type of another record": type_and_size(10, SAMPLE), "zeros": fill(0), "ones": fill(255), "noise": noise,
}


class Run:
    def __init__(self, path):
        done = harness.perfray("info", "--stats", path)
        found = re.search(r"^ *SAMPLE events: *([0-9]+)", done.stdout.decode(), re.M)
        self.samples = int(found.group(1)) if found else 0
        self.status, self.said = done.returncode, done.stderr.decode()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def report(name, wrong, figures):
    harness.result("hostile/million %s (%s)" % (name, figures), wrong)


def one_bad(path, data, samples, name, make):
    """Restores the original bytes afterwards."""
    at = DATA + samples // 2 * SAMPLE
    kept = bytes(data[at:at + SAMPLE])
    record = bytearray(kept)
    make(record)
    data[at:at + SAMPLE] = record
    write(path, data)
    data[at:at + SAMPLE] = kept
    run = Run(path)
    wrong = ""
    if run.samples not in (samples - 1, samples):
        wrong = "%d are missing" % (samples - run.samples)
    elif run.status != ENDS_PARTIAL or "byte %d" % at not in run.said:
        wrong = "status %d, said: %s" % (run.status, run.said.strip())
    return report(name, wrong, "%d of %d samples" % (run.samples, samples))


def size_zero(path, data, samples):
    write(path, data[:48] + bytes(8) + data[56:])
    run = Run(path)
    wrong = "" if run.samples == samples and run.said else "status %d, said: %s" % (run.status, run.said.strip())
    return report("data size 0", wrong, "%d of %d samples" % (run.samples, samples))


def cut(path, data, samples):
    end = DATA + samples // 2 * SAMPLE + 12
    write(path, data[:end])
    run = Run(path)
    wrong = "" if run.samples == samples // 2 and run.status == ENDS_PARTIAL else "status %d" % run.status
    return report("cut in half", wrong, "%d of %d whole samples" % (run.samples, samples // 2))


def shrinking(path, data):
    """The file is truncated while dump waits for its reader."""
    write(path, data)
    dump = subprocess.Popen([harness.PERFRAY, "dump", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    dump.stdout.read(4096)
    os.truncate(path, len(data) // 2)
    while dump.stdout.read(1 << 20):
        pass
    said, status = dump.stderr.read().decode(), dump.wait()
    wrong = "" if status > 0 and "changed while it was read" in said else "said: " + said.strip()
    return report("a file that shrinks while it is read", wrong, "status %d" % status)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1000000)
    options = parser.parse_args()
    data = sound(options.samples)
    with harness.scratch("million") as folder:
        path = os.path.join(folder, "recording")
        for name, make in KINDS.items():
            one_bad(path, data, options.samples, name, make)
        size_zero(path, data, options.samples)
        cut(path, data, options.samples)
        shrinking(path, data)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
