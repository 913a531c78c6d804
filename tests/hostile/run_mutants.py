#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_mutants.py - runs every command on damaged recordings: no crash, no hang, no raw control byte.

usage: run_mutants.py [--count N] [--seed N] [--jobs N] [--keep DIR] [--traces] INPUT...

INPUT is a recording, or a folder of *.data files; with --traces, of *.xray files, for the commands of TRACE_COMMANDS.

Environment: PERFRAY, the command (a build with sanitizers, so that an invalid read crashes).

tests/support/mutate.py makes the mutants, which seed and count determine. Each command of COMMANDS processes one mutant at a time, two thirds of them with
random sizes of buffers and batches (PERFRAY_SIZES), all with a random -j. Result lines: `ok hostile/mutants COMMAND`; `not ok ...` with the first defect and
commands to reproduce it; `skip ...` for a command that this build does not have. A mutant of class `diagnose` that is read with exit status 0 and nothing on
stderr is silent: it is counted, and an error for the commands of EVERY, which read the whole recording.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
import tiny_sizes  # noqa: E402

MUTATE = os.path.join(HERE, "..", "support", "mutate.py")
COMMANDS = (["info", "--stats"], ["info"], ["info", "--format=json"], ["info", "--format=perf"], ["info", "--events"],
            ["info", "--build-ids"], ["dump"], ["dump", "--format=jsonl"], ["dump", "--format=perf", "--hex"],
            ["report", "--no-pager"], ["script", "--no-pager"], ["export"], ["flame"], ["symbols", "--no-pager"],
            ["report", "--no-pager", "-e", "offcpu-time"], ["report", "--no-pager", "--latency", "-s", "parallelism,sym"],
            ["export", "-e", "offcpu-time"], ["offcpu", "--no-pager"], ["offcpu", "--format=json", "--no-lines"], ["offcpu", "--locks", "--format=csv"],
            ["offcpu", "--wakers", "--no-pager"], ["verify"], ["verify", "--notes", "--format=json"])
EVERY = (["info", "--stats"], ["info"], ["dump"], ["dump", "--format=jsonl"], ["report", "--no-pager"],
         ["script", "--no-pager"], ["export"], ["flame"], ["symbols", "--no-pager"], ["offcpu", "--no-pager"],
         ["verify"])
TRACE_COMMANDS = (["info", "--stats"], ["info"], ["info", "--format=json"], ["dump"], ["dump", "--format=jsonl"],
                  ["dump", "--hex"], ["script", "--no-pager"], ["script", "--format=json"], ["script", "--format=llvm-yaml"],
                  ["report", "--no-pager"], ["report", "--format=json", "-s", "pid,tid,sym"], ["export"],
                  ["flame"], ["latency", "--no-pager"],
                  ["latency", "--by=caller", "--histogram", "--format=json"], ["latency", "--by=thread", "-d", "--format=csv"],
                  ["verify"], ["verify", "--notes", "--format=json"])
# Commands that process half of the mutants. The other commands process an eighth, because commands and their variants
# share most of their code, and run_mass.py runs more mutants through all of this code, in process. With PERFRAY_LONG:
# all mutants, and a quarter.
WHOLE = (["info", "--stats"], ["dump", "--format=jsonl"], ["report", "--no-pager"], ["script", "--no-pager"], ["verify"])
WHOLE_OF_TRACES = (["info", "--stats"], ["dump", "--format=jsonl"], ["script", "--no-pager"], ["report", "--no-pager"],
                   ["latency", "--no-pager"], ["verify"])
SECONDS = 10
LEAKS_OF = 5  # only one run in this many checks for leaks, because that takes a third of the time
KNOWN_STATUS = (0, 1, 3, 4)
# Messages of status 2 that are allowed: the options require data that the recording does not have.
REFUSAL = b"the recording does not show when threads ran"
SANITIZER = re.compile(rb"(AddressSanitizer|LeakSanitizer|runtime error:|UndefinedBehavior)[^\n]*")
# Bytes that must never be printed raw: C0 except newline and tab, DEL, C1 as UTF-8.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


class Mutant:
    """One line of the manifest of mutate.py."""

    def __init__(self, folder, number, line):
        fields = line.rstrip("\n").split("\t")
        self.path = os.path.join(folder, fields[0])
        self.number, self.source, self.damage, self.expect = number, fields[2], fields[3], fields[5]


def make_mutants(folder, options):
    manifest = os.path.join(folder, "manifest.tsv")
    subprocess.run([sys.executable, MUTATE, "--seed", str(options.seed), "--count", str(options.count), "--quiet",
                    "--manifest", manifest, folder] + options.inputs, check=True)
    with open(manifest, encoding="utf-8") as lines:
        rows = [line for line in lines if not line.startswith("#")]
    return [Mutant(folder, number, row) for number, row in enumerate(rows)]


