#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_failing_io.py - makes each system call of a command fail once; the command must report it or give the same result.

usage: run_failing_io.py [--jobs N] [--verbose] SHIM RECORDED

SHIM is the library built from fail_io.c, RECORDED the folder of recordings.

Environment: PERFRAY, the command (a build without sanitizers, which do not work with a preloaded library).

Each command of COMMANDS runs on twelve recordings (fewer without PERFRAY_LONG: step_of): first without failures, then once for each of its calls and each
way to fail (see fail_io.c). Requirements:

    EINTR, SHORT   output, status and files are those of the run without failures
    EIO            for the input: the status is not 0, and stderr names the file, and the byte if a read failed; for other files: also a message and a status,
                   but if an object or kernel table cannot be read, only its names are lost
    ENOSPC         status 5, with the reason on stderr
    EPIPE          the reader has gone: nothing on stderr, status 0
    all            no crash, no hang, no file of AUX data if the status means failure

A failure may also have no effect, because not every call matters.
"""
import argparse
import concurrent.futures
import gzip
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

COMMANDS = (["info"], ["info", "--stats"], ["info", "--format=json"], ["dump"], ["dump", "--aux"], ["report"], ["symbols"], ["script"],
            ["export", "--format=pprof"], ["flame", "-o"], ["verify"], ["convert", "-o"],
            ["convert", "-z", "--byte-order=big", "-o"], ["convert", "--to=directory", "-o"],
            ["convert", "--to=quipper", "-o"], ["recover", "-o"])
# For XRay traces; "MAP" is replaced by a map of their functions.
TRACE_COMMANDS = (["dump", "-m", "MAP"], ["script", "-m", "MAP"], ["script", "--format=json"],
                  ["script", "--format=llvm-yaml"], ["script", "--format=llvm-map", "-m", "MAP"], ["report", "-j", "1", "-m", "MAP"], ["export", "-j", "1", "-m", "MAP"],
                  ["flame", "-j", "1", "-o"], ["latency", "-j", "1", "--lines", "-m", "MAP"], ["verify"],
                  ["convert", "--byte-order=big", "-o"], ["recover", "-o"])
# Commands that sort more rows than they keep in memory, in temporary files.
SORTING = (["export", "-j", "1", "--format=speedscope"], ["export", "-j", "1", "--format=perfetto"])
FEW_ROWS = "sort-rows=16"
TRACES = ("fdr-v5.xray", "fdr-v1-be.xray", "basic-v3.xray", "../recorder/lying.xray", "../recorder/finished.xray")
# Commands that open objects and kernel tables for names.
NAMING = (["report"], ["symbols"], ["script"], ["export", "--format=pprof"], ["flame", "-o"])
RECORDINGS = ("cpu-clock.data", "buildid-mmap.data", "tracepoints.data", "demo.data", "zstd.data", "threads-zstd.data",
              "pipe-tracepoints.data", "pipe-zstd.data")
WAYS = ("EIO", "ENOSPC", "EINTR", "EPIPE", "SHORT")
SAME = ("EINTR", "SHORT")
SECONDS = 120
CALLS_MOST = 2000
ENDS_IO = 5


FAR = 300000  # larger than any single read

# cpu-clock with IP, TID and TIME, and sample_id_all
ATTR = struct.pack(">IIQQQQQ", 1, 64, 0, 4000, 7, 0, 1 << 45) + bytes(16)


def make_samples(count):
    return b"".join(struct.pack(">IHHQIIQ", 9, 2, 32, 0x1000 + n, 7, 7, 1000 + n) for n in range(count))


def long_file():
    """A big-endian file that takes several reads. Its features are so far from the samples that no read contains both."""
    at, samples = 104, make_samples(10000)
    data = at + len(ATTR) + 16
    features = ((3, struct.pack(">I16s", 16, b"host")), (4, struct.pack(">I16s", 16, b"release")),
                (7, struct.pack(">II", 2, 2)))
    sections, payloads, end = b"", bytes(FAR), data + len(samples) + 16 * len(features)
    for _, payload in features:
        sections += struct.pack(">QQ", end + len(payloads), len(payload))
        payloads += payload
    header = struct.pack(">8sQQQQQQQQ", b"2ELIFREP", at, len(ATTR) + 16, at, len(ATTR) + 16, data, len(samples), 0, 0)
    bitmap = struct.pack(">QQQQ", sum(1 << bit for bit, _ in features), 0, 0, 0)
    return header + bitmap + ATTR + bytes(16) + samples + sections + payloads


def long_stream():
    """A big-endian stream that takes several reads: samples, and AUX area data of three buffers."""
    records = [struct.pack(">IHH", 64, 0, 8 + len(ATTR) + 8) + ATTR + struct.pack(">Q", 100)]
    for index in (0, 1, 0, 2):
        payload = bytes([0x41 + index]) * 150000
        records.append(struct.pack(">IHHQQQIIII", 71, 0, 48, len(payload), 0, 0, index, 7, 0, 0) + payload)
        records.append(make_samples(500))
    return b"2ELIFREP" + struct.pack(">Q", 16) + b"".join(records)


def long_trace():
    """Two threads of a flight recorder, with an event between their calls that takes several reads."""
    def buffer(tid, begin, body):
        preamble = b"".join(struct.pack("<B%s" % form, kind << 1 | 1, *values).ljust(16, b"\0") for kind, form, values in
                            ((0, "i", (tid,)), (4, "qi", (5, 250)), (9, "i", (77,)), (2, "HQ", (1, begin))))
        return struct.pack("<BQ7x", 7 << 1 | 1, len(preamble + body)) + preamble + body
    calls = struct.pack("<IIII", 1 << 4, 0, 1 << 4 | 1 << 1, 10)
    event = struct.pack("<Bii7x", 5 << 1 | 1, FAR, 5) + b"event" * (FAR // 5)
    header = struct.pack("<HHIQQQ", 5, 1, 3, 10**9, 512, 0)
    return header + buffer(2, 900, calls) + buffer(1, 1000, calls + event + calls) + buffer(2, 100, calls * 20)


def make_traces(folder, recorded):
    """The traces, as paths."""
    paths = [os.path.join(recorded, "..", "xray", name) for name in TRACES] + [os.path.join(folder, "long.xray")]
    with open(paths[-1], "wb") as file:
        file.write(long_trace())
    return paths


def make_inputs(folder, recorded):
    """The recordings, as paths; "-" is long.pipe as a pipe."""
    paths = [os.path.join(recorded, name) for name in RECORDINGS]
    packed = os.path.join(folder, "packed.data.gz")
    with open(os.path.join(recorded, "cpu-clock.data"), "rb") as whole, gzip.open(packed, "wb") as file:
        shutil.copyfileobj(whole, file)
    for name, made in (("long.data", long_file()), ("long.pipe", long_stream())):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "wb") as file:
            file.write(made)
    return paths + [packed, "-"]


class Result:
    """The result of a run: status, output, files of AUX data, and the failed calls as (name, fd, path)."""

    def __init__(self, done, files, calls):
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.files, self.calls = files, calls

    def own_call(self):
        """A forked child counts calls from its parent's count on, so if one of its calls fails, one of the parent's
        also fails and is reported. The child opens only the file statm."""
        return ([call for call in self.calls if not call[2].endswith("/statm")] or self.calls)[0]

    def is_same(self, other):
        return (self.status, self.stdout, self.stderr, self.files) == (
            other.status, other.stdout, other.stderr, other.files)


def read_files(folder):
    """{name: bytes} of the folder, which is then removed; None if it does not exist."""
    if not os.path.isdir(folder):
        return None
    files = {}
    for path in sorted(os.path.join(root, name) for root, _, names in os.walk(folder) for name in names):
        with open(path, "rb") as file:
            files[os.path.relpath(path, folder)] = file.read()
    shutil.rmtree(folder)
    return files


def read_calls(log):
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8", errors="replace") as lines:
        return [tuple(line.rstrip("\n").split(" ", 2)) for line in lines]


class Bench:
    """Runs one command on one recording."""

    def __init__(self, options, folder, command, path):
        self.options, self.command, self.path = options, command, path
        self.folder = tempfile.mkdtemp(dir=folder)
        self.aux = os.path.join(self.folder, "aux")
        words = [self.map_of(options) if word == "MAP" else word for word in command]
        if command[-1] == "--aux":
            words.append(self.aux)
        if command[-1] == "-o":
            words.append(os.path.join(self.aux, "made"))
        if command in NAMING:
            words += ["--no-pager", "--symfs", os.path.join(options.recorded, "demo-root"),
                      "--kallsyms", self.make_kallsyms()]
        self.words = [harness.PERFRAY] + words + [path]
        self.stdin = long_stream() if path == "-" else b""

    @staticmethod
    def map_of(options):
        return os.path.realpath(os.path.join(options.recorded, "..", "maps", "functions.yaml"))

    def make_kallsyms(self):
        path = os.path.join(self.folder, "kallsyms")
        with open(path, "w", encoding="ascii") as file:
            file.write("ffffffff81000000 T _text\nffffffff82000000 T _etext\n")
        return path

    def run(self, way=None, at=0):
        log = os.path.join(self.folder, "log")
        if self.command[-1] == "-o":
            os.mkdir(self.aux)
        environment = dict(os.environ, LC_ALL="C", TMPDIR=self.folder, HOME=self.folder)
        if self.command in SORTING:
            environment["PERFRAY_SIZES"] = FEW_ROWS
        if way:
            environment.update(LD_PRELOAD=self.options.shim, FAIL_IO_HOW=way, FAIL_IO_AT=str(at), FAIL_IO_LOG=log)
        done = subprocess.run(self.words, input=self.stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS, env=environment, check=False)
        result = Result(done, read_files(self.aux), read_calls(log))
        if result.calls:
            os.unlink(log)
        return result

    def is_input(self, fd, path):
        if self.path == "-":
            return fd == "0"
        return os.path.realpath(path).startswith(os.path.realpath(self.path)) or (
            os.path.isdir(self.path) and path in os.listdir(self.path))

    def is_of_names(self, path):
        """Objects and kernel tables, the object that traces of the runtime name, and folders in which `symbols` searches for files to suggest."""
        return path.startswith("/nonexistent/perfray") or (self.command == ["symbols"] and path.startswith("/usr/lib/")) or (
            self.command in NAMING and
            path.startswith((self.folder + "/kallsyms", os.path.join(self.options.recorded, "demo-root"))))

    def judge_said(self, good, result, call):
        """Errors must be reported with a status and a message that names the file."""
        name, fd, path = call
        is_input = self.is_input(fd, path) and b"cannot make" not in result.stderr  # a folder that is written has the same names
        text = result.stderr.decode("utf-8", "replace")
        if result.status == 0 or not text:
            return "the failure passes in silence"
        if is_input and os.path.basename(self.path) not in text:
            return "the file is not named"
        if is_input and name in ("read", "pread") and "byte " not in text:
            return "the byte is not reported"
        if not is_input and result.status != max(ENDS_IO, good.status):
            return "the status is not %d" % ENDS_IO
        return None

    def judge(self, good, way, result):
        """A description of the defect of this run, or None."""
        if result.status not in range(7):
            return "status %d" % result.status
        if result.status in (2, ENDS_IO, 6) and result.files and result.files != good.files:
            return "files are left: %s" % ", ".join(result.files)
        if result.is_same(good):
            return None
        if way in SAME:
            return "the result is another one"
        call = result.own_call()
        if way == "EPIPE":
            more = set(result.stderr.splitlines()) - set(good.stderr.splitlines())
            return None if not more and result.status == good.status else "a reader who left is a failure"
        if call[1] == "2" or self.is_of_names(call[2]):
            return None
        return self.judge_said(good, result, call)


def describe(bench, way, at, what, result):
    call = " ".join(result.own_call()) if result.calls else "?"
    return "  %s, %s of call %d (%s): status %d, %s\n    %s" % (
        what, way, at, call, result.status, result.stderr.decode("utf-8", "replace").strip() or "no word",
        " ".join(bench.words))


def try_way(bench, good, way):
    """(number of runs, defects as sentences)"""
    wrong, at = [], 1
    while at < CALLS_MOST:
        result = bench.run(way, at)
        if not result.calls:
            return at - 1, wrong
        what = bench.judge(good, way, result)
        if what:
            wrong.append(describe(bench, way, at, what, result))
        at += 1
    return at, wrong + ["  %s: there is no end of calls" % way]


def try_all_at_once(bench, good, way):
    """Every second call fails."""
    result = bench.run(way, 0)
    what = bench.judge(good, way, result)
    return 1, [describe(bench, way, 0, what, result)] if what else []


def try_one(bench):
    """{way: (runs, defects)} of one command on one recording."""
    good = bench.run()
    if good.status != 0:
        return {"whole": (1, ["  it fails without any failure: %s" % good.stderr.decode("utf-8", "replace")])}
    results = {}
    for way in WAYS:
        try:
            runs, wrong = try_way(bench, good, way)
            if way in SAME:
                more, also = try_all_at_once(bench, good, way)
                runs, wrong = runs + more, wrong + also
        except subprocess.TimeoutExpired:
            runs, wrong = 1, ["  %s: more than %d s\n    %s" % (way, SECONDS, " ".join(bench.words))]
        results[way] = (runs, wrong)
    return results


def print_command(command, benches, results):
    """Prints one line per command and way to fail."""
    for way in ("whole",) + WAYS:
        mine = [result[way] for result in results if way in result]
        runs, wrong = sum(runs for runs, _ in mine), [what for _, found in mine for what in found]
        name = "hostile/failing_io %s %s" % (" ".join(command), way)
        if wrong:
            harness.result(name, ["%d of %d runs" % (len(wrong), runs), *wrong])
        elif mine and runs:
            harness.result("%s (%d runs on %d recordings)" % (name, runs, len(benches)))
        is_needed = way != "whole" and not (way == "EPIPE" and command[-1] == "-o")  # a file has no reader
        if is_needed and runs == 0:
            harness.result(name, "nothing went wrong")


def is_long():
    return harness.LONG


def step_of(command):
    """Returns the distance between the recordings that are used: every third recording for the four main commands;
    every sixth for their variants, for commands that write, and for commands that look up names like report. Commands
    start at different recordings. With PERFRAY_LONG, all are used."""
    return 1 if is_long() else 3 if command in (["info"], ["dump"], ["report"], ["script"]) else 6


def run_all(options, folder):
    paths = make_inputs(folder, options.recorded)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, command in enumerate(COMMANDS):
            step = step_of(command)
            benches = [Bench(options, folder, command, path) for path in paths[number % step::step]]
            print_command(command, benches, list(pool.map(try_one, benches)))
        for number, command in enumerate(TRACE_COMMANDS):
            traces = make_traces(folder, options.recorded)
            step = 1 if is_long() else 3
            benches = [Bench(options, folder, command, path) for path in traces[number % step::step]]
            print_command(command, benches, list(pool.map(try_one, benches)))
        for command in SORTING:
            benches = [Bench(options, folder, command, make_traces(folder, options.recorded)[-1])]
            print_command(command, benches, list(pool.map(try_one, benches)))
    return harness.status()


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("shim")
    parser.add_argument("recorded")
    options = parser.parse_args(arguments)
    options.shim, options.recorded = os.path.abspath(options.shim), os.path.abspath(options.recorded)
    if not harness.has_command():
        return harness.skip("hostile/failing_io", "PERFRAY is not set")
    with harness.scratch("failing") as folder:
        return run_all(options, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
