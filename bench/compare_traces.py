#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_traces.py - compares CPU time, peak memory and wall time on XRay traces with llvm-xray in one interleaved run.

usage: compare_traces.py --inputs DIR [--runs N] [--only WORD] [--markdown]

Environment: PERFRAY, the command (default build/tool/perfray); MEASURE, bench/measure.c compiled (run_traces.sh does both).

For each case, perfray and the peer run alternately, N times each (the peer at most three times if a run takes long), with
output to /dev/null. Medians of user + system time are compared; the peak resident set is that of the worst run. perfray
runs with one thread. Exit status 1 if a goal ("bar") is missed.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

import compare_peer

MEGABYTE = 1 << 20
MOST_MB = 40
LONG_SECONDS = 2.0
WALL_MOST = 0.65  # maximum share of one thread's time that two threads may take
TRACES = ("trace-64.xray", "trace-256.xray")


@dataclass
class Case:
    name: str
    ours: list
    peer: list
    least: float  # minimum speed, as a multiple of the peer's


ACCOUNT, STACK = ["llvm-xray", "account"], ["llvm-xray", "stack"]
CASES = (
    Case("latency", ["latency", "-j", "1"], ACCOUNT, 30),
    Case("latency by caller", ["latency", "--by=caller", "-j", "1"], ACCOUNT, 30),
    Case("report, no call graph", ["report", "-g", "none", "-j", "1"], STACK, 30),
    Case("report, call graph", ["report", "-j", "1"], STACK, 30),
    Case("decode beside a plain read", ["info", "--stats"], ["cat"], 0.25),
)
WALLS = (["latency"], ["report", "-g", "none"])


def ours(words, path):
    return [os.environ.get("PERFRAY", "build/tool/perfray")] + words + [path]


def compare(case, path, runs):
    pairs = []
    while len(pairs) < runs and not (len(pairs) == 3 and pairs[0][1].cpu > LONG_SECONDS):
        pairs.append((compare_peer.measure(ours(case.ours, path)), compare_peer.measure(case.peer + [path])))
    median = [statistics.median(pair[side].cpu for pair in pairs) for side in (0, 1)]
    return median, [max(pair[side].peak for pair in pairs) / MEGABYTE for side in (0, 1)]


def show(case, path, runs, markdown):
    median, peak = compare(case, path, runs)
    ratio = median[1] / median[0]
    good = ratio >= case.least and peak[0] <= MOST_MB
    form = "| %s | %s, %.0f MB | %.3f s | %.3f s | %.2f | %g | %.1f MB | %.1f MB | %s |" if markdown else \
        "%-27s %-15s %4.0f MB  ours %6.3f s  peer %7.3f s  %6.2f x (bar %g)  peak %5.1f MB, peer %7.1f MB  %s"
    print(form % (case.name, os.path.basename(path), os.path.getsize(path) / 1e6, median[0], median[1], ratio, case.least,
                  peak[0], peak[1], "holds" if good else "MISSED"), flush=True)
    return good


def wall(words, path):
    start = time.monotonic()
    subprocess.run(ours(words, path), stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def show_wall(words, path, runs, markdown):
    pairs = [[wall(words + ["-j", jobs], path) for jobs in ("1", "2")] for _ in range(runs)]
    one, two = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    form = "| wall of %s | %s | -j1 %.3f s | -j2 %.3f s | %.2f | %g | | | %s |" if markdown else \
        "wall of %-19s %-15s  -j1 %.3f s  -j2 %.3f s  %.2f of it (bar %g)  %s"
    print(form % (" ".join(words), os.path.basename(path), one, two, two / one, WALL_MOST,
                  "holds" if two <= WALL_MOST * one else "MISSED"), flush=True)
    return two <= WALL_MOST * one


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    good = True
    if options.markdown:
        print("| case | input | perfray | peer | times | bar | perfray peak | peer peak | |\n| " + "--- | " * 9)
    for name in TRACES:
        path = os.path.join(options.inputs, name)
        for case in CASES:
            if options.only in case.name + " " + name:
                good &= show(case, path, options.runs, options.markdown)
        for words in WALLS:
            if options.only in "wall " + name:
                good &= show_wall(words, path, options.runs, options.markdown)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