def drawn_of(command, mutant):
    """(sizes, arguments for -j) of one run; the same in each run of the test."""
    name = "%s %d" % (" ".join(command), mutant.number)
    return tiny_sizes.of(name), tiny_sizes.jobs_of(name, command[0])


def try_one(perfray, command, mutant):
    """(the defect or None, whether the damage was not reported)."""
    sizes, jobs = drawn_of(command, mutant)
    leaks = ":detect_leaks=%d" % (mutant.number % LEAKS_OF == 0)
    try:
        done = subprocess.run([perfray] + command + jobs + [mutant.path], stdin=subprocess.DEVNULL, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=dict(tiny_sizes.environment(sizes), ASAN_OPTIONS=os.environ["ASAN_OPTIONS"] + leaks))
    except subprocess.TimeoutExpired:
        return "hang: more than %d s" % SECONDS, False
    found = SANITIZER.search(done.stderr)
    is_refusal = done.returncode == 2 and REFUSAL in done.stderr
    if found or done.returncode not in KNOWN_STATUS and not is_refusal:
        said = found.group(0).decode("utf-8", "replace") if found else "status %d" % done.returncode
        return "crash: " + said, False
    found = CONTROL.search(done.stdout) or CONTROL.search(done.stderr)
    if found:
        return "raw control byte: %r" % found.group(0), False
    try:
        done.stdout.decode("utf-8")
        done.stderr.decode("utf-8")
    except UnicodeDecodeError as bad:
        return "not UTF-8: %s" % bad, False
    return None, done.returncode == 0 and not done.stderr


def reproduction(options, command, mutant):
    sizes, jobs = drawn_of(command, mutant)
    return "%s --seed %d --count %d --only %d OUT %s && PERFRAY_SIZES=%s %s %s OUT/%s" % (
        os.path.relpath(MUTATE), options.seed, options.count, mutant.number, " ".join(options.inputs), sizes,
        harness.PERFRAY, " ".join(command + jobs), os.path.basename(mutant.path))


def run_command(options, pool, command, mutants):
    """The result of one command."""
    perfray = harness.PERFRAY
    results = list(pool.map(lambda mutant: try_one(perfray, command, mutant), mutants))
    wrong = [(mutant, what) for mutant, (what, _) in zip(mutants, results) if what]
    if command in EVERY or options.traces:
        wrong += [(mutant, "silent") for mutant, (_, silent) in zip(mutants, results)
                  if silent and mutant.expect == "diagnose"]
    name = "hostile/mutants %s%s" % ("traces " if options.traces else "", " ".join(command))
    structural = [silent for mutant, (_, silent) in zip(mutants, results) if mutant.expect == "diagnose"]
    figures = "%d mutants of %d files, %d of %d structural ones silent" % (
        len(mutants), len({mutant.source for mutant in mutants}), sum(structural), len(structural))
    shown = ["%d wrong" % len(wrong)] if wrong else []
    shown += ["%s, %s of %s\n    %s" % (what, mutant.damage, mutant.source, reproduction(options, command, mutant))
              for mutant, what in wrong[:5]]
    harness.result("%s (%s)" % (name, figures), shown)


def files_of(path, ending=".data"):
    if not os.path.isdir(path):
        return [path]
    return [os.path.join(path, name) for name in os.listdir(path) if name.endswith(ending)]


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep")
    parser.add_argument("--traces", action="store_true")
    parser.add_argument("inputs", nargs="+")
    options = parser.parse_args(arguments)
    options.inputs = sorted(path for given in options.inputs for path in
                            files_of(given, ".xray" if options.traces else ".data") if os.path.isfile(path))
    return options


def run_all(options, folder):
    mutants = make_mutants(folder, options)
    whole = WHOLE_OF_TRACES if options.traces else WHOLE
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for shift, command in enumerate(TRACE_COMMANDS if options.traces else COMMANDS):
            step = (1 if command in whole else 4) * (1 if harness.LONG else 2)
            chosen = mutants[shift % step::step]
            run_command(options, pool, command, chosen)
    return harness.status()


def main(arguments):
    options = parse(arguments)
    if not harness.has_command():
        return harness.skip("hostile/mutants", "PERFRAY is not set")
    # one allocation beyond 1 GB is an error too
    os.environ["ASAN_OPTIONS"] = ":".join(filter(None, ("max_allocation_size_mb=1024", os.environ.get("ASAN_OPTIONS"))))
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        return run_all(options, options.keep)
    with harness.scratch("mutants") as folder:
        return run_all(options, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
