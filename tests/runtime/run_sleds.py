#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_sleds.py - tests the flight recorder with programs that have the sleds of clang's -fxray-instrument.

usage: run_sleds.py LIBRARY ARCHIVE INCLUDE [WORD...]

Like run_runtime.py, with the same programs, which count their own calls: the trace must have the same counts. The programs are linked without clang's runtime
unless stated.
"""
import csv
import json
import os
import shutil
import struct
import subprocess
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from recorded import Recorded
from counting_programs import HERE, MODES, SANITIZED, Tests, besides_result, by_callee, differences, judge, perfray, table_of

SLEDS = ["-g", "-fxray-instrument", "-fxray-instruction-threshold=1", "-pthread", "-Wno-psabi"]
# {name: (compiler, compiler flags, linker flags)}
BUILDS = {
    "clang14-O0": ("clang-14", ["-O0"], []),
    "clang14-O2": ("clang-14", ["-O2"], []),
    "clang19-O2": ("clang-19", ["-O2"], []),
    "clang19-no-pie": ("clang-19", ["-O3", "-fno-pie"], ["-no-pie"]),
    "clang19-archive": ("clang-19", ["-O1"], None),
    "clang19-static": ("clang-19", ["-O1", "-fno-pie"], ["-static"]),
    "clang14-static-pie": ("clang-14", ["-O1"], ["-static-pie"]),
    "clang14-tsan": ("clang-14", ["-O1", "-fsanitize=thread"], ["-fsanitize=thread"]),
    "clang14-asan": ("clang-14", ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"], ["-fsanitize=address,undefined"]),
}
FEW = ("calls", "fork", "kill")
STATIC = ("calls", "threads", "fork", "kill", "exec")
USUAL = ("calls", "deep", "jumps", "threads", "short_threads", "fork", "objects", "routines", "errno", "exec", "segv", "kill")


class Sleds(Tests):
    def build(self, name, compiler, flags, source="recorded_calls.c", links=(), objects=()):
        """Compiled with sleds, but linked without the flag, so that clang does not link its own runtime."""
        program, part = self.folder / name, self.folder / f"{name}.o"
        library = [str(self.library), f"-Wl,-rpath,{self.library.parent}"]
        if links is None or "-static" in links or "-static-pie" in links:
            library = [str(self.archive)]
        commands = [[compiler, *SLEDS, *flags, f"-I{self.include}", "-c", str(HERE / source), "-o", str(part)],
                    [compiler, str(part), *objects, *(links or ()), "-Wl,-u,pfr_rt_start", *library, "-pthread", "-ldl", "-o",
                     str(program)]]
        for command in commands:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                self.say(f"build {name}", done.stdout.splitlines() or ["no output"])
                return None
        return program

    def plugs(self, compiler):
        for letter, who, step in (("a", 12, 1), ("b", 13, 2)):
            subprocess.run([compiler, *SLEDS, "-O0", "-shared", "-fPIC", f"-DPLUG=plug_{letter}", f"-DPLUG_WHO={who}",
                            f"-DPLUG_STEP={step}", str(HERE / "recorded_plug.c"), "-o",
                            str(self.folder / f"plug_{letter}.so")], check=True)

    def has(self, compiler, name):
        if not self.wants(name):
            return False
        if not shutil.which(compiler):
            harness.skip(f"sleds/{name}", f"{compiler} is not installed")
            return False
        return True


def test_modes(t):
    for build, (compiler, flags, links) in BUILDS.items():
        if not t.has(compiler, build):
            continue
        modes = USUAL if build in ("clang14-O2", "clang19-O2") else STATIC if "static" in build else SANITIZED if "san" in build else FEW
        t.plugs(compiler)
        program = t.build(build, compiler, flags, links=links)
        for mode in modes if program else ():
            status, edges, trace = t.run(program, mode, MODES[mode][0] // (1 if mode in ("deep", "objects") else 8))
            t.say(f"{build}/{mode}", judge(trace, edges, status, mode))


def test_valgrind(t):
    """valgrind sees the patched code, because it is patched before it first runs. Children and the programs that they execute are checked, too."""
    if not t.has("clang-14", "valgrind"):
        return
    if not shutil.which("valgrind"):
        harness.skip("sleds/valgrind", "valgrind is not installed")
        return
    t.plugs("clang-14")
    program = t.build("valgrind", "clang-14", ["-O1", "-gdwarf-4"])
    for mode, count in (("threads", 100), ("fork", 100), ("jumps", 100), ("objects", 10), ("exec", 100)) if program else ():
        status, edges, trace = t.run(program, mode, count, "size=8M", before=(
            "valgrind", "-q", "--error-exitcode=99", "--trace-children=yes", "--leak-check=full", "--smc-check=all"))
        t.say(f"valgrind/{mode}", judge(trace, edges, status, mode))


def test_throws(t):
    for compiler in ("clang++-14", "clang++-19"):
        if t.has(compiler, "throws"):
            program = t.build("throws", compiler, ["-O1"], "recorded_throws.cpp")
            status, edges, trace = t.run(program, "calls", 3000)
            # no sled runs when an exception leaves a function: as after longjmp, calls stay open
            t.say(f"throws/{compiler}", judge(trace, edges, status, "jumps"))


def own_program(t, compiler, level="-O2"):
    return t.build(f"own-{compiler}{level}", compiler, [level], "recorded_sleds.c")


def test_own(t):
    """Registers, tail calls, arguments and events, with buffers so small that each of them is often the first in a buffer."""
    for compiler in ("clang-14", "clang-19"):
        program = own_program(t, compiler) if t.has(compiler, f"own/{compiler}") else None
        for options in ("", "buffer=4k", "clock=mono buffer=4k", "threshold=1s", "depth=1") if program else ():
            status, edges, trace = t.run(program, "registers", 600, options)
            calls = Recorded(trace).calls()
            theirs = Counter({name: n for name, n in by_callee(edges).items()})
            ours = Counter({name: 0 for name in theirs}) if "threshold" in options else theirs
            wrong = [] if status == 0 else [f"the program ended with {status}"]
            if "threshold" in options and sum(calls.values()):
                wrong.append(f"short calls were kept: {calls}")
            if "threshold" not in options and sum(calls.values()) != sum(ours.values()):
                wrong.append(f"{sum(calls.values())} calls, the program made {sum(ours.values())}")
            t.say(f"own/{compiler}/registers {options}", wrong)
        if program:
            t.say(f"own/{compiler}/tails", tails(t, program))
            t.say(f"own/{compiler}/arguments", arguments(t, program))
            # at -O1 and above, the code of clang 14 for typed events jumps astray while they are off: it cannot be traced
            plain = program if compiler == "clang-19" else own_program(t, compiler, "-O0")
            t.say(f"own/{compiler}/events", events(t, plain))
            t.say(f"own/{compiler}/toggle", toggle(t, program))


def tails(t, program):
    status, edges, trace = t.run(program, "tails", 3000, "buffer=4k")
    recorded = Recorded(trace)
    wrong = differences("calls of", recorded.calls(), by_callee(edges))
    left = Counter({"other": 3000, "middle": 1500})
    wrong += differences("tail exits of", recorded.calls(("tail_exit",)), left)
    wrong += differences("exits of", recorded.calls(("exit",)), Counter({"leaf": 3000}))
    return wrong + ([] if status == 0 else [f"the program ended with {status}"])


def arguments(t, program):
    """Arguments that the program's attributes log, and arguments that an option requests."""
    _, _, trace = t.run(program, "arguments", 2000, "buffer=4k")
    records = [r for r in Recorded(trace).trace.records if r.kind == "enter_arg"]
    sent = [(i * 7 - 3) % 2 ** 64 for i in range(2000)]
    wrong = [] if [r.args[0] for r in sorted(records, key=lambda r: r.tsc)] == sent else ["arguments are not what was sent"]
    _, _, trace = t.run(program, "tails", 100, "argument=lea*|nothing")
    recorded = Recorded(trace)
    logged = Counter(recorded.names[r.func] for r in recorded.trace.records if r.kind == "enter_arg")
    return wrong + differences("arguments of", logged, Counter({"leaf": 100}))


