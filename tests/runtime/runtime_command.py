# SPDX-License-Identifier: Apache-2.0
"""Tests of run_runtime.py for the installed files: the command with traces of the flight recorder, the library's flags, the examples."""
import os
import shutil
import struct
import subprocess
from collections import Counter

import harness
from counting_programs import HERE, WHO, besides_result, by_callee, differences, perfray, table_of
from recorded import Recorded


def test_trace(t):
    """The command: names without a map, the program's status, and messages about programs that cannot be recorded."""
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
        wrong = [] if done.returncode == expected and not besides_result(done, trace) else [f"status {done.returncode}: {done.stderr}"]
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
    """The exit status of the command and that of the program, also if the program is ended by a signal, cannot be run, or has no hooks."""
    if not t.wants("status_fd") or "PERFRAY" not in os.environ:
        return
    program, plain_program = t.build("status", "gcc", ["-O1"]), t.folder / "plain"
    (t.folder / "plain.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-o", plain_program, t.folder / "plain.c"], check=True)
    wrong = []
    for words, code, expected_line in (([program, "calls", 10], 0, "0 0"), ([program, "nonsense", 1], None, None), ([program, "kill", 10], 137, "0 9"),
                              ([plain_program], 2, "2 -"), ([t.folder / "none"], 5, "5 -")):
        read, write = os.pipe()
        done = perfray("trace", "-q", "-o", t.folder / "trace", "--status-fd", write, "--", *words, pass_fds=[write],
                       env=dict(os.environ, COUNTS=str(t.folder / "counts")))
        os.close(write)
        with os.fdopen(read) as pipe:
            line = pipe.read()
        if code is None:  # the status of the program itself
            code = subprocess.run(list(map(str, words)), env=dict(os.environ, COUNTS=str(t.folder / "counts"))).returncode
            expected_line = f"0 {code << 8}"
        if done.returncode != code or line != expected_line + "\n":
            wrong.append(f"{words[0].name}: status {done.returncode}, not {code}; printed {line!r}, not {expected_line!r}; {done.stderr}")
    t.say("status_fd", wrong)


def test_installed(t):
    """The files that `meson install` installs are sufficient: pkg-config gives the flags for hooks and for sleds, and the command finds the
    library."""
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
    """The trace of a killed program, before it is shrunk, gives the same result, and no damage is reported."""
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
        made = t.folder / "made"  # by a reader that does not know slots: names are still found
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
        if done.returncode or says not in done.stdout or besides_result(done, trace):
            wrong.append(f"status {done.returncode}: {done.stdout[:100]} {done.stderr}")
        t.say(f"examples/{name}", wrong)
