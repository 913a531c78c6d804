#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_runtime.py - programs under the flight recorder, which keep an account of their own.

usage: run_runtime.py LIBRARY ARCHIVE INCLUDE [WORD...]

The programs of tests/runtime/programs are built with -finstrument-functions in several ways and run; how often who called
whom, as they say it themselves, must be what the trace has. The trace is read by tests/xray/oracle.py, and by llvm-xray
where that is installed. With WORDs only tests whose names have one of them are run.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from recorded import Recorded

HERE = Path(__file__).resolve().parent / "programs"
WHO = (None, "main", "leaf", "middle", "top", "down", "throws", "catches", "jumps", "handler", "worker", "other", "plug_a",
       "plug_b", "routine", None)
PLAIN = {"_Z4leafi": "leaf", "_Z6middlei": "middle", "_Z6throwsi": "throws", "_Z7catchesi": "catches"}
BUILDS = {
    "gcc-O0": ("gcc", ["-O0"]),
    "gcc-O2": ("gcc", ["-O2"]),
    "gcc-O3-lto": ("gcc", ["-O3", "-flto"]),
    "clang-O1": ("clang-14", ["-O1"]),
    "clang19-O2": ("clang-19", ["-O2"]),
}
# mode -> count, whether paths are compared, whether every call ends, expected status
MODES = {
    "calls": (20000, True, True, 0), "deep": (100000, True, True, 0), "tail": (5000, True, True, 0),
    "jumps": (999, False, False, 0), "threads": (5000, True, True, 0), "short_threads": (50, True, True, 0),
    "fork": (2000, True, True, 0), "objects": (100, False, True, 0), "routines": (500, False, False, 0),
    "errno": (2000, True, True, 0), "exec": (2000, True, False, 0), "abort": (20000, False, False, -6),
    "segv": (20000, False, False, -11), "_exit": (20000, False, False, 0), "kill": (20000, False, False, -9),
}