def events(t, program):
    _, _, trace = t.run(program, "events", 2000, "buffer=4k")
    texts, types = [], []
    for r in Recorded(trace).trace.records:
        if r.kind == "custom_event" and not r.data.startswith(b"perfray-rt"):
            texts.append((r.tsc, r.data.decode()))
        elif r.kind == "typed_event":
            types.append((r.tsc, r.event_type, r.data.decode()))
    sent = [f"event {i}" for i in range(2000)]
    wrong = [] if [text for _, text in sorted(texts)] == sent else ["custom events are not what was sent"]
    if [(number, text) for _, number, text in sorted(types)] != [(i & 0xff, text) for i, text in enumerate(sent)]:
        wrong.append("typed events are not what was sent")
    return wrong


def toggle(t, program):
    status, _, trace = t.run(program, "toggle", 60, "keep=last size=4M")
    recorded = Recorded(trace)
    wrong = [f"damage at {at}: {why}" for at, _, why in recorded.gaps()] + ([] if status == 0 else [f"ended with {status}"])
    calls = recorded.calls(("enter", "enter_arg"))
    if calls["logged"] != 1000 or not calls["middle"]:
        wrong.append(f"what was recorded is {dict(calls)}")
    return wrong


def test_filters(t):
    if not t.has("clang-19", "filters"):
        return
    program = t.build("filters", "clang-19", ["-O1"])
    for options, expected in (("include=lea*", {"leaf"}), ("exclude=leaf", {"middle", "top"}), ("depth=2", {"top", "middle"}),
                              ("filter=middle", {"middle", "leaf"}), ("notrace=middle", {"top"}),
                              ("include=nothing", set())):
        status, edges, trace = t.run(program, "calls", 1000, options)
        theirs = Counter({name: number for name, number in by_callee(edges).items() if name in expected})
        wrong = differences("calls of", Recorded(trace).calls(), theirs)
        t.say(f"filters/{options}", wrong + ([] if status == 0 else [f"the program ended with {status}"]))


