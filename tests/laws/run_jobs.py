#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_jobs.py - checks that outputs and reported errors do not depend on the number of threads.

usage: run_jobs.py RECORDED

Environment: PERFRAY, the command. RECORDED is the folder of recordings. A large recording is made here, of samples, maps, names and forks divided by rounds,
once with garbage in between. It and all recordings are printed with 1, 2, 4 and 9 threads and several sets of options (a quarter of them for each recording;
all with PERFRAY_LONG). Then the same is done with a full output, a closed output, and too little memory.
"""
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

JOBS = ("-j1", "-j2", "-j4", "--jobs=9")
OPTIONS = ((), ("-F", "+symoff,-period"), ("-G", "-F", "comm,tid,time,ip,sym", "--show-task-events", "--show-mmap-events"),
           ("--format=json",), ("-F", "comm,ip,sym,dso", "--time", "0.002-0.03", "--no-symbols"), ("-S", "main,sieve,0x401000"),
           ("--reltime",), ("-D",))
SECONDS = 300
MISC_USER = 2
SAMPLES = 30000
ENDS_DAMAGED, ENDS_IO = 4, 5


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    name += b"\0"
    return name + bytes(-len(name) % 8)


def make_records(damaged):
    """Samples of forty threads of four processes; after every 97th a map, a name or a fork, after every 1000th a round."""
    made, time = [], 1000
    ident = lambda pid, tid: struct.pack("<IIQ", pid, tid, time)
    for pid in range(10, 14):
        made.append(record(1, MISC_USER, struct.pack("<IIQQQ", pid, pid, 0x400000, 0x100000, 0) + text(b"/nowhere/%d" % pid) + ident(pid, pid)))
    for n in range(SAMPLES):
        time += 1000
        pid, tid = 10 + n % 4, 100 + n % 40
        made.append(record(9, MISC_USER, struct.pack("<QIIQQ", 0x400000 + n * 4099 % 0x180000, pid, tid, time - n % 3 * 500, 1)))
        if n % 97 == 0:
            made.append(record(3, 0, struct.pack("<II", pid, tid) + text(b"name%d" % n) + ident(pid, tid)))
        if n % 97 == 30:
            made.append(record(7, 0, struct.pack("<IIIIQ", pid, 10, tid, 10, time) + ident(pid, tid)))
        if n % 97 == 60:
            made.append(record(1, MISC_USER, struct.pack("<IIQQQ", pid, tid, 0x400000 + n % 7 * 0x10000, 0x10000, 0) + text(b"/lib/%d" % n) + ident(pid, tid)))
        if n % 1000 == 999:
            made.append(record(68, 0, b""))
        if damaged and n % 7000 == 6999:
            made.append(b"\xff" * 64)
    return b"".join(made)


def write_large(path, damaged):
    attr = struct.pack("<IIQQQQQ", 1, 64, 0, 4000, 0x107, 0, 1 << 18) + bytes(16)  # IP, TID, TIME, PERIOD; sample_id_all
    data = make_records(damaged)
    at = 104
    begin = at + len(attr) + 16
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", at, len(attr) + 16, at, len(attr) + 16, begin, len(data), 0, 0)
    with open(path, "wb") as out:
        out.write(header + bytes(32) + attr + bytes(16) + data)


def run(words, stdout=subprocess.PIPE, command="script"):
    done = subprocess.run([harness.PERFRAY, command, "--raw-names", *words], stdout=stdout, stderr=subprocess.PIPE,
                          timeout=SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def same(path, options):
    """The number of lines of the text, which must be the same for all numbers of threads."""
    first = run([*options, "-j1", path])
    for jobs in JOBS[1:]:
        other = run([*options, jobs, path])
        for what, one, two in zip(("status", "text", "stderr"), first, other):
            if one != two:
                raise AssertionError("%s %s: the %s of %s differs" % (os.path.basename(path), " ".join(options), what, jobs))
    return first[1].count(b"\n")


def check_large(large, *_):
    status, out, err = run(["-j4", large])
    if status != ENDS_DAMAGED or out.count(b"\n") != SAMPLES or b"no record follows" not in err:
        raise AssertionError("status %d, %d lines, %r" % (status, out.count(b"\n"), err))
    return "%d lines" % sum(same(large, options) for options in OPTIONS)


def check_recorded(_, __, folder):
    names = sorted(name for name in os.listdir(folder) if name.endswith(".data"))
    # a different quarter of the options for each recording; with PERFRAY_LONG all
    step = 1 if harness.LONG else 4
    lines = sum(same(os.path.join(folder, name), options) for number, name in enumerate(names)
                for options in OPTIONS[number % step::step])
    return "%d recordings, %d lines" % (len(names), lines)


def check_full_output(_, sound, __):
    for jobs in JOBS:
        with open("/dev/full", "wb") as full:
            status, _, err = run([jobs, sound], stdout=full)
        if status != ENDS_IO or b"No space left" not in err:
            raise AssertionError("%s: status %d, %r" % (jobs, status, err))


def check_closed_output(_, sound, __):
    for jobs in JOBS:
        reader, writer = os.pipe()
        os.close(reader)
        status, _, err = run([jobs, sound], stdout=writer)
        os.close(writer)
        if status != 0 or err:
            raise AssertionError("%s: status %d, %r" % (jobs, status, err))


def check_memory(large, *_):
    """The memory limit applies to all threads together."""
    for jobs in JOBS[1:]:
        status, _, err = run([jobs, "--limit", "memory=1000000", large])
        if status != ENDS_DAMAGED or b"limit memory" not in err:
            raise AssertionError("%s: status %d, %r" % (jobs, status, err))


def check_diff(large, sound, _):
    """The recordings of both sides are loaded at the same time, but their messages are printed in order, even if one cannot be loaded."""
    shown = 0
    for sides in ((large, sound), (sound, large), ("--base", "%s,%s" % (large, sound), "--new", "%s,%s,%s" % (sound, large, sound)),
                  ("--limit", "memory=1000000", large, sound), (sound, sound + ".none")):
        first = run(["-j1", "--no-symbols", "--format=csv", *sides], command="diff")
        shown += first[1].count(b"\n")
        for jobs in JOBS[1:]:
            if run([jobs, "--no-symbols", "--format=csv", *sides], command="diff") != first:
                raise AssertionError("%s: %s differs" % (" ".join(sides), jobs))
    return "%d lines" % shown


CHECKS = {"large": check_large, "recorded": check_recorded, "full_output": check_full_output, "closed_output": check_closed_output,
          "memory": check_memory, "diff": check_diff}


def main(folder):
    with harness.scratch("jobs") as scratch:
        large, sound = (os.path.join(scratch, name) for name in ("large.data", "sound.data"))
        write_large(large, True)
        write_large(sound, False)
        for name, check in CHECKS.items():
            try:
                figures = check(large, sound, folder)
                harness.result("script/jobs:%s%s" % (name, " # " + figures if figures else ""))
            except (AssertionError, subprocess.TimeoutExpired) as why:
                harness.result("script/jobs:" + name, str(why) or True)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
