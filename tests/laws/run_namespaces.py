#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_namespaces.py - checks that a recording made inside a pid namespace has the same thread states as one made outside.

usage: run_namespaces.py FIXTURES

Environment: PERFRAY, the command. In the recording of waits.c, the thread ids in the raw bytes of the scheduler's tracepoints are
changed, as in a namespace: first they are increased by a constant; then the ids of the recording's threads are permuted, so that
each id inside is another thread's id outside. `offcpu` must print the same as for the original recording. Threads without samples
keep the id of the raw bytes.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

SAMPLE, DATA, COMMON_PID = 9, 40, 4
NUMBERS = {"sched_switch": (COMMON_PID, 24, 56), "sched_waking": (COMMON_PID, 24)}  # positions of fields in the raw bytes
RAW_BYTES = {"sched_switch": 64}  # minimum; waking has fewer
SHIFT = 1000000


def samples(data):
    """Offset of the raw bytes, offset of the tid, for each sample; RAW is the last field."""
    at, size = struct.unpack_from("<QQ", data, DATA)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == SAMPLE:
            raw = next(p for p in range(at + 8, at + length - 8, 4) if p + 4 + struct.unpack_from("<I", data, p)[0] == at + length)
            yield raw + 4, length - (raw + 4 - at), at + 8 + 8 + 4
        at += length


def renumbered(data, numbers):
    """`numbers` maps a thread's id inside to its id outside."""
    made = bytearray(data)
    for raw, length, _ in samples(data):
        name = "sched_switch" if length >= RAW_BYTES["sched_switch"] else "sched_waking"
        for place in NUMBERS[name]:
            inside, = struct.unpack_from("<I", data, raw + place)
            struct.pack_into("<I", made, raw + place, numbers(inside))
    return bytes(made)


def states(path, fixtures):
    done = harness.perfray("offcpu", "--format=csv", "--symfs", os.path.join(fixtures, "recorded", "waits-root"), "--kallsyms",
                           os.path.join(fixtures, "recorded", "waits.kallsyms"), path)
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.decode().splitlines())


def check(fixtures, folder, numbers, back):
    path = os.path.join(fixtures, "recorded", "waits.data")
    with open(path, "rb") as file:
        data = file.read()
    made = os.path.join(folder, "inside.data")
    with open(made, "wb") as file:
        file.write(renumbered(data, numbers(data)))
    expected, got = states(path, fixtures), sorted(back(line) for line in states(made, fixtures))
    harness.must(len(expected) > 20, "few rows: %d" % len(expected))
    wrong = [pair for pair in zip(expected, got) if pair[0] != pair[1]]
    harness.must(not wrong, "must be %s, is %s" % (wrong or [("", "")])[0])
    harness.must(len(expected) == len(got), "%d rows, must be %d" % (len(got), len(expected)))


def larger(_):
    return lambda number: number + SHIFT if number else 0


def smaller_again(line):
    """The values of the columns pid, tid and waker_tid."""
    words = line.split(",")
    for at in (1, 2, len(words) - 2):
        if words[at].isdigit() and int(words[at]) > SHIFT:
            words[at] = str(int(words[at]) - SHIFT)
    return ",".join(words)


def in_turn(data):
    own = sorted({struct.unpack_from("<I", data, tid)[0] for _, _, tid in samples(data)} - {0, 0xffffffff})
    assert len(own) > 3
    return lambda number: own[(own.index(number) + 1) % len(own)] if number in own else number


def main():
    fixtures = sys.argv[1]
    with harness.scratch("namespaces") as folder:
        harness.attempt("namespaces/in-turn", check, fixtures, folder, in_turn, lambda line: line)
        harness.attempt("namespaces/larger", check, fixtures, folder, larger, smaller_again)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
