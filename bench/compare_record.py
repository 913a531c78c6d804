#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_record.py [--rounds N] [--markdown] - compares perfray record and perf record, alternately on the same load.

Environment: PERFRAY, MEASURE (bench/measure.c built), RECORD_LOAD (bench/record_load.c built); bench/run_record.sh sets
them. CPU is the user + system time of the recorder and its command together; "own" excludes the time that the command
measured for itself. For a marginal cost the load is run in two sizes, and the difference of the medians is divided by the
difference in samples, so the costs of a recorder before the first sample are not included. Exit status 1 if a goal ("bar") is
missed.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

PERFRAY = os.environ.get("PERFRAY", "build/tool/perfray")
MEASURE, LOAD = os.environ["MEASURE"], os.environ["RECORD_LOAD"]
TRACEPOINT = ["-e", "syscalls:sys_enter_getppid", "-c", "1"]
CLOCK = ["-e", "cpu-clock", "-F", "20000", "-g"]
TOOLS = {"ours": [PERFRAY, "record", "-q"], "perf": ["perf", "record", "-q", "-N"]}


# Records that the kernel writes into rings, and counts as lost if there is no room.
KERNEL = ("SAMPLE", "MMAP", "MMAP2", "COMM", "FORK", "EXIT", "KSYMBOL", "BPF_EVENT", "THROTTLE", "UNTHROTTLE")


class Run:
    """The costs and contents of one recording."""

    def __init__(self, folder, tool, options, command):
        out, own = os.path.join(folder, tool + ".data"), os.path.join(folder, "own")
        for path in (out, own):
            if os.path.exists(path):
                os.unlink(path)
        words = [MEASURE, *TOOLS[tool], *options, "-o", out, *command, *([own] if command[0] == LOAD else [])]
        begun = time.monotonic()
        measured = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout.split()
        self.wall = time.monotonic() - begun
        user, system, self.peak, status = (int(word) for word in measured)
        if status:
            sys.exit("compare_record.py: %s ended with %d" % (" ".join(words), status))
        self.cpu = (user + system) / 1e6
        self.own = self.cpu
        if os.path.exists(own):
            with open(own, encoding="ascii") as file:
                self.own -= int(file.read()) / 1e6
        self.read_counts(out)

    def read_counts(self, path):
        info = subprocess.run([PERFRAY, "info", path], stdout=subprocess.PIPE, check=False).stdout.decode()
        found = re.search(r"^\s+SAMPLE\s+(\d+)", info, re.M)
        self.samples = int(found.group(1)) if found else 0
        self.lost = int(re.search(r"\blost_samples=(\d+)", info).group(1))
        self.bytes = os.path.getsize(path)
        rows = re.findall(r"^\s+([A-Z_0-9]+)\s+(\d+)$", info, re.M)
        self.kernel = sum(int(count) for name, count in rows if name in KERNEL)


def interleaved(rounds, folder, options, command):
    runs = {tool: [] for tool in TOOLS}
    for number in range(rounds):
        for tool in sorted(TOOLS, reverse=number % 2 == 1):
            runs[tool].append(Run(folder, tool, options, command))
    return runs


def median(runs, what):
    return statistics.median(getattr(run, what) for run in runs)


class Table:
    def __init__(self, markdown):
        self.markdown, self.missed = markdown, False
        self.row("case", "perfray", "perf", "bar", "")
        if markdown:
            self.row(*["---"] * 5)

    def row(self, *cells):
        print("| %s |" % " | ".join(cells) if self.markdown else "%-44s %14s %14s %20s  %s" % cells, flush=True)

    def bar(self, case, ours, perf, form, most, bar):
        holds = ours <= most
        self.missed |= not holds
        self.row(case, form % ours, form % perf if perf is not None else "", bar, "holds" if holds else "**missed**")


def marginal(table, rounds, folder, case, options, small, large, what):
    """In microseconds per sample."""
    few = interleaved(rounds, folder, options, [LOAD, *small])
    many = interleaved(rounds, folder, options, [LOAD, *large])
    cost = {tool: 1e6 * (median(many[tool], what) - median(few[tool], what)) /
            (median(many[tool], "samples") - median(few[tool], "samples")) for tool in TOOLS}
    table.bar("%s, us a sample" % case, cost["ours"], cost["perf"], "%.3f", 1.1 * cost["perf"], "1.1 of perf's")
    return many


def totals(table, case, runs):
    ours, perf = runs["ours"], runs["perf"]
    table.bar("%s, peak memory in MB" % case, median(ours, "peak") / 1e6, median(perf, "peak") / 1e6, "%.1f",
              median(perf, "peak") / 1e6, "perf's")
    lost = {tool: statistics.median(run.lost for run in got) for tool, got in runs.items()}
    # If perf loses samples, the machine is too busy for a comparison.
    table.bar("%s, lost" % case, lost["ours"], lost["perf"], "%d", float("inf") if lost["perf"] else 0, "0 where perf's is 0")


def packed(table, rounds, folder):
    runs = interleaved(rounds, folder, [*TRACEPOINT, "-z"], [LOAD, "calls", "1200000"])
    for what, name in (("cpu", "CPU in s"), ("bytes", "MB")):
        scale = 1e6 if what == "bytes" else 1
        cost = {tool: median(runs[tool], what) / scale for tool in TOOLS}
        table.bar("-z, %s" % name, cost["ours"], cost["perf"], "%.3f", cost["perf"] * (1.1 if what == "bytes" else 1),
                  "1.1 of perf's" if what == "bytes" else "perf's")
    totals(table, "-z", runs)


def nothing(table, rounds, folder):
    runs = interleaved(3 * rounds, folder, [], ["true"])
    wall = {tool: min(run.wall for run in got) for tool, got in runs.items()}
    table.bar("record true, least wall in ms", 1e3 * wall["ours"], 1e3 * wall["perf"], "%.1f", 30, "30 ms")
    cpu = {tool: median(got, "cpu") for tool, got in runs.items()}
    table.bar("record true, CPU in ms", 1e3 * cpu["ours"], 1e3 * cpu["perf"], "%.1f", 20, "20 ms")


def overrun(table, folder):
    """With rings of one page, recorded and lost samples must add up to the samples that are recorded with enough room."""
    calls = [LOAD, "calls", "1000000"]
    small, off = interleaved(1, folder, [*TRACEPOINT, "-m", "1"], calls), {}
    for tool, got in small.items():
        whole = Run(folder, tool, [*TRACEPOINT, "-m", "64M"], calls)
        off[tool] = abs(got[0].kernel + got[0].lost - whole.kernel - whole.lost)
    if not small["ours"][0].lost:
        sys.exit("compare_record.py: nothing was lost where it should be")
    table.bar("-m 1, %d lost: records not accounted for" % small["ours"][0].lost, off["ours"], off["perf"], "%d", 0, "0")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    table = Table(given.markdown)
    with tempfile.TemporaryDirectory(prefix="perfray-record-") as folder:
        runs = marginal(table, given.rounds, folder, "tracepoint -c 1, with its command", TRACEPOINT,
                        ["calls", "200000"], ["calls", "1200000"], "cpu")
        totals(table, "tracepoint -c 1", runs)
        runs = marginal(table, given.rounds, folder, "cpu-clock -F 20000 -g, own", CLOCK, ["spin", "500"],
                        ["spin", "3000"], "own")
        totals(table, "cpu-clock", runs)
        packed(table, given.rounds, folder)
        nothing(table, given.rounds, folder)
        overrun(table, folder)
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
