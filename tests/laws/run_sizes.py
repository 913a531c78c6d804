#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_sizes.py - checks that no output depends on the sizes of buffers, batches and work units, or on -j.

usage: run_sizes.py FIXTURES

Environment: PERFRAY, the command; PERFRAY_CORPUS, more recordings; PERFRAY_LONG=1: more random sizes, and larger recordings.

Each recording is printed by each command with the default sizes and one thread, then with -j 1, 2, 3 and 7, each with
all sizes at their minimum and with random ones (PERFRAY_SIZES, src/base/memory/sizes.def): output, messages and exit status
must be the same. The random sizes depend only on the name of the recording and on the command. Recordings made here are long enough for the
parallel reader with its smallest part: ordinary ones, and some with COMPRESSED records, with damage, or out of order.

sizes/NAME    all outputs of one recording
"""
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import LONG  # noqa: E402
import tiny_sizes  # noqa: E402

LARGEST = 4 << 20 if LONG else 256 << 10
OF_CORPUS = 400 if LONG else 30
DRAWS = 6 if LONG else 1
SECONDS = 120
FOLDER = "FOLDER"  # a word that is replaced by the path of a new folder; its files are part of the output
COMMANDS = (("report", "--no-symbols"), ("report", "--no-symbols", "-g", "caller", "-s", "comm,tid,sym"),
            ("script", "--no-symbols"), ("export", "--no-symbols"), ("symbols", "--no-cache"), ("dump",), ("info", "--stats"),
            ("report", "--no-symbols", "--no-children", "-g", "none", "--format=json"), ("verify",),
            ("export", "--no-symbols", "--format=pprof"), ("script", "--no-symbols", "--format=json"),
            ("report", "--no-symbols", "--hierarchy"), ("offcpu", "--no-lines", "--format=json"),
            ("export", "--no-symbols", "--format=firefox"))
OF_TRACES = (("report",), ("latency",), ("script",), ("export",), ("dump",), ("latency", "--by=caller", "--format=json"),
             ("report", "-g", "none", "--format=csv"), ("verify",), ("export", "--format=firefox"), ("export", "--format=speedscope"),
             ("export", "--format=perfetto"), ("export", "--format=ctf", "-o", FOLDER), ("export", "--format=callgrind"),
             ("export", "--format=dot"), ("graph", "--edge-label=99p"), ("replay",))
# Number of commands per recording in the ordinary run. The first few commands are run on every recording, the others on some.
ALWAYS, TURNS = 4, 3
COMPRESSED = 81


# --- Recordings made here.

def record(kind, misc, body):
    if kind != COMPRESSED:
        body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def stored_frame(content):
    """A zstd frame with stored blocks of at most 100 KB (RFC 8878): 4 bytes of content size, no checksum."""
    made = struct.pack("<IBI", 0xfd2fb528, 0xa0, len(content))
    for at in range(0, len(content), 100000):
        piece = content[at:at + 100000]
        made += struct.pack("<I", (at + len(piece) == len(content)) | len(piece) << 3)[:3] + piece
    return made


def samples(draw, count, time, disordered):
    """Records of a few threads with maps, names and rounds between; [(bytes)] and the time of the last."""
    made = []
    for n in range(count):
        time += draw.randrange(1, 2000)
        pid = 10 + draw.randrange(3)
        tid = pid + 10 * draw.randrange(4)
        at = time - (draw.randrange(20000) if disordered and n % 7 == 0 else 0)
        chain = [0x400000 + draw.randrange(64) * 16 for _ in range(draw.randrange(5))]
        if n % 53 == 0:
            name = (b"/lib/%d" % draw.randrange(9)).ljust(16, b"\0")
            made.append(record(1, 2, struct.pack("<IIQQQ", pid, tid, 0x400000 + draw.randrange(4) * 256, 0x300, 0) + name +
                               struct.pack("<IIQ", pid, tid, at)))
        elif n % 71 == 0:
            made.append(record(3, 0, struct.pack("<II", pid, tid) + (b"name%d" % (n % 5)).ljust(8, b"\0") + struct.pack("<IIQ", pid, tid, at)))
        else:
            made.append(record(9, 2, struct.pack("<QIIQQQ", chain[0] if chain else 0x400000, pid, tid, at, 1 + n % 3, len(chain)) +
                               struct.pack("<%dQ" % len(chain), *chain)))
        if n % 400 == 399:
            made.append(record(68, 0, b""))
    return made, time


def write_recording(path, records):
    attr = struct.pack("<IIQQQQQ", 1, 64, 0, 4000, 0x127, 0, 1 << 18) + bytes(16)  # IP TID TIME PERIOD CALLCHAIN; sample_id_all
    data = b"".join(records)
    begin = 104 + len(attr) + 16
    head = struct.pack("<8sQQQQQQQ", b"PERFILE2", 104, len(attr) + 16, 104, len(attr) + 16, begin, len(data), 0).ljust(104, b"\0")
    path.write_bytes(head + attr + bytes(16) + data)


def make_recordings(folder):
    for number, kind in enumerate(("plain", "compressed", "damaged", "disordered", "mixed")):
        draw = random.Random(number)
        records, time = [], 100000
        for part in range(12):
            made, time = samples(draw, 120 if part % 3 else 400, time, kind in ("disordered", "mixed"))
            if kind in ("compressed", "mixed") and part % 3 == 2:
                inside = b"".join(made)  # 120 records: fits one record
                records.append(record(COMPRESSED, 0, stored_frame(inside)))
            else:
                records += made
            if kind in ("damaged", "mixed") and part % 4 == 3:
                records.append(b"\xff" * draw.randrange(8, 5000))
        path = Path(folder, kind + ".data")
        write_recording(path, records)
        yield path


# --- Running.

def run(words, path, sizes):
    environment = dict(tiny_sizes.environment(sizes), LC_ALL="C", XDG_CACHE_HOME="/dev/null", TZ="UTC")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made")
        words = [str(made) if word == FOLDER else word for word in words]
        try:
            done = harness.perfray(*words, path.name, cwd=path.parent, env=environment, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return b"", b"no end after %d s" % SECONDS, 124
        files = b"".join(file.name.encode() + file.read_bytes() for file in sorted(made.iterdir())) if made.exists() else b""
        return done.stdout + files, done.stderr.replace(folder.encode(), b""), done.returncode


def first_difference(a, b):
    return "status %d and %d" % (a[2], b[2]) if a[2] != b[2] else harness.first_difference(a[0] + a[1], b[0] + b[1])


def commands_of(path, number):
    rows = OF_TRACES if is_trace(path) else COMMANDS
    if LONG:
        return rows
    others = rows[ALWAYS:]
    return rows[:ALWAYS] + tuple(others[(number + i) % len(others)] for i in range(TURNS))


def is_trace(path):
    return path.suffix == ".xray" or path.parent.name in ("traces", "synth")


def differences(path, number):
    for words in commands_of(path, number):
        wanted = run((*words, *(("-j", "1") if words[0] in tiny_sizes.WITH_JOBS else ())), path, "")
        draw = random.Random("%s %s" % (path.name, " ".join(words)))
        for jobs in tiny_sizes.JOBS if words[0] in tiny_sizes.WITH_JOBS else (None,):
            for sizes in (tiny_sizes.smallest(), *(tiny_sizes.drawn(draw) for _ in range(DRAWS))):
                asked = (*words, *(("-j", str(jobs)) if jobs else ()))
                printed = run(asked, path, sizes)
                if printed != wanted:
                    yield "%s\n      PERFRAY_SIZES=%s perfray %s %s" % (first_difference(wanted, printed), sizes, " ".join(asked), path)
                    break


def is_input(path):
    name = path.name
    return path.is_file() and path.stat().st_size <= LARGEST and (
        (".data" in name and not name.endswith((".txt", ".zst", ".md", ".sh", ".map"))) or
        (is_trace(path) and not name.endswith((".txt", ".yaml", ".md", ".sh", ".py"))))


def inputs(scratch, fixtures):
    yield from make_recordings(scratch)
    for folder in ("recorded", "traced", "recorder"):
        yield from sorted(path for path in (fixtures / folder).iterdir() if is_input(path))[::1 if LONG else 4]
    corpus = harness.corpus()
    if corpus:
        found = sorted(path for path in Path(corpus).rglob("*") if is_input(path))
        yield from found[::max(1, len(found) // OF_CORPUS)]


def main():
    with harness.scratch("sizes") as scratch:
        for number, path in enumerate(inputs(scratch, Path(sys.argv[1]))):
            harness.result("sizes/" + path.name, list(differences(path, number)))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