def test_trace(t):
    """The command, with a program without a runtime, and with one that contains clang's own runtime."""
    if "PERFRAY" not in os.environ:
        return
    for compiler in ("clang-14", "clang-19"):
        for own in (False, True):
            name = f"trace/{compiler}{'-with-its-runtime' if own else ''}"
            if not t.has(compiler, name):
                continue
            program, part, trace = t.folder / "sleds", t.folder / "sleds.o", t.folder / "out.xray"
            subprocess.run([compiler, *SLEDS, "-O2", "-c", str(HERE / "recorded_calls.c"), "-o", str(part)], check=True)
            subprocess.run([compiler, *(["-fxray-instrument"] if own else []), "-pthread", str(part), "-ldl", "-o",
                            str(program)], check=True)
            done = perfray("trace", "-o", trace, "--", program, "threads", 1000,
                           env=dict(os.environ, COUNTS=str(t.folder / "counts")))
            rows = table_of(done.stdout)
            wrong = [] if done.returncode == 0 and not besides_result(done, trace) else [f"status {done.returncode}: {done.stderr}"]
            for function, number in (("worker", 8), ("top", 8), ("middle", 8000), ("leaf", 16000)):
                if rows[function] != number:
                    wrong.append(f"{function}: {rows[function]}, not {number}")
            t.say(name, wrong)


def test_versions(t):
    """One program's trace in every version: perfray prints the same for all versions, including names; llvm-xray 19
    prints the same for the versions that it can read."""
    if not t.has("clang-19", "versions") or "PERFRAY" not in os.environ:
        return
    program, trace, counts = own_program(t, "clang-19"), t.folder / "version.xray", t.folder / "counts"
    llvm = shutil.which("llvm-xray-19")
    for mode, functions in (("tails", ("leaf", "middle", "other")), ("events", ("events",)), ("arguments", ("logged",))):
        answers = {}
        done = perfray("trace", "-q", "-o", trace, program, mode, 300, env=dict(os.environ, COUNTS=str(counts)))
        for version in (1, 2, 3, 4, 5):
            other = t.folder / f"v{version}.xray"
            other.unlink(missing_ok=True)
            perfray("convert", "--trace", f"fdr{version}", "-o", other, trace)
            latency = perfray("latency", "-f", "csv", other).stdout
            report = perfray("report", "--stdio", "-g", "none", "--sort", "symbol", other).stdout
            head = struct.unpack("<HH", other.read_bytes()[:4])
            answers[version] = latency, report
            wrong = [] if done.returncode == 0 and head == (version, 1) else [f"status {done.returncode}, head {head}"]
            wrong += [f"no row of {name}" for name in functions if name not in latency]
            if answers[version] != answers[1]:
                wrong.append(f"another answer than in version 1: {latency}")
            if llvm and version > 1:
                wrong += by_llvm(other, latency)
            t.say(f"versions/{mode}/{version}", wrong)
    for version in (3, 4, 5):  # as the recorder itself writes them
        status, edges, live = t.run(program, "events", 300, f"version={version} buffer=4k")
        recorded = Recorded(live)
        wrong = [f"damage at {at}: {why}" for at, _, why in recorded.gaps()]
        wrong += differences("calls of", recorded.calls(), Counter({"events": 300}))
        wrong += [] if recorded.lost[3] == (300 if version < 5 else 0) else [f"lost: {recorded.lost}"]
        kinds = Counter(r.kind for r in recorded.trace.records if not r.data or not r.data.startswith(b"perfray-rt"))
        wrong += differences("events of", Counter({k: kinds[k] for k in ("custom_event", "typed_event")}),
                             Counter({"custom_event": 300, "typed_event": 300 if version == 5 else 0}))
        t.say(f"versions/live/{version}", wrong)
    done = perfray("trace", "--trace-version", 2, "-o", trace, program, "tails", 300, env=dict(os.environ, COUNTS=str(counts)))
    t.say("versions/trace", [] if done.returncode == 0 and table_of(done.stdout)["leaf"] == 300 and
          trace.read_bytes()[:4] == b"\2\0\1\0" else [f"status {done.returncode}: {done.stderr}"])


