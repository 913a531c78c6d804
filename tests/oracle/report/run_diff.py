#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_diff.py - compares `perfray diff --format=perf` line by line with the installed perf diff.

usage: run_diff.py [PAIR...]

Environment: PERFRAY, the command. The pairs are recordings of tests/fixtures/recorded, and of the corpus if PERFRAY_CORPUS is set. Each
pair is compared in both directions, with every set of options if PERFRAY_LONG is set, otherwise with a quarter of them. Blanks at the ends
of lines are ignored. Pairs for which perf fails are not compared; diff/perf/compared prints their number.
"""
import itertools
import os
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "recorded"
NAMES = ("demo.data", "threads.data", "chains.data", "exec.data", "period.data", "cpu-clock.data", "two-events.data")
OPTIONS = ("", "-c delta", "-c ratio -p", "-c wdiff:1,2 -F", "-s comm", "-s dso,symbol -o 0 -p", "-b -c delta", "-t ; -p",
           "-s pid", "-s pid,dso -p")


compared, failed = [], []  # (base, new, options); failed: the pairs for which perf failed


def lines(text):
    return [line.rstrip() for line in text.splitlines()]


def compare(base, new, options):
    words = [*options.split(), str(RECORDED / base), str(RECORDED / new)]
    perf = harness.run(["perf", "diff", *words])
    ours = harness.perfray("diff", "--format=perf", "--raw-names", *words)
    if perf.returncode != 0:
        failed.append((base, new, options))
        return
    compared.append((base, new, options))
    wanted, got = lines(perf.stdout), lines(ours.stdout)
    for number, (want, have) in enumerate(itertools.zip_longest(wanted, got), 1):
        harness.must(want == have, f"{options or 'no options'}: line {number}: perf {want!r}, perfray {have!r}")


def compare_all(base, new):
    first = (NAMES.index(base) + NAMES.index(new)) % 4
    for options in OPTIONS if harness.LONG else OPTIONS[first::4]:
        compare(base, new, options)


def main():
    if not harness.installed("perf"):
        harness.skip("diff/perf", "perf is not installed")
        return harness.status()
    for base, new in itertools.product(NAMES, NAMES):
        name = f"{base}-{new}".replace(".data", "")
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        harness.attempt(f"diff/perf/{name}", compare_all, base, new)
    enough = len(compared) > 3 * len(failed)
    harness.result(f"diff/perf/compared ({len(compared)} outputs; perf fails for {len(failed)})", "" if enough else "too few")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
