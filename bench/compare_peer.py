#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_peer.py - compares CPU time and peak memory of perfray and perf on the same files, in one interleaved run.

usage: compare_peer.py --inputs DIR [--runs N] [--only WORD] [--markdown]

Environment: PERFRAY, the command (default build/tool/perfray); MEASURE, bench/measure.c compiled (run.sh does both).

A case of CASES names a file in DIR (made by bench/make-inputs.sh), perfray's command, perf's command, and the goals
("bars"). Both run alternately, perfray first, N times each, with output to /dev/null. The medians of user + system time
are compared; the peak resident set is that of the worst run. Then the wall time of the reports of WALLS is measured with
one thread and with two, also alternately; the median with two threads must not exceed a share of the median with one, or
a number of seconds. Exit status 1 if a goal is missed.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

MEGABYTE = 1 << 20
KEPT = tempfile.TemporaryDirectory(prefix="perfray-bench-")  # removed at the end


@dataclass
class Case:
    name: str
    file: str
    ours: list         # words of a command, or several such lists, whose costs are added up
    peer: list
    least: float       # minimum speed, as a multiple of the peer's
    most_mb: float = 0  # maximum peak resident set of perfray; 0: no bar
    most_ms: float = 0  # maximum CPU time of perfray; 0: no bar


STATS_PEER = ["perf", "report", "--stats", "-i"]
SCRIPT_PEER = ["perf", "script", "--no-inline"]
REPORT = ["report", "--no-pager", "--stdio"]
REPORT_PEER = ["perf", "report", "--no-inline", "--stdio"]
FLAT = ["-g", "none", "--no-children"]
FLAT_FIELDS = ["-G", "-F", "comm,tid,time,ip,sym"]
CASES = (
    Case("stats of a file", "fp-big.data", ["info", "--stats"], STATS_PEER, 2.5, 8),
    Case("stats of a stream", "pipe.data", ["info", "--stats"], STATS_PEER, 10, 8),
    Case("dump of a file", "fp-small.data", ["dump", "--format=jsonl"], ["perf", "script", "-D", "-i"], 5),
    Case("dump of a stream", "pipe.data", ["dump", "--format=jsonl"], ["perf", "script", "-D", "-i"], 5),
    Case("script of call chains", "steady.data", ["script"], SCRIPT_PEER + ["-i"], 6),
    Case("script of flat samples", "flat.data", ["script"] + FLAT_FIELDS, SCRIPT_PEER + FLAT_FIELDS + ["-i"], 6),
    Case("script of a stream", "pipe.data", ["script"], SCRIPT_PEER + ["-i"], 0),
    Case("pprof of call chains", "fp-small.data", ["export", "--format=pprof"], SCRIPT_PEER + ["-i"], 10),
    Case("folded and flame graph", "steady.data", [["export"], ["flame"]], SCRIPT_PEER + ["-i"], 5),
    Case("report, tiny", "tiny.data", REPORT + FLAT, REPORT_PEER + FLAT + ["-i"], 4, most_ms=50),
    Case("report, flat samples", "flat.data", REPORT + FLAT, REPORT_PEER + FLAT + ["-i"], 10),
    Case("report, many processes", "procs.data", REPORT + FLAT, REPORT_PEER + FLAT + ["-i"], 8),
    Case("report of a large file", "fp-big.data", REPORT + FLAT, REPORT_PEER + FLAT + ["-i"], 8),
    Case("report with children", "fp-small.data", REPORT + ["--children", "-g", "none"],
         REPORT_PEER + ["--children", "-g", "none", "-i"], 15),
    Case("report with call graphs", "steady.data", REPORT, REPORT_PEER + ["-i"], 50),
    Case("script of a large file", "fp-big.data", ["script"], SCRIPT_PEER + ["-i"], 0, 100),
)

WALLS = (
    ("wall, call graphs", "fp-small.data", REPORT),
    ("wall, children", "fp-small.data", REPORT + ["--children", "-g", "none"]),
    ("wall, flat samples", "flat.data", REPORT + FLAT),
    ("wall, large file", "fp-big.data", REPORT + FLAT),
)
WALL_MOST = 0.65  # maximum share of one thread's time that two threads may take
WALL_ENOUGH = 0.2  # seconds


