#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_example.py - examples/write_profile.c in forty lines writes a profile that perfray and perf open.

usage: run_example.py PROGRAM

Environment: PERFRAY, the command.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples", "write_profile.c")
LINES_MOST, SAMPLES = 40, 1000


def run(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=dict(os.environ, LC_ALL="C", HOME="/nonexistent"))


def report(name, wrong):
    print("%s edit/example %s%s" % ("not ok" if wrong else "ok", name, wrong and " (%s)" % wrong), flush=True)
    return bool(wrong)


def counts(done):
    found = re.search(rb"SAMPLE events: *([0-9]+)", done.stdout)
    bad = done.returncode or not found or int(found.group(1)) != SAMPLES or b"rror" in done.stderr
    return done.stdout.decode() + done.stderr.decode() if bad else ""


def main():
    program = sys.argv[1]
    with open(SOURCE, encoding="utf-8") as file:
        lines = len(file.readlines())
    failed = report("length", "%d lines" % lines if lines > LINES_MOST else "")
    with tempfile.TemporaryDirectory(prefix="perfray-example-") as folder:
        path = os.path.join(folder, "out.data")
        failed += report("runs", run(program, path).stderr.decode())
        failed += report("cannot write", "" if run(program, os.path.join(folder, "no", "out")).returncode == 1 else "silent")
        failed += report("in perfray", counts(run(os.environ["PERFRAY"], "info", "--stats", path)))
        if shutil.which("perf"):
            failed += report("in perf", counts(run("perf", "report", "--stats", "-f", "-i", path)))
        else:
            print("skip edit/example in perf: perf is not installed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
