#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_runtime.py - compares the cost of a call under perfray's flight recorder, LLVM's and uftrace in one interleaved run.

usage: compare_runtime.py [--rounds N] [--calls N] [--only WORD] [--disk FOLDER] [--memory FOLDER]

Environment: RUNTIME, the folder of libperfray-rt; PERFRAY, the command; CC.

Programs (runtime_calls.c): `tiny` calls, a small `parse`r, a `lisp` interpreter (runtime_lisp.c), `two` threads. In each round every kind
of recording runs each program once, in changing order, and the best of forty loops is used. The table has the median of the rounds, in ns
per call including its enter and exit records. Goals ("bars") apply to the time that recording adds: the ns of a kind
minus the ns of the same program, built by the same compiler, without tracing.

    empty    hooks in a library that do nothing        floor    hooks that read the counter and store it
    off      ours, not recording                       ring     ours, the last 1.6 MB kept, as LLVM's
    archive  ring, linked statically                   all      ours, everything kept
    sleds    ring, by clang's sleds

Parts, selected by --only: `cost`, `off` (disabled sleds, compared with the variation of one program), `whole` (user and system
time of all processes, everything kept, on --disk and --memory), `size`. Missing programs are skipped and reported. Exit
status 1 if a goal is missed.
"""
import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RUNTIME = Path(os.environ.get("RUNTIME", ROOT / "build/src/runtime")).resolve()
PERFRAY = str(Path(os.environ.get("PERFRAY", ROOT / "build/tool/perfray")).resolve())
KINDS = ("tiny", "parse", "lisp", "two")
REALISTIC = ("tiny", "lisp")
CLANG = "clang-19"
RING = "keep=last size=1600k buffer=16k"  # LLVM's default
ALL = "keep=first size=2G"
RATE_FILE = Path("/sys/devices/system/cpu/cpu0/tsc_freq_khz")
WHOLE_CALLS = 20_000_000
OFF_RUNS = 31
# LLVM's runtime uses the counter only if sysfs has the counter's frequency; otherwise it uses a slower clock. This command supplies the frequency.
TELL_RATE = ("mount -t tmpfs none /sys/devices/system/cpu && mkdir /sys/devices/system/cpu/cpu0 && "
             "echo {khz} >/sys/devices/system/cpu/cpu0/tsc_freq_khz && exec \"$@\"")


class Bench:
    def __init__(self, calls):
        self.folder = Path(tempfile.mkdtemp(prefix="perfray-bench-"))
        self.calls, self.missed = calls, 0
        self.plain = {}  # kind of recording -> kind without recording, of the same program
        self.build()
        self.lisp_calls = {"plain": self.output("counted", "calls"), "clang": self.traced_calls() if self.has_sleds else 0}

    # --- Programs.

    def compile(self, name, compiler, flags, library=(), sources=("runtime_calls.c", "runtime_lisp.c")):
        command = [compiler, "-O2", "-pthread", *flags, *(str(HERE / source) for source in sources), *map(str, library), "-o", name]
        return subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def build(self):
        gcc, hooks = os.environ.get("CC", "gcc"), ["-finstrument-functions"]
        ours = [RUNTIME / "libperfray-rt.so.0", f"-Wl,-rpath,{RUNTIME}"]
        self.compile("libempty.so", gcc, ["-shared", "-fPIC"], sources=["runtime_empty.c"])
        done = [self.compile("plain", gcc, []), self.compile("floor", gcc, hooks + ["-DFLOOR"]),
                self.compile("counted", gcc, hooks + ["-DFLOOR", "-DCOUNTED=1"]), self.compile("hooked", gcc, hooks),
                self.compile("empty", gcc, hooks, ["./libempty.so", f"-Wl,-rpath,{self.folder}"]),
                self.compile("ours", gcc, hooks, ours), self.compile("archive", gcc, hooks, [RUNTIME / "libperfray-rt.a"])]
        if not all(done):
            sys.exit(f"the programs cannot be built; is there a library in {RUNTIME}?")
        self.ways = ["plain", "empty", "floor", "off", "ring", "archive", "all"]
        self.plain.update({way: "plain" for way in self.ways})
        self.build_sleds(ours)
        self.find_others()

    def build_sleds(self, ours):
        """Compiled with sleds but linked without the flag, so that clang does not add its own runtime."""
        flags = ["-fxray-instrument", "-fxray-instruction-threshold=1"]
        self.has_sleds = bool(shutil.which(CLANG)) and self.compile("clang", CLANG, [])
        for source in ("runtime_calls.c", "runtime_lisp.c") if self.has_sleds else ():
            self.has_sleds &= self.compile(f"{source}.o", CLANG, [*flags, "-c"], sources=[source])
        link = [CLANG, "runtime_calls.c.o", "runtime_lisp.c.o", "-pthread", "-Wl,-u,pfr_rt_start", *map(str, ours), "-o", "sleds"]
        self.has_sleds = self.has_sleds and subprocess.run(link, cwd=self.folder).returncode == 0
        if self.has_sleds:
            self.ways += ["clang", "sleds-off", "sleds"]
            self.plain.update({way: "clang" for way in ("clang", "sleds-off", "sleds")})

    def find_others(self):
        flags = ["-fxray-instrument", "-fxray-instruction-threshold=1", "-DLLVM_FDR"]
        self.with_rate = []
        if self.has_sleds and self.compile("llvm", CLANG, flags):
            self.ways.append("llvm")
            self.plain["llvm"] = "clang"
            if RATE_FILE.exists():
                pass
            elif os.geteuid() == 0:
                self.with_rate = ["unshare", "-m", "sh", "-c", TELL_RATE.format(khz=self.rate_khz()), "sh"]
            else:
                print("LLVM's recorder reads the clock here, not the counter", file=sys.stderr)
        else:
            print("LLVM's recorder is left out: clang-19 cannot build for it", file=sys.stderr)
        if shutil.which("uftrace"):
            self.ways.append("uftrace")
            self.plain["uftrace"] = "plain"
        else:
            print("uftrace is not installed", file=sys.stderr)

    def rate_khz(self):
        """The kernel's measurement if it reports one, otherwise an estimate for the machine."""
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("cpu MHz"):
                return int(float(line.split(":")[1]) * 1000)
        return 2600000

    def traced_calls(self):
        """The number of calls in one run of the interpreter, as counted by its sleds."""
        self.output("sleds", "calls", options=ALL)
        table = subprocess.run([PERFRAY, "latency", "-f", "csv", "trace"], cwd=self.folder, stdout=subprocess.PIPE, text=True, check=True)
        return sum(int(row["count"]) for row in csv.DictReader(table.stdout.splitlines()))

    # --- One run.

    def output(self, *words, options=None, before=()):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PERFRAY_RT", "XRAY_"))}
        if options:
            environment["PERFRAY_RT"] = f"file={self.folder}/trace {options}"
        done = subprocess.run([*before, f"./{words[0]}", *map(str, words[1:])], cwd=self.folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}")
        return float(done.stdout.split()[-1])

    def clear(self):
        (self.folder / "trace").unlink(missing_ok=True)
        for old in ("uf", "uf.old"):
            shutil.rmtree(self.folder / old, ignore_errors=True)
        for left in self.folder.glob("xray-log.*"):
            left.unlink()

    def one(self, way, kind):
        count = int(self.lisp_calls[self.plain[way]]) if kind == "lisp" else self.calls
        program = {"off": "ours", "ring": "ours", "all": "ours", "sleds-off": "sleds", "uftrace": "hooked"}.get(way, way)
        options = ALL if way == "all" else RING if way in ("ring", "archive", "sleds") else None
        before = self.with_rate if way == "llvm" else ["uftrace", "record", "--no-libcall", "-d", "uf"] if way == "uftrace" else ()
        self.clear()
        return self.output(program, kind, count, options=options, before=before)

    def bar(self, what, value, most):
        holds = value <= most
        self.missed += not holds
        print(f"{what}: {value:.2f} (at most {most:g}): {'holds' if holds else 'MISSED'}")

    # --- Parts.

    def cost(self, rounds):
        seen = {(kind, way): [] for kind in KINDS for way in self.ways}
        for number in range(rounds):
            for kind in KINDS:
                for way in self.ways if number % 2 == 0 else reversed(self.ways):
                    seen[kind, way].append(self.one(way, kind))
        ns = {key: statistics.median(values) for key, values in seen.items()}
        print(f"{'ns a call':12}" + "".join(f"{kind:>10}" for kind in KINDS))
        for way in self.ways:
            print(f"{way:12}" + "".join(f"{ns[kind, way]:10.2f}" for kind in KINDS))
        added = {(kind, way): ns[kind, way] - ns[kind, self.plain[way]] for kind, way in ns}
        for kind in REALISTIC:
            for way in ("ring", "sleds"):
                if "llvm" in self.ways and way in self.ways:
                    self.bar(f"{kind}: {way} adds, of what LLVM's recorder adds", added[kind, way] / added[kind, "llvm"], 0.5)
            if "uftrace" in self.ways:
                self.bar(f"{kind}: all adds, of what uftrace adds", added[kind, "all"] / added[kind, "uftrace"], 0.4)
            self.bar(f"{kind}: ring, ns above two reads of the counter and two hooks", ns[kind, "ring"] - ns[kind, "floor"], 10)
        self.bar("two threads, of one: ring", ns["two", "ring"] / ns["tiny", "ring"], 1.1)

    def off(self):
        for kind in REALISTIC if self.has_sleds else ():
            seen = {"first": [], "second": [], "off": []}
            for number in range(OFF_RUNS):
                for name in seen if number % 2 == 0 else reversed(seen):
                    seen[name].append(self.one("sleds-off" if name == "off" else "clang", kind))
            same = seen["first"] + seen["second"]
            first, second, off = (statistics.median(seen[name]) for name in ("first", "second", "off"))
            holds = min(same) <= off <= max(same)
            self.missed += not holds
            print(f"{kind}: sleds that are off {off:.2f} ns, {OFF_RUNS} runs; without sleds {first:.2f} and {second:.2f}, from "
                  f"{min(same):.2f} to {max(same):.2f}: {'holds' if holds else 'MISSED'}")

    def cpu_ns(self, command):
        """The user + system time of the command and all processes that it started, in ns per call."""
        before = os.times()
        subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = os.times()
        return (after.children_user + after.children_system - before.children_user - before.children_system) / WHOLE_CALLS * 1e9

    def whole(self, places, rounds):
        """The first round, in which pages are used for the first time, is ignored."""
        calls = str(WHOLE_CALLS // 40)
        for place in places:
            seen = {"ours": [], "uftrace": []}
            for number in range(rounds + 1):
                folder = Path(tempfile.mkdtemp(prefix="perfray-bench-", dir=place))
                commands = {"ours": [PERFRAY, "trace", "-q", "-o", str(folder / "trace"), "./hooked", "tiny", calls]}
                if "uftrace" in self.ways:
                    commands["uftrace"] = ["uftrace", "record", "--no-libcall", "-d", str(folder / "uf"), "./hooked", "tiny", calls]
                for name, command in commands.items():
                    seen[name] += [self.cpu_ns(command)] if number else [self.cpu_ns(command)][:0]
                shutil.rmtree(folder)
            ours = statistics.median(seen["ours"])
            print(f"{place}, all of {WHOLE_CALLS} calls kept, user and system: {ours:.1f} ns a call"
                  + (f"; uftrace {statistics.median(seen['uftrace']):.1f}" if seen["uftrace"] else ""))
            if seen["uftrace"]:
                self.bar(f"{place}: ours, of uftrace's", ours / statistics.median(seen["uftrace"]), 0.4)

    def size(self):
        """The size of the finished trace, with all its lists."""
        trace, calls = self.folder / "trace", self.calls * 40
        self.clear()
        subprocess.run([PERFRAY, "trace", "-q", "-o", str(trace), "./hooked", "tiny", str(self.calls)], cwd=self.folder,
                       stdout=subprocess.DEVNULL, check=True)
        size = trace.stat().st_size
        print(f"{size} bytes for {calls} calls, {size - 16 * calls} of them no records of calls")
        # a call takes two records of 8 bytes; the remainder is rounded away
        self.bar("bytes a call, with what the trace says of itself", round(size / calls, 2), 16.01)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--rounds", type=int, default=15)
    words.add_argument("--calls", type=int, default=100_000)
    words.add_argument("--only", default="")
    words.add_argument("--disk", default="/var/tmp")
    words.add_argument("--memory", default="/dev/shm")
    asked = words.parse_args()
    bench = Bench(asked.calls)
    try:
        for name, part in (("cost", lambda: bench.cost(asked.rounds)), ("off", bench.off),
                           ("whole", lambda: bench.whole((asked.disk, asked.memory), max(3, asked.rounds // 3))), ("size", bench.size)):
            if asked.only in name:
                part()
                sys.stdout.flush()
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
