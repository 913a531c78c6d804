#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_seeds.py - checks that no output depends on memory addresses or on the seed of hash tables.

usage: run_seeds.py FIXTURES

Environment: PERFRAY, the command; PERFRAY_CORPUS, more recordings; PERFRAY_LONG=1: more runs, and random recordings.

Commands print recordings with a fixed seed (PERFRAY_HASH_SEED) and addresses that are not randomised (setarch -R), with
another fixed seed, and several times with random seeds and addresses, with one thread and with three; all must print the
same. The ordinary run uses the recordings made here, every fourth fixture and some of the corpus; with PERFRAY_LONG all. Recordings made here
have ties in sort orders: equal addresses in different objects and CPU modes, equal weights, several events, many threads with one name.

seeds/NAME    all outputs of one recording
"""
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import LONG, PERFRAY  # noqa: E402

FIXED = ("1", "0x9e3779b97f4a7c15")
RUNS = 8 if LONG else 3
OF_CORPUS = 400 if LONG else 25
MADE = 60 if LONG else 6
LARGEST = 1 << 20
SECONDS = 300
COMMANDS = (("report", "--no-symbols"), ("report", "--no-symbols", "-g", "none"), ("report", "--no-symbols", "-s", "sym"),
            ("report", "--no-symbols", "--no-children", "-s", "comm,tid,sym", "-F", "+overhead_us,overhead_sys,sample"),
            ("report", "--no-symbols", "--format=json", "-g", "caller"), ("report", "--no-symbols", "-s", "dso", "--tree"),
            ("report", "--no-symbols", "--hierarchy", "-g", "none"),
            ("script", "--no-symbols"), ("export", "--no-symbols"), ("export", "--no-symbols", "--format=pprof"),
            ("flame", "--no-symbols", "-o", "-"), ("symbols", "--no-cache"), ("info", "--stats"),
            ("offcpu", "--no-lines", "--format=csv"))
OF_TRACES = (("latency",), ("latency", "--by=caller", "--format=json"), ("report",), ("report", "-g", "none", "--format=csv"),
             ("script",), ("export",), ("flame", "-o", "-"))
WITH_THREADS = {"report", "script", "export", "flame", "symbols", "latency", "offcpu"}


def made_recording(path, seed):
    """Samples with few addresses in several CPU modes, of two events, in threads that share names and maps. Every third recording is small:
    one thread, one object, and one address in two modes."""
    draw = random.Random(seed)
    is_small = seed % 3 == 0
    modes = (2, draw.choice((0, 3, 4, 7))) if is_small else draw.choice(((0, 1, 2, 2, 2, 3, 4, 5, 7), (2, 0), (2, 3), (1, 2)))
    pids = (7,) if is_small else (7, 8, 9, 10)
    record = lambda kind, body, misc=2: struct.pack("<IHH", kind, misc, 8 + len(body) + -len(body) % 8) + body + bytes(-len(body) % 8)
    sample_type = 0x10000 | 0x1 | 0x2 | 0x4 | 0x100 | (0x20 if seed % 2 else 0)
    records, time = [], 1000
    for pid in pids:
        for start, name in ((0x400000, b"/bin/x"), (0x500000, b"/lib/y"), (0x600000, b"/other/y")):
            if is_small or draw.random() < 0.7:
                low, offset = (0, 0) if is_small else (draw.randrange(2) << 12, draw.randrange(3) << 12)
                body = struct.pack("<IIQQQIIQQII", pid, pid, start + low, 0x4000, offset, 0, 0, 0, 0, 5, 2)
                records.append(record(10, body + name + bytes(8 - len(name) % 8) + struct.pack("<IIQQ", pid, pid, time, 1)))
        records.append(record(3, struct.pack("<II", pid, pid) + b"same\0\0\0\0" + struct.pack("<IIQQ", pid, pid, time, 1)))
    for n in range(4 if is_small else 160):
        time += draw.randrange(2)
        pid = draw.choice(pids)
        place = lambda: 0x400010 if is_small else draw.choice((0x400010, 0x401010, 0x500010, 0x600010, 0x700010, 0xffffffff81000010))
        body = struct.pack("<QQIIQQ", 1 + n % 2, place(), pid, pid if is_small else pid + 10 * draw.randrange(3), time, draw.choice((1, 1, 2)))
        if seed % 2:
            chain = [place() for _ in range(draw.randrange(4))]
            body += struct.pack("<Q%dQ" % len(chain), len(chain), *chain)
        records.append(record(9, body, modes[n % 2 if is_small else draw.randrange(len(modes))]))
    data = b"".join(records)
    attr = lambda config: struct.pack("<IIQQQQQ", 1, 128, config, 4000, sample_type, 0, 1 << 18).ljust(128, b"\0")
    begin = 104 + 2 * 144
    ids = begin + len(data)
    head = struct.pack("<8sQQQQQQQ", b"PERFILE2", 104, 144, 104, 2 * 144, begin, len(data), 0).ljust(104, b"\0")
    path.write_bytes(head + attr(0) + struct.pack("<QQ", ids, 8) + attr(1) + struct.pack("<QQ", ids + 8, 8) + data + struct.pack("<QQ", 1, 2))


def run(words, path, seed=None, before=()):
    environment = harness.environment(**({"PERFRAY_HASH_SEED": seed} if seed else {}))
    done = harness.run([*before, PERFRAY, *words, path.name], cwd=path.parent, env=environment, timeout=SECONDS)
    return done.stdout, done.stderr, done.returncode


def is_trace(path):
    return path.suffix == ".xray" or path.parent.name in ("traces", "synth")


def differences(path):
    for words in OF_TRACES if is_trace(path) else COMMANDS:
        wanted = run(words, path, FIXED[0], ("setarch", "-R"))
        for number in range(RUNS):
            jobs = ("-j", "3") if number % 2 and words[0] in WITH_THREADS else ()
            try:
                printed = run((*words, *jobs), path, FIXED[1] if number < 2 else None)
            except subprocess.TimeoutExpired:
                yield "%s: no end" % " ".join((*words, *jobs))
                continue
            if printed != wanted:
                yield "%s: %s" % (" ".join((*words, *jobs)), first_difference(wanted, printed))
                break


def of_corpus():
    folder = harness.corpus()
    if not folder:
        return []
    found = sorted(path for path in Path(folder).rglob("*") if path.is_file() and path.stat().st_size <= LARGEST and
                   (path.suffix == ".data" or (is_trace(path) and path.suffix not in (".txt", ".yaml", ".md", ".sh", ".py"))))
    return found[::max(1, len(found) // OF_CORPUS)]


def first_difference(a, b):
    return "status %d and %d" % (a[2], b[2]) if a[2] != b[2] else harness.first_difference(a[0] + a[1], b[0] + b[1])


def main():
    if subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode:
        return harness.skip("seeds", "setarch -R is not permitted here")
    with harness.scratch("seeds") as scratch:
        paths = [Path(scratch, "made-%d.data" % seed) for seed in range(MADE)]
        for seed, path in enumerate(paths):
            made_recording(path, seed)
        fixtures = Path(sys.argv[1])
        paths += sorted(path for folder in ("recorded", "traced", "recorder") for path in (fixtures / folder).iterdir()
                        if path.suffix in (".data", ".xray") and path.is_file() and path.stat().st_size <= LARGEST)
        paths = paths if LONG else paths[:MADE] + paths[MADE::4]
        for path in paths + of_corpus():
            harness.result("seeds/" + path.name, list(differences(path)))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
