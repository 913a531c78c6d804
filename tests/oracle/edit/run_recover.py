#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_recover.py - checks that the output of recover is valid and contains all intact data.

usage: run_recover.py [--samples N] [--mutants N] RECORDED

Environment: PERFRAY, the command. RECORDED is the folder of recordings.

A generated recording of N samples is damaged as in run_million.py (one bad record, data size 0, truncated, a truncated stream). A compressed recording made
by perfray loses one of its many frames, or has single bits flipped. perf record is killed. The event that holds a recorder's control block is
shortened. Then mutants of every recording are recovered. Requirements: losses are reported (status 4); the output can be read without messages and contains every sample that can be read from the damaged file; and perf, if
installed, opens the output without warnings and counts the same samples. perf is not run on three kinds of files: those with hostile texts in features (perf
parses CPU lists in features, and reads no features after one that it cannot parse), compressed files in which perf does not reach the feature that describes
the compression, and files whose tracepoint formats libtraceevent rejects.
"""
import argparse
import concurrent.futures
import glob
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

import run_million  # noqa: E402
import run_mutants  # noqa: E402

ENDS_PARTIAL, COMPRESSED = 4, 81
SAMPLES = re.compile(r"^ *SAMPLE events: *([0-9]+)", re.M)
UNKNOWN = re.compile(r": ([0-9]+) samples? belongs? to no event")
PERF = shutil.which("perf")
EVENT_DESC = 12
SIZE_OF_FIRST_EVENT = 113


class Wrong(Exception):
    """A requirement that is not met."""


def run(words, **more):
    return harness.run(words, **more)


def perfray(*words):
    return run([harness.PERFRAY, *words])


def text_of(done):
    return done.stderr.decode("utf-8", "replace").strip()


def count(path):
    """Returns (number of samples of all events, status, stderr)."""
    done = perfray("info", "--stats", path)
    found, lost = SAMPLES.search(done.stdout.decode("utf-8", "replace")), UNKNOWN.search(text_of(done))
    return (int(found.group(1)) if found else 0) - (int(lost.group(1)) if lost else 0), done.returncode, text_of(done)


def is_stream(path):
    with open(path, "rb") as file:
        return file.read(16)[8:] in (struct.pack("<Q", 16), struct.pack(">Q", 16))


def perf_count(path):
    """Returns the counts of perf, which must not print warnings. --stats does not skip the data between records of streams, so -D is used for streams."""
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
    environment.update(LC_ALL="C", HOME="/nonexistent")
    done = run([PERF, "report", "-D" if is_stream(path) else "--stats", "-f", "-i", path], env=environment)
    said = [line for line in text_of(done).splitlines() if line and not is_of_this_machine(line)]
    found = SAMPLES.search(done.stdout.decode("utf-8", "replace"))
    if "libtraceevent" in text_of(done):
        return None  # the text of a format, which only perf checks
    if "failed to decompress" in text_of(done) and not knows_compression(path, environment):
        return None
    if done.returncode or said:
        raise Wrong("perf: status %d, %s" % (done.returncode, " ".join(said)[:300]))
    return int(found.group(1)) if found else 0


def knows_compression(path, environment):
    """perf stops reading at a feature that it cannot parse; COMPRESSED is one of the last features."""
    return b"compressed : Zstd" in run([PERF, "report", "--header-only", "-f", "-i", path], env=environment).stdout


# Messages of perf about the machine that it runs on, not about the file.
MACHINE = ("kallsyms", "kptr_restrict", "Kernel address maps", "resolved", "Samples in kernel modules", "Warning:",
           "perf record", "kernel samples", "No kallsyms or vmlinux", "Check /proc")


def is_of_this_machine(line):
    return any(word in line for word in MACHINE)


def judge(folder, path, least, name="out"):
    """Recovers the file and returns the number of samples written. There must be at least `least`, or, if it is None, as many as can be read from the damaged
    file."""
    out = os.path.join(folder, name + ".data")
    if os.path.exists(out):
        os.unlink(out)
    done = perfray("recover", path, "-o", out)
    if not os.path.exists(out):
        raise Wrong("nothing was written: %s" % text_of(done))
    given = count(path)[0] if least is None else least
    samples, status, said = count(out)
    if status or said:
        raise Wrong("the written file is not clean: status %d, %s" % (status, said))
    if samples < given or (least is None and samples > given):
        raise Wrong("%d samples of %d" % (samples, given))
    if done.returncode not in (0, ENDS_PARTIAL) or (done.returncode == 0) != (text_of(done) == ""):
        raise Wrong("status %d, said: %s" % (done.returncode, text_of(done)))
    if PERF and samples and "_str_hostile" not in path and perf_count(out) not in (samples, None):
        raise Wrong("perf counts %d of %d" % (perf_count(out), samples))
    return samples, done


def report(name, figures, wrong=""):
    harness.result("edit/recover %s (%s)" % (name, figures), wrong)


def tell(name, folder, path, least):
    """Damage that must be reported."""
    try:
        samples, done = judge(folder, path, least)
        wrong = "" if done.returncode == ENDS_PARTIAL else "nothing is said"
    except Wrong as why:
        return report(name, "failed", str(why))
    report(name, "%d samples, at least %d asked" % (samples, least), wrong)


def as_stream(data):
    """The generated file as a stream: its attr and samples."""
    header, attr = run_million.HEADER, run_million.ATTR
    begin = header + 8
    record = struct.pack("<IHH", 64, 0, 8 + attr + 8) + bytes(data[begin:begin + attr]) + struct.pack("<Q", 1)
    return b"PERFILE2" + struct.pack("<Q", 16) + record + bytes(data[run_million.DATA:])


def check_million(folder, samples):
    data = run_million.sound(samples)
    path, size = os.path.join(folder, "in.data"), run_million.SAMPLE
    for name, make in run_million.KINDS.items():
        at = run_million.DATA + samples // 2 * size
        kept, record = bytes(data[at:at + size]), bytearray(data[at:at + size])
        make(record)
        data[at:at + size] = record
        run_million.write(path, data)
        data[at:at + size] = kept
        tell("one of a million: " + name, folder, path, samples - 1)
    run_million.write(path, data[:48] + bytes(8) + data[56:])
    tell("data size 0", folder, path, samples)
    run_million.write(path, data[:run_million.DATA + samples // 2 * size + 12])
    tell("cut in half", folder, path, samples // 2)
    stream = as_stream(data)
    run_million.write(path, stream[:len(stream) - size * (samples // 2) - 20])
    tell("a stream cut", folder, path, samples - samples // 2 - 1)


def frames_of(data):
    """(offset, size) of each of the consecutive COMPRESSED records at the start of the data."""
    at, end = struct.unpack_from("<QQ", data, 40)
    end += at
    frames = []
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == COMPRESSED:
            frames.append((at, size))
        at += size
    return frames


def packed(folder, samples):
    """A compressed recording with samples so different that it has many frames."""
    data, noise = run_million.sound(samples), random.Random(7)
    for i in range(samples):
        struct.pack_into("<Q", data, run_million.DATA + i * run_million.SAMPLE + 8, 0x400000 + noise.randrange(1 << 40))
    plain, path = os.path.join(folder, "plain.data"), os.path.join(folder, "packed.data")
    run_million.write(plain, data)
    done = perfray("convert", "--compress", plain, "-o", path)
    if done.returncode:
        raise Wrong("convert: %s" % text_of(done))
    with open(path, "rb") as file:
        return bytearray(file.read())


def check_frames(folder, samples):
    data, path = packed(folder, samples), os.path.join(folder, "in.data")
    frames = frames_of(data)
    if len(frames) < 189:
        return report("one bad frame", "%d frames" % len(frames), "too few to tell")
    at, size = frames[len(frames) // 2]
    bad = bytearray(data)
    bad[at + size // 2] ^= 0x40
    run_million.write(path, bad)
    tell("one bad frame of %d" % len(frames), folder, path, samples * (len(frames) - 1) // len(frames) - 2048)
    noise, silent = random.Random(3), 0
    for _ in range(60):
        at, size = noise.choice(frames)
        bad, place = bytearray(data), at + 8 + noise.randrange(size - 8)
        bad[place] ^= 1 << noise.randrange(8)
        run_million.write(path, bad)
        done = perfray("info", "--stats", path)
        silent += done.returncode != ENDS_PARTIAL or not done.stderr
    report("flipped bits in frames are noticed", "60 bits", "%d pass in silence" % silent if silent else "")


def place_of_feature(data, bit):
    """Returns the start of a feature's payload. The table of features follows the records and has one entry per set bit."""
    table = sum(struct.unpack_from("<QQ", data, 40))
    bits = int.from_bytes(data[72:104], "little")
    return struct.unpack_from("<Q", data, table + 16 * bin(bits & (1 << bit) - 1).count("1"))[0]