@dataclass
class Cost:
    cpu: float
    peak: int


def measure(words):
    """Runs a command once, with the program MEASURE (bench/measure.c)."""
    environment = dict(os.environ, LC_ALL="C", PAGER="cat", HOME="/nonexistent", XDG_CACHE_HOME=KEPT.name)
    said = subprocess.run([os.environ["MEASURE"]] + words, env=environment, stdout=subprocess.PIPE, check=True).stdout
    user, system, peak, status = (int(word) for word in said.split())
    if status:
        raise SystemExit("compare_peer.py: %s ended with status %d" % (" ".join(words), status))
    return Cost((user + system) / 1e6, peak)


def measure_all(commands):
    costs = [measure(words) for words in commands]
    return Cost(sum(cost.cpu for cost in costs), max(cost.peak for cost in costs))


def compare(case, folder, runs):
    shutil.rmtree(os.path.join(KEPT.name, "perfray"), ignore_errors=True)
    path = os.path.join(folder, case.file)
    commands = case.ours if isinstance(case.ours[0], list) else [case.ours]
    ours = [[os.environ.get("PERFRAY", "build/tool/perfray")] + words + [path] for words in commands]
    peer = [case.peer + [path]]
    pairs = [(measure_all(ours), measure_all(peer)) for _ in range(runs)]
    median = [statistics.median(pair[side].cpu for pair in pairs) for side in (0, 1)]
    peak = [max(pair[side].peak for pair in pairs) / MEGABYTE for side in (0, 1)]
    return median, peak


def show(case, folder, median, peak, markdown):
    size = os.path.getsize(os.path.join(folder, case.file)) / 1e6
    ratio = median[1] / median[0] if median[0] else float("inf")
    fast = ratio >= case.least
    small = not case.most_mb or peak[0] <= case.most_mb
    form = "| %s | %s, %.0f MB | %.3f s | %.3f s | %.1f | %.1f | %.1f MB | %.1f MB | %s |" if markdown else \
        "%-18s %-14s %5.0f MB  ours %7.3f s  perf %8.3f s  %6.1f x (bar %.1f)  peak %5.1f MB, perf %6.1f MB  %s"
    quick = not case.most_ms or median[0] * 1e3 <= case.most_ms
    verdict = "holds" if fast and small and quick else "MISSED"
    print(form % (case.name, case.file, size, median[0], median[1], ratio, case.least, peak[0], peak[1], verdict),
          flush=True)
    return fast and small and quick


def wall(words):
    start = time.monotonic()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def show_wall(name, path, words, runs, markdown):
    command = [os.environ.get("PERFRAY", "build/tool/perfray")] + words
    pairs = [[wall(command + ["-j", jobs, path]) for jobs in ("1", "2")] for _ in range(runs)]
    one, two = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    good = two <= WALL_MOST * one or two <= WALL_ENOUGH
    form = "| %s | %s | -j1 %.3f s | -j2 %.3f s | %.2f | %g or %g s | | | %s |" if markdown else \
        "%-18s %-14s -j1 %.3f s  -j2 %.3f s  %.2f of it (bar %g, or %g s)  %s"
    print(form % (name, os.path.basename(path), one, two, two / one, WALL_MOST, WALL_ENOUGH,
                  "holds" if good else "MISSED"), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    good = True
    if options.markdown:
        print("| case | input | perfray CPU | perf CPU | times | bar | perfray peak | perf peak | |\n| " +
              "--- | " * 9)
    for case in CASES:
        if options.only not in case.name + " " + case.file:
            continue
        if not os.path.exists(os.path.join(options.inputs, case.file)):
            print("skipped: %s, %s is not there" % (case.name, case.file))
            continue
        good &= show(case, options.inputs, *compare(case, options.inputs, options.runs), options.markdown)
    for name, file, words in WALLS:
        path = os.path.join(options.inputs, file)
        if options.only in name + " " + file and os.path.exists(path):
            good &= show_wall(name, path, words, options.runs, options.markdown)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
