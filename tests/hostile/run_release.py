#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_release.py - checks that a damaged recording takes at most 64 MB of memory, and at most twice the time of the sound file plus
one second.

usage: run_release.py [--count N] [--long-count N] [--seed N] [--jobs N] MEASURE INPUT...

MEASURE is the program built from bench/measure.c; INPUT is a recording, or a folder of *.data files. Environment: PERFRAY, the command
(a build without sanitizers); with PERFRAY_LONG, --long-count replaces --count.

Each of COMMANDS processes each mutant of tests/support/mutate.py. A mutant that is larger than the sound file may take proportionally
more time.
"""
import argparse
import concurrent.futures
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import run_mutants  # noqa: E402

COMMANDS = (["info", "--stats"], ["info"], ["dump", "--format=jsonl"], ["report", "--no-pager"], ["export"], ["flame"], ["verify"],
            ["convert", "-z", "-o", "-"], ["recover", "-o", "-"])
MEGABYTES = 64
SECONDS = 20
MB = 1 << 20

# if this is set, malloc of the C library fills the memory that it returns, so unused memory counts as resident
UNFILLED = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}


class Cost:
    """User and system seconds, peak MB and status of one run."""

    def __init__(self, measure, command, path):
        done = subprocess.run([measure, harness.PERFRAY] + command + [path], stdout=subprocess.PIPE, check=True,
                              env=UNFILLED, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
        words = [int(word) for word in done.stdout.split()]
        self.seconds, self.megabytes, self.status = (words[0] + words[1]) / 1e6, words[2] / MB, words[3]


def allowed(sound, sound_size, size):
    return 2 * sound.seconds * max(1, size / sound_size) + 1


def judge(mutant, cost, most):
    if cost.status not in run_mutants.KNOWN_STATUS:
        return "status %d" % cost.status
    if cost.megabytes > MEGABYTES:
        return "%.0f MB of memory" % cost.megabytes
    return "%.2f s, %.2f s are allowed" % (cost.seconds, most) if cost.seconds > most else None


def run_command(options, pool, command, mutants):
    """The result of one command."""
    sizes = {os.path.basename(path): os.path.getsize(path) for path in options.inputs}
    sounds = {os.path.basename(path): Cost(options.measure, command, path) for path in options.inputs}
    costs = list(pool.map(lambda mutant: Cost(options.measure, command, mutant.path), mutants))
    wrong = []
    for mutant, cost in zip(mutants, costs):
        most = allowed(sounds[mutant.source], sizes[mutant.source], os.path.getsize(mutant.path))
        what = judge(mutant, cost, most)
        if what:
            wrong.append((mutant, what))
    slowest = max(zip(costs, mutants), key=lambda pair: pair[0].seconds)
    largest = max(zip(costs, mutants), key=lambda pair: pair[0].megabytes)
    harness.result("hostile/release %s (%d mutants; slowest %.3f s, %s of %s; largest %.1f MB, %s of %s)" % (
        " ".join(command), len(mutants), slowest[0].seconds, slowest[1].damage, slowest[1].source, largest[0].megabytes,
        largest[1].damage, largest[1].source), ["%s: %s of %s\n    %s" % (what, mutant.damage, mutant.source, run_mutants.reproduction(
            options, command, mutant)) for mutant, what in wrong])


def run_all(options, folder):
    mutants = run_mutants.make_mutants(folder, options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for command in COMMANDS:
            run_command(options, pool, command, mutants)


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--long-count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("measure")
    parser.add_argument("inputs", nargs="+")
    options = parser.parse_args(arguments)
    if options.long_count and harness.LONG:
        options.count = options.long_count
    options.inputs = sorted(path for given in options.inputs for path in run_mutants.files_of(given) if os.path.isfile(path))
    with harness.scratch("release") as folder:
        run_all(options, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