LOADS = """
#include <dlfcn.h>
int main(void) {
    void *plug = dlopen("libplugged.so", RTLD_NOW); /* found by DT_RUNPATH of the program alone */
    int (*plugged)(int), sum = 0;
    if (!plug)
        return 1;
    *(void **)(void *)&plugged = dlsym(plug, "plugged");
    for (int i = 0; i < 100; i++)
        sum += plugged(i);
    return sum == 5050 ? 0 : 2;
}
"""


def test_loads(t):
    """dlopen finds the same objects as without the recorder, and loaded objects are traced from the first constructor on."""
    if not t.has("clang-19", "loads") or "PERFRAY" not in os.environ:
        return
    folder, trace = t.folder / "loads", t.folder / "loads.xray"
    (folder / "deep").mkdir(parents=True)
    (folder / "plugged.c").write_text("__attribute__((noinline)) int plugged(int x) { __asm__ volatile(\"\"); return x + 1; }\n"
                                      "__attribute__((constructor)) void begun(void) { for (int i = 0; i < 7; i++) plugged(i); }\n")
    (folder / "loads.c").write_text(LOADS)
    subprocess.run(["clang-19", *SLEDS, "-O1", "-shared", "-fPIC", folder / "plugged.c", "-o", folder / "deep/libplugged.so"],
                   check=True)
    subprocess.run(["clang-19", *SLEDS, "-O1", "-c", folder / "loads.c", "-o", folder / "loads.o"], check=True)
    subprocess.run(["clang-19", folder / "loads.o", "-ldl", "-Wl,-rpath,$ORIGIN/deep", "-Wl,--enable-new-dtags", "-o",
                    folder / "loads"], check=True)
    done = perfray("trace", "-o", trace, folder / "loads")
    counts = Counter({"plugged": 0})
    for line in perfray("latency", "-f", "csv", trace).stdout.splitlines()[1:]:
        counts[line.split(",")[1].strip('"')] += int(line.split(",")[3])
    wrong = differences("calls of", counts, Counter({"main": 1, "begun": 1, "plugged": 107}))
    t.say("loads", wrong + ([] if done.returncode == 0 and not besides_result(done, trace) else [f"status {done.returncode}: {done.stderr}"]))


def test_map(t):
    """The names in the trace are written as a map: perfray prints the same names with it as with the trace, and llvm-xray accepts it."""
    if not t.has("clang-19", "map") or "PERFRAY" not in os.environ:
        return
    program, trace, made = own_program(t, "clang-19"), t.folder / "map.xray", t.folder / "map.yaml"
    done = perfray("trace", "-q", "-o", trace, program, "tails", 300, env=dict(os.environ, COUNTS=str(t.folder / "counts")))
    done = perfray("script", "--format=llvm-map", trace)
    made.write_text(done.stdout)
    wrong = [] if done.stdout.count("kind: function-enter") == 3 else [done.stdout + done.stderr]
    for verb in (["latency", "-f", "csv"], ["script"]):
        named, mapped = (perfray(*verb, *more, trace).stdout for more in ([], ["-m", made]))
        drop = [line.split(",")[:2] + line.split(",")[3:] if verb[0] == "latency" else line for line in named.splitlines()]
        keep = [line.split(",")[:2] + line.split(",")[3:] if verb[0] == "latency" else line for line in mapped.splitlines()]
        wrong += [] if drop == keep else [f"{verb[0]} is another by the map"]
    if shutil.which("llvm-xray-19"):
        accounted = subprocess.run(["llvm-xray-19", "account", "-k", "-m", made, trace], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True).stdout
        wrong += [] if accounted.count("@(") == 3 else [accounted]
    t.say("map", wrong)


