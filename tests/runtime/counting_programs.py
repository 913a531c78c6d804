# SPDX-License-Identifier: Apache-2.0
"""Builds and runs programs that count their own calls, under the flight recorder, and checks that the traces have what they
counted."""
import os
import re
import struct
import subprocess
from collections import Counter
from pathlib import Path

import harness
from recorded import Recorded

HERE = Path(__file__).resolve().parent / "programs"
WHO = (None, "main", "leaf", "middle", "top", "down", "throws", "catches", "jumps", "handler", "worker", "other", "plug_a",
       "plug_b", "routine", None)
PLAIN = {"_Z4leafi": "leaf", "_Z6middlei": "middle", "_Z6throwsi": "throws", "_Z7catchesi": "catches"}
# Sanitizers handle the signals that end a program, and their frames are too large for a deep recursion.
SANITIZED = ("calls", "tail", "jumps", "threads", "short_threads", "fork", "errno", "exec", "_exit", "kill")
# {mode: (count, whether paths are compared, whether every call ends, expected status)}
MODES = {
    "calls": (20000, True, True, 0), "deep": (100000, True, True, 0), "tail": (5000, True, True, 0),
    "jumps": (999, False, False, 0), "threads": (5000, True, True, 0), "short_threads": (50, True, True, 0),
    "fork": (2000, True, True, 0), "objects": (100, False, True, 0), "routines": (500, False, False, 0),
    "errno": (2000, True, True, 0), "exec": (2000, True, False, 0), "abort": (20000, False, False, -6),
    "segv": (20000, False, False, -11), "_exit": (20000, False, False, 0), "kill": (20000, False, False, -9),
}


class Tests:
    def __init__(self, folder, library, archive, include, words):
        self.library, self.archive, self.include, self.words = map_paths(library, archive, include) + (words,)
        self.folder = Path(folder)

    def wants(self, name):
        return not self.words or any(word in name for word in self.words)

    def say(self, name, wrong):
        harness.result("runtime/" + name, wrong)

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

    def run(self, program, mode, count, options="", environment=None, before=()):
        trace, counts = self.folder / "trace", self.folder / "counts"
        for path in (trace, counts):
            path.unlink(missing_ok=True)
        variables = dict(os.environ, PERFRAY_RT=f"file={trace} keep=first size=64M {options}", COUNTS=str(counts),
                         PLUG_A=str(self.folder / "plug_a.so"), PLUG_B=str(self.folder / "plug_b.so"), **(environment or {}))
        done = subprocess.run([*before, str(program), mode, str(count)], env=variables, stdout=subprocess.PIPE,
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
    twice = [name for name, number in Counter(recorded.names.values()).items() if number > 1]
    if mode == "exec" and twice:
        wrong.append(f"more than one id: {twice}")
    if any(recorded.lost):
        wrong.append(f"lost: {recorded.lost}")
    return wrong


def besides_result(done, trace):
    """What `perfray trace` printed on stderr besides the one line that names the trace."""
    lines = done.stderr.splitlines(keepends=True)
    wrote = [line for line in lines if re.fullmatch(rf"perfray: wrote {re.escape(str(trace))}: \d+ calls? of \d+ functions?\n", line)]
    return "".join(line for line in lines if line not in wrote) if len(wrote) == 1 else "not one line names the trace: " + done.stderr


def perfray(*words, **more):
    return subprocess.run([harness.PERFRAY, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120, **more)


def table_of(text):
    """Returns {name: count} from the CSV or text table."""
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    table = Counter()
    for row in rows:  # functions with the same name in several objects
        if row[0].isdigit():
            table[row[-1]] += int(row[0])
    return table
