#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_python_mutants.py [--count N] - damaged recordings and traces through open_model, samples, stacks, calls, sums and SQL of the
Python package: no crash, no hang, no exception but perfray.Error.

tests/support/mutate.py makes 150 mutants (2000 with PERFRAY_LONG). exercise.py uses each of them; a process handles PART of them. Freed memory is filled, so
that a use after free crashes.
"""
import argparse
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

EXERCISE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exercise.py")
MUTATE = os.path.join(harness.TESTS, "support", "mutate.py")
PART = 25
SECONDS_EACH = 10
# Small recordings of each kind: chains, threads that end, exec, counter groups, compression, streams, switches, tracepoints.
RECORDINGS = ("chains", "clock", "demo", "exec", "group", "pipe", "switch-events", "tracepoints", "two-events", "zstd")


def mutants(folder, kind, count, inputs):
    made = os.path.join(folder, kind)
    manifest = os.path.join(folder, kind + ".tsv")
    subprocess.run([sys.executable, MUTATE, "--seed", "26", "--count", str(count), "--quiet", "--manifest", manifest, made, *inputs],
                   check=True)
    with open(manifest, encoding="utf-8") as lines:
        return [os.path.join(made, line.split("\t")[0]) for line in lines if not line.startswith("#")]


def ask(paths):
    """(number of files that were opened, the problem). A failure names the last file that was opened."""
    done = harness.run([sys.executable, EXERCISE, *paths], timeout=SECONDS_EACH * len(paths), env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", MALLOC_PERTURB_="165"))
    lines = done.stdout.decode().splitlines()
    names = [line for line in lines if not line.startswith("    ")]
    refused = len(lines) - len(names)
    if done.returncode:
        return 0, "%s: status %d: %s" % (names[-1] if names else "?", done.returncode, done.stderr.decode()[-1500:])
    return len(names) - refused, None if len(names) == len(paths) else "%d of %d files were asked" % (len(names), len(paths))


def check(kind, count, inputs):
    with harness.scratch("python-mutants") as folder:
        paths = mutants(folder, kind, count, inputs)
        results = [ask(paths[at:at + PART]) for at in range(0, len(paths), PART)]
    problems = [problem for _, problem in results if problem]
    harness.must(not problems, "\n".join(problems))
    opened = sum(number for number, _ in results)
    harness.must(opened, "no mutant was opened")
    return "%d mutants, %d opened" % (len(paths), opened)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000 if harness.LONG else 150)
    count = parser.parse_args().count
    if not os.path.isfile(os.environ.get("PERFRAY_LIBRARY", "")):
        return harness.skip("python/mutants", "PERFRAY_LIBRARY is not set")
    recordings = [os.path.join(harness.FIXTURES, "recorded", name + ".data") for name in RECORDINGS]
    traces = sorted(glob.glob(os.path.join(harness.FIXTURES, "xray", "[bf]*.xray")))
    harness.attempt("python/mutants of recordings", check, "recordings", count * 3 // 4, recordings)
    harness.attempt("python/mutants of traces", check, "traces", count // 4, traces)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