class Tests:
    def __init__(self, library, archive, include, words):
        self.library, self.archive, self.include, self.words = map_paths(library, archive, include) + (words,)
        self.folder = Path(tempfile.mkdtemp(prefix="perfray-runtime-"))
        self.failed = 0

    def wants(self, name):
        return not self.words or any(word in name for word in self.words)

    def say(self, name, wrong):
        print(("not ok" if wrong else "ok") + " runtime/" + name)
        for line in wrong[:8]:
            print("   ", line)
        self.failed += bool(wrong)
        sys.stdout.flush()

    def build(self, name, compiler, flags, source="recorded_calls.c", links=None):
        program = self.folder / name
        links = links or [str(self.library), f"-Wl,-rpath,{self.library.parent}"]
        command = [compiler, "-g", "-finstrument-functions", "-pthread", *flags, f"-I{self.include}", str(HERE / source),
                   "-o", str(program), *links, "-ldl"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            self.say(f"build {name}", done.stdout.splitlines() or ["no output"])
            return None
        return program

    def plugs(self):
        for letter, who, step in (("a", 12, 1), ("b", 13, 2)):
            subprocess.run(["gcc", "-O1", "-g", "-finstrument-functions", "-shared", "-fPIC", f"-DPLUG=plug_{letter}",
                            f"-DPLUG_WHO={who}", f"-DPLUG_STEP={step}", str(HERE / "recorded_plug.c"), "-o",
                            str(self.folder / f"plug_{letter}.so")], check=True)

    def run(self, program, mode, count, options="", environment=None):
        trace, counts = self.folder / "trace", self.folder / "counts"
        for path in (trace, counts):
            path.unlink(missing_ok=True)
        variables = dict(os.environ, PERFRAY_RT=f"file={trace} keep=first size=64M {options}", COUNTS=str(counts),
                         PLUG_A=str(self.folder / "plug_a.so"), PLUG_B=str(self.folder / "plug_b.so"), **(environment or {}))
        done = subprocess.run([str(program), mode, str(count)], env=variables, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        edges = Counter()
        for i, number in enumerate(struct.unpack("<256Q", counts.read_bytes())):
            if number:
                edges[WHO[i // 16], WHO[i % 16]] = number
        return done.returncode, edges, trace


def map_paths(*paths):
    return tuple(Path(path).resolve() for path in paths)


def plain(names):
    return Counter({tuple(PLAIN.get(n, n) for n in key) if isinstance(key, tuple) else PLAIN.get(key, key): number
                    for key, number in names.items()})


def by_callee(edges):
    calls = Counter()
    for (_, callee), number in edges.items():
        calls[callee] += number
    return calls


def differences(what, ours, theirs):
    return [f"{what} {key}: the trace has {ours[key]}, the program {theirs[key]}"
            for key in sorted(set(ours) | set(theirs), key=str) if ours[key] != theirs[key]]


def judge(got, edges, status, mode):
    _, paths, ended, expected = MODES[mode]
    recorded = Recorded(got)
    wrong = [] if status == expected else [f"the program ended with {status}"]
    wrong += [f"damage at {at}, {size} bytes: {why}" for at, size, why in recorded.gaps()]
    wrong += differences("calls of", plain(recorded.calls()), by_callee(edges))
    if ended:
        wrong += differences("exits of", plain(recorded.calls(("exit",))), by_callee(edges))
    if paths:
        wrong += differences("calls", plain(recorded.edges()), edges)
    if any(recorded.lost):
        wrong.append(f"lost: {recorded.lost}")
    return wrong


def test_modes(t):
    t.plugs()
    for build, (compiler, flags) in BUILDS.items():
        if not shutil.which(compiler):
            print(f"skip runtime/{build} {compiler} is not installed")
            continue
        program = t.build(build, compiler, flags)
        for mode, (count, *_) in MODES.items() if program else ():
            name = f"{build}/{mode}"
            if t.wants(name):
                status, edges, trace = t.run(program, mode, count)
                t.say(name, judge(trace, edges, status, mode))


def test_static(t):
    """The archive: linked into a dynamic program, a static one, a static one that moves."""
    for name, flags in (("archive", []), ("static", ["-static"]), ("static-pie", ["-static-pie"])):
        source = HERE / "recorded_calls.c"
        if not t.wants(name):
            continue
        program = t.build(name, "gcc", ["-O1", "-Wno-unused-result"] + flags, source, [str(t.archive)])
        for mode in ("calls", "threads", "fork", "kill", "exec"):
            if program:
                status, edges, trace = t.run(program, mode, MODES[mode][0])
                t.say(f"{name}/{mode}", judge(trace, edges, status, mode))


def test_throws(t):
    for compiler in ("g++", "clang++-14", "clang++-19"):
        if not t.wants("throws"):
            continue
        if not shutil.which(compiler):
            print(f"skip runtime/throws {compiler} is not installed")
            continue
        program = t.build("throws", compiler, ["-O1", "-x", "c++"], "recorded_throws.cpp",
                          ["-x", "none", str(t.library), f"-Wl,-rpath,{t.library.parent}"])
        status, edges, trace = t.run(program, "calls", 3000)
        # clang's hooks are not called on the way out by an exception: as after longjmp, calls stay open
        t.say(f"throws/{compiler}", judge(trace, edges, status, "calls" if compiler == "g++" else "jumps"))


def test_signals(t):
    """Calls of a handler inside a hook are counted: what is recorded and what is lost add up."""
    if not t.wants("signals"):
        return
    program = t.build("signals", "gcc", ["-O1"])
    status, edges, trace = t.run(program, "signals", 800000)
    recorded = Recorded(trace)
    total = sum(recorded.calls(("enter", "exit")).values())
    wrong = [] if status == 0 else [f"the program ended with {status}"]
    if total + recorded.lost[0] != 2 * sum(edges.values()) or any(recorded.lost[1:]):
        wrong.append(f"{total} recorded, {recorded.lost} lost, {2 * sum(edges.values())} made")
    if by_callee(edges)["handler"] < 100:
        wrong.append("hardly any signal came")
    calls = recorded.calls()
    for name in ("leaf", "middle", "top"):
        if not by_callee(edges)[name] - recorded.lost[0] <= calls[name] <= by_callee(edges)[name]:
            wrong.append(f"{name}: {calls[name]} of {by_callee(edges)[name]}")
    t.say("signals", wrong)


def test_filters(t):
    if not t.wants("filters"):
        return
    program = t.build("filters", "gcc", ["-O0"])
    for options, expected in (("include=lea*", {"leaf"}), ("exclude=leaf", {"middle", "top"}), ("depth=2", {"top", "middle"}),
                              ("filter=middle", {"middle", "leaf"}), ("notrace=middle", {"top"}),
                              ("filter=middle depth=1", {"middle"}), ("threshold=10s", set()),
                              ("include=top|leaf", {"top", "leaf"}), ("clock=mono", {"top", "middle", "leaf"})):
        status, edges, trace = t.run(program, "calls", 1000, options)
        ours = Recorded(trace).calls()
        theirs = Counter({name: number for name, number in by_callee(edges).items() if name in expected})
        wrong = differences("calls of", ours, theirs)
        if status != 0:
            wrong.append(f"the program ended with {status}")
        t.say(f"filters/{options.replace(' ', '_')}", wrong)


def test_ring(t):
    """The last calls are kept, in whole buffers, and llvm-xray reads what lies there."""
    if not t.wants("ring"):
        return
    program = t.build("ring", "gcc", ["-O0"])
    trace = t.folder / "trace"
    status, edges, trace = t.run(program, "calls", 200000, "keep=last size=1M buffer=16k")
    recorded = Recorded(trace)
    calls = [r for r in recorded.trace.records if r.kind in ("enter", "exit")]
    calls.sort(key=lambda r: r.tsc)
    wrong = [f"damage at {at}: {why}" for at, _, why in recorded.gaps()]
    if len(calls) < 900000 // 8:
        wrong.append(f"only {len(calls)} of the last are kept")
    if recorded.names.get(calls[-1].func) != "top" or calls[-1].kind != "exit":
        wrong.append("the last call is not the last of the program")
    shape = [("middle", "enter"), ("leaf", "enter"), ("leaf", "exit"), ("leaf", "enter"), ("leaf", "exit"), ("middle", "exit")]
    told = [(recorded.names[r.func], r.kind) for r in calls[:-1]]
    begin = next(i for i in range(6) if told[i:i + 6] == shape)
    for i in range(begin, len(told)):
        if told[i] != shape[(i - begin) % 6]:
            wrong.append(f"call {i} of {len(told)} is out of turn: {told[i]}")
            break
    t.say("ring", wrong)


def test_llvm(t):
    if not t.wants("llvm"):
        return
    if not shutil.which("llvm-xray-19"):
        print("skip runtime/llvm llvm-xray-19 is not installed")
        return
    program = t.build("llvm", "gcc", ["-O1"])
    _, edges, trace = t.run(program, "calls", 3000, "size=1M")
    names = Recorded(trace).names
    done = subprocess.run(["llvm-xray-19", "account", "-f", "csv", str(trace)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    ours = Counter()
    for line in done.stdout.splitlines()[1:]:
        function, number = line.split(",")[:2]
        ours[names[int(function)]] += int(number)
    t.say("llvm", done.stderr.splitlines() + differences("calls of", ours, by_callee(edges)))


def main(argv):
    t = Tests(argv[0], argv[1], argv[2], argv[3:])
    try:
        for test in (test_modes, test_static, test_throws, test_signals, test_filters, test_ring, test_llvm):
            test(t)
    finally:
        shutil.rmtree(t.folder, ignore_errors=True)
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
