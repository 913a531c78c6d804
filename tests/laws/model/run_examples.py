#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the programs examples/model_*.c: they have at most 60 lines, compile as C11 and as C++17 without warnings, and print correct
results.

    PERFRAY=build/perfray run_examples.py ROOT FIXTURES --library FILE --include DIR... --c COMMAND [--cxx COMMAND]
"""
import argparse
import csv
import io
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

LINES_MOST = 60
FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
NAMES = ("top", "callers", "slow_calls", "rewrite", "stream")
PERFRAY = os.environ.get("PERFRAY")


def run(words, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **more)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def compile_program(options, name, language, program):
    command, standard = (options.c, ["-x", "c", "-std=c11"]) if language == "c" else (options.cxx, ["-x", "c++", "-std=c++17"])
    source = Path(options.root, "examples", "model_%s.c" % name)
    if len(source.read_text().splitlines()) > LINES_MOST:
        return "%s has more than %d lines" % (source.name, LINES_MOST)
    library = Path(options.library).resolve()
    status, _, complaint = run(shlex.split(command) + FLAGS + standard + ["-I%s" % folder for folder in options.include]
                               + [source, "-x", "none", library, "-Wl,-rpath,%s" % library.parent, "-o", program])
    return complaint if status else None


def samples_by_function(path, children):
    _, text, _ = run([PERFRAY, "report", "--format=csv", "--no-branch-stack", "-i", path, "--sort", "dso,sym",
                      "--children" if children else "--no-children"])
    return [(row["sym"][4:], int(row["weight"])) for row in csv.DictReader(io.StringIO(text))]


def check_top(program, fixtures, _):
    path = fixtures / "recorded" / "chains.data"
    status, text, complaint = run([program, path])
    rows = [line.split(None, 2) for line in text.splitlines() if not line.startswith("#")]
    theirs = samples_by_function(path, True)
    names = {name for name, _ in theirs}
    wrong = [row for row in rows if row[2] in names and (row[2], int(row[0])) not in theirs]
    totals = [int(row[0]) for row in rows]
    if status or wrong or len(rows) < 5 or totals != sorted(totals, reverse=True) or totals[0] != max(theirs, key=lambda row: row[1])[1]:
        return "status %d, %s; %s, report %s" % (status, complaint, wrong or rows, theirs)
    return None


def check_callers(program, fixtures, _):
    path = fixtures / "recorded" / "chains.data"
    status, text, complaint = run([program, path])
    head, *rows = text.splitlines()
    hottest = max(samples_by_function(path, False), key=lambda row: row[1])
    total = sum(int(row.split()[0]) for row in rows)
    if status or total != hottest[1] or not rows:
        return "status %d, %s: %s has %d, report %s" % (status, complaint, head, total, hottest)
    return None


def check_slow_calls(program, fixtures, _):
    path = fixtures / "xray" / "basic-v1.xray"
    status, text, complaint = run([program, path])
    _, csv_text, _ = run([PERFRAY, "latency", "--format=csv", path])
    longest = max(int(row["max_ns"] or 0) for row in csv.DictReader(io.StringIO(csv_text)))
    first = text.split()[:1]
    both = run([program, path, fixtures / "recorded" / "chains.data"])
    if status or first != [str(longest)] or both[0] == 0 or "clock" not in both[2]:
        return "status %d, %s: longest %s, latency %d; beside a recording: %s" % (status, complaint, first, longest, both)
    return None


def tids_of(path):
    _, text, _ = run([PERFRAY, "report", "--format=csv", "-i", path, "--sort", "tid"])
    return Counter({row["tid"].split(":")[0].strip(): int(row["samples"]) for row in csv.DictReader(io.StringIO(text))})


def check_rewrite(program, fixtures, folder):
    path, out = fixtures / "recorded" / "threads.data", folder / "rewritten.data"
    status, _, complaint = run([program, path, out])
    before, after = tids_of(path), tids_of(out)
    gone = before - after
    if status or len(gone) != 1 or max(before.values()) != sum(gone.values()) or after - before:
        return "status %d, %s: samples by thread %s, then %s" % (status, complaint, before, after)
    return None


def check_stream(program, fixtures, folder):
    path, out = fixtures / "recorded" / "pipe.data", folder / "lines.txt"
    with open(path, "rb") as stream:
        status, text, complaint = run([program, "-"], stdin=stream)
    run([program, path, out])
    times = [int(line.split()[0]) for line in text.splitlines()]
    if status or not times or times != sorted(times) or out.read_text(errors="replace") != text:
        return "status %d, %s: %d lines" % (status, complaint, len(times))
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("fixtures", type=Path)
    parser.add_argument("--library", required=True)
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--c", required=True)
    parser.add_argument("--cxx")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            for language in ("c", "c++"):
                if language == "c++" and not options.cxx:
                    print("skip model/example %s:c++ there is no C++ compiler" % name)
                    continue
                program = Path(folder, name)
                wrong = compile_program(options, name, language, program)
                wrong = wrong or globals()["check_" + name](program, options.fixtures, Path(folder))
                failed = failed or bool(wrong)
                print("%s model/example %s:%s" % ("not ok" if wrong else "ok", name, language))
                if wrong:
                    print("    " + wrong[:1500])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
