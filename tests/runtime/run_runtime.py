#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_runtime.py - tests the flight recorder with programs that count their own calls.

usage: run_runtime.py LIBRARY ARCHIVE INCLUDE [WORD...]

The programs of tests/runtime/programs are built with -finstrument-functions in several ways and run. They count their calls by caller and callee, and the trace
must have the same counts. The trace is read by tests/oracle/xray/oracle.py, and by llvm-xray if that is installed. With WORDs only tests whose names contain
one of them are run.
"""
import os
import shutil
import struct
import subprocess
import sys
import time
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from counting_programs import HERE, MODES, SANITIZED, WHO, Tests, by_callee, differences, judge, perfray
from recorded import Recorded
from runtime_command import test_as_it_lies, test_examples, test_installed, test_status_fd, test_trace

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
SHARE = 1 if harness.LONG else 4  # only one in SHARE of the calls stated here is made
FULL_AT = 128 + 32 + 6 * 8 + 3 * 4  # offset in the file: struct rtf_control


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
    """SIGKILL at any moment: the trace has all calls that each thread counted, except for the one in progress."""
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
    """Each compiler, optimisation level and standard; all combinations with PERFRAY_LONG, otherwise one per level."""
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
                        # clang's hooks are not called when an exception leaves a function
                        t.say(f"{name}/{mode}", judge(trace, edges, status, "jumps" if plus and compiler != "gcc" else mode))


def test_static(t):
    """The archive, linked into a dynamic program, a static program, and a static position-independent program."""
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
        # clang's hooks are not called when an exception leaves a function: as after longjmp, calls stay open
        t.say(f"throws/{compiler}", judge(trace, edges, status, "calls" if compiler == "g++" else "jumps"))


def test_signals(t):
    """Calls of a handler inside a hook are counted: recorded and lost calls add up to all calls."""
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
    """valgrind checks every load, store and system call of the recorder, also in children."""
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
        if "PERFRAY" in os.environ and ("not in the trace" in perfray("latency", trace).stdout) != ("threshold" in options):
            wrong.append("the message about calls below the threshold is wrong")
        t.say(f"filters/{options.replace(' ', '_')}", wrong)


def test_ring(t):
    """The last calls are kept in complete buffers, and llvm-xray reads them."""
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
    entries = [(recorded.names[r.func], r.kind) for r in calls[:-1]]
    begin = next(i for i in range(6) if entries[i:i + 6] == shape)
    for i in range(begin, len(entries)):
        if entries[i] != shape[(i - begin) % 6]:
            wrong.append(f"call {i} of {len(entries)} is out of turn: {entries[i]}")
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
    """The symbols that the recorder needs, and the symbols that it exports."""
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
    """The cost of a call does not depend on the number of functions. It is measured in instructions, because cache misses depend on the machine."""
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
    """Once all buffers of a ring were used, it makes no system calls at all."""
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