LINED = ("main", "leaf", "middle", "other", "tails")


def line_by_llvm(program, place, size):
    """The first line of the function that is not 0, from its own frame, which llvm-symbolizer prints last."""
    addresses = [hex(at) for at in range(place, place + max(size, 1))]
    done = subprocess.run(["llvm-symbolizer-19", "--output-style=JSON", "--obj", str(program), *addresses], text=True,
                          stdout=subprocess.PIPE, check=True)
    frames = [each["Symbol"][-1] for each in json.loads(done.stdout)]
    return next(f"{frame['FileName']}:{frame['Line']}" for frame in frames if frame["Line"])


def lines_by_llvm(program):
    table = subprocess.run(["nm", "-S", "--defined-only", str(program)], text=True, stdout=subprocess.PIPE, check=True).stdout
    words = [line.split() for line in table.splitlines()]
    wanted = {w[3]: (int(w[0], 16), int(w[1], 16)) for w in words if len(w) == 4 and w[3] in LINED}
    return {name: line_by_llvm(program, *place) for name, place in wanted.items()}


def test_lines(t):
    """File and line of functions as llvm-symbolizer prints them, with names from the trace, the object, its separate debug file, and the cache; a YAML map
    gives no lines."""
    if not t.has("clang-19", "lines") or "PERFRAY" not in os.environ:
        return
    if not shutil.which("llvm-symbolizer-19"):
        harness.skip("sleds/lines", "llvm-symbolizer-19 is not installed")
        return
    environment = dict(os.environ, XDG_CACHE_HOME=str(t.folder / "cache"))

    def another(how, ours, theirs):
        return [] if ours == theirs else [f"lines by {how}: {ours}, not {theirs}"]

    def table(trace, *more):
        done = perfray("latency", "--lines", "-f", "csv", *more, trace, env=environment)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        return {row["function"]: row["srcline"] for row in rows if row["function"] in LINED}

    for level in ("-O0", "-O2"):
        program, trace = own_program(t, "clang-19", level), t.folder / f"lines{level}.xray"
        perfray("trace", "-q", "-o", trace, program, "tails", 300, env=dict(os.environ, COUNTS=str(t.folder / "counts")))
        right = lines_by_llvm(program)
        expected = {name: line for name, line in right.items() if name in table(trace)}
        wrong = [] if "leaf" in expected and "middle" in expected else [f"functions: {expected}"]
        for how in (["--no-cache"], ["-m", program, "--no-cache"], [], [], ["-m", program]):
            wrong += another(how, table(trace, *how), expected)
        apart = t.folder / f"apart{level}"
        subprocess.run(["objcopy", "--only-keep-debug", program, f"{apart}.debug"], check=True)
        subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={apart}.debug", program, apart], check=True)
        wrong += another("a file apart", table(trace, "-m", apart), expected)
        bare, made = t.folder / f"bare{level}", t.folder / f"lines{level}.yaml"
        subprocess.run(["strip", "-g", "-o", bare, program], check=True)
        made.write_text(perfray("script", "--format=llvm-map", trace).stdout)
        for path, why in ((bare, "no debugging information covers it"), (made, "YAML has no lines")):
            wrong += another(path.name, table(trace, "-m", path), {name: "" for name in expected})
            if why not in perfray("latency", "--lines", "-m", path, trace).stdout:
                wrong.append(f"{path.name}: nothing says why there are no lines")
        t.say(f"lines/{level}", wrong)


