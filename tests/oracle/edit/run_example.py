#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_example.py - checks that examples/write_profile.c has at most forty lines and writes a profile that perfray and
perf can read.

usage: run_example.py PROGRAM

Environment: PERFRAY, the command.
"""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples", "write_profile.c")
LINES_MOST, SAMPLES = 40, 1000


def run(*words):
    return harness.run(words, env=dict(os.environ, LC_ALL="C", HOME="/nonexistent"))


def report(name, wrong):
    harness.result("edit/example " + name, wrong)


def counts(done):
    found = re.search(rb"SAMPLE events: *([0-9]+)", done.stdout)
    bad = done.returncode or not found or int(found.group(1)) != SAMPLES or b"rror" in done.stderr
    return done.stdout.decode() + done.stderr.decode() if bad else ""


def main():
    program = sys.argv[1]
    with open(SOURCE, encoding="utf-8") as file:
        lines = len(file.readlines())
    report("length", "%d lines" % lines if lines > LINES_MOST else "")
    with harness.scratch("example") as folder:
        path = os.path.join(folder, "out.data")
        report("runs", run(program, path).stderr.decode())
        report("cannot write", "" if run(program, os.path.join(folder, "no", "out")).returncode == 1 else "silent")
        report("in perfray", counts(run(harness.PERFRAY, "info", "--stats", path)))
        if shutil.which("perf"):
            report("in perf", counts(run("perf", "report", "--stats", "-f", "-i", path)))
        else:
            harness.skip("edit/example", "in perf: perf is not installed")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
