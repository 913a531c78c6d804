#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_builds.py - compares CPU time and peak memory of two builds of perfray in one interleaved run.

usage: compare_builds.py --base COMMAND --inputs DIR [--runs N] [--only WORD] [--markdown]

Environment: PERFRAY, the new command (default build/tool/perfray); MEASURE, bench/measure.c compiled.

The rows are the cases of compare_peer.py and, if their inputs exist, of compare_traces.py. Each run measures both builds,
in alternating order. The result of a row is the median of the paired ratios new / base of user + system time. Exit status
1 if a median exceeds 1.05.
"""
import argparse
import os
import statistics
import sys

import compare_peer
import compare_traces

MOST = 1.05


def rows():
    """Cases as (name, file, list of argument lists)."""
    for case in compare_peer.CASES:
        yield case.name, case.file, case.ours if isinstance(case.ours[0], list) else [case.ours]
    for name in compare_traces.TRACES:
        for case in compare_traces.CASES:
            yield case.name, name, [case.ours]


def measure(command, lists, path):
    return compare_peer.measure_all([[command] + words + [path] for words in lists])


def compare(commands, lists, path, runs):
    """The costs of the runs, as pairs (base, new)."""
    pairs = []
    for command in commands:
        measure(command, lists, path)  # fills the page cache and the cache of kernel symbols
    for run in range(runs):
        order = (0, 1) if run % 2 else (1, 0)
        costs = {side: measure(commands[side], lists, path) for side in order}
        pairs.append((costs[0], costs[1]))
    return pairs


def show(name, file, pairs, markdown):
    ratio = statistics.median(new.cpu / base.cpu for base, new in pairs)
    cpu = [statistics.median(pair[side].cpu for pair in pairs) for side in (0, 1)]
    peak = [max(pair[side].peak for pair in pairs) / compare_peer.MEGABYTE for side in (0, 1)]
    form = "| %s | %s | %.3f s | %.3f s | %.3f | %.1f MB | %.1f MB | %s |" if markdown else \
        "%-27s %-14s base %7.3f s  new %7.3f s  ratio %.3f  peak %6.1f, %6.1f MB  %s"
    print(form % (name, file, cpu[0], cpu[1], ratio, peak[0], peak[1], "holds" if ratio <= MOST else "MISSED"), flush=True)
    return ratio <= MOST


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    commands = (options.base, os.environ.get("PERFRAY", "build/tool/perfray"))
    good = True
    if options.markdown:
        print("| case | input | base CPU | new CPU | ratio | base peak | new peak | |\n| " + "--- | " * 8)
    for name, file, lists in rows():
        path = os.path.join(options.inputs, file)
        if options.only not in name + " " + file:
            continue
        if not os.path.exists(path):
            print("skipped: %s, %s does not exist" % (name, file))
            continue
        good &= show(name, file, compare(commands, lists, path, options.runs), options.markdown)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