def test_places(t):
    """A program was moved away: with --symfs, its copy gives functions and lines for the trace; with --debug-dir, its separate debug file does; without these
    options, nothing does."""
    if not t.has("clang-19", "places") or "PERFRAY" not in os.environ:
        return
    kept, trace, root, apart = own_program(t, "clang-19", "-O0"), t.folder / "places.xray", t.folder / "root", t.folder / "store"
    program = t.folder / "moving"
    shutil.copy(kept, program)
    perfray("trace", "-q", "-o", trace, program, "tails", 300, env=dict(os.environ, COUNTS=str(t.folder / "counts")))
    verbs = (["latency", "--lines", "-s", "func", "-f", "csv"], ["report", "-s", "sym", "--format", "csv"], ["script", "--no-pager"], ["export"])

    def outputs(*more):
        return [perfray(*words, *more, trace, *(["--no-cache"] if words[0] == "latency" else [])).stdout for words in verbs]

    here = program.resolve()
    below, link = root / here.relative_to("/"), here.with_name("moving.debug")
    right = outputs()
    wrong = [] if all("leaf" in text for text in right) and ".c:" in right[0] else [f"whole: {right}"]
    below.parent.mkdir(parents=True)
    program.rename(below)
    gone = outputs()
    wrong += [f"gone: {words[0]}" for words, text in zip(verbs, gone) if "leaf" in text]
    wrong += [f"--symfs: {words[0]}" for words, text, other in zip(verbs, outputs("--symfs", root), right) if text != other]
    subprocess.run(["objcopy", "--only-keep-debug", below, link], check=True)
    subprocess.run(["objcopy", "-S", f"--add-gnu-debuglink={link}", below, program], check=True)
    wrong += [f"beside: {words[0]}" for words, text, other in zip(verbs, outputs(), right) if text != other]
    store = apart / here.parent.relative_to("/")
    store.mkdir(parents=True)
    link.rename(store / link.name)
    wrong += [f"stripped: {words[0]}" for words, text in zip(verbs, outputs()) if "leaf" in text]
    wrong += [f"--debug-dir: {words[0]}" for words, text, other in zip(verbs, outputs("--debug-dir", apart), right) if text != other]
    with_map = perfray(*verbs[0], "--no-cache", "--debug-dir", apart, "-m", program, trace).stdout
    wrong += [] if "leaf" in with_map and ".c:" in with_map else [f"a map, --debug-dir: {with_map}"]
    t.say("places", wrong)


def by_llvm(trace, latency):
    done = subprocess.run(["llvm-xray-19", "account", "-k", "-f", "csv", str(trace)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    theirs = sorted(int(line.split(",")[1]) for line in done.stdout.splitlines()[1:])
    ours = sorted(int(line.split(",")[3]) for line in latency.splitlines()[1:])
    return [] if ours == theirs else [f"llvm-xray counts {theirs}, perfray {ours}: {done.stderr[:100]}"]


def test_llvm(t):
    if not t.has("clang-19", "llvm"):
        return
    if not shutil.which("llvm-xray-19"):
        harness.skip("sleds/llvm", "llvm-xray-19 is not installed")
        return
    program = own_program(t, "clang-19", "-O0")
    _, _, trace = t.run(program, "arguments", 3000, "size=1M")
    names = Recorded(trace).names
    done = subprocess.run(["llvm-xray-19", "account", "-f", "csv", str(trace)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    ours = Counter()
    for line in done.stdout.splitlines()[1:]:
        function, number = line.split(",")[:2]
        ours[names[int(function)]] += int(number)
    t.say("llvm", done.stderr.splitlines() + differences("calls of", ours, Counter({"logged": 3000})))


RUST = """
#[inline(never)] fn leaf(x: u64) -> u64 { std::hint::black_box(x + 1) }
fn main() { let work: Vec<_> = (0..3).map(|k| std::thread::spawn(move || (0..1000).map(|i| leaf(i + k)).sum::<u64>())).collect();
            for thread in work { thread.join().unwrap(); } }
"""


def test_rust(t):
    """Sleds of Rust's nightly compiler, made with this flag; older compilers cannot make sleds."""
    if not t.wants("rust") or "PERFRAY" not in os.environ:
        return
    source, program, trace = t.folder / "rust.rs", t.folder / "rust", t.folder / "trace"
    source.write_text(RUST)
    built = shutil.which("rustc") and subprocess.run(
        ["rustc", "-O", "-Z", "instrument-xray=always", "-o", str(program), str(source)], env=dict(os.environ, RUSTC_BOOTSTRAP="1"),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    if not built:
        harness.skip("sleds/rust", "there is no rustc that knows instrument-xray")
        return
    done = perfray("trace", "-o", trace, "-F", "rust::leaf", program)
    table = table_of(done.stdout)
    t.say("rust", [] if done.returncode == 0 and table == Counter({"rust::leaf": 3000}) else [f"{done.returncode} {table} {done.stderr}"])


def main(argv):
    with harness.scratch("sleds") as folder:
        t = Sleds(folder, argv[0], argv[1], argv[2], argv[3:])
        for test in (test_modes, test_valgrind, test_throws, test_own, test_filters, test_trace, test_versions, test_loads, test_map, test_lines, test_places, test_llvm,
                     test_rust):
            test(t)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
