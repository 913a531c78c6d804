#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_consumers.py - checks that programs that read the output of perf script read the same data from the output of perfray
script.

usage: run_consumers.py [--speedscope DIR] [NAME...]

Environment: PERFRAY, the command; PERFRAY_SPEEDSCOPE or --speedscope, the folder of the npm package speedscope.
Recordings are made by the installed perf in a temporary folder. The consumers are stackcollapse.py, written from the
grammar of the text, and the importer of speedscope, whose bundle is run by node. Both must find the same stacks and
weights in perf's text and in ours. Before that, lines that differ as a rule of docs/differences.md explains are
replaced by perf's lines. Prints the number of stacks, or `skip NAME reason` if something is not installed.
"""
import argparse
import glob
import json
import os
import sys

import fresh
import stackcollapse
from fresh import Skip, Wrong

HERE = ("-e", "cpu-clock", "-F", "3999", "-g")
BUSY = ("./busy", "60")
RECORDINGS = {
    "chains": (HERE, BUSY),
    "all_cpus": ((*HERE, "-a"), BUSY),
    "flat": (HERE[:-1], BUSY),
    "cxx": (HERE, ("./shapes",)),
    "storm": (HERE, ("./storm", "60")),
    "tracepoints": (("-g", "-e", "sched:*,cpu-clock"), BUSY),
}


def texts(folder, options, words):
    """The texts of perf script and perfray script for a new recording. If a rule explains that a line differs, perfray's text gets perf's line."""
    fresh.build(folder, "busy_loops.c", "busy", "-O1", "-g", "-fno-omit-frame-pointer")
    if words[0] == "./storm":
        fresh.build(folder, "storm.c", "storm", "-O1", "-pthread")
    if words[0] == "./shapes":
        fresh.build(folder, "shapes.cpp", "shapes", "-O1", "-fno-omit-frame-pointer",
                    compiler=fresh.first_of("g++", "clang++-14", "c++"))
    fresh.record(folder, "perf.data", options, words)
    result, theirs = fresh.compare_scripts(folder, "perf.data")
    return theirs, fresh.without_listed(theirs, result.ours)


def check_collapse(folder, options, words):
    theirs, ours = texts(folder, options, words)
    try:
        expected, found = stackcollapse.fold(theirs), stackcollapse.fold(ours)
    except stackcollapse.NotUnderstood as line:
        raise Wrong("not in the grammar: %s" % line) from line
    if not expected:
        raise Skip("nothing was recorded")
    wrong = {stack for stack in expected.keys() | found.keys() if expected[stack] != found[stack]}
    for stack in sorted(wrong)[:1]:
        raise Wrong("%d stacks differ; %d here, %d there: %s" % (len(wrong), found[stack], expected[stack], stack[:200]))
    return "%d stacks, weight %d" % (len(expected), sum(expected.values()))


def find_bundle(given):
    for folder in (given, os.environ.get("PERFRAY_SPEEDSCOPE")):
        found = sorted(glob.glob(os.path.join(folder, "dist", "release", "speedscope-*.js"))) if folder else []
        if found:
            return found[0]
    raise Skip("the npm package speedscope is not installed")


def check_speedscope(folder, options, words, package):
    fresh.need("node")
    bundle = find_bundle(package)
    for name, text in zip(("perf.txt", "perfray.txt"), texts(folder, options, words)):
        with open(os.path.join(folder, name), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    done = fresh.run(["node", os.path.join(fresh.HERE, "speedscope_import.js"), bundle, "perf.txt", "perfray.txt"], folder)
    if done.returncode != 0:
        raise Wrong("the importer stopped: %s" % done.stderr.decode("utf-8", "replace")[:300])
    theirs, ours = (json.loads(line) for line in done.stdout.decode("utf-8").splitlines())
    if not theirs or not theirs["profiles"]:
        raise Wrong("speedscope finds no profile in perf's text")
    for part in ("shared", "profiles", "name"):
        if not ours or theirs[part] != ours[part]:
            raise Wrong("speedscope's %s differ" % part)
    return "%d threads, %d frames, %d events" % (len(ours["profiles"]), len(ours["shared"]["frames"]),
                                                 sum(len(profile["events"]) for profile in ours["profiles"]))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--speedscope", metavar="DIR", help="the folder of the npm package")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    checks = {"stackcollapse_" + name: lambda folder, row=row: check_collapse(folder, *row)
              for name, row in RECORDINGS.items()}
    package = options.speedscope and os.path.abspath(options.speedscope)
    checks.update({"speedscope_" + name: lambda folder, row=RECORDINGS[name]: check_speedscope(folder, *row, package)
                   for name in ("chains", "cxx", "storm")})
    return fresh.attempt_all("script/consumers", checks, options.names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