def described_without_ids(data):
    """The payload of EVENT_DESC without ids; unused bytes after the last entry keep its length."""
    place = at = place_of_feature(data, EVENT_DESC)
    count, attr = struct.unpack_from("<II", data, at)
    made, at = bytes(data[at:at + 8]), at + 8
    for _ in range(count):
        ids, length = struct.unpack_from("<II", data, at + attr)
        made += bytes(data[at:at + attr]) + struct.pack("<II", 0, length) + bytes(data[at + attr + 8:at + attr + 8 + length])
        at += attr + 8 + length + 8 * ids
    return place, made.ljust(at - place, b"\0")


def lost_events(data):
    """Yields (name, damaged copy): each copy has lost the events of the file header in a different way."""
    entry, attrs, size, _, _ = struct.unpack_from("<QQQQQ", data, 16)
    def with_bytes(*places):
        damaged = bytearray(data)
        for at, content in places:
            damaged[at:at + len(content)] = content
        return damaged
    ids = [(attrs + n * entry + entry - 16, bytes(16)) for n in range(size // entry)]
    yield "the place of attrs", with_bytes((24, bytes(16)))
    yield "attrs, zeros", with_bytes((attrs, bytes(size)))
    yield "attrs, ones", with_bytes((attrs, b"\xff" * size))
    yield "the places of ids", with_bytes(*ids)
    yield "ids", with_bytes((104, bytes(attrs - 104)), *ids)
    yield "ids, EVENT_DESC too", with_bytes((104, bytes(attrs - 104)), (place_of_feature(data, EVENT_DESC), bytes(8)), *ids)
    yield "ids, EVENT_DESC has none", with_bytes((104, bytes(attrs - 104)), described_without_ids(data), *ids)


def check_lost_events(folder, recorded):
    """EVENT_DESC repeats the events, or else ID_INDEX has the ids: a recording of two events loses nothing."""
    with open(os.path.join(recorded, "two-events.data"), "rb") as file:
        data = file.read()
    samples, path = count(os.path.join(recorded, "two-events.data"))[0], os.path.join(folder, "in.data")
    for name, damaged in lost_events(data):
        run_million.write(path, damaged)
        tell("lost: " + name, folder, path, samples)


def grown_records(data):
    """Yields (type, additional bytes, damaged copy): in each copy the size of a record is too large by up to 64 bytes, so the record ends within another."""
    at, end = struct.unpack_from("<QQ", data, 40)
    end += at
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        for more in range(8, 72, 8):
            damaged = bytearray(data)
            struct.pack_into("<H", damaged, at + 6, size + more)
            yield kind, more, damaged
        at += size


def recovered_to(form, path, out):
    """Returns (status, stderr). A stream is written to standard output."""
    if form != "stream":
        return perfray("recover", "--to", form, path, "-o", out)
    with open(out, "wb") as file:
        return subprocess.run([harness.PERFRAY, "recover", path, "-o", "-"], stdin=subprocess.DEVNULL, stdout=file,
                              stderr=subprocess.PIPE, timeout=120, check=False)


def judge_grown(folder, form, data):
    """The output is valid even in this case: a record was accepted because of the record after it in the damaged
    file, but another record follows in the output."""
    path, out = os.path.join(folder, "in.data"), os.path.join(folder, "grown." + form)
    shutil.rmtree(out, True)
    run_million.write(path, data)
    done = recovered_to(form, path, out)
    sound = perfray("verify", out)
    if done.returncode not in (0, ENDS_PARTIAL) or sound.returncode:
        return "status %d, %s; verify: %s" % (done.returncode, text_of(done)[:200], sound.stdout.decode()[:200])
    return ""


def check_grown(folder, recorded):
    wrong, count_of = [], 0
    with open(os.path.join(recorded, "stat.data"), "rb") as file:
        data = file.read()
    for kind, more, damaged in grown_records(data):
        for form in ("file", "stream", "directory"):
            why, count_of = judge_grown(folder, form, damaged), count_of + 1
            wrong += ["  type %d, %d bytes more, %s: %s" % (kind, more, form, why)] if why else []
    print("\n".join(wrong[:6]), end="\n" if wrong else "")
    report("records that swallow others", "%d" % count_of, "%d wrong" % len(wrong) if wrong else "")


AUXTRACE = 71


def check_broken_formats(folder, recorded):
    """simpleperf puts the formats of tracepoints into a record; a record whose formats are broken is left out, all samples stay."""
    with open(os.path.join(recorded, "demo.data"), "rb") as file:
        data = file.read()
    at, size = struct.unpack_from("<QQ", data, 40)
    inside = b"\x17\x08\x44broken formats".ljust(20, b"\0")
    record = struct.pack("<IHHI", 66, 0, 12 + len(inside), len(inside)) + inside
    header = data[:48] + struct.pack("<Q", size + len(record)) + data[56:at]
    table = bytearray(data[at + size:])
    for bit in range(sum(bin(byte).count("1") for byte in data[72:104])):
        offset, = struct.unpack_from("<Q", table, 16 * bit)
        struct.pack_into("<Q", table, 16 * bit, offset + len(record))
    path = os.path.join(folder, "formats.data")
    with open(path, "wb") as file:
        file.write(header + record + data[at:at + size] + bytes(table))
    tell("broken formats", folder, path, count(os.path.join(recorded, "demo.data"))[0])


def check_packed_auxtrace(folder, recorded):
    """Record types whose data follows the record, inside compressed data, where no data can follow: every command that rewrites the file leaves them out. To
    make them, the literal in a frame that is the type of many samples is changed."""
    with open(os.path.join(recorded, "zstd-many.data"), "rb") as file:
        data = bytearray(file.read())
    at = next(at + 13 for at, _ in frames_of(data) if data[at + 13] == 9)
    kind, data[at] = data[at], AUXTRACE
    path, out, wrong = os.path.join(folder, "in.data"), os.path.join(folder, "aux.data"), []
    run_million.write(path, data)
    for words in (["recover"], ["recover", "--plain"], ["convert", "--plain"], ["convert", "--byte-order=big"]):
        done, sound = perfray(*words, path, "-o", out), perfray("verify", out)
        if kind != 9 or done.returncode != ENDS_PARTIAL or "no payload can follow" not in text_of(done) or sound.returncode:
            wrong.append("%s: status %d, %s" % (" ".join(words), done.returncode, sound.stdout.decode()[-200:]))
    report("AUXTRACE records that were compressed", "4", "; ".join(wrong))


def check_killed(folder):
    """perf record is killed while it writes: every sample in the file must be recovered."""
    if not PERF:
        return harness.skip("edit/recover", "killed recordings: perf is not installed")
    for options in ([], ["-g"], ["-z"], ["-e", "cpu-clock,page-faults"]):
        path = os.path.join(folder, "killed.data")
        busy = ["sh", "-c", "while :; do :; done"]
        recorder = subprocess.Popen([PERF, "record", "-F", "9999", "-m", "4", *options, "-o", path, "--", *busy],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(3)
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait()
        tell("perf record %s, killed" % " ".join(options), folder, path, max(1, count(path)[0]))


def check_short_control(folder, recorded):
    """The first event of a trace holds the control block of its recorder. If its size says less, the bytes after it are records."""
    with open(os.path.join(recorded, "..", "recorder", "ring.xray"), "rb") as file:
        trace = bytearray(file.read())
    trace[SIZE_OF_FIRST_EVENT:SIZE_OF_FIRST_EVENT + 4] = struct.pack("<I", 2)
    path, out = (os.path.join(folder, name) for name in ("short.xray", "short.out"))
    with open(path, "wb") as file:
        file.write(trace)
    recovered, verified = perfray("recover", "-o", out, path), perfray("verify", out)
    is_sound = recovered.returncode == ENDS_PARTIAL and "records: 0 errors," in text_of(verified)
    report("control block of a shorter event", "", "" if is_sound else text_of(verified)[-300:])


def judge_mutant(folder, path):
    number = os.path.basename(path)
    try:
        opened = perfray("info", "--stats", path)
        if opened.returncode == 3:
            return None
        judge(folder, path, None, number + ".out")
    except Wrong as why:
        return "%s: %s" % (number, why)
    except subprocess.TimeoutExpired:
        return "%s: no end" % number
    return None


def check_mutants(folder, recorded, number):
    made = os.path.join(folder, "mutants")
    inputs = sorted(glob.glob(os.path.join(recorded, "*.data")))
    inputs = [path for path in inputs if os.path.isfile(path) and "stat" not in os.path.basename(path)]
    done = run([sys.executable, run_mutants.MUTATE, "--seed", "1", "--count", str(number), "--quiet", "--manifest",
                os.path.join(folder, "manifest"), made, *inputs])
    if done.returncode:
        return report("mutants", "", text_of(done))
    paths = sorted(glob.glob(os.path.join(made, "*")))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [one for one in pool.map(lambda path: judge_mutant(folder, path), paths) if one]
    for line in wrong[:10]:
        print("  " + line)
    report("mutants of %d recordings" % len(inputs), "%d" % len(paths), "%d wrong" % len(wrong) if wrong else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1000000)
    parser.add_argument("--mutants", type=int, default=400)
    parser.add_argument("recorded")
    options = parser.parse_args()
    with harness.scratch("recover") as folder:
        check_million(folder, options.samples)
        check_frames(folder, options.samples * 13 // 10)
        check_lost_events(folder, options.recorded)
        check_grown(folder, options.recorded)
        check_broken_formats(folder, options.recorded)
        check_packed_auxtrace(folder, options.recorded)
        check_killed(folder)
        check_short_control(folder, options.recorded)
        check_mutants(folder, options.recorded, options.mutants)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
