#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_edit.py - compares the costs of convert, verify and recover with the costs of cp and libzstd in one interleaved run.

usage: compare_edit.py --inputs DIR [--runs N] [--only WORD] [--markdown]

Environment: PERFRAY, the command (default build/tool/perfray); MEASURE, bench/measure.c compiled; ZSTD_PACE, bench/zstd_pace.c
compiled (run_edit.sh does all three); TMPDIR, the folder for outputs, on a file system in memory.

For each case, perfray and the peer run alternately, N times each; inputs are first copied into memory. Medians of user + system time are
compared; the peak resident set is that of the worst run. Exit status 1 if a goal ("bar") is missed.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import compare_peer

MEGABYTE = 1 << 20
MOST_MB = 64
FOUND = 1  # findings about SAMPLE_TIME, because the samples are repeated
INPUTS = ("flat.data", "fp-small.data", "trace-64.xray")


@dataclass
class Case:
    name: str
    words: list
    peer: list
    least: float  # minimum speed, as a share of the peer's
    of_traces: bool = True


COPY = ["cp"]
CASES = (
    Case("convert", ["convert", "-o", "OUT"], COPY, 1 / 6),
    Case("convert -z", ["convert", "-z", "-o", "OUT"], ["ZSTD_PACE"], 0.8, False),
    Case("verify", ["verify"], COPY, 1 / 6),
    Case("recover", ["recover", "-o", "OUT"], COPY, 1 / 10),
)


def cost(words, out):
    if os.path.lexists(out):
        os.unlink(out)
    said = subprocess.run([os.environ["MEASURE"]] + words, stdout=subprocess.PIPE, check=True).stdout
    user, system, peak, status = (int(word) for word in said.split())
    if status not in (0, FOUND):
        raise SystemExit("compare_edit.py: %s ended with status %d" % (" ".join(words), status))
    return compare_peer.Cost((user + system) / 1e6, peak)


def compare(case, path, out, runs):
    perfray = os.environ.get("PERFRAY", "build/tool/perfray")
    ours = [perfray] + [out if word == "OUT" else word for word in case.words] + [path]
    peer = [os.environ.get(word, word) for word in case.peer] + [path, out]
    pairs = [(cost(ours, out), cost(peer, out)) for _ in range(runs)]
    os.unlink(out)
    median = [statistics.median(pair[side].cpu for pair in pairs) for side in (0, 1)]
    return median, max(pair[0].peak for pair in pairs) / MEGABYTE


def show(case, path, out, options):
    median, peak = compare(case, path, out, options.runs)
    speed = median[1] / median[0]
    good = speed >= case.least and peak <= MOST_MB
    form = "| %s | %s, %.0f MB | %.3f s | %s %.3f s | %.2f | %.2f | %.1f MB | %s |" if options.markdown else \
        "%-11s %-15s %4.0f MB  ours %.3f s  %s %.3f s  %5.2f of its speed (bar %.2f)  peak %5.1f MB  %s"
    print(form % (case.name, os.path.basename(path), os.path.getsize(path) / 1e6, median[0],
                  "libzstd" if case.peer != COPY else "cp", median[1], speed, case.least, peak, "holds" if good else "MISSED"), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    good = True
    if options.markdown:
        print("| case | input | perfray | peer | speed of the peer's | bar | perfray peak | |\n| " + "--- | " * 8)
    with tempfile.TemporaryDirectory(prefix="perfray-bench-") as folder:
        for name in INPUTS:
            path = shutil.copy(os.path.join(options.inputs, name), folder)
            for case in CASES:
                if options.only in case.name + " " + name and (case.of_traces or not name.endswith(".xray")):
                    good &= show(case, path, os.path.join(folder, "out"), options)
            os.unlink(path)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
