#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_runtime.py - programs under the flight recorder, which keep an account of their own.

usage: run_runtime.py LIBRARY ARCHIVE INCLUDE [WORD...]

The programs of tests/runtime/programs are built with -finstrument-functions in several ways and run; how often who called
whom, as they say it themselves, must be what the trace has. The trace is read by tests/oracle/xray/oracle.py, and by llvm-xray
where that is installed. With WORDs only tests whose names have one of them are run.
"""
import os
import shutil
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
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
    "gcc-tsan": ("gcc", ["-O1", "-fsanitize=thread"]),
    "gcc-asan": ("gcc", ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
}
WHOLE = "gcc-O2"  # the other builds make a fifth of the calls
SHARE = 1 if harness.LONG else 4  # of the calls that are counted here, one in so many is made
# Sanitizers take what ends a program for their own, and have frames too large for a deep recursion.
SANITIZED = ("calls", "tail", "jumps", "threads", "short_threads", "fork", "errno", "exec", "_exit", "kill")
# mode -> count, whether paths are compared, whether every call ends, expected status
MODES = {
    "calls": (20000, True, True, 0), "deep": (100000, True, True, 0), "tail": (5000, True, True, 0),
    "jumps": (999, False, False, 0), "threads": (5000, True, True, 0), "short_threads": (50, True, True, 0),
    "fork": (2000, True, True, 0), "objects": (100, False, True, 0), "routines": (500, False, False, 0),
    "errno": (2000, True, True, 0), "exec": (2000, True, False, 0), "abort": (20000, False, False, -6),
    "segv": (20000, False, False, -11), "_exit": (20000, False, False, 0), "kill": (20000, False, False, -9),
}


FULL_AT = 128 + 32 + 6 * 8 + 3 * 4  # in the file: struct rtf_control


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


def test_modes(t):
    t.plugs()
    for build, (compiler, flags) in BUILDS.items():
        if not shutil.which(compiler):
            harness.skip(f"runtime/{build}", f"{compiler} is not installed")
            continue
        program = t.build(build, compiler, flags) if any(t.wants(f"{build}/{mode}") for mode in MODES) else None
        for mode, (count, *_) in MODES.items() if program else ():
            name = f"{build}/{mode}"
            if t.wants(name) and (mode in SANITIZED or "san" not in build):
                status, edges, trace = t.run(program, mode, max(50, count // SHARE // (1 if build == WHOLE else 5)))
                t.say(name, judge(trace, edges, status, mode))


def test_killed_from_outside(t):
    """SIGKILL at any moment: of what each thread counted, all is there but for the call that was under way."""
    if not t.wants("killed"):
        return
    program, trace, counts = t.build("killed", "gcc", ["-O1"]), t.folder / "trace", t.folder / "counts"
    made = kept = 0
    wrong = []
    for moment in range(5):
        for path in (trace, counts):
            path.unlink(missing_ok=True)
        child = subprocess.Popen([str(program), "threads", "100000000"],
                                 env=dict(os.environ, PERFRAY_RT=f"file={trace} keep=first size=32M", COUNTS=str(counts)))
        while not counts.exists() or len(data := counts.read_bytes()) < 2048 or sum(struct.unpack("<256Q", data)) < 9000 * (moment + 1):
            time.sleep(0.0003)
        child.kill()
        child.wait()
        edges = Counter({(WHO[i // 16], WHO[i % 16]): n for i, n in enumerate(struct.unpack("<256Q", counts.read_bytes())) if n})
        recorded = Recorded(trace)
        full = struct.unpack_from("<I", trace.read_bytes(), FULL_AT)[0]
        calls, theirs = recorded.calls(), by_callee(edges)
        made += sum(theirs.values())
        kept += sum(calls.values())
        wrong += [str(gap) for gap in recorded.gaps()] + ["there was no more room"] * full
        wrong += [f"calls of {name}: {calls[name]} of {theirs[name]}" for name in theirs if abs(calls[name] - theirs[name]) > 4]
    if kept < 0.999 * made:
        wrong.append(f"{kept} of {made} calls")
    t.say("killed", wrong)
    print(f"    {kept} of {made} calls are kept")


def test_matrix(t):
    """Each compiler, level and standard; all of them with PERFRAY_LONG, else one of each level."""
    everything = harness.LONG
    for compiler in ("gcc", "clang-14", "clang-19"):
        for level in range(4):
            for which, standard in enumerate(("c11", "c17", "c++11", "c++14", "c++17", "c++20")):
                name = f"matrix/{compiler}-O{level}-{standard}"
                plus = "++" in standard
                made_by = compiler.replace("gcc", "g++").replace("clang", "clang++") if plus else compiler
                if not t.wants(name) or not (everything or (level, compiler) == ((0, "gcc"), (1, "clang-14"), (3, "clang-19"))[which % 3]
                                             and which in (0, 1, 5)):
                    continue
                if not shutil.which(made_by):
                    harness.skip(f"runtime/{name}", f"{made_by} is not installed")
                    continue
                flags = [f"-O{level}", f"-std={standard}", "-D_GNU_SOURCE"] + (["-x", "c++"] if plus else [])
                links = ["-x", "none"] if plus else []
                program = t.build("matrix", made_by, flags, "recorded_throws.cpp" if plus else "recorded_calls.c",
                                  [*links, str(t.library), f"-Wl,-rpath,{t.library.parent}"])
                for mode in ("calls",) if plus else ("calls", "tail", "threads", "kill"):
                    if program:
                        status, edges, trace = t.run(program, mode, 900, "size=8M")
                        # clang's hooks are not called on the way out by an exception
                        t.say(f"{name}/{mode}", judge(trace, edges, status, "jumps" if plus and compiler != "gcc" else mode))


def test_static(t):
    """The archive: linked into a dynamic program, a static one, a static one that moves."""
    for name, flags in (("archive", []), ("static", ["-static"]), ("static-pie", ["-static-pie"])):
        source = HERE / "recorded_calls.c"
        if not t.wants(name):
            continue
        program = t.build(name, "gcc", ["-O1", "-Wno-unused-result"] + flags, source, [str(t.archive)])
        for mode in ("calls", "threads", "fork", "kill", "exec"):
            if program:
                status, edges, trace = t.run(program, mode, MODES[mode][0] // SHARE)
                t.say(f"{name}/{mode}", judge(trace, edges, status, mode))


def test_throws(t):
    for compiler in ("g++", "clang++-14", "clang++-19"):
        if not t.wants("throws"):
            continue
        if not shutil.which(compiler):
            harness.skip("runtime/throws", f"{compiler} is not installed")
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
    status, edges, trace = t.run(program, "signals", 800000 // SHARE)
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


def test_valgrind(t):
    """Every load, store and system call of the recorder is looked at, in children too."""
    if not t.wants("valgrind"):
        return
    if not shutil.which("valgrind"):
        harness.skip("runtime/valgrind", "valgrind is not installed")
        return
    t.plugs()
    program = t.build("valgrind", "gcc", ["-O1"])
    for mode, count in (("threads", 100), ("fork", 100), ("jumps", 100), ("objects", 10), ("exec", 100)):
        status, edges, trace = t.run(program, mode, count, "size=8M", before=(
            "valgrind", "-q", "--error-exitcode=99", "--trace-children=yes", "--leak-check=full"))
        t.say(f"valgrind/{mode}", judge(trace, edges, status, mode))


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
        if "PERFRAY" in os.environ and ("taken back" in perfray("latency", trace).stdout) != ("threshold" in options):
            wrong.append("what is said of calls that were taken back is not so")
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
        harness.skip("runtime/llvm", "llvm-xray-19 is not installed")
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


def perfray(*words, **more):
    return subprocess.run([harness.PERFRAY, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120, **more)


def table_of(text):
    """name -> count of the CSV or text table"""
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    table = Counter()
    for row in rows:  # those of one name in several objects
        if row[0].isdigit():
            table[row[-1]] += int(row[0])
    return table


def test_trace(t):
    """The command: names without a map, the program's status, what it says of programs that cannot be recorded."""
    if not t.wants("trace") or "PERFRAY" not in os.environ:
        return
    source, trace = HERE / "recorded_calls.c", t.folder / "out.xray"
    program = t.folder / "hooked"
    subprocess.run(["gcc", "-g", "-O1", "-finstrument-functions", "-pthread", "-o", program, source], check=True)
    for mode, expected in (("calls", 0), ("threads", 0), ("kill", 137), ("abort", 134), ("segv", 139), ("_exit", 0), ("exec", 0)):
        counts = t.folder / "counts"
        counts.unlink(missing_ok=True)
        done = perfray("trace", "-o", trace, "--size", "64M", "--", program, mode, 3000,
                       env=dict(os.environ, COUNTS=str(counts)))
        edges = Counter({(WHO[i // 16], WHO[i % 16]): n for i, n in enumerate(struct.unpack("<256Q", counts.read_bytes())) if n})
        theirs = by_callee(edges)
        wrong = [] if done.returncode == expected and not done.stderr else [f"status {done.returncode}: {done.stderr}"]
        recorded = Recorded(trace)
        wrong += differences("calls of", recorded.calls(), theirs)
        finished = Counter()
        for (_, callee), number in recorded.edges().items():
            finished[callee] += number
        wrong += differences("rows of", table_of(done.stdout), Counter({name: finished[name] for name in theirs}))
        latency = perfray("latency", trace)
        if latency.stdout != done.stdout:
            wrong.append("the table is another one the second time")
        names = Counter(line.split()[-1] for line in perfray("script", trace).stdout.splitlines() if " enter " in line)
        wrong += differences("enters in script of", names, theirs)
        verified = perfray("verify", trace)
        if verified.returncode:
            wrong.append("verify: " + verified.stdout[:200])
        t.say(f"trace/{mode}", wrong)
    plain_program = t.folder / "plain"
    subprocess.run(["gcc", "-pthread", "-o", plain_program, source], check=True)
    done = perfray("trace", "-o", trace, plain_program)
    t.say("trace/no-hooks", [] if done.returncode == 2 and "-finstrument-functions" in done.stderr and not done.stdout
          else [f"status {done.returncode}: {done.stderr}"])
    done = perfray("trace", "-o", trace, t.folder / "nothing")
    t.say("trace/no-program", [] if done.returncode == 5 and "cannot be run" in done.stderr else [done.stderr])


def test_status_fd(t):
    """Both statuses, also where the program is ended by a signal, cannot be run, or has no hooks."""
    if not t.wants("status_fd") or "PERFRAY" not in os.environ:
        return
    program, plain_program = t.build("status", "gcc", ["-O1"]), t.folder / "plain"
    (t.folder / "plain.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-o", plain_program, t.folder / "plain.c"], check=True)
    wrong = []
    for words, code, told in (([program, "calls", 10], 0, "0 0"), ([program, "nonsense", 1], None, None), ([program, "kill", 10], 137, "0 9"),
                              ([plain_program], 2, "2 -"), ([t.folder / "none"], 5, "5 -")):
        read, write = os.pipe()
        done = perfray("trace", "-q", "-o", t.folder / "trace", "--status-fd", write, "--", *words, pass_fds=[write],
                       env=dict(os.environ, COUNTS=str(t.folder / "counts")))
        os.close(write)
        with os.fdopen(read) as pipe:
            line = pipe.read()
        if code is None:  # what the program itself ends with
            code = subprocess.run(list(map(str, words)), env=dict(os.environ, COUNTS=str(t.folder / "counts"))).returncode
            told = f"0 {code << 8}"
        if done.returncode != code or line != told + "\n":
            wrong.append(f"{words[0].name}: status {done.returncode}, not {code}; told {line!r}, not {told!r}; {done.stderr}")
    t.say("status_fd", wrong)


def test_installed(t):
    """What `meson install` puts there is enough: flags by pkg-config, for calls and for sleds, and the command finds the library."""
    if not t.wants("installed"):
        return
    build = t.library.parent.parent.parent
    if not (build / "build.ninja").exists() or not shutil.which("meson") or not shutil.which("pkg-config"):
        harness.skip("runtime/installed", "meson or pkg-config is not here")
        return
    there = t.folder / "installed"
    done = subprocess.run(["meson", "install", "-C", str(build), "--no-rebuild", "--quiet"], env=dict(os.environ, DESTDIR=str(there)),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    folders = {path.parent for path in there.rglob("perfray-rt*.pc")}
    if done.returncode or len(folders) != 1:
        t.say("installed", [done.stdout, str(folders)])
        return
    variables = dict(os.environ, PKG_CONFIG_PATH=str(folders.pop()))
    (t.folder / "twice.c").write_text("int twice(int x) { __asm__ volatile(\"\"); return 2 * x; }\n"
                                      "int main(void) { return twice(0) + twice(0); }\n")

    def flags(*what):
        return subprocess.run(["pkg-config", *what], env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    moved = f"--define-variable=prefix={there}{flags('--variable=prefix', 'perfray-rt')[0]}"
    library = next(there.rglob("libperfray-rt.so.0")).parent
    ways = {"perfray-rt": ("gcc", []), "perfray-rt-xray": ("clang-19", ["-fxray-instrument", "-fxray-instruction-threshold=1"])}
    for name, (compiler, more) in ways.items():
        if not shutil.which(compiler):
            harness.skip(f"runtime/installed/{name}", f"{compiler} is not installed")
            continue
        program, trace = t.folder / "twice", t.folder / "trace"
        trace.unlink(missing_ok=True)
        subprocess.run([compiler, "-O0", *more, *flags(moved, "--cflags", name), "-c", "twice.c", "-o", "twice.o"], cwd=t.folder, check=True)
        subprocess.run([compiler, "twice.o", *flags(moved, "--libs", name), "-o", str(program)], cwd=t.folder, check=True)
        done = subprocess.run([str(program)], env=dict(os.environ, LD_LIBRARY_PATH=str(library), PERFRAY_RT=f"file={trace} keep=first"))
        wrong = [] if done.returncode == 0 else [str(done)]
        t.say(f"installed/{name}", wrong + differences("calls of", Recorded(trace).calls(), Counter({"main": 1, "twice": 2})))
    command = next(path for path in there.rglob("perfray") if path.parent.name == "bin")
    subprocess.run(["gcc", "-O0", "-finstrument-functions", "twice.c", "-o", "plain_twice"], cwd=t.folder, check=True)
    done = subprocess.run([str(command), "trace", "-o", "trace", "./plain_twice"], cwd=t.folder, stdout=subprocess.PIPE, text=True,
                          env=dict({k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}, LD_LIBRARY_PATH=str(library)))
    t.say("installed/command", [] if done.returncode == 0 and table_of(done.stdout)["twice"] == 2 else [str(done)])


def test_as_it_lies(t):
    """A trace whose program was killed, before anybody made it smaller: the same answer, and nothing is damaged."""
    if not t.wants("as_it_lies") or "PERFRAY" not in os.environ:
        return
    program = t.build("as_it_lies", "gcc", ["-O1"])
    for options in ("", "buffer=4k", "keep=last size=16M"):
        _, edges, trace = t.run(program, "kill", 20000, options)
        done = perfray("script", trace)
        names = Counter(line.split()[-1] for line in done.stdout.splitlines() if " enter " in line)
        wrong = differences("enters of", names, by_callee(edges))
        if done.returncode or done.stderr:
            wrong.append(f"status {done.returncode}: {done.stderr}")
        made = t.folder / "made"  # by what knows nothing of slots: names are found all the same
        for verb in ("convert", "recover"):
            made.unlink(missing_ok=True)
            done = perfray(verb, "-o", made, trace)
            names = Counter(line.split()[-1] for line in perfray("script", made).stdout.splitlines() if " enter " in line)
            wrong += differences(f"enters after {verb} of", names, by_callee(edges))
            if done.returncode:
                wrong.append(f"{verb}: status {done.returncode}: {done.stderr}")
        t.say(f"as_it_lies/{options.replace(' ', '_') or 'plain'}", wrong)


def test_examples(t):
    if not t.wants("examples") or "PERFRAY" not in os.environ:
        return
    folder = HERE.parent.parent.parent / "examples"
    for name, compiler, says, rows in (
            ("recorded.c", "gcc", "0 not recorded", {"main": 1, "handle": 1000, "parse": 1000, "lookup": 1000,
                                                     "read_disk": 10, "work": 2010}),
            ("recorded_scopes.cpp", "g++", "4500, 10 missing", {"main": 1, "read_number": 100, "reading": 100})):
        program, trace = t.folder / "example", t.folder / "example.xray"
        subprocess.run([compiler, "-O1", "-finstrument-functions", f"-I{t.include}", str(folder / name), str(t.library),
                        f"-Wl,-rpath,{t.library.parent}", "-o", str(program)], check=True)
        done = perfray("trace", "-o", trace, program)
        table = table_of("\n".join(done.stdout.splitlines()[1:]))
        wrong = [f"{row}: {table[row]}, not {number}" for row, number in rows.items() if table[row] != number]
        if done.returncode or says not in done.stdout or done.stderr:
            wrong.append(f"status {done.returncode}: {done.stdout[:100]} {done.stderr}")
        t.say(f"examples/{name}", wrong)


ALLOWED = {"__rseq_offset", "__rseq_size", "_dl_find_object", "clock_gettime", "dl_iterate_phdr", "environ", "getauxval", "pthread_atfork",
           "pthread_key_create", "pthread_setspecific", "_GLOBAL_OFFSET_TABLE_"}


def test_fortran(t):
    if not t.wants("fortran"):
        return
    if not shutil.which("gfortran"):
        harness.skip("runtime/fortran", "gfortran is not installed")
        return
    program, trace = t.folder / "fortran", t.folder / "trace"
    trace.unlink(missing_ok=True)
    subprocess.run(["gfortran", "-O0", "-finstrument-functions", str(HERE / "recorded_work.f90"), str(t.library),
                    f"-Wl,-rpath,{t.library.parent}", "-o", str(program)], cwd=t.folder, check=True)
    done = subprocess.run([str(program)], env=dict(os.environ, PERFRAY_RT=f"file={trace} size=4M"))
    calls = Recorded(trace).calls()
    t.say("fortran", [] if done.returncode == 0 and calls["__work_MOD_leaf"] == 1000 and calls["main"] == 1 else [str(calls)])


def test_symbols(t):
    """What the recorder needs of others, and what of it others see."""
    if not t.wants("symbols"):
        return
    lines = subprocess.run(["nm", str(t.archive)], text=True, stdout=subprocess.PIPE, check=True).stdout
    first = [line.split() for line in lines.split("loads.o:")[0].splitlines() if line.split()[1:]]
    needed = {words[-1] for words in first if words[-2] in "Uw"}
    seen = {words[-1] for words in first if words[-2] in "TDBRVW"}
    wrong = [f"needs {name}" for name in sorted(needed - ALLOWED)]
    declared = {line.split("(")[0].split()[-1].lstrip("*") for line in (t.include / "perfray/runtime.h").read_text().splitlines()
                if line.endswith(");") and "pfr_rt_" in line and line[0] not in " #"}
    wrong += [f"shows {name}" for name in sorted(seen ^ (declared | {
        "__cyg_profile_func_enter", "__cyg_profile_func_exit", "__xray_CustomEvent", "__xray_TypedEvent", "perfray_rt_loaded_",
        "perfray_rt_unloading_", "perfray_rt_unloaded_", "perfray_rt_counter_ends_", "perfray_rt_counter_stays_", "perfray_rt_guard_action_",
        "perfray_rt_guard_blocked_", "perfray_rt_guard_is_on_", "perfray_rt_guard_restorer_"}))]
    t.say("symbols", wrong)


MANY_FUNCTIONS = r"""
#include <stdlib.h>
void __cyg_profile_func_enter(void *, void *);
void __cyg_profile_func_exit(void *, void *);
int main(int count, char **words) {
    const unsigned long functions = strtoul(words[1], 0, 10), rounds = strtoul(words[count - 1], 0, 10);
    for (unsigned long round = 0; round < rounds; round++)
        for (unsigned long i = 0; i < functions; i++) {
            __cyg_profile_func_enter((void *)(0x10000000ul + 16 * i), 0);
            __cyg_profile_func_exit((void *)(0x10000000ul + 16 * i), 0);
        }
    return 0;
}
"""


def test_many_functions(t):
    """What a call costs does not depend on how many functions there are: in instructions, since misses are the machine's."""
    if not t.wants("many_functions"):
        return
    if not shutil.which("valgrind"):
        harness.skip("runtime/many_functions", "valgrind is not installed")
        return
    source, program = t.folder / "many_functions.c", t.folder / "many_functions"
    source.write_text(MANY_FUNCTIONS)
    subprocess.run(["gcc", "-O1", str(source), "-o", str(program), str(t.library), f"-Wl,-rpath,{t.library.parent}"], check=True)

    def instructions(*words):
        (t.folder / "trace").unlink(missing_ok=True)
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), *map(str, words)], text=True,
                              env=dict(os.environ, PERFRAY_RT=f"file={t.folder}/trace size=64M keep=last"), stderr=subprocess.PIPE)
        return int(done.stderr.split("Collected :")[1].split()[0])

    costs = {n: (instructions(n, 3) - instructions(n, 2)) / n / 2 for n in (1000, 400000)}
    t.say("many_functions", [] if costs[400000] <= 3 * costs[1000] else [f"{costs} instructions a call"])


def test_system_calls(t):
    """Once its buffers were all used, a ring makes no system call at all."""
    if not t.wants("system_calls"):
        return
    if not shutil.which("strace"):
        harness.skip("runtime/system_calls", "strace is not installed")
        return
    program = t.build("system_calls", "gcc", ["-O1"])
    calls = []
    for count in (50000, 500000):
        trace, counts, log = (t.folder / name for name in ("trace", "counts", "log"))
        environment = dict(os.environ, PERFRAY_RT=f"file={trace} keep=last size=1M", COUNTS=str(counts))
        trace.unlink(missing_ok=True)
        subprocess.run(["strace", "-f", "-qq", "-o", str(log), str(program), "calls", str(count)], env=environment, check=True)
        calls.append(sum(1 for line in log.read_text().splitlines()))
    t.say("system_calls", [] if calls[0] == calls[1] else [f"{calls[0]} calls, and {calls[1]} for ten times the work"])


def main(argv):
    with harness.scratch("runtime") as folder:
        t = Tests(folder, argv[0], argv[1], argv[2], argv[3:])
        for test in (test_modes, test_matrix, test_killed_from_outside, test_static, test_throws, test_signals, test_valgrind, test_filters, test_ring, test_llvm, test_trace, test_status_fd, test_installed, test_as_it_lies,
                     test_examples, test_fortran, test_symbols, test_many_functions, test_system_calls):
            test(t)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
