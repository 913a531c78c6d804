#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_hosts.py - tests the flight recorder in difficult programs and on difficult machines.

usage: run_hosts.py LIBRARY INCLUDE [WORD...]

programs/recorded_hosts.c states how often each of its modes calls leaf. The trace must have exactly as many calls, and the program must end as it would
without the recorder. With WORDs only tests whose names contain one of them are run.
"""
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from recorded import Recorded

HERE = Path(__file__).resolve().parent / "programs"
NOBODY = 65534


class Hosts:
    def __init__(self, folder, library, include, words):
        self.library, self.include, self.words = Path(library).resolve(), Path(include).resolve(), words
        self.folder = Path(folder)
        self.trace = self.folder / "trace"
        self.program = self.build("hosts")
        for letter, who in (("a", 12), ("b", 13)):
            subprocess.run(["gcc", "-O1", "-finstrument-functions", "-shared", "-fPIC", f"-DPLUG=plug_{letter}", f"-DPLUG_WHO={who}",
                            "-DPLUG_STEP=1", str(HERE / "recorded_plug.c"), "-o", str(self.folder / f"plug_{letter}.so")], check=True)

    def build(self, name):
        program = self.folder / name
        subprocess.run(["gcc", "-O1", "-finstrument-functions", "-pthread", f"-I{self.include}", str(HERE / "recorded_hosts.c"), "-o",
                        str(program), str(self.library), f"-Wl,-rpath,{self.library.parent}", "-ldl"], check=True)
        return program

    def wants(self, name):
        return not self.words or any(word in name for word in self.words)

    def say(self, name, wrong):
        harness.result("hosts/" + name, wrong)

    def run(self, mode, count, word="", options="keep=first size=4M buffer=16k", keep=False, program=None, variables=None, **more):
        """Returns the output of the program; the trace is self.trace."""
        if not keep:
            self.trace.unlink(missing_ok=True)
        asked = {"PERFRAY_RT": f"file={self.trace} {options}"} if options is not None else {}
        environment = dict({k: v for k, v in os.environ.items() if not k.startswith(("PERFRAY_RT", "XRAY_"))}, **asked, **(variables or {}),
                           PLUG_A=str(self.folder / "plug_a.so"), PLUG_B=str(self.folder / "plug_b.so"))
        return subprocess.run([str(program or self.program), mode, str(count), str(word)], env=environment, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **more)

    def judge(self, done, expected, status=0, trace=None, says="", lost=None):
        """expected: {name: calls} for all functions."""
        recorded = Recorded(trace or self.trace)
        wrong = [] if done.returncode == status else [f"status {done.returncode}: {done.stderr}"]
        if says not in done.stderr or (not says and done.stderr):
            wrong.append(f"it said {done.stderr!r}")
        wrong += [f"damage at {at}, {size} bytes: {why}" for at, size, why in recorded.gaps()]
        for kind in ("enter", "exit"):
            calls = dict(recorded.calls((kind,)))
            if calls != expected:
                wrong.append(f"{kind}: {calls}, not {expected}")
        if lost is None and any(recorded.lost):
            wrong.append(f"lost: {recorded.lost}")
        return wrong

    def tell(self, *words):
        return subprocess.run([harness.PERFRAY, *map(str, words)], stdout=subprocess.PIPE, text=True, timeout=120, check=True).stdout

    def expect(self, name, calls, mode, count, word="", more=None, **run):
        if self.wants(name):
            self.say(name, self.judge(self.run(mode, count, word, **run), {"leaf": calls} if isinstance(calls, int) else calls, **(more or {})))


def limits(**limit):
    def apply():
        for name, value in limit.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
    return apply


def test_processes(t):
    for word in ("exit", "_exit", "kill", "_Fork", "clone"):
        t.expect(f"children/{word}", 300, "children", 300, word, options="keep=first size=2M")
    if t.wants("children/ring"):  # more children than slots: each leaves a slot, and those of the last children are kept
        done = t.run("children", 300, "_exit", options="keep=last size=256k buffer=4k")
        recorded = Recorded(t.trace)
        calls, lost = recorded.calls()["leaf"], sum(recorded.lost)
        t.say("children/ring", [] if done.returncode == 0 and 50 < calls < 70 and not lost and not recorded.gaps() else
              [f"status {done.returncode}, {calls} calls, {recorded.lost} lost"])
    for word in ("fork", "_Fork", "clone"):
        t.expect(f"side_by_side/{word}", 12 * 3000, "side_by_side", 3000, word)
    t.expect("execs", 101, "execs", 100, t.program, options="keep=first size=2M")
    t.expect("loads", {"plug_a": 550, "plug_b": 550}, "loads", 1100)
    if t.wants("functions"):  # a function has one id, whichever thread calls it first
        t.run("children", 50, "exit")
        functions = [Recorded(t.trace).functions]
        t.run("execs", 50, t.program)
        functions.append(Recorded(t.trace).functions)
        t.say("functions", [f"{len(f)} functions, expected one" for f in functions if len(f) != 1])


def test_crowd(t):
    t.expect("crowd/first", 2 * 300 + 1, "crowd", 300, options="keep=first size=8M buffer=16k")
    # repeatedly many threads at once: the slots that they leave are reused, although there are more than the recorder's list of free slots can hold
    t.expect("crowd/again", 12 * (2 * 100 + 1), "crowds", 100, options="keep=first size=2M buffer=16k")
    if t.wants("crowd/last"):  # more threads than slots: threads without a slot are counted, and the others continue
        done = t.run("crowd", 300, options="keep=last size=64k buffer=4k")
        recorded = Recorded(t.trace)
        calls = recorded.calls(("enter", "exit"))["leaf"]
        t.say("crowd/last", [] if done.returncode == 0 and recorded.lost[1] > 1000 and calls >= 20 and not recorded.gaps() else
              [f"status {done.returncode}, {calls} calls, {recorded.lost} lost"])


def test_api(t):
    inside = {"leaf": 1000}
    if t.wants("api"):
        for name, word, options, variables in (
                ("given", f"file={t.trace} size=1M", None, {}), ("environment", "", None, {"XRAY_OPTIONS": f"xray_logfile_base={t.folder}/base-"}),
                ("over", f"file={t.trace}", None, {"XRAY_FDR_OPTIONS": "func_duration_threshold_us=1000000"})):
            done = t.run("api", 1000, word, options=options, variables=variables)
            traces = [t.trace] if word else list(t.folder.glob("base-hosts.*"))
            # LLVM's default threshold is 5 us, and these calls are shorter
            wrong = t.judge(done, inside if word else dict(Recorded(traces[0]).calls()), trace=traces[0])
            if not word and Recorded(traces[0]).calls()["leaf"] > 900:
                wrong.append("LLVM's threshold was not taken")
            t.say(f"api/{name}", wrong)
        for old in t.folder.glob("base-hosts.*"):
            old.unlink()
        done = t.run("calls", 1000, options=None, variables={
            "XRAY_OPTIONS": f"patch_premain=true:xray_logfile_base={t.folder}/base-",
            "XRAY_FDR_OPTIONS": "buffer_size=16384:buffer_max=20:func_duration_threshold_us=0"})
        traces = list(t.folder.glob("base-hosts.*"))
        wrong = t.judge(done, inside, trace=traces[0])
        if traces[0].stat().st_size != 4096 + 20 * 16384 + 16:
            wrong.append(f"{traces[0].stat().st_size} bytes")
        t.say("api/llvm", wrong)
        done = t.run("api", 1000, "file=x nonsense=1", options=None)
        t.say("api/wrong", [] if done.returncode == 93 and "nonsense=1" in done.stderr else [f"{done.returncode} {done.stderr}"])
    t.expect("starts", 8 * 1000, "starts", 1000, f"file={t.trace} size=4M", options=None)
    if t.wants("events"):
        done = t.run("events", 3000, options="keep=first buffer=4k")
        recorded = Recorded(t.trace)
        sizes = sorted(len(r.data) for r in recorded.trace.records if r.kind == "custom_event" and r.data[:10] != b"perfray-rt")
        typed = [len(r.data) for r in recorded.trace.records if r.kind == "typed_event"]
        wrong = [] if recorded.calls()["leaf"] == 3000 and tuple(recorded.lost[:4]) == (0, 0, 0, 1) and done.stdout == "1\n" else [f"{recorded.lost} {done}"]
        if sizes != sorted(list(range(1, 3000)) + [3]) or typed != list(range(1, 3000)):
            wrong.append(f"{len(sizes)} events, {len(typed)} typed")
        t.say("events", wrong + [str(gap) for gap in recorded.gaps()])


def test_limits(t):
    t.expect("limits/file", 1000, "calls", 1000, options="keep=first", preexec_fn=limits(FSIZE=1000000))
    t.expect("limits/space", 1000, "calls", 1000, options="keep=first", preexec_fn=limits(AS=200 << 20))
    if t.wants("limits/too_small"):
        done = t.run("calls", 1000, options="keep=first", preexec_fn=limits(FSIZE=100000))
        t.say("limits/too_small", [] if done.returncode == 0 and "ulimit" in done.stderr and not t.trace.exists() else [str(done)])
    t.expect("no_memory", 3000, "no_memory", 3000, options="keep=last size=1M")
    t.expect("no_files", 3000, "no_files", 3000)
    if t.wants("devices"):
        device = t.folder / "device"
        os.symlink("/dev/null", device)
        wrong = []
        for path in (device, t.folder, "/dev/null"):
            done = t.run("calls", 10, options=None, variables={"PERFRAY_RT": f"file={path}"})
            if done.returncode or "not a regular file" not in done.stderr or not os.path.lexists(path):
                wrong.append(f"{path}: {done}")
        t.say("devices", wrong)
    if t.wants("left"):  # the recorder does not join the file of a dead recording, or a file with other contents
        wrong = []
        for damage in (b"", b"\xff" * 4096):
            t.run("calls", 10)
            data = bytearray(t.trace.read_bytes()[:1 << 20])
            data[160:160 + len(damage)] = damage
            t.trace.write_bytes(data)
            wrong += t.judge(t.run("calls", 77, keep=True), {"leaf": 77})
        t.say("left", wrong)


def test_as_root(t):
    if not t.wants("root"):
        return
    if os.geteuid() != 0:
        harness.skip("hosts/root", "needs to be root")
        return
    empty = t.folder / "empty"
    empty.mkdir()
    t.expect("root/elsewhere", 3000, "elsewhere", 3000, empty)
    os.chmod(t.folder, 0o755)
    victim = t.folder / "victim"
    victim.write_text("secret")
    program = t.build("setuid")
    os.chmod(program, 0o4755)
    done = t.run("calls", 10, options=None, program=program, variables={"PERFRAY_RT": f"file={victim}"}, preexec_fn=lambda: os.setuid(NOBODY))
    t.say("root/setuid", [] if done.returncode == 0 and victim.read_text() == "secret" else [str(done)])
    if shutil.which("unshare"):
        t.trace.unlink(missing_ok=True)
        script = f"umount -l /proc && exec {t.program} execs 20 {t.program}"
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=dict(os.environ, PERFRAY_RT=f"file={t.trace} keep=first"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        t.say("root/no_proc", t.judge(done, {"leaf": 21}))
        test_full_disk(t)


def test_full_disk(t):
    """On a small file system the program continues, and the calls recorded so far are in the trace and in a snapshot."""
    small = t.folder / "small"
    small.mkdir()
    for options in ("keep=first size=16M buffer=16k", "keep=last size=16M buffer=16k", "keep=last size=128k buffer=4k"):
        snapshot = t.folder / "snapshot"
        snapshot.unlink(missing_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(small)], check=True)
        try:
            done = t.run("snapshot", 30000, snapshot, options=None, variables={"PERFRAY_RT": f"file={small}/trace {options}"})
            wrong = [] if done.returncode == 0 and done.stdout == "0\n" else [str(done)]
            if (small / "trace").exists() and not wrong:
                lying, taken = Recorded(small / "trace"), Recorded(snapshot)
                wrong += [str(gap) for gap in lying.gaps() + taken.gaps()]
                if lying.calls()["leaf"] < (2000 if "buffer" in options else 0) or taken.calls()["leaf"] == 0 and "buffer" in options:
                    wrong.append(f"{lying.calls()}, in the snapshot {taken.calls()}")
        finally:
            subprocess.run(["umount", "-l", str(small)], check=True)
        t.say("root/full/" + options.replace(" ", "_"), wrong)


def test_traps(t):
    for word in ("seccomp", "tsc"):
        if not t.wants(f"no_counter/{word}"):
            continue
        done = t.run("no_counter", 1000, word)
        recorded = Recorded(t.trace)
        calls = recorded.calls()["leaf"]
        t.say(f"no_counter/{word}", [] if done.returncode == 0 and calls >= 500 and not recorded.gaps() else [f"{done} {calls}"])
    if t.wants("handler_forks"):
        done = t.run("handler_forks", 60, options="size=64M buffer=16k")
        recorded = Recorded(t.trace)
        wrong = [] if done.returncode == 0 and not done.stderr else [str(done)]
        wrong += [str(gap) for gap in recorded.gaps()]
        # the child of a handler that interrupted a hook is still in that hook: its 1000 calls are counted as lost
        whole, left = divmod(recorded.lost[0], 2000)
        threads = {r.tid for r in recorded.trace.records if r.kind == "enter"}
        if len(threads) + whole != 61 or left or any(recorded.lost[1:]):
            wrong.append(f"{len(threads)} processes of 61, lost {recorded.lost}")
        t.say("handler_forks", wrong)


def test_path(t):
    """While it records, the recorder calls nothing in libc that allocates, locks or prints, and asks the kernel only for pages of a new buffer."""
    if t.wants("watched"):
        watcher = t.folder / "no_help.so"
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-pthread", "-Wno-nonnull", str(HERE / "no_help.c"), "-o", str(watcher), "-ldl"],
                       check=True)
        for options in ("keep=first size=4M buffer=4k", "keep=last size=256k buffer=4k"):
            done = t.run("watched", 5000, options=options, variables={"LD_PRELOAD": str(watcher)})
            recorded = Recorded(t.trace)
            wrong = [] if done.returncode == 0 and done.stdout == "0\n" else [str(done)]
            if "first" in options and recorded.calls() != {"leaf": 10002, "deeper": 2}:
                wrong.append(str(recorded.calls()))
            t.say("watched/" + options.split()[0], wrong)
    t.expect("sealed/first", 3000, "sealed", 3000, "first", options="keep=first size=4M buffer=4k")
    if t.wants("sealed/exit"):
        done = t.run("sealed", 3000, "exit", options="keep=first size=4M buffer=4k")
        calls = Recorded(t.trace).calls().get("leaf")
        t.say("sealed/exit", [] if done.returncode == 7 and not done.stderr and calls == 3000 else [f"{done} {calls}"])
    if t.wants("sealed/last"):
        done = t.run("sealed", 20000, "last", options="keep=last size=128k buffer=4k")
        calls = Recorded(t.trace).calls()["leaf"]
        if t.run("sealed", 20000, "last", options="keep=first size=4M buffer=4k").returncode != -signal.SIGSYS:
            done.stderr, calls = "the filter ends nothing", 0
        t.say("sealed/last", [] if done.returncode == 0 and calls > 3000 else [f"{done} {calls}"])


def clock_offsets(path):
    """Yields the wall clock time minus the time of the tick, in microseconds, for the first buffer of each slot."""
    data = Path(path).read_bytes()
    frequency = struct.unpack_from("<Q", data, 8)[0]
    size, count, begin = struct.unpack_from("<QQQ", data, 128 + 32)
    for at in range(begin, begin + size * count, size):
        if data[at] == 0x0f and data[at + 32] == 9 and data[at + 64] == 5:
            seconds, micros = struct.unpack_from("<QI", data, at + 33)
            yield seconds * 1e6 + micros - struct.unpack_from("<Q", data, at + 67)[0] / frequency * 1e6


LATE = 400  # us: the error of the first clock pair of each thread in traces of older versions


def test_clock(t):
    """The wall clock and the ticks in a buffer's preamble are read at the same moment, also in the first buffer of each thread, which takes long to create.
    The test is repeated if the machine stops between two readings. The printed times are those of the machine, even if the first pairs of threads are
    late."""
    if not t.wants("clock"):
        return
    spreads = []
    for _ in range(8):
        t.run("crowd", 300, options="keep=first size=8M buffer=16k")
        offsets = sorted(clock_offsets(t.trace))
        spreads.append(offsets[-1] - offsets[0] if len(offsets) > 20 else 1e9)
        if spreads[-1] <= 5:
            break
    t.say("clock", [] if min(spreads) <= 5 else [f"{min(spreads)} us between the clocks of buffers"])
    if "PERFRAY" not in os.environ:
        return
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    t.run("crowd", 20, options="size=8M")
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    lines = [json.loads(line) for line in t.tell("script", "--format=json", t.trace).splitlines()]
    times = [line["time"] for line in lines[1:]]
    info = t.tell("info", t.trace)
    t.say("clock/script", [] if lines[0].get("clock") == "monotonic" and before <= min(times) <= max(times) <= after and
          "CLOCK_MONOTONIC" in info else [f"{lines[0]}: {min(times)} to {max(times)}, run from {before} to {after}"])
    data, late = bytearray(t.trace.read_bytes()), 0
    size, count, begin = struct.unpack_from("<QQQ", data, 128 + 32)
    for at in range(begin, begin + size * count, size):
        if data[at] == 0x0f and data[at + 32] == 9:
            seconds, micros = struct.unpack_from("<QI", data, at + 33)
            struct.pack_into("<QI", data, at + 33, seconds + (micros + LATE) // 10**6, (micros + LATE) % 10**6)
            late += 1
    t.trace.write_bytes(data)
    clocks = json.loads(t.tell("info", "--format=json", t.trace))["trace"]
    moved = json.loads(t.tell("script", "--format=json", t.trace).splitlines()[1])["time"] - lines[1]["time"]
    t.say("clock/late", [] if late > 3 and abs(moved) <= 5000 and abs(clocks["clock_spread"] - 1000 * LATE) <= 5000 else
          [f"{late} pairs are {LATE} us late: times moved by {moved} ns, {clocks}"])


def test_keep_last(t):
    """A ring that wrapped around many times; with PERFRAY_LONG it runs for a minute. bench/RESULTS.md has a run of ten minutes."""
    if not t.wants("keep_last"):
        return
    seconds, size = ("60", "8M") if harness.LONG else ("3", "1M")
    done = subprocess.run([sys.executable, str(Path(__file__).parent / "keep_last.py"), str(t.library), seconds, size],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    t.say("keep_last", [] if done.returncode == 0 else done.stdout.splitlines())


def test_command(t):
    """perfray trace reports impossible requests before it runs a program, and records difficult programs."""
    if not t.wants("command") or "PERFRAY" not in os.environ:
        return
    perfray = harness.PERFRAY

    def trace(*words, output=None, more=()):
        return subprocess.run([perfray, "trace", "-q", "-o", str(output or t.trace), *more, "--", *map(str, words)], cwd=t.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    wrong = []
    for output, status, says in ((t.folder / "none" / "x", 5, "cannot be made"), ("/proc/x", 5, "cannot be made"),
                                 ("/dev/full", 2, "not a regular file"), (t.folder, 2, "not a regular file")):
        done = trace(t.program, "calls", 5, "", output=output)
        if done.returncode != status or says not in done.stderr:
            wrong.append(str(done))
    t.say("command/outputs", wrong)
    if os.geteuid() == 0:
        other = t.build("other")
        os.chown(other, NOBODY, NOBODY)
        os.chmod(other, 0o4755)
        done = trace(other, "calls", 5, "")
        t.say("command/rights", [] if done.returncode == 2 and "set-user-ID" in done.stderr else [str(done)])
    wrong = []
    for mode, count, word, calls in (("children", 1000, "_exit", 1000), ("crowd", 200, "", 401), ("execs", 100, t.program, 101),
                                     ("no_files", 100, "", 100), ("no_memory", 100, "", 100)):
        done = trace(t.program, mode, count, word, more=["--size", "16M", "--buffer", "16k"])
        if done.returncode or done.stderr:
            wrong.append(str(done))
        elif Recorded(t.trace).calls() != {"leaf": calls}:
            wrong.append(f"{mode}: {Recorded(t.trace).calls()}")
    t.say("command/hosts", wrong)


PATTERNS = """
namespace app { struct Work { int tick(int x) { return x + 1; } }; template <class T> T twice(T x) { return x + x; } }
static int once(int x) { return app::twice(x) + app::Work().tick(x); }
int main() { return once(0) != 1; }
"""
BIG = """
#include <stdlib.h>
#include <unistd.h>
static volatile int sum;
void leaf(void) { sum++; }
int main(int count, char **words) {
    for (int i = atoi(words[1]); i--;)
        leaf();
    if (count > 2 && fork() == 0)
        return pause();
    return 0;
}
"""
KIND_AT = 144  # in the file: struct rtf_note
FINISHED, SETTLED = 2, 5


def test_patterns(t):
    """C++ names are demangled, and patterns without a match are reported."""
    if not t.wants("patterns") or "PERFRAY" not in os.environ or not shutil.which("g++"):
        return
    (t.folder / "patterns.cpp").write_text(PATTERNS)
    program = t.folder / "patterns"
    subprocess.run(["g++", "-O0", "-finstrument-functions", str(program) + ".cpp", "-o", str(program)], check=True)
    marked = t.folder / "marked"  # the recorder's own events are not calls
    subprocess.run(["gcc", "-O1", "-finstrument-functions", f"-I{t.include}", str(HERE / "../../../examples/recorded.c"), "-o", str(marked),
                    str(t.library), f"-Wl,-rpath,{t.library.parent}"], check=True)
    wrong = []
    for words, status, says, names in (
            (["-F", "handel", "--", str(marked)], 1, "did you mean 'handle'?", []), (["-F", "main", "--", str(marked)], 0, "", ["main"]),
            (["-F", "once"], 0, "", ["app::Work::tick", "app::twice<int>", "once"]), (["-F", "app::Work::*"], 0, "", ["app::Work::tick"]),
            (["--include", "*::twice"], 0, "", ["app::twice<int>"]), (["-N", "once"], 0, "", ["main"]),
            (["--include", "_ZL4oncei"], 0, "", ["once"]), (["-F", "onec"], 1, "did you mean 'once'?", []),
            (["-F", "tcik"], 1, "did you mean 'app::Work::tick'?", []), (["--include", "Nothing*"], 1, "no function of", []),
            (["-t", "10s"], 1, "--time-filter", []), (["-N", "main"], 1, "patterns allow", [])):
        run = words if "--" in words else [*words, str(program)]
        done = subprocess.run([harness.PERFRAY, "trace", "-o", str(t.trace), *run], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        rows = sorted(line.split()[-1] for line in done.stdout.splitlines() if line.split() and line.split()[0] == "1")
        is_expected = says in done.stderr if says else re.fullmatch(rf"perfray: wrote {t.trace}: \d+ calls? of \d+ functions?\n", done.stderr)
        if done.returncode != status or not is_expected or rows != names:
            wrong.append(f"{words}: {done.returncode}, {rows}, {done.stderr}")
    t.say("patterns", wrong)


def has_leases(folder):
    with open(folder / "leased", "w"), open(folder / "leased") as file:
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            return True  # because it is open for writing
        except OSError:
            return False
    return False


def test_settled(t):
    """A large trace is finished in place, even if the process that finishes it is killed; but not while another process still maps it."""
    if not t.wants("settled") or "PERFRAY" not in os.environ:
        return
    if not has_leases(t.folder):
        harness.skip("hosts/settled", "there are no leases of files here")
        return
    perfray, program, count = harness.PERFRAY, t.folder / "big", 1100000
    (t.folder / "big.c").write_text(BIG)
    subprocess.run(["gcc", "-O1", "-finstrument-functions", str(program) + ".c", "-o", str(program)], check=True)

    def judge(name, kinds, more=(), before=(), says="", status=0):
        command = [*before, perfray, "trace", "-q", "-o", str(t.trace), "--buffer", "16k", str(program), str(count), *more]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True) as child:
            message = child.stderr.readline() if more else child.stderr.read()
            code = child.wait(60)
            if more:
                os.killpg(child.pid, signal.SIGKILL)
        wrong = [] if code == status and says in message and (says or not message) else [f"status {code}: {message}"]
        with open(t.trace, "rb") as file:
            kind = int.from_bytes(file.read(KIND_AT + 4)[KIND_AT:], "little")
        if kind not in kinds:
            wrong.append(f"its kind is {kind}")
        table = subprocess.run([perfray, "latency", str(t.trace)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        checked = subprocess.run([perfray, "verify", str(t.trace)], stdout=subprocess.PIPE, text=True)
        if f"{count} " not in table.stdout or not table.stdout.endswith("leaf\n") or table.stderr or checked.returncode:
            wrong += [table.stdout, table.stderr, checked.stdout]
        t.say("settled/" + name, wrong)
    judge("whole", [SETTLED])
    made = t.folder / "made"
    done = subprocess.run([perfray, "convert", "-o", str(made), str(t.trace)], stderr=subprocess.PIPE, text=True)
    table = subprocess.run([perfray, "latency", str(made)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    t.say("settled/converted", [] if done.returncode == 0 and table.stdout.endswith("leaf\n") else [str(done), table.stdout])
    judge("left_behind", [FINISHED], more=["fork"], says="left behind still run")
    for number, (call, which) in enumerate((("pwrite64", 1), ("pwrite64", 2), ("pwrite64", 3), ("ftruncate", 1))):
        if harness.LONG and shutil.which("strace"):
            judge(f"killed/{number}", [1, SETTLED], status=-9, before=(
                "strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={which}"))


def main(argv):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores the signal, and so would the programs that it starts
    with harness.scratch("hosts") as folder:
        t = Hosts(folder, argv[0], argv[1], argv[2:])
        for test in (test_processes, test_crowd, test_api, test_limits, test_as_root, test_traps, test_path, test_clock, test_keep_last, test_command,
                     test_patterns, test_settled):
            test(t)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
